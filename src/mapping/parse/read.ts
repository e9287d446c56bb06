/**
 * Text → mapping: documents in any RML dialect, and in YARRRML, become one model. All problems are reported together.
 *
 * Dialects are normalised by the tables of `vocabulary.ts`; the role of a node follows from the property that leads to it.
 */
import { didYouMean, nearest } from '../../core/nearest.ts';
import { loadFunctions, loadModules, type Modules } from '../../functions/library.ts';
import { Report } from '../model/diagnostics.ts';
import { type Described, type Graph, type GraphNode, nodeId } from '../model/graph.ts';
import {
  type Diagnostic,
  formatOrigin,
  type Mapping,
  mapsIn,
  type PredicateObjectMap,
  type RdfTerm,
  type ReferencingObjectMap,
  referredBy,
  type StarMap,
  type TermMap,
  type TriplesMap,
} from '../model/model.ts';
import { localName, lookUp, RML_NAMESPACES, shorten } from '../vocabulary/namespaces.ts';
import { checkNamespaces, type Prefixes } from '../vocabulary/near-namespaces.ts';
import { CLASSES, type Property } from '../vocabulary/vocabulary.ts';
import { type Document, isYarrrml, parseDocuments, type ReadOptions, scopeOf, withoutMark } from './document.ts';
import { checkParentPaths } from './expressions/paths.ts';
import { type Context, checkUnvisited, RDF_TYPE } from './node.ts';
import { checkGathering } from './objects/object-map.ts';
import { checkQuoting } from './objects/star-map.ts';
import { checkBrackets } from './slips.ts';
import { readAnnotations } from './source/annotations.ts';
import { recordsOf } from './source/logical-source.ts';
import { checkParentKeys } from './source/view.ts';
import { readTriplesMap } from './triples-map.ts';

/**
 * Reads documents as one mapping. Never throws because of their content. If the mapping calls functions, they are loaded in this thread, and so
 * is the library that checks XPath if it has an expression that is no plain path. `modules`: what other threads that execute it load, too.
 *
 * `mapping` holds the valid triples maps, in document order, frozen; a mapping with any error should not be run. Diagnostics are sorted by
 * document, then by position. If a document is not valid Turtle or YARRRML, only that is reported, because findings in other documents that
 * refer to it would be wrong.
 */
export async function readMapping(
  documents: readonly Document[],
  options: ReadOptions,
): Promise<{ mapping: Mapping; diagnostics: Diagnostic[]; modules: Modules }> {
  const report = new Report();
  const names = documents.map(({ name }) => name);
  const { graph, findings, accepted, repetitions, prefixes } = parseDocuments(documents, options, await translate(documents, report));
  for (const { origin, message, hint } of accepted) report.warning('syntax', origin, message, hint);
  for (const { node, property, origin, first } of repetitions) {
    const message = `${shorten(property)} of ${shorten(node)} is described as in ${formatOrigin(first)}: what both documents say counts once`;
    report.warning('too-many', origin, message, 'remove it from one of them');
  }
  // Everything else would be a consequence.
  if (findings.length === 0) checkNamespaces(report, graph, prefixes);
  if (findings.length > 0 || report.errors > 0) {
    for (const { origin, message, hint } of findings) report.error('syntax', origin, message, hint);
    const modules = { functions: false, regExps: false };
    return { mapping: { triplesMaps: [], annotations: [] }, diagnostics: report.sorted(names), modules };
  }
  const functions = callsOf(graph).length > 0;
  await loadModules({ functions, regExps: false });
  const { mapping, context } = readGraph(graph, report, options.functions, prefixes);
  if (!context.isDescribed && report.errors === 0) reportNothing(report, graph, documents);
  if (context.xpaths.length > 0) (await import('./expressions/xpaths.ts')).checkXPaths(report, context.xpaths);
  const modules = { functions, regExps: context.hasRegExps };
  await loadModules(modules);
  return { mapping: deepFreeze(mapping), diagnostics: report.sorted(names), modules };
}

/** What reading has found out beside the mapping. */
interface Found extends Pick<Context, 'xpaths' | 'hasRegExps'> {
  /** Whether there is any triples map, valid or not. */
  readonly isDescribed: boolean;
}

/** What `readGraph` needs. */
export const loadReading = (): Promise<void> => loadFunctions();

/**
 * The mapping that statements describe. XPath that is no plain path is not checked.
 *
 * @throws Error — the graph calls functions, and `loadReading` has not ended
 */
