/**
 * Cuts XML into elements, text, comments and processing instructions, and checks that it is well-formed.
 *
 * Works on UTF-8 as one-byte strings. All markup is ASCII, so only names are decoded, each distinct name once (`names.ts`).
 *
 * Of document type declarations the internal subset is read (`doctype.ts`), and no external file. What entities expand to is bounded.
 * Versions above 1.0 are read as 1.0. Memory: one window of text, and the names of the open elements.
 *
 * @see https://www.w3.org/TR/xml/ and https://www.w3.org/TR/xml-names/
 */
import { excerpt, Fault } from '../../../core/fault.ts';
import { depthFault } from '../../../core/limits.ts';
import { fromBytes } from '../../../core/text.ts';
import { hashStep, isName, type Name, NameError, type NameTable, Scope } from '../names.ts';
import { type Attributes, NO_ATTRIBUTES, type XmlSink } from '../tree.ts';
import { type DeclaredAttribute, DocumentType, TooMuch, tokens } from './doctype.ts';
import {
  AMP,
  APOSTROPHE,
  BANG,
  BRACKET,
  CR,
  checkCharacters,
  ENDS,
  EQUALS,
  endOfDoctype,
  endOfWholeText,
  GREATER,
  indexOfEntity,
  isDeclaration,
  isSpace,
  LESS,
  NAME_BYTE,
  NOT_CHARACTER,
  nameAt,
  QUESTION,
  QUOTE,
  REFERENCE,
  RETURN,
  resolveReferences,
  SLASH,
  SPACE,
  TEXT_BYTE,
  XML_DECLARATION,
} from './syntax.ts';
import { CUT_OFF, XmlWindow } from './window.ts';

/** Levels of open elements that a document may have. */
export const MAX_DEPTH = 10_000;
/** What the scanner is within when a window ends. A tag is never cut: the scanner waits for all of it. */
type Within = 'content' | 'comment' | 'instruction' | 'cdata';

/**
 * Usage: `push` bytes, then `scan`; repeat. After the last `push`, call `end` and `scan` once more. Tokens go to the sink.
 *
 * @throws Fault source/malformed, limit/exceeded — from `scan` and `push`
 */
export class XmlScanner extends XmlWindow {
  /** Set it while a token is given to the sink, to make `scan` return after that token. */
  paused = false;

  /** Receives the tokens. */
  sink: XmlSink;
  readonly #maxDepth: number;
  readonly #failer = (message: string, at: number, hint?: string): never => this.fail(message, at, hint);
  /** Of the open elements, from the root. `#scopes` begins with the scope outside of the root. */
  readonly #names: Name[] = [];
  readonly #scopes: Scope[];
  /** By level: elements so far within the open element of the level above. */
  readonly #counts: number[] = [0];
  #within: Within = 'content';
  #rootSeen = false;
  #doctypeSeen = false;
  /** undefined: the document declares neither entities nor attributes. */
  #type: DocumentType | undefined;
  /** The text so far of the comment or instruction that the scanner is within; the target of the instruction. */
  #nonElementText = '';
  #instructionTarget: string | undefined;
  /** Three numbers for each attribute of the current tag: where its name begins and ends, and the hash of the name. */
  readonly #spans: number[] = [];

  /** @param maxDepth levels of open elements, at most `MAX_DEPTH` */
  constructor(sink: XmlSink, names: NameTable, input: string, maxTokenBytes: number, maxDepth = MAX_DEPTH) {
    super(input, maxTokenBytes);
    this.#maxDepth = Math.min(maxDepth, MAX_DEPTH);
    this.sink = sink;
    this.#scopes = [new Scope(names)];
  }

  /** The namespace scope of the innermost open element. */
  get scope(): Scope {
    return this.#scopes[this.#scopes.length - 1] as Scope;
  }

  /** Of the innermost open element and those around it, from below the root on: the number of elements before it in the same parent. */
  get path(): readonly number[] {
    return this.#counts.slice(1, this.#names.length).map((count) => count - 1);
  }

