/** Rejected records: counts them, shows the first ones, and writes all to a file under quarantine. */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { describeFault, Fault } from '../../src/core/fault.ts';
import type { Rejection } from '../../src/run/request.ts';
import { writeFault } from '../../src/sinks/descriptor.ts';

const MAX_SHOWN = 3;
const BUFFER_LENGTH = 64 * 1024;

export class Rejections {
  readonly #log: RejectionLog | undefined;
  readonly #first: string[] = [];

  constructor(log: RejectionLog | undefined) {
    this.#log = log;
  }

  add(rejection: Rejection): void {
    if (this.#first.length < MAX_SHOWN) this.#first.push(describeFault(Fault.from(rejection.fault)));
    this.#log?.add(rejection);
  }

  /** undefined: none. */
  summary(rejected: number): string | undefined {
    if (rejected === 0) return undefined;
    const place = this.#log === undefined ? '' : `, see ${this.#log.path}`;
    const more = rejected > this.#first.length ? '\n  …' : '';
    return `${rejected} ${rejected === 1 ? 'record was' : 'records were'} rejected${place}\n  ${this.#first.join('\n  ')}${more}`;
  }
}

/**
 * One JSON object per line: triples map, code, message, place. Created at the first rejection, so that a run without rejections leaves no
 * file. With `replace`, the file of an earlier run is removed; with `append`, rows follow those that are there.
 *
 * @throws Fault sink/failed
 */
export class RejectionLog {
  readonly path: string;
  readonly #flags: 'w' | 'a';
  #descriptor: number | undefined;
  #buffered = '';

  constructor(path: string, existing: 'replace' | 'append' = 'replace') {
    this.path = path;
    this.#flags = existing === 'append' ? 'a' : 'w';
    if (existing === 'replace') this.#attempt(() => rmSync(path, { force: true }));
  }

  add({ triplesMap, fault }: Rejection): void {
    this.addRow({ triplesMap, ...fault });
  }

  addRow(row: object): void {
    this.#buffered += `${JSON.stringify(row)}\n`;
    if (this.#buffered.length > BUFFER_LENGTH) this.#flush();
  }

  close(): void {
    if (this.#buffered !== '') this.#flush();
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  discard(): void {
    this.#buffered = '';
    this.close();
    rmSync(this.path, { force: true });
  }

  #flush(): void {
    this.#attempt(() => {
      this.#descriptor ??= openSync(this.path, this.#flags);
      const bytes = Buffer.from(this.#buffered);
      for (let from = 0; from < bytes.length; ) from += writeSync(this.#descriptor, bytes, from);
      this.#buffered = '';
    });
  }

  #attempt(action: () => void): void {
    try {
      action();
    } catch (error) {
      throw writeFault(this.path, error);
    }
  }
}
