/**
 * Finds where a JSON document can be cut: between two elements of the array that all iterators go through, or between lines of JSON Lines.
 *
 * Of an array: walks over the bytes from the beginning, by names down to the array, and counts brackets there. Nothing is checked here: a cut
 * leaves out one comma between two values, and everything else stands in one of the parts, so the readers of the parts report what is wrong.
 */
import { JsonPathError } from '../../paths/json/tokens.ts';
import { type Cut, type CutDocument, cutAt, cutsIn, type FindCuts, markOf, namesRows, type OpenBorders } from '../cuts.ts';
import type { CommonOptions, IterationRequest, JsonOptions } from '../source.ts';
import { isDigit } from './bytes.ts';
import { parseExpression, staysInLine, upsOf } from './expression.ts';

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_ARRAY = 91;
const BACKSLASH = 92;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** One slice or none: the records of the iterations are not independent, or there are not enough elements. */
export const findElementCuts: FindCuts<JsonOptions> = async (document, iterations, options, targets) => {
  const mark = await markOf(document, options.encoding);
  const names = namesToRecords(iterations, options);
  if (mark === undefined || names === undefined) return undefined;
  return { head: 0, found: cutsIn(document, mark, new JsonCuts(names, mark, targets)) };
};

/**
 * The records of a line must be independent of other lines. The legacy dialect rejects a reference without a node in any record: a slice cannot
 * know that.
 */
export const findLineCuts: FindCuts<JsonOptions> = async (document, iterations, options, targets) => {
  if ((await markOf(document, options.encoding)) === undefined || options.dialect === 'legacy') return undefined;
  const areLines = iterations.every(({ iterator = '$[*]', references }) => staysInLine(iterator, references, options));
  return areLines ? { head: 0, found: lineCuts(document, targets, namesRows(iterations)) } : undefined;
};

/**
 * At line feeds, where every line is an object.
 *
 * **Claim.** No value spans lines if each line begins with `{` and ends with `}`, or has white space alone. **Proof.** Let a value span lines. The last
 * character of the first of them is no part of a text, since texts have no line feeds. So it ends an object within the value, and behind that stands a
 * comma or a closing bracket, and no `{`.
 */
export const openLineBorders: OpenBorders<JsonOptions> = async (document, iterations, options) => {
  const mark = await markOf(document, options.encoding);
  const areLines = iterations.every(({ iterator = '$[*]', references }) => staysInLine(iterator, references, options));
  if (mark === undefined || options.dialect === 'legacy' || !areLines) return undefined;
  return { mark, head: mark, escape: -1, endOf: (bytes, from) => bytes.indexOf(LF, from) + 1 || -1, areRecords: areObjects };
};

function areObjects(lines: Buffer): boolean {
  for (let from = 0; from < lines.length; ) {
    const end = lines.indexOf(LF, from);
    const to = end < 0 ? lines.length : end;
    let [first, last] = [from, to - 1];
    while (first < to && isSpace(lines[first] as number)) first++;
    while (last > first && isSpace(lines[last] as number)) last--;
    if (first < to && (lines[first] !== OPEN_OBJECT || lines[last] !== CLOSE_OBJECT)) return false;
    from = to + 1;
  }
  return true;
}

const isSpace = (byte: number): boolean => byte === 32 || byte === 9 || byte === 13;

/**
 * The names that lead to an array through whose elements every iterator goes, and behind which no expression looks. undefined: there is no
 * such array.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9535
 */
function namesToRecords(iterations: readonly IterationRequest[], options: CommonOptions): readonly string[] | undefined {
  let common: readonly string[] | undefined;
  for (const { iterator, references } of iterations) {
    if (iterator === undefined || iterator.includes('$', 1)) return undefined;
    const names = namesOf(iterator, references, options);
    if (names === undefined || (common !== undefined && JSON.stringify(names) !== JSON.stringify(common))) return undefined;
    common = names;
  }
  return common;
}

