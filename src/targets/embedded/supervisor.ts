/**
 * Keeps the embedded store: hands requests to the engine one after the other, has each write on the disk before it is acknowledged, and
 * starts another engine from the disk when one broke or has taken what the disk did not.
 *
 * The directory has `snapshot-N.nq` and `journal-N.log`: the state is the snapshot and then every record of the journal. A snapshot
 * N + 1 appears by rename, and from then on journal N means nothing.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cutTail, isEmpty, moveIntoPlace, openGeneration, removeOthers } from './disk/files.ts';
import { type Journal, openJournal } from './disk/journal.ts';
import { type Engine, startEngine } from './engine/thread.ts';
import type { FromEngine, Read, Reason, StoreLimits, Write } from './messages.ts';

/** Why a request was not carried out. The store is as if it had never been made. */
export class StoreFailure extends Error {
  readonly reason: Reason;

  constructor(reason: Reason, message: string) {
    super(message);
    this.reason = reason;
  }
}

export interface Keeper {
  /** Statements when it was opened. */
  readonly quads: number;
  /** UTF-8, of things that are on the disk. @throws StoreFailure */
  read(read: Read): Promise<Uint8Array>;
  /** Resolves when it is on the disk; says whether there is a new graph. @throws StoreFailure */
  write(write: Write, body: Uint8Array): Promise<{ readonly created: boolean }>;
  /** Requests that have not begun fail. */
  close(): Promise<void>;
}

type Task = (
  | { readonly kind: 'save' }
  | { readonly kind: 'read'; readonly read: Read; resolve(body: Uint8Array): void }
  | { readonly kind: 'write'; readonly write: Write; readonly body: Uint8Array; resolve(done: { readonly created: boolean }): void }
) & { reject(failure: StoreFailure): void };

/** While requests come, the journal may grow to so many times its limit; a snapshot waits for a quiet moment. */
const PATIENCE = 4;
const QUIET_MS = 1_000;

type Done = Exclude<FromEngine, { readonly kind: 'failed' }>;

/** @throws StoreFailure — what is in the directory cannot be read */
export async function openKeeper(directory: string, limits: StoreLimits, warn: (message: string) => void): Promise<Keeper> {
  const keeper = new StoreKeeper(directory, limits, warn);
  // What is there must be readable; of nothing, the engine that holds it begins with the first request.
  if (!(await isEmpty(directory))) await keeper.open();
  return keeper;
}

class StoreKeeper implements Keeper {
  quads = 0;
  private readonly directory: string;
  private readonly limits: StoreLimits;
  private readonly warn: (message: string) => void;
  private readonly queue: Task[] = [];
  private pumping: Promise<void> | undefined;
  private quiet: NodeJS.Timeout | undefined;
  private closed = false;
  private engine: Engine | undefined;
  private journal: Journal | undefined;
  private generation = 0;
  /** What the journal may grow to before a snapshot takes its place. */
  private journalLimit = 0;
  /** At least so much, since a snapshot could not be made before. */
  private leastLimit = 0;
  /** Whether the engine has what the disk does not. */
  private lost = false;

  constructor(directory: string, limits: StoreLimits, warn: (message: string) => void) {
    this.directory = directory;
    this.limits = limits;
    this.warn = warn;
  }

  read(read: Read): Promise<Uint8Array> {
    return new Promise((resolve, reject) => this.submit({ kind: 'read', read, resolve, reject }));
  }

