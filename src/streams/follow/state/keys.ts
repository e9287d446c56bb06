/** Keys of rows as bytes: the number of the table, then what tells the row apart. */
import { createHash } from 'node:crypto';
import type { Row } from '../../events.ts';
import type { KeptTable } from './state.ts';

/** Longer keys are kept by their hash. LMDB takes 1,978 bytes. */
const MOST_KEY_BYTES = 1900;
const HASHED = 0xff;

export function numberKey(number: number): Buffer {
  const key = Buffer.allocUnsafe(4);
  key.writeUInt32BE(number);
  return key;
}

/** Where a text is no `numbersKey`. JSON begins with no such byte. */
const TEXT_KEY = 0x20;

export function keyOf({ number }: KeptTable, text: string): Buffer {
  const packed = numbersKey(number, text);
  if (packed !== undefined) return packed;
  if (Buffer.byteLength(text) <= MOST_KEY_BYTES) return Buffer.concat([numberKey(number), Buffer.of(TEXT_KEY), Buffer.from(text)]);
  return Buffer.concat([numberKey(number), Buffer.of(HASHED), createHash('sha256').update(text).digest()]);
}

/** Their numbers are exact, and in 48 bits. */
const MOST_DIGITS = 14;
const QUOTED = 0x10;

/**
 * The key of a list of whole numbers, such as `["12","7"]`: of each the number of its digits, in the order of which keys are new pages filled, and its value.
 * undefined: the text is something else.
 */
function numbersKey(table: number, text: string): Buffer | undefined {
  const last = text.length - 1;
  if (last > MOST_NUMBERS_KEY || text.charCodeAt(0) !== BRACKET || text.charCodeAt(last) !== CLOSING_BRACKET) return undefined;
  let at = 4;
  for (let from = 1; from < last; ) {
    const isQuoted = text.charCodeAt(from) === QUOTE;
    if (isQuoted) from++;
    let value = 0;
    let to = from;
    for (let c = text.charCodeAt(to); c >= 48 && c <= 57; c = text.charCodeAt(++to)) value = value * 10 + c - 48;
    const digits = to - from;
    if (digits === 0 || digits > MOST_DIGITS) return undefined;
    if (isQuoted && text.charCodeAt(to++) !== QUOTE) return undefined;
    // A comma is followed by another number.
    if (to < last && (text.charCodeAt(to) !== COMMA || ++to === last)) return undefined;
    const bytes = BYTES_OF[digits] as number;
    scratch[at++] = digits + (isQuoted ? QUOTED : 0);
    scratch.writeUIntBE(value, at, bytes);
    at += bytes;
    from = to;
  }
  scratch.writeUInt32BE(table);
  return Buffer.from(scratch.subarray(0, at));
}

const BRACKET = 91;
const CLOSING_BRACKET = 93;
const QUOTE = 34;
const COMMA = 44;
/** In how many bytes all numbers of so many digits are. */
const BYTES_OF = Array.from({ length: MOST_DIGITS + 1 }, (_, digits) => Math.ceil(Math.log2(10 ** digits) / 8));
const MOST_NUMBERS_KEY = 256;
const scratch = Buffer.alloc(4 + 4 * MOST_NUMBERS_KEY);

/** NULL and a missing column are equal: an event says more of a row than an earlier one, when a column was added meanwhile. */
export function bagKeyOf({ number }: KeptTable, row: Row): Buffer {
  const cells = Object.entries(row).filter(([, value]) => value !== null);
  const text = JSON.stringify(cells.sort(([a], [b]) => (a < b ? -1 : 1)));
  return Buffer.concat([numberKey(number), createHash('sha256').update(text).digest()]);
}
