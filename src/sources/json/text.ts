/**
 * JSON text → values, with all text as UTF-8 in one-byte strings (see `text.ts`).
 *
 * JSON syntax is ASCII, so `JSON.parse` can read the bytes of a document as if they were Latin-1: every text, including member names, comes
 * out as its bytes. Only `\u` escapes denote characters; they are rewritten to bytes beforehand.
 */
import { fromBytes, toBytes } from '../../core/text.ts';
import { TypedValue, XSD } from '../../core/value.ts';

const TEXT: unique symbol = Symbol('text');

/** A number whose spelling a double would not preserve. Its text is stored under a symbol, so that no member name finds it. */
export class Numeral {
  readonly [TEXT]: string;

  constructor(text: string) {
    this[TEXT] = text;
  }
}

/** The number as written in the document. */
export const writtenNumber = (value: number | Numeral): string => {
  if (typeof value !== 'number') return value[TEXT];
  return value === 0 && Object.is(value, -0) ? '-0' : String(value);
};

/** A value of which no text can be made. */
export class UnreadableValue {
  /** A sentence without its full stop. */
  readonly message: string;
  /** Excerpt. */
  readonly value: string;

  constructor(message: string, value: string) {
    this.message = message;
    this.value = value;
  }
}

/** A value within a nested value of another format than JSON, of a type that JSON does not have: a date, a decimal. */
export class ForeignValue {
  readonly [TEXT]: TypedValue | UnreadableValue;

  constructor(value: TypedValue | UnreadableValue) {
    this[TEXT] = value;
  }
}

export const foreignValue = (node: ForeignValue): TypedValue | UnreadableValue => node[TEXT];

const NUMBERS: ReadonlySet<string> = new Set(['integer', 'decimal', 'double'].map((name) => XSD + name));

/** As what a filter compares it: a number, or the text. */
export function comparable(value: unknown): unknown {
  if (!(value instanceof ForeignValue)) return value;
  const typed = value[TEXT];
  if (!(typed instanceof TypedValue)) return undefined;
  return NUMBERS.has(typed.datatype) && /\d/.test(typed.written) ? new Numeral(typed.written) : typed.written;
}

/** Half of a surrogate pair, encoded like a character. Nothing else has these bytes: the input has been validated as UTF-8. */
const LONE = /\xed[\xa0-\xbf][\x80-\xbf]/;

/** A text with a `\u` escape that is half of a surrogate pair: it has no UTF-8 form, so using it as text must be reported. */
export class IllFormedText {
  readonly [TEXT]: string;

  constructor(text: string) {
    this[TEXT] = text;
  }
}

/** For messages, as ordinary text: the first escape that is not a character, such as `\ud83d`, with its surroundings. */
export function illFormedPart(value: IllFormedText): { readonly escape: string; readonly around: string } {
  const escapeOf = (bytes: string): string => `\\ud${(((bytes.charCodeAt(1) & 0x3f) << 6) | (bytes.charCodeAt(2) & 0x3f)).toString(16)}`;
  const escape = escapeOf((LONE.exec(value[TEXT]) as RegExpExecArray)[0]);
  const shown = fromBytes(value[TEXT].replace(new RegExp(LONE, 'g'), escapeOf));
  const at = shown.indexOf(escape);
  return { escape, around: shown.slice(Math.max(0, at - 30), at + 30) };
}

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Numeral) &&
  !(value instanceof IllFormedText) &&
  !(value instanceof ForeignValue);

/** Why a text is not JSON. `offset` counts bytes from its beginning. */
export class JsonSyntaxError extends Error {
  readonly offset: number;
  readonly hint: string | undefined;

  constructor(message: string, offset: number, hint?: string) {
    super(message);
    this.offset = offset;
    this.hint = hint;
  }
}

const NO_CLOSING_QUOTE = 'A text has no closing quote';

export const CONTROL_HINT = 'Write it as an escape, such as \\n, or add the closing quote that is missing before it';

