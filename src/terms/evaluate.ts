/**
 * Expression → closure over rows: its values as text. Everything is decided here, once; the closure only reads values and joins text.
 */
import { Fault } from '../core/fault.ts';
import { toBytes } from '../core/text.ts';
import { type Accessor, TypedValue, type Value, type Values } from '../core/value.ts';
import type { RecordBatch } from '../functions/ahead.ts';
import type { CustomFunctions } from '../functions/definition.ts';
import { functionLibrary } from '../functions/library.ts';
import { formatOrigin } from '../mapping/model/model.ts';
import type { Collection, Column, Expression } from '../plan/algebra.ts';
import { expressionKey, expressionText, type Leaf, leafKey } from '../plan/expressions.ts';

/** The one-byte texts of a term for one record: none, one, or several. */
export type Text = null | string | readonly string[];

/** `position` is the record's 0-based position in its iteration. Throws Fault record/term. */
export type TextOf = (record: unknown, position: number) => Text;

/**
 * A value → its text in a term.
 *
 * @param typed the value that has the text as it is written in the source, if it has a natural datatype
 */
export interface Encode {
  (text: string, typed?: TypedValue): string;
  /** Texts that are encoded as they are, whatever the value is. undefined: not known. */
  readonly accepts?: (text: string) => boolean;
}

/** Values of one row, with their natural datatypes. */
export interface ValuesOf {
  (row: unknown, position: number): Values;
  readonly written?: Accessor['written'];
}

/** Access to the records of an iteration. */
export interface Accessors {
  readonly accessor: (leaf: Leaf) => ValuesOf;
  /** The terms in a cell, which are encoded already. */
  readonly encoded: (column: Column) => (row: unknown) => Text;
  /** Whether accessors may return values with a natural datatype. */
  readonly typed: boolean;
  /**
   * The natural datatype of all plain texts that the accessor returns, which are then canonical; null: no value has one; undefined: not known
   * beforehand.
   */
  readonly datatype: (leaf: Leaf) => string | null | undefined;
  /** The beginnings of the labels of blank nodes. */
  readonly labels: Labels;
  /** Keeps apart records with the same position, in the seeds of functions: those of slices, and of several documents of one source. */
  readonly part: string;
  /** Text that sorts rows in their order, and is different for each: a row's place among the records of all documents of its source. */
  readonly order: (position: number) => string;
  /** Whether rows come in another order than that: a join hands some of them on later. */
  readonly unordered?: true;
  /** Whether equal values of a row stay: they are members of a collection. */
  readonly repeats?: true;
  /** The heads of the collections that a gather map makes of a row. */
  readonly heads: (collection: Collection) => TextOf;
  /**
   * Row and position distinguish one row from the next, so that equal calls of a row are made once. Not so in pipelines, which use one array for all
   * rows.
   */
  readonly areRecords?: boolean;
  /** The records that are being mapped. */
  readonly batch?: RecordBatch;
  /**
   * What becomes of a literal whose text is not in the lexical space of its datatype: called for each such literal of the mapping, and what it
   * returns for each value. That may throw. undefined: it is written as it is.
   */
  readonly illTyped?: ((faultOf: (value: string) => Fault) => (value: string) => void) | undefined;
  /** What counts texts of a template of which all references are empty texts. undefined: nothing does. */
  readonly empty?: ((fault: () => Fault) => () => void) | undefined;
  /** Takes the fault of a value that is left out; the other values of the term stay. undefined: the fault is thrown. */
  readonly leaveOut?: ((fault: Fault) => void) | undefined;
  /** Functions of the run, which win over built-in ones. */
  readonly functions?: CustomFunctions | undefined;
  /** Id of the run, and when it began (milliseconds since 1970): functions that give random values or the time repeat them in a repeated attempt. */
  readonly run: string;
  readonly startedAt: number;
}

/** What labels of blank nodes begin with. */
export interface Labels {
  /** Of those that are named by a value, by the mapping, or by the head of a list. */
  readonly values: string;
  /** Of those of rows. @param map id of the triples map or view */
  rows(map: string): string;
}

