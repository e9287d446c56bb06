/** Mappings from one language into another: today's RML, legacy RML, R2RML, YARRRML. */
import type { Formulation } from '../../core/input/formats.ts';
import { fromRecord, withoutPoints } from '../../paths/json/parse.ts';
import { withAnyNamespace } from '../../paths/xml/path.ts';
import { Report } from '../model/diagnostics.ts';
import { expressionsOf, referencesOf } from '../model/expressions.ts';
import type { Graph } from '../model/graph.ts';
import {
  allSourcesOf,
  type Diagnostic,
  type Dialect,
  type Expression,
  hasEmptyCells,
  type Mapping,
  mapsIn,
  type Origin,
  referredBy,
  type TriplesMap,
} from '../model/model.ts';
import { type Document, isYarrrml, parseDocuments, type ReadOptions } from '../parse/document.ts';
import { prefixesOf } from '../parse/prefixes.ts';
import { readGraph, readMapping, translate } from '../parse/read.ts';
import { lookUp, USUAL_PREFIXES } from '../vocabulary/namespaces.ts';
import { Comments } from './comments.ts';
import { convertGraph, type EmptyCells, originKey } from './dialect.ts';
import { checkMeaning } from './meaning.ts';
import { type Base, writeTurtle } from './turtle.ts';

export const LANGUAGES = ['rml', 'legacy', 'r2rml', 'yarrrml'] as const satisfies readonly (Dialect | 'yarrrml')[];
export type Language = (typeof LANGUAGES)[number];

/** Prefixes of the vocabularies of each language. */
const PREFIXES: Readonly<Record<Dialect, Readonly<Record<string, string>>>> = {
  rml: {},
  legacy: {
    rml: 'http://semweb.mmlab.be/ns/rml#',
    rmlt: 'http://semweb.mmlab.be/ns/rml-target#',
    comp: 'http://semweb.mmlab.be/ns/rml-compression#',
    enc: 'http://semweb.mmlab.be/ns/rml-encoding#',
  },
  r2rml: {},
};

/** Prefixes that the author did not declare, but the text needs. */
const COMMON: Readonly<Record<string, string>> = {
  ...USUAL_PREFIXES,
  fno: 'https://w3id.org/function/ontology#',
  grel: 'http://users.ugent.be/~bjdmeest/function/grel.ttl#',
  'idlab-fn': 'https://w3id.org/imec/idlab/function#',
};

/**
 * The documents as one document of another language. Comments in front of the text, above triples maps and term maps, and at the ends of lines stay
 * where they are; the others stand at the end. The text is read again: one
 * that means something else is never returned.
 *
 * @returns `text` is undefined if a document is not valid, or says what the language cannot; `diagnostics` say why
 */
export async function convertMapping(
  documents: readonly Document[],
  to: Language,
  options: ReadOptions,
): Promise<{ readonly text: string | undefined; readonly diagnostics: readonly Diagnostic[] }> {
  const { mapping, diagnostics } = await readMapping(documents, options);
  if (diagnostics.some(({ severity }) => severity === 'error')) return { text: undefined, diagnostics };
  const report = new Report();
  const comments = await Comments.of(documents);
  const declared = Object.entries(await prefixesOf(documents));
  let meant = mapping;
  let text: string;
  if (to === 'yarrrml') {
    const { writeYarrrml } = await import('./yarrrml.ts');
    text = writeYarrrml(mapping, new Map([...Object.entries(COMMON), ...declared]), comments, report);
  } else {
    const { graph: asWritten } = parseDocuments(documents, options, await translate(documents, new Report()));
    const graph = to === 'rml' ? inTodaysForm(asWritten, mapping, report) : asWritten;
    if (graph !== asWritten) meant = readGraph(graph, new Report(), options.functions).mapping;
    const converted = convertGraph(graph, to, report, to === 'rml' ? emptyCellsOf(mapping) : undefined);
    comments.assign(converted.map(({ origin }) => origin));
    const nodes = converted.map((node) => ({ ...node, comments: comments.above(node.origin) }));
    const prefixes = new Map([...turtlePrefixes(to), ...declared]);
    text = writeTurtle(nodes, prefixes, { heading: comments.heading(), base: baseOf(documents, options) });
  }
  const rest = comments.rest();
  if (rest.length > 0) text += `\n${rest.map((line) => `#${line}\n`).join('')}`;
  const name = to === 'yarrrml' ? 'converted.yml' : 'converted.ttl';
  if (report.errors === 0) await checkMeaning(meant, { name, text }, options, { withoutConnections: to === 'r2rml', report });
  return { text: report.errors > 0 ? undefined : text, diagnostics: report.sorted(documents.map(({ name }) => name)) };
}

