/** A rule of the plan → the constant text around its values, and the closure that returns the values. */
import { formatOrigin } from '../../mapping/model/model.ts';
import type { Term } from '../../plan/algebra.ts';
import type { RulePlan } from '../../plan/plan.ts';
import type { Multimap } from '../../spill/multimap.ts';
import { type CompiledTerm, compileTerm } from '../../terms/encode.ts';
import { type Accessors, mapText, type TextOf, withoutLeftOut } from '../../terms/evaluate.ts';
import type { Affix } from './affixes.ts';
import type { OutputPattern, OutputText } from './output.ts';
import type { ProbeSide } from './probe-side.ts';

export interface ParentLists {
  readonly index: Multimap;
  /** As `CompiledRule.slot`, for the number of the list; never -1. */
  readonly slot: number;
}

/** A statement without its subject: what stands around the object's value, and the value. */
export interface CompiledRule {
  readonly affixes: StatementAffixes;
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
export type StatementAffixes = OutputPattern | { readonly lead: Affix; readonly tail: Affix };

/** @param own for the predicate */
function affixesOf(rule: RulePlan, own: Accessors, rows: Accessors, object: CompiledTerm, output: OutputText): StatementAffixes {
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

function endOf({ constant, before, after, text }: CompiledTerm, lead: string, tail: string): Affix {
  if (constant !== undefined) return lead + constant + tail;
  const [head, foot] = [lead + before, after + tail];
  return (record, position) => mapText(text(record, position), (inner) => head + inner + foot);
}

/**
 * Compiles a rule of a triples map. All texts are one-byte N-Quads text; the line of a statement is `subject + lead + text + tail`, where
 * `lead` begins with the space after the subject and `tail` ends with ` .` and a line feed. If predicate or graph give several texts, or
 * `text` does, the rule makes a statement of each combination.
 *
 * @param probe of a join that is made record by record; `text` then gives the subjects of the parents, each once. undefined for any other object
 * @param ofStatement the same rows for predicate and object, unless the object is a join: their invalid values may be left out
 * @throws Fault mapping/invalid, mapping/reference — the mapping cannot be compiled for this source. The closures throw record/term for an
 * invalid value
 */
export function compileRule(
  rule: RulePlan,
  rows: Accessors,
  probe: ProbeSide | undefined,
  output: OutputText,
  ofStatement: Accessors = rows,
): Pick<CompiledRule, 'affixes' | 'text'> {
  const own = rule.object.kind === 'term' ? ofStatement : rows;
  const object = compileObject(rule, own, probe);
  return { affixes: affixesOf(rule, own, rows, object, output), text: object.text };
}

/** What statements have in common whose objects come as a whole. */
export const compileAffixes = (rule: RulePlan, rows: Accessors, output: OutputText): StatementAffixes =>
  affixesOf(rule, rows, rows, ANY, output);

/** The parent's subject, which is available only as a whole. */
const ANY: CompiledTerm = { before: '', after: '', constant: undefined, text: () => null };

function compileObject({ object }: RulePlan, rows: Accessors, probe: ProbeSide | undefined): CompiledTerm {
  if (object.kind === 'term') return tolerant(object.term, rows);
  const { build, keys } = probe as ProbeSide;
  return { ...ANY, ...build.affixes, text: (record, position) => (probe as ProbeSide).find(keys(record, position)) };
}
