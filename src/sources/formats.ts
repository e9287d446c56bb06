/** The readers of documents, one row for each format, and what each can do beside giving records. Most are loaded when a mapping first needs them. */
import { Fault } from '../core/fault.ts';
import { FORMULATIONS, type Formulation, formulationNames, type InputFormat } from '../core/input/formats.ts';
import { openCsv } from './csv/csv.ts';
import type { FindCuts, OpenBorders } from './cuts.ts';
import type { IsKey, NeedsWhole, OpenScan, OpenTexts, OptionsByFormat, ReadOptions, TextFormat } from './source.ts';

/** What a format has not, its row has not. */
interface Reader<O = ReadOptions> {
  readonly scan: () => OpenScan<O> | Promise<OpenScan<O>>;
  /** Reads documents that are values of other documents. */
  readonly texts?: () => Promise<OpenTexts<O>>;
  readonly cuts?: {
    readonly find: () => Promise<FindCuts<O>>;
    /** Only what stands around the cuts is read, also of a document on a server. Without it, all that stands before a cut is. */
    readonly seeks?: true;
    /** With fewer threads, the document is read sooner by one than it is cut. */
    readonly leastThreads?: number;
  };
  /** Any records, with the head of the document before them, are a document. */
  readonly borders?: () => Promise<OpenBorders<O>>;
  /** Without it, records need nothing beside them. */
  readonly needsWhole?: () => Promise<NeedsWhole<O>>;
  /** Looks for a key in one column, without reading the others. */
  readonly isKey?: () => Promise<IsKey<O>>;
  /** Reads a document at any offset (`ParquetOptions.ranges`), and slices of it by their offsets. */
  readonly readsRanges?: true;
}

const csv: Reader<OptionsByFormat['csv']> = {
  scan: () => openCsv,
  texts: async () => (await import('./csv/texts.ts')).openCsvTexts,
  cuts: { find: async () => (await import('./csv/cuts.ts')).findCsvCuts },
  borders: async () => (await import('./csv/borders.ts')).openCsvBorders,
};
const json = {
  scan: async () => (await import('./json/json.ts')).openJson,
  texts: async () => (await import('./json/texts.ts')).openJsonTexts,
  needsWhole: async () => (await import('./json/json.ts')).needsWhole,
};

const READERS: { readonly [F in InputFormat]: Reader<OptionsByFormat[F]> } = {
  csv,
  tsv: csv,
  // An array is walked over before it is mapped, and threads look subjects up that one alone knows to be new.
  json: { ...json, cuts: { find: async () => (await import('./json/cuts.ts')).findElementCuts, leastThreads: 3 } },
  jsonl: {
    ...json,
    cuts: { find: async () => (await import('./json/cuts.ts')).findLineCuts, seeks: true },
    borders: async () => (await import('./json/cuts.ts')).openLineBorders,
  },
  xml: {
    scan: async () => (await import('./xml/xml.ts')).openXml,
    texts: async () => (await import('./xml/texts.ts')).openXmlTexts,
    needsWhole: async () => (await import('./xml/plan.ts')).needsWhole,
    cuts: { find: async () => (await import('./xml/parse/cuts.ts')).findXmlCuts },
  },
  xlsx: { scan: async () => (await import('./sheet/sheet.ts')).openXlsxScan },
  xlsb: { scan: async () => (await import('./sheet/sheet.ts')).openXlsbScan },
  xls: { scan: async () => (await import('./sheet/sheet.ts')).openXlsScan },
  ods: { scan: async () => (await import('./sheet/sheet.ts')).openOdsScan },
  parquet: {
    scan: async () => (await import('./parquet/parquet.ts')).openParquet,
    cuts: { find: async () => (await import('./parquet/parquet.ts')).findRowGroupCuts, seeks: true },
    isKey: async () => (await import('./parquet/keys.ts')).isKey,
    readsRanges: true,
  },
};

/** @returns takes the options of this format */
export const readerOf = (format: InputFormat): Reader => READERS[format] as Reader;

/** Opens a document by the format of the options. */
export const openDocument: OpenScan = async (bytes, iterations, options) =>
  (await readerOf(options.format).scan())(bytes, iterations, options);

/** Opens documents within values. @throws Fault mapping/reference — the format has none */
export async function openTexts(formulation: Formulation, options: ReadOptions): Promise<TextFormat> {
  const { texts } = readerOf(options.format);
  if (texts !== undefined) return (await texts())(options);
  throw new Fault('mapping/reference', `A value cannot be read as ${FORMULATIONS[formulation].name}`, {
    hint: `Documents within values are read by ${formulationNames('or', true)}`,
  });
}