/**
 * The graph with expressions as today's RML has them, where legacy RML reads others as the same: `$.name` for `@.name`, `*:name` for `:name`. The same
 * graph, if there are none.
 */
function inTodaysForm(graph: Graph, mapping: Mapping, report: Report): Graph {
  // Statements of which expressions of one formulation alone come.
  const formulations = new Map<string, Formulation | undefined>();
  const byId = new Map(mapping.triplesMaps.map((map) => [map.id, map]));
  const add = (map: TriplesMap | undefined, origins: readonly Origin[]): void => {
    if (map?.source.kind !== 'file' || map.dialect !== 'legacy') return;
    const { formulation } = map.source;
    for (const key of origins.map(originKey))
      formulations.set(key, formulations.has(key) && formulations.get(key) !== formulation ? undefined : formulation);
  };
  const originsOf = (expressions: readonly Expression[]): readonly Origin[] =>
    expressions.flatMap(referencesOf).map(({ origin }) => origin);
  for (const map of mapping.triplesMaps) {
    add(map, originsOf(expressionsOf(map)));
    if (map.source.kind === 'file' && map.source.iteratorOrigin !== undefined) add(map, [map.source.iteratorOrigin]);
    for (const one of mapsIn(map))
      if (one.kind !== 'term') add(byId.get(referredBy(one)), originsOf(one.conditions.map(({ parent }) => parent)));
  }
  let changed = false;
  const nodes = [...graph].map(([id, node]) => {
    const statements = node.statements.map((statement) => {
      const { object, origin, property } = statement;
      const name = lookUp('properties', property)?.name ?? '';
      const formulation = formulations.get(originKey(origin));
      if (object.kind !== 'literal' || formulation === undefined || !EXPRESSIONS.has(name)) return statement;
      const one = (expression: string): string => todaysForm(expression, formulation);
      const value =
        name === 'template'
          ? object.value.replace(/(?<!\\)\{((?:\\.|[^\\}])*)\}/g, (_, inner: string) => `{${one(inner)}}`)
          : one(object.value);
      if (value === object.value) return statement;
      changed = true;
      report.warning('older-term', origin, `${object.value} is no expression of today's RML: ${value} is written, which means the same`);
      return { ...statement, object: { ...object, value } };
    });
    return [id, { ...node, statements }] as const;
  });
  return changed ? new Map(nodes) : graph;
}

const EXPRESSIONS: ReadonlySet<string> = new Set(['reference', 'template', 'child', 'parent', 'iterator']);

function todaysForm(expression: string, formulation: Formulation): string {
  if (formulation === 'xml') return withAnyNamespace(expression);
  if (formulation !== 'json') return expression;
  const text = expression.trim();
  return withoutPoints(fromRecord(text) ?? text);
}

/** In the older dialects an empty cell has no value, which today's RML says by a text that means null. */
function emptyCellsOf(mapping: Mapping): EmptyCells {
  const found = new Map<string, readonly string[]>();
  const [older, today] = [mapping.triplesMaps.filter(({ dialect }) => dialect !== 'rml'), mapping.triplesMaps.filter(isOfToday)];
  // Columns that CSVW describes have their own nulls.
  for (const source of allSourcesOf({ triplesMaps: older, annotations: [] }))
    if (hasEmptyCells(source) && !source.nulls.includes('') && source.csv?.columns === undefined)
      found.set(originKey(source.origin), ['', ...source.nulls]);
  for (const { origin } of allSourcesOf({ triplesMaps: today, annotations: [] })) found.delete(originKey(origin));
  return found;
}

const isOfToday = ({ dialect }: TriplesMap): boolean => dialect === 'rml';

/** Prefix → namespace of what a text in a dialect needs and its author did not declare. */
export const turtlePrefixes = (dialect: Dialect): ReadonlyMap<string, string> =>
  new Map(Object.entries({ ...COMMON, ...PREFIXES[dialect] }));

/** The base of a document of Turtle, or of several that declare none. */
function baseOf(documents: readonly Document[], { baseIri }: ReadOptions): Base | undefined {
  if (documents.some(isYarrrml)) return undefined;
  const declared = documents.flatMap(({ text }) => [...text.matchAll(/^\s*@?base\s*<([^>\s]*)>/gim)].map((found) => found[1] as string));
  const [only, ...others] = declared;
  if (only === undefined) return { iri: baseIri, isDeclared: false };
  return others.length === 0 && documents.length === 1 && URL.canParse(only) ? { iri: only, isDeclared: true } : undefined;
}
