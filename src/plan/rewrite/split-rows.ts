/**
 * Splits the rows of a triples map: a statement that does not read a list of a view is not made once for each of its items.
 *
 * `name` and `{item.type}` of a person with 100 items are made of 1 and of 100 rows; statements of two lists beside each other of the rows of
 * either, not of their product.
 *
 * **Precondition.** Statements of the triples map are a set: it adds to no collection, and no term of it belongs to its row (`isOfRow`). An
 * invalid term ends the run. Nothing else reads its rows: it is no parent, and has no other rules.
 *
 * **Claim.** The rewrite preserves statements, faults and failed checks.
 *
 * **Proof.** Let `kept` be the steps that remain for some statement patterns: whatever these patterns or the subject read, whatever a kept
 * step reads, and every inner join. What goes are unnests, whose rows without items stay, left joins, and numbers of rows. Each of them gives
 * at least one row for each row of its input, with the same cells besides its own, and no kept step or term reads those. So by induction over
 * the steps, the rows of before and those of the kept steps are equal as sets in the columns of the kept steps. (A kept number counts rows:
 * everything below it is kept.) A term is a function of the cells that it reads, so subject and patterns have the same texts in both, and the
 * set of their statements is the same. For the same reason a term that is invalid in a row of before is invalid in a row of the kept steps, and
 * the run ends, as it would have. A step that is left out in one part is kept in another one, or nothing reads what it gives.
 *
 * It would not hold where a record with an invalid term is skipped: the row of an item whose type is invalid would still state the name.
 */
import { policyOf } from '../../mapping/model/model.ts';
import type { Column, Emit, Expression, Join, MapInfo, MapRules, Operator } from '../algebra.ts';
import {
  expressionsOf,
  isOfRow,
  isTerm,
  keysOfJoin,
  type Leaf,
  leavesOf,
  leavesOfColumn,
  leavesOfTerm,
  rowJoins,
  stepsOf,
  termsOfEmit,
} from '../expressions.ts';
import { ruleJoins } from './guards.ts';
import type { Rewrite } from './rewrite.ts';

export const splitRows: Rewrite = (algebra, { onError }) => {
  const { maps, checks } = algebra;
  const parents = parentsOf([
    ...maps.flatMap((rules) => [...ruleJoins(rules), ...rowJoins(rules.rows)]),
    ...checks.flatMap(({ rows }) => rowJoins(rows)),
  ]);
  const count = new Map<string, number>();
  for (const { map } of maps) count.set(map.id, (count.get(map.id) ?? 0) + 1);
  const kept = new KeptRows();
  const split = maps.flatMap((rules) => {
    const { map } = rules;
    const isAlone = count.get(map.id) === 1 && !parents.has(map);
    return isAlone && policyOf(map.dialect, onError) === 'strict' && isSet(rules) ? splitByLists(rules, kept) : [rules];
  });
  return split.length === maps.length ? algebra : { ...algebra, maps: split };
};

/** The triples map by the lists that its statement patterns read. */
function splitByLists(rules: MapRules, kept: KeptRows): readonly MapRules[] {
  const parts = new Map<string, Emit[]>();
  const { rows: all, subject } = rules;
  const read = (emits: readonly Emit[]): ReadonlySet<Column> => {
    const keys = emits.flatMap((emit) => objectsOf(emit, all)).flatMap(keysOfJoin);
    return columnsOf([...[subject, ...emits.flatMap(termsOfEmit)].flatMap(leavesOfTerm), ...keys.flatMap(leavesOf)]);
  };
  for (const emit of rules.emits) {
    const lists = stepsOf(kept.rows(all, read([emit]))).flatMap((step) => (step.kind === 'unnest' ? [step.item.id] : []));
    const key = lists.join();
    parts.set(key, [...(parts.get(key) ?? []), emit]);
  }
  if (parts.size < 2) return [rules];
  return [...parts.values()].map((emits) => {
    const rows = kept.rows(all, read(emits));
    const over = (emit: Emit): Emit => {
      const [join] = objectsOf(emit, all);
      return { ...emit, input: join === undefined ? rows : { ...join, left: rows } };
    };
    return { ...rules, rows, emits: emits.map(over) };
  });
}

