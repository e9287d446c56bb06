/**
 * Cuts a JSON document into pieces by walking its bytes.
 *
 * The walk follows automata (see `path/automaton.ts`) down from the root. A value where an automaton cuts becomes a piece: its bytes are only
 * searched for their end here, and checked by whoever parses them. Everything else is checked against the grammar as it passes
 * and never becomes a string, apart from the names of members on an automaton.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8259#section-2
 */
import { Fault, type FaultPlace } from '../../core/fault.ts';
import { depthFault } from '../../core/limits.ts';
import { CLOSE, DELIMITERS, hex, isDigit, isLossyFraction, LINE_FEED, LONG_DIGITS, MARKS, OPEN, POINT, passText, QUOTE } from './bytes.ts';
import type { PathAutomaton } from './path/automaton.ts';
import { adviceFor, JsonSyntaxError, parseJson, parseName } from './text.ts';
import { JsonWindow } from './window.ts';

/** Deeper nesting is refused, so that no later step can run out of stack. */
export const MAX_DEPTH = 1000;

const LITERAL = /^(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)$/;
const LONG_NUMBER = /[0-9]{16}/;

// What the grammar allows next.
const VALUE = 0;
const VALUE_OR_CLOSE = 1;
const KEY_OR_CLOSE = 2;
const KEY = 3;
const COLON = 4;
const COMMA_OR_CLOSE = 5;
const END = 6;

const EXPECTED = [
  'a value',
  'a value or "]"',
  'a name in double quotes or "}"',
  'a name in double quotes',
  '":"',
  '"," or the closing bracket',
  'nothing',
];

// What the walk is in the middle of.
const BETWEEN = 0;
const STRING = 1;
const NAME = 2;
const SCALAR = 3;
const PIECE = 4;
const PIECE_STRING = 5;
const PIECE_SCALAR = 6;

/**
 * `feed` bytes, then call `next` until it is false, and so on; after the last `feed`, set `ended` and do it once more.
 *
 * While `next` has answered true, `automaton` and `value()` describe one piece, until the next call of either method. Memory: one window of 128 KiB, or
 * what the longest piece needs; twice that for a moment while the window grows.
 *
 * @throws Fault source/malformed, limit/exceeded — from `next`
 */
export class JsonSplitter extends JsonWindow {
  /** The automaton that cuts the current piece. */
  automaton: PathAutomaton | undefined;
  /** 1-based line on which the current piece begins. */
  pieceLine = 1;

  /** A number may stand in the piece that a double would not give back as it is written; `long`: if it has that many digits. */
  private exact = false;
  private long = false;

  private readonly root: PathAutomaton;
  private readonly lines: boolean;
  private readonly limitBytes: number;
  private readonly maxDepth: number;
  private readonly place: (automaton: PathAutomaton | undefined) => FaultPlace;

  private mode = BETWEEN;
  private expect = VALUE;
  private pieceDepth = 0;
  private lastMark = 0;

  private depth = 0;
  private readonly objects = new Uint8Array(MAX_DEPTH + 1);
  private readonly automata: (PathAutomaton | undefined)[] = [];
  private readonly positions: number[] = [];
  /** Route of the value that comes next. */
  private child: PathAutomaton | undefined;
  private lineValues = 0;

  /**
   * @param lines the document is a sequence of values, which are the elements of an array that is not written
   * @param limitBytes of a single name, number or literal; pieces have the limit of their automaton
   * @param place what else is known about where a fault happens, given the automaton in hand
   * @param maxDepth levels of nesting, at most `MAX_DEPTH`
   */
  constructor(
    root: PathAutomaton,
    lines: boolean,
    limitBytes: number,
    place: (automaton: PathAutomaton | undefined) => FaultPlace,
    maxDepth = MAX_DEPTH,
  ) {
    super();
    this.root = root;
    this.lines = lines;
    this.limitBytes = limitBytes;
    this.place = place;
    this.maxDepth = Math.min(maxDepth, MAX_DEPTH);
    this.child = lines ? root.element(0) : root;
  }

  get pieceBytes(): number {
    return this.last - this.first;
  }