  /** Reads all complete tokens of the window. True: paused. False: more bytes are needed or, after `end`, the document is read. */
  scan(): boolean {
    this.paused = false;
    try {
      while (this.at < this.text.length) {
        if (!this.#step()) break;
        if (this.paused) return true;
      }
    } catch (error) {
      if (!(error instanceof TooMuch)) throw error;
      throw new Fault('limit/exceeded', `The declarations of the document type expand without bound, the last is ${error.message}`, {
        place: this.place(this.at),
        hint: 'Such a document is an attack as a rule: if it is not, write the texts of its entities where they are referred to',
      });
    }
    if (this.ended) this.#finish();
    return false;
  }

  /** Reads one token, or a piece of text. False: its rest is not in the window. */
  #step(): boolean {
    if (this.#within !== 'content') return this.#continue();
    const bytes = this.bytes;
    const at = this.at;
    if (bytes[at] !== LESS) return this.#characters();
    switch (bytes[at + 1]) {
      case SLASH:
        return this.#endTag();
      case BANG:
        return this.#declaration();
      case QUESTION:
        return this.#beginInstruction();
      default:
        return this.#startTag() || this.incomplete('a tag');
    }
  }

  // ---- text

  /** Reads text up to the next markup; if none follows in this window, up to where text can be cut. */
  #characters(): boolean {
    const bytes = this.bytes;
    const from = this.at;
    const { length } = this.text;
    let flags = 0;
    let to = from;
    for (; ; to++) {
      const kind = TEXT_BYTE[bytes[to] as number] as number;
      if (kind === 0) continue;
      if (kind === ENDS) break;
      flags |= kind;
    }
    if (to === length && !this.ended) to = endOfWholeText(this.text, from);
    if (to === from) return false;
    if (this.#names.length === 0) this.#checkOutside(from, to);
    else {
      if ((flags & NOT_CHARACTER) !== 0) checkCharacters(this.text.slice(from, to), from, this.#failer);
      if ((flags & BRACKET) !== 0) {
        const end = this.text.indexOf(']]>', from);
        if (end >= 0 && end < to) this.fail('The characters "]]>" may not stand in text', end);
      }
      if ((flags & REFERENCE) !== 0 && this.#type !== undefined) {
        const amp = indexOfEntity(this.text, from, to);
        if (amp === from) return this.#readEntity(this.#type);
        if (amp > 0) to = amp;
      }
      const { wantsText } = this.sink;
      if (wantsText || (flags & REFERENCE) !== 0) {
        let text = this.text.slice(from, to);
        if ((flags & RETURN) !== 0) text = text.replace(/\r\n?/g, '\n');
        if ((flags & REFERENCE) !== 0) text = resolveReferences(text, from, this.#failer);
        if (wantsText) this.sink.text(text);
      }
    }
    this.at = to;
    return true;
  }

  /** Reads the text of the entity whose reference begins here, as what stands in its place. */
  #readEntity(type: DocumentType): true {
    const begin = this.at;
    const name = nameAt(this.text, begin);
    const entity = type.has(name) ? type.enter(name, begin, this.position, this.#failer) : undefined;
    // What is not declared, or no reference, is refused there.
    if (entity === undefined) return resolveReferences(this.text.slice(begin, begin + name.length + 2), begin, this.#failer) as never;
    const { bytes, text, ended } = this;
    const depth = this.#names.length;
    let problem: { readonly message: string; readonly hint: string | undefined } | undefined;
    const line = this.entityLine;
    this.entityLine = this.line;
    this.text = entity;
    this.bytes = Buffer.from(`${entity}<`, 'latin1');
    this.at = 0;
    this.ended = true;
    try {
      while (this.at < this.text.length && this.#names.length >= depth && this.#step());
      if (this.#names.length !== depth || this.#within !== 'content')
        problem = { message: 'It does not hold whole elements', hint: undefined };
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'source/malformed') throw error;
      problem = error;
    } finally {
      Object.assign(this, { bytes, text, ended });
      this.at = begin;
      this.entityLine = line;
    }
    if (problem !== undefined)
      this.fail(
        `The text of the entity ${excerpt(`&${fromBytes(name)};`)} is not well-formed: ${problem.message.replace(/, in <[^>]*>$/, '')}`,
        begin,
        problem.hint,
      );
    type.leave();
    this.at = begin + name.length + 2;
    return true;
  }

  /** Only white space may stand outside of the root element. */
  #checkOutside(from: number, to: number): void {
    for (let i = from; i < to; i++) {
      if (isSpace(this.bytes[i])) continue;
      this.fail(`There is text ${this.#rootSeen ? 'after' : 'before'} the root element`, i);
    }
  }

  // ---- tags

  /**
   * Reads a start tag or an empty-element tag. False: the tag goes on beyond the window. Windows end anywhere in it, and the caller alone says
   * so: the first time that compiled code comes to a call that it has not made before, V8 compiles all of the function again.
   */
  #startTag(): boolean {
    const bytes = this.bytes;
    const text = this.text;
    const { length } = text;
    const begin = this.at;
    let hash = 0;
    let i = begin + 1;
    for (; NAME_BYTE[bytes[i] as number] === 1; i++) hash = hashStep(hash, bytes[i] as number);
    if (i === length) return false;
    if (i === begin + 1) this.fail('There is a < that begins no tag', begin, 'Write &lt; for the character itself.');
    const nameEnd = i;
    if (bytes[i] === GREATER && this.#type?.attributes === undefined && this.#leaf(nameEnd, hash)) return true;
    const spans = this.#spans;
    let count = 0;
    let values: string[] | undefined;
    let declarations: [string, string][] | undefined;
    let c = bytes[i] as number;
    while (c !== GREATER && c !== SLASH) {
      const spaced = i;
      while (isSpace(bytes[i])) i++;
      if (i === length) return false;
      c = bytes[i] as number;
      if (c === GREATER || c === SLASH) break;
      const from = i;
      let attributeHash = 0;
      for (; NAME_BYTE[bytes[i] as number] === 1; i++) attributeHash = hashStep(attributeHash, bytes[i] as number);
      const to = i;
      while (isSpace(bytes[i])) i++;
      if (i === length) return false;
      if (to === from) this.#failTag(`an unexpected ${excerpt(text[i] as string)}`, i, nameEnd);
      if (from === spaced) this.#failTag(`no space before the attribute ${this.shown(from, to)}`, from, nameEnd);
      if (bytes[i] !== EQUALS) this.#failTag(`an attribute ${this.shown(from, to)} without value`, from, nameEnd);
      i++;
      while (isSpace(bytes[i])) i++;
      if (i === length) return false;
      const quote = bytes[i] as number;
      if (quote !== QUOTE && quote !== APOSTROPHE)
        this.#failTag(`an attribute ${this.shown(from, to)} whose value is not quoted`, i, nameEnd);
      const valueFrom = ++i;
      let plain = true;
      for (; ; i++) {
        c = bytes[i] as number;
        if (c === quote) break;
        if (c === LESS && i === length) return false;
        if (c === LESS) this.#failTag(`an attribute ${this.shown(from, to)} whose value contains a <`, i, nameEnd, 'Write &lt; instead.');
        if (c === AMP || c < SPACE || c === 0xef) plain = false;
      }
      const value = plain ? text.slice(valueFrom, i) : this.#attributeValue(valueFrom, i);
      if (bytes[from] === 0x78 && isDeclaration(text, from, to)) {
        declarations ??= [];
        const name = text.slice(from, to);
        if (declarations.some(([known]) => known === name)) this.#failTag(`the attribute ${this.shown(from, to)} twice`, from, nameEnd);
        declarations.push([name, value]);
      } else {
        spans[count] = from;
        spans[count + 1] = to;
        spans[count + 2] = attributeHash;
        count += 3;
        if (values === undefined) values = [value];
        else values.push(value);
      }
      i++;
      if (i === length) return false;
      c = bytes[i] as number;
    }
    const empty = c === SLASH;
    if (empty) i++;
    if (i === length) return false;
    if (bytes[i] !== GREATER) this.#failTag('an unexpected /', i - 1, nameEnd);
    if (this.#names.length === 0 && this.#rootSeen)
      this.fail(
        `There is a second root element, <${this.shown(begin + 1, nameEnd)}>`,
        begin,
        'An XML document has one: put the elements into one',
      );
    this.#open(nameEnd, hash, values, declarations);
    this.at = i + 1;
    if (empty) this.#close();
    return true;
  }

  /**
   * Reads the element of the current tag with its text and its end tag, if there is nothing to resolve and nothing to refuse in it, and the sink
   * takes it. False: nothing was read.
   */
  #leaf(nameEnd: number, hash: number): boolean {
    const { sink, bytes } = this;
    const depth = this.#names.length;
    if (sink.leaf === undefined || depth === 0 || depth >= this.#maxDepth) return false;
    const from = nameEnd + 1;
    let to = from;
    while (TEXT_BYTE[bytes[to] as number] === 0) to++;
    if (bytes[to] !== LESS || to === this.text.length || bytes[to + 1] !== SLASH) return false;
    const begin = this.at + 1;
    const away = to + 2 - begin;
    for (let i = begin; i < nameEnd; i++) if (bytes[i] !== bytes[i + away]) return false;
    if (bytes[nameEnd + away] !== GREATER) return false;
    const name = this.scope.seenElement(bytes, begin, nameEnd, hash);
    if (name === undefined || !sink.leaf(name, this.text, from, to)) return false;
    (this.#counts[depth] as number)++;
    this.at = nameEnd + away + 1;
    return true;
  }

  #failTag(what: string, at: number, nameEnd: number, hint?: string): never {
    return this.fail(`The tag <${this.shown(this.at + 1, nameEnd)}> has ${what}`, at, hint);
  }

  /** The normalised value: each white-space character or line end becomes one space, then references are resolved. */
  #attributeValue(from: number, to: number): string {
    const value = this.text.slice(from, to);
    checkCharacters(value, from, this.#failer);
    if (this.#type !== undefined) return this.#type.attributeText(value, from, this.position, this.#failer);
    return resolveReferences(value.replace(/\r\n|[\t\n\r]/g, ' '), from, this.#failer);
  }

  /** Opens the element of the current tag, in the scope that its namespace declarations make. */
  #open(nameEnd: number, hash: number, values: string[] | undefined, declarations: [string, string][] | undefined): void {
    const begin = this.at;
    this.#rootSeen = true;
    let scope = this.#scopes[this.#scopes.length - 1] as Scope;
    try {
      const type = this.#type;
      const declared = type?.attributes?.get(this.text.slice(begin + 1, nameEnd));
      const all = type === undefined || declared === undefined ? declarations : this.#withDeclared(type, declarations, declared);
      if (all !== undefined) scope = scope.child(all);
      const name = scope.element(this.bytes, this.text, begin + 1, nameEnd, hash);
      const written = values === undefined ? NO_ATTRIBUTES : this.#attributes(scope, values);
      const attributes = type === undefined || declared === undefined ? written : this.#withDefaults(type, scope, written, declared);
      const depth = this.#names.length;
      if (depth >= this.#maxDepth) throw depthFault('Elements are', this.#maxDepth, MAX_DEPTH, this.place(begin));
      (this.#counts[depth] as number)++;
      this.#counts[depth + 1] = 0;
      this.#names.push(name);
      this.#scopes.push(scope);
      this.sink.open(name, attributes);
    } catch (error) {
      if (!(error instanceof NameError)) throw error;
      if (error.limit) throw new Fault('limit/exceeded', error.message, { place: this.place(begin) });
      this.fail(error.message, begin);
    }
  }

  /** The namespaces that a tag declares, and those that are declared for its element by default. */
  #withDeclared(type: DocumentType, written: [string, string][] | undefined, declared: Declared): [string, string][] | undefined {
    const all = [...(written ?? [])];
    for (const attribute of declared.values()) {
      const { name } = attribute;
      if (!isDeclaration(name, 0, name.length) || all.some(([known]) => known === name)) continue;
      const value = type.defaultOf(attribute, this.at, this.position, this.#failer);
      if (value !== undefined) all.push([name, value]);
    }
    return all.length === 0 ? undefined : all;
  }

  /** The attributes of a tag with those that it lacks and the document type gives, and with values of tokens normalised. */
  #withDefaults(type: DocumentType, scope: Scope, written: Attributes, declared: Declared): Attributes {
    const attributes = [...written];
    const lacking = new Map(declared);
    for (let i = 0; i < written.length; i += 2) {
      const { raw } = written[i] as Name;
      if (declared.get(raw)?.isTokens === true) attributes[i + 1] = tokens(written[i + 1] as string);
      lacking.delete(raw);
    }
    for (const attribute of lacking.values()) {
      const { name } = attribute;
      const value = isDeclaration(name, 0, name.length) ? undefined : type.defaultOf(attribute, this.at, this.position, this.#failer);
      if (value !== undefined) attributes.push(scope.attributeNamed(name), value);
    }
    return attributes;
  }

  /** The names of the attributes in `#spans`, each followed by its value. */
  #attributes(scope: Scope, values: string[]): Attributes {
    const spans = this.#spans;
    const attributes = new Array<Name | string>(2 * values.length);
    const seen = values.length > 8 ? new Set<number>() : undefined;
    for (let i = 0; i < values.length; i++) {
      const from = spans[3 * i] as number;
      const name = scope.attribute(this.bytes, this.text, from, spans[3 * i + 1] as number, spans[3 * i + 2] as number);
      let twice = seen?.has(name.id) ?? false;
      if (seen === undefined) for (let k = 0; k < 2 * i; k += 2) twice ||= (attributes[k] as Name).id === name.id;
      else seen.add(name.id);
      if (twice) this.fail(`The attribute ${fromBytes(name.raw)} occurs twice`, from);
      attributes[2 * i] = name;
      attributes[2 * i + 1] = values[i] as string;
    }
    return attributes;
  }

  #endTag(): boolean {
    const bytes = this.bytes;
    const open = this.#names[this.#names.length - 1];
    let i = this.at + 2;
    if (open !== undefined) {
      const name = open.bytes;
      let k = 0;
      while (k < name.length && name[k] === bytes[i]) {
        k++;
        i++;
      }
      while (isSpace(bytes[i])) i++;
      if (k === name.length && bytes[i] === GREATER) {
        this.at = i + 1;
        this.#close();
        return true;
      }
    }
    const end = this.text.indexOf('>', this.at);
    if (end < 0) return this.incomplete('an end tag');
    const found = excerpt(this.shown(this.at, end + 1));
    if (open === undefined) return this.fail(`There is an end tag ${found} without its start tag`, this.at);
    return this.fail(`There is ${found} where </${fromBytes(open.raw)}> was expected`, this.at);
  }

  #close(): void {
    this.#names.pop();
    this.#scopes.pop();
    this.sink.close();
  }

  // ---- comments, CDATA, instructions, declarations

  /** Reads what begins with `<!`. */
  #declaration(): boolean {
    const text = this.text;
    const at = this.at;
    if (text.startsWith('<!--', at)) return this.#begin('comment', 4);
    if (text.startsWith('<![CDATA[', at)) {
      if (this.#names.length === 0) this.fail('There is a CDATA section outside of the root element', at);
      return this.#begin('cdata', 9);
    }
    if (text.startsWith('<!DOCTYPE', at)) {
      if (this.#rootSeen || this.#doctypeSeen) this.fail('There is a document type declaration in a wrong place', at);
      const end = endOfDoctype(text, at + 9);
      if (end < 0) return this.incomplete('the document type declaration');
      this.#doctypeSeen = true;
      this.#type = new DocumentType(text.slice(at + 9, end - 1), at, this.#failer);
      this.at = end;
      return true;
    }
    if (text.length - at < 9 && ['<!--', '<![CDATA[', '<!DOCTYPE'].some((mark) => mark.startsWith(text.slice(at))))
      return this.incomplete('a declaration');
    return this.fail('There is a <! that begins nothing that may stand here', at);
  }

  #begin(within: Within, length: number): boolean {
    this.#within = within;
    this.#nonElementText = '';
    this.#instructionTarget = undefined;
    this.at += length;
    return true;
  }

  /** Reads an XML declaration, or the beginning of a processing instruction. */
  #beginInstruction(): boolean {
    const text = this.text;
    const at = this.at;
    let i = at + 2;
    while (NAME_BYTE[text.charCodeAt(i)] === 1) i++;
    if (i + 1 >= text.length) return this.incomplete('a processing instruction');
    const target = text.slice(at + 2, i);
    const closed = text.charCodeAt(i) === QUESTION && text.charCodeAt(i + 1) === GREATER;
    if (!isName(target) || !(isSpace(text.charCodeAt(i)) || closed)) this.fail('There is a <? that begins no processing instruction', at);
    if (target.toLowerCase() === 'xml') {
      if (target !== 'xml' || this.bytesBefore + at > 0) {
        this.fail(
          'An XML declaration may only stand at the very beginning',
          at,
          'Remove what stands before it, also spaces and empty lines.',
        );
      }
      const end = text.indexOf('?>', at);
      if (end < 0) return this.incomplete('the XML declaration');
      if (!XML_DECLARATION.test(text.slice(at, end + 2)))
        this.fail(`The XML declaration ${excerpt(fromBytes(text.slice(at, end + 2)))} is not valid`, at);
      this.at = end + 2;
      return true;
    }
    this.#begin('instruction', i - at);
    this.#instructionTarget = target;
    return true;
  }

  /** Reads on within a comment, an instruction or a CDATA section. */
  #continue(): boolean {
    const text = this.text;
    const from = this.at;
    const mark = this.#within === 'comment' ? '--' : this.#within === 'cdata' ? ']]>' : '?>';
    const end = text.indexOf(mark, from);
    if (end >= 0) {
      if (this.#within === 'comment') {
        if (end + 2 >= text.length && !this.ended) return this.#take(end);
        if (text.charCodeAt(end + 2) !== GREATER) this.fail('There is "--" within a comment', end);
      }
      this.#take(end);
      this.at = end + (this.#within === 'instruction' ? 2 : 3);
      if (this.#within !== 'cdata' && this.#names.length > 0 && this.sink.wantsText) {
        this.sink.commentOrInstruction(
          this.#instructionTarget,
          this.#instructionTarget === undefined ? this.#nonElementText : this.#nonElementText.replace(/^[ \t\n]+/, ''),
        );
      }
      this.#nonElementText = '';
      this.#within = 'content';
      return true;
    }
    if (this.ended) return false;
    let to = Math.max(from, text.length - mark.length + 1);
    if (to > from && text.charCodeAt(to - 1) === CR) to--;
    for (let k = 1; k <= 2 && to - k >= from; k++) if (text.charCodeAt(to - k) === 0xef) to -= k;
    return this.#take(to);
  }

  /** Reads a piece of a comment, an instruction or a CDATA section, up to `to`. False: the piece is empty. */
  #take(to: number): boolean {
    const from = this.at;
    if (to === from) return false;
    const raw = this.text.slice(from, to);
    checkCharacters(raw, from, this.#failer);
    if (this.sink.wantsText) {
      const piece = raw.replace(/\r\n?/g, '\n');
      if (this.#within === 'cdata') this.sink.text(piece);
      else this.#nonElementText += piece;
    }
    this.at = to;
    return true;
  }

  // ---- the end

  protected override context(): { readonly element: string | undefined; readonly record: number | undefined } {
    return { element: this.#names[this.#names.length - 1]?.raw, record: this.sink.recordAt() };
  }

  #finish(): void {
    const end = this.text.length;
    const open = this.#names[this.#names.length - 1];
    if (this.#within !== 'content') {
      const what = { comment: 'a comment', instruction: 'a processing instruction', cdata: 'a CDATA section' }[this.#within];
      this.fail(`The document ends within ${what}`, end, CUT_OFF);
    }
    if (open !== undefined) this.fail(`The document ends before </${fromBytes(open.raw)}>`, end, CUT_OFF);
    if (!this.#rootSeen) this.fail(this.bytesBefore + end === 0 ? `${this.input} is empty` : `${this.input} has no root element`, end);
  }
}

type Declared = ReadonlyMap<string, DeclaredAttribute>;
