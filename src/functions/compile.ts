/** A call: checked against the definition once, then a closure from a row to values. */
import { excerpt, Fault, type FaultPlace } from '../core/fault.ts';
import { h1, hash } from '../core/hash.ts';
import { nearest } from '../core/nearest.ts';
import { fromBytes, toBytes } from '../core/text.ts';
import type { Value, Values } from '../core/value.ts';
import { callAhead, type RecordBatch } from './ahead.ts';
import {
  CallLimitError,
  type Chance,
  DataError,
  type FunctionDefinition,
  type Parameter,
  type ParameterType,
  type Result,
} from './definition.ts';
import { shortName } from './names.ts';
import { numberText, readBoolean, readInteger, readNumber } from './numbers.ts';

/** Values of an argument, or of a call, in one row. `position` is the 0-based position of the record in its iteration. */
export interface Read {
  (row: unknown, position: number): Values;
  /** The value if it is the same in every row: what the function sees of it is then made once. */
  readonly constant?: Value;
}

/** The same one-byte text in every row. */
export const constantly = (text: string): Read => Object.assign(() => text, { constant: text });

/** IRI of a parameter, or one of its aliases → its inputs. Only parameters that take all values may have several inputs. */
export type Arguments = ReadonlyMap<string, Read | readonly Read[]>;

export interface CallContext {
  /** The statement of the mapping, and what else is known beforehand; part of every fault. */
  readonly place?: FaultPlace;
  /** For functions that are not deterministic: text that identifies run and call. Two calls with the same seed give the same. */
  readonly seed?: string;
  /** Text that identifies the row in the run, for functions that are not deterministic. Left out: the position. */
  readonly identity?: (row: unknown, position: number) => string;
  /** When the run began, in milliseconds since 1970; left out: the time of this call. */
  readonly startedAt?: number;
  /** The records that are being mapped: calls that cost less together are made for several of them. */
  readonly batch?: RecordBatch;
}

/**
 * Compiles a call of `definition`.
 *
 * The closure gives `null` if an argument that needs a value has none. Several values of arguments that take one give the product, the last
 * parameter varying fastest; nulls among the results are dropped.
 *
 * @param returns IRI of the return; undefined: the first
 * @throws Fault mapping/invalid — an unknown parameter or return, a parameter given twice, a missing one. The closure throws record/term.
 */
export function compileCall(definition: FunctionDefinition, args: Arguments, returns: string | undefined, context: CallContext = {}): Read {
  const bound = bind(definition, args, context);
  const at = returnIndex(definition, returns, context);
  const encode = definition.on === 'bytes' ? resultOfBytes : resultOfCharacters;
  const pick =
    definition.returns.length === 1
      ? (result: Result | readonly Result[]): Values => encode(result as Result)
      : (result: Result | readonly Result[]): Values => encode((result as readonly Result[])[at]);
  const made = callerOf(definition, bound, pick, context);
  return (row, position) => {
    try {
      return made(row, position);
    } catch (error) {
      throw failure(error, definition, bound, context, row, position);
    }
  };
}

/**
 * What is wrong with a text that an argument is in every row: the parameter cannot take it. undefined: nothing, or there is no such parameter.
 *
 * @param parameter IRI or alias
 * @param text ordinary text
 */
export function constantProblem(definition: FunctionDefinition, parameter: string, text: string): DataError | undefined {
  const found = parameterOf(definition, parameter);
  if (found === undefined || found.type === 'any' || found.type === 'lazy') return undefined;
  try {
    const value = found.type === 'list' ? [text] : CONVERTERS.characters[found.type](toBytes(text));
    found.check?.(value as never);
    return undefined;
  } catch (error) {
    if (error instanceof DataError) return error;
    throw error;
  }
}

function callerOf({ call, callAll, deterministic }: FunctionDefinition, bound: readonly Bound[], pick: Pick, context: CallContext): Read {
  if (!deterministic) return randomCaller(bound, call, pick, chances(context));
  if (callAll === undefined || context.batch === undefined) return caller(bound, call, pick);
  const callsOf = (row: unknown, position: number): readonly (readonly unknown[])[] => {
    const slots = slotsOf(bound, row, position);
    if (slots === undefined) return [];
    return slots.some((slot) => slot instanceof Several) ? combinations(bound, slots) : [slots];
  };
  return callAhead(callsOf, callAll, (results) => oneOrSeveral(results.flatMap((result) => listOf(pick(result)))), context.batch);
}

type Call = FunctionDefinition['call'];
type Pick = (result: Result | readonly Result[]) => Values;

