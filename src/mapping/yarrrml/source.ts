/**
 * Sources: files, databases, SPARQL endpoints, the Web of Things, and tables of the run's database.
 *
 * @see https://rml.io/yarrrml/spec/#data-sources
 */
import { didYouMean } from '../../core/nearest.ts';
import type { Report } from '../model/diagnostics.ts';
import type { Origin } from '../model/model.ts';
import { fieldsOf, type KeyOf, reportKind, textIn } from './keys.ts';
import type { Entry, Tree } from './tree.ts';
import { iri, literal, named, type Subject } from './writer.ts';

const FORMULATIONS: Readonly<Record<string, string>> = {
  csv: 'ql:CSV',
  jsonpath: 'ql:JSONPath',
  xpath: 'ql:XPath',
  parquet: 'qms:Parquet',
};

/** Database types → the product in a JDBC URL. */
export const DATABASES: Readonly<Record<string, string>> = {
  oracle: 'oracle',
  mysql: 'mysql',
  mariadb: 'mariadb',
  hsql: 'hsqldb',
  postgresql: 'postgresql',
  db2: 'db2',
  informix: 'informix-sqli',
  ingres: 'ingres',
  sapase: 'sybase',
  sapsqlanywhere: 'sqlanywhere',
  firebird: 'firebirdsql',
  mssql: 'sqlserver',
  mssqlserver: 'sqlserver',
  virtuoso: 'virtuoso',
};

/** @see https://www.w3.org/2001/sw/wiki/RDB2RDF/SQL_Version_IRIs */
const SQL_VERSIONS: Readonly<Record<string, string | undefined>> = {
  sql2008: 'rr:SQL2008',
  sql2011: undefined,
  sql2016: undefined,
  oracle: 'rr:Oracle',
  mysql: 'rr:MySQL',
  mssql: 'rr:MSSQLServer',
  mssqlserver: 'rr:MSSQLServer',
  hsql: 'rr:HSQLDB',
  postgresql: 'rr:PostgreSQL',
  db2: 'rr:DB2',
  informix: 'rr:Informix',
  ingres: 'rr:Ingres',
  progress: 'rr:Progress',
  sybasease: 'rr:SybaseASE',
  sapase: 'rr:SybaseASE',
  sybasesqlanywhere: 'rr:SybaseSQLAnywhere',
  sapsqlanywhere: 'rr:SybaseSQLAnywhere',
  virtuoso: 'rr:Virtuoso',
  firebird: 'rr:Firebird',
};

const TYPES: readonly string[] = ['localfile', 'remotefile', 'sparql', 'wot', ...Object.keys(DATABASES)];

type Fields = ReadonlyMap<KeyOf<'source'>, Entry>;

/** Whether a value is one source in its short form: `data.csv~csv`, or `[data.json~jsonpath, $]`. */
export const isShortSource = (tree: Tree): boolean =>
  tree.kind === 'text' ? isAccess(tree.text) : tree.kind === 'list' && tree.items[0]?.kind === 'text' && isAccess(tree.items[0].text);

const isAccess = (text: string): boolean => /~[^~/]*$/.test(text);

/** The properties that lead to a source: from a triples map in the dialect of the source, from a view in the only one that has views. */
export interface LeadingTo {
  readonly document: string;
  readonly table: string;
}

