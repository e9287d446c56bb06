/** The beginning of a JSON document as a tree: what is complete in a text that may break off. */
import { XSD } from '../core/value.ts';
import { isArray, isMembers, type Tree } from './sample.ts';

/** What is wrong with a text. */
export class JsonBeginningError extends Error {
  /** In characters from the beginning of the text. */
  readonly offset: number;
  /** What stands there may be another value. */
  readonly isBehindValue: boolean;

  constructor(message: string, offset: number, isBehindValue = false) {
    super(message);
    this.offset = offset;
    this.isBehindValue = isBehindValue;
  }
}

/** Thrown where the text breaks off. */
const BROKEN_OFF = Symbol('broken off');

const MAX_DEPTH = 500;

/**
 * The tree of a JSON text. If it breaks off (`isWhole` is false), what is open then has the members and items that are complete. Of members
 * with one name the last one counts. The text before the offset of an error has a tree as one that breaks off.
 *
 * @param items the most items of an array that are kept
 * @throws JsonBeginningError
 * @see https://www.rfc-editor.org/rfc/rfc8259
 */
export function readJson(text: string, isWhole: boolean, items: number): JsonBeginning {
  const reader = new Reader(text, isWhole, items);
  return { tree: reader.document(), isAll: reader.isAll };
}

/**
 * A sequence of JSON values as an array: JSON Lines, values one after the other, or a text sequence (RFC 7464). Ends after so many items.
 *
 * @throws JsonBeginningError
 */
export function readJsonSequence(text: string, isWhole: boolean, items: number): JsonBeginning {
  const reader = new Reader(text, isWhole, items);
  return { tree: reader.sequence(), isAll: reader.isAll };
}

export interface JsonBeginning {
  /** undefined: nothing of it is complete. */
  readonly tree: Tree | undefined;
  /** No item was left out. */
  readonly isAll: boolean;
}

class Reader {
  readonly #text: string;
  readonly #isWhole: boolean;
  isAll = true;
  readonly #most: number;
  #at = 0;

  constructor(text: string, isWhole: boolean, items: number) {
    this.#most = items;
    this.#text = text;
    this.#isWhole = isWhole;
  }

