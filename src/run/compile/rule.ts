/** A rule of the plan → the constant text around its values, and the closure that returns the values. */
import { formatOrigin } from '../../mapping/model/model.ts';
import type { Expression, Term } from '../../plan/algebra.ts';
import type { RulePlan } from '../../plan/plan.ts';
import { type CompiledTerm, compileTerm } from '../../terms/encode.ts';
import { type Accessors, compileExpression, identity, mapText, type Text, type TextOf, withoutLeftOut } from '../../terms/evaluate.ts';
import type { JoinCount } from '../join/counts.ts';
import { joinKey, type Multimap } from '../join/join.ts';
import type { End } from './ends.ts';
import type { OutputPattern, OutputText } from './output.ts';

export interface ParentLists {
  readonly index: Multimap;
  /** As `CompiledRule.slot`, for the number of the list; never -1. */
  readonly slot: number;
}

/** A statement without its subject: what stands around the object's value, and the value. */
export interface CompiledRule {
  readonly affixes: Affixes;
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

/** What stands around the objects of a rule's statements: in a pattern, if predicate and graph are constant. */
export type Affixes = OutputPattern | { readonly lead: End; readonly tail: End };

/** @param own for the predicate */
function affixesOf(rule: RulePlan, own: Accessors, rows: Accessors, object: CompiledTerm, output: OutputText): Affixes {
  const predicate = tolerant(rule.predicate, own);
  const graph = rule.graph === undefined ? NO_GRAPH : compileTerm(rule.graph, rows);
  const { before, after } = object;
  if (predicate.constant !== undefined && graph.constant !== undefined)
    return output.pattern({ predicate: predicate.constant, before, after, graph: graph.constant }, rule.reified);
  return { lead: endOf(predicate, ' ', ` ${before}`), tail: graph === NO_GRAPH ? `${after} .\n` : endOf(graph, `${after} `, ' .\n') };
}

const NO_GRAPH: CompiledTerm = { before: '', after: '', constant: '', text: () => null };

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
 * Compiles a rule of a triples map. All texts are one-byte N-Quads text; the line of a statement is `subject + lead + text + tail`, where
 * `lead` begins with the space after the subject and `tail` ends with ` .` and a line feed. If predicate or graph give several texts, or
 * `text` does, the rule makes a statement of each combination.
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
  output: OutputText,
  ofStatement: Accessors = rows,
): Pick<CompiledRule, 'affixes' | 'text'> {
  const own = rule.object.kind === 'term' ? ofStatement : rows;
  const object = compileObject(rule, own, parents, count);
  return { affixes: affixesOf(rule, own, rows, object, output), text: object.text };
}

/** What statements have in common whose objects come as a whole. */
export const compileAffixes = (rule: RulePlan, rows: Accessors, output: OutputText): Affixes => affixesOf(rule, rows, rows, ANY, output);

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
