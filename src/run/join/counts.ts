/**
 * Rows that find no partner in a join: how many, and some of their keys. A row whose key has no value is none of them.
 *
 * A join that looks its rows up counts them one by one (`JoinCount`). One that is made at the end stores texts by key, and several rows may have
 * stored one text: `DeferredCount` knows the rows behind them.
 */
import { excerpt } from '../../core/fault.ts';
import { detach, fromBytes } from '../../core/text.ts';
import { formatOrigin } from '../../mapping/model/model.ts';
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

  /** A row that was added finds a partner in the end. */
  meet(): void {
    this.without--;
    this.found = true;
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

/**
 * The rows of a join that is made at the end. Each stored text counts as a row. Rows that stored another number of texts than one correct that: a
 * row that stored nothing is added to those of its key; a row with several keys or texts counts as one without a partner until one is found, and
 * its texts are taken off.
 */
export class DeferredCount {
  readonly #count: JoinCount;
  readonly #open: () => Multimap;
  /** Rows with one key that stored nothing, because an earlier row had stored the same: their number by key. */
  readonly #repeats = new Map<string, number>();
  /** By key, as `number serial`: what is added to the rows without a partner if no parent has the key. Above 0: rows that stored nothing. */
  #corrections: Multimap | undefined;
  #serial = 0;
  /** Of the current row, if it may have several keys or texts: how many texts it has stored, by key. */
  readonly #current = new Map<string, number>();

  constructor(count: JoinCount, open: () => Multimap) {
    this.#count = count;
    this.#open = open;
  }

  /** A row with one key and one text, which an earlier row has stored. */
  repeat(key: string): void {
    const rows = this.#repeats.get(key);
    this.#repeats.set(rows === undefined ? detach(key) : key, (rows ?? 0) + 1);
    if (this.#repeats.size >= HELD_KEYS) this.#addRepeats();
  }

  /** One of the texts of a row that may have several. `settle` ends the row. */
  part(key: string, kept: boolean): void {
    this.#current.set(key, (this.#current.get(key) ?? 0) + (kept ? 1 : 0));
  }

  settle(): void {
    const [first] = this.#current;
    if (first === undefined) return;
    const [key, stored] = first;
    if (this.#current.size > 1 || stored > 1) {
      for (const [each, texts] of this.#current) this.#correct(each, -texts);
      this.#serial++;
      this.#count.without++;
    } else if (stored === 0) this.repeat(key);
    this.#current.clear();
  }

  /** A stored text has no partner. */
  readonly missed = (key: string): void => this.#count.add(key, 1);

  /** @param paired whether some of the stored texts had a partner */
  async finish(parents: Multimap, memory: PairingMemory, paired: boolean): Promise<void> {
    const count = this.#count;
    if (paired) count.found = true;
    this.#addRepeats();
    if (this.#corrections === undefined) return;
    const met = new Uint8Array(this.#serial);
    const missed = (key: string, text: string): void => {
      const rows = Number.parseInt(text, 10);
      count.add(rows > 0 ? key : undefined, rows);
    };
    for await (const [text] of pairTexts(this.#corrections, parents, memory, false, missed)) {
      count.found = true;
      if (Number.parseInt(text, 10) > 0) continue;
      const row = Number(text.slice(text.indexOf(' ')));
      if (met[row] === 0) count.meet();
      met[row] = 1;
    }
  }

  #addRepeats(): void {
    for (const [key, rows] of this.#repeats) {
      this.#correct(key, rows);
      this.#serial++;
    }
    this.#repeats.clear();
  }

  #correct(key: string, rows: number): void {
    this.#corrections ??= this.#open();
    this.#corrections.add(key, `${rows} ${this.#serial}`);
  }
}
