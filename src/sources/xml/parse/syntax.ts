/** Lexical parts of XML: character classes, references, declarations. */
import { excerpt } from '../../../core/fault.ts';
import { fromBytes, toBytes } from '../../../core/text.ts';
import { isName } from '../names.ts';

/** Throws a fault for a position of the window. */
export type Fail = (message: string, at: number, hint?: string) => never;

/** Length of the longest valid reference, from `&` to `;`. */
const MAX_REFERENCE = 64;

/** Also U+FFFE and U+FFFF, in UTF-8. */
const NOT_CHARACTERS = /[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]/;
export const XML_DECLARATION =
  /^<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(?:"1\.[0-9]+"|'1\.[0-9]+')(?:[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*(?:"[A-Za-z][\w.-]*"|'[A-Za-z][\w.-]*'))?(?:[ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\r\n]*\?>$/;

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);

export const TAB = 9;
export const LF = 10;
export const CR = 13;
export const SPACE = 32;
export const BANG = 33;
export const QUOTE = 34;
export const AMP = 38;
export const APOSTROPHE = 39;
export const SLASH = 47;
export const LESS = 60;
export const EQUALS = 61;
export const GREATER = 62;
export const QUESTION = 63;

/** By byte: allowed in a name. Non-ASCII bytes are checked when the name is created. */
export const NAME_BYTE = new Uint8Array(256);
for (let byte = 0; byte < 256; byte++) if (byte >= 0x80 || /[A-Za-z0-9:_.-]/.test(String.fromCharCode(byte))) NAME_BYTE[byte] = 1;

/** By byte: its role within text; 0 for most. */
export const TEXT_BYTE = new Uint8Array(256);
export const ENDS = 1;
export const REFERENCE = 2;
export const RETURN = 4;
export const BRACKET = 8;
export const NOT_CHARACTER = 16;
for (let byte = 0; byte < 32; byte++) if (byte !== 9 && byte !== 10 && byte !== 13) TEXT_BYTE[byte] = NOT_CHARACTER;
TEXT_BYTE[0xef] = NOT_CHARACTER;
TEXT_BYTE[LESS] = ENDS;
TEXT_BYTE[AMP] = REFERENCE;
TEXT_BYTE[CR] = RETURN;
TEXT_BYTE[0x5d] = BRACKET;

export const isSpace = (c: number | undefined): boolean => c === SPACE || c === LF || c === TAB || c === CR;

/** Fails at the first character that XML does not allow. `from`: where the piece begins, for messages. */
export function checkCharacters(piece: string, from: number, fail: Fail): void {
  const found = piece.search(NOT_CHARACTERS);
  if (found < 0) return;
  const code = piece.charCodeAt(found);
  const name = code === 0xef ? 'U+FFFE or U+FFFF' : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  fail(`The character ${name} is not allowed in XML`, from + found);
}

/**
 * Resolves character and entity references.
 *
 * @param from where the piece begins, for messages
 * @param entity the text of an entity that the document declares; undefined: it declares none of that name
 */
export function resolveReferences(piece: string, from: number, fail: Fail, entity?: (name: string) => string | undefined): string {
  let resolved = '';
  let done = 0;
  for (let amp = piece.indexOf('&'); amp >= 0; amp = piece.indexOf('&', done)) {
    const semicolon = piece.indexOf(';', amp);
    if (semicolon < 0 || semicolon - amp > MAX_REFERENCE || !/^[#\w:.\-\x80-\xff]/.test(piece.slice(amp + 1, semicolon))) {
      fail('There is an & that begins no reference', from + amp, 'Write &amp; for the character itself.');
    }
    resolved += piece.slice(done, amp) + reference(piece.slice(amp + 1, semicolon), from + amp, fail, entity);
    done = semicolon + 1;
  }
  return resolved + piece.slice(done);
}

export function reference(name: string, at: number, fail: Fail, entity: ((name: string) => string | undefined) | undefined): string {
  const known = ENTITIES.get(name);
  if (known !== undefined) return known;
  const shown = excerpt(`&${fromBytes(name)};`);
  if (name.startsWith('#')) {
    const hexadecimal = /^#x[0-9a-fA-F]+$/.test(name);
    const point = hexadecimal
      ? Number.parseInt(name.slice(2), 16)
      : /^#[0-9]+$/.test(name)
        ? Number.parseInt(name.slice(1), 10)
        : Number.NaN;
    const allowed =
      point >= SPACE ? !(point >= 0xd800 && point <= 0xdfff) && point !== 0xfffe && point !== 0xffff && point <= 0x10ffff : isSpace(point);
    if (!allowed) fail(`${shown} is no character of XML`, at);
    return toBytes(String.fromCodePoint(point));
  }
  if (!isName(name)) fail('There is an & that begins no reference', at, 'Write &amp; for the character itself.');
  return (
    entity?.(name) ??
    fail(
      `The entity ${shown} is not one of XML's own, and the document does not declare it`,
      at,
      'Declarations outside of the document are not read: write the character, or a reference such as &#233;.',
    )
  );
}

/** `xmlns` or `xmlns:…` */
export const isDeclaration = (text: string, from: number, to: number): boolean =>
  text.startsWith('xmlns', from) && (to - from === 5 || text.charCodeAt(from + 5) === 0x3a);

/** The position after `>`, or -1 if the declaration extends beyond the window. Quotes, comments and instructions may contain anything. */
export function endOfDoctype(text: string, from: number): number {
  let subset = false;
  for (let i = from; i < text.length; i++) {
    const c = text[i];
    let end = i;
    if (c === '"' || c === "'") end = text.indexOf(c, i + 1);
    else if (c === '[') subset = true;
    else if (c === ']') subset = false;
    else if (c === '>' && !subset) return i + 1;
    else if (c === '<') {
      if (text.length - i < 4) return -1;
      if (text.startsWith('<!--', i)) end = text.indexOf('-->', i + 4);
      else if (text.startsWith('<?', i)) end = text.indexOf('?>', i + 2);
    }
    if (end < 0) return -1;
    i = end;
  }
  return -1;
}

/** Where the first reference to an entity that is none of XML's own begins, between two positions; -1: there is none. */
export function indexOfEntity(text: string, from: number, to: number): number {
  for (let amp = text.indexOf('&', from); amp >= 0 && amp < to; amp = text.indexOf('&', amp + 1)) {
    if (text[amp + 1] !== '#' && !ENTITIES.has(nameAt(text, amp))) return amp;
  }
  return -1;
}

/** The name of the reference that begins at a position; empty: none does. */
export function nameAt(text: string, amp: number): string {
  const semicolon = text.indexOf(';', amp);
  return semicolon < 0 || semicolon - amp > MAX_REFERENCE ? '' : text.slice(amp + 1, semicolon);
}

/** Where text from `from` to the window's end can be cut: not within a character, a reference, a line end or "]]>". */
export function endOfWholeText(text: string, from: number): number {
  let end = text.length;
  if (text.charCodeAt(end - 1) === CR) end--;
  for (let k = 0; k < 2 && end > from && text[end - 1] === ']'; k++) end--;
  for (let k = 1; k <= 2 && end - k >= from; k++) if (text.charCodeAt(end - k) === 0xef) end -= k;
  // Only the last bytes: a search backwards would go through the whole window.
  const last = Math.max(from, text.length - MAX_REFERENCE + 1);
  const amp = last + text.slice(last, end + 1).lastIndexOf('&');
  return amp >= last && text.indexOf(';', amp) < 0 ? amp : end;
}
