/**
 * Supervises the engine of the embedded store: passes requests to it one at a time, has each write on disk before it is acknowledged, and
 * restarts the engine from disk when it breaks, or when it holds a write that could not be saved.
 *
 * The directory holds `snapshot-N.nq`, `journal-N.log` and the manifest, which names N: the state is the snapshot followed by every record of the
 * journal. Snapshot and journal N + 1 hold the same state; from the moment in which the manifest names them, those of N are left over.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findGeneration, isEmpty, journalPath, keepDamaged, keepTorn, listPath, removeOthers, snapshotPath } from './disk/files.ts';
import { createJournal, type Journal, openJournal } from './disk/journal.ts';
import { MANIFEST, writeManifest } from './disk/manifest.ts';
import { moveIntoPlace } from './disk/sync.ts';
import { type Engine, startEngine } from './engine/thread.ts';
import type { DamageReport, FromEngine, JournalExtent, Manifest, Read, Reason, SnapshotExtent, StoreLimits, Write } from './messages.ts';
import { RequestQueue } from './request-queue.ts';
import { type Reader, StoreFailure, type StoreSupervisor } from './store.ts';

interface ReadTask extends Reader {
  readonly kind: 'read';
  readonly read: Read;
  resolve(body: Uint8Array): void;
  reject(failure: StoreFailure): void;
}

type WriteTask = (
  | { readonly kind: 'snapshot' }
  | { readonly kind: 'write'; readonly write: Write; readonly body: Uint8Array; resolve(done: { readonly created: boolean }): void }
) & { reject(failure: StoreFailure): void };

/** So many queries of one caller may wait. */
const MOST_WAITING = 16;

/**
 * How long a query runs before a write that waits, or a client that has left, interrupts it: about as long as the engine takes to load its state
 * again, which is what an interruption costs.
 */
const LEAST_PATIENCE_MS = 1_000;
const LOADED_BYTES_A_MS = 100_000;

/** A snapshot waits until no request has come for this long… */
const QUIET_MS = 1_000;

/** …or until the journal is this many times its limit. */
const URGENT_FACTOR = 4;

/** What a journal continues. */
interface Base {
  readonly generation: number;
  readonly snapshot: SnapshotExtent | undefined;
  readonly snapshotBytes: number;
}

const SALVAGE_HINT =
  'Restore the directory from a copy, or start once with --salvage: it opens the store with what can be read, lists what cannot, and keeps the damaged files';

type Success = Exclude<FromEngine, { readonly kind: 'failed' }>;

/**
 * @param salvage opens a damaged store with what can be read
 * @throws StoreFailure — the files in the directory cannot be read
 */
export async function openSupervisor(
  directory: string,
  limits: StoreLimits,
  { salvage, warn }: { readonly salvage: boolean; readonly warn: (message: string) => void },
): Promise<StoreSupervisor> {
  const supervisor = new EngineSupervisor(directory, limits, warn);
  // Existing files must be readable. For an empty store the engine starts with the first request, which saves its memory until then.
  if (!(await isEmpty(directory))) await supervisor.open(salvage);
  return supervisor;
}

class EngineSupervisor implements StoreSupervisor {
  quads = 0;
  private readonly directory: string;
  private readonly limits: StoreLimits;
  private readonly warn: (message: string) => void;
  private readonly queue = new RequestQueue<ReadTask, WriteTask>();
  private pumping: Promise<void> | undefined;
  private quietTimer: NodeJS.Timeout | undefined;
  private closed = false;
  private engine: Engine | undefined;
  private journal: Journal | undefined;
  private generation = 0;
  /** Bytes that the journal may reach before a snapshot replaces it. */
  private journalLimit = 0;
  /** Lower bound of `journalLimit`, raised after a snapshot has failed. */
  private leastLimit = 0;
  /** Whether the engine holds a write that is not on disk and must be restarted. */
  private ahead = false;
  /** Of the engine. */
  private memoryBytes = 0;
  /** An engine that goes on with a query, on the state before the writes that another engine carries out. */
  private detached: Engine | undefined;
  /** Looks whether the query that runs is to be interrupted. */
  private considerInterruption: (() => void) | undefined;

  constructor(directory: string, limits: StoreLimits, warn: (message: string) => void) {
    this.directory = directory;
    this.limits = limits;
    this.warn = warn;
  }

