/** Passwords, tokens and keys: values that nothing prints. */

const HIDDEN = '******';

/**
 * A secret text. Text conversion, JSON and Node's `inspect` give `******`; only `reveal` gives the text, where it is used.
 *
 * A structured clone of it is empty: `packSecrets` carries it to a thread.
 */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Undefined for undefined, and a secret for itself. */
  static of<T extends Secret | string | undefined>(text: T): Secret | (T & undefined) {
    return (typeof text === 'string' ? new Secret(text) : text) as Secret | (T & undefined);
  }

  /** For the library or the comparison that needs the text; never for a message, a key of a map that is shown, or a job. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [Symbol.toPrimitive](): string {
    return HIDDEN;
  }

  /** What `util.inspect` and `console.log` show; the symbol is that of Node's `inspect.custom`. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return HIDDEN;
  }
}

/** A value for a structured clone. Only `unpackSecrets` reads it. */
export interface Packed<T> {
  readonly packed: T;
}

const MARK = 'quadmill:secret';

/** Replaces the secrets of plain data by what survives a structured clone: for messages between threads of one process, and nothing else. */
export function packSecrets<T>(value: T): Packed<T> {
  return { packed: replaced(value, (one) => (one instanceof Secret ? { [MARK]: one.reveal() } : undefined)) as T };
}

/** The inverse of `packSecrets`, in the thread. */
export function unpackSecrets<T>({ packed }: Packed<T>): T {
  return replaced(packed, (one) => {
    const text = (one as Readonly<Record<string, unknown>>)[MARK];
    return typeof text === 'string' ? new Secret(text) : undefined;
  }) as T;
}

/**
 * Plain objects and arrays in which objects are replaced: a copy of those that hold one, however deep. Everything else is kept. What occurs in
 * several places is copied once.
 */
function replaced(value: unknown, replacement: (one: object) => unknown, known = new Map<object, unknown>()): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const copy = known.get(value) ?? replacement(value) ?? replacedWithin(value, (one) => replaced(one, replacement, known));
  known.set(value, copy);
  return copy;
}

function replacedWithin(value: object, replace: (one: unknown) => unknown): object {
  const isArray = Array.isArray(value);
  if (!isArray && !isPlain(value)) return value;
  const before: readonly unknown[] = isArray ? value : Object.values(value);
  const after = before.map(replace);
  if (after.every((one, i) => one === before[i])) return value;
  return isArray ? after : Object.fromEntries(Object.keys(value).map((name, i) => [name, after[i]]));
}

/** Neither an instance of a class nor a map, a set or a typed array, in any realm: above the prototype of a plain object there is nothing. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
