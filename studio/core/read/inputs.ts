/** Logical sources → inputs of a document. */
import { formatOfPath, type InputFormat, readAs } from '../../../src/core/input/formats.ts';
import type { FileSource, LogicalSource, SqlSource } from '../../../src/mapping/model/model.ts';
import type { CsvDialect, Format, Input, Location } from '../document.ts';
import { Undrawn } from './undrawn.ts';

type Described = Omit<Input, 'kind' | 'id' | 'name'>;

/** What the source reads, without its iterator and its name. */
export const readInput = (source: LogicalSource): Described | Undrawn => (source.kind === 'sql' ? ofSql(source) : ofFile(source));

function ofSql({ content, connection, nulls }: SqlSource): Described | Undrawn {
  const database = connection && {
    url: connection.jdbcUrl,
    ...(connection.driver !== undefined && { driver: connection.driver }),
    ...(connection.user !== undefined && { user: connection.user }),
    ...(connection.password !== undefined && { password: connection.password.reveal() }),
  };
  const named: Location = content.kind === 'table' ? { kind: 'table', table: content.name } : { kind: 'query', query: content.sql };
  return { location: { ...named, ...(database && { database }) }, format: 'sql', grouped: true, namespaces: {}, nulls };
}

function ofFile(source: FileSource): Described | Undrawn {
  const { path, sheet, root, formulation, nulls, encoding, compression, namespaces, csv, request } = source;
  if (request !== undefined) return new Undrawn('a request to a Web API or SPARQL endpoint');
  if (formulation === 'csv' && formatOfPath(path) === 'parquet') return new Undrawn('Parquet as a table');
  const dialect = dialectOf(csv, encoding);
  if (dialect instanceof Undrawn) return dialect;
  const isDescribed = Object.keys(dialect).length > 0;
  const isTable = csv !== undefined && isDescribed;
  if (isTable && (root.kind !== 'mapping' || compression !== 'none')) return new Undrawn('a table of CSVW in another directory');
  const whole = sheet === undefined ? path : `${path}#${sheet}`;
  const directory = root.kind === 'mapping' ? {} : { directory: root.kind === 'directory' ? root.path : root.kind };
  const location: Location = isUrl(path) ? { kind: 'url', url: whole } : { kind: 'file', path: whole, ...directory };
  return {
    location,
    format: formatOf(source),
    grouped: true,
    namespaces,
    nulls,
    ...(isDescribed && { dialect }),
    ...(compression !== 'none' && { compression }),
  };
}

/** Empty: nothing is said. */
function dialectOf(csv: FileSource['csv'] = {}, encoding: string | undefined): CsvDialect | Undrawn {
  const { delimiter, quoteChar, headerRows, ...others } = csv;
  if (Object.values(others).some((value) => value !== undefined) || (headerRows ?? 0) > 1) return new Undrawn('a dialect of CSV');
  return {
    ...(delimiter !== undefined && { delimiter }),
    ...(quoteChar !== undefined && { quote: quoteChar ?? '' }),
    ...(headerRows !== undefined && { header: headerRows === 1 }),
    ...(encoding !== undefined && { encoding }),
  };
}

const isUrl = (path: string): boolean => /^[a-z][a-z0-9+.-]+:\/\//i.test(path);

const formatOf = ({ path, formulation }: FileSource): Format => formatOfInput(readAs(formulation, formatOfPath(path)));

/** What the studio takes a format of the engine for: one of tables with tabs is CSV, any workbook of Excel is XLSX. */
export function formatOfInput(format: InputFormat): Format {
  if (format === 'tsv') return 'csv';
  return format === 'xls' || format === 'xlsb' ? 'xlsx' : format;
}

/** What a service reads an input as: of the workbooks of Excel, the one that the name says. */
export function formatRead(name: string, format: Exclude<Format, 'sql'>): InputFormat {
  const named = format === 'xlsx' ? formatOfPath(name) : undefined;
  return named !== undefined && formatOfInput(named) === format ? named : format;
}

/** The name that people see: the last segment of a path, the table, or the beginning of the query. */
export function inputName(location: Location): string {
  switch (location.kind) {
    case 'table':
      return location.table.replace(/^"(.*)"$/s, '$1');
    case 'query':
      return location.query.replace(/\s+/g, ' ').slice(0, 40);
    case 'file':
      return lastSegment(location.path);
    case 'upload':
    case 'url':
      return lastSegment(location.url);
  }
}

const lastSegment = (path: string): string => path.replace(/[?#].*$/s, '').replace(/^.*[/\\](?=.)/s, '');
