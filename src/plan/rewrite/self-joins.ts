/**
 * Removes joins of rows with themselves: a parent triples map over the same records, whose join keys say everything about one side of the statement.
 *
 * A file has a row for each point of a shape; `shape/{shape}` has the points `point/{shape}-{number}` of all rows with its `shape`. Each row gives the
 * statement with its own point, and no row has to wait for the others.
 *
 * **Precondition.** Both sides are the same records of a file, and each condition compares a reference with itself, which has one value at most in a record.
 * Subject, predicate, graph and object are constants or templates that are percent-encoded, so none is ever invalid or has several texts where its
 * references have one. Either subject, predicate and graph, or the object, read nothing but the keys. Each key is read by one of the four. No record of
 * either triples map is rejected, unless that ends the run.
 *
 * **Claim.** The rewrite preserves the set of statements.
 *
 * **Proof.** Let a record `r` be the child and `p` be the parent of a pair, so they have equal texts in all keys. A template is a function of the texts that
 * it reads. If subject, predicate and graph read keys alone, they have the same texts in `p` as in `r`, so the pair gives what `p` gives alone. If the object
 * does, it has the same texts in `r` as in `p`, so the pair gives what `r` gives alone. Conversely, a record that gives a statement alone has a value in each
 * key, since a template with a null gives no text; it is a record of both sides, so it is paired with itself, and the pair gives this statement.
 *
 * A run reports rows without a partner, and a join that is removed has none: a record whose parent has no subject is one without an object.
 *
 * A rejected record takes no part in a join, but others with its keys do: there the pairs give more than the records alone.
 */
import { leavesObjectsOut, type Policies, policyOf } from '../../mapping/model/model.ts';
import type { Emit, MapRules, Term } from '../algebra.ts';
import { isFallible, isFallibleKey } from '../build/rules.ts';
import type { CatalogueMetadata } from '../catalogue-metadata.ts';
import { isSingle } from '../dependencies.ts';
import { expressionKey, isTerm, keysOfJoin, leafKey, leavesOfTerm } from '../expressions.ts';
import type { Rewrite } from './rewrite.ts';

export const removeSelfJoins: Rewrite = (algebra, { catalogue, onError }) => {
  const rejecting = new Set(algebra.maps.flatMap((rules) => (mayReject(rules, { onError }) ? [rules.map.id] : [])));
  let isChanged = false;
  const maps = algebra.maps.map((rules) => {
    const emits = rules.emits.map((emit) => {
      const object = ownObjectOf(rules, emit, rejecting, catalogue);
      return object === undefined ? emit : { ...emit, input: rules.rows, object };
    });
    const isSame = emits.every((emit, i) => emit === rules.emits[i]);
    isChanged ||= !isSame;
    return isSame ? rules : { ...rules, emits };
  });
  return isChanged ? { ...algebra, maps } : algebra;
};

/** Whether a record may be rejected for more than its subject, and the run go on. */
function mayReject({ map, emits, collects, checks }: MapRules, { onError }: Policies): boolean {
  if (policyOf(map.dialect, onError) === 'strict') return false;
  if (!leavesObjectsOut(map.dialect, onError) || checks.length + collects.length > 0) return true;
  return emits.some(
    ({ input, predicate, graph }) =>
      (graph !== undefined && isFallible(graph)) ||
      (input.kind === 'join' &&
        (isFallible(predicate) || keysOfJoin(input).some(isFallibleKey) || input.right.keys.some(({ value }) => isFallibleKey(value)))),
  );
}

/** The object of a join that is removed, as a term of the record itself. undefined: the statement has no such join. */
function ownObjectOf(
  { map, rows, subject }: MapRules,
  { input, predicate, object, graph }: Emit,
  rejecting: ReadonlySet<string>,
  catalogue: CatalogueMetadata,
): Term | undefined {
  if (input.kind !== 'join' || input === rows || rows.kind !== 'scan' || rows.source.kind !== 'file') return undefined;
  const { on, right } = input;
  const [parent] = right.columns;
  if (object.kind !== 'encoded' || on.length === 0 || right.input !== rows || right.counts || right.map === undefined) return undefined;
  if (parent === undefined || !isTerm(parent.value) || rejecting.has(map.id) || rejecting.has(right.map.id)) return undefined;
  const of = [subject, predicate, ...(graph === undefined ? [] : [graph])];
  if (![...of, parent.value].every((term) => ['constant', 'iri'].includes(term.kind) && !isFallible(term))) return undefined;
  const keys = new Set<string>();
  for (const [i, { left }] of on.entries()) {
    const other = right.keys[i]?.value;
    if (left.kind !== 'read' || other === undefined || expressionKey(left) !== expressionKey(other)) return undefined;
    if (!isSingle(left, rows, catalogue)) return undefined;
    keys.add(leafKey(left));
  }
  const readBy = (terms: readonly Term[]): readonly string[] => terms.flatMap(leavesOfTerm).map(leafKey);
  const read = new Set(readBy([...of, parent.value]));
  if (![...keys].every((key) => read.has(key))) return undefined;
  const isOfKeys = (terms: readonly Term[]): boolean => readBy(terms).every((key) => keys.has(key));
  return isOfKeys(of) || isOfKeys([parent.value]) ? parent.value : undefined;
}