/** The source knows the reference; only here it is known which mapping statement uses it. */
export function accessorOf(leaf: Leaf, rows: Accessors): ValuesOf {
  try {
    return rows.accessor(leaf);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'mapping/reference') throw error;
    throw error.with({ place: { mapping: formatOrigin((leaf.kind === 'read' ? leaf.field : undefined) ?? leaf.origin) } });
  }
}

/** Each value as written in the source, changed by `encode`; only literals with a natural datatype use the canonical form. */
function compileEncoded(read: ValuesOf, encode: Encode, { repeats }: Accessors): TextOf {
  const { written } = read;
  const { accepts } = encode;
  const one = (value: Value): string => (typeof value === 'string' ? encode(value) : encode(value.written, value));
  const ofValues: TextOf = (record, position) => {
    const values = read(record, position);
    if (values === null) return null;
    if (typeof values === 'string') return encode(values);
    return Array.isArray(values) ? several(values as readonly Value[], one, repeats) : one(values as Value);
  };
  if (accepts !== undefined) {
    const texts = (written ?? read) as TextOf;
    return (record, position) => {
      const text = texts(record, position);
      return text === null || (typeof text === 'string' && accepts(text)) ? text : ofValues(record, position);
    };
  }
  if (written === undefined) return ofValues;
  return (record) => {
    const texts = written(record);
    if (texts === null) return null;
    return typeof texts === 'string' ? encode(texts) : several(texts, encode as (value: Value) => string, repeats);
  };
}

/** Stands in a text for a value that was left out. No other text of a term has a line feed. */
const LEFT_OUT = '\n';

/** Makes the text of one value: of one that gives no valid term, the fault is handed on where the value is to be left out. */
export function leavingOut<A extends readonly unknown[]>({ leaveOut }: Accessors, make: (...args: A) => string): (...args: A) => string {
  if (leaveOut === undefined) return make;
  return (...args) => {
    try {
      return make(...args);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'record/term') throw error;
      leaveOut(error);
      return LEFT_OUT;
    }
  };
}

/**
 * The texts of a term, without those of values that are left out. A term of which a value cannot be read has none.
 *
 * @param mapping the place of the term in the mapping, for a fault of the source that does not name one
 */
export function withoutLeftOut({ leaveOut }: Accessors, text: TextOf, mapping: string | undefined): TextOf {
  if (leaveOut === undefined) return text;
  return (record, position) => {
    let texts: Text;
    try {
      texts = text(record, position);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'record/term') throw error;
      leaveOut(mapping === undefined ? error : error.with({ place: { mapping, ...error.place } }));
      return null;
    }
    if (texts === null || texts === LEFT_OUT) return null;
    if (typeof texts === 'string' || !texts.includes(LEFT_OUT)) return texts;
    const left = texts.filter((one) => one !== LEFT_OUT);
    return left.length === 0 ? null : left.length === 1 ? (left[0] as string) : left;
  };
}