/** States the source of a triples map or of a view. */
export function writeSource(report: Report, tree: Tree, map: Subject, origin: Origin, to: LeadingTo): void {
  if (tree.kind === 'text' || tree.kind === 'list') {
    writeShort(report, tree, map, origin, to);
    return;
  }
  const fields = fieldsOf(report, tree, 'source');
  if (fields === undefined) return;
  const given = textIn(report, fields.get('type'))?.toLowerCase();
  const access = textIn(report, fields.get('access'));
  if (given !== undefined && !TYPES.includes(given)) {
    const hint = didYouMean(given, TYPES) ?? `the types are ${TYPES.join(', ')}`;
    report.error('wrong-value', originOf(fields, 'type', tree), `there is no type of source ${JSON.stringify(given)}`, hint);
    return;
  }
  if (given === undefined && access === undefined && (fields.has('query') || fields.has('table'))) {
    writeTable(report, fields, map.lead(to.table, tree.origin));
    return;
  }
  const node = map.lead(to.document, tree.origin);
  if (access === undefined) {
    if (!fields.has('access')) {
      const hint = 'add access: people.csv; for the database of the run, add query or table';
      report.error('missing-path', tree.origin, 'a source without the key access', hint);
    }
    return;
  }
  const type = given ?? (/^jdbc:/i.test(access) ? 'jdbc' : 'localfile');
  const at = originOf(fields, 'access', tree);
  if (type === 'jdbc' || Object.hasOwn(DATABASES, type)) writeDatabase(report, fields, node, access, type, at);
  else if (type === 'sparql') writeEndpoint(report, fields, node, access, at);
  else if (type === 'wot') writeThing(report, fields, node, access, at);
  else writeFile(report, fields, node, access, at);
}

const originOf = (fields: Fields, key: KeyOf<'source'>, tree: Tree): Origin => fields.get(key)?.value.origin ?? tree.origin;

/** `data.json~jsonpath`, alone or with an iterator. */
function writeShort(report: Report, tree: Tree, map: Subject, origin: Origin, to: LeadingTo): void {
  const [access, iterator, ...others] = tree.kind === 'list' ? tree.items : [tree];
  if (access?.kind !== 'text' || (iterator !== undefined && iterator.kind !== 'text') || others.length > 0) {
    reportKind(report, tree, 'a source is a map, or a list of its access and its iterator', 'write [data.json~jsonpath, "$.people[*]"]');
    return;
  }
  const [, path, formulation] = /^(.*)~([^~/]*)$/s.exec(access.text) ?? [];
  if (path === undefined || formulation === undefined) {
    const hint = 'write the reference formulation behind it: data.csv~csv, data.json~jsonpath, data.xml~xpath';
    report.error('missing-reference-formulation', access.origin, `${JSON.stringify(access.text)} does not say how it is read`, hint);
    return;
  }
  const node = map.lead(to.document, origin);
  if (/^jdbc:/i.test(path)) {
    const hint = 'write a map with the keys access, query and credentials';
    report.error('wrong-value', access.origin, 'a database has no short form', hint);
    return;
  }
  node.set('old:source', literal(path), access.origin);
  writeFormulation(report, node, formulation, access.origin);
  if (iterator !== undefined) node.set('old:iterator', literal(iterator.text), iterator.origin);
}

/** States `csv`, `jsonpath`, … as the reference formulation of a source or a field. */
export function writeFormulation(report: Report, node: Subject, formulation: string, origin: Origin): void {
  const name = FORMULATIONS[formulation.toLowerCase()];
  if (name !== undefined) {
    node.set('old:referenceFormulation', named(name), origin);
    return;
  }
  const names = Object.keys(FORMULATIONS);
  if (/^(xquery|css3)$/i.test(formulation)) {
    report.error(
      'not-supported',
      origin,
      `the reference formulation ${formulation} is not supported yet by this version`,
      `${names.join(', ')} are`,
    );
    return;
  }
  const hint = didYouMean(formulation, names) ?? `the reference formulations are ${names.join(', ')}`;
  report.error('wrong-value', origin, `there is no reference formulation ${JSON.stringify(formulation)}`, hint);
}

/** Keys that every document has. */
function writeReading(report: Report, fields: Fields, node: Subject): void {
  const formulation = textIn(report, fields.get('referenceFormulation'));
  if (formulation !== undefined)
    writeFormulation(report, node, formulation, originOf(fields, 'referenceFormulation', fields.get('access')?.value as Tree));
  const iterator = textIn(report, fields.get('iterator'));
  if (iterator !== undefined) node.set('old:iterator', literal(iterator), fields.get('iterator')?.value.origin as Origin);
}

