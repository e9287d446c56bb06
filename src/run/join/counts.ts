/**
 * Rows that find no partner in a join: how many, and some of their keys. A row whose key has no value is none of them.
 *
 * A join that looks its rows up counts them one by one (`JoinCount`). One that is made at the end stores texts by key, and several rows may have
 * stored one text: `DeferredCount` knows the rows behind them, and holds only those that stored another number of texts than one.
 */
import { excerpt } from '../../core/fault.ts';
import { detach, fromBytes } from '../../core/text.ts';
import { formatOrigin, type Origin } from '../../mapping/model/model.ts';
import type { Expression, Join, Project } from '../../plan/algebra.ts';
import { expressionText } from '../../plan/expressions.ts';
import type { Text } from '../../terms/evaluate.ts';
import type { JoinReport } from '../request.ts';
import { type Multimap, type PairingMemory, pairTexts } from './join.ts';

/** Keys of each side that a report shows. */
export const SHOWN_KEYS = 3;
const SHOWN_CHARACTERS = 40;
/** Different keys of rows that stored no text, before they move to a multimap. */
const HELD_KEYS = 8192;

/** A join of the plan, as a report names it. */
export interface NamedJoin {
  readonly origin: Origin;
  /** The triples map or view whose rows look for partners, and the one that has them. */
  readonly child: string;
  readonly parent: string;
  readonly on: readonly { readonly child: Expression; readonly parent: Expression }[];
}

/** @param child the triples map, if the sides are no views */
export const namedJoin = ({ origin, on, right, views }: Join, child: string): NamedJoin => ({
  origin,
  child: views?.left ?? child,
  parent: views?.right ?? right.map?.name ?? '',
  on: on.map(({ left }, i) => ({ child: left, parent: (right.keys[i] as Project['keys'][number]).value })),
});

export class JoinCount {
  /** Rows that were asked for their key. */
  rows = 0;
  without = 0;
  /** Some row has found a partner. */
  found = false;
  readonly id: string;
  readonly #join: NamedJoin;
  readonly #parents: Multimap;
  /** The first of the keys in the order of their text: the same, whatever is divided, stored or left out. */
  readonly #keys: string[] = [];
  /** The key of the current row if it found no partner. */
  #missed: Text = null;