/** Without duplicates, unless they are wanted: products of the texts would repeat them all. */
export function several(values: readonly Value[], one: (value: Value) => string, repeats?: true): Text {
  if (values.length < 2) return values.length === 0 ? null : one(values[0] as Value);
  if (repeats === true) return values.map(one);
  const texts = new Set<string>();
  for (const value of values) texts.add(one(value));
  const found = [...texts];
  return found.length === 1 ? (found[0] as string) : found;
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

/**
 * An expression as text. The constant ends of a template are in `before` and `after`. Values pass through `encode`, constant parts through
 * `constants`.
 */
export function compileExpression(
  expression: Expression,
  rows: Accessors,
  encode: Encode,
  constants: (text: string) => string = identity,
): Pieces {
  switch (expression.kind) {
    case 'constant':
      return { before: constants(toBytes(expression.text)), after: '', text: () => '' };
    case 'read':
    case 'cell':
      return { before: '', after: '', text: compileEncoded(accessorOf(expression, rows), encode, rows) };
    case 'row': {
      const prefix = `${rows.labels.rows(expression.map)}r`;
      const { origin, columns } = expression;
      const [first, ...others] = columns.map((column) => rows.accessor({ kind: 'cell', origin, column }));
      const identity = first as ValuesOf;
      if (others.length === 0) return { before: '', after: '', text: (record, position) => prefix + textIn(identity(record, position)) };
      const positions = (record: unknown, position: number): string => others.map((cell) => `_${textIn(cell(record, position))}`).join('');
      return {
        before: '',
        after: '',
        text: (record, position) => prefix + textIn(identity(record, position)) + positions(record, position),
      };
    }
    case 'template':
      return compileTemplate(expression, rows, encode, constants);
    case 'call':
      return { before: '', after: '', text: compileEncoded(compileValues(expression, rows), encode, rows) };
    case 'conditional': {
      const { before, after, text } = compileExpression(expression.value, rows, encode, constants);
      return { before, after, text: onlyIf(compileCondition(expression.condition, rows), text) };
    }
  }
}

/** The values of an expression, with their natural datatypes. */
export function compileValues(expression: Expression, rows: Accessors): ValuesOf {
  switch (expression.kind) {
    case 'read':
    case 'cell': {
      const read = accessorOf(expression, rows);
      const natural = rows.datatype(expression);
      if (natural === undefined || natural === null) return read;
      const typed = (value: Value): Value => (typeof value === 'string' ? new TypedValue(value, natural) : value);
      return (row, position) => {
        const values = read(row, position);
        return values === null ? null : Array.isArray(values) ? values.map(typed) : typed(values as Value);
      };
    }
    case 'call':
      return compileCallOf(expression, rows);
    case 'conditional': {
      const values = compileValues(expression.value, rows);
      return onlyIf(compileCondition(expression.condition, rows), values);
    }
    default: {
      const { before, after, text } = compileExpression(expression, rows, identity);
      if (before === '' && after === '') return text;
      return (row, position) => mapText(text(row, position), (inner) => before + inner + after);
    }
  }
}

/** Calls over records by what reads these, and by `expressionKey`. */
const calls = new WeakMap<Accessors['accessor'], Map<string, ValuesOf>>();

/** Equal calls of a record are made once. */
function compileCallOf(call: Extract<Expression, { kind: 'call' }>, rows: Accessors): ValuesOf {
  if (rows.areRecords !== true) return compileNewCall(call, rows);
  const known = calls.get(rows.accessor) ?? new Map<string, ValuesOf>();
  calls.set(rows.accessor, known);
  const key = `${rows.repeats === true ? 'all ' : ''}${expressionKey(call)}`;
  const found = known.get(key) ?? onceForRecord(compileNewCall(call, rows));
  known.set(key, found);
  return found;
}

function onceForRecord(read: ValuesOf): ValuesOf {
  let last: unknown;
  let at = -1;
  let values: Values = null;
  return (row, position) => {
    if (position !== at || row !== last) {
      at = -1;
      values = read(row, position);
      last = row;
      at = position;
    }
    return values;
  };
}

/** Reading a mapping has loaded the functions, and checked that there is this one, with these parameters and results. */
function compileNewCall(call: Extract<Expression, { kind: 'call' }>, rows: Accessors): ValuesOf {
  const { origin, execution, returns } = call;
  const { compileCall, constantly, findFunction } = functionLibrary();
  const definition = rows.functions?.find(execution.function) ?? findFunction(execution.function);
  if (definition === undefined) throw new Error(`there is no function ${execution.function}`);
  const inputs = new Map<string, ValuesOf[]>();
  for (const { parameter, value, file } of execution.inputs) {
    const values = value.kind === 'constant' ? constantly(toBytes(file ?? value.text)) : compileValues(value, rows);
    inputs.set(parameter, [...(inputs.get(parameter) ?? []), values]);
  }
  const seed = `${rows.run} ${rows.part} ${expressionKey({ ...call, returns: undefined })}`;
  return compileCall(definition, inputs, returns, {
    place: { mapping: formatOrigin(origin) },
    seed,
    startedAt: rows.startedAt,
    ...(rows.batch === undefined || rows.areRecords !== true ? {} : { batch: rows.batch }),
  });
}

const listOf = (values: Values): readonly Value[] => (values === null ? [] : Array.isArray(values) ? values : [values as Value]);

/** Whether some value is true. */
function compileCondition(condition: Expression, rows: Accessors): (row: unknown, position: number) => boolean {
  const values = compileValues(condition, rows);
  const isTrue = (value: Value): boolean => (typeof value === 'string' ? value : value.text) === 'true';
  return (row, position) => listOf(values(row, position)).some(isTrue);
}

const onlyIf =
  <T>(holds: (row: unknown, position: number) => boolean, then: (row: unknown, position: number) => T) =>
  (row: unknown, position: number): T | null =>
    holds(row, position) ? then(row, position) : null;

function compileTemplate(expression: Template, rows: Accessors, encode: Encode, constants: (text: string) => string): Pieces {
  // Alternates constant text and references: texts[0] ref[0] texts[1] ref[1] … texts[n].
  const texts: string[] = [''];
  const reads: Leaf[] = [];
  for (const part of expression.parts) {
    if (typeof part === 'string') texts[texts.length - 1] += constants(toBytes(part));
    else {
      reads.push(part);
      texts.push('');
    }
  }
  const valuesOf = (read: Leaf): TextOf => compileEncoded(accessorOf(read, rows), encode, rows);
  const distinct = new Map(reads.map((read) => [leafKey(read), read]));
  if (distinct.size < reads.length) {
    const names = [...distinct.keys()];
    const slots = reads.map((read) => names.indexOf(leafKey(read)));
    const pieces = repeatingTemplate(texts, [...distinct.values()].map(valuesOf), slots);
    return { ...pieces, text: noting(pieces.text, texts.slice(1, -1).join(''), expression, rows) };
  }
  const references = reads.map(valuesOf);
  const before = texts[0] as string;
  const [first, ...others] = references;
  if (first === undefined) return { before, after: '', text: () => '' };
  const after = texts[texts.length - 1] as string;
  if (others.length === 0) return { before, after, text: noting(first, '', expression, rows) };
  if (others.length === 1) {
    const second = others[0] as TextOf;
    const middle = texts[1] as string;
    const note = emptyNote(expression, rows);
    const join = (left: string, right: string): string => {
      if (left === '' && right === '') note?.();
      return left + middle + right;
    };
    return {
      before,
      after,
      text: (record, position) => {
        const left = first(record, position);
        if (left === null) return null;
        const right = second(record, position);
        return typeof left === 'string' && typeof right === 'string' ? join(left, right) : pairTexts(left, right, join);
      },
    };
  }
  return {
    before,
    after,
    text: noting(
      (record, position) => {
        let text = first(record, position);
        for (let i = 0; i < others.length && text !== null; i++) {
          const middle = texts[i + 1] as string;
          text = pairTexts(text, (others[i] as TextOf)(record, position), (l, r) => l + middle + r);
        }
        return text;
      },
      texts.slice(1, -1).join(''),
      expression,
      rows,
    ),
  };
}

type Template = Extract<Expression, { kind: 'template' }>;

/** Called for each text of the template whose references are all empty texts; undefined: they are not counted. */
const emptyNote = (template: Template, { empty }: Accessors): (() => void) | undefined =>
  empty?.(
    () =>
      new Fault('record/term', 'All references of the template are empty texts', {
        place: { mapping: formatOrigin(template.origin), expression: expressionText(template) },
        hint: 'Declare that an empty text is no value (rml:null ""), or clean the data',
      }),
  );

/** The same texts; each that is made of empty values is counted. @param constant the text between the references */
function noting(text: TextOf, constant: string, template: Template, rows: Accessors): TextOf {
  const note = emptyNote(template, rows);
  if (note === undefined) return text;
  return (record, position) => {
    const made = text(record, position);
    if (made === constant) note();
    else if (typeof made === 'object' && made !== null) for (const one of made) if (one === constant) note();
    return made;
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

/** An identity or a position as it stands in a cell; empty: a row without an item or a match. */
const textIn = (cell: Values): string => (typeof cell === 'string' ? cell : cell instanceof TypedValue ? cell.text : '');
