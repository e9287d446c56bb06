/** What of a mapping needs more of a document in memory than one record after the other. */
import type { IterationPlan, ScanPlan } from '../../../plan/plan.ts';
import { readerOf } from '../../../sources/formats.ts';
import type { RunRequest } from '../../request.ts';
import { formatBefore } from './inputs.ts';
import { readOptionsOf } from './open-scan.ts';

/** Of an iteration of a scan: a sentence without its subject; undefined: nothing is needed. */
export type WholeOf = (scan: ScanPlan, iteration: IterationPlan) => string | undefined;

/** Asks the readers of documents; reads none of these. The format is that which the path in the mapping tells. */
export async function openWholes(request: RunRequest): Promise<WholeOf> {
  const [json, xml] = await Promise.all((['json', 'xml'] as const).map((format) => readerOf(format).needsWhole?.()));
  return (scan, iteration) => {
    const { source } = scan;
    if (source.kind !== 'file') return undefined;
    const format = formatBefore(source.path, source, request.inputOptions);
    const needs = format === 'xml' ? xml : format === 'json' || format === 'jsonl' ? json : undefined;
    return needs?.(iteration, readOptionsOf(scan, source, format, source.path, request));
  };
}
