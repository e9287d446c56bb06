/** A run that makes a version of a dataset of the rows that are kept, after it has read those that have changed. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../../core/fault.ts';
import { Dataset } from '../../datasets/dataset.ts';
import {
  type DatasetHooks,
  type DatasetPlace,
  type DatasetReport,
  type Finding,
  lockDataset,
  runDataset,
  type WholeOutputs,
} from '../../datasets/run.ts';
import type { SqlSource } from '../../mapping/model/model.ts';
import type { RunHooks, RunRequest } from '../../run/request.ts';
import type { DatabaseAddress, SqlSession } from '../../sql/database.ts';
import { openSession } from '../../sql/drivers/open.ts';
import { makeTemporaryDirectory } from '../../storage/local/directory.ts';
import { ROWS, settle } from '../follow/follower.ts';
import { HeldEvents } from '../follow/held.ts';
import { type FollowedMapping, followedMapping } from '../follow/mapping.ts';
import { FollowedSession } from '../follow/session.ts';
import { KeptRows } from '../follow/state/rows.ts';
import { describedIn, oneDatabase } from '../follow/tables.ts';
import { readChanges } from './feed.ts';
import { POLLED, type PolledReport } from './report.ts';
import { polledTables } from './tables.ts';

const WRONG_QUERY = 'a query beside tables with qms:changedSince cannot be read: its rows have no key';

/**
 * As `runOrPoll`, for a mapping with `qms:changedSince`: the rows that have changed are read into those that the state keeps, and the graph is
 * made of these.
 *
 * **Claim.** A version is the graph of complete reads, and none is lost, at whatever moment the process is killed. **Proof.** Rows are mapped only after a
 * read has ended. The dirty mark shows that a read has written; it goes when the version is there. Its position is written with its end, so
 * a read that was interrupted begins again where it began.
 *
 * @param whole reads all rows of all tables: those that were deleted without a trace go
 * @throws Fault mapping/… — the declaration does not fit the table; database/…; those of `runDataset`
 */
export async function runPolled(
  place: DatasetPlace,
  request: RunRequest,
  hooks: DatasetHooks,
  outputs: WholeOutputs | undefined,
  finding: Finding | undefined,
  whole: boolean,
): Promise<PolledReport> {
  const mapping = await mappingOf(request, hooks.signal);
  const address = oneDatabase(mapping, request);
  const lock = place.isLocked ? undefined : await lockDataset(place);
  let rows: KeptRows | undefined;
  try {
    const dataset = (await Dataset.find(place.files)) ?? (await Dataset.create(place.files, place.name));
    const feed = POLLED + address.name;
    // What reads the changes alone takes the time of these.
    rows = await KeptRows.open(join(place.stateDirectory, ROWS), { dataset: dataset.description.id, feed }, whole);
    await settle(rows, dataset, mapping, {});
    const made = await madeBefore(dataset, request, hooks);
    if (made !== undefined) return made;
    const read = await poll(rows, mapping, address, request, hooks.signal, whole ? undefined : rows.state.position);
    // Who asks for a way, or for the whole graph, has all rows mapped.
    const isAsked = outputs !== undefined || finding?.by !== undefined;
    if (!rows.state.isDirty && mapping.isRepeatable && !isAsked) return { ...(await unchanged(dataset)), rowsRead: read.rows };
    const { state } = rows;
    rows.save({ isDirty: true });
    const kept = rows;
    const report = await runDataset(
      { ...place, isLocked: true },
      request,
      {
        ...hooks,
        openSession: () => read.session(),
        feed: { name: feed, position: state.position ?? {} },
        pending: async (manifest) => kept.save({ pending: manifest }),
      },
      outputs,
      finding,
    );
    rows.save({ pending: undefined, isDirty: false, version: report.version, mappedBy: mapping.digest });
    await rows.removeOld();
    return { ...report, rowsRead: read.rows };
  } finally {
    await rows?.close();
    await lock?.release();
  }
}

