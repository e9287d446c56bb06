/**
 * Logical sources over databases, in every dialect: logical tables of R2RML, tables and queries of legacy RML, and the current reference
 * formulations rml:SQL2008Table and rml:SQL2008Query; over a d2rq:Database or the database that the run is configured with.
 *
 * Messages never quote the description of a database, because it contains passwords.
 *
 * @see https://www.w3.org/TR/r2rml/#logical-tables and https://kg-construct.github.io/rml-io-registry/
 */

import { SOURCE_NAMESPACE } from '../../../core/input/formats.ts';
import { didYouMean } from '../../../core/nearest.ts';
import { Secret } from '../../../core/secret.ts';
import type { DiagnosticCode } from '../../model/codes.ts';
import { type Graph, nodeId, type Statement } from '../../model/graph.ts';
import type { SqlConnection, SqlContent, SqlSource } from '../../model/model.ts';
import { localName, lookUp, shorten, USUAL_PREFIXES } from '../../vocabulary/namespaces.ts';
import { type Context, describeTerm, literalText, type MappingNode, nodeOf, only, RDF_TYPE, reportUnknown, withArticle } from '../node.ts';
import { readChanges } from './changes.ts';
import { readQuery } from './sql-query.ts';

const D2RQ = USUAL_PREFIXES.d2rq as string;

const CONNECTION_PROPERTIES = ['jdbcDSN', 'jdbcDriver', 'username', 'password'] as const;
type ConnectionProperty = (typeof CONNECTION_PROPERTIES)[number];

/** Settings of the D2RQ engine that have no effect here. */
const ENGINE_PROPERTIES = ['resultSizeLimit', 'fetchSize', 'startupSQLScript', 'allowDistinct', 'useAllOptimizations'];

/** @see https://www.w3.org/2001/sw/wiki/RDB2RDF/SQL_Version_IRIs */
const SQL_VERSIONS = [
  'SQL2008',
  'Oracle',
  'MySQL',
  'MSSQLServer',
  'HSQLDB',
  'PostgreSQL',
  'DB2',
  'Informix',
  'Ingres',
  'Progress',
  'SybaseASE',
  'SybaseSQLAnywhere',
  'Virtuoso',
  'Firebird',
].map((name) => `rr:${name}`);

const KNOWN_VERSIONS = `known are ${SQL_VERSIONS.join(', ')}; without one, queries go to the database as they are`;

const DATABASE_HINT = 'describe it as [ a d2rq:Database ; d2rq:jdbcDSN "jdbc:…" ; d2rq:username "…" ; d2rq:password "…" ]';

/** Whether a node is described as a database. */
export const isDatabase = (graph: Graph, id: string | undefined): boolean =>
  id !== undefined &&
  (graph.get(id)?.statements ?? []).some(({ property, object }) => (property === RDF_TYPE ? object.value : property).startsWith(D2RQ));

/** Whether a logical source names a table, a query, or a reference formulation of databases. */
export function asksDatabase(node: MappingNode): boolean {
  if ((['query', 'sqlQuery', 'tableName', 'sqlVersion'] as const).some((property) => node.all(property).length > 0)) return true;
  return node.all('referenceFormulation').some(({ object }) => {
    const name = object.kind === 'iri' ? lookUp('individuals', object.value)?.name : undefined;
    return name === 'SQL2008Table' || name === 'SQL2008Query' || name === 'SQL2008';
  });
}

/** An R2RML logical table: a table, view or query of the run's database. */
export function readLogicalTable(context: Context, statement: Statement): SqlSource | undefined {
  const { report } = context;
  const before = report.errors;
  const node = nodeOf(context, statement, 'logical table');
  if (node === undefined) return undefined;
  checkVersions(context, node);
  const named = only(context, node, 'tableName', 'sqlQuery');
  if (named === undefined) {
    if (node.valid) report.error('missing-table', node.origin, 'a logical table without rr:tableName or rr:sqlQuery', 'add one of the two');
    return undefined;
  }
  const isTable = lookUp('properties', named.property)?.name === 'tableName';
  const content = isTable ? tableOf(context, named) : queryOf(context, named);
  const changes = readChanges(context, node.id, content);
  if (!node.valid || report.errors > before || content === undefined) return undefined;
  const zone = readZone(context, [node.id]);
  return {
    kind: 'sql',
    origin: node.origin,
    ids: [node.id],
    connection: undefined,
    content,
    references: 'identifiers',
    nulls: [],
    ...zone,
    ...(changes && { changes }),
  };
}

