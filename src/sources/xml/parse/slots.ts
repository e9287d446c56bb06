/**
 * Builds records as slots while the scanner reads the document: what each reference reads, in one array a record, and no tree.
 *
 * A slot has the value of its reference: null for none, a text, or an array of texts in document order.
 */

import type { Name } from '../names.ts';
import { type BuilderLimits, recordTooLarge } from '../records.ts';
import { type Attributes, commentBytes, NO_ATTRIBUTES, tagBytes, type XmlSink } from '../tree.ts';
import { type RecordPlaces, Waiting } from '../waiting.ts';
import type { SlotPlace, SlotState, SlotStates } from './slot-states.ts';

/** What holds records back while it is open: the record itself, and no element around it. */
const RECORD = { rise: 0 };

/** A record. */
export type Slots = (null | string | string[])[];

export class SlotBuilder implements XmlSink {
  wantsText = false;

  readonly #states: SlotStates;
  readonly #limits: BuilderLimits;
  readonly #at: RecordPlaces;
  readonly #waiting: readonly Waiting<Slots>[];
  /** By iteration: a record without values, and the latest one. */
  readonly #empty: readonly Slots[];
  readonly #current: Slots[];
  /** Of the open elements as far as paths lead; the first is that of the document. */
  readonly #open: SlotState[];
  #state: SlotState;
  /** Open elements below the last one that paths lead to. */
  #skipped = 0;
  /** Of the open elements whose string values are read: the text so far. */
  readonly #values: string[] = [];
  /** By depth: the latest text node so far, where text nodes are read. */
  readonly #texts: string[] = [];
  /** Open records of all iterations, and bytes of the elements and texts in them that are read. */
  #records = 0;
  #kept = 0;

  constructor(states: SlotStates, limits: BuilderLimits, at: RecordPlaces) {
    this.#at = at;
    this.#states = states;
    this.#limits = limits;
    this.#waiting = states.widths.map(() => new Waiting<Slots>());
    this.#empty = states.widths.map((width) => Array.from({ length: width }, () => null));
    this.#current = [...this.#empty];
    this.#open = [states.root];
    this.#state = states.root;
  }

  /** The records of an iteration. */
  waiting(iteration: number): Waiting<Slots> {
    return this.#waiting[iteration] as Waiting<Slots>;
  }

  open(name: Name, attributes: Attributes): void {
    if (this.#skipped > 0) {
      this.#skipped++;
      if (this.#values.length > 0) this.#grow(tagBytes(name, attributes));
      return;
    }
    if (this.#state.texts.length > 0) this.#endText();
    const state = this.#state.next[name.serial] ?? this.#states.next(this.#state, name);
    if (!state.alive) {
      this.#skipped = 1;
      if (this.#values.length > 0) this.#grow(tagBytes(name, attributes));
      else this.wantsText = false;
      return;
    }
    const { begins, attributes: read, values, texts } = state;
    for (let i = 0; i < begins.length; i++) this.#begin(begins[i] as number);
    for (let i = 0; i < read.length; i++) {
      const place = read[i] as SlotState['attributes'][number];
      for (let k = 0; k < attributes.length; k += 2) if (place.test(attributes[k] as Name)) this.#fill(place, attributes[k + 1] as string);
    }
    this.#open.push(state);
    this.#state = state;
    if (values.length > 0) this.#values.push('');
    if (texts.length > 0) this.#texts[state.depth] = '';
    this.#grow(tagBytes(name, attributes));
    this.wantsText = this.#values.length > 0 || texts.length > 0;
  }

  /** Takes what no path leads to, and the values that references read, where nothing else is to be done. */
  leaf(name: Name, text: string, from: number, to: number): boolean {
    if (this.wantsText) return false;
    if (this.#skipped > 0) return true;
    const state = this.#state.next[name.serial];
    if (state === undefined) return false;
    if (!state.alive) return true;
    const { values } = state;
    const kept = this.#kept + tagBytes(name, NO_ATTRIBUTES) + to - from;
    if (!state.isValue || kept > this.#limits.maxRecordBytes) return false;
    this.#kept = kept;
    const value = text.slice(from, to);
    for (let i = 0; i < values.length; i++) this.#fill(values[i] as SlotPlace, value);
    return true;
  }

  #begin(iteration: number): void {
    const record = (this.#empty[iteration] as Slots).slice();
    this.#current[iteration] = record;
    const waiting = this.waiting(iteration);
    waiting.open(RECORD);
    waiting.add(record, this.#at, iteration);
    this.#records++;
  }

  text(text: string): void {
    const values = this.#values;
    for (let i = 0; i < values.length; i++) values[i] = values[i] === '' ? text : values[i] + text;
    if (this.#skipped === 0 && this.#state.texts.length > 0) this.#texts[this.#state.depth] += text;
    this.#grow(text.length);
  }

  /** It separates the text nodes around it. */
  commentOrInstruction(_target: string | undefined, text: string): void {
    if (this.#skipped === 0 && this.#state.texts.length > 0) this.#endText();
    this.#grow(commentBytes(text));
  }

  /** Takes the text node that ends here in the current element. */
  #endText(): void {
    const { depth, texts } = this.#state;
    const text = this.#texts[depth] as string;
    if (text === '') return;
    for (const place of texts) this.#fill(place, text);
    this.#texts[depth] = '';
  }

  close(): void {
    if (this.#skipped > 0) {
      if (--this.#skipped > 0) return;
    } else {
      const { begins, values, texts } = this.#state;
      if (texts.length > 0) this.#endText();
      if (values.length > 0) {
        const value = this.#values.pop() as string;
        for (let i = 0; i < values.length; i++) this.#fill(values[i] as SlotPlace, value);
      }
      for (let i = 0; i < begins.length; i++) {
        this.waiting(begins[i] as number).close(RECORD);
        if (--this.#records === 0) this.#kept = 0;
      }
      this.#open.pop();
      this.#state = this.#open[this.#open.length - 1] as SlotState;
    }
    this.wantsText = this.#values.length > 0 || this.#state.texts.length > 0;
  }

  #fill({ iteration, slot }: SlotPlace, value: string): void {
    const record = this.#current[iteration] as Slots;
    const known = record[slot];
    if (known === null) record[slot] = value;
    else if (typeof known === 'string') record[slot] = [known, value];
    else (known as string[]).push(value);
  }

  #grow(bytes: number): void {
    if (this.#records === 0) return;
    this.#kept += bytes;
    if (this.#kept > this.#limits.maxRecordBytes) throw recordTooLarge(this.#limits, this.recordAt());
  }

  /** Number of the current record of the innermost iteration; without an open record, of the next one. */
  recordAt(): number | undefined {
    for (let depth = this.#open.length - 1; depth > 0; depth--) {
      const [iteration] = (this.#open[depth] as SlotState).begins;
      if (iteration !== undefined) return this.waiting(iteration).positionOf(this.#current[iteration] as Slots);
    }
    return undefined;
  }
}