  document(): Tree | undefined {
    const { value, isComplete } = this.#value(0);
    if (!isComplete) return value;
    this.#space();
    if (this.#at < this.#text.length) throw new JsonBeginningError('There is more behind the value', this.#at, true);
    return value;
  }

  sequence(): readonly Tree[] {
    const trees: Tree[] = [];
    while (true) {
      while (/[ \t\n\r\x1e]/.test(this.#text[this.#at] ?? 'x')) this.#at++;
      if (this.#at === this.#text.length) return trees;
      if (trees.length === this.#most) {
        this.isAll = false;
        return trees;
      }
      const { value, isComplete } = this.#value(0);
      if (value !== undefined && (isComplete || (trees.length === 0 && hasContent(value)))) trees.push(value);
      if (!isComplete) return trees;
    }
  }

  /** A value; of one that breaks off, what is there. `value` is undefined if that is nothing. */
  #value(depth: number): { readonly value: Tree | undefined; readonly isComplete: boolean } {
    const first = this.#peek();
    if (first === undefined) return { value: undefined, isComplete: false };
    if (depth > MAX_DEPTH) throw new JsonBeginningError(`It is nested more than ${MAX_DEPTH} levels deep`, this.#at);
    if (first === '{') return this.#object(depth);
    if (first === '[') return this.#array(depth);
    const scalar = this.#orBrokenOff(() => (first === '"' ? this.#string() : this.#literal()));
    return scalar === BROKEN_OFF ? { value: undefined, isComplete: false } : { value: scalar as Tree, isComplete: true };
  }

  #orBrokenOff<T>(read: () => T): T | typeof BROKEN_OFF {
    try {
      return read();
    } catch (error) {
      if (error === BROKEN_OFF) return BROKEN_OFF;
      throw error;
    }
  }

  #object(depth: number): { readonly value: Tree; readonly isComplete: boolean } {
    const members = new Map<string, Tree>();
    const isComplete = this.#items('}', () => {
      if (this.#peek() === undefined) return undefined;
      if (this.#peek() !== '"') throw new JsonBeginningError('A member begins with its name in double quotes', this.#at);
      const name = this.#orBrokenOff(() => this.#string());
      if (name === BROKEN_OFF || this.#peek() === undefined) return undefined;
      if (this.#peek() !== ':') throw new JsonBeginningError('A colon is missing behind the name of a member', this.#at);
      this.#at++;
      const { value, isComplete: isRead } = this.#value(depth + 1);
      // What is open counts only if it shows something.
      if (value !== undefined && (isRead || hasContent(value))) {
        members.delete(name as string);
        members.set(name as string, value);
      }
      return isRead;
    });
    return { value: { members }, isComplete };
  }

  #array(depth: number): { readonly value: Tree; readonly isComplete: boolean } {
    const items: Tree[] = [];
    const isComplete = this.#items(']', () => {
      const { value, isComplete: isRead } = this.#value(depth + 1);
      // An item of which a part is missing would look as if it lacked members; only what is within it counts, if there is nothing else.
      if (items.length >= this.#most) this.isAll = false;
      else if (value !== undefined && (isRead || (items.length === 0 && hasContent(value)))) items.push(value);
      return isRead;
    });
    return { value: items, isComplete };
  }

  /** Reads what stands between brackets. @returns false: the text breaks off. `item`: undefined and false if it breaks off there */
  #items(end: string, item: () => boolean | undefined): boolean {
    this.#at++;
    if (this.#peek() === end) {
      this.#at++;
      return true;
    }
    while (true) {
      if (item() !== true) return false;
      const next = this.#peek();
      if (next === undefined) return false;
      this.#at++;
      if (next === end) return true;
      if (next !== ',') throw new JsonBeginningError(`A comma or ${end} is missing`, this.#at - 1);
    }
  }

  #space(): void {
    while (/[ \t\n\r]/.test(this.#text[this.#at] ?? 'x')) this.#at++;
  }

  /** The next character that is no space. undefined: the text breaks off. @throws JsonBeginningError — it ends, but should not */
  #peek(): string | undefined {
    this.#space();
    const next = this.#text[this.#at];
    if (next === undefined && this.#isWhole) throw new JsonBeginningError('The document ends too early', this.#at);
    return next;
  }

  /** @throws BROKEN_OFF */
  #string(): string {
    const from = this.#at;
    for (let at = from + 1; ; at++) {
      const one = this.#text[at];
      if (one === undefined) {
        if (this.#isWhole) throw new JsonBeginningError('A text has no closing quote', from);
        throw BROKEN_OFF;
      }
      if (one === '\\') at++;
      else if (one === '"') {
        this.#at = at + 1;
        return this.#parsed(from, at + 1) as string;
      }
    }
  }

  /** @throws BROKEN_OFF */
  #literal(): Tree {
    const from = this.#at;
    const found = /[^\s,\]}\x1e]*/y;
    found.lastIndex = from;
    const text = found.exec(this.#text)?.[0] as string;
    if (from + text.length === this.#text.length && !this.#isWhole) throw BROKEN_OFF;
    const value = this.#parsed(from, from + text.length);
    this.#at = from + text.length;
    if (value === null) return null;
    const datatype = typeof value === 'boolean' ? 'boolean' : /^-?\d+$/.test(text) ? 'integer' : 'double';
    return { text, datatype: `${XSD}${datatype}` };
  }

  #parsed(from: number, to: number): unknown {
    try {
      return JSON.parse(this.#text.slice(from, to));
    } catch {
      throw new JsonBeginningError('No JSON value stands here', from);
    }
  }
}

/** Whether it shows anything. */
export const hasContent = (tree: Tree): boolean => (isMembers(tree) ? tree.members.size > 0 : isArray(tree) ? tree.length > 0 : true);
