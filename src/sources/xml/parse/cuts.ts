/**
 * Finds where an XML document can be cut: before an element of the level on which the records of the iterators are, or above them.
 *
 * Walks from tag to tag and counts the open elements. Nothing is checked here: each byte stands in one of the parts, and the tags of the
 * elements around a cut are written again, so the readers of the parts report what is wrong.
 */
import { parsePath } from '../../../paths/xml/path.ts';
import { type Cut, cutAt, cutsIn, type FindCuts, markOf } from '../../cuts.ts';
import type { IterationRequest, NestedRequest, XmlOptions } from '../../source.ts';
import { declaredEncoding } from '../declared-encoding.ts';
import { streamabilityOf } from '../path/streamability.ts';

const LESS = 60;
const GREATER = 62;
const SLASH = 47;
const BANG = 33;
const QUESTION = 63;
const HYPHEN = 45;
const BRACKET = 91;
const DOUBLE_QUOTE = 34;
const QUOTE = 39;
const SPACE = 32;

export const findXmlCuts: FindCuts<XmlOptions> = async (document, iterations, { encoding }, targets) => {
  const mark = await markOf(document, encoding, declaredEncoding);
  const level = levelOfRecords(iterations);
  if (mark === undefined || level === undefined) return undefined;
  return { head: 0, found: cutsIn(document, mark, new XmlCuts(level, mark, targets)) };
};

/**
 * The level of elements between which every iterator may be cut: 2 are the children of the root. undefined: there is none, because a path
 * depends on what stands before or behind an element of a higher level.
 */
function levelOfRecords(iterations: readonly IterationRequest[]): number | undefined {
  let level = Number.POSITIVE_INFINITY;
  const paths = iterations.map(({ iterator }) => (iterator === undefined ? undefined : parsePath(iterator)));
  for (const [i, path] of paths.entries()) {
    if (path?.absolute !== true || path.target.kind !== 'element' || path.ups > 0) return undefined;
    const far = path.steps.findIndex(({ descendant, predicates }) => descendant || predicates.some(({ kind }) => kind === 'position'));
    const ups = (iterations[i]?.references ?? []).map((reference) => parsePath(reference)?.ups ?? 0);
    level = Math.min(level, far < 0 ? path.steps.length : far, path.steps.length - Math.max(0, ...ups));
  }
  if (level < 2 || !Number.isFinite(level)) return undefined;
  const stays = iterations.every(({ references, nested = [] }, i) => {
    const below = (paths[i]?.steps.length ?? 0) - level;
    return references.every((reference) => staysWithin(reference, below)) && nested.every(staysWithinRecord);
  });
  return stays ? level : undefined;
}

const staysWithinRecord = ({ iterator, references, nested = [] }: NestedRequest): boolean =>
  [iterator, ...references].every((expression) => staysWithin(expression, 0)) && nested.every(staysWithinRecord);

/** @param below levels between a cut and the records */
function staysWithin(reference: string, below: number): boolean {
  const path = parsePath(reference);
  if (path !== undefined) return !path.absolute && path.ups <= below;
  return streamabilityOf(reference) === 'record' && !/\.\.|parent|ancestor/.test(reference);
}

/** What ends that within which the walk is: a comment, a CDATA section, an instruction; content has no end. */
type Ending = '' | '-->' | ']]>' | '?>';
const CONTENT: Ending = '';

class XmlCuts {
  readonly cuts: Cut[] = [];
  readonly #level: number;
  readonly #targets: readonly number[];
  #next = 0;
  /** Offset of what is being read. */
  #at: number;
  /** The beginning of a tag whose end is in the next chunk. */
  #rest: Buffer = Buffer.alloc(0);
  #within: Ending = CONTENT;
  #depth = 0;
  /** The start tags of the open elements above the level. */
  readonly #tags: string[] = [];
  /** By level up to that of the cuts: elements so far that are children of the open one. */
  readonly #counts: number[] = [0];
  #ended = false;

  /**
   * @param level of `levelOfRecords`
   * @param at offset of the first chunk, behind a byte order mark
   * @param targets ascending offsets: for each, the first element of the level at or behind it begins a part
   */
  constructor(level: number, at: number, targets: readonly number[]) {
    this.#level = level;
    this.#at = at;
    this.#targets = targets;
  }

  /** Whether more of the document may give further cuts. */
  get wanted(): boolean {
    return !this.#ended && this.#next < this.#targets.length;
  }

  feed(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    const text = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const done = this.#walk(text);
    this.#at += done;
    this.#rest = Buffer.from(text.subarray(done));
  }

  /** Returns how much of the text needs not be read again. */
  #walk(text: Buffer): number {
    const end = text.length;
    let i = 0;
    while (i < end && !this.#ended) {
      if (this.#within !== CONTENT) {
        const found = text.indexOf(this.#within, i, 'latin1');
        if (found < 0) return Math.max(i, end - this.#within.length + 1);
        i = found + this.#within.length;
        this.#within = CONTENT;
        continue;
      }
      while (i < end && text[i] !== LESS) i++;
      if (i + 1 >= end) return i;
      const next = text[i + 1] as number;
      if (next === BANG) {
        if (end - i < 9) return i;
        const isComment = text[i + 2] === HYPHEN;
        if (isComment || text[i + 2] === BRACKET) this.#within = isComment ? '-->' : ']]>';
        // What a document type declares holds for all parts.
        else this.#ended = true;
        i += isComment ? 4 : 9;
        continue;
      }
      if (next === QUESTION) {
        this.#within = '?>';
        i += 2;
        continue;
      }
      const to = endOfTag(text, i + 1);
      if (to < 0) return i;
      if (next === SLASH) {
        this.#depth--;
        if (this.#depth < this.#tags.length) this.#tags.pop();
        if (this.#depth <= 0) this.#ended = true;
      } else {
        if (this.#depth < this.#level) {
          if (this.#depth === this.#level - 1) this.#cutAt(this.#at + i);
          (this.#counts[this.#depth] as number)++;
          this.#counts[this.#depth + 1] = 0;
        }
        if (text[to - 1] !== SLASH) {
          if (this.#depth < this.#level - 1) this.#tags.push(text.toString('latin1', i, to + 1));
          this.#depth++;
        }
      }
      i = to + 1;
    }
    return i;
  }

  #cutAt(offset: number): void {
    if (!this.wanted || offset < (this.#targets[this.#next] as number)) return;
    const behind = this.#tags.map((tag) => `</${nameOf(tag)}>`).reverse();
    const around = this.#counts.slice(1, this.#level - 1).map((count) => count - 1);
    const counts = [...around, this.#counts[this.#level - 1] as number];
    this.cuts.push({ ...cutAt(offset), behind: `\n${behind.join('')}`, before: `${this.#tags.join('')}\n`, counts });
    while (this.wanted && (this.#targets[this.#next] as number) <= offset) this.#next++;
  }
}

/** The position of the `>` that ends a tag; -1: it is not in the text. */
function endOfTag(text: Buffer, from: number): number {
  const end = text.length;
  for (let i = from; i < end; i++) {
    const byte = text[i] as number;
    if (byte === GREATER) return i;
    if (byte !== QUOTE && byte !== DOUBLE_QUOTE) continue;
    i = text.indexOf(byte, i + 1);
    if (i < 0) return -1;
  }
  return -1;
}

function nameOf(tag: string): string {
  let to = 1;
  while (to < tag.length && tag.charCodeAt(to) > SPACE && tag[to] !== '>' && tag[to] !== '/') to++;
  return tag.slice(1, to);
}
