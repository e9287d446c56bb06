/** The readers of documents, by reference formulation and format. Most are loaded when a mapping first needs them. */
import { Fault } from '../core/fault.ts';
import { type Formulation, type InputFormat, isWorkbook, type WorkbookFormat } from '../core/input/formats.ts';
import { openCsv } from './csv/csv.ts';
import type { OpenScan, OpenTexts } from './source.ts';

interface Readers {
  /** Of a document. */
  readonly scan: () => OpenScan | Promise<OpenScan>;
  /** Of documents within values. */
  readonly texts: () => Promise<OpenTexts>;
}

export const READERS: Readonly<Record<Formulation, Readers>> = {
  csv: { scan: () => openCsv, texts: async () => (await import('./csv/texts.ts')).openCsvTexts },
  json: { scan: async () => (await import('./json/json.ts')).openJson, texts: async () => (await import('./json/texts.ts')).openJsonTexts },
  parquet: {
    scan: async () => (await import('./parquet/parquet.ts')).openParquet,
    texts: async () => {
      throw new Fault('mapping/reference', 'A value cannot be read as Parquet', {
        hint: 'Parquet is a format of files; documents within values are CSV, JSON or XML',
      });
    },
  },
  xml: { scan: async () => (await import('./xml/xml.ts')).openXml, texts: async () => (await import('./xml/texts.ts')).openXmlTexts },
};

/** Workbooks are tables, as CSV is, but other bytes. */
const WORKBOOKS: Readonly<Record<WorkbookFormat, () => Promise<OpenScan>>> = {
  xlsx: async () => (await import('./sheet/sheet.ts')).openXlsxScan,
  xlsb: async () => (await import('./sheet/sheet.ts')).openXlsbScan,
  xls: async () => (await import('./sheet/sheet.ts')).openXlsScan,
  ods: async () => (await import('./sheet/sheet.ts')).openOdsScan,
};

/** @param format undefined: the usual one of the formulation */
export const readerOf = async (formulation: Formulation, format: InputFormat | undefined): Promise<OpenScan> =>
  isWorkbook(format) ? WORKBOOKS[format]() : READERS[format === 'parquet' ? format : formulation].scan();
