/**
 * Messages of several partitions → events in one order.
 *
 * Order holds within a partition alone. With a transaction topic, rows are taken transaction by transaction: BEGIN opens one, its rows are taken from
 * whatever partition has them, and it is whole when there are as many as END says. A partition whose first message is of a later transaction waits.
 *
 * A transaction may lack its END (DDL of MariaDB), its BEGIN (removed by retention), or some rows (left out by a filter). So there are limits of time,
 * which count from when a message was written, or from when it was read where that is longer ago: what was read long after it was written need not
 * be waited for.
 */
import { type Change, type Decoded, decodeMessage, type KafkaMessage, reasonOf } from '../debezium/message.ts';
import type { PayloadReader } from '../debezium/payload.ts';
import type { CommitOrder, RowTransaction } from '../debezium/source.ts';
import { TableStates } from '../debezium/tables.ts';
import { Undecodable } from '../debezium/values.ts';
import type { ChangeBatch, ChangeEvent, FeedPosition, RejectedMessage } from '../events.ts';
import type { MessageReader } from '../topics/messages.ts';
import { bytesOf, type Mark, PartitionQueue, type Waiting } from './partition.ts';
import type { Replay } from './replay.ts';

/** How long a transaction waits for its END or its rows, and rows for their BEGIN. */
const LIMIT_MS = 10_000;
/** How long a transaction that another one follows without its END waits for its rows. */
const NEXT_MS = 2_000;
const BATCH_EVENTS = 1_000;
const BATCH_BYTES = 2 ** 20;
/** Transactions that were closed, whose rows may come late. */
const MOST_CLOSED = 1_000;

/** In positions beside offsets. No topic has a colon in its name. */
const TRANSACTION = ':transaction';
const TABLES = ':tables';
/** The last message of each partition, as JSON. */
const MARKS = ':marks';
/** When the last message was taken or written, whichever is later, in milliseconds since 1970. */
export const READ_AT = ':read-at';

interface Open {
  readonly id: string;
  order: CommitOrder | undefined;
  /** Rows that were taken, by topic. */
  readonly seen: Map<string, number>;
  /** Rows by topic, as END says; undefined: it has not been read. */
  expected: ReadonlyMap<string, number> | undefined;
  /** Whether `begin` was told: a transaction without rows of the topics makes no events. */
  isTold: boolean;
  /** Of BEGIN, END or the last row: when it was written, and when it was taken. */
  writtenAt: number;
  takenAt: number;
}

interface KeptTransaction {
  readonly id: string;
  readonly scope?: string;
  readonly number?: string;
  readonly seen: Readonly<Record<string, number>>;
  readonly orders: Readonly<Record<string, number>>;
  readonly expected?: Readonly<Record<string, number>>;
}

export interface MergeOptions {
  /** Tables by topic: several names may mean one table. */
  readonly tables: ReadonlyMap<string, readonly string[]>;
  /** By topic; undefined: all messages are changes. */
  readonly messages?: ReadonlyMap<string, readonly MessageReader[]>;
  readonly transactionTopic: string | undefined;
  readonly reader: PayloadReader;
  /** What was kept with the position from which messages are read. */
  readonly kept: FeedPosition | undefined;
  /** What is read from its beginning again. */
  readonly replay?: Replay | undefined;
  /** What is kept with the position beside it. */
  readonly more?: () => FeedPosition;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export class TopicMerge {
  readonly #options: MergeOptions;
  readonly #states: TableStates;
  readonly #queues = new Map<string, PartitionQueue>();
  readonly #closed = new Set<string>();
  #open: Open | undefined;
  /** The newest commit that is known. */
  #last: CommitOrder | undefined;
  /** Topics of `schema.table`, as rows say. Without rows they are named as Debezium does. */
  readonly #topics = new Map<string, string>();
  #nextQueue = 0;
  readonly #told = new Set<string>();
  readonly #marks: Readonly<Record<string, Mark>>;
  #readAt: number;
  #restored: KeptTransaction | undefined;
  #replay: Replay | undefined;

  constructor(options: MergeOptions) {
    this.#options = options;
    this.#states = new TableStates(options.kept?.[TABLES]);
    this.#replay = options.replay;
    this.#states.forget(options.replay?.tables ?? []);
    this.#marks = JSON.parse(options.kept?.[MARKS] ?? '{}');
    this.#readAt = Number(options.kept?.[READ_AT] ?? 0);
    const kept = options.kept?.[TRANSACTION];
    if (kept === undefined || options.transactionTopic === undefined) return;
    const { id, scope, number, seen, expected, ...restored } = JSON.parse(kept) as KeptTransaction;
    this.#restored = { id, seen, ...restored };
    this.#open = {
      id,
      order: scope === undefined || number === undefined ? undefined : { scope, number: BigInt(number) },
      seen: new Map(Object.entries(seen)),
      expected: expected && new Map(Object.entries(expected)),
      isTold: false,
      writtenAt: options.now(),
      takenAt: options.now(),
    };
  }

