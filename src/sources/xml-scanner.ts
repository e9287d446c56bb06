/**
 * Cuts XML text into elements, text and remarks, and checks that it is well-formed.
 *
 * Works on UTF-8 as one-byte strings: all markup is ASCII, so nothing is decoded but a name, once (see `xml-names.ts`). Text is
 * found by `indexOf`, which is why this is several times faster than reading character by character. Document type declarations
 * are skipped: no external file is read, no entity beyond XML's own five is known, so none can expand without bound. Versions
 * above 1.0 are read as 1.0. Memory: one window of text and the names of the open elements.
 *
 * @see https://www.w3.org/TR/xml/ and https://www.w3.org/TR/xml-names/
 */
import { excerpt, Fault, type FaultPlace } from '../fault.ts';
import { fromBytes, toBytes } from '../text.ts';
import { isName, type Name, NameError, type NameTable, Scope } from './xml-names.ts';
import { type Attributes, NO_ATTRIBUTES } from './xml-tree.ts';

/** Takes what the scanner finds. */
export interface XmlSink {
  /** False: `text` and `remark` need not be called for now. */
  readonly wantsText: boolean;
  open(name: Name, attributes: Attributes): void;
  /** A piece of text or of a CDATA section, references resolved, line ends normalised. Never empty. */
  text(text: string): void;
  /** A comment (no target) or a processing instruction within the root element. */
  remark(target: string | undefined, text: string): void;
  close(): void;
  /** 0-based position of the record that is being read, for messages. */
  recordAt(): number | undefined;
}

/** Levels of open elements that a document may have. */
export const MAX_DEPTH = 10_000;
/** `&` and what follows up to `;` in the longest reference that can mean anything. */
const MAX_REFERENCE = 64;

