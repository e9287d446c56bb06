/** Sources of a plan → views of records, and what rows of these views give. */

import { DEFAULT_DELIMITER, quoteIn } from '../core/input/csv-dialect.ts';
import { delimiterOf, formatOfPath, isWorkbook, readAs } from '../core/input/formats.ts';
import type { FileSource, Origin } from '../mapping/model/model.ts';
import { parseJsonPath } from '../paths/json/parse.ts';
import type { Column, Scan } from '../plan/algebra.ts';
import { type Leaf, nameOf } from '../plan/expressions.ts';
import { type Dialect, RECORD, type Readable, ROW, textColumn } from './dialects/dialect.ts';
import { checkNames, JsonColumns, stepsOf } from './json-columns.ts';
import type { Refusals } from './refusals.ts';
import { type Reading, valueOf } from './row.ts';
import type { Rows } from './rows.ts';
import { column } from './sql.ts';

/** Where the records of a source are. `table`: a table or view of the engine. */
export type Binding = { readonly kind: 'file'; readonly path: string } | { readonly kind: 'table'; readonly name: string };

/** The view of the records of one iteration. */
export class Records implements Rows {
  readonly number: number;
  readonly #source: FileSource;
  readonly binding: Binding;
  readonly #steps: readonly (string | undefined)[];
  readonly #dialect: Dialect;
  readonly #columns: string[] = [];
  readonly #json: JsonColumns;
  readonly #record: Column | undefined;
  readonly #identity: Column;
  #isKept = false;
  #areNamed = false;
  readonly cells: Rows['cells'] = new Map();

  constructor(scan: Scan, source: FileSource, binding: Binding, number: number, dialect: Dialect, refusals: Refusals) {
    this.#source = source;
    this.binding = binding;
    this.number = number;
    this.#dialect = dialect;
    this.#json = new JsonColumns('', refusals);
    this.#record = scan.records[0];
    this.#identity = scan.identity;
    this.#steps = this.#isJson ? iteratorSteps(scan, this.#hasLines, refusals) : [];
  }

  get origin(): Origin {
    return this.#source.origin;
  }

  get from(): string {
    return `records_${this.number}`;
  }

  read(leaf: Leaf, part: string): Reading | undefined {
    if (leaf.kind === 'cell') return undefined;
    if (this.#isJson) return this.#json.read(leaf, part);
    const name = nameOf(leaf);
    if (!this.#columns.includes(name)) this.#columns.push(name);
    return { value: valueOf(column(textColumn(this.#columns.indexOf(name)))) };
  }

  object(record: Column): string | undefined {
    if (!this.#isJson || record !== this.#record) return undefined;
    this.#isKept = true;
    return RECORD;
  }

  identity(columns: readonly Column[]): string | undefined {
    if (columns.length !== 1 || columns[0] !== this.#identity) return undefined;
    this.#areNamed = true;
    return ROW;
  }

  /** The statements that make the view, once all references are known and nothing was refused. */
  get statements(): readonly string[] {
    return this.#dialect.viewOf(this.#readable, this.number);
  }

  get #isJson(): boolean {
    return this.binding.kind === 'file' && this.#source.formulation === 'json';
  }

  get #hasLines(): boolean {
    return readAs('json', formatOfPath(this.#source.path)) === 'jsonl';
  }

  get #readable(): Readable {
    const { nulls, formulation, csv = {}, path } = this.#source;
    const columns = this.#columns;
    const areNamed = this.#areNamed;
    if (this.binding.kind === 'table') return { kind: 'table', name: this.binding.name, nulls, columns, areNamed };
    if (formulation === 'csv') {
      const format = readAs('csv', formatOfPath(path));
      const delimiter = csv.delimiter ?? delimiterOf(format) ?? DEFAULT_DELIMITER;
      return { kind: 'csv', path: this.binding.path, delimiter, quote: quoteIn({ ...csv, delimiter }), nulls, columns, areNamed };
    }
    return {
      kind: 'json',
      path: this.binding.path,
      lines: this.#hasLines,
      steps: this.#steps,
      references: this.#json.references,
      isKept: this.#isKept || areNamed,
      areNamed,
    };
  }
}

function iteratorSteps({ iterator, origin }: Scan, lines: boolean, refusals: Refusals): readonly (string | undefined)[] {
  if (iterator === undefined) return lines ? [undefined] : [];
  const steps = stepsOf(parseJsonPath(iterator, 'short'));
  if (steps === undefined) {
    refusals.add(origin, `the iterator ${JSON.stringify(iterator)}: of JSONPath, names and [*] are written as SQL`);
    return [];
  }
  checkNames(steps, origin, refusals);
  if (lines && steps[0] !== undefined)
    refusals.add(origin, `the iterator ${JSON.stringify(iterator)}: over lines of JSON it begins with $[*]`);
  return steps;
}

/** Whether the documents of a source can be read, where they are. Refuses what cannot, for every reason. */
export function checkSource(source: FileSource, binding: Binding, refusals: Refusals): void {
  const { origin, formulation, csv = {}, encoding, compression, request, path, sheet, nulls } = source;
  const refuse = (reason: string): void => refusals.add(origin, reason);
  if (binding.kind === 'table') {
    if (formulation !== 'csv') refuse(`a table in the place of ${formulation.toUpperCase()}`);
    return;
  }
  const format = readAs(formulation, formatOfPath(path));
  if (isWorkbook(format) || sheet !== undefined) refuse(`the spreadsheet ${JSON.stringify(path)}`);
  else if (formulation === 'xml')
    refuse(`the XML document ${JSON.stringify(path)}: Spark finds elements by their name at any depth, and DuckDB reads none`);
  else if (format === 'parquet')
    refuse(`the Parquet file ${JSON.stringify(path)}: bind a table or a view by --source, and read it as rml:CSV`);
  if (request !== undefined) refuse('a source on the Web, or a topic');
  if (binding.path.startsWith('http:') || binding.path.startsWith('https:'))
    refuse(`the address ${binding.path}: bind a file of the lake by --source`);
  if (encoding !== undefined && !/^utf-?8$/i.test(encoding)) refuse(`the encoding ${encoding}`);
  const gzip = /\.gz$/i.test(binding.path);
  if (compression !== 'none' && !(compression === 'gzip' && gzip))
    refuse(`the compression ${compression} of a file that is not named *.gz`);
  if (/\.(?:zip|tar|tgz|xz|txz)$/i.test(binding.path)) refuse('an archive');
  if (formulation === 'json') {
    if (nulls.length > 0) refuse('values of JSON that mean null (rml:null)');
    if (/seq$/i.test(path)) refuse('a text sequence (RFC 7464)');
    return;
  }
  const { doubleQuote, commentPrefix, headerRows = 1, skipRows = 0, trim = 'none', skipBlankRows, skipColumns = 0, columns = [] } = csv;
  if (doubleQuote === false) refuse('a backslash as escape in CSV (csvw:doubleQuote false)');
  if (commentPrefix) refuse('comments in CSV (csvw:commentPrefix)');
  if (headerRows !== 1) refuse('CSV without one header row (csvw:headerRowCount)');
  if (skipRows > 0) refuse('rows to skip in CSV (csvw:skipRows)');
  if (skipColumns > 0) refuse('columns to skip in CSV (csvw:skipColumns)');
  if (trim !== 'none') refuse('trimmed cells of CSV (csvw:trim)');
  if (skipBlankRows !== undefined) refuse('csvw:skipBlankRows');
  if (columns.length > 0) refuse('descriptions of columns (CSVW)');
}
