/** Mappings from one language into another: today's RML, legacy RML, R2RML, YARRRML. */
import { Report } from '../model/diagnostics.ts';
import { allSourcesOf, type Diagnostic, type Dialect, hasEmptyCells, type Mapping, type TriplesMap } from '../model/model.ts';
import { type Document, isYarrrml, parseDocuments, type ReadOptions } from '../parse/document.ts';
import { prefixesOf } from '../parse/prefixes.ts';
import { readMapping, translate } from '../parse/read.ts';
import { USUAL_PREFIXES } from '../vocabulary/namespaces.ts';
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
  let text: string;
  if (to === 'yarrrml') {
    const { writeYarrrml } = await import('./yarrrml.ts');
    text = writeYarrrml(mapping, new Map([...Object.entries(COMMON), ...declared]), comments, report);
  } else {
    const { graph } = parseDocuments(documents, options, await translate(documents, new Report()));
    const converted = convertGraph(graph, to, report, to === 'rml' ? emptyCellsOf(mapping) : undefined);
    comments.assign(converted.map(({ origin }) => origin));
    const nodes = converted.map((node) => ({ ...node, comments: comments.above(node.origin) }));
    const prefixes = new Map([...turtlePrefixes(to), ...declared]);
    text = writeTurtle(nodes, prefixes, { heading: comments.heading(), base: baseOf(documents, options) });
  }
  const rest = comments.rest();
  if (rest.length > 0) text += `\n${rest.map((line) => `#${line}\n`).join('')}`;
  const name = to === 'yarrrml' ? 'converted.yml' : 'converted.ttl';
  if (report.errors === 0) await checkMeaning(mapping, { name, text }, options, { withoutConnections: to === 'r2rml', report });
  return { text: report.errors > 0 ? undefined : text, diagnostics: report.sorted(documents.map(({ name }) => name)) };
}

/** In the older dialects an empty cell has no value, which today's RML says by a text that means null. */
function emptyCellsOf(mapping: Mapping): EmptyCells {
  const found = new Map<string, readonly string[]>();
  const [older, today] = [mapping.triplesMaps.filter(({ dialect }) => dialect !== 'rml'), mapping.triplesMaps.filter(isOfToday)];
  // Columns that CSVW describes have nulls of their own.
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