export function readGraph(
  graph: Graph,
  report: Report,
  custom?: ReadOptions['functions'],
  prefixes: Prefixes = new Map(),
): { readonly mapping: Mapping; readonly context: Found } {
  const context: Context = {
    graph,
    report,
    functions: custom,
    prefixes,
    visited: new Set(),
    executions: new Map(),
    gathering: new Set(),
    views: new Map(),
    targets: new Map(),
    xpaths: [],
    hasRegExps: false,
    checked: new Set(),
    annotated: [],
    reading: { id: '', dialect: 'rml', baseIri: undefined, source: undefined },
    madeMaps: new Map(),
  };
  const functions = functionNodes(callsOf(graph));
  const ids = [...graph.values()].filter((node) => isTriplesMap(node) && !functions.has(node.id)).map(({ id }) => id);
  const described = ids.map((id) => readTriplesMap(context, id)).filter((map) => map !== undefined);
  const referred = new Set(described.flatMap(references).map(referredBy));
  const made = [...context.madeMaps.values()].filter(({ id }) => referred.has(id));
  const annotations = readAnnotations(context);
  checkUnvisited(context);
  checkBrackets(context);
  const triplesMaps = checkParents(context, [...described, ...made], ids);
  const { xpaths, hasRegExps } = context;
  return { mapping: { triplesMaps, annotations }, context: { xpaths, hasRegExps, isDescribed: ids.length > 0 } };
}

