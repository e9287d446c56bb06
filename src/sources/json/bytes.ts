/** The meaning of single bytes in JSON text, and the ends of texts and numbers. Positions refer to the given bytes. */
import { CONTROL_HINT, JsonSyntaxError } from './text.ts';

const table = (...rows: readonly (readonly [bytes: string, code: number])[]): Uint8Array => {
  const codes = new Uint8Array(256);
  for (const [bytes, code] of rows) for (const byte of bytes) codes[byte.charCodeAt(0)] = code;
  return codes;
};

export const QUOTE = 1;
export const OPEN = 2;
export const CLOSE = 3;
export const LINE_FEED = 4;
export const POINT = 5;
const EXPONENT = 6;
/** The bytes that matter while searching for the end of an object or array. */
export const MARKS = table(['"', QUOTE], ['{[', OPEN], ['}]', CLOSE], ['\n', LINE_FEED], ['.', POINT], ['eE', EXPONENT]);

const BACKSLASH = 2;
const CONTROL = 3;
const CONTROLS = Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).join('');
/** The bytes that end a text as written: 0 for all others. */
export const IN_TEXT = table(['"', QUOTE], ['\\', BACKSLASH], [CONTROLS, CONTROL]);

export const SIMPLE_ESCAPE = 1;
export const HEX_ESCAPE = 2;
/** What may follow a backslash; four hexadecimal digits follow the `u`. */
export const ESCAPES = table(['"\\/bfnrt', SIMPLE_ESCAPE], ['u', HEX_ESCAPE]);
export const HEX_DIGITS = table(['0123456789abcdefABCDEF', 1]);

/** Bytes that end a number or a literal. */
export const DELIMITERS = table([',]} \t\r\n"[{:', 1]);

/**
 * From `pos` inside a text to after its closing quote; if `end` comes first, the complement of the position at which to continue with more
 * bytes.
 */
export function passText(bytes: Uint8Array, from: number, end: number): number {
  let pos = from;
  while (pos < end) {
    const kind = IN_TEXT[bytes[pos] as number] as number;
    if (kind === 0) pos++;
    else if (kind === QUOTE) return pos + 1;
    else if (kind === CONTROL)
      throw new JsonSyntaxError(`A text has the control character 0x${hex(bytes[pos] as number)} in it`, pos, CONTROL_HINT);
    else {
      if (pos + 1 >= end) return ~pos;
      const escape = ESCAPES[bytes[pos + 1] as number] as number;
      if (escape === SIMPLE_ESCAPE) pos += 2;
      else if (escape === HEX_ESCAPE) {
        if (pos + 5 >= end) return ~pos;
        for (let i = 2; i < 6; i++) if (HEX_DIGITS[bytes[pos + i] as number] === 0) throw badEscape(pos);
        pos += 6;
      } else throw badEscape(pos);
    }
  }
  return ~pos;
}

const badEscape = (pos: number): JsonSyntaxError => new JsonSyntaxError('A text has a backslash that begins no escape of JSON', pos);

export const hex = (byte: number): string => byte.toString(16).padStart(2, '0');

/** This many bytes without structural characters may contain a number that a double cannot represent. */
export const LONG_DIGITS = 16;

/**
 * Whether converting a number to a double and back may change its spelling, judged by the bytes around its point: the fraction ends in
 * zero, begins with six zeros (`String` would write an exponent), or there are more digits than a double keeps.
 */
export function isLossyFraction(bytes: Uint8Array, point: number, first: number, end: number): boolean {
  let digits = 0;
  for (let i = point - 1; i >= first && isDigit(bytes[i]); i--) digits++;
  if (digits === 0) return false;
  let i = point + 1;
  while (i < end && isDigit(bytes[i])) i++;
  if (i === end) return true;
  const fraction = i - point - 1;
  if (fraction === 0 || bytes[i - 1] === 48 || digits + fraction >= LONG_DIGITS) return true;
  return fraction >= 6 && bytes.subarray(point + 1, point + 7).every((byte) => byte === 48);
}

export const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 48 && byte <= 57;
