/** Sources and targets of the normal form → those of YARRRML. */
import type { Report } from '../model/diagnostics.ts';
import type { FileSource, LogicalSource, LogicalTarget, SqlSource } from '../model/model.ts';
import { hasEmptyCells } from '../model/model.ts';
import { DATABASES } from '../yarrrml/source.ts';
import { cannot, fieldsOf, type Value } from './yarrrml-terms.ts';

export const FORMULATIONS: Readonly<Record<FileSource['formulation'], string>> = {
  csv: 'csv',
  json: 'jsonpath',
  parquet: 'parquet',
  xml: 'xpath',
};

/** Product in a JDBC URL → type of the source. */
const TYPES: Readonly<Record<string, string>> = Object.fromEntries(Object.entries(DATABASES).map(([type, product]) => [product, type]));

const isAbsolute = (path: string): boolean => /^(?:[a-z][a-z0-9+.-]+:|\/)/i.test(path);

/** A source in its shortest form. Undefined, with diagnostics, for what YARRRML cannot say. */
export const saySource = (report: Report, source: LogicalSource): Value | undefined =>
  source.kind === 'file' ? file(report, source) : database(report, source);

function file(report: Report, source: FileSource): Value | undefined {
  const { origin, root, path, sheet, formulation, iterator, encoding, request } = source;
  const before = report.errors;
  if (root.kind !== 'mapping' && !isAbsolute(path)) {
    const hint = 'write rml:root rml:MappingDirectory: YARRRML has paths relative to the mapping';
    cannot(report, 'a path relative to another directory than that of the mapping', origin, hint);
  }
  // An empty cell is one in YARRRML anyway; where it is not, because a view makes it today's RML, the check of the meaning finds it.
  if (source.nulls.some((text) => text !== '' || !hasEmptyCells(source)))
    cannot(report, 'texts that mean null', origin, 'compare with them in a condition');
  if (source.compression !== 'none')
    cannot(report, `the compression ${source.compression} of a source`, origin, 'name it by the file: .gz');
  if (Object.keys(source.namespaces).length > 0) cannot(report, 'namespaces of XPath', origin);
  const { delimiter, ...others } = source.csv ?? {};
  const said = Object.keys(others).filter((key) => others[key as keyof typeof others] !== undefined);
  if (said.length > 0 && request?.kind !== 'select') cannot(report, `${said.join(', ')} of CSV`, origin, 'only a delimiter has a key');
  const access = sheet === undefined ? path : `${path}#${sheet}`;
  const reading = { referenceFormulation: FORMULATIONS[formulation], iterator };
  if (request?.kind === 'select') {
    if (request.results !== formulation) cannot(report, `results of a SPARQL endpoint as ${request.results}`, request.origin);
    return report.errors > before
      ? undefined
      : fieldsOf({ type: 'sparql', access, queryFormulation: 'sparql11', query: request.query, ...reading });
  }
  if (request?.kind === 'topic') {
    cannot(report, 'a topic of Kafka', request.origin, 'keep the mapping in RML');
    return undefined;
  }
  if (request !== undefined) {
    if (request.headers.length > 0) cannot(report, 'headers of a request', origin);
    if (request.paging !== undefined) cannot(report, 'the pages of a Web API', request.paging.origin);
    if (encoding !== undefined) cannot(report, 'the encoding of an answer', origin);
    if (delimiter !== undefined) cannot(report, 'the delimiter of an answer', origin);
    return report.errors > before ? undefined : fieldsOf({ type: 'wot', access, contentType: request.mediaType, ...reading });
  }
  if (report.errors > before) return undefined;
  if (delimiter === undefined && encoding === undefined)
    return [`${access}~${FORMULATIONS[formulation]}`, ...(iterator === undefined ? [] : [iterator])];
  return fieldsOf({ access, ...reading, delimiter, encoding });
}

function database(report: Report, { origin, connection, content, references, nulls }: SqlSource): Value | undefined {
  const before = report.errors;
  if (nulls.length > 0) cannot(report, 'texts that mean null', origin, 'write the query so that it gives NULL');
  if (connection !== undefined && references === 'identifiers') cannot(report, 'SQL identifiers as references to a database', origin);
  if (connection !== undefined && !/^jdbc:/i.test(connection.jdbcUrl))
    cannot(report, 'a database without a JDBC URL', connection.origin, 'write d2rq:jdbcDSN "jdbc:…"');
  const said = content.kind === 'table' ? { table: content.name } : { query: content.sql };
  if (report.errors > before) return undefined;
  if (connection === undefined) return fieldsOf(said);
  const { jdbcUrl, driver, user, password } = connection;
  const credentials = fieldsOf({ username: user, password: password?.reveal() });
  return fieldsOf({
    type: TYPES[/^jdbc:([^:]+)/i.exec(jdbcUrl)?.[1]?.toLowerCase() ?? ''],
    access: jdbcUrl,
    driver,
    credentials: credentials.size === 0 ? undefined : credentials,
    queryFormulation: content.kind === 'query' ? 'sql2008' : undefined,
    ...said,
    referenceFormulation: 'csv',
  });
}

/** Undefined, with diagnostics, for what YARRRML cannot say. */
export function sayTarget(report: Report, { origin, path, root, serialization, encoding, compression }: LogicalTarget): Value | undefined {
  const before = report.errors;
  if (root.kind !== 'working-directory' && !isAbsolute(path))
    cannot(report, 'a target relative to another directory than the working directory', origin);
  if (encoding !== 'utf-8') cannot(report, `the encoding ${encoding} of a target`, origin);
  if (path.includes('$(')) cannot(report, 'a target whose path holds $(', origin);
  if (report.errors > before) return undefined;
  return fieldsOf({ access: path, type: 'localfile', serialization, compression: compression === 'none' ? undefined : compression });
}