  /**
   * The current piece, parsed: see `parseJson` for what it is made of.
   *
   * @throws Fault source/malformed — with the byte offset and line in the document
   */
  value(): unknown {
    const text = this.text();
    try {
      return parseJson(text, this.exact || (this.long && LONG_NUMBER.test(text)));
    } catch (error) {
      if (!(error instanceof JsonSyntaxError)) throw error;
      this.line = this.pieceLine;
      for (let i = 0; i < error.offset; i++) if (text.charCodeAt(i) === 10) this.line++;
      this.mode = PIECE;
      return this.fail(error.message, this.first + error.offset, error.hint);
    }
  }

  /** Copies `bytes` behind what is still needed of the earlier ones. Large chunks are better fed in slices. */
  feed(bytes: Uint8Array): void {
    const keep = this.mode === BETWEEN || this.mode === STRING ? this.pos : this.first;
    this.extend(bytes, keep);
    this.lastMark -= keep;
  }

  /** Walks to the end of the next piece; false when the window is used up. */
  next(): boolean {
    try {
      return this.advance();
    } catch (error) {
      return this.placed(error);
    }
  }

  private advance(): boolean {
    for (;;) {
      switch (this.mode) {
        case BETWEEN:
          if (!this.walk()) return this.finish();
          break;
        case STRING: {
          const after = passText(this.window, this.pos, this.end);
          if (after < 0) return this.suspend(~after, Number.POSITIVE_INFINITY);
          this.pos = after;
          this.closeValue();
          break;
        }
        case NAME:
          if (!this.passName()) return this.suspend(this.pos, this.limitBytes);
          break;
        case SCALAR:
          if (!this.passScalar()) return this.suspend(this.pos, this.limitBytes);
          this.checkScalar();
          this.closeValue();
          break;
        default: {
          const automaton = this.automaton as PathAutomaton;
          if (!(this.mode === PIECE_SCALAR ? this.passScalar() : this.passPiece())) return this.suspend(this.pos, automaton.limitBytes);
          if (this.mode === PIECE_SCALAR) this.markScalar();
          if (this.last - this.first > automaton.limitBytes) this.refuse(automaton.limitBytes);
          this.closeValue();
          return true;
        }
      }
    }
  }

  /** Ends the document: whatever is still open is missing. */
  private finish(): false {
    if (!this.ended) return false;
    if (this.depth === 0 && this.expect === END) return false;
    if (this.depth === 0 && this.lines) return false;
    if (this.depth === 0) this.fail('The JSON document is empty', this.end, 'A JSON document is at least one value, for example []');
    return this.truncated();
  }

  private suspend(pos: number, limitBytes: number): false {
    this.pos = pos;
    if (this.ended) this.truncated();
    if (this.end - this.first > limitBytes) this.refuse(limitBytes);
    return false;
  }

  private truncated(): never {
    const open = this.depth + (this.mode === PIECE || this.mode === PIECE_STRING ? this.pieceDepth : 0);
    const what =
      this.mode === STRING || this.mode === NAME || this.mode === PIECE_STRING
        ? 'within a text'
        : `with ${open} ${open === 1 ? 'bracket' : 'brackets'} open`;
    this.fail(`The JSON document ends too early, ${what}`, this.end, 'The file is probably cut off; fetch or write it again');
  }