  write(write: Write, body: Uint8Array): Promise<{ readonly created: boolean }> {
    return new Promise((resolve, reject) => this.submit({ kind: 'write', write, body, resolve, reject }));
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.quiet);
    for (const { reject } of this.queue.splice(0)) reject(CLOSING());
    await this.pumping;
    await this.engine?.end();
    await this.journal?.close();
  }

  /** Brings the state of the disk into a new engine. */
  async open(): Promise<void> {
    await this.discard();
    const found = await openGeneration(this.directory);
    const engine = startEngine();
    try {
      const opened = await this.ask(engine, { kind: 'open', snapshot: found.snapshot, journal: found.journal }, 'opened');
      const end = opened.journal ?? { bytes: 0, torn: false };
      const path = join(this.directory, `journal-${found.generation}.log`);
      if (end.torn) this.warn(await cutTail(path, end.bytes));
      this.journal = await openJournal(path, end.bytes);
      this.quads = opened.quads;
      this.generation = found.generation;
      this.journalLimit = Math.max(this.limits.journalBytes, found.snapshotBytes, this.leastLimit);
      this.engine = engine;
      this.lost = false;
    } catch (error) {
      await engine.end();
      throw new StoreFailure('failed', `The store in ${this.directory} cannot be opened: ${(error as Error).message}`);
    }
  }

  private submit(task: Task): void {
    if (this.closed) task.reject(CLOSING());
    else {
      clearTimeout(this.quiet);
      this.queue.push(task);
      this.pumping ??= this.pump();
    }
  }

  private async pump(): Promise<void> {
    for (let task = this.queue.shift(); task !== undefined; task = this.queue.shift()) {
      try {
        if (this.engine === undefined || this.lost) await this.open();
        if (task.kind === 'read') await this.carryOutRead(task);
        else if (task.kind === 'write') await this.carryOutWrite(task);
        else await this.saveSometime();
      } catch (error) {
        task.reject(failureOf(error, 'failed', 'The store failed'));
      }
    }
    this.pumping = undefined;
    if (this.journal === undefined || this.journal.bytes <= this.journalLimit || this.closed) return;
    // Its failure is a warning already.
    this.quiet = setTimeout(() => this.submit({ kind: 'save', reject: () => undefined }), QUIET_MS);
  }

  private async carryOutRead(task: Extract<Task, { kind: 'read' }>): Promise<void> {
    const { body } = await this.ask(this.engine, { kind: 'read', read: task.read }, 'read', this.limits.querySeconds);
    // It may have seen a write that is not on the disk yet.
    this.journalOf()
      .flushed()
      .then(
        () => task.resolve(body),
        (error) => task.reject(this.diskFailure(error)),
      );
  }

  private async carryOutWrite(task: Extract<Task, { kind: 'write' }>): Promise<void> {
    const { write, body } = task;
    const seconds = write.kind === 'update' ? this.limits.updateSeconds : 0;
    const { created, repeatable, memoryBytes } = await this.ask(this.engine, { kind: 'write', write, body }, 'written', seconds);
    if (memoryBytes > this.limits.memoryBytes) {
      await this.discard();
      const megabytes = (bytes: number): number => Math.round(bytes / 1e6);
      throw new StoreFailure(
        'memory',
        `it would take ${megabytes(memoryBytes)} MB, ${megabytes(this.limits.memoryBytes)} MB are allowed (EMBEDDED_MEMORY_MB)`,
      );
    }
    if (!repeatable) {
      await this.saveNow();
      task.resolve({ created });
      return;
    }
    this.journalOf()
      .append(write, body)
      .then(
        () => task.resolve({ created }),
        (error) => task.reject(this.diskFailure(error)),
      );
    if (this.journalOf().bytes > PATIENCE * this.journalLimit) await this.saveSometime();
  }

  /** For a write whose repetition would give something else: the state itself goes to the disk. */
  private async saveNow(): Promise<void> {
    try {
      await this.save();
    } catch (error) {
      await this.discard();
      throw failureOf(error, 'disk', 'The store could not be saved');
    }
  }

  private async saveSometime(): Promise<void> {
    const bytes = this.journalOf().bytes;
    try {
      await this.save();
      this.leastLimit = 0;
    } catch (error) {
      // Nothing is lost: the journal has it all. The next try costs as much, so it waits until there is twice as much.
      this.leastLimit = 2 * Math.max(bytes, this.journalLimit);
      this.journalLimit = this.leastLimit;
      this.warn(`No snapshot of the store in ${this.directory} could be made: ${(error as Error).message}`);
    }
  }

  private async save(): Promise<void> {
    const before = this.journalOf();
    await before.flushed();
    const next = this.generation + 1;
    const path = join(this.directory, `snapshot-${next}.nq`);
    const { bytes } = await this.ask(this.engine, { kind: 'snapshot', path: `${path}.tmp` }, 'saved').catch(async (error) => {
      await rm(`${path}.tmp`, { force: true });
      throw error;
    });
    // From here on the old journal may mean nothing, so nothing may be acknowledged by it.
    this.lost = true;
    await moveIntoPlace(`${path}.tmp`, path);
    this.journal = await openJournal(join(this.directory, `journal-${next}.log`), 0);
    this.generation = next;
    this.journalLimit = Math.max(this.limits.journalBytes, bytes);
    this.lost = false;
    await Promise.all([before.close(), removeOthers(this.directory, next)]).catch((error: Error) => {
      this.warn(`Old files of the store in ${this.directory} could not be removed: ${error.message}`);
    });
  }

  /** @throws StoreFailure — the engine says so, took too long, or broke; a broken one is gone then */
  private async ask<K extends Done['kind']>(
    engine: Engine | undefined,
    message: Parameters<Engine['ask']>[0],
    kind: K,
    limitSeconds = 0,
  ): Promise<Extract<Done, { readonly kind: K }>> {
    if (engine === undefined) throw new StoreFailure('failed', 'The store has no engine');
    const answer = await engine.ask(message, limitSeconds);
    if (answer.kind === kind) return answer as Extract<Done, { readonly kind: K }>;
    if (answer.kind !== 'failed') throw new StoreFailure('failed', `The engine answered ${message.kind} by ${answer.kind}`);
    if (answer.broken && engine === this.engine) await this.discard();
    throw new StoreFailure(answer.reason, answer.message);
  }

  /** Ends the engine; what was acknowledged is on the disk, and nothing else. */
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
    this.lost = true;
    return failureOf(error, 'disk', 'The write was undone, since the disk did not take it');
  }
}

const CLOSING = (): StoreFailure => new StoreFailure('failed', 'The store is closing');

function failureOf(error: unknown, reason: Reason, what: string): StoreFailure {
  if (error instanceof StoreFailure) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  return new StoreFailure(code === 'ENOSPC' || code === 'EDQUOT' ? 'disk' : reason, `${what}: ${message}`);
}
