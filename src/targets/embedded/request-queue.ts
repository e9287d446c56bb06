/**
 * The order of requests to the embedded store: writes first, callers of queries in turn.
 *
 * While both wait, queries get a tenth of the time: after one that took a second, writes have nine.
 */
export interface QueuedRead {
  readonly caller: string;
}

/** So many times as long as the last query took, writes go before the next one. */
const WRITE_SHARE = 9;

export class RequestQueue<R extends QueuedRead, W> {
  private readonly writes: W[] = [];
  /** By caller, in the order of their turns; no list is empty. */
  private readonly reads = new Map<string, R[]>();
  private lastReadMs = 0;
  /** Since the last read. */
  private writtenMs = 0;

  get hasWrites(): boolean {
    return this.writes.length > 0;
  }

  waitingReads(caller: string): number {
    return this.reads.get(caller)?.length ?? 0;
  }

  addWrite(write: W): void {
    this.writes.push(write);
  }

  addRead(read: R): void {
    const waiting = this.reads.get(read.caller);
    if (waiting === undefined) this.reads.set(read.caller, [read]);
    else waiting.push(read);
  }

  /** Takes a read out that has not begun. */
  remove(read: R): void {
    const waiting = this.reads.get(read.caller) ?? [];
    const left = waiting.filter((one) => one !== read);
    if (left.length === 0) this.reads.delete(read.caller);
    else this.reads.set(read.caller, left);
  }

  next(): R | W | undefined {
    const isReadsTurn = this.writtenMs > 0 && this.writtenMs >= WRITE_SHARE * this.lastReadMs;
    if (this.reads.size === 0 || !isReadsTurn) return this.writes.shift() ?? this.nextRead();
    return this.nextRead();
  }

  /** How long the store was busy with what `next` gave. */
  took(kind: 'read' | 'write', milliseconds: number): void {
    if (kind === 'write') this.writtenMs += milliseconds;
    else [this.lastReadMs, this.writtenMs] = [milliseconds, 0];
  }

  /** Empties the queue. */
  drain(): readonly (R | W)[] {
    const all = [...this.writes.splice(0), ...[...this.reads.values()].flat()];
    this.reads.clear();
    return all;
  }

  private nextRead(): R | undefined {
    const [first] = this.reads;
    if (first === undefined) return undefined;
    const [caller, [read, ...rest]] = first;
    this.reads.delete(caller);
    if (rest.length > 0) this.reads.set(caller, rest);
    return read;
  }
}
