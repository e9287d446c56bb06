/** What of the acknowledged state cannot be read: counted, and written to a list where one is asked for. */
import { closeSync, openSync, writeSync } from 'node:fs';
import type { DamageReport } from '../messages.ts';

/** A line of the list. */
export interface Unreadable {
  readonly file: string;
  /** Bytes from … to, without the last. */
  readonly from: number;
  readonly to: number;
  readonly reason: string;
  /** What is left of a line of the snapshot. */
  readonly text?: string;
}

/** So many places stand in the message. */
const SHOWN = 3;

export class Damage {
  private readonly shown: string[] = [];
  private places = 0;
  private records = 0;
  private statements = 0;
  private readonly path: string | undefined;
  private list: number | undefined;

  /** @param path of the list, a line of JSON for each place */
  constructor(path?: string) {
    this.path = path;
  }

  get found(): boolean {
    return this.places > 0;
  }

  /** @param lost records of the journal, and statements, as far as they can be counted */
  add(place: Unreadable, lost: { readonly records?: number; readonly statements?: number } = {}): void {
    const { file, from, to, reason } = place;
    this.places++;
    this.records += lost.records ?? 0;
    this.statements += lost.statements ?? 0;
    if (this.shown.length < SHOWN) this.shown.push(`${file}${from === to ? '' : `, bytes ${from} to ${to}`}: ${reason}`);
    if (this.path === undefined) return;
    this.list ??= openSync(this.path, 'w', 0o600);
    writeSync(this.list, `${JSON.stringify({ ...place, ...lost })}\n`);
  }

  /** Closes the list; undefined: there was none. */
  report(): DamageReport | undefined {
    if (this.list !== undefined) closeSync(this.list);
    if (this.places === 0) return undefined;
    return { places: this.shown, more: this.places - this.shown.length, records: this.records, statements: this.statements };
  }
}