function namesOf(iterator: string, references: readonly string[], options: CommonOptions): readonly string[] | undefined {
  try {
    const { segments } = parseExpression(iterator, options, {});
    const names: string[] = [];
    for (const { descendant, selectors } of segments) {
      const [selector] = selectors;
      if (descendant || selectors.length !== 1) return undefined;
      if (selector?.kind === 'wildcard') {
        const below = segments.length - names.length - 1;
        return upsOf(references, options) <= below ? names : undefined;
      }
      if (selector?.kind !== 'name') return undefined;
      names.push(selector.name);
    }
    return undefined;
  } catch (error) {
    if (error instanceof JsonPathError) return undefined;
    throw error;
  }
}

/** What stands before the elements of a part that does not begin the document. */
const textBefore = (names: readonly string[]): string => `${names.map((name) => `{${asciiJson(name)}:`).join('')}[\n`;

/** What stands behind the elements of a part that does not end it. */
const textBehind = (names: readonly string[]): string => `\n]${'}'.repeat(names.length)}`;

const asciiJson = (text: string): string =>
  JSON.stringify(text).replace(/[\u007f-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

const BEFORE = 0;
const WITHIN = 1;
const BEHIND = 2;

class JsonCuts {
  readonly cuts: Cut[] = [];
  readonly #names: readonly string[];
  readonly #targets: readonly number[];
  #next = 0;
  /** Offset of the chunk. */
  #at: number;
  #phase = BEFORE;
  /** Levels that are open: all of them before the array, those of the current element within it. */
  #depth = 0;
  #inText = false;
  #escaped = false;
  /** Before the array: levels of the path that were entered. */
  #entered = 0;
  /** A name may follow, and is collected if it stands on the path. */
  #expectsName = false;
  #name: number[] | undefined;
  /** The name of the next value is the wanted one. */
  #isWanted: boolean;
  /** Offset of a comma behind a target, whose next value has not begun. */
  #comma = -1;
  /** Commas between elements so far. */
  #commas = 0;

  /**
   * @param at offset of the first chunk, behind a byte order mark
   * @param targets ascending offsets: for each, the first element at or behind it begins a part
   */
  constructor(names: readonly string[], at: number, targets: readonly number[]) {
    this.#names = names;
    this.#at = at;
    this.#targets = targets;
    this.#isWanted = true;
  }

  /** Whether more of the document may give further cuts. */
  get wanted(): boolean {
    return this.#phase !== BEHIND && this.#next < this.#targets.length;
  }

  feed(chunk: Uint8Array): void {
    let from = 0;
    if (this.#phase === BEFORE) from = this.#find(chunk);
    if (this.#phase === WITHIN) this.#pass(chunk, from);
    this.#at += chunk.length;
  }

  /** Walks to the array. Returns the position behind its bracket, or the length of the chunk. */
  #find(chunk: Uint8Array): number {
    const names = this.#names;
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i] as number;
      if (this.#inText) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) {
          this.#inText = false;
          if (this.#name !== undefined) this.#isWanted = nameIs(this.#name, names[this.#entered - 1] as string);
          this.#name = undefined;
          continue;
        }
        this.#name?.push(byte);
        continue;
      }
      const isOnPath = this.#depth === this.#entered;
      switch (byte) {
        case QUOTE:
          this.#inText = true;
          if (isOnPath && this.#expectsName) this.#name = [];
          else this.#leaveValue(isOnPath);
          this.#expectsName = false;
          break;
        case OPEN_OBJECT:
          // Members of an object are no elements of an array.
          if (this.#depth === 0 && names.length === 0) this.#phase = BEHIND;
          this.#depth++;
          if (isOnPath && this.#isWanted && this.#entered < names.length) {
            this.#entered++;
            this.#expectsName = true;
          }
          this.#isWanted = false;
          break;
        case OPEN_ARRAY:
          if (isOnPath && this.#isWanted && this.#entered === names.length) {
            this.#phase = WITHIN;
            this.#depth = 0;
            return i + 1;
          }
          this.#depth++;
          this.#isWanted = false;
          break;
        case CLOSE_OBJECT:
        case CLOSE_ARRAY:
          if (--this.#depth < this.#entered) this.#phase = BEHIND;
          if (this.#phase === BEHIND) return chunk.length;
          break;
        case COMMA:
          this.#expectsName = isOnPath;
          if (isOnPath) this.#isWanted = false;
          break;
        case COLON:
          break;
        default:
          // A number or literal is no array.
          if (byte > 32 && (isDigit(byte) || byte > 96)) this.#leaveValue(isOnPath);
      }
    }
    return chunk.length;
  }

  #leaveValue(isOnPath: boolean): void {
    if (isOnPath) this.#isWanted = false;
  }

  /** Counts the brackets of the elements. */
  #pass(chunk: Uint8Array, start: number): void {
    const end = chunk.length;
    let depth = this.#depth;
    let target = (this.#targets[this.#next] ?? Number.POSITIVE_INFINITY) - this.#at;
    let inText = this.#inText;
    let i = start;
    if (this.#escaped && i < end) {
      this.#escaped = false;
      i++;
    }
    for (; i < end; i++) {
      let byte = chunk[i] as number;
      if (inText) {
        while (byte !== QUOTE) {
          if (byte === BACKSLASH) i++;
          if (++i >= end) break;
          byte = chunk[i] as number;
        }
        if (i >= end) {
          this.#escaped = i > end;
          break;
        }
        inText = false;
        continue;
      }
      if (this.#comma >= 0 && byte > 32) {
        if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
          const around = { behind: textBehind(this.#names), before: textBefore(this.#names), counts: [this.#commas] };
          this.cuts.push({ to: this.#comma, from: this.#at + i, ...around });
          while (this.wanted && (this.#targets[this.#next] as number) <= this.#at + i) this.#next++;
          target = (this.#targets[this.#next] ?? Number.POSITIVE_INFINITY) - this.#at;
        }
        this.#comma = -1;
      }
      switch (byte) {
        case QUOTE:
          inText = true;
          break;
        case OPEN_OBJECT:
        case OPEN_ARRAY:
          depth++;
          break;
        case CLOSE_OBJECT:
        case CLOSE_ARRAY:
          if (--depth < 0) {
            this.#phase = BEHIND;
            return;
          }
          break;
        case COMMA:
          if (depth > 0) break;
          this.#commas++;
          if (i >= target) this.#comma = this.#at + i;
      }
    }
    this.#inText = inText;
    this.#depth = depth;
  }
}

/** Whether the bytes between two quotes are a name. */
function nameIs(bytes: readonly number[], name: string): boolean {
  try {
    return JSON.parse(`"${Buffer.from(bytes).toString('utf8')}"`) === name;
  } catch {
    return false;
  }
}

/** JSON Lines are examined around a cut, in windows of growing size. */
const FIRST_WINDOW_BYTES = 1 << 16;
const LAST_WINDOW_BYTES = 1 << 28;

/** @param counts whether the lines before each cut are counted: then all of the document is read, up to the last cut */
async function* lineCuts(document: CutDocument, targets: readonly number[], counts: boolean): AsyncGenerator<Cut> {
  let last = 0;
  let lines = 0;
  for (const target of targets) {
    if (target <= last) continue;
    for (let bytes = FIRST_WINDOW_BYTES; bytes <= LAST_WINDOW_BYTES; bytes *= 8) {
      const found = findLine(await document.read(target, target + bytes));
      if (found !== undefined) {
        const at = target + found;
        if (counts) lines += await linesIn(document, last, at);
        last = at;
        yield cutAt(last, counts ? lines : undefined);
      }
      if (found !== undefined || target + bytes >= document.sizeBytes) break;
    }
  }
}

/** Number of line feeds in the bytes [from, to). */
async function linesIn(document: CutDocument, from: number, to: number): Promise<number> {
  let lines = 0;
  for await (const chunk of document.bytes(from, to)) for (let i = chunk.indexOf(LF); i >= 0; i = chunk.indexOf(LF, i + 1)) lines++;
  return lines;
}

/**
 * Offset of a line that begins a value. The reader also accepts values that span several lines. Within such a value no two consecutive
 * lines are JSON by themselves, since a comma, a colon or a bracket is between them.
 */
function findLine(window: Buffer): number | undefined {
  let before = false;
  for (let from = window.indexOf(LF) + 1; from > 0; ) {
    const end = window.indexOf(LF, from);
    if (end < 0) return undefined;
    const isWhole = isJson(window.toString('utf8', from, end));
    if (before && isWhole) return from;
    before = isWhole;
    from = end + 1;
  }
  return undefined;
}

const LF = 10;

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
