/**
 * Cuts a JSON document into pieces, by walking over its bytes.
 *
 * The walk starts at the root and follows the path automaton (`path/automaton.ts`). A value at which the automaton cuts becomes a piece. The
 * walk only looks for the end of a piece; the parser checks its content. Everything outside of pieces is checked against the grammar here. It
 * never becomes a string, except for member names that the automaton asks for.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8259#section-2
 */
import { Fault, type FaultPlace } from '../../core/fault.ts';
import { depthFault } from '../../core/limits.ts';
import { CLOSE, DELIMITERS, hex, isDigit, isLossyFraction, LINE_FEED, LONG_DIGITS, MARKS, OPEN, POINT, passText, QUOTE } from './bytes.ts';
import type { PathAutomaton } from './path/automaton.ts';
import type { SlotReader } from './slots/reader.ts';
import { adviceFor, errorBeforeEnd, JsonSyntaxError, parseJson, parseName } from './text.ts';
import { JsonWindow } from './window.ts';

/** Levels of nesting that a document may have, so that no later step exceeds the stack. */
export const MAX_DEPTH = 1000;

/** Stands before each text of a sequence, and nowhere in JSON. @see https://www.rfc-editor.org/rfc/rfc7464 */
export const RECORD_SEPARATOR = 0x1e;

const LITERAL = /^(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)$/;
const LONG_NUMBER = /[0-9]{16}/;

const SEQUENCE_ADVICE =
  'A record separator begins a JSON text sequence: it is read as such when its name ends in .json-seq, or with --input-format jsonl';

const MARKUP = 'It begins as XML or HTML does: compare the name of the input, or the answer of its server, with what it holds';

// What the grammar allows next: `expect`.
const VALUE = 0;
const VALUE_OR_CLOSE = 1;
const KEY_OR_CLOSE = 2;
const KEY = 3;
const COLON = 4;
const COMMA_OR_CLOSE = 5;
const END = 6;

/** For messages, by `expect`. */
const EXPECTED = [
  'a value',
  'a value or "]"',
  'a name in double quotes or "}"',
  'a name in double quotes',
  '":"',
  '"," or the closing bracket',
  'nothing',
];

// What the walk is within: `mode`. In the modes from PIECE on, it is within a piece.
const BETWEEN = 0;
const STRING = 1;
const NAME = 2;
const SCALAR = 3;
const PIECE = 4;
const PIECE_STRING = 5;
const PIECE_SCALAR = 6;
const READ_PIECE = 7;

/** Of a piece whose end is missing, so much is looked at. */
const CHECKED_BYTES = 4 * 2 ** 20;

/** Give up on the slot reader once its refusals exceed its successes by this number. */
const MAX_REFUSED = 64;

/**
 * Usage: `feed` bytes, then call `next` until it returns false; repeat. After the last `feed`, set `ended` and call `next` until it returns
 * false again.
 *
 * After `next` has returned true, `automaton`, `pieceLine`, `pieceBytes` and `value()` describe one piece, until the next call of `next` or
 * `feed`. Memory: one window of 128 KiB or the size of the longest piece, whichever is larger; twice that while the window grows.
 */
export class JsonSplitter extends JsonWindow {
  /** The automaton that cuts the current piece. */
  automaton: PathAutomaton | undefined;
  /** 1-based line on which the current piece begins. */
  pieceLine = 1;

  /** `exact`: the piece may have a number that a double does not preserve as written. `long`: so may it if `LONG_NUMBER` matches. */
  private exact = false;
  private long = false;

  /** The current piece has been read into slots. */
  isRead = false;
  private readonly slots: SlotReader | undefined;
  /** Whether the reader has what is in the window. */
  private isOpened = false;
  /** Pieces that the reader has refused, less those that it has taken: while they are looked for, and once they are complete. */
  private refusedOpen = 0;
  private refusedWhole = 0;

  private readonly root: PathAutomaton;
  private readonly lines: boolean;
  private readonly limitBytes: number;
  private readonly maxDepth: number;
  private readonly place: (automaton: PathAutomaton | undefined) => FaultPlace;