  /** Follows the grammar; true when the mode has changed, false when the window is used up. */
  private walk(): boolean {
    const { window, end } = this;
    let pos = this.pos;
    while (pos < end) {
      const byte = window[pos] as number;
      if (byte <= 32) {
        if (byte === 10) this.line++;
        else if (byte !== 32 && byte !== 13 && byte !== 9) this.unexpected(pos);
        pos++;
        continue;
      }
      switch (this.expect) {
        case VALUE_OR_CLOSE:
        case VALUE: {
          if (byte === 93 && this.expect === VALUE_OR_CLOSE) {
            pos++;
            this.depth--;
            this.expect = this.afterValue();
            break;
          }
          const automaton = this.child;
          if (automaton?.cuts) {
            this.begin(pos, automaton, byte);
            return true;
          }
          if (byte === 123 || byte === 91) {
            this.open(byte === 123, automaton, pos);
            pos++;
          } else if (byte === 34) {
            const after = passText(this.window, pos + 1, this.end);
            if (after < 0) {
              this.mode = STRING;
              this.pos = pos = ~after;
              return true;
            }
            pos = after;
            this.expect = this.afterValue();
          } else {
            this.first = this.pos = pos;
            if (!this.passScalar()) {
              this.mode = SCALAR;
              return true;
            }
            this.checkScalar();
            pos = this.pos;
            this.expect = this.afterValue();
          }
          break;
        }
        case KEY_OR_CLOSE:
        case KEY: {
          if (byte === 125 && this.expect === KEY_OR_CLOSE) {
            pos++;
            this.depth--;
            this.expect = this.afterValue();
            break;
          }
          if (byte !== 34) this.unexpected(pos);
          this.first = pos;
          this.pos = pos + 1;
          if (!this.passName()) {
            this.mode = NAME;
            return true;
          }
          pos = this.pos;
          break;
        }
        case COLON:
          if (byte !== 58) this.unexpected(pos);
          pos++;
          this.expect = VALUE;
          break;
        case COMMA_OR_CLOSE: {
          const object = this.objects[this.depth] === 1;
          if (byte === 44) {
            if (object) this.expect = KEY;
            else {
              this.expect = VALUE;
              const automaton = this.automata[this.depth];
              if (automaton !== undefined) {
                const position = (this.positions[this.depth] as number) + 1;
                this.positions[this.depth] = position;
                this.child = automaton.element(position);
              }
            }
          } else if (byte === (object ? 125 : 93)) {
            this.depth--;
            this.expect = this.afterValue();
          } else this.unexpected(pos);
          pos++;
          break;
        }
        default:
          this.unexpected(pos);
      }
    }
    this.pos = pos;
    return false;
  }

  private open(object: boolean, automaton: PathAutomaton | undefined, pos: number): void {
    if (this.depth === this.maxDepth) this.tooDeep(pos);
    this.depth++;
    this.objects[this.depth] = object ? 1 : 0;
    this.automata[this.depth] = automaton;
    this.positions[this.depth] = 0;
    this.child = object ? undefined : automaton?.element(0);
    this.expect = object ? KEY_OR_CLOSE : VALUE_OR_CLOSE;
  }

  private afterValue(): number {
    if (this.depth > 0) return COMMA_OR_CLOSE;
    if (!this.lines) return END;
    this.child = this.root.element(++this.lineValues);
    return VALUE;
  }

  private closeValue(): void {
    this.mode = BETWEEN;
    this.expect = this.afterValue();
  }

  private begin(pos: number, automaton: PathAutomaton, byte: number): void {
    this.automaton = automaton;
    this.first = this.lastMark = pos;
    this.pieceLine = this.line;
    this.pieceDepth = 0;
    this.exact = this.long = false;
    this.pos = pos;
    this.mode = byte === 123 || byte === 91 || byte === 34 ? PIECE : PIECE_SCALAR;
  }

  /**
   * Looks for the end of a piece that is an object, an array or a text. Brackets are counted, not matched; the parser matches them.
   *
   * Numbers that a double may not give back as written are noticed by their looks: many bytes without a mark, a fraction that
   * ends in zero or is long or very small, an exponent. To be mistaken is harmless and costs the slower parser.
   */
  private passPiece(): boolean {
    const { window, end, maxDepth } = this;
    let pos = this.pos;
    let mark = this.lastMark;
    let depth = this.pieceDepth;
    let inString = this.mode === PIECE_STRING;
    for (;;) {
      if (inString) {
        pos = passText(this.window, pos, this.end);
        if (pos < 0) {
          pos = ~pos;
          break;
        }
        inString = false;
        mark = pos;
        if (depth === 0) return this.endPiece(pos);
      }
      let kind = 0;
      while (pos < end && (kind = MARKS[window[pos] as number] as number) === 0) pos++;
      if (pos >= end) break;
      if (pos - mark >= LONG_DIGITS) this.long = true;
      mark = pos++;
      switch (kind) {
        case QUOTE:
          inString = true;
          break;
        case OPEN:
          if (++depth + this.depth > maxDepth) this.tooDeep(mark);
          break;
        case CLOSE:
          if (--depth === 0) return this.endPiece(pos);
          break;
        case LINE_FEED:
          this.line++;
          // An indented line is not a long number.
          while (pos < end && window[pos] === 32) pos++;
          mark = pos;
          break;
        case POINT:
          if (!this.exact) this.exact = isLossyFraction(window, mark, this.first, end);
          break;
        default: {
          const before = window[mark - 1] as number;
          if (isDigit(before)) this.exact = true;
        }
      }
    }
    this.mode = inString ? PIECE_STRING : PIECE;
    this.pos = pos;
    this.lastMark = mark;
    this.pieceDepth = depth;
    return false;
  }

