/**
 * The tags and texts of a part of a workbook, in one pass.
 *
 * It does less than the tokenizer of XML documents (../../xml/parse), and is three times as fast: names are those of the formats, so neither they nor
 * the characters of texts are checked, and attributes are read only when they are asked for. Tags must match. Document type declarations are
 * refused, as both formats demand. Text is UTF-8 in one-byte strings.
 *
 * @see https://www.w3.org/TR/xml/
 */
import { excerpt, Fault, type FaultPlace } from '../../../core/fault.ts';
import { depthFault } from '../../../core/limits.ts';
import { fromBytes } from '../../../core/text.ts';
import { resolveReferences } from '../../xml/parse/syntax.ts';

export interface TagHandler {
  /** False: `text` need not be called at present. */
  readonly wantsText: boolean;
  /** @param name with the prefix that `TokenOptions.namespaces` gives its namespace. `tokens.attribute` reads its attributes. */
  open(name: string, tokens: Tokens): void;
  text(text: string): void;
  close(name: string): void;
}

export interface TokenOptions {
  readonly input: string;
  /** The part, for messages. */
  readonly part: string;
  readonly maxTokenBytes: number;
  readonly maxDepth: number | undefined;
  /** Namespace IRI → the prefix by which handlers know it, with its colon; empty for none. */
  readonly namespaces: Readonly<Record<string, string>>;
}

interface ElementName {
  readonly raw: string;
  readonly bytes: Uint8Array;
  readonly name: string;
}

const LESS = 60;
const GREATER = 62;
const SLASH = 47;
const EQUALS = 61;
const BANG = 33;
const QUESTION = 63;
const QUOTE = 34;
const APOSTROPHE = 39;
const SPACE = 32;
const LETTER_X = 120;
const NAMES = 1024;
/** Levels of elements; workbooks have about ten. */
const MAX_DEPTH = 256;

/** Usage: `push`, then `scan` until it returns false; after the last chunk, `end` and `scan` once more. */
export class Tokens {
  /** Set it in a handler to make `scan` return after that token. */
  paused = false;

  readonly #handler: TagHandler;
  readonly #options: TokenOptions;
  readonly #maxDepth: number;
  #bytes: Uint8Array = new Uint8Array(0);
  #text = '';
  #at = 0;
  #before = 0;
  #ended = false;
  readonly #open: ElementName[] = [];
  #rootSeen = false;
  /** By hash: the name that was seen last. */
  readonly #names = new Array<ElementName | undefined>(NAMES).fill(undefined);
  /** Prefixes of the document → those that handlers know, where they differ. */
  readonly #prefixes = new Map<string, string>();
  /** Four positions for each attribute of the current tag: where its name and its value begin and end. */
  readonly #spans = new Int32Array(4 * 512);
  #attributes = 0;
  readonly #fail = (message: string, at: number, hint?: string): never => this.fail(message, at, hint);

  constructor(handler: TagHandler, options: TokenOptions) {
    this.#handler = handler;
    this.#options = options;
    this.#maxDepth = Math.min(options.maxDepth ?? MAX_DEPTH, MAX_DEPTH);
  }