/** The RML logical source `node` over the database that `source` describes, or over the run's database if there is no rml:source. */
export function readSqlSource(context: Context, node: MappingNode, source: Statement | undefined): SqlSource | undefined {
  const { report } = context;
  const before = report.errors;
  checkVersions(context, node);
  const database = source === undefined ? undefined : readDatabase(context, source);
  const formulation = readFormulation(context, node);
  const content = formulation === 'wrong' ? undefined : readContent(context, node, formulation);
  const changes = readChanges(context, node.id, content);
  if (!node.valid || report.errors > before || content === undefined) return undefined;
  return {
    kind: 'sql',
    origin: node.origin,
    ids: [node.id, ...(database === undefined ? [] : [database.id])],
    connection: database?.connection,
    content,
    references: 'labels',
    nulls: database?.nulls ?? [],
    ...readZone(context, [node.id, ...(database === undefined ? [] : [database.id])]),
    ...(changes && { changes }),
  };
}

const ZONE = `${SOURCE_NAMESPACE}zone`;

function readZone({ graph, report }: Context, ids: readonly string[]): Pick<SqlSource, 'zone'> {
  let zone: Pick<SqlSource, 'zone'> = {};
  for (const { property, object, origin } of ids.flatMap((id) => graph.get(id)?.statements ?? [])) {
    if (property !== ZONE) continue;
    if (object.kind === 'literal' && object.value === 'none') zone = { zone: 'none' };
    else report.error('wrong-value', origin, `qms:zone takes "none", found ${describeTerm(object)}`);
  }
  return zone;
}

/** What rml:iterator contains; undefined if it has no meaning, because legacy RML has separate properties for tables and queries. */
type Formulation = 'SQL2008Table' | 'SQL2008Query' | undefined;

function readFormulation(context: Context, node: MappingNode): Formulation | 'wrong' {
  const { report } = context;
  const statement = only(context, node, 'referenceFormulation');
  if (statement === undefined) return undefined;
  const { object, origin } = statement;
  const term = object.kind === 'iri' ? lookUp('individuals', object.value) : undefined;
  switch (term?.name) {
    case 'SQL2008Table':
    case 'SQL2008Query':
      return term.name;
    case 'SQL2008':
      return undefined;
    case 'CSV':
    case 'JSONPath':
    case 'XPath':
      if (term.dialect === 'rml') {
        const hint = 'use rml:SQL2008Table with a table in rml:iterator, or rml:SQL2008Query with a query in it';
        report.error('contradiction', origin, `${term.short} reads documents, and this logical source asks a database`, hint);
        return 'wrong';
      }
      // Legacy RML also uses ql:CSV for databases; their rows are read alike.
      if (term.name !== 'CSV') {
        const message = `${term.short} has no effect on a database: a reference is the name of a column`;
        report.warning('unused-formulation', origin, message, 'remove it, or write ql:CSV');
      }
      return undefined;
  }
  if (term !== undefined && term.name === undefined) {
    const names = term.others().filter((name) => /:(SQL|CSV)/.test(name));
    reportUnknown(report, 'reference formulation', term.short, origin, names, 'a database takes rml:SQL2008Table or rml:SQL2008Query');
  } else {
    const message = `a database takes the reference formulation rml:SQL2008Table or rml:SQL2008Query, found ${describeTerm(object)}`;
    report.error('wrong-value', origin, message);
  }
  return 'wrong';
}

