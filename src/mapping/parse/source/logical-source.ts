/**
 * Logical sources: the document, its format and its iterator. Logical sources over databases are read by `sql-source.ts`, those over SPARQL
 * endpoints by `sparql-source.ts`.
 */

import { isEncoding, KNOWN_ENCODINGS } from '../../../core/input/encoding-name.ts';
import {
  FORMATS,
  FORMULATIONS,
  type Formulation,
  formatOfMediaType,
  formatOfPath,
  formulationNames,
  type InputFormat,
  isOfProject,
  SOURCE_NAMESPACE,
  splitSheet,
} from '../../../core/input/formats.ts';
import { nodeId, type Statement } from '../../model/graph.ts';
import type { Dialect, FileSource, LogicalSource, LogicalView, TopicRequest } from '../../model/model.ts';
import { lookUp, shorten } from '../../vocabulary/namespaces.ts';
import {
  type Context,
  describeTerm,
  literalText,
  type MappingNode,
  nodeOf,
  only,
  orList,
  RDF_TYPE,
  readNode,
  reportUnknown,
} from '../node.ts';
import { unquoted } from '../slips.ts';
import { isTable, readTable, tableUrl } from './csvw.ts';
import { tableMeantBy } from './csvw-group.ts';
import type { WebAccess } from './description.ts';
import { checkPaging } from './paging.ts';
import { isService, readSparqlSource, resultsOf } from './sparql-source.ts';
import { asksDatabase, isDatabase, readLogicalTable, readSqlSource } from './sql-source.ts';
import { formatOfMessages, isKafkaStream, readKafkaStream, refuseChanges, withChanges } from './topic-source.ts';
import { isDistribution, isThing, readDistribution, readThing } from './web-source.ts';

/** Those of RML by their names in both of its vocabularies. */
const BY_NAME: Readonly<Record<string, Formulation>> = Object.fromEntries(
  (Object.keys(FORMULATIONS) as Formulation[]).flatMap((one) => (isOfProject(one) ? [] : [[FORMULATIONS[one].name, one] as const])),
);

const ENCODINGS: Readonly<Record<string, string>> = { 'UTF-8': 'utf-8', 'UTF-16': 'utf-16' };
const COMPRESSIONS: Readonly<Record<string, FileSource['compression']>> = {
  none: 'none',
  gzip: 'gzip',
  zip: 'zip',
  targz: 'targz',
  tarxz: 'tarxz',
};

/** Source descriptions that are not files, by namespace, with their display names. */
const FOREIGN_SOURCES: readonly (readonly [string, string])[] = [
  ['http://www.w3.org/ns/csvw#', 'a CSVW description other than csvw:Table and csvw:TableGroup'],
  ['http://www.w3.org/ns/dcat#', 'a DCAT description other than dcat:Distribution and dcat:Dataset'],
  ['http://www.w3.org/ns/hydra/core#', 'a Hydra web API'],
];