  /** Appends UTF-8. The bytes belong to the scanner until the next call. */
  push(chunk: Uint8Array): void {
    const rest = this.#bytes.subarray(this.#at);
    const { maxTokenBytes, input } = this.#options;
    if (rest.length > maxTokenBytes)
      throw new Fault('limit/exceeded', `A text or a tag is longer than the ${maxTokenBytes} bytes that are allowed`, {
        place: { input, ...this.#place(this.#at) },
        limit: 'MAX_RECORD_BYTES',
        hint: 'Raise MAX_RECORD_BYTES (--max-record-mb)',
      });
    const joined = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    this.#before += this.#at;
    this.#bytes = new Uint8Array(joined.buffer, joined.byteOffset, joined.length);
    this.#text = Buffer.from(joined.buffer, joined.byteOffset, joined.length).toString('latin1');
    this.#at = 0;
  }

  /** How many bytes wait for the rest of their token. Push at least as many again, so that long tokens take linear time. */
  get waiting(): number {
    return this.#bytes.length - this.#at;
  }

  end(): void {
    this.#ended = true;
  }

  /** The value of an attribute of the tag that is being opened. @param name as handlers know it */
  attribute(name: string): string | undefined {
    // A name without prefix is in no namespace, whatever the prefix of its element is.
    const isPlain = this.#prefixes.size === 0 || !name.includes(':');
    const spans = this.#spans;
    for (let i = 0; i < 4 * this.#attributes; i += 4) {
      const [from, to] = [spans[i] as number, spans[i + 1] as number];
      if (isPlain) {
        if (to - from !== name.length || !this.#text.startsWith(name, from)) continue;
      } else if (
        !name.endsWith(this.#text.slice(this.#text.indexOf(':', from) + 1, to)) ||
        this.#renamed(this.#text.slice(from, to)) !== name
      )
        continue;
      const value = this.#text.slice(spans[i + 2] as number, spans[i + 3] as number);
      return value.includes('&') ? resolveReferences(value, spans[i + 2] as number, this.#fail) : value;
    }
    return undefined;
  }

  /** True: paused. False: more bytes are needed or, after `end`, the part is read. */
  scan(): boolean {
    this.paused = false;
    while (this.#step()) if (this.paused) return true;
    if (this.#ended) this.#finish();
    return false;
  }

  /** False: the rest of the token is not there. */
  #step(): boolean {
    const text = this.#text;
    const from = this.#at;
    // Most tags stand behind another one, where a search costs more than a look.
    const less = this.#bytes[from] === LESS ? from : text.indexOf('<', from);
    if (less < 0) {
      // A text is read as a whole.
      if (!this.#handler.wantsText && this.#open.length > 0) this.#at = text.length;
      return false;
    }
    if (less > from) {
      if (this.#open.length === 0) this.#checkOutside(from, less);
      else if (this.#handler.wantsText) this.#handler.text(this.#resolved(text.slice(from, less), from));
      this.#at = less;
    }
    const next = this.#bytes[less + 1];
    if (next === undefined) return false;
    if (next === SLASH) return this.#endTag(less);
    if (next === BANG) return this.#declaration(less);
    if (next === QUESTION) return this.#skipTo('?>', less);
    return this.#startTag(less);
  }

  #resolved(text: string, from: number): string {
    const lines = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
    return lines.includes('&') ? resolveReferences(lines, from, this.#fail) : lines;
  }

  #checkOutside(from: number, to: number): void {
    if (/[^ \t\r\n]/.test(this.#text.slice(from, to))) this.fail('There is text outside of the root element', from);
  }

  #startTag(less: number): boolean {
    const bytes = this.#bytes;
    const { length } = bytes;
    const spans = this.#spans;
    let i = less + 1;
    let hash = 0;
    let c = 0;
    for (; i < length; i++) {
      c = bytes[i] as number;
      if (c <= SPACE || c === GREATER || c === SLASH) break;
      if (c === LESS || c === EQUALS || c === QUOTE) this.fail('There is a < that begins no tag', less);
      hash = (hash * 31 + c) | 0;
    }
    const nameEnd = i;
    let count = 0;
    let declares = false;
    while (i < length) {
      while (i < length && (bytes[i] as number) <= SPACE) i++;
      c = bytes[i] as number;
      if (i >= length || c === GREATER || c === SLASH) break;
      const from = i;
      if (c === LETTER_X && this.#text.startsWith('xmlns', from)) declares = true;
      while (i < length && bytes[i] !== EQUALS) {
        c = bytes[i] as number;
        if (c === LESS || c === GREATER) this.fail('An attribute has no value', from);
        i++;
      }
      let to = i++;
      while (to > from && (bytes[to - 1] as number) <= SPACE) to--;
      while (i < length && (bytes[i] as number) <= SPACE) i++;
      if (i >= length) return this.#incomplete();
      const quote = bytes[i] as number;
      if (quote !== QUOTE && quote !== APOSTROPHE) this.fail('The value of an attribute is not quoted', i);
      const valueFrom = ++i;
      while (i < length && bytes[i] !== quote) {
        if (bytes[i] === LESS) this.fail('The value of an attribute contains a <', i);
        i++;
      }
      if (4 * count + 4 > spans.length) this.fail('A tag has more than 512 attributes', less);
      spans[4 * count] = from;
      spans[4 * count + 1] = to;
      spans[4 * count + 2] = valueFrom;
      spans[4 * count + 3] = i;
      count++;
      i++;
    }
    if (i >= length) return this.#incomplete();
    const empty = bytes[i] === SLASH;
    if (empty && ++i >= length) return this.#incomplete();
    if (bytes[i] !== GREATER) this.fail('A tag has an unexpected /', i);
    this.#attributes = count;
    if (this.#open.length === 0) this.#beginRoot(less);
    if (declares) this.#declare();
    if (nameEnd === less + 1) this.fail('There is a < that begins no tag', less);
    const known = this.#nameAt(less + 1, nameEnd, hash);
    const { input } = this.#options;
    if (this.#open.length >= this.#maxDepth) throw depthFault('Elements are', this.#maxDepth, MAX_DEPTH, { input, ...this.#place(less) });
    this.#at = i + 1;
    this.#open.push(known);
    this.#handler.open(known.name, this);
    if (empty) {
      this.#open.pop();
      this.#handler.close(known.name);
    }
    return true;
  }

  #beginRoot(at: number): void {
    if (this.#rootSeen) this.fail('There is a second root element', at);
    this.#rootSeen = true;
  }

  /**
   * The prefixes that the current tag gives the namespaces of the format. They hold to the end of the part, as if the root had declared them: no
   * writer gives a prefix two meanings. Where the namespace of the format has another prefix, the usual one may be of another namespace.
   */
  #declare(): void {
    const { namespaces } = this.#options;
    const others: string[] = [];
    for (let i = 0; i < 4 * this.#attributes; i += 4) {
      const name = this.#text.slice(this.#spans[i], this.#spans[i + 1]);
      if (name !== 'xmlns' && !name.startsWith('xmlns:')) continue;
      const known = namespaces[this.#text.slice(this.#spans[i + 2], this.#spans[i + 3])];
      const prefix = name === 'xmlns' ? '' : `${name.slice(6)}:`;
      if (known === undefined) others.push(prefix);
      else if (known !== prefix && !this.#prefixes.has(prefix)) this.#prefixes.set(prefix, known);
    }
    const renamed = new Set(this.#prefixes.values());
    if (this.#open.length === 0) for (const prefix of others) if (renamed.has(prefix)) this.#prefixes.set(prefix, `another ${prefix}`);
    this.#names.fill(undefined);
  }

  /** `x:row` → `row`, where the document has the prefix `x` for the namespace that has none here. */
  #renamed(name: string): string {
    if (this.#prefixes.size === 0) return name;
    const colon = name.indexOf(':') + 1;
    const prefix = this.#prefixes.get(name.slice(0, colon));
    return prefix === undefined ? name : prefix + name.slice(colon);
  }

  #nameAt(from: number, to: number, hash: number): ElementName {
    const slot = hash & (NAMES - 1);
    const known = this.#names[slot];
    if (known !== undefined && known.bytes.length === to - from) {
      const { bytes } = known;
      let k = 0;
      while (k < bytes.length && bytes[k] === this.#bytes[from + k]) k++;
      if (k === bytes.length) return known;
    }
    const raw = Buffer.from(this.#bytes.slice(from, to)).toString('latin1');
    const name = { raw, bytes: this.#bytes.slice(from, to), name: this.#renamed(raw) };
    this.#names[slot] = name;
    return name;
  }

  #endTag(less: number): boolean {
    const known = this.#open[this.#open.length - 1];
    const bytes = this.#bytes;
    let i = less + 2;
    if (known !== undefined) {
      const name = known.bytes;
      let k = 0;
      while (k < name.length && name[k] === bytes[i]) {
        k++;
        i++;
      }
      while ((bytes[i] as number) <= SPACE) i++;
      if (k === name.length && bytes[i] === GREATER) {
        this.#open.pop();
        this.#at = i + 1;
        this.#handler.close(known.name);
        return true;
      }
    }
    const end = this.#text.indexOf('>', less);
    if (end < 0) return this.#incomplete();
    const found = excerpt(fromBytes(this.#text.slice(less, end + 1)));
    return this.fail(
      known === undefined ? `There is ${found} without its start tag` : `There is ${found} where </${known.raw}> was expected`,
      less,
    );
  }

  #declaration(less: number): boolean {
    const text = this.#text;
    if (text.startsWith('<!--', less)) return this.#skipTo('-->', less);
    if (text.startsWith('<![CDATA[', less)) {
      const end = text.indexOf(']]>', less);
      if (end < 0) return this.#incomplete();
      if (this.#handler.wantsText && end > less + 9) this.#handler.text(text.slice(less + 9, end));
      this.#at = end + 3;
      return true;
    }
    if (text.length - less < 9 && !this.#ended) return false;
    return this.fail('There is a document type declaration, which a workbook may not have', less);
  }

  #skipTo(mark: string, less: number): boolean {
    const end = this.#text.indexOf(mark, less + 2);
    if (end < 0) return this.#incomplete();
    this.#at = end + mark.length;
    return true;
  }

  #incomplete(): false {
    if (this.#ended) this.fail('The part ends within a tag', this.#at);
    return false;
  }

  #finish(): void {
    if (this.#open.length > 0) this.fail(`The part ends within <${(this.#open.at(-1) as ElementName).raw}>`, this.#text.length);
    if (!this.#rootSeen) this.fail('The part has no element', 0);
    this.#checkOutside(this.#at, this.#text.length);
  }

  #place(at: number): FaultPlace {
    return { byte: this.#before + at };
  }

  /** @throws Fault source/malformed — with the byte in the part */
  fail(message: string, at = this.#at, hint = 'Save the workbook again in a spreadsheet program'): never {
    const { input, part } = this.#options;
    throw new Fault('source/malformed', `${message}, in the part ${part} of the workbook`, { place: { input, ...this.#place(at) }, hint });
  }
}
