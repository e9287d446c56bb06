/**
 * Terms that must not be sent to a store: IRIs that are invalid by RFC 3987, and text that is not UTF-8.
 *
 * Some stores silently accept such terms and can never return them, so they are found beforehand. All checks look at UTF-8 bytes. Literals
 * that are invalid for their datatype (`"abc"^^xsd:integer`) are legal RDF and pass.
 *
 * @see https://www.rfc-editor.org/rfc/rfc3987#section-2.2
 */
import { isUtf8 } from 'node:buffer';
import { isIPv6 } from 'node:net';
import { blankLabel, fromBytes, isUcschar } from '../core/text.ts';

/** Why a term is not sent to a store. */
export interface TermProblem {
  readonly message: string;
  /** Byte position within the checked text. */
  readonly at: number;
  readonly hint?: string;
}

const SCHEME = 1;
const HOST = 2;
const PATH = 4;
const QUERY = 8;
const HEX = 16;
const DIGIT = 32;

/** By byte: the components of an IRI in which it may occur unescaped. */
const PARTS = new Uint8Array(256);
for (let byte = 0; byte < 0x80; byte++) {
  const character = String.fromCharCode(byte);
  const parts: readonly (readonly [RegExp, number])[] = [
    [/[A-Za-z0-9+\-.]/, SCHEME],
    [/[A-Za-z0-9\-._~!$&'()*+,;=]/, HOST | PATH | QUERY],
    [/[:@/]/, PATH | QUERY],
    [/\?/, QUERY],
    [/[0-9A-Fa-f]/, HEX],
    [/[0-9]/, DIGIT],
  ];
  for (const [pattern, part] of parts) if (pattern.test(character)) PARTS[byte] = (PARTS[byte] as number) | part;
}

const HASH = 35;
const PERCENT = 37;
const SLASH = 47;
const COLON = 58;
const GREATER = 62;
const QUESTION = 63;
const AT = 64;
const BRACKET = 91;

/**
 * Reads an absolute IRI that begins at `from`, after its `<`.
 *
 * @returns the position of its `>`; if the IRI is invalid, `~position` of the first invalid byte
 */
export function scanIri(bytes: Uint8Array, from: number): number {
  if (((bytes[from] as number) | 32) < 97 || ((bytes[from] as number) | 32) > 122) return ~from;
  let at = from + 1;
  while (((PARTS[bytes[at] as number] as number) & SCHEME) !== 0) at++;
  if (bytes[at] !== COLON) return ~at;
  at++;
  if (bytes[at] === SLASH && bytes[at + 1] === SLASH) {
    at = scanAuthority(bytes, at + 2);
    const next = bytes[at];
    if (next !== SLASH && next !== GREATER && next !== QUESTION && next !== HASH) return ~at;
  }
  at = scanPart(bytes, at, PATH);
  if (bytes[at] === QUESTION) at = scanPart(bytes, at + 1, QUERY, true);
  if (bytes[at] === HASH) at = scanPart(bytes, at + 1, QUERY);
  return bytes[at] === GREATER ? at : ~at;
}

/** The end of the characters that are allowed in `part`. */
function scanPart(bytes: Uint8Array, from: number, part: number, privateUse = false): number {
  let at = from;
  while (true) {
    const byte = bytes[at] as number;
    if (((PARTS[byte] as number) & part) !== 0) at++;
    else if (byte === PERCENT) {
      if (((PARTS[bytes[at + 1] as number] as number) & (PARTS[bytes[at + 2] as number] as number) & HEX) === 0) return at;
      at += 3;
    } else if (byte >= 0x80) {
      const length = characterLength(bytes, at, privateUse);
      if (length === 0) return at;
      at += length;
    } else return at;
  }
}

/** `[userinfo@]host[:port]`: its end, or the position of the problem. */
function scanAuthority(bytes: Uint8Array, from: number): number {
  let at = scanPart(bytes, from, HOST);
  let user = at;
  while (bytes[user] === COLON) user = scanPart(bytes, user + 1, HOST);
  let host = from;
  if (bytes[user] === AT) {
    host = user + 1;
    at = scanPart(bytes, host, HOST);
  }
  if (at === host && bytes[at] === BRACKET) at = scanAddress(bytes, at);
  if (bytes[at] === COLON) {
    at++;
    while (((PARTS[bytes[at] as number] as number) & DIGIT) !== 0) at++;
  }
  return at;
}

/** `[IPv6]` or `[vX.…]`: its end, or its beginning if it is invalid. */
function scanAddress(bytes: Uint8Array, from: number): number {
  const closed = bytes.indexOf(93, from);
  // The longest address has 45 characters; without a closing bracket by then it is invalid.
  if (closed < 0 || closed > from + 256) return from;
  const address = String.fromCharCode(...bytes.subarray(from + 1, closed));
  const valid = /^[0-9a-f:.]+$/i.test(address) ? isIPv6(address) : /^v[0-9a-f]+\.[a-z0-9\-._~!$&'()*+,;=:]+$/i.test(address);
  return valid ? closed + 1 : from;
}

/** Number of bytes of the character at `at` if an IRI may contain it, else 0. */
function characterLength(bytes: Uint8Array, at: number, privateUse: boolean): number {
  const first = bytes[at] as number;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (length === 0) return 0;
  let point = first & (0xff >> (length + 1));
  for (let i = at + 1; i < at + length; i++) {
    const tail = bytes[i] as number;
    if ((tail & 0xc0) !== 0x80) return 0;
    point = (point << 6) | (tail & 63);
  }
  return isUcschar(point) || (privateUse && isPrivateUse(point)) ? length : 0;
}

/** `iprivate` of RFC 3987, which is allowed only in a query. */
const isPrivateUse = (point: number): boolean =>
  (point >= 0xe000 && point <= 0xf8ff) || (point >= 0xf0000 && (point & 0xffff) <= 0xfffd && point <= 0x10fffd);

/** What is wrong with an IRI, given as one-byte text without brackets; undefined: it is absolute and valid. */
export function iriProblem(iri: string): TermProblem | undefined {
  const end = scanIri(Buffer.from(`${iri}>`, 'latin1'), 0);
  if (end === iri.length) return undefined;
  const at = end < 0 ? ~end : end;
  const delimiter = iri.search(/[:/?#]/);
  if (delimiter < 0 || iri[delimiter] !== ':') {
    return {
      message: 'An IRI has no scheme: it is relative',
      at: 0,
      hint: 'Write whole IRIs: N-Quads has no base to resolve them against',
    };
  }
  if (at <= delimiter) {
    return { message: `${JSON.stringify(fromBytes(iri.slice(0, delimiter)))} is no scheme of an IRI`, at };
  }
  if (iri[at] === '%') {
    const triple = JSON.stringify(fromBytes(iri.slice(at, at + 3)));
    return { message: `${triple} in an IRI encodes no byte`, at, hint: 'Write %25 for a percent sign that stands for itself' };
  }
  const character = String.fromCodePoint(fromBytes(iri.slice(at, at + 4)).codePointAt(0) as number);
  const misplaced = '[]#:@'.includes(character);
  return {
    message: `An IRI may not hold the character ${JSON.stringify(character)}${misplaced ? ' in this place' : ''}`,
    at,
    hint: 'Percent-encode it, or clean the data',
  };
}

/** Position of the first byte in one-byte text that is not valid UTF-8; -1: none. Encoded surrogates are invalid. */
export function findNotUtf8(text: string): number {
  const bytes = Buffer.from(text, 'latin1');
  if (isUtf8(bytes)) return -1;
  const decoded = bytes.toString('utf8');
  let byte = 0;
  for (const character of decoded) {
    // A U+FFFD in the input itself is a valid character.
    if (character === '\ufffd' && !(bytes[byte] === 0xef && bytes[byte + 1] === 0xbf && bytes[byte + 2] === 0xbd)) return byte;
    byte += Buffer.byteLength(character);
  }
  return byte;
}

/** Subtags of at most eight letters or digits (BCP 47 §2.1); stores refuse others. */
export const isLanguageTag = (tag: string): boolean => /^[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*$/.test(tag);

/** PN_CHARS_U of the grammar, and the additional characters of PN_CHARS. */
const LETTER =
  'A-Z_a-z:\\u{c0}-\\u{d6}\\u{d8}-\\u{f6}\\u{f8}-\\u{2ff}\\u{370}-\\u{37d}\\u{37f}-\\u{1fff}\\u{200c}\\u{200d}\\u{2070}-\\u{218f}' +
  '\\u{2c00}-\\u{2fef}\\u{3001}-\\u{d7ff}\\u{f900}-\\u{fdcf}\\u{fdf0}-\\u{fffd}\\u{10000}-\\u{effff}';
const MARK = '\\-\\u{b7}\\u{300}-\\u{36f}\\u{203f}\\u{2040}';
const LABEL = new RegExp(`^[${LETTER}0-9](?:[${LETTER}0-9${MARK}.]*[${LETTER}0-9${MARK}])?$`, 'u');
const PLAIN_LABEL = /^[A-Za-z0-9_][A-Za-z0-9_-]*$/;

/** Whether one-byte text is a BLANK_NODE_LABEL without its `_:`. */
export const isLabel = (label: string): boolean => PLAIN_LABEL.test(label) || LABEL.test(fromBytes(label));

/** `_:label` in SPARQL syntax: only N-Quads 1.1 allows labels with a colon. Different labels stay different. */
export const keptLabel = (label: string): string =>
  label.includes(':') || label.startsWith('colon_') ? `_:colon_${blankLabel(label)}` : `_:${label}`;