const NOT_CHARACTERS = /[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]/;
const XML_DECLARATION =
  /^<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(?:"1\.[0-9]+"|'1\.[0-9]+')(?:[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*(?:"[A-Za-z][\w.-]*"|'[A-Za-z][\w.-]*'))?(?:[ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\r\n]*\?>$/;

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);

const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
const BANG = 33;
const QUOTE = 34;
const AMP = 38;
const APOSTROPHE = 39;
const SLASH = 47;
const LESS = 60;
const EQUALS = 61;
const GREATER = 62;
const QUESTION = 63;

/** By byte: may stand in a name. Bytes beyond ASCII are looked at when the name is made. */
const NAME_BYTE = new Uint8Array(256);
for (let byte = 0; byte < 256; byte++) if (byte >= 0x80 || /[A-Za-z0-9:_.-]/.test(String.fromCharCode(byte))) NAME_BYTE[byte] = 1;

const isSpace = (c: number): boolean => c === SPACE || c === LF || c === TAB || c === CR;

/** What the scanner is in the middle of when a window ends. Tags are never cut. */
type Within = 'content' | 'comment' | 'instruction' | 'cdata';

export class XmlScanner {
  /** Set it to make `scan` return after the current token. */
  paused = false;

  readonly #sink: XmlSink;
  readonly #input: string;
  readonly #names: Name[] = [];
  readonly #scopes: Scope[];
  readonly #maxTokenBytes: number;
  #text = '';
  #at = 0;
  #ended = false;
  #within: Within = 'content';
  #rootSeen = false;
  #doctypeSeen = false;
  /** Of the comment or instruction that a window cut. */
  #remark = '';
  #remarkTarget: string | undefined;
  /** Next places of rare characters in the window; searched again when `#at` has passed them. */
  #nextAmp = -1;
  #nextCr = -1;
  #nextCdataEnd = -1;
  /** Before the window: bytes, line feeds, bytes since the last line feed. */
  #bytesBefore = 0;
  #linesBefore = 0;
  #columnBefore = 0;

  constructor(sink: XmlSink, names: NameTable, input: string, maxTokenBytes: number) {
    this.#sink = sink;
    this.#input = input;
    this.#scopes = [new Scope(names)];
    this.#maxTokenBytes = maxTokenBytes;
  }

  /** Bytes of text that are understood. */
  get position(): number {
    return this.#bytesBefore + this.#at;
  }

  /** Bytes that wait for the rest of their token. Give at least as many again, so that long tokens cost linear time. */
  get waiting(): number {
    return this.#text.length - this.#at;
  }

  get scope(): Scope {
    return this.#scopes[this.#scopes.length - 1] as Scope;
  }

  /** Adds text to what waits. */
  push(text: string): void {
    const old = this.#text;
    const at = this.#at;
    for (let i = old.indexOf('\n'); i >= 0 && i < at; i = old.indexOf('\n', i + 1)) {
      this.#linesBefore++;
      this.#columnBefore = -(i + 1);
    }
    this.#columnBefore += at;
    this.#bytesBefore += at;
    const rest = old.slice(at);
    this.#text = rest + text;
    this.#at = 0;
    this.#nextAmp = this.#nextCr = this.#nextCdataEnd = -1;
    const look = rest.length > 2 ? rest.length - 2 : 0;
    if (NOT_CHARACTERS.test(look === 0 ? this.#text : this.#text.slice(look))) {
      const found = this.#text.slice(look).search(NOT_CHARACTERS) + look;
      const code =
        this.#text.charCodeAt(found) === 0xef ? 'FFFE or U+FFFF' : this.#text.charCodeAt(found).toString(16).toUpperCase().padStart(4, '0');
      this.#fail(`The character U+${code} is not allowed in XML`, found);
    }
    if (this.waiting - text.length > this.#maxTokenBytes) {
      throw new Fault('limit/exceeded', `A tag or a declaration is longer than the ${this.#maxTokenBytes} bytes that are allowed`, {
        place: this.#place(0),
      });
    }
  }

  /** The document has no more text. */
  end(): void {
    this.#ended = true;
  }

  /** Reads as far as whole tokens go. True: paused, false: more text (or, after `end`, nothing more) is needed. */
  scan(): boolean {
    this.paused = false;
    while (this.#at < this.#text.length) {
      if (!this.#step()) break;
      if (this.paused) return true;
    }
    if (this.#ended) this.#finish();
    return false;
  }

  /** One token, or a piece of text. False: its rest is missing. */
  #step(): boolean {
    if (this.#within !== 'content') return this.#continue();
    const text = this.#text;
    const at = this.#at;
    if (text.charCodeAt(at) !== LESS) return this.#characters(text.indexOf('<', at));
    switch (text.charCodeAt(at + 1)) {
      case SLASH:
        return this.#endTag();
      case BANG:
        return this.#declaration();
      case QUESTION:
        return this.#beginInstruction();
      default:
        return at + 1 < text.length ? this.#startTag() : this.#incomplete('a tag');
    }
  }

  // ---- text

  /** Text up to `end`, or as far as it can be understood where no markup follows in this window. */
  #characters(end: number): boolean {
    const from = this.#at;
    const to = end >= 0 ? end : this.#wholeUntil();
    if (to === from) return false;
    if (this.#names.length === 0) {
      for (let i = from; i < to; i++) {
        if (isSpace(this.#text.charCodeAt(i))) continue;
        this.#fail(
          `There is text ${this.#rootSeen ? 'after' : 'before'} the root element: ${excerpt(fromBytes(this.#text.slice(i, i + 40)))}`,
          i,
        );
      }
    } else {
      if (this.#nextCdataEnd < from) this.#nextCdataEnd = find(this.#text, ']]>', from);
      if (this.#nextCdataEnd < to) this.#fail('The characters "]]>" may not stand in text', this.#nextCdataEnd);
      if (this.#nextAmp < from) this.#nextAmp = find(this.#text, '&', from);
      const references = this.#nextAmp < to;
      if (references || this.#sink.wantsText) {
        const plain = this.#lines(from, to);
        const text = references ? this.#resolve(plain, from) : plain;
        if (this.#sink.wantsText) this.#sink.text(text);
      }
    }
    this.#at = to;
    return true;
  }

  /** Where text at the end of a window can be cut: not within a reference, a line end or "]]>". */
  #wholeUntil(): number {
    const text = this.#text;
    if (this.#ended) return text.length;
    let end = text.length;
    if (text.charCodeAt(end - 1) === CR) end--;
    for (let k = 0; k < 2 && end > this.#at && text[end - 1] === ']'; k++) end--;
    const amp = text.lastIndexOf('&', end);
    if (amp >= this.#at && text.indexOf(';', amp) < 0 && text.length - amp < MAX_REFERENCE) end = amp;
    return end;
  }

  /** A piece of the window with its line ends as XML wants them: a line feed each. */
  #lines(from: number, to: number): string {
    if (this.#nextCr < from) this.#nextCr = find(this.#text, '\r', from);
    const piece = this.#text.slice(from, to);
    return this.#nextCr < to ? piece.replace(/\r\n?/g, '\n') : piece;
  }

  /** Character and entity references as the characters that they stand for; `from`: where the piece begins, for messages. */
  #resolve(piece: string, from: number): string {
    let resolved = '';
    let done = 0;
    for (let amp = piece.indexOf('&'); amp >= 0; amp = piece.indexOf('&', done)) {
      const semicolon = piece.indexOf(';', amp);
      if (semicolon < 0 || semicolon - amp > MAX_REFERENCE || !/^[#\w:.\-\x80-\xff]/.test(piece.slice(amp + 1, semicolon))) {
        this.#fail('There is an & that begins no reference', from + amp, 'Write &amp; for the character itself.');
      }
      resolved += piece.slice(done, amp) + this.#reference(piece.slice(amp + 1, semicolon), from + amp);
      done = semicolon + 1;
    }
    return resolved + piece.slice(done);
  }

  #reference(name: string, at: number): string {
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
        point >= SPACE
          ? !(point >= 0xd800 && point <= 0xdfff) && point !== 0xfffe && point !== 0xffff && point <= 0x10ffff
          : isSpace(point);
      if (!allowed) this.#fail(`${shown} is no character of XML`, at);
      return toBytes(String.fromCodePoint(point));
    }
    if (!isName(name)) this.#fail('There is an & that begins no reference', at, 'Write &amp; for the character itself.');
    return this.#fail(
      `The entity ${shown} is not one of XML's own`,
      at,
      'Entities of a document type declaration and external entities are not read: write the character, or a reference such as &#233;.',
    );
  }

  // ---- tags

  #startTag(): boolean {
    const text = this.#text;
    const begin = this.#at;
    let i = begin + 1;
    while (NAME_BYTE[text.charCodeAt(i)] === 1) i++;
    if (i === text.length) return this.#incomplete('a tag');
    if (i === begin + 1) this.#fail('There is a < that begins no tag', begin, 'Write &lt; for the character itself.');
    const raw = text.slice(begin + 1, i);
    let pairs: string[] | undefined;
    let declarations: [string, string][] | undefined;
    let c = text.charCodeAt(i);
    while (c !== GREATER && c !== SLASH) {
      const spaced = i;
      while (isSpace(c)) c = text.charCodeAt(++i);
      if (c === GREATER || c === SLASH) break;
      const nameFrom = i;
      while (NAME_BYTE[c] === 1) c = text.charCodeAt(++i);
      const nameTo = i;
      while (isSpace(c)) c = text.charCodeAt(++i);
      if (i >= text.length) return this.#incomplete('a tag');
      if (nameTo === nameFrom) this.#fail(`The tag <${fromBytes(raw)}> has an unexpected ${excerpt(fromBytes(text.slice(i, i + 1)))}`, i);
      if (nameFrom === spaced) this.#fail(`A space is missing before the attribute ${fromBytes(text.slice(nameFrom, nameTo))}`, nameFrom);
      if (c !== EQUALS) this.#fail(`The attribute ${fromBytes(text.slice(nameFrom, nameTo))} has no value`, nameFrom);
      c = text.charCodeAt(++i);
      while (isSpace(c)) c = text.charCodeAt(++i);
      if (i >= text.length) return this.#incomplete('a tag');
      if (c !== QUOTE && c !== APOSTROPHE)
        this.#fail(`The value of the attribute ${fromBytes(text.slice(nameFrom, nameTo))} is not quoted`, i);
      const quote = c;
      const from = ++i;
      let plain = true;
      for (c = text.charCodeAt(i); c !== quote; c = text.charCodeAt(++i)) {
        if (c === LESS)
          this.#fail(`The value of the attribute ${fromBytes(text.slice(nameFrom, nameTo))} contains a <`, i, 'Write &lt; instead.');
        if (c === AMP || c < SPACE) plain = false;
        else if (i >= text.length) return this.#incomplete('a tag');
      }
      const value = plain ? text.slice(from, i) : this.#attributeValue(from, i);
      const name = text.slice(nameFrom, nameTo);
      if (name.startsWith('xmlns') && (name.length === 5 || name[5] === ':')) {
        declarations ??= [];
        if (declarations.some(([known]) => known === name)) this.#fail(`The attribute ${fromBytes(name)} occurs twice`, nameFrom);
        declarations.push([name, value]);
      } else if (pairs === undefined) pairs = [name, value];
      else pairs.push(name, value);
      c = text.charCodeAt(++i);
    }
    const empty = c === SLASH;
    if (empty) c = text.charCodeAt(++i);
    if (i >= text.length) return this.#incomplete('a tag');
    if (c !== GREATER) this.#fail(`The tag <${fromBytes(raw)}> has an unexpected /`, i - 1);
    if (this.#names.length === 0 && this.#rootSeen) this.#fail(`There is a second root element, <${fromBytes(raw)}>`, begin);
    this.#open(raw, pairs, declarations, begin);
    this.#at = i + 1;
    if (empty) this.#close();
    return true;
  }

  /** Whitespace becomes spaces, one for a line end, before references are resolved. */
  #attributeValue(from: number, to: number): string {
    return this.#resolve(this.#text.slice(from, to).replace(/\r\n|[\t\n\r]/g, ' '), from);
  }

  #open(raw: string, pairs: string[] | undefined, declarations: [string, string][] | undefined, begin: number): void {
    this.#rootSeen = true;
    let scope = this.#scopes[this.#scopes.length - 1] as Scope;
    try {
      if (declarations !== undefined) scope = scope.child(declarations);
      const name = scope.element(raw);
      const attributes = pairs === undefined ? NO_ATTRIBUTES : this.#attributes(scope, pairs, begin);
      if (this.#names.length >= MAX_DEPTH) {
        throw new Fault('limit/exceeded', `Elements are nested more than ${MAX_DEPTH} levels deep`, { place: this.#place(begin) });
      }
      this.#names.push(name);
      this.#scopes.push(scope);
      this.#sink.open(name, attributes);
    } catch (error) {
      if (!(error instanceof NameError)) throw error;
      if (error.limit) throw new Fault('limit/exceeded', error.message, { place: this.#place(begin) });
      this.#fail(error.message, begin);
    }
  }

  #attributes(scope: Scope, pairs: string[], begin: number): Attributes {
    const attributes: (Name | string)[] = pairs;
    const seen = pairs.length > 16 ? new Set<number>() : undefined;
    for (let i = 0; i < pairs.length; i += 2) {
      const name = scope.attribute(pairs[i] as string);
      let twice = seen?.has(name.id) ?? false;
      if (seen === undefined) for (let k = 0; k < i; k += 2) twice ||= (attributes[k] as Name).id === name.id;
      else seen.add(name.id);
      if (twice) this.#fail(`The attribute ${fromBytes(name.raw)} occurs twice`, begin);
      attributes[i] = name;
    }
    return attributes;
  }

  #endTag(): boolean {
    const text = this.#text;
    const open = this.#names[this.#names.length - 1];
    let i = this.#at + 2;
    if (open !== undefined && text.startsWith(open.raw, i)) {
      i += open.raw.length;
      while (isSpace(text.charCodeAt(i))) i++;
      if (text.charCodeAt(i) === GREATER) {
        this.#at = i + 1;
        this.#close();
        return true;
      }
    }
    const end = text.indexOf('>', this.#at);
    if (end < 0) return this.#incomplete('an end tag');
    const found = excerpt(fromBytes(text.slice(this.#at, end + 1)));
    return this.#fail(
      open === undefined
        ? `There is an end tag ${found} without its start tag`
        : `There is ${found} where </${fromBytes(open.raw)}> was expected`,
      this.#at,
    );
  }

  #close(): void {
    this.#names.pop();
    this.#scopes.pop();
    this.#sink.close();
  }

  // ---- comments, CDATA, instructions, declarations

  #declaration(): boolean {
    const text = this.#text;
    const at = this.#at;
    if (text.startsWith('<!--', at)) return this.#begin('comment', 4);
    if (text.startsWith('<![CDATA[', at)) {
      if (this.#names.length === 0) this.#fail('There is a CDATA section outside of the root element', at);
      return this.#begin('cdata', 9);
    }
    if (text.startsWith('<!DOCTYPE', at)) {
      if (this.#rootSeen || this.#doctypeSeen) this.#fail('There is a document type declaration in a wrong place', at);
      const end = endOfDoctype(text, at + 9);
      if (end < 0) return this.#incomplete('the document type declaration');
      this.#doctypeSeen = true;
      this.#at = end;
      return true;
    }
    if (text.length - at < 9 && ['<!--', '<![CDATA[', '<!DOCTYPE'].some((mark) => mark.startsWith(text.slice(at))))
      return this.#incomplete('a declaration');
    return this.#fail('There is a <! that begins nothing that may stand here', at);
  }

  #begin(within: Within, length: number): boolean {
    this.#within = within;
    this.#remark = '';
    this.#remarkTarget = undefined;
    this.#at += length;
    return true;
  }

  #beginInstruction(): boolean {
    const text = this.#text;
    const at = this.#at;
    let i = at + 2;
    while (NAME_BYTE[text.charCodeAt(i)] === 1) i++;
    if (i + 1 >= text.length) return this.#incomplete('a processing instruction');
    const target = text.slice(at + 2, i);
    const closed = text.charCodeAt(i) === QUESTION && text.charCodeAt(i + 1) === GREATER;
    if (!isName(target) || !(isSpace(text.charCodeAt(i)) || closed)) this.#fail('There is a <? that begins no processing instruction', at);
    if (target.toLowerCase() === 'xml') {
      if (target !== 'xml' || this.#bytesBefore + at > 0) {
        this.#fail(
          'An XML declaration may only stand at the very beginning',
          at,
          'Remove what stands before it, also spaces and empty lines.',
        );
      }
      const end = text.indexOf('?>', at);
      if (end < 0) return this.#incomplete('the XML declaration');
      if (!XML_DECLARATION.test(text.slice(at, end + 2)))
        this.#fail(`The XML declaration ${excerpt(fromBytes(text.slice(at, end + 2)))} is not valid`, at);
      this.#at = end + 2;
      return true;
    }
    this.#begin('instruction', i - at);
    this.#remarkTarget = target;
    return true;
  }

  /** Goes on with a comment, an instruction or a CDATA section. */
  #continue(): boolean {
    const text = this.#text;
    const from = this.#at;
    const mark = this.#within === 'comment' ? '--' : this.#within === 'cdata' ? ']]>' : '?>';
    const end = text.indexOf(mark, from);
    if (end >= 0) {
      if (this.#within === 'comment') {
        if (end + 2 >= text.length && !this.#ended) return this.#take(end);
        if (text.charCodeAt(end + 2) !== GREATER) this.#fail('There is "--" within a comment', end);
      }
      this.#take(end);
      this.#at = end + (this.#within === 'instruction' ? 2 : 3);
      if (this.#within !== 'cdata' && this.#names.length > 0 && this.#sink.wantsText) {
        this.#sink.remark(this.#remarkTarget, this.#remarkTarget === undefined ? this.#remark : this.#remark.replace(/^[ \t\n]+/, ''));
      }
      this.#remark = '';
      this.#within = 'content';
      return true;
    }
    if (this.#ended) return false;
    let to = Math.max(from, text.length - mark.length + 1);
    if (to > from && text.charCodeAt(to - 1) === CR) to--;
    return this.#take(to);
  }

  /** Takes a piece of a comment, an instruction or a CDATA section. */
  #take(to: number): boolean {
    const from = this.#at;
    if (to === from) return false;
    if (this.#sink.wantsText) {
      const piece = this.#lines(from, to);
      if (this.#within === 'cdata') this.#sink.text(piece);
      else this.#remark += piece;
    }
    this.#at = to;
    return true;
  }

  // ---- the end, and faults

  #incomplete(what: string): false {
    if (this.#ended) this.#fail(`The document ends within ${what}`, this.#at);
    return false;
  }

  #finish(): void {
    const end = this.#text.length;
    const open = this.#names[this.#names.length - 1];
    if (this.#within !== 'content') {
      const what = { comment: 'a comment', instruction: 'a processing instruction', cdata: 'a CDATA section' }[this.#within];
      this.#fail(`The document ends within ${what}`, end);
    }
    if (open !== undefined) this.#fail(`The document ends before </${fromBytes(open.raw)}>`, end, 'It may have been cut off.');
    if (!this.#rootSeen) this.#fail(this.#bytesBefore + end === 0 ? `${this.#input} is empty` : `${this.#input} has no root element`, end);
  }

  /** @throws Fault source/malformed at a place of the window */
  #fail(message: string, at: number, hint?: string): never {
    const open = this.#names[this.#names.length - 1];
    const within = open === undefined ? '' : `, in <${fromBytes(open.raw)}>`;
    throw new Fault('source/malformed', `${message} (column ${this.#column(at)}${within})`, {
      place: this.#place(at),
      ...(hint === undefined ? {} : { hint }),
    });
  }

  #place(at: number): FaultPlace {
    const record = this.#sink.recordAt();
    let line = this.#linesBefore + 1;
    for (let i = this.#text.indexOf('\n'); i >= 0 && i < at; i = this.#text.indexOf('\n', i + 1)) line++;
    return { input: this.#input, line, ...(record === undefined ? {} : { record }) };
  }

  /** 1-based; counts characters where the line begins in the window, else bytes. */
  #column(at: number): number {
    const begin = at === 0 ? -1 : this.#text.lastIndexOf('\n', at - 1);
    if (begin >= 0) return fromBytes(this.#text.slice(begin + 1, at)).length + 1;
    return this.#columnBefore + fromBytes(this.#text.slice(0, at)).length + 1;
  }
}

const find = (text: string, what: string, from: number): number => {
  const at = text.indexOf(what, from);
  return at < 0 ? Number.POSITIVE_INFINITY : at;
};

/** The position after `>`, or -1 where the declaration goes on beyond the window. Quotes, comments and instructions may contain anything. */
function endOfDoctype(text: string, from: number): number {
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
