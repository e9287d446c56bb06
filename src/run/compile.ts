/** A rule of the plan → the constant text around its values, and the closure that gives them. */
import { Fault } from '../fault.ts';
import type { Expression, TermMap, TriplesMap } from '../mapping/model.ts';
import { formatOrigin } from '../mapping/model.ts';
import type { JoinPlan, RulePlan } from '../plan/plan.ts';
import {
  type CompiledTerm,
  compileExpression,
  compileTerm,
  type Readers,
  same,
  type TermContext,
  type Text,
  type TextOf,
} from '../terms/generate.ts';
import { blankLabel, toBytes } from '../text.ts';
import { joinKey, type KeyedTexts } from './join.ts';

export interface ParentLists {
  readonly index: KeyedTexts;
  readonly slot: number;
}

export interface CompiledRule {
  /** Constant text between the subject and the rule's own text, and after that. */
  readonly lead: string;
  readonly tail: string;
  readonly text: TextOf;
  /** Position among the remembered objects of the subject table; -1 for an object that the subject determines, or a shared rule. */
  readonly slot: number;
  readonly shared: boolean;
  /** Of a join: where its parents are, and the position of a list's number among what the subject table remembers. */
  readonly lists: ParentLists | undefined;
}

export function termContext(map: TriplesMap, { reader, typed, datatype, slice }: Readers, base: string): TermContext {
  return {
    reader,
    typed,
    datatype,
    slice,
    base: map.baseIri === undefined ? base : toBytes(map.baseIri),
    runBase: base,
    freshPrefix: `f${blankLabel(toBytes(map.id))}_${slice}r`,
  };
}

const isConstantTerm = (term: TermMap): boolean => term.expression.kind === 'constant';

/** Constant predicate and graph: the common case. */
export const isPlain = (rule: RulePlan): boolean =>
  isConstantTerm(rule.predicate) && (rule.graph === undefined || isConstantTerm(rule.graph));

export function endOf(rule: RulePlan, context: TermContext): string {
  return rule.graph === undefined ? ' .\n' : ` ${compileTerm(rule.graph, context).constant} .\n`;
}

export function compileRule(
  rule: RulePlan,
  context: TermContext,
  parents: KeyedTexts | undefined,
  joins: readonly JoinPlan[],
): Pick<CompiledRule, 'lead' | 'tail' | 'text'> {
  const object = compileObject(rule, context, parents, joins);
  if (isPlain(rule)) {
    const predicate = compileTerm(rule.predicate, context).constant as string;
    return {
      lead: ` ${predicate} ${object.before}`,
      tail: object.after + endOf(rule, context),
      text: object.text,
    };
  }
  const terms = [compileTerm(rule.predicate, context), object, ...(rule.graph === undefined ? [] : [compileTerm(rule.graph, context)])];
  return { lead: ' ', tail: ' .\n', text: joinTexts(terms, ' ') };
}

function compileObject(rule: RulePlan, context: TermContext, parents: KeyedTexts | undefined, joins: readonly JoinPlan[]): CompiledTerm {
  const { object } = rule;
  switch (object.kind) {
    case 'term':
      return compileTerm(object.term, context);
    case 'parent-subject':
      return compileTerm(object.parent.subject, termContext(object.parent, context, context.runBase));
    case 'join': {
      if (object.deferred || parents?.spilled === true) {
        throw new Fault(
          'mapping/invalid',
          'A join that goes back to its own source, or is too large for memory, needs a constant predicate and a constant graph',
          {
            place: { mapping: formatOrigin(joins[object.join]?.parent.origin ?? rule.predicate.origin) },
          },
        );
      }
      const keys = compileKeys(object.keys, context);
      const index = parents as KeyedTexts;
      return { before: '', after: '', constant: undefined, text: (record, position) => probe(index, keys(record, position)) };
    }
  }
}

function probe(index: KeyedTexts, keys: Text): Text {
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

export function compileKeys(expressions: readonly Expression[], context: TermContext): TextOf {
  const terms = expressions.map((expression): CompiledTerm => ({ ...compileExpression(expression, context, same), constant: undefined }));
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

/** Every combination of the terms' whole tokens, joined. */
function joinTexts(terms: readonly CompiledTerm[], separator: string): TextOf {
  return (record, position) => {
    let tokens: readonly string[] | undefined;
    for (const term of terms) {
      const text = term.text(record, position);
      if (text === null) return null;
      const own = (typeof text === 'string' ? [text] : text).map((inner) => term.before + inner + term.after);
      tokens = tokens === undefined ? own : tokens.flatMap((left) => own.map((right) => left + separator + right));
    }
    return tokens?.length === 1 ? (tokens[0] as string) : (tokens ?? null);
  };
}