function readContent(context: Context, node: MappingNode, formulation: Formulation): SqlContent | undefined {
  const { report } = context;
  const missing = (code: DiagnosticCode, message: string, hint: string): undefined => {
    if (node.valid) report.error(code, node.origin, message, hint);
  };
  switch (formulation) {
    case 'SQL2008Table': {
      const [query] = [...node.all('query'), ...node.all('sqlQuery')];
      if (query !== undefined) {
        const message = `${shorten(query.property)} beside rml:SQL2008Table, whose records are the rows of a table`;
        report.error('contradiction', query.origin, message, 'for a query, use rml:SQL2008Query');
        return undefined;
      }
      const table = only(context, node, 'iterator', 'tableName');
      if (table !== undefined) return tableOf(context, table);
      return missing('missing-iterator', 'rml:SQL2008Table without rml:iterator', 'name the table or view: rml:iterator "student"');
    }
    case 'SQL2008Query': {
      const [table] = node.all('tableName');
      if (table !== undefined) {
        const message = `${shorten(table.property)} beside rml:SQL2008Query, whose records are the rows of a query`;
        report.error('contradiction', table.origin, message, 'for a table, use rml:SQL2008Table');
        return undefined;
      }
      const query = only(context, node, 'iterator', 'query', 'sqlQuery');
      if (query !== undefined) return queryOf(context, query);
      return missing('missing-iterator', 'rml:SQL2008Query without rml:iterator', 'add the query: rml:iterator "SELECT … FROM …"');
    }
    case undefined: {
      const query = only(context, node, 'query', 'sqlQuery');
      const table = only(context, node, 'tableName');
      if (query === undefined && table === undefined) {
        const hint =
          'add rml:referenceFormulation rml:SQL2008Table ; rml:iterator "student", or rml:SQL2008Query with a query (older RML: rr:tableName or rml:query)';
        return missing('missing-table', 'a logical source over a database that names neither a table nor a query', hint);
      }
      const [iterator] = node.all('iterator');
      if (iterator !== undefined) {
        report.warning('unused-iterator', iterator.origin, 'rml:iterator has no effect on a database, whose records are rows', 'remove it');
      }
      if (query !== undefined && table !== undefined) {
        const message = `${shorten(table.property)} has no effect beside ${shorten(query.property)}`;
        report.warning('unused-table', table.origin, message, 'remove the one that is not meant');
      }
      return query === undefined ? tableOf(context, table as Statement) : queryOf(context, query);
    }
  }
}

function tableOf(context: Context, statement: Statement): SqlContent | undefined {
  const text = literalText(context, statement, 'the name of a table or view in quotes');
  if (text === undefined) return undefined;
  const name = text.trim();
  const { origin } = statement;
  if (name !== '' && !/^(select|with)\s/i.test(name)) return { kind: 'table', origin, name };
  const found = name === '' ? 'an empty text' : 'a query';
  const hint = name === '' ? undefined : 'for a query, use rml:SQL2008Query, rml:query or rr:sqlQuery';
  context.report.error('wrong-value', origin, `${shorten(statement.property)} takes the name of a table or view, found ${found}`, hint);
  return undefined;
}

function queryOf(context: Context, statement: Statement): SqlContent | undefined {
  const text = literalText(context, statement, 'an SQL query in quotes');
  if (text === undefined) return undefined;
  const read = readQuery(text);
  const { origin } = statement;
  if (read.kind === 'query') return { kind: 'query', origin, sql: read.sql };
  context.report.error('wrong-value', origin, `${shorten(statement.property)} takes one SELECT, found ${read.found}`, read.hint);
  return undefined;
}

function checkVersions(context: Context, node: MappingNode): void {
  for (const { property, object, origin } of node.all('sqlVersion')) {
    if (object.kind !== 'iri') {
      const message = `${shorten(property)} takes an IRI such as rr:SQL2008, found ${describeTerm(object)}`;
      context.report.error('wrong-value', origin, message, KNOWN_VERSIONS);
    } else if (!SQL_VERSIONS.includes(shorten(object.value)) && lookUp('individuals', object.value)?.name !== 'SQL2008') {
      const message = `${shorten(object.value)} is no SQL version that R2RML knows`;
      const near = didYouMean(shorten(object.value), SQL_VERSIONS, localName);
      const hint = near === undefined ? KNOWN_VERSIONS : `${near} ${KNOWN_VERSIONS}`;
      // Other vocabularies may have their own SQL versions, and queries are not parsed by version.
      if (lookUp('individuals', object.value) === undefined) context.report.warning('unknown-sql-version', origin, message, hint);
      else context.report.error('unknown-sql-version', origin, message, hint);
    }
  }
}