/** The logical source of a triples map; undefined, with diagnostics, if it is not valid or not supported. */
export function readLogicalSource(context: Context, statement: Statement, dialect: Dialect): LogicalSource | undefined {
  const { graph, report } = context;
  if (lookUp('properties', statement.property)?.name === 'logicalTable') return readLogicalTable(context, statement);
  const before = report.errors;
  const node = nodeOf(context, statement, 'logical source');
  if (node === undefined) return undefined;
  const named = meantBy(context, only(context, node, 'source'));
  const source = named === undefined ? undefined : tableMeantBy(context, named);
  if (named !== undefined && source === undefined) return undefined;
  const sourceId = source === undefined ? undefined : nodeId(source.object);
  if (source !== undefined && sourceId !== undefined && isService(graph, sourceId)) return readSparqlSource(context, node, source);
  const isForeign = sourceId !== undefined && describeForeign(context, sourceId) !== undefined;
  const isUrl = source !== undefined && /^jdbc:/i.test(source.object.value);
  const isTopic = sourceId !== undefined && (isKafkaStream(graph, sourceId) || isThing(graph, sourceId));
  if (!isTopic) refuseChanges(context, node.id);
  if (isDatabase(graph, sourceId) || isUrl || (asksDatabase(node) && !isForeign)) return readSqlSource(context, node, source);
  if (source === undefined) {
    if (node.valid)
      report.error(
        'missing-source',
        node.origin,
        'a logical source without rml:source',
        'add rml:source [ a rml:FilePath ; rml:path "…" ]',
      );
    return undefined;
  }
  const access = readAccess(context, source, dialect);
  if (access === 'later') return undefined;
  const formulation = readFormulation(context, node, access);
  const iteratorStatement = only(context, node, 'iterator');
  const iterator = iteratorStatement === undefined ? undefined : literalText(context, iteratorStatement, 'an iterator in quotes');
  if (!node.valid || report.errors > before || access === undefined || formulation === undefined) return undefined;
  const { hasRows } = FORMULATIONS[formulation.kind];
  const { request } = access;
  const asked = request?.kind === 'topic' ? withChanges(context, node.id, request, formulation.kind, iteratorStatement) : request;
  if (request?.kind !== 'topic' && isTopic) refuseChanges(context, node.id);
  if (report.errors > before) return undefined;
  if (request?.kind === 'get' && request.paging !== undefined) {
    checkPaging(context, request.paging, hasRows);
    if (report.errors > before) return undefined;
  }
  if (hasRows && iteratorStatement !== undefined && iterator !== '') {
    report.warning(
      'unused-iterator',
      iteratorStatement.origin,
      'rml:iterator has no effect on CSV, whose records are its rows',
      'remove it',
    );
  }
  return {
    kind: 'file',
    origin: node.origin,
    ids: [node.id, ...(access.id === undefined ? [] : [access.id])],
    ...splitSheet(access.path),
    root: access.root,
    formulation: formulation.kind,
    iterator: hasRows ? undefined : iterator,
    iteratorOrigin: hasRows ? undefined : iteratorStatement?.origin,
    nulls: access.nulls,
    encoding: access.encoding,
    compression: access.compression,
    namespaces: formulation.namespaces,
    csv: formulation.kind === 'csv' ? access.csv : undefined,
    ...(asked === undefined ? {} : { request: asked }),
  };
}

/**
 * The statement that leads to the description of the source. Converted mappings may have it one step further: a path that is the IRI of a
 * description, which can be no path.
 */
function meantBy(context: Context, source: Statement | undefined): Statement | undefined {
  const { graph, report, visited } = context;
  const id = source === undefined ? undefined : nodeId(source.object);
  const path = graph.get(id ?? '')?.statements.find(({ property }) => lookUp('properties', property)?.name === 'path');
  if (id === undefined || path?.object.kind !== 'iri' || !graph.has(path.object.value)) return source;
  visited.add(id);
  const short = shorten(path.object.value);
  const message = `${shorten(path.property)} leads to ${short}, which describes a source and is read as one`;
  report.warning('misplaced-term', path.origin, message, `write rml:source ${short}`);
  return path;
}

/** Equal for sources with the same records and the same reference syntax. */
export function recordsOf(source: LogicalSource | LogicalView): string {
  if (source.kind === 'view') return source.id;
  if (source.kind === 'file') {
    const { path, sheet, root, formulation, iterator, request } = source;
    return JSON.stringify([path, sheet, root, formulation, iterator, request], withoutOrigin);
  }
  const { connection, content, references } = source;
  return JSON.stringify([connection, content, references], withoutOrigin);
}

/** The logical source that a function value names, if it has other records than the triples map that is read. */
export function readsOtherRecords(context: Context, statement: Statement): LogicalSource | undefined {
  const { source } = context.reading;
  const other = readLogicalSource(context, statement, 'legacy');
  return other === undefined || source === undefined || recordsOf(other) === recordsOf(source) ? undefined : other;
}

const withoutOrigin = (key: string, value: unknown): unknown => (key === 'origin' ? undefined : value);

interface Access extends Pick<FileSource, 'path' | 'root' | 'nulls' | 'encoding' | 'compression' | 'csv' | 'request'> {
  readonly id: string | undefined;
  /** Of messages. */
  readonly mediaType?: string | undefined;
}

