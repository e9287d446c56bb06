/** The formats of inputs and their reference formulations, one row each: what tells them apart, and what references in them find. */

/** A reference formulation. */
export interface FormulationRow {
  /** Its name in both vocabularies of RML, or in that of the project. */
  readonly name: string;
  /** Records are rows: there is no iterator. */
  readonly hasRows: boolean;
  /** Values carry natural datatypes. */
  readonly typed: boolean;
  /** It is of the project, and stands in `SOURCE_NAMESPACE`; the others are of RML. */
  readonly isOfProject?: true;
  /** Its documents are files, and no values of other documents. */
  readonly isOfFiles?: true;
  /** Whether a reference finds one value at most in a record. @param lenient the dialect of legacy mappings */
  isSingle(reference: string, lenient: boolean): boolean;
}

export const FORMULATIONS = {
  csv: { name: 'CSV', hasRows: true, typed: false, isSingle: () => true },
  // Legacy JSONPath reads an array as its elements. Several nodes come from a wildcard, a filter, a slice, a list of selectors or a descendant segment. A name may hold these characters, too.
  json: { name: 'JSONPath', hasRows: false, typed: true, isSingle: (reference, lenient) => !lenient && !/[*?:,]|\.\./.test(reference) },
  // A path as in JSON, or the name of a column, which may hold any character.
  parquet: {
    name: 'Parquet',
    hasRows: false,
    typed: true,
    isOfProject: true,
    isOfFiles: true,
    isSingle: (reference) => !/[*?:,]|\.\./.test(reference),
  },
  xml: { name: 'XPath', hasRows: false, typed: false, isSingle: (reference) => /^@[\p{L}_][\p{L}\p{N}_.-]*$/u.test(reference) },
} as const satisfies Record<string, FormulationRow>;

/** How references and iterators are written, and which reader reads a document. */
export type Formulation = keyof typeof FORMULATIONS;

interface FormatRow {
  readonly formulation: Formulation;
  /** Another formulation that reads it. */
  readonly also?: Formulation;
  /** Values of its columns have natural datatypes, also with a formulation whose values have none. */
  readonly hasTypedColumns?: true;
  /** In lower case, without the ending of a compression. */
  readonly extensions: readonly string[];
  readonly mediaTypes: RegExp;
  /** Between the cells of its text, unless something else is said. undefined: a comma. */
  readonly delimiter?: string;
  /** Sheets of cells instead of text: `#` in a path names the sheet, and there is no encoding or delimiter. */
  readonly isWorkbook?: true;
}

/**
 * `tsv` is tab-separated CSV. `jsonl` is a sequence of JSON values: one per line, one after the other, or as text sequence (RFC 7464). Workbooks
 * are tables, as CSV is.
 */
export const FORMATS = {
  csv: { formulation: 'csv', extensions: ['csv'], mediaTypes: /^(?:text|application)\/csv$/ },
  tsv: { formulation: 'csv', extensions: ['tsv', 'tab'], mediaTypes: /^text\/tab-separated-values$/, delimiter: '\t' },
  json: { formulation: 'json', extensions: ['json', 'geojson'], mediaTypes: /(?<!\/stream)[/+]json$/ },
  jsonl: {
    formulation: 'json',
    extensions: ['jsonl', 'ndjson', 'ldjson', 'geojsonl', 'geojsons', 'json-seq', 'jsonseq'],
    mediaTypes: /\/(?:x-)?(?:jsonl|ndjson|ldjson|jsonlines|json-lines|json-stream|stream\+json)$|[/+](?:json-seq|nd-?json|jsonl)$/,
  },
  xlsx: {
    formulation: 'csv',
    extensions: ['xlsx', 'xlsm'],
    mediaTypes: /^application\/vnd\.(?:openxmlformats-officedocument\.spreadsheetml\.sheet|ms-excel\.sheet\.macroenabled\.12)$/,
    hasTypedColumns: true,
    isWorkbook: true,
  },
  xlsb: {
    formulation: 'csv',
    extensions: ['xlsb'],
    mediaTypes: /^application\/vnd\.ms-excel\.sheet\.binary\.macroenabled\.12$/,
    hasTypedColumns: true,
    isWorkbook: true,
  },
  xls: { formulation: 'csv', extensions: ['xls'], mediaTypes: /^application\/vnd\.ms-excel$/, hasTypedColumns: true, isWorkbook: true },
  ods: {
    formulation: 'csv',
    extensions: ['ods'],
    mediaTypes: /^application\/vnd\.oasis\.opendocument\.spreadsheet$/,
    hasTypedColumns: true,
    isWorkbook: true,
  },
  parquet: {
    formulation: 'parquet',
    also: 'csv',
    extensions: ['parquet', 'parq', 'pq'],
    mediaTypes: /^application\/(?:vnd\.apache\.|x-)?parquet$/,
    hasTypedColumns: true,
  },
  xml: { formulation: 'xml', extensions: ['xml'], mediaTypes: /[/+]xml$/ },
} as const satisfies Record<string, FormatRow>;