  get queues(): Iterable<PartitionQueue> {
    return this.#queues.values();
  }

  queue(topic: string, partition: number): PartitionQueue | undefined {
    return this.#queues.get(`${topic}-${partition}`);
  }

  addQueue(topic: string, partition: number, next: bigint, isDrained: boolean): PartitionQueue {
    const queue = new PartitionQueue(topic, partition, next, isDrained, this.#marks[`${topic}-${partition}`]);
    queue.lastOrder = this.#restored?.orders[queue.name] ?? 0;
    this.#queues.set(queue.name, queue);
    return queue;
  }

  get position(): FeedPosition {
    const queues = [...this.#queues.values()];
    const offsets = Object.fromEntries(queues.map((queue) => [queue.name, queue.position]));
    const marks = Object.fromEntries(queues.flatMap(({ name, mark }) => (mark === undefined ? [] : [[name, mark]])));
    const { kept } = this.#states;
    const transaction = this.#keptTransaction();
    return {
      ...offsets,
      ...(this.#readAt === 0 ? {} : { [MARKS]: JSON.stringify(marks), [READ_AT]: String(this.#readAt) }),
      ...(kept === undefined ? {} : { [TABLES]: kept }),
      ...(transaction === undefined ? {} : { [TRANSACTION]: transaction }),
      ...this.#replay?.kept,
      ...this.#options.more?.(),
    };
  }

  #keptTransaction(): string | undefined {
    if (this.#open === undefined) return undefined;
    const { id, order, seen, expected } = this.#open;
    const kept: KeptTransaction = {
      id,
      ...(order === undefined ? {} : { scope: order.scope, number: String(order.number) }),
      seen: Object.fromEntries(seen),
      orders: Object.fromEntries(
        [...this.#queues.values()].filter(({ lastOrder }) => lastOrder > 0).map((one) => [one.name, one.lastOrder]),
      ),
      ...(expected === undefined ? {} : { expected: Object.fromEntries(expected) }),
    };
    return JSON.stringify(kept);
  }

  /**
   * What can be taken now. undefined: nothing, until messages are added, or time passes.
   *
   * @throws Fault — as `SchemaRegistry.load`
   */
  async take(signal: AbortSignal): Promise<ChangeBatch | undefined> {
    const before = JSON.stringify(this.position);
    const batch = new Batch();
    batch.events.push(...(this.#replay?.begin() ?? []));
    try {
      while (!batch.isFull && (await this.#step(batch, signal))) signal.throwIfAborted();
    } catch (error) {
      // What was taken counts. The message that failed is still the first one of its partition, and fails again.
      if (signal.aborted || batch.isEmpty) throw error;
    }
    const isIdle = this.#data().every((queue) => queue.head === undefined && queue.isDrained);
    if (isIdle) batch.events.push(...this.#states.ends());
    if (this.#replay?.isOver((topic, partition) => this.queue(topic, partition)) === true) {
      batch.events.push(...this.#replay.end());
      this.#replay = undefined;
    }
    const { position } = this;
    if (batch.isEmpty && JSON.stringify(position) === before) return undefined;
    const { events, rejected, warnings, bytes, changedAt } = batch;
    return {
      events,
      position,
      bytes,
      changedAt,
      ...(rejected.length > 0 ? { rejected } : {}),
      ...(warnings.length > 0 ? { warnings } : {}),
    };
  }

  /** @returns whether something was taken */
  async #step(batch: Batch, signal: AbortSignal): Promise<boolean> {
    const queues = this.#data();
    let isTaken = false;
    // Every partition has its turn first once.
    for (let i = 0; i < queues.length && !batch.isFull; i++) {
      const queue = queues[(this.#nextQueue + i) % queues.length] as PartitionQueue;
      isTaken = (await this.#takeRows(queue, batch, signal)) || isTaken;
    }
    this.#nextQueue++;
    if (isTaken || this.#options.transactionTopic === undefined) return isTaken;
    return this.#takeBoundary(batch, signal);
  }

  #data(): readonly PartitionQueue[] {
    return [...this.#queues.values()].filter(({ topic }) => topic !== this.#options.transactionTopic);
  }

  async #takeRows(queue: PartitionQueue, batch: Batch, signal: AbortSignal): Promise<boolean> {
    let isTaken = false;
    while (!batch.isFull) {
      const head = await this.#head(queue, signal);
      if (head === undefined || !this.#mayTake(head)) break;
      this.#emit(queue, head, batch);
      isTaken = true;
    }
    return isTaken;
  }

  /** The first message, decoded. */
  async #head(queue: PartitionQueue, signal: AbortSignal): Promise<Waiting | undefined> {
    const { head } = queue;
    if (head === undefined || head.decoded !== undefined) return head;
    const { reader, now } = this.#options;
    const { message } = head;
    for (const bytes of [message.key, message.value]) {
      const loading = reader.prepare(bytes, signal);
      if (loading !== undefined) await loading;
    }
    const hasChanges = queue.topic === this.#options.transactionTopic || (this.#options.tables.get(queue.topic) ?? []).length > 0;
    head.decoded = hasChanges ? decodeMessage(message, reader) : NO_CHANGE;
    head.firstSince = now();
    return head;
  }

  /**
   * Claim: a row of another transaction than the open one may be taken if its transaction is not newer than one that was closed. Proof: it comes a
   * second time, or late, and its partition would wait for it for ever. It is not newer if a commit that is not later than the one before it is older
   * than the newest commit that is known: then its own commit is that one, or an older one.
   */
  #mayTake(head: Waiting): boolean {
    const transaction = transactionOf(head);
    if (transaction === undefined || this.#options.transactionTopic === undefined || this.#replay?.has(head.message.topic) === true)
      return true;
    if (transaction.id === this.#open?.id || this.#closed.has(transaction.id)) return true;
    const newest = this.#open?.order ?? this.#last;
    const { after } = transaction;
    return newest !== undefined && after?.scope === newest.scope && after.number < newest.number;
  }

  #emit(queue: PartitionQueue, { message, decoded }: Waiting, batch: Batch): void {
    this.#take(queue, message);
    batch.bytes += bytesOf(message);
    batch.messages++;
    if (decoded === undefined) return;
    const transaction = 'transaction' in decoded ? decoded.transaction : undefined;
    if (transaction !== undefined && transaction.id === this.#open?.id) this.#count(queue, transaction, message, batch);
    if (decoded.kind === 'rejected') batch.rejected.push(rejected(message, decoded.reason));
    if (decoded.kind === 'change') {
      batch.changedAt = decoded.changedAt;
      this.#tellLosses(decoded, queue.topic, batch);
      if (decoded.collection !== undefined) this.#topics.set(decoded.collection, queue.topic);
    }
    for (const table of this.#options.tables.get(queue.topic) ?? [])
      batch.events.push(...this.#states.eventsOf(table, decoded, queue.partition));
    for (const reader of this.#options.messages?.get(queue.topic) ?? []) this.#read(reader, message, batch);
  }

  /** What a topic never has, once. */
  #tellLosses({ connector, isFlat }: Change, topic: string, batch: Batch): void {
    const tell = (text: string): void => {
      if (this.#told.has(text)) return;
      this.#told.add(text);
      batch.warnings.push(text);
    };
    if (isFlat) tell(`Topic ${topic} has rows without envelopes: truncates of the table, and the ends of snapshots, are not in it`);
    if (connector === 'mysql' || connector === 'mariadb')
      tell(
        `Rows that foreign keys change (CASCADE, SET NULL), and changes that are logged as statements, are in no message of ${connector}: the graph does not follow them`,
      );
  }

  #read(reader: MessageReader, message: KafkaMessage, batch: Batch): void {
    try {
      const event = reader.read(message, this.#options.reader);
      if (event !== undefined) batch.events.push(event);
      batch.changedAt = message.timestamp;
    } catch (error) {
      if (!(error instanceof Undecodable)) throw error;
      batch.rejected.push(rejected(message, reasonOf(error)));
    }
  }

  /** Rows of a table are numbered in a transaction. One that comes a second time has a number that its partition had already. */
  #count(queue: PartitionQueue, { order }: RowTransaction, message: KafkaMessage, batch: Batch): void {
    const open = this.#open as Open;
    if (!open.isTold && this.#replay === undefined) {
      batch.events.push({ kind: 'begin', transaction: open.id });
      open.isTold = true;
    }
    this.#touch(open, message);
    if (order !== undefined && order <= queue.lastOrder) return;
    queue.lastOrder = order ?? 0;
    open.seen.set(queue.topic, (open.seen.get(queue.topic) ?? 0) + 1);
  }

  #touch(open: Open, { timestamp }: KafkaMessage): void {
    open.writtenAt = timestamp;
    open.takenAt = this.#options.now();
  }

  /** Opens or closes a transaction, where no row can be taken. */
  async #takeBoundary(batch: Batch, signal: AbortSignal): Promise<boolean> {
    const queue = [...this.#queues.values()].find(({ topic }) => topic === this.#options.transactionTopic);
    if (queue === undefined) return false;
    const head = await this.#head(queue, signal);
    const boundary = head?.decoded?.kind === 'boundary' ? head.decoded.boundary : undefined;
    if (head !== undefined && boundary === undefined) {
      if (head.decoded?.kind === 'rejected') batch.rejected.push(rejected(head.message, head.decoded.reason));
      return this.#takeBoundaryOf(queue, batch);
    }
    const open = this.#open;
    if (open === undefined) {
      if (head === undefined || boundary === undefined) return this.#takeOrphan(queue, batch);
      if (boundary.status === 'BEGIN') {
        for (const one of this.#queues.values()) one.lastOrder = 0;
        this.#restored = undefined;
        this.#open = {
          id: boundary.id,
          order: boundary.order,
          seen: new Map(),
          expected: undefined,
          isTold: false,
          writtenAt: 0,
          takenAt: 0,
        };
        this.#closed.delete(boundary.id);
        this.#touch(this.#open, head.message);
      } else this.#advance(boundary.order);
      return this.#takeBoundaryOf(queue, batch);
    }
    if (open.expected !== undefined) return this.#closeWhole(open, open.expected, batch);
    if (head === undefined || boundary === undefined) return this.#closeWithoutEnd(open, queue, batch);
    if (boundary.status === 'END' && boundary.id === open.id) {
      open.expected = this.#byTopic(boundary.counts);
      open.order = boundary.order ?? open.order;
      this.#touch(open, head.message);
      return this.#takeBoundaryOf(queue, batch);
    }
    return this.#closeSuperseded(open, head, batch);
  }

  #closeWhole(open: Open, expected: ReadonlyMap<string, number>, batch: Batch): boolean {
    const missing = [...expected].filter(([topic, count]) => (open.seen.get(topic) ?? 0) < count).map(([topic]) => topic);
    const queues = this.#data().filter(({ topic }) => missing.includes(topic));
    // A partition that has a message has one of a later transaction: what it had of this one was taken.
    if (queues.some((queue) => queue.head === undefined)) {
      if (!queues.every(isRead) || this.#waited(open.writtenAt, open.takenAt) < LIMIT_MS) return false;
      batch.warnings.push(
        `Topic ${missing.join(', ')} has fewer rows of a transaction than its END in ${this.#options.transactionTopic} says`,
      );
    }
    return this.#close(open, batch);
  }

  #closeSuperseded(open: Open, next: Waiting, batch: Batch): boolean {
    if (!this.#data().every(isRead)) return false;
    const isExhausted = this.#data().every((queue) => queue.head !== undefined);
    if (!isExhausted && this.#waited(next.message.timestamp, next.firstSince) < NEXT_MS) return false;
    return this.#close(open, batch);
  }

  #closeWithoutEnd(open: Open, queue: PartitionQueue, batch: Batch): boolean {
    if (!queue.isDrained || !this.#data().every(isRead) || this.#waited(open.writtenAt, open.takenAt) < LIMIT_MS) return false;
    batch.warnings.push(
      `Topic ${this.#options.transactionTopic} has no END of the transaction ${open.id}, ${LIMIT_MS / 1000} s after its BEGIN or last row: it is taken as whole`,
    );
    return this.#close(open, batch);
  }

  #takeBoundaryOf(queue: PartitionQueue, batch: Batch): true {
    const message = queue.head?.message;
    batch.messages++;
    if (message === undefined) return true;
    this.#take(queue, message);
    batch.bytes += bytesOf(message);
    return true;
  }

  #take(queue: PartitionQueue, { timestamp }: KafkaMessage): void {
    queue.take();
    this.#readAt = Math.max(this.#readAt, timestamp, this.#options.now());
  }

  #close(open: Open, batch: Batch): true {
    if (open.isTold) batch.events.push({ kind: 'commit', transaction: open.id });
    this.#open = undefined;
    this.#advance(open.order);
    this.#remember(open.id);
    return true;
  }

  #advance(order: CommitOrder | undefined): void {
    if (order !== undefined) this.#last = order;
  }

  #remember(id: string): void {
    if (this.#closed.size === MOST_CLOSED) this.#closed.delete(this.#closed.values().next().value as string);
    this.#closed.add(id);
  }

  /** A row whose BEGIN is not there. */
  #takeOrphan(boundaries: PartitionQueue, batch: Batch): boolean {
    if (!boundaries.isDrained) return false;
    for (const { head, topic } of this.#data()) {
      const id = head && transactionOf(head)?.id;
      if (head === undefined || id === undefined || this.#waited(head.message.timestamp, head.firstSince) < LIMIT_MS) continue;
      batch.warnings.push(
        `Topic ${topic} has rows of transactions without a BEGIN in ${this.#options.transactionTopic}: such transactions are not kept whole`,
      );
      this.#remember(id);
      return true;
    }
    return false;
  }

  /** Only of topics that are read. */
  #byTopic(counts: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
    const prefix = this.#options.transactionTopic?.replace(/transaction$/, '');
    const found = [...counts].map(([collection, count]) => {
      const named = prefix + collection.replace(/[^\w.-]/g, '_');
      return [this.#topics.get(collection) ?? named, count] as const;
    });
    return new Map(found.filter(([topic]) => this.#options.tables.has(topic)));
  }

  /** Milliseconds since a message was written, or since it was first seen, where that is longer ago: clocks of other machines may be wrong. */
  #waited(writtenAt: number, seenAt: number): number {
    const now = this.#options.now();
    return Math.max(now - writtenAt, now - seenAt);
  }
}

const NO_CHANGE: Decoded = { kind: 'nothing' };

/** Whether nothing is to be waited for. */
const isRead = (queue: PartitionQueue): boolean => queue.head !== undefined || queue.isDrained;

const transactionOf = ({ decoded }: Waiting): RowTransaction | undefined =>
  decoded !== undefined && 'transaction' in decoded ? decoded.transaction : undefined;

const rejected = ({ topic, partition, offset, key, value }: KafkaMessage, reason: string): RejectedMessage => ({
  place: `${topic}[${partition}]@${offset}`,
  reason,
  key: key ?? undefined,
  value: value ?? undefined,
});

class Batch {
  readonly events: ChangeEvent[] = [];
  readonly rejected: RejectedMessage[] = [];
  readonly warnings: string[] = [];
  bytes = 0;
  messages = 0;
  changedAt: number | undefined;

  get isFull(): boolean {
    return this.messages >= BATCH_EVENTS || this.bytes >= BATCH_BYTES;
  }

  get isEmpty(): boolean {
    return this.messages === 0 && this.events.length === 0 && this.warnings.length === 0;
  }
}