  private mode = BETWEEN;
  private expect = VALUE;
  /** Brackets that are open within the piece. */
  private pieceDepth = 0;
  /** Position of the last structural byte of the piece, in the window. */
  private lastMark = 0;

  /** Levels of nesting outside of the piece. The three arrays below are by level; level 1 is the outermost. */
  private depth = 0;
  /** 1: the level is an object; 0: an array. */
  private readonly objects = new Uint8Array(MAX_DEPTH + 1);
  private readonly automata: (PathAutomaton | undefined)[] = [];
  /** In an array: index of the current element. */
  private readonly positions: number[] = [];
  /** State of the automaton for the next value; undefined: no path leads into it. */
  private child: PathAutomaton | undefined;
  private lineValues = 0;
  /** The values are texts of a sequence: after each, `separate` is called where the next one begins. */
  sequence = false;

  /**
   * @param root state of the automaton for the document; with `lines`, for an array of all values
   * @param lines the document is a sequence of values (JSON Lines)
   * @param limitBytes of a single name, number or literal outside of pieces; a piece has the limit of its automaton
   * @param place input and record for the place of a fault, from the automaton of the current value
   * @param maxDepth levels of nesting, at most `MAX_DEPTH`
   * @param slots reads pieces while they are looked for; those that it refuses are found as all others
   */
  constructor(
    root: PathAutomaton,
    lines: boolean,
    limitBytes: number,
    place: (automaton: PathAutomaton | undefined) => FaultPlace,
    maxDepth = MAX_DEPTH,
    slots?: SlotReader,
  ) {
    super();
    this.root = root;
    this.lines = lines;
    this.limitBytes = limitBytes;
    this.place = place;
    this.maxDepth = Math.min(maxDepth, MAX_DEPTH);
    this.slots = slots;
    this.child = lines ? root.element(0) : root;
  }

  /** Whether the current piece ends on the line on which it begins. */
  get isOnOneLine(): boolean {
    return this.line === this.pieceLine;
  }

  get pieceBytes(): number {
    return this.last - this.first;
  }

  /**
   * Parses the current piece: see `parseJson` for the types of values.
   *
   * @throws Fault source/malformed — with byte offset and line in the document
   */
  value(): unknown {
    const text = this.text();
    try {
      return parseJson(text, this.exact || (this.long && LONG_NUMBER.test(text)));
    } catch (error) {
      if (!(error instanceof JsonSyntaxError)) throw error;
      return this.failIn(text, error, error.hint);
    }
  }

  /** @param text of the piece */
  private failIn(text: string, { message, offset }: JsonSyntaxError, hint: string | undefined): never {
    this.line = this.pieceLine;
    for (let i = 0; i < offset; i++) if (text.charCodeAt(i) === 10) this.line++;
    this.mode = PIECE;
    return this.fail(message, this.first + offset, hint);
  }

  /**
   * Its end is missing: a bracket that is not closed shows where the next value begins, since brackets were only counted so far.
   *
   * @throws Fault source/malformed — the piece is wrong before what is there of it ends
   */
  private checkOpenPiece(): void {
    if (this.mode !== PIECE && this.mode !== PIECE_STRING) return;
    const text = this.window.toString('latin1', this.first, Math.min(this.end, this.first + CHECKED_BYTES));
    const error = errorBeforeEnd(text);
    if (error !== undefined)
      this.failIn(text, error, error.message.includes('","') ? 'A bracket before it is probably not closed' : error.hint);
  }

  /** Reads the current piece into slots. False: it has to be parsed. */
  read(): boolean {
    const { slots } = this;
    if (slots === undefined || this.refusedWhole >= MAX_REFUSED) return false;
    slots.open(this.window, this.text(), this.first);
    this.isOpened = false;
    const isRead = slots.read(this.automaton as PathAutomaton, this.first, this.maxDepth - this.depth, this.last) >= 0;
    this.refusedWhole = Math.max(0, this.refusedWhole + (isRead ? -1 : 1));
    return isRead;
  }