  read(read: Read, { caller, signal }: Reader): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const task: ReadTask = { kind: 'read', read, caller, signal, resolve, reject };
      if (this.queue.waitingReads(caller) >= MOST_WAITING) {
        reject(new StoreFailure('busy', `${MOST_WAITING} queries of this caller wait already; ask again when one of them is answered`));
        return;
      }
      signal.addEventListener('abort', () => {
        this.queue.remove(task);
        reject(hasLeft());
      });
      this.submit(task);
    });
  }

  write(write: Write, body: Uint8Array): Promise<{ readonly created: boolean }> {
    return new Promise((resolve, reject) => this.submit({ kind: 'write', write, body, resolve, reject }));
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.quietTimer);
    for (const { reject } of this.queue.drain()) reject(closing());
    await this.pumping;
    await Promise.all([this.engine?.end(), this.detached?.end()]);
    await this.journal?.close();
  }

  /** Loads the state on disk into a new engine. */
  async open(salvage = false): Promise<void> {
    await this.discard();
    const engine = startEngine();
    try {
      await this.load(engine, salvage);
      this.engine = engine;
      this.ahead = false;
    } catch (error) {
      await Promise.all([engine.end(), this.discard(), rm(listPath(this.directory), { force: true })]);
      const hint = error instanceof StoreFailure ? error.hint : undefined;
      throw new StoreFailure('failed', `The store in ${this.directory} cannot be opened: ${(error as Error).message}`, hint);
    }
  }

  private async load(engine: Engine, salvage: boolean): Promise<void> {
    const { directory } = this;
    if (await isEmpty(directory)) return this.begin({ generation: 0, snapshot: undefined, snapshotBytes: 0 });
    const found = await findGeneration(directory);
    const { generation, manifest } = found;
    this.generation = generation;
    const files = { directory, generation, manifest, hadManifest: found.isDamaged, list: salvage ? listPath(directory) : undefined };
    const { quads, memoryBytes, version, snapshot, journal, tornBytes, damage } = await this.ask(engine, { kind: 'open', files }, 'opened');
    [this.quads, this.memoryBytes] = [quads, memoryBytes];
    if (damage !== undefined) {
      const words = damageText(damage, manifest, quads);
      if (!salvage) throw new StoreFailure('failed', words, SALVAGE_HINT);
      const kept = await keepDamaged(directory);
      await this.startGeneration(engine);
      this.warn(
        `The store in ${directory} was damaged: ${words}. The files as they were, and unreadable.ndjson, a list of what cannot be read, are in ${kept}`,
      );
    } else if (version === 1 || journal === undefined) {
      if (tornBytes > 0) this.warn(await keepTorn(journalPath(directory, generation)));
      await this.startGeneration(engine);
    } else {
      const path = journalPath(directory, generation);
      if (manifest === undefined)
        this.warn(
          `${join(directory, MANIFEST)} was missing or damaged and has been made again: whether writes behind the last one that can be read are missing cannot be told`,
        );
      if (tornBytes > 0)
        this.warn(`The last write to ${path} was interrupted before it was acknowledged, and is undone (${tornBytes} bytes)`);
      await this.continue({ generation, snapshot, snapshotBytes: found.snapshotBytes }, journal);
    }
    await removeOthers(directory, this.generation);
  }

  /** Begins a journal behind a snapshot. */
  private async begin(base: Base): Promise<void> {
    await this.continue(base, await createJournal(journalPath(this.directory, base.generation)));
  }

  private async continue({ generation, snapshot, snapshotBytes }: Base, journal: JournalExtent): Promise<void> {
    const manifest = await writeManifest(this.directory, { generation, snapshot, journal });
    this.journal = await openJournal(journalPath(this.directory, generation), journal, manifest);
    this.generation = generation;
    this.journalLimit = Math.max(this.limits.journalBytes, snapshotBytes, this.leastLimit);
  }

  /** Saves what the engine holds as a snapshot of the next generation, with a new journal. */
  private async startGeneration(engine: Engine | undefined): Promise<void> {
    const generation = this.generation + 1;
    const path = snapshotPath(this.directory, generation);
    const { extent, bytes } = await this.ask(engine, { kind: 'snapshot', path: `${path}.tmp` }, 'saved').catch(async (error) => {
      await rm(`${path}.tmp`, { force: true });
      throw error;
    });
    // From here on the old journal may be obsolete: no write may be acknowledged by it.
    this.ahead = true;
    await moveIntoPlace(`${path}.tmp`, path);
    await this.begin({ generation, snapshot: extent, snapshotBytes: bytes });
    this.ahead = false;
  }

  private submit(task: ReadTask | WriteTask): void {
    if (this.closed) task.reject(closing());
    else {
      clearTimeout(this.quietTimer);
      if (task.kind === 'read') this.queue.addRead(task);
      else this.queue.addWrite(task);
      this.considerInterruption?.();
      this.pumping ??= this.pump();
    }
  }

  private async pump(): Promise<void> {
    // Requests of the same tick are in the queue then.
    await Promise.resolve();
    for (let task = this.queue.next(); task !== undefined; task = this.queue.next()) {
      const began = performance.now();
      try {
        if (this.engine === undefined || this.ahead) await this.open();
        if (task.kind === 'read') await this.carryOutRead(task);
        else if (task.kind === 'write') await this.carryOutWrite(task);
        else await this.trySnapshot();
      } catch (error) {
        task.reject(failureOf(error, 'failed', 'The store failed'));
      }
      this.queue.took(task.kind === 'read' ? 'read' : 'write', performance.now() - began);
    }
    this.pumping = undefined;
    if (this.journal === undefined || this.journal.bytes <= this.journalLimit || this.closed) return;
    // A snapshot that fails has already given a warning.
    this.quietTimer = setTimeout(() => this.submit({ kind: 'snapshot', reject: () => undefined }), QUIET_MS);
  }

  /** Resolves when the engine is free, or another one is to take its place. */
  private async carryOutRead(task: ReadTask): Promise<void> {
    const { engine } = this;
    if (engine === undefined || task.signal.aborted) return;
    // It may show a write that is not on disk yet.
    const durable = this.journalOf().flushed();
    durable.catch(() => undefined);
    const answered = this.ask(engine, { kind: 'read', read: task.read }, 'read', this.limits.querySeconds).then(
      ({ body }) =>
        void durable.then(
          () => task.resolve(body),
          (error) => task.reject(this.diskFailure(error)),
        ),
      (error) => task.reject(failureOf(error, 'failed', 'The store failed')),
    );
    const why = await this.interruption(task.signal, answered);
    if (why === undefined) return;
    if (why === 'left') return this.discard();
    if (2 * this.memoryBytes > this.limits.memoryBytes) {
      await engine.end('a write waited for it, and EMBEDDED_MEMORY_MB has no room for a second engine beside it');
      return this.discard();
    }
    await this.detached?.end('a write waited for another query, and one query at a time is kept beside writes');
    this.detached = engine;
    this.engine = undefined;
    const end = (): void => {
      if (this.detached === engine) this.detached = undefined;
      void engine.end();
    };
    task.signal.addEventListener('abort', end);
    void answered.then(end);
  }

  /** Why a query is interrupted; undefined: it is answered. */
  private async interruption(signal: AbortSignal, answered: Promise<void>): Promise<'left' | 'write' | undefined> {
    const until = performance.now() + LEAST_PATIENCE_MS + this.memoryBytes / LOADED_BYTES_A_MS;
    let timer: NodeJS.Timeout | undefined;
    const interrupted = new Promise<'left' | 'write'>((resolve) => {
      const consider = (): void => {
        clearTimeout(timer);
        const waitMs = until - performance.now();
        if (waitMs > 0) timer = setTimeout(consider, waitMs);
        else if (signal.aborted) resolve('left');
        else if (this.queue.hasWrites) resolve('write');
      };
      this.considerInterruption = consider;
      signal.addEventListener('abort', consider);
      consider();
    });
    try {
      return await Promise.race([answered.then(() => undefined), interrupted]);
    } finally {
      clearTimeout(timer);
      this.considerInterruption = undefined;
    }
  }

  private async carryOutWrite(task: Extract<WriteTask, { kind: 'write' }>): Promise<void> {
    const { write, body } = task;
    const seconds = write.kind === 'update' ? this.limits.updateSeconds : 0;
    const { created, repeatable, memoryBytes } = await this.ask(this.engine, { kind: 'write', write, body }, 'written', seconds);
    this.memoryBytes = memoryBytes;
    if (memoryBytes > this.limits.memoryBytes) {
      await this.discard();
      const megabytes = (bytes: number): number => Math.round(bytes / 1e6);
      throw new StoreFailure(
        'memory',
        `it would take ${megabytes(memoryBytes)} MB, ${megabytes(this.limits.memoryBytes)} MB are allowed (EMBEDDED_MEMORY_MB)`,
      );
    }
    if (!repeatable) {
      await this.snapshotNow();
      task.resolve({ created });
      return;
    }
    this.journalOf()
      .append(write, body)
      .then(
        () => task.resolve({ created }),
        (error) => task.reject(this.diskFailure(error)),
      );
    if (this.journalOf().bytes > URGENT_FACTOR * this.journalLimit) await this.trySnapshot();
  }

  /** For a write that would give another result when it is replayed: the state is saved instead of the write. */
  private async snapshotNow(): Promise<void> {
    try {
      await this.snapshot();
    } catch (error) {
      await this.discard();
      throw failureOf(error, 'disk', 'The store could not be saved');
    }
  }

  private async trySnapshot(): Promise<void> {
    const bytes = this.journalOf().bytes;
    try {
      await this.snapshot();
      this.leastLimit = 0;
    } catch (error) {
      // Nothing is lost, the journal has every write. The next attempt costs as much, so it waits until the journal has doubled.
      this.leastLimit = 2 * Math.max(bytes, this.journalLimit);
      this.journalLimit = this.leastLimit;
      this.warn(`No snapshot of the store in ${this.directory} could be made: ${(error as Error).message}`);
    }
  }

  private async snapshot(): Promise<void> {
    const before = this.journalOf();
    await before.flushed();
    await this.startGeneration(this.engine);
    await Promise.all([before.close(), removeOthers(this.directory, this.generation)]).catch((error: Error) => {
      this.warn(`Old files of the store in ${this.directory} could not be removed: ${error.message}`);
    });
  }

  /** @throws StoreFailure — the engine refused the request, took too long, or broke; a broken engine is discarded */
  private async ask<K extends Success['kind']>(
    engine: Engine | undefined,
    message: Parameters<Engine['ask']>[0],
    kind: K,
    limitSeconds = 0,
  ): Promise<Extract<Success, { readonly kind: K }>> {
    if (engine === undefined) throw new StoreFailure('failed', 'The store has no engine');
    const answer = await engine.ask(message, limitSeconds);
    if (answer.kind === kind) return answer as Extract<Success, { readonly kind: K }>;
    if (answer.kind !== 'failed') throw new StoreFailure('failed', `The engine answered ${message.kind} by ${answer.kind}`);
    if (answer.broken && engine === this.engine) await this.discard();
    throw new StoreFailure(answer.reason, answer.message);
  }

  /** Ends the engine. Every acknowledged write is on disk; anything else it held is lost. */
  private async discard(): Promise<void> {
    const { engine, journal } = this;
    this.engine = undefined;
    this.journal = undefined;
    await engine?.end();
    await journal
      ?.close()
      .catch((error: Error) => this.warn(`The end of the journal in ${this.directory} could not be cut off: ${error.message}`));
  }

  private journalOf(): Journal {
    if (this.journal === undefined) throw new StoreFailure('failed', 'The store has no journal');
    return this.journal;
  }

  private diskFailure(error: unknown): StoreFailure {
    this.ahead = true;
    return failureOf(error, 'disk', 'The write was undone');
  }
}