  constructor(join: NamedJoin, parents: Multimap) {
    this.#join = join;
    this.#parents = parents;
    this.id = JSON.stringify([formatOrigin(join.origin), join.child, this.#conditions()]);
  }

  /** Notes what the current row has found by its keys; returns it. */
  see(keys: Text, found: Text): Text {
    if (found === null) this.#missed = keys;
    else {
      this.#missed = null;
      this.found = true;
    }
    return found;
  }

  /** The current row is not rejected. */
  settle(): void {
    const missed = this.#missed;
    if (missed === null) return;
    this.#missed = null;
    this.add(typeof missed === 'string' ? missed : (missed[0] as string), 1);
  }

  /** Adds rows with a key that no parent has. @param key undefined: it is not known any more */
  add(key: string | undefined, rows: number): void {
    this.without += rows;
    const keys = this.#keys;
    if (key === undefined || (keys.length === SHOWN_KEYS && key >= (keys[SHOWN_KEYS - 1] as string)) || keys.includes(key)) return;
    keys.push(detach(key));
    keys.sort();
    keys.length = Math.min(keys.length, SHOWN_KEYS);
  }

  /** A row that was added finds a partner in the end. */
  meet(): void {
    this.without--;
    this.found = true;
  }

  report(): JoinReport {
    const { origin, child, parent, on } = this.#join;
    const shown = (keys: Iterable<string>): readonly string[] => [...keys].map((key) => keyText(key, on.length));
    return {
      id: this.id,
      origin: formatOrigin(origin),
      child,
      parent,
      conditions: this.#conditions(),
      rows: this.rows,
      withoutPartner: this.without,
      found: this.found,
      childKeys: shown(this.#keys),
      parentKeys: this.without === 0 ? [] : shown(this.#parents.someKeys(SHOWN_KEYS)),
    };
  }

  #conditions(): string {
    return this.#join.on.map(({ child, parent }) => `${expressionText(child)} = ${expressionText(parent)}`).join(' and ');
  }
}

/** The key of a join (`joinKey`) as it is shown. */
function keyText(key: string, count: number): string {
  const text = (part: string): string => excerpt(fromBytes(part), SHOWN_CHARACTERS);
  if (count === 1) return text(key);
  const parts: string[] = [];
  for (let at = 0; at < key.length; ) {
    const start = key.indexOf(':', at) + 1;
    const end = start + Number(key.slice(at, start - 1));
    parts.push(text(key.slice(start, end)));
    at = end;
  }
  return `(${parts.join(', ')})`;
}

/** The rows of a join that is made at the end. */
export class DeferredCount {
  readonly #count: JoinCount;
  readonly #open: () => Multimap;
  /** Rows that stored nothing, because an earlier row had stored the same: their number by key. */
  readonly #repeats = new Map<string, number>();
  #stored: Multimap | undefined;
  #serial = 0;
  /** Rows with several keys or texts: their numbers by key, and how many texts they stored there. */
  #several: Multimap | undefined;
  #severalRows = 0;
  /** The current one of these: how many texts it has stored, by key. */
  readonly #current = new Map<string, number>();

  constructor(count: JoinCount, open: () => Multimap) {
    this.#count = count;
    this.#open = open;
  }

  /** A row with one key and one text, which an earlier row has stored. */
  repeat(key: string): void {
    const rows = this.#repeats.get(key);
    this.#repeats.set(rows === undefined ? detach(key) : key, (rows ?? 0) + 1);
    if (rows === undefined && this.#repeats.size >= HELD_KEYS) this.#store();
  }

  /** One of the texts of a row that may have several. `settle` ends the row. */
  part(key: string, kept: boolean): void {
    this.#current.set(key, (this.#current.get(key) ?? 0) + (kept ? 1 : 0));
  }

  settle(): void {
    const current = this.#current;
    if (current.size === 0) return;
    const [first] = current as Iterable<readonly [string, number]>;
    const [key, kept] = first as readonly [string, number];
    if (current.size === 1 && kept === 0) this.repeat(key);
    else if (current.size > 1 || kept > 1) {
      this.#several ??= this.#open();
      const row = this.#severalRows++;
      for (const [each, texts] of current) this.#several.add(each, `${row}:${texts}`);
    }
    current.clear();
  }

  /** A stored text has no partner: as far as is known there, it is that of one row. */
  readonly missed = (key: string): void => this.#count.add(key, 1);

  /** @param paired whether some of the stored texts had a partner */
  async finish(parents: Multimap, memory: PairingMemory, paired: boolean): Promise<void> {
    if (paired) this.#count.found = true;
    this.settle();
    this.#store();
    if (this.#stored !== undefined) {
      const missed = (key: string, text: string): void => this.#count.add(key, numberIn(text));
      for await (const _ of pairTexts(this.#stored, parents, memory, false, missed)) this.#count.found = true;
    }
    if (this.#several === undefined) return;
    const hasPartner = new Uint8Array(this.#severalRows);
    const missed = (_: string, text: string): void => this.#count.add(undefined, -numberIn(text));
    for await (const [text] of pairTexts(this.#several, parents, memory, false, missed)) {
      hasPartner[Number.parseInt(text, 10)] = 1;
      this.#count.found = true;
    }
    this.#count.add(
      undefined,
      hasPartner.reduce((rows, one) => rows - one, this.#severalRows),
    );
  }

  #store(): void {
    if (this.#repeats.size === 0) return;
    this.#stored ??= this.#open();
    for (const [key, rows] of this.#repeats) this.#stored.add(key, `${this.#serial++}:${rows}`);
    this.#repeats.clear();
  }
}

/** Behind the number of the row. */
const numberIn = (text: string): number => Number(text.slice(text.indexOf(':') + 1));