export type InputFormat = keyof typeof FORMATS;

export const INPUT_FORMATS = Object.keys(FORMATS) as readonly InputFormat[];

export const isWorkbook = (format: InputFormat | undefined): format is WorkbookFormat =>
  format !== undefined && (FORMATS[format] as FormatRow).isWorkbook === true;

/** Whether a reference formulation reads documents of a format. */
export function isReadAs(format: InputFormat, formulation: Formulation): boolean {
  const row: FormatRow = FORMATS[format];
  return row.formulation === formulation || row.also === formulation;
}

/** The format as which a document is read: its own, if the formulation reads that, else the usual one of the formulation. */
export const readAs = (formulation: Formulation, format: InputFormat | undefined): InputFormat =>
  format !== undefined && isReadAs(format, formulation) ? format : formulation;

/** undefined: a comma. */
export const delimiterOf = (format: InputFormat): string | undefined => (FORMATS[format] as FormatRow).delimiter;

export const hasTypedColumns = (format: InputFormat | undefined): boolean =>
  format !== undefined && (FORMATS[format] as FormatRow).hasTypedColumns === true;

export type WorkbookFormat = 'xlsx' | 'xlsb' | 'xls' | 'ods';

const ENDINGS = Object.values(FORMATS).flatMap((row: FormatRow) => (row.isWorkbook === true ? row.extensions : []));
const WITH_SHEET = new RegExp(`^([^#]*\\.(?:${ENDINGS.join('|')})(?:\\.gz|\\.zip)?(?:\\?[^#]*)?)#(.+)$`, 'is');

/** `people.xlsx#Sheet1` → the path of the workbook and what `#` names in it. Other paths are as they are. In URLs, the name is percent-encoded. */
export function splitSheet(path: string): { readonly path: string; readonly sheet?: string } {
  const [, file, sheet] = WITH_SHEET.exec(path) ?? [];
  if (file === undefined || sheet === undefined) return { path };
  return { path: file, sheet: /^[a-z][a-z0-9+.-]+:/i.test(path) ? decoded(sheet) : sheet };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @param extension in lower case */
export const formatOfExtension = (extension: string): InputFormat | undefined =>
  INPUT_FORMATS.find((format) => (FORMATS[format].extensions as readonly string[]).includes(extension));

/** The format that the extension of a path or URL implies, whatever query, fragment and ending of a compression follow it. */
export function formatOfPath(path: string): InputFormat | undefined {
  const name = path
    .replace(/[?#].*$/s, '')
    .replace(/\.(?:gz|zip|tar\.gz|tgz|tar\.xz|txz)$/i, '')
    .split(/[/\\]/)
    .at(-1) as string;
  return name.includes('.') ? formatOfExtension((name.split('.').at(-1) as string).toLowerCase()) : undefined;
}

/** @param type with or without parameters */
export function formatOfMediaType(type: string): InputFormat | undefined {
  const plain = (type.split(';', 1)[0] as string).trim().toLowerCase();
  return INPUT_FORMATS.find((format) => FORMATS[format].mediaTypes.test(plain));
}

/** The JDBC URL of a file that is a database by its extension. */
export function databaseUrlOf(path: string): string | undefined {
  if (/\.(?:sqlite3?|db3?)$/i.test(path)) return `jdbc:sqlite:${path}`;
  return /\.(?:duckdb|ddb)$/i.test(path) ? `jdbc:duckdb:${path}` : undefined;
}

/** The namespace of the project for sources, usually with the prefix `qms`: what RML has no term for. */
export const SOURCE_NAMESPACE = 'http://w3id.org/quadmill/source#';

/** The formulations of RML; those of the project stand in `SOURCE_NAMESPACE`. */
export const isOfProject = (formulation: Formulation): boolean => (FORMULATIONS[formulation] as FormulationRow).isOfProject === true;

/**
 * `rml:CSV, rml:JSONPath and rml:XPath`, for messages.
 *
 * @param within only those that read documents within values
 */
export const formulationNames = (word: 'and' | 'or', within = false): string => {
  const all = (Object.keys(FORMULATIONS) as Formulation[]).filter(
    (one) => !within || (FORMULATIONS[one] as FormulationRow).isOfFiles !== true,
  );
  const names = all.map((one) => `${isOfProject(one) ? 'qms' : 'rml'}:${FORMULATIONS[one].name}`);
  return `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1)}`;
};