/** How much is affected, and where. */
function damageText({ places, more, records, statements }: DamageReport, manifest: Manifest | undefined, quads: number): string {
  const number = (value: number): string => value.toLocaleString('en');
  const of = manifest === undefined ? '' : ` of ${number(manifest.journal.records)}`;
  const lost = [
    ...(records > 0 ? [`${number(records)}${of} acknowledged writes since the last snapshot`] : []),
    ...(statements > 0 ? [`at least ${number(statements)} statements`] : []),
  ];
  const none =
    manifest === undefined
      ? `how many acknowledged writes are missing cannot be told, since ${MANIFEST} is missing or damaged`
      : 'no acknowledged statement is missing, but files are damaged';
  const what = lost.length === 0 ? none : `${lost.join(', with ')} cannot be read`;
  return `${what}; ${number(quads)} statements can be read. ${places.join('; ')}${more > 0 ? `; and ${number(more)} more` : ''}`;
}

const hasLeft = (): StoreFailure => new StoreFailure('failed', 'The client has left');
const closing = (): StoreFailure => new StoreFailure('failed', 'The store is closing');

function failureOf(error: unknown, reason: Reason, what: string): StoreFailure {
  if (error instanceof StoreFailure) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  return new StoreFailure(code === 'ENOSPC' || code === 'EDQUOT' ? 'disk' : reason, `${what}: ${message}`);
}
