/**
 * Reads the tokens of a JSONPath: names, texts, numbers, operators and white space.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9535#appendix-A
 */
import { toBytes } from '../../core/text.ts';
import type { PathProblem } from '../problem.ts';

/** A syntax error in an expression; `position` counts UTF-16 code units from 0. */
export class JsonPathError extends Error implements PathProblem {
  readonly position: number;
  readonly hint: string | undefined;

  constructor(message: string, position: number, hint?: string) {
    super(message);
    this.position = position;
    this.hint = hint;
  }
}

// Sticky patterns, for `match`.

const SPACE = /[ \t\n\r]*/y;
/** A name after a dot. */
export const SHORTHAND = /[A-Za-z_\u0080-\ud7ff\ue000-\u{10ffff}][A-Za-z0-9_\u0080-\ud7ff\ue000-\u{10ffff}]*/uy;
/** A name of a short expression: spaces and `-:/` may stand within it. */
export const SHORT_NAME = /[A-Za-z0-9_@#\u0080-\u{10ffff}](?:[A-Za-z0-9_@#:/\- \u0080-\u{10ffff}]*[A-Za-z0-9_@#:/\-\u0080-\u{10ffff}])?/uy;
/** A name of a loose expression. */
export const LOOSE_NAME = /[^.[\]]+/y;
const INTEGER = /-?(?:0|[1-9][0-9]*)/y;
export const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
/** The name of a function, before its parenthesis. */
export const CALL = /[a-z][a-z0-9_]*(?=\()/y;
export const WORD = /(?:true|false|null)(?![A-Za-z0-9_(])/y;
export const OPERATOR = /==|!=|<=|>=|<|>/y;

/** A position in the text of an expression. Each method reads one token there and moves behind it. */
export class Tokens {
  protected readonly text: string;
  /** Index of the next character. */
  protected at = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** undefined: there is no integer here. @throws JsonPathError — an integer that is no index */
  protected integer(): number | undefined {
    const at = this.at;
    const text = this.match(INTEGER);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (text === '-0' || !Number.isSafeInteger(value)) this.fail(`${text} is no index`, at, undefined);
    return value;
  }

  /** The quoted text here, as bytes. @throws JsonPathError */
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

  /** The character of the escape after the backslash. */
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

  /** The text that the pattern matches here. undefined: none, or an empty one. */
  protected match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    if (found === undefined || found === '') return undefined;
    this.at += found.length;
    return found;
  }

  /** Moves behind the given text; false if the expression does not continue with it. */
  protected take(text: string): boolean {
    if (!this.text.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }

  /** Moves behind white space; whether there was any. */
  protected space(): boolean {
    return this.match(SPACE) !== undefined;
  }

  protected fail(message: string, position: number, hint: string | undefined): never {
    throw new JsonPathError(message, position, hint);
  }
}
