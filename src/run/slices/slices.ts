/**
 * Cuts a run into slices for several workers: key ranges of large tables, byte ranges of large files, and independent groups of scans. Only
 * slices of one file can make the same statement; their subjects are compared (`distinct/`).
 */
import { obstaclesOf } from '../../plan/physical/division.ts';
import type { Plan, ScanPlan } from '../../plan/plan.ts';
import type { Databases } from '../databases/databases.ts';
import { keysOf } from '../databases/keys.ts';
import type { DocumentPlace } from '../prepare/documents/inputs.ts';
import { prepareRun } from '../prepare/prepare.ts';
import type { ByteSlice, KeyRange, RunRequest, RunSlice, SliceScan } from '../request.ts';
import { byteSlicesOf, hasLargeInput } from './file-slices.ts';

/** Minimum size for cutting, and about the size of a slice; 0: never cut. */
export interface SliceSizes {
  /** Rows of a table. */
  readonly rows: number;
  /** Bytes of a file. */
  readonly bytes: number;
}

export interface CutRun {
  readonly slices: readonly RunSlice[];
  /** Releases the database snapshots that the slices read. */
  release(): Promise<void>;
}

/**
 * Cuts a run into slices. undefined: it stays whole, because its tables and files are small, have no usable key, are held together by a join
 * or by statements that could repeat, or because the mapping has logical targets, which are one file each.
 *
 * PostgreSQL slices read one snapshot, until the result is released. MySQL and MariaDB cannot share a snapshot: each slice sees the rows as
 * they are when it begins.
 *
 * @throws Fault those of `executeRun`
 */
export async function sliceRun(request: RunRequest, sizes: SliceSizes, signal: AbortSignal): Promise<CutRun | undefined> {
  if (sizes.rows === 0 && !(await hasLargeInput(request, sizes.bytes, signal))) return undefined;
  const { plan, physical, places, databases, digest, close } = await prepareRun(request, signal);
  let open = true;
  const release = async (): Promise<void> => {
    if (open) await close();
    open = false;
  };
  try {
    const scansOfSlices = await slicePlan(plan, async (scan, position, group) => {
      if (obstaclesOf(physical, group, 'workers').length > 0) return [];
      const { source } = scan;
      if (source.kind === 'file') return byteSlicesOf(scan, source, (places[position] as DocumentPlace).url, request, sizes.bytes, signal);
      return databases !== undefined && sizes.rows > 0 ? rangesOf(scan, databases, sizes.rows) : [];
    });
    if (scansOfSlices.length < 2) {
      await release();
      return undefined;
    }
    const snapshots = (await databases?.snapshots()) ?? {};
    return { slices: scansOfSlices.map((scans, index) => ({ index, digest, scans, snapshots })), release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** The scans of each slice; those that are too small for a slice of their own share one. */
async function slicePlan(
  plan: Plan,
  cut: (scan: ScanPlan, position: number, group: number) => Promise<readonly (KeyRange | ByteSlice)[]>,
): Promise<readonly (readonly SliceScan[])[]> {
  const slices: SliceScan[][] = [];
  const rest: SliceScan[] = [];
  for (const [number, group] of plan.groups.entries()) {
    const [position] = group as [number];
    const ranges = group.length > 1 ? [] : await cut(plan.scans[position] as ScanPlan, position, number);
    if (ranges.length > 1) slices.push(...ranges.map((range) => [{ position, range }]));
    else rest.push(...group.map((one) => ({ position: one, range: undefined })));
  }
  rest.sort((a, b) => a.position - b.position);
  return rest.length === 0 ? slices : [rest, ...slices];
}

/** Key ranges of about `sliceRows` rows each; one or none if the table is small or has no single-column key. */
export async function rangesOf({ source }: ScanPlan, databases: Databases, sliceRows: number): Promise<readonly KeyRange[]> {
  if (source.kind === 'file') return [];
  const table = databases.tableOf(source.kind === 'sql' ? source : source.child);
  if (table === undefined || table.kind === 'view') return [];
  if ((table.estimatedRows ?? Number.POSITIVE_INFINITY) < sliceRows) return [];
  const columns = keysOf(table).flatMap((key) => (key.length === 1 ? key : []));
  const column = columns.find((name) => {
    const { family, type, exact } = table.columnsByName.get(name) ?? { family: 'other', type: '', exact: false };
    return exact && CUTTABLE.has(family) && !OWN_ORDER.has(type);
  });
  if (column === undefined) return [];
  const bounds = await databases.boundsOf(table, column, sliceRows);
  return [undefined, ...bounds].map((from, i) => ({ kind: 'key', column, from, to: bounds[i] }));
}

/** Type families whose key texts SQL reads back as the same value. */
const CUTTABLE: ReadonlySet<string> = new Set(['number', 'text', 'date', 'timestamp', 'timestamp with time zone', 'uuid']);
/** MySQL types that are ordered by declaration but compared with a text by another order. */
const OWN_ORDER: ReadonlySet<string> = new Set(['enum', 'set']);
