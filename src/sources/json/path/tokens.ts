/** The tokens of a JSONPath. */
import { toBytes } from '../../../core/text.ts';

/** What is wrong with an expression, and at which character (0-based). */
export class JsonPathError extends Error {
  readonly position: number;
  readonly hint: string | undefined;

  constructor(message: string, position: number, hint?: string) {
    super(message);
    this.position = position;
    this.hint = hint;
  }
}

const SPACE = /[ \t\n\r]*/y;
export const SHORTHAND = /[A-Za-z_\u0080-\u{10ffff}][A-Za-z0-9_\u0080-\u{10ffff}]*/uy;
export const SHORT_NAME = /[A-Za-z0-9_@#\u0080-\u{10ffff}](?:[A-Za-z0-9_@#:/\- \u0080-\u{10ffff}]*[A-Za-z0-9_@#:/\-\u0080-\u{10ffff}])?/uy;
export const LOOSE_NAME = /[^.[\]]+/y;
const INTEGER = /-?(?:0|[1-9][0-9]*)/y;
export const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
export const CALL = /[a-z][a-z0-9_]*(?=\()/y;
export const WORD = /(?:true|false|null)(?![A-Za-z0-9_(])/y;
export const OPERATOR = /==|!=|<=|>=|<|>/y;

export class Tokens {
  protected readonly text: string;
  protected at = 0;

  constructor(text: string) {
    this.text = text;
  }

  protected integer(): number | undefined {
    const at = this.at;
    const text = this.match(INTEGER);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (text === '-0' || !Number.isSafeInteger(value)) this.fail(`${text} is no index`, at, undefined);
    return value;
  }

  /** A quoted text, as bytes. */
  protected string(): string {
    const { text } = this;
    const open = this.at;
    const quote = text[this.at++] as string;
    let value = '';
    for (;;) {
      const c = text[this.at];
      if (c === undefined) this.fail(`The text that begins with ${quote} has no end`, open, undefined);
      if (c < ' ') this.fail('A quoted text may not have control characters in it', this.at, 'Write an escape, for example \\n');
      this.at++;
      if (c === quote) return toBytes(value);
      value += c === '\\' ? this.escape(quote) : c;
    }
  }

  private escape(quote: string): string {
    const at = this.at - 1;
    const c = this.text[this.at++];
    const simple = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', '/': '/', '\\': '\\' }[c ?? ''];
    if (simple !== undefined) return simple;
    if (c === quote) return c;
    if (c === 'u') {
      const [escape, high, single] =
        /^(?:([dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|([0-9a-fA-F]{4}))/.exec(this.text.slice(this.at, this.at + 10)) ??
        [];
      const code = Number.parseInt(single ?? '0', 16);
      if (escape !== undefined && (code < 0xd800 || code > 0xdfff)) {
        this.at += escape.length;
        return high === undefined
          ? String.fromCharCode(code)
          : String.fromCharCode(Number.parseInt(high.slice(0, 4), 16), Number.parseInt(high.slice(6), 16));
      }
    }
    return this.fail('There is no such escape', at, undefined);
  }

  protected match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    if (found === undefined || found === '') return undefined;
    this.at += found.length;
    return found;
  }

  protected take(text: string): boolean {
    if (!this.text.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }

  protected space(): void {
    this.match(SPACE);
  }

  protected fail(message: string, position: number, hint: string | undefined): never {
    throw new JsonPathError(message, position, hint);
  }
}