/** A hint for the character `found` where a value or a name was expected; undefined: none. */
export function adviceFor(found: string, expected: string): string | undefined {
  if (!/^a (value|name)/.test(expected)) return undefined;
  if (found === ']' || found === '}') return 'A comma may not stand before a closing bracket, and each name needs a value';
  if (/^[A-Za-z_'\x80-\xff]/.test(found)) return 'Texts and names stand in double quotes; values without are numbers, true, false and null';
  return undefined;
}

/**
 * Parses one JSON text to plain values: objects, arrays, one-byte strings, numbers, booleans, null; with `exact`, `Numeral` for numbers
 * with more than 15 digits, an exponent, or a fraction that ends in zero; `IllFormedText` for texts with half of a surrogate pair. Of
 * members with the same name the last counts.
 *
 * @param exact preserve the spelling of numbers; several times slower
 * @throws JsonSyntaxError
 */
export function parseJson(text: string, exact: boolean): unknown {
  if (exact) return new ExactParser(text).parse();
  try {
    const bytes = text.includes('\\u') ? escapesToBytes(text) : text;
    return bytes !== text && LONE.test(bytes) ? new ExactParser(text).parse() : JSON.parse(bytes);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // Engines report the place of the error differently; the strict parser below determines it exactly.
    new ExactParser(text).parse();
    throw new JsonSyntaxError('The JSON document is not well-formed', 0);
  }
}

/** What is wrong with the beginning of a JSON text; undefined: nothing. A text, number or literal at its end may be cut off. */
export function errorBeforeEnd(text: string): JsonSyntaxError | undefined {
  try {
    parseJson(text, true);
    return undefined;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const isCut = error.message === NO_CLOSING_QUOTE || /^[\w.+-]{0,400}$/.test(text.slice(error.offset, error.offset + 401));
    return isCut ? undefined : error;
  }
}

/**
 * The name of a member from the text between its quotes, whose escapes have been checked. A name with half of a surrogate pair matches no
 * reference.
 */
export const parseName = (written: string): string => (written.includes('\\') ? JSON.parse(escapesToBytes(`"${written}"`)) : written);

/** A text from its opening to its closing quote, whose escapes have been checked; undefined: it has half of a surrogate pair. */
export function parseText(written: string): string | undefined {
  const bytes = escapesToBytes(written);
  return bytes !== written && LONE.test(bytes) ? undefined : JSON.parse(bytes);
}

/** Replaces `\u` escapes of non-ASCII characters by bytes, and half of a surrogate pair by `LONE`. */
function escapesToBytes(text: string): string {
  let written = '';
  let done = 0;
  for (let at = text.indexOf('\\u'); at >= 0; at = text.indexOf('\\u', at)) {
    let run = at;
    while (run > 0 && text.charCodeAt(run - 1) === 92) run--;
    const first = codeAt(text, at);
    if ((at - run) % 2 === 1 || !(first >= 0x80)) {
      // The backslash is itself escaped, or the escape is ASCII, which JSON.parse may need in escaped form.
      at += 2;
      continue;
    }
    const low = (first & 0xfc00) === 0xd800 ? codeAt(text, at + 6) : 0;
    const paired = (low & 0xfc00) === 0xdc00;
    written += text.slice(done, at);
    if (!paired && (first & 0xf800) === 0xd800) written += String.fromCharCode(0xed, 0x80 | ((first >> 6) & 0x3f), 0x80 | (first & 0x3f));
    else written += toBytes(paired ? String.fromCharCode(first, low) : String.fromCharCode(first));
    at += paired ? 12 : 6;
    done = at;
  }
  return done === 0 ? text : written + text.slice(done);
}

/** The code unit of the `\u` escape at `at`; NaN if there is none. */
function codeAt(text: string, at: number): number {
  if (text.charCodeAt(at) !== 92 || text.charCodeAt(at + 1) !== 117) return Number.NaN;
  const digits = text.slice(at + 2, at + 6);
  return /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : Number.NaN;
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

/** Strict RFC 8259 parser by recursive descent. The caller has limited the depth. */
class ExactParser {
  private readonly text: string;
  private at = 0;

  constructor(text: string) {
    this.text = text;
  }

  parse(): unknown {
    const value = this.value();
    this.space();
    if (this.at < this.text.length) this.unexpected('nothing');
    return value;
  }

  private value(): unknown {
    this.space();
    const c = this.text.charCodeAt(this.at);
    if (c === 34) {
      const text = this.string();
      return LONE.test(text) ? new IllFormedText(text) : text;
    }
    if (c === 123) return this.object();
    if (c === 91) return this.array();
    if (c === 45 || (c >= 48 && c <= 57)) return this.number();
    if (c === 116) return this.literal('true', true);
    if (c === 102) return this.literal('false', false);
    if (c === 110) return this.literal('null', null);
    return this.unexpected('a value');
  }

  private object(): JsonObject {
    const object: Record<string, unknown> = {};
    this.at++;
    this.space();
    if (this.text.charCodeAt(this.at) === 125) {
      this.at++;
      return object;
    }
    for (;;) {
      this.space();
      if (this.text.charCodeAt(this.at) !== 34) this.unexpected('a name in double quotes');
      const name = this.string();
      this.space();
      if (this.text.charCodeAt(this.at) !== 58) this.unexpected('":"');
      this.at++;
      const value = this.value();
      if (name === '__proto__') Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
      else object[name] = value;
      this.space();
      const c = this.text.charCodeAt(this.at);
      if (c !== 44 && c !== 125) this.unexpected('"," or "}"');
      this.at++;
      if (c === 125) return object;
    }
  }

  private array(): unknown[] {
    const array: unknown[] = [];
    this.at++;
    this.space();
    if (this.text.charCodeAt(this.at) === 93) {
      this.at++;
      return array;
    }
    for (;;) {
      array.push(this.value());
      this.space();
      const c = this.text.charCodeAt(this.at);
      if (c !== 44 && c !== 93) this.unexpected('"," or "]"');
      this.at++;
      if (c === 93) return array;
    }
  }

  private string(): string {
    const { text } = this;
    const from = this.at;
    let plain = true;
    let i = from + 1;
    for (; ; i++) {
      const c = text.charCodeAt(i);
      if (c === 34) break;
      if (c === 92) {
        plain = false;
        i++;
      } else if (c < 32) this.fail('A text has a control character in it', i, CONTROL_HINT);
      if (i >= text.length) this.fail(NO_CLOSING_QUOTE, from);
    }
    this.at = i + 1;
    if (plain) return text.slice(from + 1, i);
    try {
      return JSON.parse(escapesToBytes(text.slice(from, i + 1)));
    } catch {
      return this.fail('A text has a backslash that begins no escape of JSON', from);
    }
  }

  private number(): number | Numeral {
    NUMBER.lastIndex = this.at;
    const written = NUMBER.exec(this.text)?.[0];
    if (written === undefined) return this.unexpected('a number');
    this.at += written.length;
    const next = this.text.charCodeAt(this.at);
    if ((next >= 48 && next <= 57) || next === 46) this.fail('A number is not as JSON writes numbers', this.at);
    const value = Number(written);
    return writtenNumber(value) === written ? value : new Numeral(written);
  }

  private literal<T>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.at)) this.unexpected('a value');
    this.at += word.length;
    return value;
  }

  private space(): void {
    for (;;) {
      const c = this.text.charCodeAt(this.at);
      if (c !== 32 && c !== 10 && c !== 13 && c !== 9) return;
      this.at++;
    }
  }

  private unexpected(expected: string): never {
    if (this.at >= this.text.length) this.fail(`The JSON document ends where ${expected} should stand`, this.at);
    const found = this.text[this.at] as string;
    this.fail(`The JSON document has ${JSON.stringify(found)} where ${expected} should stand`, this.at, adviceFor(found, expected));
  }

  private fail(message: string, offset: number, hint?: string): never {
    throw new JsonSyntaxError(message, offset, hint);
  }
}
