/**
 * What the changes of a version are found by, beside the rows: which *units* of the version before make statements of a subject or have a join key, and
 * what the rows were that have changed since.
 *
 * A unit is a row as a scan of the plan reads it: the id of the row times the number of scans, and the position of the scan. An entry has 32 bits of the
 * hash of a text and the number of a unit. A row keeps its id when its content changes. So a change that leaves subject and join keys alone writes
 * nothing here.
 *
 * The entries of a row that has come, or has another content, are noted apart: they replace those that the unit had. Where there are too many to wait in
 * memory, they are written under a *draft* of the unit, beside the entries of the version before. Drafts that a killed process has left are removed
 * before the next comparison.
 */
import type { Database, RootDatabase } from 'lmdb';
import type { Unit } from '../../../datasets/records/units.ts';
import { Records } from './records.ts';
import { bitsIn, bitsKey, draftKey, endKey, entryIn, entryKey, keyIn, packed, UNITS, unitIn, unitKey } from './unit-records.ts';

/** More rows are not compared one by one: their old contents would take much space. */
const MOST_BEFORE = 1_000_000;
/** So many entries are written together. */
export const MOST_NOTED = 100_000;
/** From so many entries of a unit on, it is looked at whether they grow. */
const MANY_ENTRIES = 16;
/** The place of an entry among those that wait has so many values. */
const PLACES = 2 ** 20;

export class RowIndex {
  /** Unit → the key of its row, and the bits of its entries. */
  readonly #units: Records;
  /** Keys alone: bits, unit. */
  readonly #entries: Database<Buffer, Buffer>;
  /** Key of a row → what it was in the version; one byte: nothing. */
  readonly #before: Records;
  #touched = 0;
  /** Of units that stay: added to what they have. */
  readonly #noted = new Map<Unit, number[]>();
  /** Of units that have come: in place of what they had. */
  readonly #drafted = new Map<Unit, number[]>();
  #count = 0;
  /** So many entries may wait. */
  mostNoted = MOST_NOTED;

  constructor(root: RootDatabase, directory: string) {
    this.#units = new Records(root, UNITS, directory);
    this.#entries = root.openDB<Buffer, Buffer>({ name: 'entries', encoding: 'binary', keyEncoding: 'binary' });
    this.#before = new Records(root, 'before', directory);
    this.load();
  }

  /** Reads what is written, after a transaction that was given up. */
  load(): void {
    this.#touched = this.#before.size;
  }

  /** How many rows have changed since the version. */
  get touched(): number {
    return this.#touched;
  }