interface Database {
  readonly id: string;
  readonly connection: SqlConnection;
  readonly nulls: readonly string[];
}

function readDatabase(context: Context, source: Statement): Database | undefined {
  const { graph, report } = context;
  const before = report.errors;
  if (!isDatabase(graph, nodeId(source.object))) {
    // Not quoted in messages: it may be a URL with a password.
    const message = 'this logical source asks a database, and its rml:source is none';
    report.error('no-database', source.origin, message, `${DATABASE_HINT}, or leave rml:source out for the database of the run (JDBC_URL)`);
    return undefined;
  }
  const node = nodeOf(context, source, 'database');
  if (node === undefined) return undefined;
  const texts = readDescription(context, node);
  const nulls = node.all('null').map((statement) => literalText(context, statement, 'a text that stands for null'));
  for (const { property, propertyOrigin } of [...node.all('encoding'), ...node.all('compression')]) {
    report.warning('unused-term', propertyOrigin, `${shorten(property)} has no effect on a database`);
  }
  const jdbcUrl = texts.get('jdbcDSN');
  if (jdbcUrl === undefined && report.errors === before) {
    report.error('missing-jdbc-dsn', node.origin, 'a database without d2rq:jdbcDSN', 'add d2rq:jdbcDSN "jdbc:…", a JDBC URL');
  }
  if (!node.valid || report.errors > before || jdbcUrl === undefined) return undefined;
  const connection: SqlConnection = {
    origin: node.origin,
    jdbcUrl,
    driver: texts.get('jdbcDriver'),
    user: texts.get('username'),
    password: Secret.of(texts.get('password')),
  };
  return { id: node.id, connection, nulls: nulls.filter((text) => text !== undefined) };
}

/** Reads D2RQ properties of a database, and warns about those without effect. */
function readDescription({ graph, report }: Context, { id }: MappingNode): ReadonlyMap<ConnectionProperty, string> {
  const texts = new Map<ConnectionProperty, string>();
  for (const { property, propertyOrigin, object, origin } of graph.get(id)?.statements ?? []) {
    if (property === RDF_TYPE) {
      if (object.value.startsWith(D2RQ) && object.value !== `${D2RQ}Database`) {
        report.warning('misplaced-term', origin, `${shorten(object.value)} is not ${withArticle('database')}, as which this node is used`);
      }
      continue;
    }
    if (!property.startsWith(D2RQ)) continue;
    const short = `d2rq:${property.slice(D2RQ.length)}`;
    const name = CONNECTION_PROPERTIES.find((known) => property === D2RQ + known);
    if (name === undefined) {
      const known = ENGINE_PROPERTIES.includes(property.slice(D2RQ.length));
      const near = didYouMean(
        short,
        [...CONNECTION_PROPERTIES, ...ENGINE_PROPERTIES].map((local) => `d2rq:${local}`),
      );
      const read = `${CONNECTION_PROPERTIES.map((local) => `d2rq:${local}`).join(', ')} are read`;
      report.warning('unused-term', propertyOrigin, `${short} has no effect here`, known ? read : (near ?? read));
    } else if (object.kind !== 'literal' || (name === 'jdbcDSN' && object.value.trim() === '')) {
      const found = object.kind === 'literal' ? 'an empty text' : object.kind === 'iri' ? 'an IRI' : 'a blank node';
      const expected = name === 'jdbcDSN' ? 'a JDBC URL in quotes' : 'a text in quotes';
      report.error('wrong-value', origin, `${short} takes ${expected}, found ${found}`);
    } else if (texts.has(name)) {
      report.error('too-many', origin, `a second ${short} on one database, which may have one of them`);
    } else {
      texts.set(name, name === 'jdbcDSN' ? object.value.trim() : object.value);
    }
  }
  return texts;
}
