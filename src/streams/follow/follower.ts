/**
 * Follows a feed of changes: keeps the rows of its tables, and makes a version of a dataset after each epoch.
 *
 * An epoch: the changes of some batches are written with the position behind them, in one transaction of the rows; the rows that have changed are compared
 * with those of the newest version (`row-units.ts`), or all rows are mapped and the graph is compared; the files of a version become durable, then the rows
 * name it as pending, then its manifest appears.
 *
 * **Claim.** No change is lost or made twice, at whatever moment the process is killed. **Proof.** Rows and position are written together, so the feed goes
 * on behind what the rows have. A version is what tells the graph of the rows from that of the version before, whatever epochs they are of: where it
 * is not made, the rows stay dirty, and the next start makes it. A version that is pending has all its files. So it is published at the start, once: its
 * manifest is new, or there with the id of its run.
 *
 * What an epoch by record knows of the version before is written with the rows: what a row was is noted in the transaction that changes it, and forgotten in
 * the one that names the version as pending, together with the entries of rows that have gone. So the changes of a version that is not made are found
 * again. The index says of which version it is, by the id of its run. If that is not the newest one, as where a pending version could not be
 * published, the next version is made by output. Entries that were written for a version that is not made are of rows that are there, or of ids that no
 * row has.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { LinkedAbort } from '../../core/abort.ts';
import { Fault } from '../../core/fault.ts';
import { Dataset } from '../../datasets/dataset.ts';
import type { ChangesBy, DatasetDescription, Manifest } from '../../datasets/manifest.ts';
import { retainVersions } from '../../datasets/retention.ts';
import { type DatasetPlace, type DatasetReport, lockDataset, publishPending, runDataset } from '../../datasets/run.ts';
import type { RunHooks, RunRequest } from '../../run/request.ts';
import type { ChangeFeed, FeedLag, FeedPosition, RejectedMessage } from '../events.ts';
import { HeldEvents } from './held.ts';
import { type FollowedMapping, followedMapping } from './mapping.ts';
import { RowReading } from './reading.ts';
import { KeptRowUnits } from './row-units.ts';
import { MOST_NOTED } from './state/row-index.ts';
import { KeptRows } from './state/rows.ts';
import type { FollowedTables } from './tables.ts';
import { topicsOf } from './topics.ts';

/** Where changes come from. */
export interface FeedSource {
  tables(mapping: FollowedMapping, request: RunRequest, signal: AbortSignal | undefined): Promise<FollowedTables>;
  /** @param warn takes what the user should know */
  open(tables: FollowedTables, dataset: DatasetDescription, warn: (text: string) => void): Promise<ChangeFeed>;
}

export interface FollowOptions {
  readonly place: DatasetPlace;
  readonly request: Omit<RunRequest, 'runId'>;
  readonly source: FeedSource;
  /** An epoch ends so long after its first change, */
  readonly epochSeconds: number;
  /** or with so many changes. */
  readonly epochRecords: number;
  /** Ends when the feed has been read to the end that it had at the start. */
  readonly untilCaughtUp: boolean;
  /** Before a feed that is lost is asked again; twice as long each time. Default 1000. */
  readonly firstWaitMs?: number;
  /** undefined: by record where that can be. */
  readonly changesBy?: ChangesBy | undefined;
  /** Entries of the index of rows that are written together. Default 100,000. */
  readonly indexEntries?: number;
  /** How many versions stay, as RETAIN_VERSIONS asks for it; 0: all. */
  readonly retain: number;
  /** Whether a lease sees to it that one process follows: an owner of the dataset on another machine that gives no sign of life has ended then. */
  readonly isLeased?: boolean;
}

export interface EpochReport {
  readonly made: DatasetReport;
  /** Changes of rows since the version before. */
  readonly changes: number;
  readonly lag: FeedLag & {
    /** Since the last change was made; undefined: it is not known when. */
    readonly seconds: number | undefined;
  };
}

