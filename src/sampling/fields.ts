/** The beginning of an input as a list of its fields. */
import { LinkedAbort } from '../core/abort.ts';
import type { FaultData } from '../core/fault.ts';
import type { InputFormat } from '../core/input/formats.ts';
import { type Field, fieldsOf } from '../infer/fields.ts';
import { isArray } from '../infer/sample.ts';
import type { SampleOptions } from './options.ts';
import { readSample } from './sample.ts';

export interface FieldsQuestion {
  /** URL or path of the input; of a workbook also with a sheet, `people.xlsx#Staff`. */
  readonly location: string;
  /** One of `FORMATS`; undefined: by the name, else by the media type. */
  readonly format?: string | undefined;
  readonly delimiter?: string | undefined;
  /** Of CSV. Empty: none. */
  readonly quote?: string | undefined;
  readonly encoding?: string | undefined;
  /** More of the input is read. */
  readonly deeper?: boolean | undefined;
  /** Whether values of single items are wanted. */
  readonly items?: boolean | undefined;
  /** Texts that mean no value. undefined: empty cells of tables alone. */
  readonly nulls?: readonly string[] | undefined;
  /** An empty cell without quotes is no value, as in legacy RML and YARRRML. */
  readonly legacy?: boolean | undefined;
}

export type FieldsAccess = Pick<SampleOptions, 'workingDirectory' | 'reach' | 'web' | 'limits' | 'maxRecordBytes' | 'files'>;

export interface FieldsAnswer {
  /** `sql`: rows of a database. */
  readonly format: InputFormat | 'sql';
  /** Of CSV, where it is not that of the format. */
  readonly delimiter?: string | undefined;
  /** Of CSV, where it is not that of the delimiter. Empty: none. */
  readonly quote?: string | undefined;
  /** Of XML: by prefix. */
  readonly namespaces: Readonly<Record<string, string>>;
  readonly fields: readonly Field[];
  /** Of a workbook: the names of its sheets, in its order. */
  readonly sheets?: readonly string[];
  /** Rows, or items of the outermost list. */
  readonly records: number;
  /** Of the input, unpacked. */
  readonly bytesRead: number;
  /** Absent: not known, such as of a compressed file. */
  readonly ofBytes?: number;
  /** The whole input was read. */
  readonly complete: boolean;
  readonly warnings: readonly string[];
  /** What is wrong behind what was read: a run ends there. */
  readonly fault?: FaultData;
}

/** What is looked at, and what a person who asks for more gets. */
const BOUNDS = { records: 200, bytes: 4 * 2 ** 20 };
const DEEPER = { records: 5_000, bytes: 32 * 2 ** 20 };

/**
 * @param until when the answer has to be there, in milliseconds since 1970: of a slow input it has what came by then
 * @throws Fault of `sampleInput`
 */
export async function sampleFields(question: FieldsQuestion, access: FieldsAccess, until: number): Promise<FieldsAnswer> {
  const { location, delimiter, quote, encoding, deeper = false, items = false, nulls, legacy = false } = question;
  const over = new LinkedAbort([], Math.max(0, until - Date.now()));
  const options = {
    format: question.format as InputFormat | undefined,
    delimiter,
    quote: quote === '' ? null : quote,
    encoding,
    dialect: legacy ? 'legacy' : 'rml',
    nulls,
    untilFault: true,
    signal: over.signal,
  } as const;
  const bounds = deeper ? DEEPER : BOUNDS;
  const { sample, format, bytesRead, ofBytes } = await readSample(location, location, { ...access, ...bounds, ...options }).finally(() =>
    over.release(),
  );
  const hasRecords = format !== 'json' && format !== 'xml';
  // Without rows the columns are known all the same.
  const { root, columns = [] } = sample;
  const isHeader = isArray(root) && root.length === 0 && columns.length > 0;
  const found = fieldsOf(isHeader ? [{ members: new Map(columns.map((name) => [name, null])) }] : root, {
    hasRecords,
    isXml: format === 'xml',
    items,
    nulls,
  });
  const { fields, notes } = found;
  const records = isHeader ? 0 : found.records;
  return {
    format,
    ...(sample.source.delimiter === undefined ? {} : { delimiter: sample.source.delimiter }),
    ...(sample.source.quote === undefined ? {} : { quote: sample.source.quote }),
    namespaces: Object.fromEntries(sample.source.namespaces),
    fields,
    ...(sample.sheets === undefined ? {} : { sheets: sample.sheets }),
    records,
    bytesRead,
    ...(ofBytes === undefined ? {} : { ofBytes }),
    complete: sample.isWhole,
    warnings: [...sample.notes, ...notes],
    ...(sample.fault === undefined ? {} : { fault: sample.fault.toJSON() }),
  };
}