/** Location and packing of the bytes of an rml:source; `later` for a source that is not a file. */
function readAccess(context: Context, statement: Statement, dialect: Dialect): Access | 'later' | undefined {
  const { graph, report } = context;
  const plain = { nulls: [], encoding: undefined, compression: 'none', csv: undefined } as const;
  const { object } = statement;
  if (object.kind === 'literal') {
    // The older vocabulary takes a text, whichever property leads to the source.
    if (dialect === 'rml' && lookUp('properties', statement.property)?.dialect === 'rml') {
      report.warning(
        'legacy-source',
        statement.origin,
        `rml:source takes a node, found ${describeTerm(object)}: read as a path relative to the mapping`,
        'write [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "…" ]',
      );
    }
    return { ...plain, id: undefined, path: object.value, root: { kind: 'mapping' } };
  }
  const id = nodeId(object) as string;
  if (object.kind === 'iri' && !graph.has(id) && !id.includes('#')) {
    // The address of a document, or a name that the request binds to an address.
    return { ...plain, id, path: id, root: { kind: 'mapping' } };
  }
  const foreign = describeForeign(context, id);
  if (foreign !== undefined) {
    context.visited.add(id);
    const hint = 'use a file: [ a rml:FilePath ; rml:path "…" ]';
    report.error('not-supported', statement.origin, `${foreign} as a source is not supported yet by this version`, hint);
    return 'later';
  }
  const node = nodeOf(context, statement, 'source');
  if (node === undefined) return undefined;
  if (isDistribution(graph, id)) return readWeb(context, node, readDistribution(context, id, statement), dialect);
  if (isKafkaStream(graph, id)) return readWeb(context, node, readKafkaStream(context, id, statement), dialect);
  if (isThing(graph, id)) return readWeb(context, node, readThing(context, id, statement), dialect);
  return readFilePath(context, node, dialect);
}

/** A document on the web, with what rml:Source says of its bytes, which comes before what the other vocabulary says. */
function readWeb(context: Context, node: MappingNode, found: WebAccess | undefined, dialect: Dialect): Access | undefined {
  const { graph, report } = context;
  const before = report.errors;
  for (const { property, propertyOrigin } of [...node.all('path'), ...node.all('root')]) {
    context.report.warning('unused-term', propertyOrigin, `${shorten(property)} has no effect here: the description names a URL`);
  }
  const packing = readPacking(context, node);
  if (!node.valid || found === undefined || packing === undefined) return undefined;
  const { url, compression, request, mediaType } = found;
  const { nulls, encoding } = packing;
  const isTopic = request?.kind === 'topic';
  const { csv, encoding: ofTable } = isTopic && isTable(graph, node.id) ? (readTable(context, node.id, dialect) ?? {}) : {};
  if (isTopic && (packing.compression ?? 'none') !== 'none') {
    const [{ origin }] = node.all('compression') as readonly [Statement];
    report.error(
      'not-supported',
      origin,
      'compressed values of messages are not supported by this version',
      'let the producer compress (compression.type), which the brokers tell',
    );
  }
  if (report.errors > before) return undefined;
  return {
    id: node.id,
    path: url,
    root: { kind: 'mapping' },
    nulls,
    encoding: encoding ?? ofTable?.toLowerCase(),
    compression: packing.compression ?? compression,
    csv: isTopic && formatOfMessages(mediaType) === 'tsv' ? { delimiter: '\t', ...csv } : csv,
    request,
    ...(mediaType === undefined ? {} : { mediaType }),
  };
}

interface Packing extends Pick<FileSource, 'nulls' | 'encoding'> {
  /** undefined: not said. */
  readonly compression: FileSource['compression'] | undefined;
}

/** What rml:Source says of the bytes of a document; undefined, with diagnostics, if it is not valid. */
function readPacking(context: Context, node: MappingNode): Packing | undefined {
  const before = context.report.errors;
  const nulls = node.all('null').map((statement) => literalText(context, statement, 'a text that stands for null'));
  const encoding = readEncoding(context, node);
  const compression = readCompression(context, node);
  return context.report.errors > before ? undefined : { nulls: nulls.filter((text) => text !== undefined), encoding, compression };
}

