/**
 * The namespaces of every dialect, and the names in `vocabulary.ts` of their terms. One table: no dialect has its own parser.
 *
 * @see https://rml.io/specs/rml/ and https://www.w3.org/TR/r2rml/
 */
import { SOURCE_NAMESPACE } from '../../core/input/formats.ts';
import type { Dialect } from '../model/model.ts';
import { CLASSES, type Class, INDIVIDUALS, type Individual, PROPERTIES, type Property, SPARQL_RESULTS } from './vocabulary.ts';

/** A namespace: its usual prefix, the dialect of a triples map that uses it, and its local names → the normalised names. */
interface Namespace {
  /** Names from drafts, or common mistakes, with the current name: accepted with a warning. */
  readonly older?: ReadonlyMap<string, { readonly name: Property | Individual; readonly instead: string }>;
  readonly iri: string;
  readonly prefix: string;
  readonly dialect: Dialect;
  readonly properties: ReadonlyMap<string, Property>;
  readonly classes: ReadonlyMap<string, Class>;
  readonly individuals: ReadonlyMap<string, Individual>;
}

const same = <T extends string>(...names: readonly T[]): ReadonlyMap<string, T> => new Map(names.map((name) => [name, name]));
const also = <T extends string>(known: ReadonlyMap<string, T>, renamed: Readonly<Record<string, T>>): ReadonlyMap<string, T> =>
  new Map([...known, ...Object.entries(renamed)]);
const none: ReadonlyMap<string, never> = new Map<string, never>();
const namesOf = <T extends string>(table: Record<T, unknown>, without: readonly T[] = []): T[] =>
  (Object.keys(table) as T[]).filter((name) => !without.includes(name));

const NOT_IN_TODAYS = [
  'logicalTable',
  'tableName',
  'sqlQuery',
  'sqlVersion',
  'inverseExpression',
  'starMap',
  'functionValue',
  'parentTermMap',
  'childTermMap',
] as const;

type Older = NonNullable<Namespace['older']>;

/** Tables and queries in drafts of RML, in both of its namespaces. */
const DRAFT_SQL: Older = new Map([
  ['tableName', { name: 'tableName', instead: 'rml:referenceFormulation rml:SQL2008Table with the table in rml:iterator' }],
  ['sqlQuery', { name: 'sqlQuery', instead: 'rml:referenceFormulation rml:SQL2008Query with the query in rml:iterator' }],
  ['sqlVersion', { name: 'sqlVersion', instead: 'rml:referenceFormulation rml:SQL2008Table or rml:SQL2008Query' }],
  ['SQL2008', { name: 'SQL2008', instead: 'rml:SQL2008Table or rml:SQL2008Query' }],
]);

const OLDER_FORMULATIONS: Older = new Map(
  (['JSONPath', 'XPath', 'CSV'] as const).flatMap((name) =>
    [name.toLowerCase(), name.toUpperCase(), name.replace('JSONPath', 'JsonPath').replace('XPath', 'Xpath')].flatMap((other) =>
      other === name ? [] : [[other, { name, instead: `ql:${name}` }] as const],
    ),
  ),
);