  /** Appends bytes, which are copied. Feed large chunks in slices, because the window grows with them. */
  feed(bytes: Uint8Array): void {
    const keep = this.mode === BETWEEN || this.mode === STRING ? this.pos : this.first;
    this.extend(bytes, keep);
    this.lastMark -= keep;
    this.isOpened = false;
  }

  /**
   * Passes a record separator, which stands in the document after what was fed; `next` has returned false.
   *
   * @throws Fault source/malformed — the text before it is not complete. A number or literal is complete when a space or line feed follows.
   */
  separate(): void {
    if (this.mode !== BETWEEN || this.depth > 0) this.truncated();
    this.skippedBytes++;
  }

  /**
   * Walks to the end of the next piece. False: the window is used up.
   *
   * @throws Fault source/malformed, limit/exceeded — with byte offset and line in the document
   */
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
          this.isRead = this.mode === READ_PIECE;
          if (!(this.isRead || (this.mode === PIECE_SCALAR ? this.passScalar() : this.passPiece())))
            return this.suspend(this.pos, automaton.limitBytes);
          if (this.mode === PIECE_SCALAR) this.markScalar();
          if (this.last - this.first > automaton.limitBytes) this.refuse(automaton.limitBytes);
          this.closeValue();
          return true;
        }
      }
    }
  }

  /** At the end of the window. @throws Fault source/malformed — it is the end of the document, and something is still open */
  private finish(): false {
    if (!this.ended) return false;
    if (this.depth === 0 && this.expect === END) return false;
    if (this.depth === 0 && this.lines) return false;
    if (this.depth === 0) this.fail('The JSON document is empty', this.end, 'A JSON document is at least one value, for example []');
    return this.truncated();
  }

  /** Waits for more bytes, from `pos` on. @throws Fault — there are none, or the current value exceeds the limit */
  private suspend(pos: number, limitBytes: number): false {
    this.pos = pos;
    if (this.ended) this.truncated();
    if (this.end - this.first > limitBytes) this.refuse(limitBytes);
    return false;
  }

  private truncated(): never {
    this.checkOpenPiece();
    const open = this.depth + (this.mode === PIECE || this.mode === PIECE_STRING ? this.pieceDepth : 0);
    const what =
      this.mode === STRING || this.mode === NAME || this.mode === PIECE_STRING
        ? 'within a text'
        : `with ${open} ${open === 1 ? 'bracket' : 'brackets'} open`;
    if (this.sequence) {
      const hint = 'The program that wrote it was probably stopped; a number, true, false or null needs a line feed after it';
      this.fail(`Text ${this.lineValues + 1} of the JSON sequence ends too early, ${what}`, this.end, hint);
    }
    this.fail(`The JSON document ends too early, ${what}`, this.end, 'The file is probably cut off; fetch or write it again');
  }

  /** Follows the grammar outside of pieces. True: the mode has changed. False: the window is used up. */
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
                automaton.begun++;
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

  /** Enters an object or array. */
  private open(object: boolean, automaton: PathAutomaton | undefined, pos: number): void {
    if (this.depth === this.maxDepth) this.tooDeep(pos);
    this.depth++;
    this.objects[this.depth] = object ? 1 : 0;
    this.automata[this.depth] = automaton;
    this.positions[this.depth] = 0;
    this.child = object ? undefined : automaton?.element(0);
    if (automaton !== undefined && !object) automaton.begun++;
    this.expect = object ? KEY_OR_CLOSE : VALUE_OR_CLOSE;
  }

  /** What may follow a value. */
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

  /** Begins a piece, of which `byte` is the first. */
  private begin(pos: number, automaton: PathAutomaton, byte: number): void {
    this.automaton = automaton;
    this.first = this.lastMark = pos;
    this.pieceLine = this.line;
    this.pieceDepth = 0;
    this.exact = this.long = false;
    this.pos = pos;
    this.mode = byte === 123 || byte === 91 || byte === 34 ? PIECE : PIECE_SCALAR;
    if (this.slots !== undefined && this.mode === PIECE && this.refusedOpen < MAX_REFUSED) this.readOpen(this.slots, automaton, pos);
  }

  /** Reads the piece that begins at `pos` into slots, if it ends in the window. */
  private readOpen(slots: SlotReader, automaton: PathAutomaton, pos: number): void {
    if (!this.isOpened) {
      slots.open(this.window, this.window.toString('latin1', pos, this.end), pos);
      this.isOpened = true;
    }
    const after = slots.read(automaton, pos, this.maxDepth - this.depth);
    if (after < 0) {
      this.refusedOpen++;
      return;
    }
    if (this.refusedOpen > 0) this.refusedOpen--;
    this.line += slots.lines;
    this.mode = READ_PIECE;
    this.endPiece(after);
  }

  /**
   * Looks for the end of a piece that is an object, an array or a text. Brackets are only counted; the parser matches them.
   *
   * Also detects numbers that a double may not preserve as written: many bytes without a structural byte, an exponent, or a fraction that ends
   * in zero, is long or is very small. A false alarm only costs time, as the piece goes to the slower parser.
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
          // The spaces of an indentation must not look like a long number.
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

  /** To the end of a member's name, which becomes a string only if the automaton depends on it. */
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

  /** To the end of a number or literal. At the top level, the end of the document also ends it. */
  private passScalar(): boolean {
    const { window, end } = this;
    let pos = this.pos;
    while (pos < end && DELIMITERS[window[pos] as number] === 0) pos++;
    this.pos = pos;
    if (pos === end && !(this.ended && this.depth === 0 && !this.sequence)) return false;
    this.last = pos;
    return true;
  }

  /** Checks a scalar outside of pieces. */
  private checkScalar(): void {
    if (this.last === this.first) this.unexpected(this.first);
    if (LITERAL.test(this.text())) return;
    const text = this.text().slice(0, 40);
    this.fail(`${JSON.stringify(text)} is no JSON value`, this.first, text.startsWith('<') ? MARKUP : undefined);
  }

  /** Decides how a scalar that is a piece must be parsed. */
  private markScalar(): void {
    if (this.last === this.first) this.unexpected(this.first);
    if (this.last - this.first >= LONG_DIGITS || /[.eE]/.test(this.text())) this.exact = true;
  }

  /** Refuses the byte at `pos`, which the grammar does not allow there. */
  private unexpected(pos: number): never {
    const byte = this.window[pos] as number;
    const found = byte > 32 && byte < 127 ? JSON.stringify(String.fromCharCode(byte)) : `byte 0x${hex(byte)}`;
    const expected = this.expect === COMMA_OR_CLOSE ? `"," or "${this.objects[this.depth] === 1 ? '}' : ']'}"` : EXPECTED[this.expect];
    if (this.expect === END) {
      const hint =
        'One document holds one value. Several, one a line (JSON Lines) or one after the other, are read when the name ends in .jsonl or .ndjson, or with --input-format jsonl';
      this.fail(`Something follows the end of the JSON document: ${found}`, pos, hint);
    }
    const hint = byte === RECORD_SEPARATOR && !this.lines ? SEQUENCE_ADVICE : adviceFor(String.fromCharCode(byte), expected as string);
    this.fail(`The JSON document has ${found} where ${expected} should stand`, pos, hint);
  }

  private tooDeep(pos: number): never {
    throw depthFault('The JSON document is', this.maxDepth, MAX_DEPTH, this.placeOf(pos));
  }

  /** Refuses the current value as too large. */
  private refuse(limitBytes: number): never {
    if (this.lines) this.checkOpenPiece();
    const hint = this.mode >= PIECE ? this.automaton?.advice : undefined;
    throw new Fault('limit/exceeded', `A record or value of the JSON document is larger than ${limitBytes} bytes`, {
      place: this.placeOf(this.first),
      ...(limitBytes === this.limitBytes ? { limit: 'MAX_RECORD_BYTES' } : {}),
      ...(hint === undefined ? {} : { hint }),
    });
  }

  /** A syntax error in the window → a fault with its place in the document; any other error unchanged. */
  private placed(error: unknown): never {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return this.fail(error.message, error.offset, error.hint);
  }

  protected override context(): FaultPlace {
    return this.place(this.mode >= PIECE ? this.automaton : this.child);
  }
}