/** For example `a database (d2rq:Database)`: a source described with another vocabulary; undefined for one with a path. */
function describeForeign({ graph }: Context, id: string): string | undefined {
  const statements = graph.get(id)?.statements ?? [];
  const isKnown = [isTable, isDistribution, isThing, isKafkaStream].some((isOne) => isOne(graph, id));
  if (isKnown || statements.some(({ property }) => lookUp('properties', property)?.name === 'path')) return undefined;
  const types = statements
    .filter(({ property, object }) => property === RDF_TYPE && object.kind === 'iri')
    .map(({ object }) => object.value);
  const others = statements.map(({ property }) => property).filter((property) => property !== RDF_TYPE);
  const found = [...types, ...others].find((iri) => lookUp('classes', iri) === undefined);
  if (found === undefined) return undefined;
  const name = FOREIGN_SOURCES.find(([namespace]) => found.startsWith(namespace))?.[1] ?? 'a source of another vocabulary';
  return `${name} (${shorten(found)})`;
}

function readFilePath(context: Context, node: MappingNode, dialect: Dialect): Access | undefined {
  const { graph, report } = context;
  const before = report.errors;
  const table = isTable(graph, node.id) ? readTable(context, node.id, dialect) : undefined;
  const url = tableUrl(context, node.id);
  const named = only(context, node, 'path');
  const pathStatement = url ?? named;
  if (pathStatement === undefined) {
    const [missing, hint] = isTable(graph, node.id)
      ? ['a csvw:Table without csvw:url', 'write [ a csvw:Table ; csvw:url "people.csv" ]']
      : ['a source without rml:path', 'write [ a rml:FilePath ; rml:path "…" ]'];
    if (node.valid && report.errors === before) report.error('missing-path', node.origin, missing, hint);
    return undefined;
  }
  if (url !== undefined && named !== undefined) {
    report.error('too-many', named.origin, 'rml:path beside csvw:url on one source, which may have one of them');
  }
  const { object } = pathStatement;
  const path = url !== undefined && object.kind === 'iri' ? object.value : literalText(context, pathStatement, 'a path in quotes');
  // The URL of a table is relative to the document that describes it.
  const root = url !== undefined && node.all('root').length === 0 ? ({ kind: 'mapping' } as const) : readRoot(context, node);
  const packing = readPacking(context, node);
  if (!node.valid || report.errors > before || path === undefined || packing === undefined) return undefined;
  const { nulls, encoding, compression } = packing;
  return {
    id: node.id,
    path,
    root,
    // What rml:Source says comes before what CSVW says.
    nulls: nulls.length > 0 ? nulls : (table?.nulls ?? []),
    encoding: encoding ?? table?.encoding?.toLowerCase(),
    compression: compression ?? 'none',
    csv: nulls.length === 0 ? table?.csv : withoutNulls(table?.csv),
  };
}

const withoutNulls = (csv: FileSource['csv']): FileSource['csv'] =>
  csv?.columns === undefined ? csv : { ...csv, columns: csv.columns.map(({ nulls: _, ...column }) => column) };

/** The base of a relative path; by default the working directory, as RML-IO says. */
export function readRoot(context: Context, node: MappingNode): FileSource['root'] {
  const statement = only(context, node, 'root');
  if (statement === undefined) return { kind: 'working-directory' };
  const { object, origin } = statement;
  const term = object.kind === 'iri' ? lookUp('individuals', object.value) : undefined;
  if (term?.name === 'MappingDirectory') return { kind: 'mapping' };
  if (term?.name === 'CurrentWorkingDirectory') return { kind: 'working-directory' };
  if (term !== undefined) reportValue(context, statement, term.name, term.short, ['rml:MappingDirectory', 'rml:CurrentWorkingDirectory']);
  if (object.kind === 'blank') {
    context.report.error('wrong-value', origin, `rml:root takes a directory, found ${describeTerm(object)}`);
  }
  return { kind: 'directory', path: object.value };
}