/** Without an array of arguments for the numbers of them that most functions have. */
function caller(bound: readonly Bound[], call: Call, pick: Pick): Read {
  const [first, second, third] = bound.map(({ slot }) => slot);
  if (first === undefined || bound.length > 3) return anyCaller(bound, call, pick);
  if (second === undefined)
    return (row, position) => {
      const a = first(row, position);
      if (a === NONE) return null;
      return a instanceof Several ? product(bound, [a], call, pick) : pick(call(a));
    };
  if (third === undefined)
    return (row, position) => {
      const a = first(row, position);
      if (a === NONE) return null;
      const b = second(row, position);
      if (b === NONE) return null;
      return a instanceof Several || b instanceof Several ? product(bound, [a, b], call, pick) : pick(call(a, b));
    };
  return (row, position) => {
    const a = first(row, position);
    if (a === NONE) return null;
    const b = second(row, position);
    if (b === NONE) return null;
    const c = third(row, position);
    if (c === NONE) return null;
    const isProduct = a instanceof Several || b instanceof Several || c instanceof Several;
    return isProduct ? product(bound, [a, b, c], call, pick) : pick(call(a, b, c));
  };
}

function anyCaller(bound: readonly Bound[], call: Call, pick: Pick): Read {
  return (row, position) => {
    const slots = slotsOf(bound, row, position);
    if (slots === undefined) return null;
    return slots.some((slot) => slot instanceof Several) ? product(bound, slots, call, pick) : pick(call(...slots));
  };
}

function randomCaller(bound: readonly Bound[], call: Call, pick: Pick, chanceOf: (row: unknown, position: number) => Chance): Read {
  return (row, position) => {
    const slots = slotsOf(bound, row, position);
    if (slots === undefined) return null;
    const chance = chanceOf(row, position);
    return product(bound, slots, (...given) => call(...given, chance), pick);
  };
}

/** undefined: a parameter that needs a value has none. */
function slotsOf(bound: readonly Bound[], row: unknown, position: number): unknown[] | undefined {
  const slots: unknown[] = [];
  for (const { slot } of bound) {
    const given = slot(row, position);
    if (given === NONE) return undefined;
    slots.push(given);
  }
  return slots;
}

// ---------------------------------------------------------------- arguments

/** No value for a parameter that needs one. */
const NONE = Symbol('none');

/** The values of an argument of which each is passed alone. */
class Several {
  readonly values: readonly Value[];

  constructor(values: readonly Value[]) {
    this.values = values;
  }
}

interface Bound {
  readonly name: string;
  readonly read: Read;
  /** A single value → what the function sees; undefined for parameters that take all values. */
  readonly one: ((value: Value) => unknown) | undefined;
  readonly isLazy: boolean;
  readonly slot: (row: unknown, position: number) => unknown;
}

const empty: Read = () => null;

function bind(definition: FunctionDefinition, args: Arguments, context: CallContext): readonly Bound[] {
  const reads = new Map<Parameter, Read[]>();
  for (const [iri, given] of inOrder(args)) {
    const parameter = parameterOf(definition, iri);
    if (parameter === undefined) throw unknownName('parameter', iri, definition, definition.parameters, context);
    const all = reads.get(parameter) ?? [];
    all.push(...(typeof given === 'function' ? [given] : given));
    reads.set(parameter, all);
    if (all.length > 1 && !takesAll(parameter)) {
      throw invalid(`The parameter ${shortName(parameter.iri)} of ${definition.name} is given twice`, 'Give it once.', context);
    }
  }
  const missing = definition.parameters.filter((one) => (one.needs === 'value' || one.needs === 'argument') && !reads.has(one));
  if (missing.length > 0) {
    throw invalid(
      `The function ${definition.name} needs ${list(missing.map(({ iri }) => shortName(iri)))}`,
      `It takes ${namesOf(definition.parameters)}.`,
      context,
    );
  }
  return definition.parameters.map((parameter) => boundArgument(parameter, together(reads.get(parameter) ?? []), definition.on));
}

/** The parameter with this IRI, in any of its spellings. */
export function parameterOf({ parameters }: FunctionDefinition, iri: string): Parameter | undefined {
  const name = iri.replace(MEMBER, '$1_nnn');
  return parameters.find((one) => one.iri === name) ?? parameters.find((one) => one.aliases.includes(name));
}

