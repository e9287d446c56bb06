/**
 * Text as bytes: inside a program, text is UTF-8 in a one-byte string (each character is one byte, 0–255).
 *
 * Escaping and percent-encoding look at ASCII only, strings stay one-byte, output is written as `latin1`. This module owns the invariant;
 * code that needs characters (case, length, regular expressions) decodes first.
 */

const NOT_ASCII = /[^\x00-\x7f]/;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** `String.fromCharCode` takes its characters as arguments, of which there may not be many thousands. */
const MOST_ARGUMENTS = 4096;

/** Characters → UTF-8 bytes as a one-byte string. Free for ASCII. A lone surrogate becomes U+FFFD. */
export function toBytes(text: string): string {
  if (!NOT_ASCII.test(text)) return text;
  const array = encoder.encode(text);
  let bytes = '';
  for (let i = 0; i < array.length; i += MOST_ARGUMENTS)
    bytes += String.fromCharCode.apply(null, array.subarray(i, i + MOST_ARGUMENTS) as unknown as number[]);
  return bytes;
}

/** UTF-8 bytes as a one-byte string → characters. Free for ASCII. Invalid sequences become U+FFFD. */
export function fromBytes(bytes: string): string {
  if (!NOT_ASCII.test(bytes)) return bytes;
  const array = new Uint8Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) array[i] = bytes.charCodeAt(i);
  return decoder.decode(array);
}

/**
 * A copy of `text` that does not keep the (much larger) string alive from which it was cut. For text that outlives its batch. Strings of
 * fewer than 13 characters are always copies already.
 */
export function detach(text: string): string {
  return text.length < 13 ? text : Buffer.from(text, 'latin1').toString('latin1');
}

const SAFE = 1;
const LOOK = 2;

/** By byte: keep in a percent-encoded IRI (1), encode (0), or decide by the code point that begins here (2). */
const IRI_BYTES = new Uint8Array(256);
for (let byte = 0; byte < 256; byte++) {
  const character = String.fromCharCode(byte);
  if (/[A-Za-z0-9\-._~]/.test(character)) IRI_BYTES[byte] = SAFE;
  else if (byte >= 0x80) IRI_BYTES[byte] = byte === 0xc2 || byte >= 0xee ? LOOK : SAFE;
}

