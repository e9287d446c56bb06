/**
 * JSON whose numbers keep their text. `JSON.parse` rounds integers beyond 2^53, which keys of tables have, and cuts the zeros of decimals.
 *
 * An envelope with its schema is six times as long as without. So what a member of the outermost object holds can be left as text: the reader
 * parses a schema once.
 */

/** A number, as it stands in the text. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value that was not parsed. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Json = string | boolean | null | JsonNumber | JsonText | readonly Json[] | JsonObject;

/** A column may be named `constructor`: ask with `Object.hasOwn` before a name that the code does not know is read. */
export interface JsonObject {
  readonly [name: string]: Json | undefined;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber) && !(value instanceof JsonText);

/** The number of arrays and objects in one another. Debezium writes five; a value of a text column that holds JSON is a text. */
const MAX_DEPTH = 100;

/**
 * @param asText a member of the outermost object that becomes a `JsonText`
 * @throws SyntaxError — the text is no JSON; says where, in characters from 0
 */
export function parseJson(text: string, asText?: string): Json {
  const parser = new Parser(text, asText);
  const value = parser.value(0);
  parser.end();
  return value;
}

/** The text of a value, without spaces. `JsonText` is as it was. */
export function printJson(value: Json | undefined): string {
  if (value instanceof JsonNumber || value instanceof JsonText) return value.text;
  if (Array.isArray(value)) return `[${value.map(printJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value ?? null);
  return `{${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}:${printJson(member)}`)
    .join(',')}}`;
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

class Parser {
  readonly #text: string;
  readonly #asText: string | undefined;
  #at = 0;

  constructor(text: string, asText: string | undefined) {
    this.#text = text;
    this.#asText = asText;
  }

  end(): void {
    this.#space();
    if (this.#at < this.#text.length) throw this.#wrong();
  }

  value(depth: number): Json {
    this.#space();
    const c = this.#text.charCodeAt(this.#at);
    if (c === QUOTE) return this.#string();
    if (c === BRACE || c === BRACKET) {
      if (depth === MAX_DEPTH) throw new SyntaxError(`more than ${MAX_DEPTH} arrays and objects in one another at character ${this.#at}`);
      return c === BRACE ? this.#object(depth + 1) : this.#array(depth + 1);
    }
    if (c === LETTER_N) return this.#literal('null', null);
    if (c === LETTER_T) return this.#literal('true', true);
    if (c === LETTER_F) return this.#literal('false', false);
    NUMBER.lastIndex = this.#at;
    if (!NUMBER.test(this.#text)) throw this.#wrong();
    const number = this.#text.slice(this.#at, NUMBER.lastIndex);
    this.#at = NUMBER.lastIndex;
    return new JsonNumber(number);
  }

  #literal<T>(text: string, value: T): T {
    if (!this.#text.startsWith(text, this.#at)) throw this.#wrong();
    this.#at += text.length;
    return value;
  }

  #object(depth: number): JsonObject {
    const members: { [name: string]: Json } = {};
    this.#at++;
    if (this.#is(CLOSING_BRACE)) return members;
    do {
      this.#space();
      if (this.#text.charCodeAt(this.#at) !== QUOTE) throw this.#wrong();
      const name = this.#string();
      if (!this.#is(COLON)) throw this.#wrong();
      this.#space();
      const start = this.#at;
      if (depth === 1 && name === this.#asText) {
        this.#skip();
        members[name] = new JsonText(this.#text.slice(start, this.#at));
      } else if (name === '__proto__') define(members, name, this.value(depth));
      else members[name] = this.value(depth);
    } while (this.#is(COMMA));
    if (!this.#is(CLOSING_BRACE)) throw this.#wrong();
    return members;
  }

  #array(depth: number): readonly Json[] {
    const items: Json[] = [];
    this.#at++;
    if (this.#is(CLOSING_BRACKET)) return items;
    do items.push(this.value(depth));
    while (this.#is(COMMA));
    if (!this.#is(CLOSING_BRACKET)) throw this.#wrong();
    return items;
  }

  #string(): string {
    const start = this.#at;
    let end = this.#text.indexOf('"', start + 1);
    while (end > 0 && this.#isEscaped(end)) end = this.#text.indexOf('"', end + 1);
    this.#at = end < 0 ? this.#text.length : end + 1;
    if (end < 0) throw this.#wrong();
    const inside = this.#text.slice(start + 1, end);
    if (!UNUSUAL.test(inside)) return inside;
    try {
      return JSON.parse(this.#text.slice(start, end + 1));
    } catch {
      this.#at = start;
      throw this.#wrong();
    }
  }

  /** Whether the quote has an odd number of backslashes before it. */
  #isEscaped(quote: number): boolean {
    let first = quote;
    while (this.#text.charCodeAt(first - 1) === BACKSLASH) first--;
    return (quote - first) % 2 === 1;
  }

  /** Passes over a value. What is not well-formed in it is found when it is parsed. */
  #skip(): void {
    let depth = 0;
    do {
      this.#space();
      const c = this.#text.charCodeAt(this.#at);
      if (c === QUOTE) this.#string();
      else if (Number.isNaN(c)) throw this.#wrong();
      else {
        if (c === BRACE || c === BRACKET) depth++;
        if (c === CLOSING_BRACE || c === CLOSING_BRACKET) depth--;
        if (depth < 0) throw this.#wrong();
        this.#at++;
        while (depth === 0 && /[\w.+-]/.test(this.#text.charAt(this.#at))) this.#at++;
      }
    } while (depth > 0);
  }

  /** Passes over the character, if it is the next one. */
  #is(character: number): boolean {
    this.#space();
    if (this.#text.charCodeAt(this.#at) !== character) return false;
    this.#at++;
    return true;
  }

  #space(): void {
    for (;;) {
      const c = this.#text.charCodeAt(this.#at);
      if (c !== 32 && c !== 10 && c !== 13 && c !== 9) return;
      this.#at++;
    }
  }

  #wrong(): SyntaxError {
    return new SyntaxError(this.#at < this.#text.length ? `unexpected text at character ${this.#at}` : 'it ends too early');
  }
}

/** Sets a member whatever its name: an assignment to `__proto__` would set the prototype. */
export function define<T>(object: { [name: string]: T }, name: string, value: T): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

/** Escapes, and characters that a string may not have. */
const UNUSUAL = /[\\\x00-\x1f]/;
const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BRACKET = 91;
const BACKSLASH = 92;
const LETTER_F = 102;
const LETTER_N = 110;
const LETTER_T = 116;
const CLOSING_BRACKET = 93;
const BRACE = 123;
const CLOSING_BRACE = 125;
