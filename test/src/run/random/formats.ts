/**
 * Rows of texts in every format that carries them, for the random tests: whatever the format, the same mapping of the same rows gives the same
 * statements. A new format is one entry of `FORMATS`.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SERVERS, type Server, startDatabases, type TestDatabases } from '../../../servers/databases/databases.ts';
import type { Random } from '../../../support/random.ts';
import { parquet } from '../../sources/parquet/writing.ts';
import { ods, odsRows, xlsb, xlsbSheet, xlsx, xlsxRows } from '../../sources/sheet/workbooks.ts';
import type { Changes } from './engine.ts';

export const COLUMNS = ['id', 'k', 'a', 'b', 'lang'] as const;
export type Column = (typeof COLUMNS)[number];
export const TABLES = ['one', 'two'] as const;
export type Table = (typeof TABLES)[number];
export type Row = Readonly<Record<Column, string | null>>;
export type Tables = Readonly<Record<Table, readonly Row[]>>;
/** A row with columns of any names. */
export type Cells = Readonly<Record<string, string | null>>;

const TEXTS = [
  'x',
  'X',
  'x/y',
  'y',
  'ü',
  'é',
  'e\u0301',
  '😀',
  '"q"',
  "it's",
  '',
  ' ',
  ' x',
  '1',
  '01',
  '1:1',
  '%',
  '%41',
  '<&>',
  '>>',
  'a\nb',
  '\\',
  '{a}',
  'true',
  'null',
  'NaN',
  '007',
  '-0',
  '1e3',
  '1.50',
  '9007199254740993',
  '2024-02-29',
  '=1+1',
  '#REF!',
  '_x0041_',
  '&#10;',
  'a\tb',
  'two  spaces',
  '\n',
  'x ',
  '\u007f',
  '\u0085',
  '\u2028',
  '\ufeff',
  'long '.repeat(39),
];
const KEYS = ['a', 'b', 'c', 'a-b', 'b-c', 'c-a-d', 'e', 'f'];

/** Most have a distinct `id`, and none is without one. */
export const rowsOf = (random: Random, least: number, most: number): readonly Row[] =>
  Array.from({ length: random.between(least, most) }, (_, i) => ({
    id: String(random.chance(0.85) ? i : random.between(0, i)),
    k: random.chance(0.1) ? null : random.pick(KEYS),
    a: random.chance(0.15) ? null : random.pick(TEXTS),
    b: random.chance(0.15) ? null : random.pick(TEXTS),
    lang: random.chance(0.15) ? null : random.pick(['en', 'de', 'en-GB']),
  }));

/** How rows are written, and read. Names of tables are those of files without their extension. */
export interface Format {
  readonly name: string;
  /** Statements that its sources refer to, once in a mapping. */
  readonly head?: string;
  /** What a run needs to read it. */
  readonly changes?: Partial<Changes>;
  /** Whether a run over it alone can be cut into slices. */
  readonly isCut?: boolean;
  /** The logical source of a table, in Turtle. */
  readonly source: (table: string) => string;
  /** A reference, also as part of a template. */
  readonly column: (name: string) => string;
  /** Writes or rewrites a table. Rows are those of `COLUMNS`, or of a view. */
  readonly write: (directory: string, table: string, columns: readonly string[], rows: readonly Cells[]) => Promise<void>;
}

/** @param more of the logical source @param read of the source */
const file = (
  extension: string,
  formulation: string,
  document: (columns: readonly string[], rows: readonly Cells[]) => string | Uint8Array,
  more = '',
  read = '',
): Pick<Format, 'source' | 'write'> => ({
  source: (table) =>
    `[ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "${table}.${extension}" ${read} ] ; rml:referenceFormulation rml:${formulation} ${more} ]`,
  write: (directory, table, columns, rows) => writeFile(join(directory, `${table}.${extension}`), document(columns, rows)),
});

/** The text that means null in CSV, which has no other. */
const NULL = '\u2205';
const ITEMS = '; rml:iterator "$[*]"';
const quoted = (cell: string): string => `"${cell.replaceAll('"', '""')}"`;
/** Null in one row, missing in the next. */
const jsonOf = (row: Cells, i: number): string =>
  JSON.stringify(Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null || i % 2 === 0)));
