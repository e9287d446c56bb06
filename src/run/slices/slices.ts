/**
 * Cuts a run into slices for several workers: key ranges of large tables, byte ranges of large files, and independent groups of scans. Slices of
 * one group with files may make the same statement; their subjects are compared (`distinct/`). Slices with joins read the build sides first.
 */
import { obstaclesOf } from '../../plan/physical/division.ts';
import type { ScanPlan } from '../../plan/plan.ts';
import type { InputState } from '../../storage/storage.ts';
import type { Databases } from '../databases/databases.ts';
import { keysOf } from '../databases/keys.ts';
import type { DocumentPlace } from '../prepare/documents/inputs.ts';
import type { PreparedRun } from '../prepare/open.ts';
import { prepareRun } from '../prepare/prepare.ts';
import type { ByteSlice, KeyRange, RunRequest, RunSlice, SliceScan } from '../request.ts';
import { byteSlicesOf, hasLargeInput, wholeState } from './file-slices.ts';
import { sidesOfGroup } from './sides.ts';

/** Minimum size for cutting, and about the size of a slice; 0: never cut. */
export interface SliceSizes {
  /** Rows of a table. */
  readonly rows: number;
  /** Bytes of a file. */
  readonly bytes: number;
  /** Bytes of the files that each slice reads for its joins, at most. Absent: as many as a slice has. */
  readonly sideBytes?: number;
}

export interface CutRun {
  readonly slices: readonly RunSlice[];
  /** Releases the database snapshots that the slices read. */
  release(): Promise<void>;
}

/**
 * Cuts a run into slices. undefined: it stays whole, because its tables and files are small, have no usable key, are held together by a join of
 * large files or by statements that could repeat.
 *
 * PostgreSQL slices read one snapshot, until the result is released. MySQL and MariaDB cannot share a snapshot: each slice sees the rows as
 * they are when it begins.
 *
 * @param whole takes what was prepared of a run that stays whole: `executeRun` goes on with it, or the caller closes it. Not called for a run of
 *   small files, which is not prepared. undefined: it is closed
 * @throws Fault those of `executeRun`
 */
export async function sliceRun(
  request: RunRequest,
  sizes: SliceSizes,
  signal: AbortSignal,
  whole?: (prepared: PreparedRun) => void,
): Promise<CutRun | undefined> {
  if (sizes.rows === 0 && !(await hasLargeInput(request, sizes.bytes, signal))) return undefined;
  const prepared = await prepareRun(request, signal);
  const { plan, databases, digest, close } = prepared;
  let open = true;
  const release = async (): Promise<void> => {
    if (open) await close();
    open = false;
  };
  try {
    const parts: SlicePart[] = [];
    const rest: SliceScan[] = [];
    for (const index of prepared.plan.groups.keys()) {
      const cut = await cutGroup(index, prepared, request, sizes, signal);
      if (cut === undefined) rest.push(...(plan.groups[index] as readonly number[]).map((position) => ({ position, range: undefined })));
      else parts.push(...cut);
    }
    rest.sort((a, b) => a.position - b.position);
    if (rest.length > 0) parts.unshift({ scans: rest });
    if (parts.length < 2) {
      if (whole === undefined) await release();
      else whole(prepared);
      return undefined;
    }
    const snapshots = (await databases?.snapshots()) ?? {};
    return { slices: parts.map((part, index) => ({ index, digest, ...part, snapshots })), release };
  } catch (error) {
    await release();
    throw error;
  }
}

type SlicePart = Pick<RunSlice, 'scans' | 'sides' | 'group'>;

/** The slices of a group: ranges of its large documents and tables, and one slice with its others. undefined: the group stays whole. */
async function cutGroup(
  index: number,
  prepared: PreparedRun,
  request: RunRequest,
  sizes: SliceSizes,
  signal: AbortSignal,
): Promise<readonly SlicePart[] | undefined> {
  const { plan, physical, places, databases } = prepared;
  if (obstaclesOf(physical, index, 'workers').length > 0) return undefined;
  const group = plan.groups[index] as readonly number[];
  const scanAt = (position: number): ScanPlan => plan.scans[position] as ScanPlan;
  const urlOf = (position: number): string => (places[position] as DocumentPlace).url;
  const stateOf = async (position: number): Promise<InputState | undefined> => {
    const { source } = scanAt(position);
    return source.kind === 'file' ? wholeState(source, urlOf(position), request, signal) : undefined;
  };
  // Each slice reads them: more would take longer than the slice.
  const sides = await sidesOfGroup(group, prepared, request, stateOf, sizes.sideBytes ?? sizes.bytes);
  if (sides === undefined) return undefined;
  const small: SliceScan[] = [];
  const ranges: SliceScan[] = [];
  for (const position of group) {
    const scan = scanAt(position);
    const { source } = scan;
    const found: readonly (KeyRange | ByteSlice)[] =
      source.kind === 'file'
        ? await byteSlicesOf(scan, source, urlOf(position), request, sizes.bytes, signal)
        : databases !== undefined && sizes.rows > 0
          ? await rangesOf(scan, databases, sizes.rows)
          : [];
    if (found.length > 1) ranges.push(...found.map((range) => ({ position, range })));
    else small.push({ position, range: undefined });
  }
  if (ranges.length === 0) return undefined;
  // Rows of tables have no subject in common: `obstaclesOf` has looked.
  const number = group.some((position) => scanAt(position).source.kind === 'file') ? index : undefined;
  const of = { ...(sides.length === 0 ? {} : { sides }), group: number };
  return [...(small.length === 0 ? [] : [small]), ...ranges.map((one) => [one])].map((scans) => ({ scans, ...of }));
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