/** Whether equal rows may be one, or more than they were. */
function isSet({ map, rows, subject, emits, collects, checks }: MapRules): boolean {
  if (map.isPart || map.quotedOnly || collects.length + checks.length > 0) return false;
  const steps = stepsOf(rows);
  // Terms that are made before a join must be valid, even if no statement reads them.
  if (steps.some((step) => step.kind === 'extend' && step.columns.some(({ value }) => isTerm(value)))) return false;
  if (!steps.some(({ kind }) => kind === 'unnest')) return false;
  const joins = emits.flatMap((emit) => objectsOf(emit, rows));
  // A join without a condition has as many pairs as there are rows.
  if (joins.some(({ on }) => on.length === 0)) return false;
  const expressions: readonly Expression[] = [
    ...[subject, ...emits.flatMap(termsOfEmit)].flatMap(expressionsOf),
    ...joins.flatMap(keysOfJoin),
  ];
  return !expressions.some(isOfRow);
}

/** The join that finds the objects of an emit over some rows. */
const objectsOf = ({ input }: Emit, rows: Operator): readonly Join[] => (input.kind === 'join' && input !== rows ? [input] : []);

const union = (a: ReadonlySet<Column>, b: ReadonlySet<Column>): ReadonlySet<Column> => new Set([...a, ...b]);

const columnsOf = (leaves: readonly Leaf[]): ReadonlySet<Column> =>
  new Set(leaves.map((leaf) => (leaf.kind === 'cell' ? leaf.column : leaf.record)));

/** The triples maps whose rows are right sides of joins, also of joins within right sides. */
function parentsOf(joins: readonly Join[]): ReadonlySet<MapInfo | undefined> {
  const found = new Set<Join['right']>();
  const add = ({ right }: Join): void => {
    if (found.has(right)) return;
    found.add(right);
    rowJoins(right.input).forEach(add);
  };
  joins.forEach(add);
  return new Set([...found].map(({ map }) => map));
}

/** Rows without the steps that nothing reads; the same operator for the same steps. */
class KeptRows {
  readonly #known = new Map<Operator, Map<string, Operator>>();
  readonly #ids = new Map<Operator, number>();

  /** @param read of the columns of `rows` */
  rows(rows: Operator, read: ReadonlySet<Column>): Operator {
    switch (rows.kind) {
      case 'scan':
        return rows;
      case 'unnest': {
        if (!read.has(rows.item) && !read.has(rows.index)) return this.rows(rows.input, read);
        const { items } = rows;
        const below = items.of === 'values' ? columnsOf(leavesOf(items.expression)) : new Set([items.within]);
        const input = this.rows(rows.input, union(read, below));
        return this.#once(rows, [input], () => ({ ...rows, input }));
      }
      case 'number':
        return read.has(rows.column) ? rows : this.rows(rows.input, read);
      case 'extend': {
        const columns = rows.columns.filter(({ column }) => read.has(column));
        const input = this.rows(rows.input, union(read, columnsOf(columns.flatMap(leavesOfColumn))));
        return columns.length === 0
          ? input
          : this.#once(rows, [input, ...columns.map(({ column }) => column.id)], () => ({ ...rows, input, columns }));
      }
      case 'join': {
        const own = [...rows.columns, ...(rows.ordinal === undefined ? [] : [rows.ordinal])];
        if (rows.type === 'left' && !own.some((column) => read.has(column))) return this.rows(rows.left, read);
        const left = this.rows(rows.left, union(read, columnsOf(keysOfJoin(rows).flatMap(leavesOf))));
        return this.#once(rows, [left], () => ({ ...rows, left }));
      }
    }
  }

  #once(of: Operator, parts: readonly (Operator | number)[], make: () => Operator): Operator {
    const known = this.#known.get(of) ?? new Map<string, Operator>();
    this.#known.set(of, known);
    const key = parts.map((part) => (typeof part === 'number' ? part : `#${this.#idOf(part)}`)).join();
    const made = known.get(key) ?? make();
    known.set(key, made);
    return made;
  }

  #idOf(of: Operator): number {
    const id = this.#ids.get(of) ?? this.#ids.size;
    this.#ids.set(of, id);
    return id;
  }
}
