/** Finds triples maps of which no two records make the same statement, because a column of their document holds a key. */
import { redact } from '../../core/redact.ts';
import type { FileSource } from '../../mapping/model/model.ts';
import type { IterationPlan, MapPlan, Plan, RulePlan, ScanPlan } from '../../plan/plan.ts';
import { readerOf } from '../../sources/formats.ts';
import { rangesOf } from '../../storage/open.ts';
import { isLocal } from '../../storage/url.ts';
import { type DocumentPlace, formatBefore } from '../prepare/documents/inputs.ts';
import { readOptionsOf } from '../prepare/documents/open-scan.ts';
import type { PreparedRun } from '../prepare/prepare.ts';
import { type ByteSlice, type RunRequest, STANDARD_INPUT } from '../request.ts';
import { ascentReader, leaveToReader } from './ascending-keys.ts';

/** What was found in files before the run reads them. */
export interface FoundKeys {
  /** The numbers (`MapPlan.index`) of triples maps. */
  readonly maps: readonly number[];
  /** By the position of the scan, the version of the file that was looked at: of another one, nothing is known. */
  readonly versions: readonly (readonly [position: number, version: string])[];
}

export const NO_KEYS: FoundKeys = { maps: [], versions: [] };

/**
 * The triples maps over files on this machine whose subject holds a key: a column of which no two rows have the same value. Of Parquet, the column
 * alone is read for that; CSV is read as a whole, where the texts of the column ascend. For a slice of CSV, the key is one of its own rows: what
 * another slice has is compared elsewhere (`distinct/repeated-subjects.ts`).
 *
 * What is wrong with a file is left to its reader.
 */
export async function findKeyedMaps(
  { plan, places }: Pick<PreparedRun, 'plan' | 'places'>,
  request: RunRequest,
  signal: AbortSignal,
): Promise<FoundKeys> {
  const keyed: number[] = [];
  const versions: [number, string][] = [];
  const wanted = request.slice?.scans ?? plan.scans.map((_, position) => ({ position, range: undefined }));
  for (const { position, range } of wanted) {
    const scan = plan.scans[position] as ScanPlan;
    const candidates = scan.iterations.filter(hasOwnRows).flatMap(mapsWithKeys);
    const { source } = scan;
    const place = places[position];
    if (source.kind !== 'file' || place === undefined || candidates.length === 0) continue;
    const file = await keyReader(scan, source, place, range?.kind === 'bytes' ? range : undefined, request, signal);
    if (file === undefined) continue;
    const before = keyed.length;
    const isKey = new Map<string, boolean>();
    for (const { index, keyReferences } of candidates) {
      for (const reference of keyReferences) {
        // Triples maps over one document often have the same key.
        const known = isKey.get(reference) ?? (await file.isKey(reference));
        isKey.set(reference, known);
        if (!known) continue;
        keyed.push(index);
        break;
      }
    }
    if (keyed.length > before) versions.push([position, file.version]);
  }
  return { maps: keyed, versions };
}

/** A run that relies on what was found: with the version of each file, which must not change any more. */
export function withKeys<T extends Pick<PreparedRun, 'plan' | 'places'>>(prepared: T, { maps, versions }: FoundKeys): T {
  if (maps.length === 0) return prepared;
  const found = new Map(versions);
  const places = prepared.places.map((place, position) => {
    const version = found.get(position);
    return place === undefined || version === undefined ? place : { ...place, version };
  });
  return { ...prepared, plan: planWithKeys(prepared.plan, maps), places };
}

function planWithKeys(plan: Plan, keyed: readonly number[]): Plan {
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

/** Only its own records can repeat its statements. */
const isOfSubject = ({ distinct }: RulePlan): boolean => distinct === 'subject';

/** The triples maps that compare subjects, and need not if their key is found. */
const mapsWithKeys = ({ pipelines }: IterationPlan): readonly MapPlan[] =>
  pipelines.flatMap(({ steps, maps }) =>
    steps.length > 0 ? [] : maps.filter((map) => !map.unique && map.keyReferences.length > 0 && map.rules.some(isOfSubject)),
  );

interface KeyReader {
  /** Of the file. */
  readonly version: string;
  /** Whether no two rows have the same value of a reference; false where that is not found out. */
  isKey(reference: string): Promise<boolean>;
}

/** undefined: the document is not read as it is on this machine, or no key can be found with little work. */
async function keyReader(
  scan: ScanPlan,
  source: FileSource,
  place: DocumentPlace,
  slice: ByteSlice | undefined,
  request: RunRequest,
  signal: AbortSignal,
): Promise<KeyReader | undefined> {
  const { url, given } = place;
  if ((given && url === STANDARD_INPUT) || source.request !== undefined) return undefined;
  const { workingDirectory, reach, web, limits } = request;
  const options = { workingDirectory, reach, signal, web, s3: web.s3, limits, compression: source.compression };
  // A server is not asked for what is read from this machine alone.
  const ranges = isLocal(url) ? await rangesOf(url, options, slice?.version).catch(leaveToReader) : undefined;
  if (ranges === undefined) return undefined;
  const { version } = ranges;
  const format = formatBefore(url, source, request.inputOptions);
  const { isKey: look } = readerOf(format);
  if (look === undefined) {
    const ascends = await ascentReader(scan, source, place, ranges, slice, request, signal).catch(leaveToReader);
    return ascends && { version, isKey: async (reference) => (await ascends(reference).catch(leaveToReader)) ?? false };
  }
  const read = readOptionsOf(scan, source, format, redact(url), request, { ranges });
  // The column would be read as a whole for each slice. Columns that are described have other texts than those in the file.
  if (slice !== undefined || source.csv?.columns !== undefined) return undefined;
  // Freed before the run fills its own tables.
  const memoryBytes = (3 * request.memoryBudgetBytes) / 4;
  const isKey = await look();
  return { version, isKey: async (reference) => (await isKey(reference, read, memoryBytes, signal).catch(leaveToReader)) ?? false };
}