function readEncoding(context: Context, node: MappingNode): string | undefined {
  const statement = only(context, node, 'encoding');
  if (statement === undefined) return undefined;
  const { object } = statement;
  // RML-IO leaves its list of encodings open: a quoted name is taken as an IANA name.
  if (object.kind === 'literal') {
    if (isEncoding(object.value)) return object.value.toLowerCase();
    const message = `rml:encoding takes the name of an encoding, found ${describeTerm(object)}`;
    context.report.error('wrong-value', statement.origin, message, `known are ${KNOWN_ENCODINGS}`);
    return undefined;
  }
  const term = lookUp('individuals', object.value);
  const encoding = term?.name === undefined ? undefined : ENCODINGS[term.name];
  if (encoding !== undefined) return encoding;
  reportValue(context, statement, term?.name, term?.short, ['rml:UTF-8', 'rml:UTF-16']);
  return undefined;
}

export function readCompression(context: Context, node: MappingNode): FileSource['compression'] | undefined {
  const statement = only(context, node, 'compression');
  if (statement === undefined) return undefined;
  const { object } = statement;
  const term = object.kind === 'iri' ? lookUp('individuals', object.value) : undefined;
  const compression = term?.name === undefined ? undefined : COMPRESSIONS[term.name];
  if (compression !== undefined) return compression;
  reportValue(context, statement, term?.name, term?.short, ['rml:none', 'rml:gzip', 'rml:zip', 'rml:targz', 'rml:tarxz']);
  return undefined;
}

/** Reports a value that its property does not accept: an unknown term, or another kind of value. */
export function reportValue(
  context: Context,
  statement: Statement,
  name: string | undefined,
  short: string | undefined,
  expected: readonly string[],
): void {
  if (short !== undefined && name === undefined) {
    reportUnknown(context.report, 'term', short, statement.origin, expected, `${shorten(statement.property)} takes ${orList(expected)}`);
    return;
  }
  const message = `${shorten(statement.property)} takes ${orList(expected)}, found ${describeTerm(statement.object)}`;
  context.report.error('wrong-value', statement.origin, message, unquoted(context, statement.object, statement.origin));
}

/** The format of the records within a record or a text (`rml:iterableField`). */
export function formulationOf(context: Context, { object, origin }: Statement): Formulation | undefined {
  const term = object.kind === 'iri' ? lookUp('individuals', object.value) : undefined;
  const kind = term?.name === undefined ? undefined : BY_NAME[term.name];
  if (kind === undefined)
    context.report.error(
      'wrong-value',
      origin,
      `rml:referenceFormulation takes ${formulationNames('or', true)} here, found ${describeTerm(object)}`,
      unquoted(context, object, origin),
    );
  return kind;
}

interface ReadFormulation {
  readonly kind: Formulation;
  readonly namespaces: Readonly<Record<string, string>>;
}