  /** How many entries there are. */
  get entries(): number {
    return (this.#entries.getStats() as { readonly entryCount: number }).entryCount;
  }

  /** How many units the version has, with drafts. */
  get size(): number {
    return this.#units.size;
  }

  /** Notes what a row was, if it has not changed before. In a transaction. @returns whether there is room */
  touch(key: Buffer, live: Buffer | undefined): boolean {
    if (this.#before.has(key)) return true;
    if (this.#touched >= MOST_BEFORE) return false;
    this.#before.put(key, live ?? NOTHING);
    this.#touched++;
    return true;
  }

  /** The keys of rows that have changed, ascending. */
  keys(): Iterable<Buffer> {
    return this.#before.keys();
  }

  /** undefined: there was no row. */
  before(key: Buffer): Buffer | undefined {
    const bytes = this.#before.get(key);
    return bytes === undefined || bytes.length === NOTHING.length ? undefined : bytes;
  }

  /** In a transaction. */
  forgetBefore(): void {
    this.#before.clear();
    this.#touched = 0;
  }

  /** In a transaction. */
  clear(): void {
    this.forgetBefore();
    this.#units.clear();
    this.#entries.clearSync();
    this.forgetNoted();
  }

  /** Calls `take` with the units of each text that has some. @param bits of the texts */
  unitsOf(bits: Iterable<number>, isWanted: (unit: Unit) => boolean, take: (units: readonly Unit[]) => void): void {
    for (const one of bits) {
      const units: Unit[] = [];
      for (const key of this.#entries.getKeys({ start: bitsKey(one), end: endKey(one) })) {
        const [, unit] = entryIn(key);
        if (isWanted(unit)) units.push(unit);
      }
      if (units.length > 0) take(units);
    }
  }

  /** The key of the row of a unit. undefined: the unit has no entries. */
  keyOf(unit: Unit): Buffer | undefined {
    const bytes = this.#units.get(unitKey(unit));
    return bytes && keyIn(bytes);
  }

  /** An entry that is to be written. @param isDraft whether the unit has come */
  note(bits: number, unit: Unit, isDraft = false): void {
    const noted = isDraft ? this.#drafted : this.#noted;
    const known = noted.get(unit);
    if (known === undefined) noted.set(unit, [bits]);
    else if (known.at(-1) === bits) return;
    else known.push(bits);
    this.#count++;
  }

  forgetNoted(): void {
    this.#noted.clear();
    this.#drafted.clear();
    this.#count = 0;
  }

  get hasDrafts(): boolean {
    for (const _ of this.#units.keys({ start: draftKey(0), limit: 1 })) return true;
    return false;
  }

  /** In a transaction. */
  dropDrafts(): void {
    for (const key of [...this.#units.keys({ start: draftKey(0) })]) {
      const { unit } = unitIn(key);
      const known = this.#units.get(unitKey(unit));
      const kept = new Set(known === undefined ? NO_BITS : bitsIn(known));
      for (const bits of this.#takeDraft(unit)) if (!kept.has(bits)) this.#entries.removeSync(entryKey(bits, unit));
    }
  }

  /** Removes it. */
  #takeDraft(unit: Unit): readonly number[] {
    const key = draftKey(unit);
    const bytes = this.#units.get(key);
    if (bytes === undefined) return NO_BITS;
    const bits = bitsIn(bytes);
    this.#units.remove(key);
    return bits;
  }

  get isFull(): boolean {
    return this.#count >= this.mostNoted;
  }

  /**
   * Writes the entries that were noted. In a transaction.
   *
   * @param keyOf the keys of the rows of units that have no entries yet
   * @returns units that have many more entries than they had: of what their partners were
   */
  write(keyOf: (unit: Unit) => Buffer): readonly Unit[] {
    const made = new NewEntries();
    const grown = this.#writeNoted(keyOf, made);
    for (const [unit, noted] of this.#drafted) {
      const key = draftKey(unit);
      const known = this.#units.get(key);
      const before = known === undefined ? NO_BITS : bitsIn(known);
      const fresh = new Set(noted);
      for (const bits of before) fresh.delete(bits);
      if (fresh.size === 0) continue;
      this.#units.put(key, packed(NO_KEY, [...before, ...fresh]));
      made.add(unit, fresh);
    }
    made.write(this.#entries);
    this.forgetNoted();
    return grown;
  }

  /**
   * Makes the entries those of the new version. In a transaction.
   *
   * @param removed units of the version before that have gone, or have another content
   * @param added units that have come, or have another content
   * @param keyOf as in `write`
   * @returns as `write`
   */
  commit(removed: Iterable<Unit>, added: ReadonlySet<Unit>, keyOf: (unit: Unit) => Buffer): readonly Unit[] {
    const made = new NewEntries();
    const grown = this.#writeNoted(keyOf, made);
    const { hasDrafts } = this;
    for (const unit of removed) if (!added.has(unit)) this.#replace(unit, NO_BITS, false, keyOf, made);
    for (const unit of added) this.#replace(unit, this.#drafted.get(unit) ?? NO_BITS, hasDrafts, keyOf, made);
    made.write(this.#entries);
    this.forgetNoted();
    return grown;
  }

  #writeNoted(keyOf: (unit: Unit) => Buffer, made: NewEntries): readonly Unit[] {
    const grown: Unit[] = [];
    for (const unit of Float64Array.from(this.#noted.keys()).sort()) {
      const key = unitKey(unit);
      const known = this.#units.get(key);
      const before = known === undefined ? NO_BITS : bitsIn(known);
      const fresh = new Set(this.#noted.get(unit));
      for (const bits of before) fresh.delete(bits);
      if (fresh.size === 0) continue;
      const count = before.length + fresh.size;
      if (before.length > 0 && count >= MANY_ENTRIES && Math.clz32(count) < Math.clz32(before.length)) grown.push(unit);
      this.#units.put(key, packed(known === undefined ? keyOf(unit) : keyIn(known), [...before, ...fresh]));
      made.add(unit, fresh);
    }
    return grown;
  }

  /** @param noted of the new content; more may be in the draft */
  #replace(unit: Unit, noted: readonly number[], hasDrafts: boolean, keyOf: (unit: Unit) => Buffer, made: NewEntries): void {
    const key = unitKey(unit);
    const known = this.#units.get(key);
    const before = known === undefined ? NO_BITS : bitsIn(known);
    const drafted = hasDrafts ? this.#takeDraft(unit) : NO_BITS;
    // Most updates change no subject and no key.
    if (drafted.length === 0 && before.length === noted.length && before.every((bits, at) => bits === noted[at])) return;
    const after = new Set([...drafted, ...noted]);
    for (const bits of before) if (!after.has(bits)) this.#entries.removeSync(entryKey(bits, unit));
    if (after.size > 0) this.#units.put(key, packed(known === undefined ? keyOf(unit) : keyIn(known), [...after]));
    else if (known !== undefined) this.#units.remove(key);
    for (const bits of [...before, ...drafted]) after.delete(bits);
    made.add(unit, after);
  }
}

/** Entries that are written together. */
class NewEntries {
  readonly #bits: number[] = [];
  readonly #units: Unit[] = [];

  add(unit: Unit, bits: Iterable<number>): void {
    for (const one of bits) {
      this.#bits.push(one);
      this.#units.push(unit);
    }
  }

  /** Neighbours together. */
  write(entries: Database<Buffer, Buffer>): void {
    for (let from = 0; from < this.#bits.length; from += PLACES) {
      const ordered = Float64Array.from(this.#bits.slice(from, from + PLACES), (bits, at) => bits * PLACES + at).sort();
      for (const one of ordered) {
        const at = from + (one % PLACES);
        entries.putSync(entryKey(this.#bits[at] as number, this.#units[at] as Unit), EMPTY);
      }
    }
  }
}

const EMPTY = Buffer.alloc(0);
const NOTHING = Buffer.of(0);
const NO_KEY = EMPTY;
const NO_BITS: readonly number[] = [];
