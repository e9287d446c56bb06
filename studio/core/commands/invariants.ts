/**
 * What is true of every document, after every command and when a text has been read: I1 to I9.
 *
 * What was read from a text may break R2 and R3; it is drawn with a warning.
 */
import { isLanguageTag } from '../../../src/mapping/vocabulary/language-tag.ts';
import type { Anchor, Element, Expression, FieldRef, Id, StudioDocument } from '../document.ts';
import { fieldsOf } from '../elements/expressions.ts';
import { isAbsoluteIri } from '../elements/iris.ts';
import { fieldsOfRecord, inputOf, recordOf, recordsOf } from '../elements/records.ts';
import { deepestOf, levelOf, samePath, type View, viewOf, viewsMeet } from '../levels.ts';
import { identifies } from '../rules/expression.ts';
import { checkEdge } from '../rules/link.ts';
import { isRefusal } from '../rules/verdict.ts';
import { fitsJoin } from './settle.ts';

export interface Finding {
  readonly invariant: Invariant;
  readonly element: Id | undefined;
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

export type Invariant = 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6' | 'I7' | 'I8' | 'I9';

type Told = Omit<Finding, 'invariant' | 'severity'> & Partial<Pick<Finding, 'severity'>>;

/** Each invariant, and what breaks it. */
export const INVARIANTS: Readonly<Record<Invariant, (document: StudioDocument) => Iterable<Told>>> = {
  I1: references,
  I2: levels,
  I3: edges,
  I4: joins,
  I5: inputs,
  I6: literals,
  I7: views,
  I8: names,
  I9: anchors,
};

/** All that is wrong in a document. */
export const findingsIn = (document: StudioDocument): readonly Finding[] =>
  (Object.keys(INVARIANTS) as readonly Invariant[]).flatMap((invariant) =>
    [...INVARIANTS[invariant](document)].map((told): Finding => ({ severity: 'error', ...told, invariant })),
  );

/** I1: ids are unique, and every reference leads somewhere. */
function* references(document: StudioDocument): Iterable<Told> {
  const { records } = document;
  for (const [id, record] of records) {
    if (record.id !== id) yield { element: id, message: `is kept as ${id} and has the id ${record.id}` };
    for (const [to, kinds] of referred(record)) {
      const kind = records.get(to)?.kind;
      if (kind === undefined || !kinds.includes(kind)) yield { element: id, message: `refers to ${to}, which is no ${kinds.join(' or ')}` };
    }
  }
  for (const { id, from, part } of recordsOf(document, 'edge')) {
    const subject = recordOf(document, 'entity', from);
    if (subject !== undefined && !subject.parts.includes(part))
      yield { element: id, message: `belongs to ${part}, which is no part of ${from}` };
  }
}

function referred(record: Element): readonly (readonly [Id, readonly Element['kind'][]])[] {
  const fields = fieldsOfRecord(record).map(({ input }) => [input, ['input']] as const);
  switch (record.kind) {
    case 'entity':
      return [...fields, [record.input, ['input']], ...record.graphs.map((graph) => [graph, ['graph']] as const)];
    case 'edge':
      return [
        [record.from, ['entity', 'attribute']],
        [record.to, ['entity', 'attribute']],
        ...record.graphs.map((graph) => [graph, ['graph']] as const),
      ];
    case 'join':
      return [...fields, [record.edge, ['edge']]];
    case 'text':
      return record.of === undefined ? [] : [[record.of, ['input', 'entity', 'attribute', 'edge', 'join', 'graph', 'prefix']]];
    case 'place':
      return [[record.of, ['input', 'entity', 'attribute', 'graph', 'text']]];
    default:
      return fields;
  }
}

/** I2: fields of an identifier belong to the input of the entity and lie on one chain, whose deepest level is its own. */
function* levels(document: StudioDocument): Iterable<Told> {
  for (const { id, name, input, identifier, level } of recordsOf(document, 'entity')) {
    const refusal = identifies(document, { name, input: inputOf(document, input) }, identifier);
    if (refusal !== undefined) yield { element: id, message: refusal.sentence };
    const deepest = deepestOf(fieldsOf(identifier).map(({ path }) => levelOf(path)));
    if (deepest !== undefined && !samePath(deepest, level)) yield { element: id, message: 'is at another level than its identifier' };
  }
}

/** I3: an edge is what the rules allow, and has the form that follows from them. */
function* edges(document: StudioDocument): Iterable<Told> {
  for (const edge of recordsOf(document, 'edge')) {
    const link = checkEdge(document, edge);
    if (isRefusal(link)) {
      yield { element: edge.id, message: link.sentence, severity: link.rule === 'R2' || link.rule === 'R3' ? 'warning' : 'error' };
    } else if (link.form !== edge.form) {
      yield { element: edge.id, message: `has the form ${edge.form} and needs ${link.form}` };
    }
  }
}

/** I4: only edges of form join have a join, and one at most; its conditions read the two ends. */
function* joins(document: StudioDocument): Iterable<Told> {
  const seen = new Set<Id>();
  for (const { id, edge, conditions } of recordsOf(document, 'join')) {
    const joined = recordOf(document, 'edge', edge);
    if (joined?.form !== 'join') yield { element: id, message: 'belongs to an edge that is no join' };
    for (const condition of joined === undefined ? [] : conditions) {
      const refusal = joined && fitsJoin(document, joined, condition);
      if (refusal !== undefined) yield { element: id, message: refusal.sentence, severity: refusal.rule === 'R3' ? 'warning' : 'error' };
    }
    if (seen.has(edge)) yield { element: id, message: 'belongs to an edge that has another join' };
    seen.add(edge);
  }
}

/** I5: an attribute has one input at most. */
function* inputs(document: StudioDocument): Iterable<Told> {
  for (const { id, value } of recordsOf(document, 'attribute')) {
    if (new Set(fieldsOf(value).map(({ input }) => input)).size > 1) yield { element: id, message: 'reads several inputs' };
  }
}

/** I6: language and datatype exclude each other, and both need a literal. No entity is a literal. */
function* literals(document: StudioDocument): Iterable<Told> {
  for (const { id, termType, datatype, language } of recordsOf(document, 'attribute')) {
    if (datatype !== undefined && language !== undefined) yield { element: id, message: 'has a datatype and a language' };
    if (termType !== 'literal' && (datatype !== undefined || language !== undefined)) {
      yield { element: id, message: 'is no literal and has a datatype or language' };
    }
    if (language !== undefined && !isLanguageTag(language)) yield { element: id, message: `has the language ${language}` };
  }
  for (const { id, termType } of recordsOf(document, 'entity')) {
    if (termType === 'literal') yield { element: id, message: 'is a literal' };
  }
}

/** I7: elements of both views never meet, in one value or by an edge. */
function* views(document: StudioDocument): Iterable<Told> {
  const meet = (fields: readonly FieldRef[]): boolean => agree(fields.map(({ path }) => viewOf(path)));
  for (const record of document.records.values()) {
    for (const value of valuesOf(record)) {
      if (!meet(fieldsOf(value))) yield { element: record.id, message: 'reads fields of both views' };
    }
    if (record.kind === 'edge') {
      const ends = [record.from, record.to].flatMap((id) => {
        const end = document.records.get(id);
        const level = end?.kind === 'entity' && fieldsOf(end.identifier).length > 0 ? [viewOf(end.level)] : [];
        return end === undefined ? [] : [...level, ...fieldsOfRecord(end).map(({ path }) => viewOf(path))];
      });
      if (!agree(ends)) yield { element: record.id, message: 'links elements of both views' };
    }
  }
}

const agree = (all: readonly View[]): boolean => all.every((a, i) => all.slice(i + 1).every((b) => viewsMeet(a, b)));

function valuesOf(record: Element): readonly Expression[] {
  if (record.kind === 'entity') return [record.identifier];
  if (record.kind === 'attribute') return [record.value];
  if (record.kind === 'graph') return [record.name];
  return record.kind === 'join' ? record.conditions.flatMap(({ child, parent }) => [child, parent]) : [];
}

/** I8: prefixes and names of inputs are unique; predicates, classes and datatypes are absolute IRIs. */
function* names(document: StudioDocument): Iterable<Told> {
  for (const kind of ['prefix', 'input'] as const) {
    const seen = new Set<string>();
    for (const { id, name } of recordsOf(document, kind)) {
      if (seen.has(name)) yield { element: id, message: `has the name of another ${kind}` };
      seen.add(name);
    }
  }
  for (const record of document.records.values()) {
    const wrong = irisOf(record).find((iri) => !isAbsoluteIri(iri));
    if (wrong !== undefined) yield { element: record.id, message: `${wrong} is not an absolute IRI` };
  }
}

function irisOf(record: Element): readonly string[] {
  if (record.kind === 'edge') return record.predicates;
  if (record.kind === 'entity') return record.classes;
  if (record.kind === 'prefix') return [record.iri];
  return record.kind === 'attribute' && record.datatype !== undefined ? [record.datatype] : [];
}

/** I9: ranges of elements lie in the text, and nest or are apart. */
function* anchors({ text: { text, anchors: all } }: StudioDocument): Iterable<Told> {
  const ranges = [...all].flatMap(([id, list]) => list.map((range) => ({ id, ...range })));
  for (const { id, from, to } of ranges) {
    if (from < 0 || to < from || to > text.length) yield { element: id, message: `has the range ${from}–${to} of ${text.length}` };
  }
  const open: (Anchor & { readonly id: Id })[] = [];
  for (const range of ranges.sort((a, b) => a.from - b.from || b.to - a.to)) {
    while ((open.at(-1)?.to ?? Number.POSITIVE_INFINITY) <= range.from) open.pop();
    const outer = open.at(-1);
    if (outer !== undefined && outer.to < range.to) yield { element: range.id, message: `shares a part of the text with ${outer.id}` };
    open.push(range);
  }
}
