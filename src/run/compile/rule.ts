/** A rule of the plan → the constant text around its values, and the closure that gives them. */

import { blankLabel, toBytes } from '../../core/text.ts';
import type { Expression, TriplesMap } from '../../mapping/model/model.ts';
import type { RulePlan } from '../../plan/plan.ts';
import {
  type Accessors,
  type CompiledTerm,
  compileExpression,
  compileTerm,
  identity,
  mapText,
  type TermContext,
  type Text,
  type TextOf,
} from '../../terms/generate.ts';
import { joinKey, type Multimap } from '../join/join.ts';

export interface ParentLists {
  readonly index: Multimap;
  readonly slot: number;
}

/** A statement without its subject: what leads to the object's own text, that text, and what ends it. */
export interface CompiledRule {
  readonly lead: End;
  readonly tail: End;
  readonly text: TextOf;
  /** Whether the texts are parents of a join: those of one key are distinct. */
  readonly joined: boolean;
  /** Position among the remembered objects of the subject table; -1 for an object that the subject determines, or a shared rule. */
  readonly slot: number;
  readonly overlapping: boolean;
  /** Of a join: where its parents are, and the position of a list's number among what the subject table remembers. */
  readonly lists: ParentLists | undefined;
}

/** Constant text, or what a record gives where a predicate or graph is not constant. */
export type End = string | TextOf;

export function termContext(map: TriplesMap, { accessor: reader, typed, datatype, slice }: Accessors, base: string): TermContext {
  return {
    accessor: reader,
    typed,
    datatype,
    slice,
    base: map.baseIri === undefined ? base : toBytes(map.baseIri),
    runBase: base,
    recordNodePrefix: `f${blankLabel(toBytes(map.id))}_${slice}r`,
  };
}

/** From the subject to the object's own text. */
const leadOf = (rule: RulePlan, context: TermContext, object: CompiledTerm): End =>
  endOf(compileTerm(rule.predicate, context), ' ', ` ${object.before}`);

/** From the object's own text to the end of the line. */
const tailOf = (rule: RulePlan, context: TermContext, object: CompiledTerm): End =>
  rule.graph === undefined ? `${object.after} .\n` : endOf(compileTerm(rule.graph, context), `${object.after} `, ' .\n');

function endOf({ constant, before, after, text }: CompiledTerm, lead: string, tail: string): End {
  if (constant !== undefined) return lead + constant + tail;
  const [head, foot] = [lead + before, after + tail];
  return (record, position) => mapText(text(record, position), (inner) => head + inner + foot);
}

/** @param parents of a join: its index */
export function compileRule(
  rule: RulePlan,
  context: TermContext,
  parents: Multimap | undefined,
): Pick<CompiledRule, 'lead' | 'tail' | 'text'> {
  const object = compileObject(rule, context, parents);
  return { lead: leadOf(rule, context, object), tail: tailOf(rule, context, object), text: object.text };
}

/** The statements of a join that is made at the end, without subject and object. */
export const compileEnds = (rule: RulePlan, context: TermContext): Pick<CompiledRule, 'lead' | 'tail'> => ({
  lead: leadOf(rule, context, ANY),
  tail: tailOf(rule, context, ANY),
});

/** The parent's subject, which is known only as a whole. */
const ANY: CompiledTerm = { before: '', after: '', constant: undefined, text: () => null };

function compileObject(rule: RulePlan, context: TermContext, parents: Multimap | undefined): CompiledTerm {
  const { object } = rule;
  switch (object.kind) {
    case 'term':
      return compileTerm(object.term, context);
    case 'parent-subject':
      return compileTerm(object.parent.subject, termContext(object.parent, context, context.runBase));
    case 'join': {
      const keys = compileKeys(object.keys, context);
      const index = parents as Multimap;
      return { ...ANY, text: (record, position) => probe(index, keys(record, position)) };
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

export function compileKeys(expressions: readonly Expression[], context: TermContext): TextOf {
  const terms = expressions.map(
    (expression): CompiledTerm => ({ ...compileExpression(expression, context, identity), constant: undefined }),
  );
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
