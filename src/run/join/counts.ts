/**
 * Rows that find no partner in a join: how many, and some of their keys. A row whose key has no value is none of them.
 *
 * A join that looks its rows up counts them one by one. One that is made at the end stores texts by key, and several rows may have stored one text:
 * `RepeatedRows` has the others.
 */
import { excerpt } from '../../core/fault.ts';
import { detach, fromBytes } from '../../core/text.ts';
import { formatOrigin } from '../../mapping/model/model.ts';
import type { Expression, Join, Project } from '../../plan/algebra.ts';
import { expressionText } from '../../plan/expressions.ts';
import type { Multimap } from '../../spill/multimap.ts';
import type { Text } from '../../terms/evaluate.ts';
import type { JoinReport } from '../request.ts';
import { type PairingMemory, pairTexts } from './join.ts';

/** Keys of each side that a report shows. */
export const SHOWN_KEYS = 3;
const SHOWN_CHARACTERS = 40;
/** Different keys of repeated rows, before these move to a multimap. */
const HELD_KEYS = 8192;

export class JoinCount {
  /** Rows that were asked for their key. */
  rows = 0;
  without = 0;
  /** Some row has found a partner. */
  found = false;
  /** The same for the documents, threads and slices of a run. */
  readonly id: string;
  readonly #named: Pick<JoinReport, 'origin' | 'child' | 'parent' | 'conditions'>;
  readonly #conditions: number;
  readonly #parents: Multimap;
  /** The first of the keys in the order of their text: the same, whatever is divided, stored or left out. */
  readonly #keys: string[] = [];
  /** The key of the current row if it found no partner. */
  #missed: Text = null;

  /** @param child the triples map whose rows look for partners; views have names in the join */
  constructor(join: Join, child: string, parents: Multimap) {
    const { on, right, views } = join;
    const condition = (left: Expression, i: number): string =>
      `${expressionText(left)} = ${expressionText((right.keys[i] as Project['keys'][number]).value)}`;
    this.#named = {
      origin: formatOrigin(join.origin),
      child: views?.left ?? child,
      parent: views?.right ?? right.map?.name ?? '',
      conditions: on.map(({ left }, i) => condition(left, i)).join(' and '),
    };
    this.#conditions = on.length;
    this.#parents = parents;
    this.id = JSON.stringify([this.#named.origin, this.#named.child, this.#named.conditions]);
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

  report(): JoinReport {
    const shown = (keys: readonly string[]): readonly string[] => keys.map((key) => keyText(key, this.#conditions));
    return {
      id: this.id,
      ...this.#named,
      rows: this.rows,
      withoutPartner: this.without,
      found: this.found,
      childKeys: shown(this.#keys),
      parentKeys: this.without === 0 ? [] : shown(this.#parents.someKeys(SHOWN_KEYS)),
    };
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

/** Rows that wait for a join with a key and a text that an earlier row has stored: their number by key. */
export class RepeatedRows {
  readonly #open: () => Multimap;
  readonly #rows = new Map<string, number>();
  /** By key, as `number serial`: those that are too many to hold. */
  #moved: Multimap | undefined;
  #serial = 0;

  constructor(open: () => Multimap) {
    this.#open = open;
  }

  add(key: string): void {
    const rows = this.#rows.get(key);
    this.#rows.set(rows === undefined ? detach(key) : key, (rows ?? 0) + 1);
    if (this.#rows.size >= HELD_KEYS) this.#move();
  }

  /** Counts those with a key that no parent has. */
  async countMisses(count: JoinCount, parents: Multimap, memory: PairingMemory): Promise<void> {
    this.#move();
    const missed = (key: string, text: string): void => count.add(key, Number.parseInt(text, 10));
    for await (const _ of pairTexts(this.#moved as Multimap, parents, memory, false, missed));
  }

  #move(): void {
    this.#moved ??= this.#open();
    for (const [key, rows] of this.#rows) this.#moved.add(key, `${rows} ${this.#serial++}`);
    this.#rows.clear();
  }
}
