/** A rule of the plan → the constant text around its values, and the closure that returns the values. */
import { formatOrigin } from '../../mapping/model/model.ts';
import type { Expression, Term } from '../../plan/algebra.ts';
import type { RulePlan } from '../../plan/plan.ts';
import { type CompiledTerm, compileTerm } from '../../terms/encode.ts';
import { type Accessors, compileExpression, identity, mapText, type Text, type TextOf, withoutLeftOut } from '../../terms/evaluate.ts';
import type { JoinCount } from '../join/counts.ts';
import { joinKey, type Multimap } from '../join/join.ts';
import { type End, lineEnd } from './ends.ts';

export interface ParentLists {
  readonly index: Multimap;
  /** As `CompiledRule.slot`, for the number of the list; never -1. */
  readonly slot: number;
}

/** A statement without its subject: the text before the object's value, the value, and the text after it. */
export interface CompiledRule {
  readonly lead: End;
  readonly tail: End;
  readonly text: TextOf;
  /** Whether the texts are parents of a join: those of one key have no duplicates. */
  readonly joined: boolean;
  /**
   * Index of the object among the values that the subject table remembers per subject. The rules of a triples map and their
   * `ParentLists` take the numbers from 0 in rule order. -1: not remembered, because the object is functionally dependent on the subject
   * or the rule overlaps with others.
   */
  readonly slot: number;
  /** `RulePlan.distinct` is `overlapping`. */
  readonly overlapping: boolean;
  /** For a join: its index, and the index of the list number among the values that the subject table remembers. */
  readonly lists: ParentLists | undefined;
}

/** From the subject to the object's value. */
const leadOf = (rule: RulePlan, rows: Accessors, object: CompiledTerm): End =>
  endOf(tolerant(rule.predicate, rows), ' ', ` ${object.before}`);

/** From the object's value to the end of the line. */
const tailOf = (rule: RulePlan, rows: Accessors, object: CompiledTerm): End =>
  rule.graph === undefined
    ? object.after + lineEnd(rule.output)
    : endOf(compileTerm(rule.graph, rows), `${object.after} `, lineEnd(rule.output));

function tolerant(term: Term, rows: Accessors): CompiledTerm {
  const compiled = compileTerm(term, rows);
  const origin = term.kind === 'iri' || term.kind === 'blank' || term.kind === 'literal' ? formatOrigin(term.value.origin) : undefined;
  return compiled.constant === undefined ? { ...compiled, text: withoutLeftOut(rows, compiled.text, origin) } : compiled;
}

function endOf({ constant, before, after, text }: CompiledTerm, lead: string, tail: string): End {
  if (constant !== undefined) return lead + constant + tail;
  const [head, foot] = [lead + before, after + tail];
  return (record, position) => mapText(text(record, position), (inner) => head + inner + foot);
}

/**
 * Compiles a rule of a triples map. All texts are one-byte N-Quads text; a statement is `subject + lead + text + tail`, where `lead` begins
 * with the space after the subject and `tail` ends with ` .` and a line feed. If predicate or graph give several texts, or `text` does, the
 * rule makes a statement of each combination.
 *
 * @param parents the complete join index of a join that is made record by record; `text` then gives the subjects of the parents, each
 * once. undefined for any other object
 * @param count of the rows that find no parent; undefined: they are not counted
 * @param ofStatement the same rows for predicate and object, unless the object is a join: their invalid values may be left out
 * @throws Fault mapping/invalid, mapping/reference — the mapping cannot be compiled for this source. The closures throw record/term for an
 * invalid value
 */
export function compileRule(
  rule: RulePlan,
  rows: Accessors,
  parents: Multimap | undefined,
  count: JoinCount | undefined,
  ofStatement: Accessors = rows,
): Pick<CompiledRule, 'lead' | 'tail' | 'text'> {
  const own = rule.object.kind === 'term' ? ofStatement : rows;
  const object = compileObject(rule, own, parents, count);
  return { lead: leadOf(rule, own, object), tail: tailOf(rule, rows, object), text: object.text };
}

/** The statement text of a deferred join, without subject and object. */
export const compileEnds = (rule: RulePlan, rows: Accessors): Pick<CompiledRule, 'lead' | 'tail'> => ({
  lead: leadOf(rule, rows, ANY),
  tail: tailOf(rule, rows, ANY),
});

/** The parent's subject, which is available only as a whole. */
const ANY: CompiledTerm = { before: '', after: '', constant: undefined, text: () => null };

function compileObject(rule: RulePlan, rows: Accessors, parents: Multimap | undefined, count: JoinCount | undefined): CompiledTerm {
  const { object } = rule;
  switch (object.kind) {
    case 'term':
      return tolerant(object.term, rows);
    case 'join': {
      const keys = compileKeys(object.keys, rows);
      const index = parents as Multimap;
      const text: TextOf =
        count === undefined
          ? (record, position) => probe(index, keys(record, position))
          : (record, position) => {
              const texts = keys(record, position);
              return count.see(texts, probe(index, texts));
            };
      return { ...ANY, ...index.around, text };
    }
  }
}

function probe(index: Multimap, keys: Text): Text {
  if (keys === null) return null;
  if (typeof keys === 'string') return index.get(keys);
  const found = new Set<string>();
  for (const key of keys) {
    const texts = index.get(key);
    if (typeof texts === 'string') found.add(texts);
    else if (texts !== null) for (const text of texts) found.add(text);
  }
  return found.size === 0 ? null : [...found];
}

/**
 * Compiles the key expressions of a join, in the order of `ObjectPlan.keys`, into one closure over the records of one side.
 *
 * It returns the join keys of a record: one text per combination of values (`joinKey` joins several expressions unambiguously), without
 * duplicates, the last expression varying fastest; null if some expression has no value. Keys are the values as the source writes them, in
 * one-byte text, neither escaped nor percent-encoded.
 *
 * @throws Fault mapping/reference — a reference that the source does not have. The closure throws record/term for an invalid value
 */
export function compileKeys(expressions: readonly Expression[], rows: Accessors): TextOf {
  const terms = expressions.map((expression) => compileExpression(expression, rows, identity));
  const [only] = terms;
  if (terms.length === 1 && only !== undefined && only.before === '' && only.after === '') return only.text;
  return (record, position) => {
    let keys: readonly (readonly string[])[] = [[]];
    for (const term of terms) {
      const text = term.text(record, position);
      if (text === null) return null;
      const parts = (typeof text === 'string' ? [text] : text).map((inner) => term.before + inner + term.after);
      keys = keys.flatMap((key) => parts.map((part) => [...key, part]));
    }
    return keys.length === 1 ? joinKey(keys[0] as readonly string[]) : keys.map(joinKey);
  };
}