const CALLS = /\b(?:function|fn|f)["']?\s*:/;

/** The statements of the documents that are YARRRML. Only then its parser is loaded. */
export async function translate(documents: readonly Document[], report: Report): Promise<ReadonlyMap<Document, readonly Described[]>> {
  if (!documents.some(isYarrrml)) return new Map();
  const { readYarrrml } = await import('../yarrrml/read.ts');
  const given = documents.flatMap((document, i) =>
    isYarrrml(document) ? [{ document, name: document.name, text: withoutMark(document), scope: scopeOf(i) }] : [],
  );
  // For messages about functions without a prefix.
  if (given.some(({ text }) => CALLS.test(text))) await loadFunctions();
  const translated = readYarrrml(given, report);
  return new Map(given.map(({ document }, i) => [document, translated[i] ?? []]));
}

/** Properties that only triples maps have. */
const SIGNS: ReadonlySet<Property> = new Set<Property>(['logicalSource', 'logicalTable', 'subjectMap', 'subject', 'predicateObjectMap']);

/** A node with the class, or a property, that only triples maps have. */
function isTriplesMap(node: GraphNode): boolean {
  return node.statements.some(({ property, object }) => {
    if (property === RDF_TYPE) {
      const name = object.kind === 'iri' ? lookUp('classes', object.value)?.name : undefined;
      if (name === undefined) return false;
      const roles: readonly string[] = CLASSES[name];
      return roles.includes('triples map');
    }
    const name = lookUp('properties', property)?.name;
    return name !== undefined && SIGNS.has(name);
  });
}

interface CallStatement {
  readonly property: Property;
  readonly object: RdfTerm;
}

/** The statements that call functions. */
const callsOf = (graph: Graph): readonly CallStatement[] =>
  [...graph.values()].flatMap(({ statements }) =>
    statements.flatMap(({ property, object }) => {
      const name = lookUp('properties', property)?.name;
      return name === 'functionExecution' || name === 'functionValue' ? [{ property: name, object }] : [];
    }),
  );

/** The target of a legacy function term map: it has predicate object maps for its parameters, and maps nothing itself. */
const functionNodes = (calls: readonly CallStatement[]): ReadonlySet<string | undefined> =>
  new Set(calls.filter(({ property }) => property === 'functionValue').map(({ object }) => nodeId(object)));

/** There is no triples map at all: most likely the namespace is misspelt. */
function reportNothing(report: Report, graph: Graph, documents: readonly Document[]): void {
  const origin = { document: documents[0]?.name ?? '', line: 1, column: 1 };
  const namespaces = new Set<string>();
  for (const { statements } of graph.values()) for (const { property } of statements) namespaces.add(property.replace(/[^/#]*$/, ''));
  for (const namespace of namespaces) {
    const [meant] = nearest(namespace, RML_NAMESPACES);
    if (meant === undefined || meant === namespace) continue;
    report.error(
      'no-triples-map',
      origin,
      `no triples map is described: <${namespace}> is not a vocabulary of RML`,
      `did you mean <${meant}>?`,
    );
    return;
  }
  report.error('no-triples-map', origin, 'no triples map is described', 'a triples map has rml:logicalSource and rml:subjectMap');
}

/**
 * Looks up every triples map that another one refers to: as a parent, or to quote it. One that refers to a missing or invalid one is left
 * out as well, and so on until every named one exists.
 */
function checkParents(context: Context, triplesMaps: readonly TriplesMap[], ids: readonly string[]): TriplesMap[] {
  const { report } = context;
  const known = new Set([...ids, ...context.madeMaps.keys()]);
  const wrong = new Set<string>();
  const crossed = new Set<ReferencingObjectMap>();
  let sound = new Map(triplesMaps.map((map) => [map.id, map]));
  for (const child of triplesMaps) {
    for (const reference of references(child)) {
      const parent = referredBy(reference);
      if (!known.has(parent)) {
        const named = ids.filter((id) => !id.startsWith('_:')).map(shorten);
        const hint = didYouMean(shorten(parent), named, localName) ?? namesIn(named);
        const message = `there is no triples map ${shorten(parent)} to be ${reference.kind === 'star' ? 'quoted' : 'the parent'}`;
        report.error('unknown-parent', reference.origin, message, hint);
      } else if (!hasSameRecords(child, reference, sound.get(parent))) {
        if (reportJoin(report, child, reference) || reference.kind === 'star') wrong.add(child.id);
        else crossed.add(reference);
      }
      const other = sound.get(parent);
      if (other === undefined) continue;
      checkParentPaths(context, other, reference.conditions);
      checkParentKeys(context, other, reference.conditions);
    }
  }
  for (const id of [...checkQuoting(context, triplesMaps), ...checkGathering(report, triplesMaps)]) wrong.add(id);
  for (const id of wrong) sound.delete(id);
  if (crossed.size > 0) sound = new Map([...sound].map(([id, map]) => [id, withPairs(map, crossed)]));
  for (let before = -1; before !== sound.size; ) {
    before = sound.size;
    const kept = sound;
    sound = new Map([...kept].filter(([, child]) => references(child).every((one) => kept.has(referredBy(one)))));
  }
  return [...sound.values()];
}

/** Few enough names to read. */
const namesIn = (named: readonly string[]): string | undefined =>
  named.length === 0 || named.length > MAX_NAMED ? undefined : `the triples maps are ${named.join(', ')}`;

const MAX_NAMED = 8;

const references = (map: TriplesMap): (ReferencingObjectMap | StarMap)[] => mapsIn(map).filter((one) => one.kind !== 'term');

/** Without a join condition, child and parent mean the same record, so they must have the same records, unless all pairs are meant. */
const hasSameRecords = (child: TriplesMap, reference: ReferencingObjectMap | StarMap, parent: TriplesMap | undefined): boolean =>
  reference.conditions.length > 0 ||
  (reference.kind === 'referencing' && reference.all === true) ||
  parent === undefined ||
  recordsOf(child.source) === recordsOf(parent.source);

/** The triples map with its references among `crossed` changed to mean all records of their parents. */
const withPairs = (map: TriplesMap, crossed: ReadonlySet<ReferencingObjectMap>): TriplesMap => {
  const joined = (of: ReferencingObjectMap): ReferencingObjectMap => (crossed.has(of) ? { ...of, all: true } : of);
  const gathering = (of: TermMap): TermMap => {
    const { gather } = of;
    if (gather === undefined) return of;
    return { ...of, gather: { ...gather, members: gather.members.map((one) => (one.kind === 'term' ? gathering(one) : joined(one))) } };
  };
  const changed = (of: PredicateObjectMap['objects'][number]) =>
    of.kind === 'star' ? of : of.kind === 'term' ? gathering(of) : joined(of);
  const predicateObjects = map.predicateObjects.map((one) => ({ ...one, objects: one.objects.map(changed) }));
  return { ...map, predicateObjects };
};

/**
 * An error in current RML, which requires the condition; legacy engines pair all records with all, so legacy mappings get a warning. For
 * quoted triples it is required everywhere.
 */
function reportJoin(report: Report, child: TriplesMap, reference: ReferencingObjectMap | StarMap): boolean {
  const isError = child.dialect === 'rml' || reference.kind === 'star';
  const other = reference.kind === 'star' ? `${shorten(reference.quoted)}, which it quotes,` : `its parent ${shorten(reference.parent)}`;
  const message = `${child.name} and ${other} read different records, and no join condition says which belong together`;
  const hint =
    reference.origin.key === undefined
      ? 'add rml:joinCondition [ rml:child "…" ; rml:parent "…" ]'
      : 'add condition: { function: equal, parameters: [[str1, $(…), s], [str2, $(…), o]] }';
  if (isError) report.error('missing-join-condition', reference.origin, message, hint);
  else {
    const pairs = `${message}: each record of one is paired with each of the other`;
    report.warning('missing-join-condition', reference.origin, pairs, hint.replaceAll('rml:', 'rr:'));
  }
  return isError;
}

function deepFreeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) deepFreeze(part);
  return Object.freeze(value);
}
