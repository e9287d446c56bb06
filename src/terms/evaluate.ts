/**
 * Expression → closure over rows: its values as text. Everything is decided here, once; the closure only reads values and joins text.
 */
import { Fault } from '../core/fault.ts';
import { blankLabel, toBytes } from '../core/text.ts';
import type { Accessor, Value } from '../core/value.ts';
import { formatOrigin } from '../mapping/model/model.ts';
import type { Expression, Read } from '../plan/algebra.ts';
import { nameOf } from '../plan/expressions.ts';

/** The one-byte texts of a term for one record: none, one, or several. */
export type Text = null | string | readonly string[];

/** `position` is the record's 0-based position in its iteration. Throws Fault record/term. */
export type TextOf = (record: unknown, position: number) => Text;

/** Access to the records of an iteration. */
export interface Accessors {
  readonly accessor: (reference: string) => Accessor;
  /** Whether accessors may return values with a natural datatype. */
  readonly typed: boolean;
  /** The natural datatype of all plain texts that the accessor returns, which are then canonical; undefined: not known beforehand. */
  readonly datatype: (reference: string) => string | undefined;
  /**
   * Part of the labels of per-record blank nodes. It keeps apart records with the same position: those of the run's slices (`s` and the
   * 0-based index of the slice) and of several documents of one source (`d` and the document's number). `s2`, `d1`, `s2d1`; empty: neither.
   */
  readonly slice: string;
}

/** The source knows the reference; only here it is known which mapping statement uses it. */
export function accessorOf(read: Read, rows: Accessors): Accessor {
  try {
    return rows.accessor(nameOf(read));
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'mapping/reference') throw error;
    throw error.with({ place: { mapping: formatOrigin(read.origin) } });
  }
}

/** Each value as written in the source, changed by `encode`; only literals with a natural datatype use the canonical form. */
function textOf(read: Accessor, encode: (text: string) => string): TextOf {
  const one = (value: Value): string => encode(typeof value === 'string' ? value : value.written);
  return (record) => {
    const values = read(record);
    if (values === null) return null;
    if (typeof values === 'string') return encode(values);
    return Array.isArray(values) ? several(values as readonly Value[], one) : one(values as Value);
  };
}

/** Without duplicates: products of the texts would repeat them all. */
export function several(values: readonly Value[], one: (value: Value) => string): Text {
  if (values.length < 2) return values.length === 0 ? null : one(values[0] as Value);
  const texts = new Set<string>();
  for (const value of values) texts.add(one(value));
  return texts.size === 1 ? one(values[0] as Value) : [...texts];
}

export const identity = (text: string): string => text;

/** Applies `change` to each text. */
export function mapText(text: Text, change: (text: string) => string): Text {
  if (text === null) return null;
  return typeof text === 'string' ? change(text) : text.map(change);
}

/** Every combination of the texts of two expressions. */
export function pairTexts(left: Text, right: Text, join: (left: string, right: string) => string): Text {
  if (left === null || right === null) return null;
  if (typeof left === 'string') return mapText(right, (r) => join(left, r));
  if (typeof right === 'string') return left.map((l) => join(l, right));
  return left.flatMap((l) => right.map((r) => join(l, r)));
}

export interface Pieces {
  readonly before: string;
  readonly after: string;
  readonly text: TextOf;
}

/** An expression as text. The constant ends of a template are in `before` and `after`. Values pass through `encode`, constant parts do not. */
export function compileExpression(expression: Expression, rows: Accessors, encode: (text: string) => string): Pieces {
  switch (expression.kind) {
    case 'constant':
      return { before: toBytes(expression.text), after: '', text: () => '' };
    case 'read':
      return { before: '', after: '', text: textOf(accessorOf(expression, rows), encode) };
    case 'row': {
      const prefix = `f${blankLabel(toBytes(expression.map))}_${rows.slice}r`;
      return { before: '', after: '', text: (_, position) => `${prefix}${position}` };
    }
    case 'template':
      return compileTemplate(expression, rows, encode);
  }
}

function compileTemplate(expression: Extract<Expression, { kind: 'template' }>, rows: Accessors, encode: (text: string) => string): Pieces {
  // Alternates constant text and references: texts[0] ref[0] texts[1] ref[1] … texts[n].
  const texts: string[] = [''];
  const reads: Read[] = [];
  for (const part of expression.parts) {
    if (typeof part === 'string') texts[texts.length - 1] += toBytes(part);
    else {
      reads.push(part);
      texts.push('');
    }
  }
  const valuesOf = (read: Read): TextOf => textOf(accessorOf(read, rows), encode);
  const distinct = new Map(reads.map((read) => [nameOf(read), read]));
  if (distinct.size < reads.length) {
    const names = [...distinct.keys()];
    return repeatingTemplate(
      texts,
      [...distinct.values()].map(valuesOf),
      reads.map((read) => names.indexOf(nameOf(read))),
    );
  }
  const references = reads.map(valuesOf);
  const before = texts[0] as string;
  const [first, ...others] = references;
  if (first === undefined) return { before, after: '', text: () => '' };
  const after = texts[texts.length - 1] as string;
  if (others.length === 0) return { before, after, text: first };
  if (others.length === 1) {
    const second = others[0] as TextOf;
    const middle = texts[1] as string;
    return {
      before,
      after,
      text: (record, position) => {
        const left = first(record, position);
        if (left === null) return null;
        const right = second(record, position);
        if (typeof left === 'string' && typeof right === 'string') return left + middle + right;
        return pairTexts(left, right, (l, r) => l + middle + r);
      },
    };
  }
  return {
    before,
    after,
    text: (record, position) => {
      let text = first(record, position);
      for (let i = 0; i < others.length && text !== null; i++) {
        const middle = texts[i + 1] as string;
        text = pairTexts(text, (others[i] as TextOf)(record, position), (l, r) => l + middle + r);
      }
      return text;
    },
  };
}

/**
 * A template in which a reference occurs more than once: it has the same value in all places.
 *
 * @param slots the reader of each place
 * @see https://kg-construct.github.io/rml-core/spec/docs/#template-rml-template (the product is over the set of reference expressions)
 */
function repeatingTemplate(texts: readonly string[], readers: readonly TextOf[], slots: readonly number[]): Pieces {
  const fill = (values: readonly string[]): string => {
    let text = '';
    for (let i = 0; i < slots.length; i++) text += (i === 0 ? '' : (texts[i] as string)) + (values[slots[i] as number] as string);
    return text;
  };
  return {
    before: texts[0] as string,
    after: texts[texts.length - 1] as string,
    text: (record, position) => {
      let rows: readonly (readonly string[])[] = [[]];
      for (const read of readers) {
        const text = read(record, position);
        if (text === null) return null;
        rows = typeof text === 'string' ? rows.map((row) => [...row, text]) : rows.flatMap((row) => text.map((one) => [...row, one]));
      }
      return rows.length === 1 ? fill(rows[0] as readonly string[]) : rows.map(fill);
    },
  };
}
