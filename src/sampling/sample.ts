/** Reads the beginning of an input as a tree, for the inference of a mapping. */
import { Fault } from '../core/fault.ts';
import { DEFAULT_DELIMITER, undeclaredQuote } from '../core/input/csv-dialect.ts';
import { delimiterOf, FORMATS, hasTypedColumns, type InputFormat, isWorkbook, splitSheet } from '../core/input/formats.ts';
import { redact } from '../core/redact.ts';
import type { DocumentSample } from '../infer/sample.ts';
import { readerOf } from '../sources/formats.ts';
import type { Served, WorkbookOptions } from '../sources/source.ts';
import { inputFormat } from '../storage/input-format.ts';
import { openInput, rangesOf } from '../storage/open.ts';
import { fileNameOf } from '../storage/url.ts';
import { isTimeOver, TimeOver } from './beginning.ts';
import { sampleJson, sampleJsonSequence } from './json.ts';
import type { SampleOptions } from './options.ts';
import { sampleParquet } from './parquet.ts';
import { delimiterOfHead, PeekedBytes, quoteOfTabbed, titleOfHead } from './peek.ts';
import { sampleTable } from './table.ts';
import { sampleXml } from './xml.ts';

export interface ReadSample {
  readonly sample: DocumentSample;
  readonly format: InputFormat;
  /** Of the input, unpacked. */
  readonly bytesRead: number;
  /** undefined: not known, such as of a compressed file. */
  readonly ofBytes: number | undefined;
}

/** As `readSample`. */
export const sampleInput = async (url: string, path: string, options: SampleOptions): Promise<DocumentSample> =>
  (await readSample(url, path, options)).sample;

/**
 * @param url of the input; of a workbook also with a sheet, `people.xlsx#Staff`
 * @param path what the mapping is to call it
 * @throws Fault of `openInput` and the readers; limit/exceeded — the time limit of `signal` was over before anything came, later it gives what came; config/invalid — an encoding of what is no text
 */
export async function readSample(url: string, path: string, options: SampleOptions): Promise<ReadSample> {
  const { path: document, sheet } = splitSheet(url);
  const { workingDirectory, signal, limits, web, reach } = options;
  const access = { workingDirectory, reach, limits, web, s3: web.s3, ...(signal === undefined ? {} : { signal }) };
  const input = await openInput(document, access).catch((error) => {
    throw isTimeOver(signal) ? tooSlow(redact(url)) : error;
  });
  let bytesRead = 0;
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of input.bytes) {
        bytesRead += chunk.length;
        yield chunk;
      }
    } catch (error) {
      throw isTimeOver(signal) ? new TimeOver() : error;
    }
  };
  try {
    const format = options.format ?? inputFormat(document, input.mediaType);
    const name = redact(url);
    if (options.encoding !== undefined && hasTypedColumns(format))
      throw new Fault('config/invalid', `An encoding is for text, and ${name} is ${format.toUpperCase()}`);
    const ranges = readerOf(format).readsRanges === true ? await rangesOf(document, access) : undefined;
    const served =
      input.mediaType === undefined && input.charset === undefined ? undefined : { mediaType: input.mediaType, charset: input.charset };
    const sample = await sampleOf(
      { bytes: counted(), served, ranges, format, path, name, title: sheet ?? stemOf(document), sheet },
      options,
    );
    return { sample, format, bytesRead, ofBytes: input.sizeBytes };
  } catch (error) {
    throw isTimeOver(signal) ? tooSlow(redact(url)) : error;
  } finally {
    await input.close();
  }
}

const tooSlow = (name: string): Fault =>
  new Fault('limit/exceeded', `Nothing of ${name} came in time`, { place: { input: name }, hint: 'Try again, or use a part of it' });

interface Opened {
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly served: Served | undefined;
  readonly ranges: Awaited<ReturnType<typeof rangesOf>>;
  readonly format: InputFormat;
  /** What the mapping is to call it, and messages. */
  readonly path: string;
  readonly name: string;
  /** What its class is named after. */
  readonly title: string;
  readonly sheet: string | undefined;
}

async function sampleOf(
  { bytes, served, ranges, format, path, name, title, sheet }: Opened,
  options: SampleOptions,
): Promise<DocumentSample> {
  const { formulation } = FORMATS[format];
  const { encoding, dialect, nulls = dialect === 'rml' ? [''] : [], maxRecordBytes, files } = options;
  const source = { path, encoding, formulation, isWorkbook: isWorkbook(format), namespaces: new Map<string, string>() };
  const sampled = { source, name: title, notes: [] };
  const common = { name, dialect, nulls, maxRecordBytes };
  const asServed = served === undefined ? {} : { served };
  switch (format) {
    case 'json':
      return { ...sampled, ...(await sampleJson(bytes, name, { ...options, ...asServed })) };
    case 'jsonl':
      return { ...sampled, ...(await sampleJsonSequence(bytes, name, { ...options, ...asServed })) };
    case 'xml': {
      const { namespaces, ...rest } = await sampleXml(bytes, name, { ...options, ...asServed });
      return { ...sampled, ...rest, source: { ...source, namespaces } };
    }
    case 'parquet': {
      const read = { ...common, format, csv: {}, naturalDatatypes: true, files, ...(ranges === undefined ? {} : { ranges }) };
      return { ...sampled, ...(await sampleParquet(bytes, read, options)) };
    }
    case 'csv':
    case 'tsv': {
      const peeked = new PeekedBytes(bytes);
      const usual = delimiterOf(format) ?? DEFAULT_DELIMITER;
      const delimiter = options.delimiter ?? delimiterOf(format) ?? delimiterOfHead(await peeked.head());
      const { quote = undeclaredQuote({ delimiter }) && quoteOfTabbed(await peeked.head()) } = options;
      const csv = { delimiter, ...(quote === undefined ? {} : { quoteChar: quote }) };
      const title = titleOfHead(await peeked.head());
      const table = await sampleTable(peeked.all(), { ...common, format, encoding, csv, ...asServed }, options);
      const notes = title === undefined ? table.notes : [...table.notes, titleNote(title)];
      return {
        ...sampled,
        ...table,
        notes,
        source: {
          ...source,
          delimiter: delimiter === usual ? undefined : delimiter,
          quote: quote ?? (quote === null ? '' : undefined),
        },
      };
    }
    default: {
      let sheets: readonly string[] = [];
      const read: WorkbookOptions = {
        ...common,
        format,
        naturalDatatypes: true,
        files,
        ...(sheet === undefined ? {} : { sheet }),
        onSheets: (names) => {
          sheets = names;
        },
      };
      const table = await sampleTable(bytes, read, options);
      return { ...sampled, ...table, sheets };
    }
  }
}

function titleNote({ rows, delimiter }: { readonly rows: number; readonly delimiter: string }): string {
  const above = rows === 1 ? 'The first row looks like a title' : `The first ${rows} rows look like titles`;
  const written = JSON.stringify(delimiter);
  return `${above}: the next rows have more cells. Skip ${rows === 1 ? 'it' : 'them'} with csvw:dialect [ csvw:skipRows ${rows} ; csvw:delimiter ${written} ] in RML, or remove ${rows === 1 ? 'it' : 'them'}, so that the header names the columns`;
}

/** `data/people.csv.gz` → `people`. */
const stemOf = (url: string): string => fileNameOf(url).replace(/(?<=.)\.[^/]*$/, '');