/** How far a follower is. */
export interface FollowProgress {
  /** Address of the feed, without a login. */
  readonly feed: string;
  /** Of the rows; undefined: nothing was read. */
  readonly position: FeedPosition | undefined;
  /** Epochs since the start of the follower. */
  readonly epochs: number;
  readonly lag: FeedLag & {
    /** For how long the newest version has not been that of the end of the feed, at most; 0: it is that. */
    readonly seconds: number;
  };
}

export interface FollowHooks {
  /** Ends the follower: after the epoch, if that can end, and else with what is written of it. */
  readonly stop: AbortSignal;
  /** Called with the newest version, if there is one, before the feed is read. The follower waits for it. */
  readonly begun?: (newest: DatasetReport) => Promise<void>;
  /** Called where rows were mapped. The follower waits for it, and reads nothing meanwhile. */
  readonly epoch?: (report: EpochReport) => void | Promise<void>;
  /** Called before the manifest of a version appears. Throws if it must not: the follower ends, or asks again after a while if the fault is retriable. */
  readonly confirm?: () => Promise<void>;
  /** Called after each epoch, and every `PROGRESS_MS`. */
  readonly progress?: (progress: FollowProgress) => void;
  /** Called before the rows are mapped. @returns what takes the rows that are rejected then; see `RunHooks` */
  readonly rejecting?: () => NonNullable<RunHooks['reject']>;
  /** A message that is no change, or a change that cannot be made. Under `strict` the follower ends in place of that. The follower waits for it. */
  readonly rejected?: (message: RejectedMessage) => void | Promise<void>;
  /** The feed is lost, and is asked again. */
  readonly retry?: (fault: Fault, waitMs: number) => void;
  readonly warn?: (text: string) => void;
}

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60_000;
/** That are remembered. */
const MOST_WARNINGS = 1000;
const PROGRESS_MS = 5_000;
/** Of the rows, in the state directory. */
export const ROWS = 'rows';

/**
 * Follows until it is stopped, or caught up.
 *
 * @throws Fault service/unavailable — another process writes the dataset; mapping/… — the mapping cannot be followed; source/malformed — a message that
 * is no change, under `strict`; those of `runDataset` and of the feed that a retry does not help
 */
export async function follow(options: FollowOptions, hooks: FollowHooks): Promise<void> {
  const { place, source } = options;
  const request: RunRequest = { ...options.request, runId: '' };
  const lock = await lockDataset(place, options.isLeased);
  let rows: KeptRows | undefined;
  let feed: ChangeFeed | undefined;
  try {
    const mapping = await followedMapping(request, hooks.stop);
    const tables = await source.tables(mapping, request, hooks.stop);
    const dataset = (await Dataset.find(place.files)) ?? (await Dataset.create(place.files, place.name));
    rows = await KeptRows.open(join(place.stateDirectory, ROWS), { dataset: dataset.description.id, feed: tables.name });
    if (rows.state.position === undefined && dataset.current > 0)
      hooks.warn?.(
        `The rows of ${tables.name} are not in ${place.stateDirectory}: everything is read again, and the next version has what differs`,
      );
    await settle(rows, dataset, mapping, hooks);
    const { position } = rows.state;
    if (position !== undefined && tables.begin !== undefined) rows.save({ position: tables.begin(position, rows) });
    feed = await source.open(tables, dataset.description, (text) => hooks.warn?.(text));
    await new Follower(options, hooks, mapping, tables, rows, feed).run();
  } catch (error) {
    if (!hooks.stop.aborted || (error instanceof Fault && error.code !== 'run/cancelled')) throw error;
  } finally {
    await feed?.close();
    await rows?.close();
    await lock.release();
  }
}