function writeFile(report: Report, fields: Fields, node: Subject, access: string, at: Origin): void {
  refuse(report, fields, ['query', 'queryFormulation', 'table', 'credentials', 'security', 'operationType', 'driver'], 'a file');
  writeReading(report, fields, node);
  const delimiter = textIn(report, fields.get('delimiter'));
  const encoding = textIn(report, fields.get('encoding'));
  const contentType = fields.get('contentType');
  if (contentType !== undefined) report.warning('unused-term', contentType.keyOrigin, 'contentType has no effect on a file', 'remove it');
  if (delimiter === undefined && encoding === undefined) {
    node.set('old:source', literal(access), at);
    return;
  }
  const source = node.lead('old:source', at);
  if (delimiter !== undefined) {
    source.set('rdf:type', named('csvw:Table'), at);
    source.set('csvw:url', literal(access), at);
    const origin = fields.get('delimiter')?.value.origin as Origin;
    source.lead('csvw:dialect', origin).set('csvw:delimiter', literal(delimiter), origin);
  } else {
    source.set('rml:path', literal(access), at);
    source.set('rml:root', named('rml:MappingDirectory'), at);
  }
  if (encoding !== undefined) source.set('rml:encoding', literal(encoding), fields.get('encoding')?.value.origin as Origin);
}

function writeDatabase(report: Report, fields: Fields, node: Subject, access: string, type: string, at: Origin): void {
  refuse(report, fields, ['delimiter', 'encoding', 'security', 'operationType', 'contentType', 'iterator'], 'a database');
  const database = node.lead('old:source', at);
  database.set('rdf:type', named('d2rq:Database'), at);
  const url = /^jdbc:/i.test(access) ? access : `jdbc:${DATABASES[type]}://${access.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')}`;
  database.set('d2rq:jdbcDSN', literal(url), at);
  const driver = textIn(report, fields.get('driver'));
  if (driver !== undefined) database.set('d2rq:jdbcDriver', literal(driver), fields.get('driver')?.value.origin as Origin);
  const credentials = fields.get('credentials');
  const login = credentials === undefined ? undefined : fieldsOf(report, credentials.value, 'credentials');
  for (const key of ['username', 'password'] as const) {
    const text = textIn(report, login?.get(key));
    if (text !== undefined) database.set(`d2rq:${key}`, literal(text), login?.get(key)?.value.origin as Origin);
  }
  if (fields.has('referenceFormulation')) writeReading(report, fields, node);
  writeContent(report, fields, node, 'old:query', at);
}

/** A table or a query of the run's database: R2RML. */
function writeTable(report: Report, fields: Fields, node: Subject): void {
  refuse(
    report,
    fields,
    ['delimiter', 'encoding', 'security', 'operationType', 'contentType', 'iterator', 'credentials', 'driver'],
    'a table',
  );
  const formulation = fields.get('referenceFormulation');
  const text = textIn(report, formulation);
  if (formulation !== undefined && text !== undefined && text.toLowerCase() !== 'csv') {
    report.error('wrong-value', formulation.value.origin, `rows of a table are read as csv, found ${JSON.stringify(text)}`, 'remove it');
  }
  writeContent(report, fields, node, 'rr:sqlQuery', node.origin);
}

function writeContent(report: Report, fields: Fields, node: Subject, queryProperty: string, at: Origin): void {
  const query = textIn(report, fields.get('query'));
  const table = textIn(report, fields.get('table'));
  if (query !== undefined) node.set(queryProperty, literal(query.trim()), fields.get('query')?.value.origin as Origin);
  if (table !== undefined) {
    const entry = fields.get('table') as Entry;
    if (query === undefined) node.set('rr:tableName', literal(table), entry.value.origin);
    else report.error('too-many', entry.keyOrigin, 'table beside query on one source, which may have one of them');
  }
  if (query === undefined && table === undefined && !fields.has('query') && !fields.has('table'))
    report.error('missing-table', at, 'a database without a query', 'add query: SELECT … FROM …');
  const version = fields.get('queryFormulation');
  const name = textIn(report, version)?.toLowerCase();
  if (version === undefined || name === undefined) return;
  if (!Object.hasOwn(SQL_VERSIONS, name)) {
    const hint = didYouMean(name, Object.keys(SQL_VERSIONS)) ?? `known are ${Object.keys(SQL_VERSIONS).join(', ')}`;
    report.error('wrong-value', version.value.origin, `there is no query formulation ${JSON.stringify(name)} of a database`, hint);
    return;
  }
  const iriName = SQL_VERSIONS[name];
  if (iriName !== undefined) node.set('rr:sqlVersion', named(iriName), version.value.origin);
}

