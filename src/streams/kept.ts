/** What a follower has left, for other commands: its rows, and what it has made on servers. */
import { existsSync } from 'node:fs';
import { rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../core/fault.ts';
import { Dataset } from '../datasets/dataset.ts';
import { type DatasetDescription, DESCRIPTION, VERSIONS } from '../datasets/manifest.ts';
import { type DatasetPlace, lockDataset } from '../datasets/run.ts';
import { type RunRest, runOf } from '../datasets/verify.ts';
import type { KafkaSecurity } from '../kafka/client.ts';
import type { DatabaseAccess, RunHooks, RunRequest, SqlLimits } from '../run/request.ts';
import { parseJdbcUrl } from '../sql/jdbc/jdbc.ts';
import { brokersIn, databaseFeed, databaseOptions, groupOf } from './feeds.ts';
import { ROWS } from './follow/follower.ts';
import { followedMapping } from './follow/mapping.ts';
import { KeptRows } from './follow/state/rows.ts';
import { tablesOfTopics } from './follow/tables.ts';
import { topicsOf } from './follow/topics.ts';
import { readWhole } from './polling/poll.ts';
import { isPolled } from './polling/report.ts';
import { BETWEEN } from './several.ts';

/** Of feeds that are topics. */
const isTopics = (feed: string): boolean => feed.startsWith('kafka:');

export interface RowsOfDataset {
  /** Whether they have changes that the newest version has not. */
  readonly isNewer: boolean;
  /** With which a run reads them. */
  readonly hooks: Pick<RunHooks, 'openSession' | 'openTopic'>;
  close(): Promise<void>;
}

/**
 * The rows of which a follower made the newest version; where runs make it of the rows that have changed (`qms:changedSince`), all rows of the tables as
 * they are now. A follower must not run. The caller closes them.
 *
 * @param request, database as in `verifyDataset`
 * @returns undefined: a run made the version
 * @throws Fault source/missing — they are lost; those of the mapping and of the database
 */
export async function openRowsOf(
  place: DatasetPlace,
  rest: RunRest,
  database: DatabaseAccess | undefined,
  signal: AbortSignal | undefined,
): Promise<RowsOfDataset | undefined> {
  const dataset = await Dataset.open(place.files);
  if (dataset.current === 0) return undefined;
  const { feed, run } = await dataset.manifest(dataset.current);
  if (feed === undefined) return undefined;
  const request: RunRequest = runOf(run, rest, database);
  if (isPolled(feed.name)) return { isNewer: false, ...(await readWhole(request, signal)) };
  const mapping = await followedMapping(request, signal);
  const hasLog = mapping.sources.length > 0 && !isTopics(feed.name);
  const tables = hasLog ? await databaseFeed().tables(mapping, request, signal) : tablesOfTopics(mapping, request, feed.name);
  const lock = await lockDataset(place);
  const rows = await KeptRows.open(join(place.stateDirectory, ROWS), undefined).finally(() => lock.release());
  const hooks = { openSession: () => tables.session(rows, signal), openTopic: topicsOf(rows) };
  return { isNewer: rows.state.isDirty, hooks, close: () => rows.close() };
}

/**
 * Removes a dataset with its state, the slot and publication that a follower has made in PostgreSQL, and its consumer groups. Can be repeated where it was
 * interrupted.
 *
 * @param database login, and address if the follower was given none; undefined: the address of the follower, without a password
 * @param security of brokers
 * @returns `left`: what stays on brokers, and why
 * @throws Fault source/missing — there is no dataset; service/unavailable — another process writes it; database/… — the server is asked first
 */
export async function removeDataset(
  place: DatasetPlace,
  database: DatabaseAccess | undefined,
  sql: SqlLimits,
  security: KafkaSecurity | undefined,
): Promise<{ readonly name: string; readonly version: number; readonly left: readonly string[] }> {
  const { files, stateDirectory } = place;
  const dataset = await Dataset.open(files);
  const lock = await lockDataset(place);
  const left: string[] = [];
  try {
    const feeds = (await feedOf(dataset, stateDirectory))?.split(BETWEEN) ?? [];
    for (const feed of feeds) {
      if (feed.startsWith('jdbc:postgresql:')) await removeFromServer(feed, dataset.description, database, sql, files.directory);
      if (isTopics(feed)) left.push(...(await removeFromBrokers(brokersIn(feed), dataset.description, security)));
    }
    const names = (await files.list(VERSIONS)).map((name) => `${VERSIONS}/${name}`);
    await files.remove(names);
    await files.remove([DESCRIPTION]);
  } finally {
    await lock.release();
  }
  await rm(stateDirectory, { recursive: true, force: true });
  if (files.directory !== undefined) {
    await rm(join(files.directory, VERSIONS), { recursive: true, force: true });
    // Files of others stay.
    await rmdir(files.directory).catch(() => undefined);
  }
  return { name: dataset.description.name, version: dataset.versions.length, left };
}

/** undefined: there was no follower. */
async function feedOf(dataset: Dataset, stateDirectory: string): Promise<string | undefined> {
  if (dataset.current > 0) {
    const { feed } = await dataset.manifest(dataset.current);
    if (feed !== undefined) return feed.name;
  }
  const directory = join(stateDirectory, ROWS);
  if (!existsSync(directory)) return undefined;
  const rows = await KeptRows.open(directory, undefined);
  const { feed } = rows.state;
  await rows.close();
  return feed;
}

/** A group without members costs the brokers little, and they forget its offsets: it does not keep the dataset. */
async function removeFromBrokers(
  brokers: readonly string[],
  { id }: DatasetDescription,
  security: KafkaSecurity | undefined,
): Promise<readonly string[]> {
  const group = groupOf(id);
  const { removeGroup } = await import('./kafka/feed.ts');
  try {
    await removeGroup(brokers, security, group);
    return [];
  } catch (error) {
    return [
      `The consumer group ${group} stays at ${brokers.join(', ')}: ${Fault.of(error).message}. kafka-consumer-groups --delete --group ${group} removes it`,
    ];
  }
}

async function removeFromServer(
  feed: string,
  description: DatasetDescription,
  database: DatabaseAccess | undefined,
  sql: SqlLimits,
  directory: string | undefined,
): Promise<void> {
  const address = parseJdbcUrl({ url: database?.jdbcUrl ?? feed, user: database?.user, password: database?.password, directory: '/' });
  if (address.name !== feed)
    throw new Fault('config/invalid', `The dataset follows ${feed}, and JDBC_URL (--jdbc-url) is ${address.name}`, {
      hint: 'Give the address of the database that was followed',
    });
  const { removePostgresqlFeed } = await import('./postgresql/feed.ts');
  const options = databaseOptions(address, { sql, reach: undefined }, { tables: new Map() }, description);
  try {
    await removePostgresqlFeed(options);
  } catch (error) {
    const fault = Fault.of(error);
    throw fault.with({
      hint: [
        database === undefined ? 'Give the login with --jdbc-url, --db-user and --db-password-file (JDBC_URL, DB_USER, DB_PASSWORD).' : '',
        `The slot keeps the log of the server until it is dropped: SELECT pg_drop_replication_slot('${options.slot}'); DROP PUBLICATION IF EXISTS ${options.publication}.`,
        directory === undefined ? '' : `If the server is gone for good, remove the directory ${directory}.`,
        fault.hint ?? '',
      ]
        .filter((part) => part !== '')
        .join(' '),
    });
  }
}