/** The format that a logical source names, else the one that the extension of `path` implies. */
function readFormulation(context: Context, node: MappingNode, access: Access | undefined): ReadFormulation | undefined {
  const { graph, report } = context;
  const statement = only(context, node, 'referenceFormulation');
  if (statement === undefined) {
    // Without a path, the source has already been reported; a second finding about the format would not help.
    if (access === undefined) return undefined;
    if (access.csv !== undefined) return { kind: 'csv', namespaces: {} };
    const { path } = access;
    // What follows a point in the name of a topic is no extension.
    const format =
      access.request?.kind === 'topic' ? topicFormat(access.request, access) : (formatOfPath(path) ?? formatOfDeclared(access.request));
    const kind = format === undefined ? undefined : FORMATS[format].formulation;
    if (kind !== undefined) return { kind, namespaces: {} };
    report.error(
      'missing-reference-formulation',
      node.origin,
      `a logical source without rml:referenceFormulation, and ${JSON.stringify(path)} does not show its format`,
      `add rml:referenceFormulation ${formulationNames('or')}`,
    );
    return undefined;
  }
  const { object, origin } = statement;
  const term = object.kind === 'iri' ? lookUp('individuals', object.value) : undefined;
  const kind = term?.name === undefined ? ofProject(object) : BY_NAME[term.name];
  if (kind !== undefined && kind !== 'csv' && access?.csv !== undefined) {
    report.error(
      'contradiction',
      origin,
      `${shorten(object.value)} beside a csvw:Table, which describes a CSV file`,
      'use rml:CSV (older RML: ql:CSV)',
    );
    return undefined;
  }
  if (kind !== undefined) return { kind, namespaces: {} };
  const id = nodeId(object);
  if (id !== undefined && graph.has(id)) return readXPathFormulation(context, statement, id);
  if (term !== undefined && term.name === undefined) {
    const names = term.others().filter((other) => (other.split(':')[1] as string) in BY_NAME || other.startsWith('rml:SQL'));
    reportUnknown(report, 'reference formulation', term.short, origin, names);
  } else if (object.kind === 'iri' && (resultsOf(object.value) !== undefined || term?.name === 'SPARQL')) {
    const message = `${shorten(object.value)} on a source that is no SPARQL endpoint: a query over a file is not supported by this version`;
    report.error(
      'not-supported',
      origin,
      message,
      'load the file into a store, and describe that as [ a sd:Service ; sd:endpoint <https://…> ]',
    );
  } else if (object.kind === 'iri') {
    const hint = `${formulationNames('and')} are`;
    report.error('not-supported', origin, `the reference formulation ${shorten(object.value)} is not supported yet by this version`, hint);
  } else {
    const message = `rml:referenceFormulation takes ${formulationNames('or')}, found ${describeTerm(object)}`;
    report.error('wrong-value', origin, message, unquoted(context, object, origin));
  }
  return undefined;
}

/** A formulation that stands in the namespace of the project. */
const ofProject = ({ kind, value }: Statement['object']): Formulation | undefined =>
  (Object.keys(FORMULATIONS) as Formulation[]).find(
    (one) => kind === 'iri' && isOfProject(one) && value === SOURCE_NAMESPACE + FORMULATIONS[one].name,
  );

const topicFormat = ({ content }: TopicRequest, { mediaType }: Access): InputFormat | undefined =>
  content === 'text' ? 'csv' : formatOfMessages(mediaType);

/** The format of a media type that the mapping declares. */
const formatOfDeclared = (request: FileSource['request']): InputFormat | undefined =>
  request?.kind === 'get' && request.mediaType !== undefined ? formatOfMediaType(request.mediaType) : undefined;

function readXPathFormulation(context: Context, statement: Statement, id: string): ReadFormulation | undefined {
  const { report } = context;
  const before = report.errors;
  const node = readNode(context, id, 'reference formulation', statement.origin);
  if (!node.classes.has('XPathReferenceFormulation')) {
    const hint = 'of those that are described by a node, only rml:XPathReferenceFormulation is';
    report.error('not-supported', statement.origin, 'this reference formulation is not supported yet by this version', hint);
    return undefined;
  }
  const namespaces: [prefix: string, iri: string][] = [];
  for (const pointer of node.all('namespace')) {
    const namespace = nodeOf(context, pointer, 'namespace');
    if (namespace === undefined) continue;
    const prefix = only(context, namespace, 'namespacePrefix');
    const url = only(context, namespace, 'namespaceURL');
    if (prefix === undefined || url === undefined) {
      if (namespace.valid)
        report.error(
          'missing-namespace',
          namespace.origin,
          `a namespace without ${prefix === undefined ? 'rml:namespacePrefix' : 'rml:namespaceURL'}`,
          'write rml:namespace [ rml:namespacePrefix "…" ; rml:namespaceURL <…> ]',
        );
      continue;
    }
    const name = literalText(context, prefix, 'a prefix in quotes');
    if (name !== undefined) namespaces.push([name, url.object.value]);
  }
  return report.errors > before ? undefined : { kind: 'xml', namespaces: Object.fromEntries(namespaces) };
}