const HEX = Array.from({ length: 256 }, (_, byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`);

/**
 * Percent-encodes everything but the `iunreserved` characters of RFC 3987: ASCII letters, digits, `-._~`, and `ucschar`.
 *
 * @see https://www.w3.org/TR/r2rml/#dfn-iri-safe
 */
export function encodeIriPart(bytes: string): string {
  let i = 0;
  while (i < bytes.length && IRI_BYTES[bytes.charCodeAt(i)] === SAFE) i++;
  if (i === bytes.length) return bytes;
  let encoded = bytes.slice(0, i);
  while (i < bytes.length) {
    const byte = bytes.charCodeAt(i);
    const kind = IRI_BYTES[byte];
    if (kind === SAFE) {
      encoded += bytes[i];
      i++;
    } else if (kind === LOOK) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      const end = Math.min(i + length, bytes.length);
      if (isUcschar(codePoint(bytes, i, length))) encoded += bytes.slice(i, end);
      else for (let k = i; k < end; k++) encoded += HEX[bytes.charCodeAt(k)];
      i = end;
    } else {
      encoded += HEX[byte];
      i++;
    }
  }
  return encoded;
}

/** Percent-encodes everything but ASCII letters, digits and `-._~`: the `unreserved` characters of RFC 3986. */
export function encodeUriPart(bytes: string): string {
  let encoded = '';
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes.charCodeAt(i);
    encoded += byte < 0x80 && IRI_BYTES[byte] === SAFE ? bytes[i] : HEX[byte];
  }
  return encoded;
}

/** Percent-encodes the bytes of characters beyond ASCII: an IRI becomes a URI. @see https://www.rfc-editor.org/rfc/rfc3987#section-3.1 */
export function iriToUri(bytes: string): string {
  if (!NOT_ASCII.test(bytes)) return bytes;
  let encoded = '';
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes.charCodeAt(i);
    encoded += byte < 0x80 ? bytes[i] : HEX[byte];
  }
  return encoded;
}

function codePoint(bytes: string, at: number, length: number): number {
  if (at + length > bytes.length) return -1;
  const tail = (k: number) => bytes.charCodeAt(at + k) & 63;
  const first = bytes.charCodeAt(at);
  if (length === 2) return ((first & 31) << 6) | tail(1);
  if (length === 3) return ((first & 15) << 12) | (tail(1) << 6) | tail(2);
  return ((first & 7) << 18) | (tail(1) << 12) | (tail(2) << 6) | tail(3);
}

/** `ucschar` of RFC 3987, for code points from U+0080. */
export function isUcschar(point: number): boolean {
  if (point < 0xa0) return false;
  if (point < 0x10000) return point < 0xe000 || (point >= 0xf900 && point <= 0xfdcf) || (point >= 0xfdf0 && point <= 0xffef);
  return (point & 0xffff) <= 0xfffd && point < 0xf0000 && !(point >= 0xe0000 && point < 0xe1000);
}

/** Bytes that must not occur in an IRIREF of N-Quads. */
const NOT_IN_IRI = new Uint8Array(256);
for (let byte = 0; byte <= 0x20; byte++) NOT_IN_IRI[byte] = 1;
for (const character of '<>"{}|^`\\') NOT_IN_IRI[character.charCodeAt(0)] = 1;

/** Position of the first byte that must not occur in an IRI (controls, space, `<>"{}|^` and backslash), or -1. */
export function findNotInIri(bytes: string): number {
  for (let i = 0; i < bytes.length; i++) if (NOT_IN_IRI[bytes.charCodeAt(i)] === 1) return i;
  return -1;
}

/** True when the text begins with a scheme and a colon; if it is an IRI at all, it is an absolute one. */
export function hasScheme(text: string): boolean {
  let i = 0;
  for (; i < text.length; i++) {
    const c = text.charCodeAt(i) | 32;
    const letter = c >= 97 && c <= 122;
    if (letter) continue;
    const raw = text.charCodeAt(i);
    if (raw === 58) return i > 0;
    if (i === 0 || !((raw >= 48 && raw <= 57) || raw === 43 || raw === 45 || raw === 46)) return false;
  }
  return false;
}

const TO_ESCAPE = /["\\\n\r]/;

/** Escapes what N-Quads does not allow between double quotes: quote, backslash, line feed, carriage return. */
export function escapeLiteral(bytes: string): string {
  if (!TO_ESCAPE.test(bytes)) return bytes;
  let escaped = '';
  let done = 0;
  for (let i = 0; i < bytes.length; i++) {
    const c = bytes.charCodeAt(i);
    const escape = c === 34 ? '\\"' : c === 92 ? '\\\\' : c === 10 ? '\\n' : c === 13 ? '\\r' : '';
    if (escape === '') continue;
    escaped += bytes.slice(done, i) + escape;
    done = i + 1;
  }
  return escaped + bytes.slice(done);
}

const MEANT: Readonly<Record<string, string>> = { t: '\t', b: '\b', n: '\n', r: '\r', f: '\f' };

/** Replaces every N-Quads escape in a literal (between the quotes) or an IRI (between the brackets) by the character that it means. */
export function unescapeTerm(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/gs, (_, u?: string, U?: string, letter?: string) =>
    letter === undefined ? toBytes(String.fromCodePoint(Number.parseInt((u ?? U) as string, 16))) : (MEANT[letter] ?? letter),
  );
}

/** A UCHAR escape for each byte that would end or break an IRIREF; other bytes, even a space, stay (rml:UnsafeIRI). */
export function guardUnsafeIri(bytes: string): string {
  return bytes.replace(/[<>"\\\n\r]/g, (c) => `\\u00${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}

/** A blank node label for any text. Different texts have different labels. */
export function blankLabel(bytes: string): string {
  return bytes.replace(/[^A-Za-z0-9]/g, (c) => `_${c.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** The name of a dataset: of a directory, and in requests. */
export const DATASET_NAME = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/;
export const DATASET_NAME_SAYS = '1 to 64 letters, digits, dots, underscores and hyphens';