const xmlText = (text: string): string => text.replace(/[&<>"\n]/g, (c) => `&#${c.charCodeAt(0)};`);

export const CSV: Format = {
  name: 'CSV',
  isCut: true,
  ...file(
    'csv',
    'CSV',
    (columns, rows) =>
      withHeader(columns, rows)
        .map((cells) => `${cells.map(quoted).join(',')}\n`)
        .join(''),
    '',
    `; rml:null "${NULL}"`,
  ),
  column: (name) => name,
};

const withHeader = (columns: readonly string[], rows: readonly Cells[]): readonly (readonly string[])[] => [
  columns,
  ...rows.map((row) => columns.map((column) => row[column] ?? NULL)),
];
const workbook = (name: string, extension: string, document: (rows: readonly (readonly string[])[]) => Uint8Array): Format => ({
  name,
  ...file(extension, 'CSV', (columns, rows) => document(withHeader(columns, rows)), '', `; rml:null "${NULL}"`),
  column: (column) => column,
});

/** Those that need no server. */
export const FORMATS: readonly Format[] = [
  CSV,
  {
    name: 'Parquet',
    isCut: true,
    ...file('parquet', 'CSV', (columns, rows) =>
      parquet(
        columns.map((name) => ({ name, type: 'STRING', data: rows.map((row) => row[name] ?? null) })),
        { rowGroupSize: 5 },
      ),
    ),
    source: (table) =>
      `[ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "${table}.parquet" ] ; rml:referenceFormulation <http://w3id.org/quadmill/source#Parquet> ]`,
    column: (name) => name,
  },
  {
    name: 'JSON',
    ...file('json', 'JSONPath', (_, rows) => `[${rows.map(jsonOf).join(',')}]`, ITEMS),
    column: (name) => `$.${name}`,
  },
  {
    name: 'JSON Lines',
    isCut: true,
    ...file('jsonl', 'JSONPath', (_, rows) => rows.map(jsonOf).join('\n'), ITEMS),
    column: (name) => `$.${name}`,
  },
  {
    name: 'XML',
    ...file(
      'xml',
      'XPath',
      (columns, rows) => {
        const cells = (row: Cells): string =>
          columns.flatMap((name) => (name === 'id' || row[name] == null ? [] : [`<${name}>${xmlText(row[name])}</${name}>`])).join('');
        return `<rows>${rows.map((row) => `<row id="${row.id}">${cells(row)}</row>`).join('\n')}</rows>`;
      },
      '; rml:iterator "/rows/row"',
    ),
    column: (name) => (name === 'id' ? '@id' : name),
  },
  workbook('XLSX', 'xlsx', (rows) => xlsx({ sheets: { One: xlsxRows(rows) } })),
  workbook('XLSB', 'xlsb', (rows) => xlsb({ sheets: { One: xlsbSheet(rows) } })),
  workbook('ODS', 'ods', (rows) => ods({ sheets: { One: odsRows(rows) } })),
];

/** What a mapping that reads the formats needs, each once. */
export const headOf = (formats: readonly Format[]): string =>
  [...new Set(formats.flatMap(({ head }) => head ?? []))].map((head) => `${head}\n`).join('');

/** What a run that reads the formats needs. */
export const changesOf = (formats: readonly Format[]): Partial<Changes> => Object.assign({}, ...formats.map(({ changes }) => changes));

/** Tables of the databases that are here. Their formats are as others are. */
export interface Databases {
  readonly formats: readonly Format[];
  close(): Promise<void>;
}

const DRIVERS: Readonly<Record<Server[0], string>> = {
  postgresql: 'org.postgresql.Driver',
  mariadb: 'org.mariadb.jdbc.Driver',
  sqlite: 'org.sqlite.JDBC',
  duckdb: 'org.duckdb.DuckDBDriver',
};

export async function openDatabases(): Promise<Databases> {
  const products = SERVERS.flatMap(([product, missing]) => (missing === undefined ? [product] : []));
  const servers = await Promise.all(products.map(startDatabases));
  await Promise.all(servers.map((server) => server.load('SELECT 1')));
  return {
    formats: servers.map((server, i) => databaseFormat(products[i] as Server[0], server)),
    async close() {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

function databaseFormat(product: Server[0], { jdbcUrl, run }: TestDatabases): Format {
  // The collation of the database decides what a join finds equal (decision 8): here one for which only equal texts are.
  const type = product === 'mariadb' ? 'VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin' : 'VARCHAR(200)';
  const value = (text: string | null | undefined): string => (text == null ? 'NULL' : `'${text.replaceAll("'", "''")}'`);
  return {
    name: product,
    head: `<#${product}> a <http://www.wiwiss.fu-berlin.de/suhl/bizer/D2RQ/0.1#Database> ;
  <http://www.wiwiss.fu-berlin.de/suhl/bizer/D2RQ/0.1#jdbcDSN> "${jdbcUrl}" ;
  <http://www.wiwiss.fu-berlin.de/suhl/bizer/D2RQ/0.1#jdbcDriver> "${DRIVERS[product]}" .`,
    changes: { database: { jdbcUrl, user: undefined, password: undefined } },
    source: (table) => `[ rml:source <#${product}> ; rml:referenceFormulation rml:SQL2008Table ; rml:iterator "${table}" ]`,
    column: (name) => name,
    async write(_, table, columns, rows) {
      const values = rows.map((row) => `(${columns.map((column) => value(row[column])).join(', ')})`);
      const insert = values.length === 0 ? '' : `INSERT INTO ${table} VALUES ${values.join(', ')};`;
      await run(
        `DROP TABLE IF EXISTS ${table}; CREATE TABLE ${table} (${columns.map((column) => `${column} ${type}`).join(', ')}); ${insert}`,
      );
    },
  };
}
