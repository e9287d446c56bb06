/** Finds triples maps of which no two records make the same statement, because a column of their document holds a key. */
import { Fault } from '../../core/fault.ts';
import { redact } from '../../core/redact.ts';
import type { FileSource } from '../../mapping/model/model.ts';
import type { IterationPlan, MapPlan, Plan, ScanPlan } from '../../plan/plan.ts';
import { rangesOf } from '../../storage/open.ts';
import { type DocumentPlace, isParquet } from '../prepare/inputs.ts';
import type { PreparedRun } from '../prepare/prepare.ts';
import { type RunRequest, STANDARD_INPUT } from '../request.ts';
import { readOptionsOf } from './open-scan.ts';

/**
 * The numbers (`MapPlan.index`) of triples maps over Parquet files on this machine whose subject holds a key: a column of which no two rows have
 * the same value. The column alone is read for that, which takes a hundredth of the time that a table of subjects takes.
 *
 * What is wrong with a file is left to its reader.
 */
export async function findKeyedMaps(
  { plan, places }: Pick<PreparedRun, 'plan' | 'places'>,
  request: RunRequest,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const keyed: number[] = [];
  for (const [position, scan] of plan.scans.entries()) {
    const candidates = scan.iterations.filter(hasOwnRows).flatMap(mapsWithKeys);
    const { source } = scan;
    const place = places[position];
    if (source.kind !== 'file' || place === undefined || candidates.length === 0) continue;
    const keyIn = await keyReader(scan, source, place, request, signal);
    if (keyIn === undefined) continue;
    for (const { index, keyReferences } of candidates) if (await keyIn(keyReferences)) keyed.push(index);
  }
  return keyed;
}

/** The plan with what is known of these triples maps. */
export function withKeys(plan: Plan, keyed: readonly number[]): Plan {
  if (keyed.length === 0) return plan;
  const mapOf = (map: MapPlan): MapPlan => (keyed.includes(map.index) ? { ...map, unique: true } : map);
  const iterationOf = (iteration: IterationPlan): IterationPlan => ({
    ...iteration,
    pipelines: iteration.pipelines.map((pipeline) => ({ ...pipeline, maps: pipeline.maps.map(mapOf) })),
  });
  return { ...plan, scans: plan.scans.map((scan) => ({ ...scan, iterations: scan.iterations.map(iterationOf) })) };
}

/** Whether the records of an iteration are the rows of the document. Those of CSV always are. */
const hasOwnRows = ({ iterator, scan: { source } }: IterationPlan): boolean =>
  iterator === undefined || (source.kind === 'file' && source.formulation === 'csv');

const mapsWithKeys = ({ pipelines }: IterationPlan): readonly MapPlan[] =>
  pipelines.flatMap(({ steps, maps }) =>
    steps.length > 0 ? [] : maps.filter(({ keyReferences, unique }) => keyReferences.length > 0 && !unique),
  );

/** undefined: the document is not read as Parquet from this machine, or its columns are described, so that other texts than those in the file are read. */
async function keyReader(
  scan: ScanPlan,
  source: FileSource,
  { url, given }: DocumentPlace,
  request: RunRequest,
  signal: AbortSignal,
): Promise<((references: readonly string[]) => Promise<boolean>) | undefined> {
  if ((given && url === STANDARD_INPUT) || source.request !== undefined || !isParquet(url, source, request.inputOptions)) return undefined;
  const read = readOptionsOf(scan, source, 'parquet', redact(url), request);
  if (read.csv?.columns !== undefined) return undefined;
  const { workingDirectory, reach, web, limits } = request;
  const options = { workingDirectory, reach, signal, web, s3: web.s3, limits, compression: source.compression };
  const ranges = await rangesOf(url, options).catch(leaveToReader);
  if (ranges === undefined || ranges.isRemote) return undefined;
  const { findKey } = await import('../../sources/parquet/keys.ts');
  // Freed before the run fills its own tables.
  const memoryBytes = (3 * request.memoryBudgetBytes) / 4;
  return async (references) => (await findKey(references, { ...read, ranges }, memoryBytes, signal).catch(leaveToReader)) !== undefined;
}

/** The run opens and reads the same file next, and its fault says more: the record, and the triples map. */
function leaveToReader(error: unknown): undefined {
  if (!(error instanceof Fault)) throw error;
}
