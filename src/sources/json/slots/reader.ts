/**
 * Reads pieces of a JSON document into slots (`plan.ts`), byte by byte.
 *
 * **Claim.** If the reader takes a piece, the piece is valid JSON, and its slots hold what its references find in the parsed value.
 *
 * **Why.** The reader accepts a part of RFC 8259 and refuses every byte that it does not expect: `read` returns -1, and the caller parses the
 * piece, which also finds the place of an error. It refuses, too, what it would have to read differently: a name with an escape (it may be a
 * name that a path has), a name of a path twice in one object (the last one counts), `[*]` at an object, an object or nested array where a
 * reference ends, half of a surrogate pair. Numbers keep their spelling, as `Numeral`.
 */
import { ESCAPES, HEX_DIGITS, HEX_ESCAPE, IN_TEXT, isDigit, SIMPLE_ESCAPE } from '../bytes.ts';
import type { PathAutomaton } from '../path/automaton.ts';
import { Numeral, parseText } from '../text.ts';
import { type Member, Place, type SlotPlan } from './plan.ts';

const REFUSED = -1;

/** Levels of nesting within a piece that are read here, so that the recursion stays flat. */
const MAX_LEVELS = 100;
/** Names that a place remembers in their order. */
const MAX_ORDER = 256;

const LITERALS = ['true', 'false', 'null'].map((word) => new Uint8Array(Buffer.from(word)));

const TAB = 9;
const LINE_FEED = 10;
const RETURN = 13;
const SPACE = 32;
const QUOTE = 34;
const PLUS = 43;
const COMMA = 44;
const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const COLON = 58;
const OPEN_ARRAY = 91;
const BACKSLASH = 92;
const CLOSE_ARRAY = 93;
const LETTER_E = 101;
const LETTER_N = 110;
const LETTER_T = 116;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

export class SlotReader {
  /** Line feeds in the piece that was read. */
  lines = 0;
  readonly #plan: SlotPlan;
  /** By iteration: where records go. */
  readonly #records: readonly unknown[][];
  /** By iteration: the record that is being read, and one without any node. */
  readonly #current: unknown[][];
  readonly #empty: readonly unknown[][];
  /** Number of objects that paths lead into. */
  #objects = 0;

  #bytes: Uint8Array = new Uint8Array(0);
  #text = '';
  /** Position in the bytes of the first character of the text. */
  #from = 0;
  #levels = 0;
  readonly #trees = new Map<PathAutomaton, Place>();
  #automaton: PathAutomaton | undefined;
  #tree = new Place();
  /** What `#scalar` has read. */
  #found: unknown;

  /** @param records by iteration: the arrays may be replaced */
  constructor(plan: SlotPlan, records: readonly unknown[][]) {
    this.#plan = plan;
    this.#records = records;
    this.#empty = records.map((_, iteration) => plan.empty(iteration));
    this.#current = [...this.#empty];
  }

  /** What the next pieces are read from: bytes, of which one that is no JSON follows the last, and the same from `from` on as one-byte text. */
  open(bytes: Uint8Array, text: string, from: number): void {
    this.#bytes = bytes;
    this.#text = text;
    this.#from = from;
  }

  /**
   * Reads the piece that begins at `pos`, at which `automaton` cuts, and adds its records.
   *
   * @param levels of nesting that the piece may have
   * @param last where the piece has to end, if that is known
   * @returns the position after the piece; negative: it has to be parsed, and no record was added
   */
  read(automaton: PathAutomaton, pos: number, levels: number, last = -1): number {
    const tree = automaton === this.#automaton ? this.#tree : this.#treeOf(automaton);
    const records = this.#records;
    let counts: number[] | undefined;
    let count = 0;
    if (records.length === 1) count = (records[0] as unknown[]).length;
    else counts = records.map((of) => of.length);
    this.lines = 0;
    this.#levels = Math.min(levels, MAX_LEVELS);
    const end = this.#value(tree, pos);
    if (end >= 0 && end - pos <= automaton.limitBytes && (last < 0 || end === last)) return end;
    for (let i = 0; i < records.length; i++) (records[i] as unknown[]).length = counts === undefined ? count : (counts[i] as number);
    return REFUSED;
  }

