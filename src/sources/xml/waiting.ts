/** The records of one iteration that were found and not yet taken. */
import type { Holder } from './matcher.ts';
import type { Element } from './tree.ts';

export class Waiting<Record = Element> {
  /** False: what references name of an ancestor has the records in it, so they are in memory as long as it is. */
  packable = true;
  /** For the outermost open ancestor that a reference leads to: bytes kept for it, with the records that wait for it. */
  kept = 0;
  mostKept = 0;
  /** The parent of the latest record. */
  parent: Element | null = null;
  /** Such ancestors that are open, and how many outermost ones there have been. */
  anchors = 0;
  anchorsSeen = 0;
  /** This alone. */
  readonly alone: readonly Waiting<Record>[] = [this];

  #records: Record[] = [];
  #lines: number[] = [];
  #paths: (readonly number[])[] = [];
  /** Position of `#records[0]` within the iteration. */
  #first = 0;
  /** Open holders. Records wait from `#firstOpen` on for the outermost, from `#firstInner` on for one within that, too. */
  #open = 0;
  #firstOpen = 0;
  #firstInner = 0;

  open({ rise }: Pick<Holder, 'rise'>): void {
    if (this.#open === 0) this.#firstOpen = this.#records.length;
    else if (this.#open === 1) this.#firstInner = this.#records.length;
    this.#open++;
    if (rise > 0 && this.anchors++ === 0) this.anchorsSeen++;
  }

  close({ rise }: Pick<Holder, 'rise'>): void {
    this.#open--;
    if (rise === 0 || --this.anchors > 0) return;
    this.mostKept = Math.max(this.mostKept, this.kept);
    this.kept = 0;
    this.parent = null;
  }

  /** @param at undefined: nothing asks where the records are */
  add(record: Record, at: RecordPlaces | undefined, iteration: number): void {
    this.#records.push(record);
    if (at === undefined) return;
    this.#lines.push(at.line);
    if (at.named[iteration] === true) this.#paths.push(at.path);
  }

  /** Complete records, in document order, if there are at least `least`. Ownership passes to the caller. */
  take(least: number): Taken<Record> | undefined {
    const complete = this.#open > 0 ? this.#firstOpen : this.#records.length;
    return complete === 0 || complete < least ? undefined : this.#taken(complete);
  }

  /** When no record is complete: the first ones, if they wait for nothing but the outermost ancestor. Ownership passes to the caller. */
  takeWaiting(): Taken<Record> | undefined {
    if (this.anchors === 0 || this.#firstOpen > 0) return undefined;
    const ended = this.#open === 1 ? this.#records.length : this.#firstInner;
    return ended === 0 ? undefined : this.#taken(ended);
  }

  #taken(count: number): Taken<Record> {
    const first = this.#first;
    const records = this.#records.splice(0, count);
    const lines = this.#lines.splice(0, count);
    const paths = this.#paths.splice(0, count);
    this.#first += count;
    this.#firstOpen = Math.max(0, this.#firstOpen - count);
    this.#firstInner = Math.max(0, this.#firstInner - count);
    return { records, lines, paths, first };
  }

  positionOf(record: Record): number {
    return this.#first + this.#records.lastIndexOf(record);
  }
}

/** Where the element begins that was just opened. */
export interface RecordPlaces {
  /** 1-based. */
  readonly line: number;
  /** Numbers of the element and those around it in their parents, from below the root on. */
  readonly path: readonly number[];
  /** By iteration: whether records have paths. */
  readonly named: readonly boolean[];
}

/** Records, and where they begin. */
export interface Located<Record = Element> {
  readonly records: readonly Record[];
  /** None: nothing asks for them. */
  readonly lines: readonly number[];
  readonly paths: readonly (readonly number[])[];
}

export interface Taken<Record = Element> extends Located<Record> {
  /** Position of `records[0]` within the iteration. */
  readonly first: number;
}
