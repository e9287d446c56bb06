/** Notes which units make statements of a subject, and which have a join key, while a run maps them. */
import type { RowTrace, RunHooks } from '../../run/request.ts';
import { triplesIn } from '../graphs/compare.ts';
import type { JoinSides, Side } from './joins.ts';
import { bitsOf } from './unit-index.ts';
import type { Unit } from './units.ts';

/** The bits of a join key on a side, by which its holders are found. */
export const bitsOfKey = (key: string, side: Side, seed: number): number => bitsOf(key, seed + 1 + side);

export interface Noted {
  subject(bits: number, unit: Unit): void;
  /** @param key one-byte text, good until the next call */
  key(key: string, side: Side, unit: Unit): void;
  /** Two records have the same content, and name blank nodes. */
  repeated(): void;
  /** Whether statements are wanted that have a unit for their root. */
  isRoot(unit: Unit): boolean;
  /** Absent: statements of all subjects are wanted. */
  readonly wants?: ((bits: number) => boolean) | undefined;
}

/** Hooks of a run, and what is to be called with the units of the records that are mapped next. */
export class Tracing {
  readonly hooks: Pick<RunHooks, 'subject' | 'trace'>;
  readonly took: (units: readonly Unit[]) => void;
  #current: readonly Unit[] = [];
  #maps = true;

  constructor(sides: JoinSides, seed: number, noted: Noted) {
    this.took = (units) => {
      this.#current = units;
      this.#maps = units.some((unit) => noted.isRoot(unit));
    };
    const trace: RowTrace = {
      joinKeys: (side, keys) => {
        const on = sides.sideOf(side);
        const all = typeof keys === 'string' ? [keys] : keys;
        for (const key of all) for (const unit of this.#current) noted.key(key, on, unit);
      },
      named: (scan, content, isRepeated) => {
        if (isRepeated) noted.repeated();
        for (const unit of this.#current) noted.key(content, sides.sideOf(scan), unit);
      },
      origin: () => this.#current.join(' '),
      resume: (origin) => {
        this.took(origin === '' ? [] : origin.split(' ').map(Number));
      },
      quotes: (line) => {
        for (const triple of triplesIn(line)) for (const unit of this.#current) noted.subject(bitsOf(triple, seed), unit);
      },
      maps: () => this.#maps,
      wants: (subject) => noted.wants?.(bitsOf(subject, seed)) !== false,
    };
    this.hooks = {
      subject: (token) => {
        const bits = bitsOf(token, seed);
        for (const unit of this.#current) noted.subject(bits, unit);
      },
      ...(sides.isTraced || noted.wants !== undefined ? { trace } : {}),
    };
  }
}