  #treeOf(automaton: PathAutomaton): Place {
    this.#tree = this.#trees.get(automaton) ?? this.#plan.treeOf(automaton.subscribers);
    this.#trees.set(automaton, this.#tree);
    this.#automaton = automaton;
    return this.#tree;
  }

  /** Adds the records of a piece that was parsed. */
  add(iteration: number, values: readonly unknown[]): void {
    const records = this.#records[iteration] as unknown[];
    for (const value of values) records.push(this.#plan.fill(iteration, value));
  }

  /** Reads the value at `pos`. */
  #value(place: Place, pos: number): number {
    const { begins, leaves } = place;
    for (let i = 0; i < begins.length; i++) {
      const iteration = begins[i] as number;
      const record = (this.#empty[iteration] as unknown[]).slice();
      this.#current[iteration] = record;
      (this.#records[iteration] as unknown[]).push(record);
    }
    const byte = this.#bytes[pos] as number;
    if (byte === OPEN_OBJECT) {
      if (leaves.length > 0 || place.elements !== undefined) return REFUSED;
      return place.members.size === 0 ? this.#skip(pos) : this.#object(place, pos + 1);
    }
    if (byte === OPEN_ARRAY) {
      if (place.elements !== undefined) return leaves.length > 0 ? REFUSED : this.#array(place.elements, pos + 1);
      return leaves.length === 0 ? this.#skip(pos) : this.#scalars(leaves, pos + 1);
    }
    if (leaves.length === 0) return this.#skip(pos);
    const end = this.#scalar(byte, pos);
    if (end >= 0) this.#fill(leaves, this.#found);
    return end;
  }

  /** Reads a text, a number, true, false or null to `#found`. */
  #scalar(byte: number, pos: number): number {
    if (byte === QUOTE) {
      const end = this.#endOfText(pos + 1);
      if (end < 0) return this.#escaped(pos, ~end);
      this.#found = this.#text.slice(pos + 1 - this.#from, end - this.#from);
      return end + 1;
    }
    if (byte === MINUS || isDigit(byte)) {
      const end = this.#endOfNumber(pos);
      if (end >= 0) this.#found = new Numeral(this.#text.slice(pos - this.#from, end - this.#from));
      return end;
    }
    const end = this.#endOfLiteral(pos);
    if (end >= 0) this.#found = byte === LETTER_N ? null : byte === LETTER_T;
    return end;
  }

  /** Reads a text that begins at `pos` and has its first escape at `escape`. */
  #escaped(pos: number, escape: number): number {
    const end = this.#endOfEscaped(escape);
    if (end < 0) return REFUSED;
    const text = parseText(this.#text.slice(pos - this.#from, end - this.#from));
    if (text === undefined) return REFUSED;
    this.#found = text;
    return end;
  }

  #fill(leaves: Place['leaves'], node: unknown): void {
    for (let i = 0; i < leaves.length; i++) {
      const { iteration, index, several } = leaves[i] as Place['leaves'][number];
      const record = this.#current[iteration] as unknown[];
      if (!several) record[index] = node;
      else if (record[index] === undefined) record[index] = [node];
      else (record[index] as unknown[]).push(node);
    }
  }

  /** From behind the opening bracket of an object that paths lead into. */
  #object(place: Place, from: number): number {
    const bytes = this.#bytes;
    const { order } = place;
    const object = ++this.#objects;
    if (--this.#levels < 0) return REFUSED;
    let pos = from;
    if (isSpace(bytes[pos] as number)) pos = this.#space(pos);
    if (bytes[pos] === CLOSE_OBJECT) {
      this.#levels++;
      return pos + 1;
    }
    for (let at = 0; ; at++) {
      if (bytes[pos] !== QUOTE) return REFUSED;
      let member = order[at];
      let after = member === undefined ? REFUSED : endOfSame(bytes, member.bytes, pos);
      if (after < 0) {
        // A member may be missing.
        member = order[at + 1];
        after = member === undefined ? REFUSED : endOfSame(bytes, member.bytes, pos);
        if (after >= 0) at++;
        else {
          member = this.#memberAt(place, pos);
          if (member === undefined) return REFUSED;
          if (at < MAX_ORDER) order[at] = member;
          after = pos + member.bytes.length;
        }
      }
      const child = (member as Member).place;
      pos = after;
      if (isSpace(bytes[pos] as number)) pos = this.#space(pos);
      if (bytes[pos] !== COLON) return REFUSED;
      pos++;
      if (isSpace(bytes[pos] as number)) pos = this.#space(pos);
      if (child === undefined) pos = this.#skip(pos);
      else {
        if (child.foundIn === object) return REFUSED;
        child.foundIn = object;
        pos = this.#value(child, pos);
      }
      if (pos < 0) return REFUSED;
      if (isSpace(bytes[pos] as number)) pos = this.#space(pos);
      const byte = bytes[pos];
      if (byte === CLOSE_OBJECT) break;
      if (byte !== COMMA) return REFUSED;
      pos++;
      if (isSpace(bytes[pos] as number)) pos = this.#space(pos);
    }
    this.#levels++;
    return pos + 1;
  }

  /** From behind the opening bracket of an array that paths lead into. */
  #array(elements: Place, from: number): number {
    const bytes = this.#bytes;
    if (--this.#levels < 0) return REFUSED;
    let pos = from;
    if (isSpace(bytes[pos] as number)) pos = this.#space(pos);
    if (bytes[pos] === CLOSE_ARRAY) {
      this.#levels++;
      return pos + 1;
    }
    for (;;) {
      pos = this.#value(elements, pos);
      if (pos < 0) return REFUSED;
      if (isSpace(bytes[pos] as number)) pos = this.#space(pos);
      const byte = bytes[pos];
      if (byte === CLOSE_ARRAY) break;
      if (byte !== COMMA) return REFUSED;
      pos++;
      if (isSpace(bytes[pos] as number)) pos = this.#space(pos);
    }
    this.#levels++;
    return pos + 1;
  }

  /** From behind the opening bracket of an array at which references end: in the legacy dialect, it stands for its members. */
  #scalars(leaves: Place['leaves'], from: number): number {
    const bytes = this.#bytes;
    const nodes: unknown[] = [];
    if (--this.#levels < 0) return REFUSED;
    let pos = this.#space(from);
    if (bytes[pos] !== CLOSE_ARRAY) {
      for (;;) {
        pos = this.#scalar(bytes[pos] as number, pos);
        if (pos < 0) return REFUSED;
        nodes.push(this.#found);
        pos = this.#space(pos);
        const byte = bytes[pos];
        if (byte === CLOSE_ARRAY) break;
        if (byte !== COMMA) return REFUSED;
        pos = this.#space(pos + 1);
      }
    }
    this.#levels++;
    this.#fill(leaves, nodes);
    return pos + 1;
  }

  /** The member whose name begins at `pos`; undefined: its name has an escape, or no end. */
  #memberAt(place: Place, pos: number): Member | undefined {
    const end = this.#endOfText(pos + 1);
    if (end < 0) return undefined;
    const name = this.#text.slice(pos + 1 - this.#from, end - this.#from);
    // A copy: the window is written over, and `slice` of a Buffer is a view of it.
    return { bytes: new Uint8Array(this.#bytes.subarray(pos, end + 1)), place: place.members.get(name) };
  }

  /** Passes a value that no path leads into. */
  #skip(pos: number): number {
    const bytes = this.#bytes;
    const byte = bytes[pos] as number;
    if (byte === QUOTE) {
      const end = this.#endOfText(pos + 1);
      return end < 0 ? this.#endOfEscaped(~end) : end + 1;
    }
    if (byte === MINUS || isDigit(byte)) return this.#endOfNumber(pos);
    if (byte !== OPEN_OBJECT && byte !== OPEN_ARRAY) return this.#endOfLiteral(pos);
    const close = byte === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY;
    if (--this.#levels < 0) return REFUSED;
    let at = this.#space(pos + 1);
    if (bytes[at] !== close) {
      for (;;) {
        if (close === CLOSE_OBJECT) {
          if (bytes[at] !== QUOTE) return REFUSED;
          at = this.#skip(at);
          if (at < 0) return REFUSED;
          at = this.#space(at);
          if (bytes[at] !== COLON) return REFUSED;
          at = this.#space(at + 1);
        }
        at = this.#skip(at);
        if (at < 0) return REFUSED;
        at = this.#space(at);
        const next = bytes[at];
        if (next === close) break;
        if (next !== COMMA) return REFUSED;
        at = this.#space(at + 1);
      }
    }
    this.#levels++;
    return at + 1;
  }

  /** Behind white space. */
  #space(from: number): number {
    const bytes = this.#bytes;
    let pos = from;
    for (;;) {
      const byte = bytes[pos];
      if (byte === LINE_FEED) this.lines++;
      else if (byte !== SPACE && byte !== TAB && byte !== RETURN) return pos;
      pos++;
    }
  }

  /** From inside a text to its closing quote; the complement of the position of a byte that is no character of a text as written. */
  #endOfText(from: number): number {
    const bytes = this.#bytes;
    let pos = from;
    while (IN_TEXT[bytes[pos] as number] === 0) pos++;
    return bytes[pos] === QUOTE ? pos : ~pos;
  }

  /** From inside a text, from a backslash on, to after its closing quote. */
  #endOfEscaped(from: number): number {
    const bytes = this.#bytes;
    let pos = from;
    for (;;) {
      while (IN_TEXT[bytes[pos] as number] === 0) pos++;
      const byte = bytes[pos];
      if (byte === QUOTE) return pos + 1;
      if (byte !== BACKSLASH) return REFUSED;
      const escape = ESCAPES[bytes[pos + 1] as number];
      if (escape === SIMPLE_ESCAPE) pos += 2;
      else if (escape === HEX_ESCAPE) {
        for (let i = 2; i < 6; i++) if (HEX_DIGITS[bytes[pos + i] as number] !== 1) return REFUSED;
        pos += 6;
      } else return REFUSED;
    }
  }

  /** The end of the number that begins at `pos` with a digit or a minus. */
  #endOfNumber(from: number): number {
    const bytes = this.#bytes;
    let pos = bytes[from] === MINUS ? from + 1 : from;
    const first = bytes[pos++];
    if (!isDigit(first)) return REFUSED;
    if (first !== ZERO) while (isDigit(bytes[pos])) pos++;
    if (bytes[pos] === POINT) {
      if (!isDigit(bytes[++pos])) return REFUSED;
      while (isDigit(bytes[pos])) pos++;
    }
    if (((bytes[pos] as number) | 32) === LETTER_E) {
      pos++;
      if (bytes[pos] === PLUS || bytes[pos] === MINUS) pos++;
      if (!isDigit(bytes[pos])) return REFUSED;
      while (isDigit(bytes[pos])) pos++;
    }
    return pos;
  }

  #endOfLiteral(pos: number): number {
    for (const literal of LITERALS) {
      const end = endOfSame(this.#bytes, literal, pos);
      if (end >= 0) return end;
    }
    return REFUSED;
  }
}

/** False for the byte behind the window. A call that is first made only there would have to be compiled again. */
const isSpace = (byte: number): boolean => byte <= SPACE && byte >= TAB;

/** The end of `wanted` in the bytes if it stands at `pos`. */
function endOfSame(bytes: Uint8Array, wanted: Uint8Array, pos: number): number {
  const { length } = wanted;
  for (let i = 0; i < length; i++) if (bytes[pos + i] !== wanted[i]) return REFUSED;
  return pos + length;
}
