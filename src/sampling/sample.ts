/** Reads the beginning of an input as a tree, for the inference of a mapping. */
import { Fault } from '../core/fault.ts';
import { FORMATS, isWorkbook, splitSheet } from '../core/input/formats.ts';
import { redact } from '../core/redact.ts';
import type { DocumentSample } from '../infer/sample.ts';
import type { ReadOptions } from '../sources/source.ts';
import { inputFormat } from '../storage/input-format.ts';
import { openInput, rangesOf } from '../storage/open.ts';
import { fileNameOf } from '../storage/url.ts';
import { sampleJson, sampleJsonSequence } from './json.ts';
import type { SampleOptions } from './options.ts';
import { sampleParquet } from './parquet.ts';
import { delimiterOfHead, PeekedBytes } from './peek.ts';
import { sampleTable } from './table.ts';
import { sampleXml } from './xml.ts';

/**
 * @param url of the input; of a workbook also with a sheet, `people.xlsx#Staff`
 * @param path what the mapping is to call it
 * @throws Fault of `openInput` and the readers; config/invalid — an encoding of what is no CSV
 */
export async function sampleInput(url: string, path: string, options: SampleOptions): Promise<DocumentSample> {
  const { path: document, sheet } = splitSheet(url);
  const { workingDirectory, signal, limits, web } = options;
  const access = { workingDirectory, reach: undefined, limits, web, s3: web.s3, ...(signal === undefined ? {} : { signal }) };
  const input = await openInput(document, access);
  try {
    const format = options.format ?? inputFormat(document, input.mediaType);
    const { formulation } = FORMATS[format];
    const name = redact(url);
    if (options.encoding !== undefined && (formulation !== 'csv' || isWorkbook(format)))
      throw new Fault('config/invalid', `An encoding is for CSV, and ${name} is ${format.toUpperCase()}, which tells its own`);
    const source = { path, formulation, isWorkbook: isWorkbook(format), namespaces: new Map<string, string>() };
    const sampled = { source, name: sheet ?? stemOf(document), notes: [] };
    switch (format) {
      case 'json':
        return { ...sampled, ...(await sampleJson(input.bytes, name, options)) };
      case 'jsonl':
        return { ...sampled, ...(await sampleJsonSequence(input.bytes, name, options)) };
      case 'parquet': {
        const ranges = await rangesOf(document, access);
        const read = { ...readOptions(name, undefined, undefined, options), ...(ranges === undefined ? {} : { ranges }) };
        return { ...sampled, ...(await sampleParquet(input.bytes, read, options)) };
      }
      case 'xml': {
        const { namespaces, ...rest } = await sampleXml(input.bytes, name, options);
        return { ...sampled, ...rest, source: { ...source, namespaces } };
      }
      default: {
        if (isWorkbook(format))
          return { ...sampled, ...(await sampleTable(input.bytes, format, readOptions(name, {}, sheet, options), options)) };
        const peeked = new PeekedBytes(input.bytes);
        const usual = format === 'tsv' ? '\t' : ',';
        const delimiter = options.delimiter ?? (format === 'tsv' ? usual : delimiterOfHead(await peeked.head()));
        const read = readOptions(name, { delimiter }, undefined, options);
        const table = await sampleTable(peeked.all(), format, read, options);
        const { encoding } = options;
        return { ...sampled, ...table, source: { ...source, delimiter: delimiter === usual ? undefined : delimiter, encoding } };
      }
    }
  } finally {
    await input.close();
  }
}

const readOptions = (name: string, csv: ReadOptions['csv'], sheet: string | undefined, options: SampleOptions): ReadOptions => ({
  name,
  dialect: options.dialect,
  nulls: options.dialect === 'rml' ? [''] : [],
  encoding: options.encoding,
  namespaces: {},
  csv: csv ?? {},
  naturalDatatypes: true,
  files: options.files,
  maxRecordBytes: options.maxRecordBytes,
  ...(sheet === undefined ? {} : { sheet }),
});

/** `data/people.csv.gz` → `people`. */
const stemOf = (url: string): string => fileNameOf(url).replace(/(?<=.)\.[^/]*$/, '');