/** What a process that was killed has left: a version that is pending, or rows of which none was made. */
export async function settle(
  rows: KeptRows,
  dataset: Dataset,
  mapping: FollowedMapping,
  { confirm, begun }: Pick<FollowHooks, 'confirm' | 'begun'>,
): Promise<void> {
  const { pending } = rows.state;
  if (pending !== undefined) {
    await confirm?.();
    const isThere = await publishPending(dataset, pending);
    rows.save({ pending: undefined, ...(isThere ? { isDirty: false, version: pending.version } : {}) });
  }
  const { version, mappedBy } = rows.state;
  // Another mapping, or a dataset that was restored from a copy.
  if (version !== dataset.current || mappedBy !== mapping.digest) rows.save({ isDirty: true });
  if (dataset.current > 0) await begun?.(reportOf(dataset.description, await dataset.manifest(dataset.current)));
}

/** Of a version that was made. */
const reportOf = ({ name }: DatasetDescription, manifest: Manifest): DatasetReport => {
  const { version, previous: previousVersion, added, removed, statements } = manifest;
  return { name, version, previousVersion, added, removed, statements, manifest, report: undefined };
};

class Follower {
  readonly #options: FollowOptions;
  readonly #hooks: FollowHooks;
  readonly #mapping: FollowedMapping;
  readonly #tables: FollowedTables;
  readonly #rows: KeptRows;
  readonly #reading: RowReading;
  readonly #units: KeptRowUnits;
  readonly #feed: ChangeFeed;
  readonly #held = new HeldEvents();
  readonly #warned = new Set<string>();
  /** Events and changes of rows since the last version. */
  #events = 0;
  #changes = 0;
  #changedAt: number | undefined;
  #epochs = 0;
  /** When the newest version was that of the end of the feed, last; in milliseconds since 1970. */
  #currentAt = Date.now();
  #waitMs: number;

  constructor(
    options: FollowOptions,
    hooks: FollowHooks,
    mapping: FollowedMapping,
    tables: FollowedTables,
    rows: KeptRows,
    feed: ChangeFeed,
  ) {
    this.#options = options;
    this.#waitMs = options.firstWaitMs ?? FIRST_WAIT_MS;
    this.#hooks = hooks;
    this.#mapping = mapping;
    this.#tables = tables;
    this.#rows = rows;
    rows.index.mostNoted = options.indexEntries ?? MOST_NOTED;
    this.#reading = new RowReading(rows);
    this.#units = new KeptRowUnits(rows, this.#reading, tables.tables, options.request.memoryBudgetBytes);
    this.#feed = feed;
  }