const NAMESPACES: readonly Namespace[] = [
  {
    older: DRAFT_SQL,
    iri: 'http://w3id.org/rml/',
    prefix: 'rml',
    dialect: 'rml',
    properties: same(...namesOf(PROPERTIES, [...NOT_IN_TODAYS])),
    // The ontology of RML-LV has other names for some annotations than its specification.
    classes: also(same(...namesOf(CLASSES, ['LogicalTable', 'BaseTableOrView', 'R2RMLView', 'FunctionTermMap'])), {
      InclusionDependencyAnnotation: 'InclusionAnnotation',
      NonNullableAnnotation: 'NotNullAnnotation',
      IRISafeAnnotation: 'IriSafeAnnotation',
    }),
    individuals: same(...INDIVIDUALS),
  },
  {
    older: DRAFT_SQL,
    iri: 'http://semweb.mmlab.be/ns/rml#',
    prefix: 'rml',
    dialect: 'legacy',
    properties: same(
      'logicalSource',
      'source',
      'reference',
      'referenceFormulation',
      'iterator',
      'query',
      'languageMap',
      'logicalTarget',
      // Mappings with quoted triples use this namespace for all kinds of term maps.
      'subjectMap',
      'objectMap',
      'starMap',
      'quotedTriplesMap',
      // Mappings with functions as conditions use this namespace.
      'joinCondition',
      'parentTermMap',
      'childTermMap',
    ),
    classes: also(same('LogicalSource', 'LanguageMap', 'StarMap', 'AssertedTriplesMap', 'NonAssertedTriplesMap'), {
      BaseSource: 'LogicalSource',
    }),
    individuals: none,
  },
  {
    older: OLDER_FORMULATIONS,
    iri: 'http://semweb.mmlab.be/ns/ql#',
    prefix: 'ql',
    dialect: 'legacy',
    properties: none,
    classes: none,
    individuals: also(same('CSV', 'JSONPath', 'XPath', 'CSS3', 'SPARQL', 'SQL2008', ...SPARQL_RESULTS), { SQL: 'SQL2008' }),
  },
  {
    iri: 'http://semweb.mmlab.be/ns/rml-target#',
    prefix: 'rmlt',
    dialect: 'legacy',
    properties: same('target', 'serialization', 'compression', 'encoding'),
    classes: same('LogicalTarget'),
    individuals: none,
  },
  {
    iri: 'http://semweb.mmlab.be/ns/rml-compression#',
    prefix: 'comp',
    dialect: 'legacy',
    properties: none,
    classes: none,
    individuals: same('none', 'gzip', 'zip', 'targz', 'tarxz'),
  },
  {
    iri: 'http://semweb.mmlab.be/ns/rml-encoding#',
    prefix: 'enc',
    dialect: 'legacy',
    properties: none,
    classes: none,
    individuals: same('UTF-8', 'UTF-16'),
  },
  {
    iri: 'http://semweb.mmlab.be/ns/fnml#',
    prefix: 'fnml',
    dialect: 'legacy',
    properties: same('functionValue'),
    classes: same('FunctionTermMap'),
    individuals: none,
  },
  {
    iri: 'http://www.w3.org/ns/r2rml#',
    prefix: 'rr',
    dialect: 'r2rml',
    properties: also(
      same(
        'logicalTable',
        'tableName',
        'sqlQuery',
        'sqlVersion',
        'inverseExpression',
        'subjectMap',
        'subject',
        'predicateObjectMap',
        'class',
        'graph',
        'graphMap',
        'predicate',
        'predicateMap',
        'object',
        'objectMap',
        'constant',
        'template',
        'termType',
        'language',
        'datatype',
        'parentTriplesMap',
        'joinCondition',
        'child',
        'parent',
      ),
      { column: 'reference' },
    ),
    classes: same(
      'TriplesMap',
      'SubjectMap',
      'PredicateMap',
      'ObjectMap',
      'RefObjectMap',
      'GraphMap',
      'TermMap',
      'PredicateObjectMap',
      'Join',
      'LogicalTable',
      'BaseTableOrView',
      'R2RMLView',
    ),
    individuals: same('IRI', 'BlankNode', 'Literal', 'defaultGraph', 'SQL2008'),
  },
];

export type TermKind = 'properties' | 'classes' | 'individuals';

/** An IRI in an RML namespace. `name` is undefined if the namespace has no such term of that kind. */
export interface KnownTerm<T> {
  /** `rml:template`, for messages. */
  readonly short: string;
  readonly dialect: Dialect;
  readonly name: T | undefined;
  /** The current name of an obsolete or mistaken term that is accepted. */
  readonly instead: string | undefined;
  /** For an unknown term: the namespace of older mappings that has it, and the current name where it is another one. */
  readonly elsewhere: string | undefined;
  /** Prefixed names of the same kind, those of this namespace first: candidates for did-you-mean. */
  others(): readonly string[];
}

interface NameOf {
  properties: Property;
  classes: Class;
  individuals: Individual;
}

/** Looks up `iri`; undefined for an IRI outside of every RML namespace. */
export function lookUp<K extends TermKind>(kind: K, iri: string): KnownTerm<NameOf[K]> | undefined {
  const namespace = NAMESPACES.find(({ iri: start }) => iri.startsWith(start));
  if (namespace === undefined) return undefined;
  const local = iri.slice(namespace.iri.length);
  const table = namespace[kind] as ReadonlyMap<string, NameOf[K]>;
  const older = table.has(local) ? undefined : namespace.older?.get(local);
  const isOlder =
    older !== undefined && (kind === 'properties' ? older.name in PROPERTIES : kind === 'individuals' && !(older.name in PROPERTIES));
  return {
    short: `${namespace.prefix}:${local}`,
    dialect: namespace.dialect,
    name: isOlder ? (older.name as NameOf[K]) : table.get(local),
    instead: isOlder ? older.instead : undefined,
    elsewhere: table.has(local) || isOlder ? undefined : elsewhere(kind, namespace, local),
    others: () =>
      [namespace, ...companions(namespace)].flatMap(({ prefix, [kind]: names }) => [...names.keys()].map((name) => `${prefix}:${name}`)),
  };
}

