/** A scan of the plan, opened: a document by its format, or a database's query. */
import type { FileSource } from '../mapping/model.ts';
import type { ScanPlan } from '../plan/plan.ts';
import { redact } from '../redact.ts';
import { openCsv } from '../sources/csv.ts';
import type { CsvDialect, OpenScan, Reading, Scan } from '../sources/source.ts';
import { inputFormat, openInput } from '../storage/storage.ts';
import type { RunRequest } from './request.ts';

export interface OpenedScan {
  readonly scan: Scan;
  /** Of the input, for messages: already redacted. */
  readonly name: string;
  /** Whether readers may give values that carry their natural datatype. */
  readonly typed: boolean;
  close(): Promise<void>;
}

/** Opens a document. Closed by whoever opened it. */
export async function openFileScan(
  plan: ScanPlan,
  source: FileSource,
  url: string,
  request: RunRequest,
  signal: AbortSignal,
): Promise<OpenedScan> {
  const name = redact(url);
  const open = await formatOf(source.formulation);
  const input = await openInput(url, {
    workingDirectory: request.workingDirectory,
    signal,
    compression: source.compression,
    limits: request.limits,
  });
  try {
    const scan = await open(input.bytes, plan.iterations, readingOf(plan, source, url, name, request));
    return { scan, name, typed: plan.dialect === 'rml' && source.formulation === 'json', close: () => input.close() };
  } catch (error) {
    await input.close();
    throw error;
  }
}

function readingOf({ dialect }: ScanPlan, source: FileSource, url: string, name: string, request: RunRequest): Reading {
  const csv: CsvDialect | undefined = source.formulation === 'csv' && formatByName(url) === 'tsv' ? { delimiter: '\t' } : undefined;
  return {
    name,
    dialect,
    nulls: source.nulls,
    encoding: source.encoding,
    namespaces: source.namespaces,
    maxRecordBytes: request.maxRecordBytes,
    ...(request.limits.depth === 0 ? {} : { maxDepth: request.limits.depth }),
    ...(csv === undefined ? {} : { csv }),
    ...(source.formulation === 'json' && formatByName(url) === 'jsonl' ? { jsonLines: true } : {}),
  };
}

/** JSON and XML are loaded when a mapping first reads them. */
async function formatOf(formulation: FileSource['formulation']): Promise<OpenScan> {
  switch (formulation) {
    case 'csv':
      return openCsv;
    case 'json':
      return (await import('../sources/json.ts')).openJson;
    case 'xml':
      return (await import('../sources/xml.ts')).openXml;
  }
}

/** What the name says, where it says anything. */
function formatByName(url: string): string | undefined {
  try {
    return inputFormat(url);
  } catch {
    // Without a known extension the mapping's formulation alone decides.
    return undefined;
  }
}