/**
 * All rows of the tables as they are now, apart from those that are kept.
 *
 * @returns what a run reads them with; the caller closes it
 */
export async function readWhole(
  request: RunRequest,
  signal: AbortSignal | undefined,
): Promise<{ readonly hooks: Pick<RunHooks, 'openSession'>; close(): Promise<void> }> {
  const mapping = await mappingOf(request, signal);
  const directory = makeTemporaryDirectory('quadmill-');
  let rows: KeptRows | undefined;
  const close = async (): Promise<void> => {
    await rows?.close();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    rows = await KeptRows.open(join(directory, ROWS), { dataset: '-', feed: '-' });
    const { session } = await poll(rows, mapping, oneDatabase(mapping, request), request, signal, undefined);
    return { hooks: { openSession: session }, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const mappingOf = (request: RunRequest, signal: AbortSignal | undefined): Promise<FollowedMapping> =>
  followedMapping(request, signal, WRONG_QUERY);

interface Read {
  readonly rows: number;
  /** What the kept rows are read with. */
  readonly session: () => Promise<SqlSession>;
}

/** Reads into the kept rows what has changed since a position. */
async function poll(
  kept: KeptRows,
  mapping: FollowedMapping,
  address: DatabaseAddress,
  request: RunRequest,
  signal: AbortSignal | undefined,
  from: KeptRows['state']['position'],
): Promise<Read> {
  const [{ connection }] = mapping.sources as readonly [SqlSource];
  const session = await openSession(address, {
    ...request.sql,
    reach: connection === undefined ? undefined : request.reach,
    memoryBytes: request.memoryBudgetBytes,
    spillDirectory: request.spillDirectory,
    ...(signal && { signal }),
  });
  try {
    const described = await describedIn(session, mapping, true);
    const tables = polledTables(mapping, described);
    const held = new HeldEvents();
    const write = (isWhole: boolean): void => {
      const { events, position } = held.takeAll();
      kept.apply(events, { position, isWhole }, (place, reason) => {
        throw new Fault('source/malformed', `${place}: ${reason}`, { place: { input: address.name } });
      });
    };
    let rows = 0;
    for await (const batch of readChanges(session, tables, from)) {
      held.add(batch);
      rows += batch.events.filter(({ kind }) => kind === 'row' || kind === 'delete').length;
      if (held.isFull) write(false);
    }
    write(true);
    // Rows that count as deleted are not kept, so a foreign key does not say that its row is there.
    const withoutKeys = new Map(described.tables.map((one) => [one.name, { ...one, table: { ...one.table, foreignKeys: [] } }]));
    const { product, byParts } = described;
    return {
      rows,
      session: async () =>
        new FollowedSession(product, address.name, kept, [...withoutKeys.values()], (parts) =>
          withoutKeys.get(byParts.get(JSON.stringify(parts))?.name ?? ''),
        ),
    };
  } finally {
    await session.close();
  }
}

/** The version of this run, where an earlier attempt was killed behind it. What came since is of the next run. */
async function madeBefore(dataset: Dataset, { runId }: RunRequest, { isAttempt }: DatasetHooks): Promise<DatasetReport | undefined> {
  if (isAttempt !== true || dataset.current === 0) return undefined;
  const manifest = await dataset.manifest(dataset.current);
  if (manifest.runId !== runId) return undefined;
  const { version, previous: previousVersion, added, removed, statements } = manifest;
  return { name: dataset.description.name, version, previousVersion, added, removed, statements, manifest, report: undefined };
}

async function unchanged(dataset: Dataset): Promise<DatasetReport> {
  const { current: version } = dataset;
  const manifest = await dataset.manifest(version);
  const { statements } = manifest;
  return {
    name: dataset.description.name,
    version,
    previousVersion: version,
    added: 0,
    removed: 0,
    statements,
    manifest,
    report: undefined,
  };
}