function writeEndpoint(report: Report, fields: Fields, node: Subject, access: string, at: Origin): void {
  refuse(
    report,
    fields,
    ['table', 'delimiter', 'encoding', 'credentials', 'security', 'operationType', 'contentType', 'driver'],
    'a SPARQL endpoint',
  );
  const version = fields.get('queryFormulation');
  const name = textIn(report, version);
  if (version !== undefined && name !== undefined && name !== 'sparql11') {
    report.error('wrong-value', version.value.origin, `a SPARQL endpoint is asked in sparql11, found ${JSON.stringify(name)}`);
  }
  const service = node.lead('old:source', at);
  service.set('rdf:type', named('sd:Service'), at);
  service.set('sd:endpoint', iri(access), at);
  service.set('sd:supportedLanguage', named('sd:SPARQL11Query'), at);
  const query = textIn(report, fields.get('query'));
  if (query !== undefined) node.set('old:query', literal(query), fields.get('query')?.value.origin as Origin);
  else if (!fields.has('query')) report.error('missing-iterator', at, 'a SPARQL endpoint without a query', 'add query: SELECT …');
  writeReading(report, fields, node);
}

/** A property of the Web of Things, read by GET. */
function writeThing(report: Report, fields: Fields, node: Subject, access: string, at: Origin): void {
  refuse(report, fields, ['query', 'queryFormulation', 'table', 'delimiter', 'encoding', 'credentials', 'driver'], 'a thing');
  const operation = fields.get('operationType');
  const name = textIn(report, operation);
  if (operation !== undefined && name !== undefined && name !== 'read') {
    report.error('wrong-value', operation.value.origin, `a source is read, found the operationType ${JSON.stringify(name)}`, 'write read');
  }
  const security = fields.get('security');
  if (security !== undefined && !isNoSecurity(security.value)) {
    const hint = 'remove it, and give the login as an option of the run: SOURCE_LOGINS';
    report.error('secret', security.keyOrigin, 'a source of the Web of Things holds a login', hint);
  }
  const thing = node.lead('old:source', at);
  thing.set('rdf:type', named('td:PropertyAffordance'), at);
  const form = thing.lead('td:hasForm', at);
  form.set('hctl:hasTarget', literal(access), at);
  const contentType = textIn(report, fields.get('contentType'));
  if (contentType !== undefined) form.set('hctl:forContentType', literal(contentType), fields.get('contentType')?.value.origin as Origin);
  writeReading(report, fields, node);
}

/** `none`, or a list of maps with the type none. */
function isNoSecurity(tree: Tree): boolean {
  if (tree.kind === 'text') return tree.text === 'none';
  if (tree.kind === 'list') return tree.items.every(isNoSecurity);
  return tree.kind === 'map' && tree.entries.every(({ key, value }) => key === 'type' && value.kind === 'text' && value.text === 'none');
}

/** Keys that have no meaning for a kind of source. */
function refuse(report: Report, fields: Fields, keys: readonly KeyOf<'source'>[], what: string): void {
  for (const key of keys) {
    const entry = fields.get(key);
    if (entry !== undefined)
      report.error(
        'misplaced-term',
        entry.keyOrigin,
        `${entry.key} has no meaning for ${what}`,
        'remove it, or name the type of the source',
      );
  }
}