/** `rdf:_1`, `rdf:_2`, …: the items of a list that is given one by one. */
const MEMBER = /^(http:\/\/www\.w3\.org\/1999\/02\/22-rdf-syntax-ns#)_\d+$/;

/** Items of a list by their numbers; all else as it is. */
function inOrder(args: Arguments): readonly (readonly [string, Read | readonly Read[]])[] {
  const number = (iri: string): number => (MEMBER.test(iri) ? Number(iri.slice(iri.lastIndexOf('_') + 1)) : 0);
  return [...args].sort(([a], [b]) => number(a) - number(b));
}

const takesAll = ({ type }: Parameter): boolean => type === 'list' || type === 'any' || type === 'lazy';

/** The values of several inputs, one after the other. */
function together(reads: readonly Read[]): Read {
  const [only = empty] = reads;
  if (reads.length <= 1) return only;
  return (row, position) => {
    const all: Value[] = [];
    for (const read of reads) {
      const values = read(row, position);
      if (values === null) continue;
      if (Array.isArray(values)) all.push(...(values as readonly Value[]));
      else all.push(values as Value);
    }
    return all;
  };
}

function boundArgument(parameter: Parameter, read: Read, on: FunctionDefinition['on']): Bound {
  const { name, type, needs } = parameter;
  const skips = needs === 'value';
  const argument = { name, read };
  if (type === 'lazy') return { ...argument, isLazy: true, one: undefined, slot: (row, position) => () => listOf(read(row, position)) };
  if (type === 'list' || type === 'any') {
    const convert = type === 'list' ? CONVERTERS[on].string : undefined;
    const slot = (row: unknown, position: number): unknown => {
      const values = listOf(read(row, position));
      if (values.length === 0 && skips) return NONE;
      return convert === undefined ? values : values.map(convert);
    };
    return { ...argument, isLazy: false, one: undefined, slot };
  }
  const one = CONVERTERS[on][type];
  const without = skips ? NONE : parameter.default === undefined ? undefined : one(toBytes(parameter.default));
  const slot = (row: unknown, position: number): unknown => {
    const values = read(row, position);
    if (typeof values === 'string') return one(values);
    if (values === null) return without;
    if (!Array.isArray(values)) return one(values as Value);
    if (values.length > 1) return new Several(values);
    return values.length === 0 ? without : one(values[0] as Value);
  };
  return { ...argument, isLazy: false, one, slot: read.constant === undefined ? slot : onceConverted(slot) };
}

/** The argument as the function sees it, made at the first call: a value that the parameter cannot take is a fault of the record. */
function onceConverted(slot: Bound['slot']): Bound['slot'] {
  let converted: unknown = NONE;
  return (row, position) => {
    if (converted === NONE) converted = slot(row, position);
    return converted;
  };
}

const listOf = (values: Values): readonly Value[] => (values === null ? [] : Array.isArray(values) ? values : [values as Value]);
const textOf = (value: Value): string => (typeof value === 'string' ? value : value.text);

type Converters = Readonly<Record<Exclude<ParameterType, 'list' | 'any' | 'lazy'>, (value: Value) => unknown>>;

const charactersOf = (value: Value): string => fromBytes(typeof value === 'string' ? value : value.text);

/** What is read of characters in any function. */
const READ = {
  integer: (value: Value): number => readInteger(charactersOf(value)),
  number: (value: Value): number => readNumber(charactersOf(value)),
  boolean: (value: Value): boolean => readBoolean(charactersOf(value)),
};

const CONVERTERS: Readonly<Record<FunctionDefinition['on'], Converters>> = {
  bytes: { ...READ, string: textOf },
  characters: { ...READ, string: charactersOf },
};

/** The results of all combinations of the values in `slots`. */
const product = (bound: readonly Bound[], slots: readonly unknown[], call: Call, pick: Pick): Values =>
  oneOrSeveral(combinations(bound, slots).flatMap((given) => listOf(pick(call(...given)))));

const oneOrSeveral = (values: readonly Value[]): Values =>
  values.length === 0 ? null : values.length === 1 ? (values[0] as Value) : values;

/** All combinations of the values in `slots`, the last parameter varying fastest. */
function combinations(bound: readonly Bound[], slots: readonly unknown[]): readonly (readonly unknown[])[] {
  const all: (readonly unknown[])[] = [];
  const given = [...slots];
  const fill = (at: number): void => {
    if (at === given.length) {
      all.push([...given]);
      return;
    }
    const slot = slots[at];
    const one = bound[at]?.one;
    if (!(slot instanceof Several) || one === undefined) fill(at + 1);
    else {
      for (const value of slot.values) {
        given[at] = one(value);
        fill(at + 1);
      }
    }
  };
  fill(0);
  return all;
}

// ---------------------------------------------------------------- results

function resultOfCharacters(result: Result): Values {
  return typeof result === 'string' ? toBytes(result) : resultWith(result, toBytes);
}

function resultOfBytes(result: Result): Values {
  return typeof result === 'string' ? result : resultWith(result, same);
}

const same = (text: string): string => text;

function resultWith(result: Result, encode: (text: string) => string): Values {
  if (result === null || result === undefined) return null;
  if (typeof result === 'string') return encode(result);
  if (typeof result === 'number') return numberText(result);
  if (typeof result === 'boolean') return result ? 'true' : 'false';
  if (!Array.isArray(result)) return result as Value;
  if (result.length === 1) return resultWith(result[0], encode);
  const values: Value[] = [];
  for (const item of result) {
    const value = resultWith(item, encode);
    if (value !== null) values.push(value as Value);
  }
  return oneOrSeveral(values);
}

// ---------------------------------------------------------------- chance

function chances({ seed = '', identity, startedAt = Date.now() }: CallContext): (row: unknown, position: number) => Chance {
  return (row, position) => {
    const text = toBytes(`${seed}\n${identity === undefined ? position : identity(row, position)}\n`);
    let count = 0;
    return {
      startedAt,
      word: () => {
        hash(text + count++, 0);
        return h1 >>> 0;
      },
    };
  };
}

// ---------------------------------------------------------------- faults

function returnIndex(definition: FunctionDefinition, iri: string | undefined, context: CallContext): number {
  if (iri === undefined) return 0;
  const at = definition.returns.findIndex((one) => one.iri === iri || one.aliases.includes(iri));
  if (at < 0) throw unknownName('return', iri, definition, definition.returns, context);
  return at;
}

interface Named {
  readonly iri: string;
  readonly aliases: readonly string[];
}

const localName = (iri: string): string => /[^#/]*$/.exec(iri)?.[0] ?? iri;
const namesOf = (known: readonly Named[]): string => list(known.map(({ iri }) => shortName(iri)));
const list = (names: readonly string[]): string => (names.length === 0 ? 'nothing' : names.join(', '));

function unknownName(
  kind: 'parameter' | 'return',
  iri: string,
  definition: FunctionDefinition,
  known: readonly Named[],
  context: CallContext,
): Fault {
  const all = known.flatMap((one) => [one.iri, ...one.aliases]);
  const near = nearest(iri, all, 1, localName).map(shortName);
  const exists = `It ${kind === 'parameter' ? 'takes' : 'returns'} ${namesOf(known)}.`;
  return invalid(
    `The function ${definition.name} has no ${kind} ${shortName(iri)}`,
    near.length === 0 ? exists : `${exists} Did you mean ${near[0]}?`,
    context,
  );
}

const invalid = (message: string, hint: string, { place = {} }: CallContext): Fault =>
  new Fault('mapping/invalid', message, { place, hint });

/** What a function on bytes quotes of its arguments may be bytes, or decoded already. */
function charactersIfBytes(text: string): string {
  const decoded = fromBytes(text);
  return decoded.includes('\ufffd') ? text : decoded;
}

/** Faults of arguments, which may be calls themselves, stay as they are. */
function failure(
  error: unknown,
  definition: FunctionDefinition,
  bound: readonly Bound[],
  context: CallContext,
  row: unknown,
  position: number,
): unknown {
  if (error instanceof Fault) return error;
  const shown = bound.flatMap(({ name, read, isLazy }) => {
    // What was not read may fail.
    if (read === empty || isLazy) return [];
    const values = read(row, position);
    const texts = (values === null ? [] : Array.isArray(values) ? (values as readonly Value[]) : [values as Value])
      .map(textOf)
      .map(fromBytes);
    return [`${name} = ${texts.length === 0 ? 'nothing' : texts.map((text) => excerpt(text)).join(', ')}`];
  });
  const hint = error instanceof DataError ? error.hint : undefined;
  const said = error instanceof Error ? error.message : String(error);
  const message = definition.on === 'bytes' ? said.replace(/[\x80-\xff]+/g, charactersIfBytes) : said;
  if (error instanceof CallLimitError) {
    return new Fault('limit/exceeded', `A call of the function ${definition.name} was ended: ${message}`, {
      limit: error.limit,
      place: { expression: definition.name, ...context.place, value: shown.join('; ') },
      hint: `Correct the function, or raise ${error.limit}`,
    });
  }
  return new Fault('record/term', `The function ${definition.name} fails: ${message}`, {
    place: { expression: definition.name, ...context.place, value: shown.join('; ') },
    cause: error,
    ...(hint === undefined ? {} : { hint }),
  });
}