  async run(): Promise<void> {
    const timer = setInterval(() => void this.#tellProgress(), PROGRESS_MS);
    try {
      await this.#follow();
    } finally {
      clearInterval(timer);
    }
  }

  async #follow(): Promise<void> {
    const { stop } = this.#hooks;
    let reached: Reached | undefined;
    while (!stop.aborted) {
      try {
        reached ??= await this.#feed.end(this.#rows.state.position);
        if (await this.#read(reached)) return;
        break;
      } catch (error) {
        if (stop.aborted) break;
        const fault = Fault.of(error);
        if (!fault.retriable) throw error;
        this.#held.clear();
        this.#hooks.retry?.(fault, this.#waitMs);
        await this.#wait(undefined, this.#waitMs);
        this.#waitMs = Math.min(LONGEST_WAIT_MS, 2 * this.#waitMs);
      }
    }
    // What was read by then.
    const { isWhole, position } = this.#rows.state;
    if (isWhole && this.#held.isClean && (reached?.(this.#held.position ?? position ?? {}) ?? false)) await this.#endEpoch(false);
    else await this.#write(this.#held.takeAll());
  }

  /** Reads the feed until it is lost or the follower stops. @returns whether it was to end where it has caught up, and has */
  async #read(reached: Reached): Promise<boolean> {
    const { stop } = this.#hooks;
    const { epochSeconds, epochRecords, untilCaughtUp } = this.#options;
    const abort = new LinkedAbort([stop]);
    const { position } = this.#rows.state;
    const batches = this.#feed.batches(position, abort.signal)[Symbol.asyncIterator]();
    const next = new Ahead(() => batches.next());
    // The rows of a beginning, or of a start, are one epoch, however long it takes to read them.
    let isCatchingUp = !reached(position ?? {});
    let isFirst = true;
    try {
      while (!stop.aborted) {
        if (!isCatchingUp && (isFirst || this.#isDue())) {
          await this.#endEpoch(untilCaughtUp);
          isFirst = false;
        }
        if (untilCaughtUp && !isCatchingUp) return true;
        next.ask();
        const { since } = this.#held;
        const isOpen = since === undefined || isCatchingUp || !this.#held.isClean;
        await this.#wait(next.arrival, isOpen ? undefined : Math.max(0, since + epochSeconds * 1000 - performance.now()));
        const batch = next.take();
        if (batch === undefined) continue;
        if (batch.done === true) {
          if (stop.aborted) break;
          throw new Fault('source/unreadable', `${this.#feed.name} has ended, and a feed of changes has no end`);
        }
        for (const message of batch.value.rejected ?? []) await this.#reject(message);
        for (const warning of batch.value.warnings ?? []) this.#warn(warning);
        this.#held.add(batch.value);
        this.#events += batch.value.events.length;
        if (this.#held.isFull) await this.#write(this.#held.takeAll());
        if (isCatchingUp) isCatchingUp = !reached(batch.value.position);
        else if (this.#events >= epochRecords) this.#isFull = true;
      }
      return false;
    } finally {
      abort.abort();
      await batches.return?.().catch(() => undefined);
    }
  }

  #isFull = false;

  #isDue(): boolean {
    const { since, isClean } = this.#held;
    if (!isClean) return false;
    if (this.#isFull) return true;
    return since !== undefined && performance.now() - since >= this.#options.epochSeconds * 1000;
  }

  /** @param all also of a transaction that is open */
  async #endEpoch(all: boolean): Promise<void> {
    const open = this.#held.transaction;
    if (open !== undefined && all)
      this.#warn(`The transaction ${open} has no end where ${this.#feed.name} ended at the start: what was read of it counts`);
    this.#changedAt = this.#held.changedAt ?? this.#changedAt;
    await this.#write(all ? this.#held.takeAll() : this.#held.takeClean(), true);
    this.#isFull = false;
    if (this.#rows.state.isDirty) await this.#makeVersion();
    this.#events = 0;
    const { position } = this.#rows.state;
    if (position !== undefined) await this.#feed.confirm(position);
    await this.#rows.removeOld();
    this.#epochs++;
    await this.#tellProgress();
  }

  /** @param isWhole whether the rows are those of an end of the feed, or later */
  async #write({ events, position }: ReturnType<HeldEvents['takeAll']>, isWhole = this.#rows.state.isWhole): Promise<void> {
    if (events.length === 0 && position === undefined && isWhole === this.#rows.state.isWhole) return;
    const part = { ...(position === undefined ? {} : { position }), isWhole };
    const rejected: RejectedMessage[] = [];
    this.#changes += this.#rows.apply(events, part, (place, reason) => {
      this.#refuse({ place, reason });
      rejected.push({ place, reason });
    });
    // The feed and the disk both work.
    this.#waitMs = this.#options.firstWaitMs ?? FIRST_WAIT_MS;
    for (const message of rejected) await this.#hooks.rejected?.(message);
  }

  async #tellProgress(): Promise<void> {
    const { progress } = this.#hooks;
    if (progress === undefined) return;
    const now = Date.now();
    const { position } = this.#rows.state;
    // A feed that is lost is asked again by those who read it.
    const asked = await Promise.all([this.#feed.lag(position ?? {}), this.#feed.end(position)]).catch(() => undefined);
    const isCurrent = asked?.[1](position ?? {}) === true && !this.#rows.state.isDirty;
    if (isCurrent) this.#currentAt = now;
    const since = Math.max(this.#currentAt, this.#changedAt ?? 0);
    progress({
      feed: this.#tables.name,
      position,
      epochs: this.#epochs,
      lag: { ...(asked?.[0] ?? { messages: undefined, bytes: undefined }), seconds: isCurrent ? 0 : Math.max(0, now - since) / 1000 },
    });
  }

  async #makeVersion(): Promise<void> {
    const { place, request, retain } = this.#options;
    const rows = this.#rows;
    const runId = randomBytes(6).toString('hex');
    const units = this.#units;
    const made = await runDataset(
      { ...place, isLocked: true },
      { ...request, runId },
      {
        openSession: () => this.#tables.session(this.#reading, undefined),
        openTopic: topicsOf(this.#reading),
        ...(this.#hooks.rejecting === undefined ? {} : { reject: this.#hooks.rejecting() }),
        ...(this.#hooks.confirm === undefined ? {} : { confirm: this.#hooks.confirm }),
        feed: { name: this.#tables.name, position: rows.state.position ?? {} },
        pending: async (manifest) => rows.save(() => ({ pending: manifest, ...units.commit(manifest) })),
      },
      undefined,
      { by: this.#options.changesBy, keeper: units },
    );
    const { version } = made;
    rows.save(() => ({ pending: undefined, isDirty: false, version, mappedBy: this.#mapping.digest, ...units.commit(made.manifest) }));
    for (const warning of made.report?.warnings ?? []) this.#warn(warning);
    await retainVersions({ ...place, isLocked: true }, retain, {
      directory: join(place.stateDirectory, 'folding'),
      memoryBudgetBytes: request.memoryBudgetBytes,
    });
    const seconds = this.#changedAt === undefined ? undefined : Math.max(0, Date.now() - this.#changedAt) / 1000;
    const lag = await this.#feed.lag(rows.state.position ?? {});
    await this.#hooks.epoch?.({ made, changes: this.#changes, lag: { ...lag, seconds } });
    this.#changes = 0;
  }

  async #reject(message: RejectedMessage): Promise<void> {
    this.#refuse(message);
    await this.#hooks.rejected?.(message);
  }

  /** @throws Fault source/malformed — under `strict` */
  #refuse(message: RejectedMessage): void {
    if (this.#mapping.policy === 'strict')
      throw new Fault('source/malformed', `${message.place}: ${message.reason}`, {
        place: { input: this.#feed.name },
        hint: '--on-error skip (ON_ERROR) leaves such messages out, and quarantine keeps them in a file',
      });
  }

  /** Each once. */
  #warn(text: string): void {
    if (this.#warned.has(text)) return;
    if (this.#warned.size >= MOST_WARNINGS) this.#warned.clear();
    this.#warned.add(text);
    this.#hooks.warn?.(text);
  }

  /** Until something comes, the time is over, or the follower stops. */
  #wait(arrival: Promise<unknown> | undefined, ms: number | undefined): Promise<void> {
    const { stop } = this.#hooks;
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(() => done(), ms);
      const done = (): void => {
        clearTimeout(timer);
        stop.removeEventListener('abort', done);
        resolve();
      };
      if (stop.aborted) done();
      else stop.addEventListener('abort', done);
      void arrival?.then(done);
    });
  }
}

type Reached = Awaited<ReturnType<ChangeFeed['end']>>;

/** The next item of an iterator, which is asked for once. */
class Ahead<T> {
  readonly #next: () => Promise<T>;
  /** Settles when the item that was asked for is there, or has failed. Never rejects. */
  arrival: Promise<void> | undefined;
  #result: { readonly item: T } | { readonly error: unknown } | undefined;

  constructor(next: () => Promise<T>) {
    this.#next = next;
  }

  ask(): void {
    this.arrival ??= this.#next().then(
      (item) => void (this.#result = { item }),
      (error: unknown) => void (this.#result = { error }),
    );
  }

  /** undefined: it is not there. Throws as the iterator did. */
  take(): T | undefined {
    const result = this.#result;
    if (result === undefined) return undefined;
    this.#result = undefined;
    this.arrival = undefined;
    if ('error' in result) throw result.error;
    return result.item;
  }
}