  private endPiece(pos: number): true {
    this.pos = this.last = pos;
    return true;
  }

  /** The name of a member; becomes a string only where an automaton asks for names. */
  private passName(): boolean {
    const after = passText(this.window, this.pos, this.end);
    if (after < 0) {
      this.pos = ~after;
      return false;
    }
    this.pos = after;
    this.mode = BETWEEN;
    this.expect = COLON;
    const automaton = this.automata[this.depth];
    if (automaton === undefined) this.child = undefined;
    else if (!automaton.named) this.child = automaton.member('');
    else {
      this.child = automaton.member(parseName(this.window.toString('latin1', this.first + 1, after - 1)));
    }
    return true;
  }

  /** To the end of a number or literal; at the end of the document that is its end. */
  private passScalar(): boolean {
    const { window, end } = this;
    let pos = this.pos;
    while (pos < end && DELIMITERS[window[pos] as number] === 0) pos++;
    this.pos = pos;
    if (pos === end && !(this.ended && this.depth === 0)) return false;
    this.last = pos;
    return true;
  }

  private checkScalar(): void {
    if (this.last === this.first) this.unexpected(this.first);
    if (LITERAL.test(this.text())) return;
    this.fail(`${JSON.stringify(this.text().slice(0, 40))} is no JSON value`, this.first, undefined);
  }

  private markScalar(): void {
    if (this.last === this.first) this.unexpected(this.first);
    if (this.last - this.first >= LONG_DIGITS || /[.eE]/.test(this.text())) this.exact = true;
  }

  private unexpected(pos: number): never {
    const byte = this.window[pos] as number;
    const found = byte > 32 && byte < 127 ? JSON.stringify(String.fromCharCode(byte)) : `byte 0x${hex(byte)}`;
    const expected = this.expect === COMMA_OR_CLOSE ? `"," or "${this.objects[this.depth] === 1 ? '}' : ']'}"` : EXPECTED[this.expect];
    if (this.expect === END) {
      const hint =
        'One document holds one value. A file of one value a line (JSON Lines) is read as such when its name ends in .jsonl or .ndjson';
      this.fail(`Something follows the end of the JSON document: ${found}`, pos, hint);
    }
    const hint = adviceFor(String.fromCharCode(byte), expected as string);
    this.fail(`The JSON document has ${found} where ${expected} should stand`, pos, hint);
  }

  private tooDeep(pos: number): never {
    throw depthFault('The JSON document is', this.maxDepth, MAX_DEPTH, this.placeOf(pos));
  }

  private refuse(limitBytes: number): never {
    const hint = this.mode >= PIECE ? this.automaton?.advice : undefined;
    throw new Fault('limit/exceeded', `A record or value of the JSON document is larger than ${limitBytes} bytes`, {
      place: this.placeOf(this.first),
      ...(limitBytes === this.limitBytes ? { limit: 'MAX_RECORD_BYTES' } : {}),
      ...(hint === undefined ? {} : { hint }),
    });
  }

  /** The same fault, at its place in the document. */
  private placed(error: unknown): never {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return this.fail(error.message, error.offset, error.hint);
  }

  protected override context(): FaultPlace {
    return this.place(this.mode >= PIECE ? this.automaton : this.child);
  }
}