/**
 * The IRI of a normalised name in a dialect; undefined where the dialect has no such term. Legacy RML includes the terms of R2RML, and the
 * name in either of them comes before another name for the same.
 */
export function termOf<K extends TermKind>(dialect: Dialect, kind: K, name: NameOf[K]): string | undefined {
  const known = NAMESPACES.filter((one) => one.dialect === dialect || (dialect === 'legacy' && one.dialect === 'r2rml'));
  const ordered = [...known].sort((a, b) => Number(b.dialect === 'r2rml') - Number(a.dialect === 'r2rml'));
  const found = ordered.flatMap(({ iri, [kind]: names }) =>
    [...(names as ReadonlyMap<string, NameOf[K]>)].flatMap(([local, meant]) => (meant === name ? [{ local, iri: iri + local }] : [])),
  );
  return (found.find(({ local }) => local === name) ?? found[0])?.iri;
}

function elsewhere(kind: TermKind, namespace: Namespace, local: string): string | undefined {
  if (namespace.dialect !== 'rml') return undefined;
  const other = NAMESPACES.find((one) => one.dialect !== 'rml' && one[kind].has(local));
  const name = other?.[kind].get(local);
  if (other === undefined || name === undefined) return undefined;
  const current = namespace[kind] as ReadonlyMap<string, string>;
  return current.has(name) ? `write ${namespace.prefix}:${name}` : `${other.prefix}:${local} is a term of <${other.iri}>`;
}

/** Current RML is not mixed with older vocabularies; those are used together. */
const companions = (namespace: Namespace): Namespace[] =>
  NAMESPACES.filter((other) => other !== namespace && other.dialect !== 'rml' && namespace.dialect !== 'rml');

/** Well-known prefixes → namespaces: the likely meaning when a document lacks an `@prefix`. */
export const USUAL_PREFIXES: Readonly<Record<string, string>> = {
  rml: 'http://w3id.org/rml/',
  rr: 'http://www.w3.org/ns/r2rml#',
  ql: 'http://semweb.mmlab.be/ns/ql#',
  fnml: 'http://semweb.mmlab.be/ns/fnml#',
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
  foaf: 'http://xmlns.com/foaf/0.1/',
  schema: 'http://schema.org/',
  d2rq: 'http://www.wiwiss.fu-berlin.de/suhl/bizer/D2RQ/0.1#',
  csvw: 'http://www.w3.org/ns/csvw#',
  void: 'http://rdfs.org/ns/void#',
  dcat: 'http://www.w3.org/ns/dcat#',
  sd: 'http://www.w3.org/ns/sparql-service-description#',
  formats: 'http://www.w3.org/ns/formats/',
  td: 'https://www.w3.org/2019/wot/td#',
  hctl: 'https://www.w3.org/2019/wot/hypermedia#',
  htv: 'http://www.w3.org/2011/http#',
  qw: 'http://w3id.org/quadmill/web#',
  qms: SOURCE_NAMESPACE,
  rmls: 'http://semweb.mmlab.be/ns/rmls#',
};

/** Every namespace of an RML vocabulary. */
export const RML_NAMESPACES: readonly string[] = NAMESPACES.map(({ iri }) => iri);

/** Local names of the terms of a namespace of an RML vocabulary, sorted; none for any other. Names of drafts are left out. */
export const termsIn = (namespace: string): readonly string[] =>
  NAMESPACES.filter(({ iri }) => iri === namespace)
    .flatMap(({ properties, classes, individuals }) => [...properties.keys(), ...classes.keys(), ...individuals.keys()])
    .filter((name, i, all) => all.indexOf(name) === i)
    .sort();

/** The result of `shorten` without prefix or namespace: `template`, `Person`. */
export const localName = (short: string): string => /[^:/#<>]*(?=[/#]*>?$)/.exec(short)?.[0] ?? short;

/** How a message writes an IRI: `rml:template` for RML and well-known prefixes, else in angle brackets. */
export function shorten(iri: string): string {
  const known = lookUp('properties', iri);
  if (known !== undefined) return known.short;
  for (const [prefix, namespace] of Object.entries(USUAL_PREFIXES)) {
    if (iri.startsWith(namespace) && /^[\w-]*$/.test(iri.slice(namespace.length))) return `${prefix}:${iri.slice(namespace.length)}`;
  }
  return `<${iri}>`;
}
