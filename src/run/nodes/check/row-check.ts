/**
 * Checks of rows: what structural annotations of views promise of them. A broken promise ends the run, under every error policy: it is no
 * matter of one record whether a graph may rest on it.
 */
import { excerpt, Fault, type FaultPlace } from '../../../core/fault.ts';
import { encodeIriPart, fromBytes } from '../../../core/text.ts';
import type { TypedValue, Value, Values } from '../../../core/value.ts';
import { formatOrigin } from '../../../mapping/model/model.ts';
import type { Check } from '../../../plan/algebra.ts';
import { type Accessors, compileValues, type ValuesOf } from '../../../terms/evaluate.ts';
import type { RunState } from '../../compile/program.ts';
import { packRow, unpackRow } from '../../join/packed-row.ts';
import type { RowTrace } from '../../request.ts';
import type { KeySet } from './key-set.ts';

/** Where a row is. */
type Placed = Required<Pick<FaultPlace, 'input' | 'record'>>;

/** State of a run with views that promise something. */
export interface CheckState extends RunState {
  /** By check: the keys of a view that promises unique ones; undefined for the other checks. */
  readonly keys: readonly (KeySet | undefined)[];
}

export class RowCheck {
  readonly #check: Check;
  readonly #input: string;
  readonly #values: readonly ValuesOf[];
  readonly #found: ValuesOf | undefined;
  readonly #position: ValuesOf;
  readonly #keys: KeySet | undefined;
  readonly #trace: RowTrace | undefined;

  /**
   * @param input name of the document, for faults
   * @param keys the keys so far, if the check is that they are unique
   * @param trace gets these
   */
  constructor(check: Check, rows: Accessors, input: string, keys: KeySet | undefined, trace: RowTrace | undefined) {
    const cell = (column: Check['position']): ValuesOf => compileValues({ kind: 'cell', origin: check.origin, column }, rows);
    this.#check = check;
    this.#input = input;
    this.#values = check.fields.map(({ value }) => compileValues(value, rows));
    this.#found = check.target === undefined ? undefined : cell(check.target.found);
    this.#position = cell(check.position);
    this.#keys = keys;
    this.#trace = trace;
  }

  /**
   * @throws Fault record/promise — the row breaks the promise
   * @throws Fault record/term — a value of the row cannot be made
   */
  see(row: unknown, position: number): void {
    const values = this.#values.map((valuesOf) => only(valuesOf(row, position)));
    const place = (): Placed => ({ input: this.#input, record: Number((this.#position(row, position) as TypedValue).text) });
    const fail = (what: string, at: readonly number[]): never => {
      throw brokenPromise(this.#check, what, at, values, place());
    };
    switch (this.#check.kind) {
      case 'not-null':
        if (values.includes(null)) fail('has no value', [values.indexOf(null)]);
        return;
      case 'iri-safe': {
        const at = values.findIndex((value) => value !== null && !isIriSafe(value));
        if (at >= 0) fail('is not IRI-safe', [at]);
        return;
      }
      case 'unique': {
        if (values.includes(null)) return;
        const key = packRow(values);
        this.#trace?.joinKeys(this.#check, key);
        if (this.#keys?.add(key, JSON.stringify(place())) === true) fail('comes a second time', all(values));
        return;
      }
      case 'inclusion':
        if (!values.includes(null) && this.#found?.(row, position) === null) fail('has no counterpart', all(values));
    }
  }
}

/**
 * After all rows: finds keys that came again and that memory did not hold.
 *
 * @throws Fault record/promise
 */
export async function checkKeys(check: Check, keys: KeySet): Promise<void> {
  const repetition = await keys.repetition();
  if (repetition === undefined) return;
  const values = unpackRow(repetition.key).map(only);
  throw brokenPromise(check, 'comes a second time', all(values), values, JSON.parse(repetition.place) as Placed);
}

const PROMISES: Readonly<Record<Check['kind'], string>> = {
  'not-null': 'a value in each row',
  'iri-safe': 'unreserved characters only',
  unique: 'unique values',
  inclusion: 'values of another view',
};

function brokenPromise(
  { kind, name, view, origin, fields, target }: Check,
  what: string,
  at: readonly number[],
  values: readonly (Value | null)[],
  place: Placed,
): Fault {
  const promised = target === undefined ? PROMISES[kind] : `values of ${namesOf(target.fields)} of the view ${target.view}`;
  const names = at.map((one) => fields[one]?.name ?? '');
  const shown = at.map((one) => values[one] ?? null).flatMap((value) => (value === null ? [] : [excerpt(fromBytes(textOf(value)))]));
  return new Fault('record/promise', `${namesOf(names)} ${what}, but the view ${view} promises ${promised} (${name})`, {
    place: {
      ...place,
      mapping: formatOrigin(origin),
      expression: names.join(', '),
      ...(shown.length === 0 ? {} : { value: shown.join(', ') }),
    },
    hint: 'Correct the data, or remove the annotation',
  });
}

const namesOf = (names: readonly string[]): string => names.map((name) => JSON.stringify(name)).join(' with ');

const all = (values: readonly unknown[]): number[] => [...values.keys()];

/** A field of a view has one value at most in each row. */
const only = (values: Values): Value | null =>
  Array.isArray(values) ? ((values as readonly Value[])[0] ?? null) : (values as Value | null);

const textOf = (value: Value): string => (typeof value === 'string' ? value : value.written);

/** Whether a template writes the value as it is. */
const isIriSafe = (value: Value): boolean => encodeIriPart(textOf(value)) === textOf(value);
