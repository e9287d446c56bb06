/**
 * What a function is: the row of the table that the registry, the compile step, the FnO description, `docs/functions.md` and the tests read.
 *
 * A function gets characters, numbers and lists, never the engine's one-byte text, unless it says `on: 'bytes'`. It throws `DataError` for
 * data that it cannot take.
 */
import type { Limit } from '../core/fault.ts';
import type { Value } from '../core/value.ts';

/**
 * What a function sees of an argument, by the type of the parameter. `any`: the values as the engine has them, with natural datatypes.
 * `lazy`: the same, read only when the function asks for them, so that a call in the branch that is not taken cannot fail.
 */
export interface ArgumentTypes {
  readonly string: string;
  readonly integer: number;
  readonly number: number;
  readonly boolean: boolean;
  readonly list: readonly string[];
  readonly any: readonly Value[];
  readonly lazy: () => readonly Value[];
}

export type ParameterType = keyof ArgumentTypes;

/**
 * The null rule of a parameter.
 *
 * - `value`: must be given; a call without a value for it has no result.
 * - `argument`: must be given; without a value the function sees `undefined`, or an empty list.
 * - `nothing`: may be left out; the same as without a value, which the function sees as `undefined`, or an empty list.
 * - `default`: may be left out; left out or without a value, it is the text `default`.
 */
export type Need = 'value' | 'argument' | 'nothing' | 'default';

export interface Parameter<T extends ParameterType = ParameterType, N extends Need = Need> {
  /** For messages and examples. */
  readonly name: string;
  readonly iri: string;
  /** Other IRIs of the same parameter: its `fno:predicate`, and spellings of other engines. */
  readonly aliases: readonly string[];
  /** `list`, `any` and `lazy` take all values of the argument; of the others, several values give the product. */
  readonly type: T;
  readonly needs: N;
  readonly default: string | undefined;
  /** Throws a `DataError` for what fits the type, and the function refuses whatever its other arguments are. */
  check?(value: ArgumentTypes[T]): void;
  /** The text is, or may be, a regular expression. */
  readonly isPattern?: true;
  /** Part of what says which table the function looks values up in: a constant, since a run reads the table before its first record. */
  readonly ofTable?: 'file' | 'from' | 'to' | 'delimiter';
}

export type ReturnType = Exclude<ParameterType, 'lazy'> | 'date' | 'dateTime';

export interface Return {
  readonly name: string;
  readonly iri: string;
  readonly aliases: readonly string[];
  readonly type: ReturnType;
}

type Item = null | undefined | string | number | boolean | Value;
/** What a function gives back: nothing, one, or several. Nulls in a list are dropped. */
export type Result = Item | readonly Item[];

/** What a function that is not deterministic may use. A repeated attempt of the run gets the same. */
export interface Chance {
  /** 32 random bits, another number at each request. */
  word(): number;
  /** When the run began: milliseconds since 1970-01-01T00:00:00Z. */
  readonly startedAt: number;
}

/** An example that is also a test: arguments in the order of the parameters, `null` for one without a value, and the result. */
export interface Example {
  readonly given: readonly ExampleValue[];
  readonly gives: ExampleValue | Failure;
  /** Name of the return; the first if left out. */
  readonly of?: string;
}
export type ExampleValue = null | undefined | string | number | boolean | readonly (string | number)[];

/** The example fails with a message that contains this text. */
export interface Failure {
  readonly fails: string;
}

export interface FunctionDefinition {
  readonly iri: string;
  readonly aliases: readonly string[];
  /** `grel:toUpperCase`, for messages. */
  readonly name: string;
  /** What it does, in one sentence or two. */
  readonly does: string;
  readonly parameters: readonly Parameter[];
  /** The first is the default. With several, `call` gives one result for each, in this order. */
  readonly returns: readonly Return[];
  readonly on: 'bytes' | 'characters';
  readonly deterministic: boolean;
  /** Never throws, whatever the values. */
  readonly total: boolean;
  /** Arguments in the order of `parameters`, each as its type says; then a `Chance` unless deterministic. */
  readonly call: (...args: readonly unknown[]) => Result | readonly Result[];
  readonly examples: readonly Example[];
  /**
   * For a function whose calls cost less together: makes calls, in their order. At least one outcome; fewer outcomes than calls: the other
   * calls are still to be made. Each call has its arguments as `call` has them.
   *
   * @throws CallLimitError — the first call needs more than a call may have
   */
  readonly callAll?: (calls: readonly (readonly unknown[])[]) => readonly Outcome[];
}

/** What became of one call of several. */
export type Outcome = { readonly result: Result | readonly Result[] } | { readonly error: Error };

/** Functions of the user's own, beside the built-in ones or in their place. */
export interface CustomFunctions {
  /** Digest of their code and description. */
  readonly version: string;
  readonly definitions: readonly FunctionDefinition[];
  find(iri: string): FunctionDefinition | undefined;
}

/** A call needs more time or memory than it may have: this ends the run. */
export class CallLimitError extends Error {
  override readonly name = 'CallLimitError';
  /** The option that sets the limit. */
  readonly limit: Limit;

  constructor(message: string, limit: Limit) {
    super(message);
    this.limit = limit;
  }
}

/** Data that a function cannot take. The compile step makes a fault of it. */
export class DataError extends Error {
  override readonly name = 'DataError';
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}
