/**
 * Records that wait for the end of an ancestor, as text that need not stay in memory.
 *
 * A record is packed with the elements around it that have ended; those that are open stay in memory, and unpacked records lead to them
 * again. All text is UTF-8 in one-byte strings.
 */
import { Fault } from '../../core/fault.ts';
import type { SpilledText } from '../source.ts';
import type { Name } from './names.ts';
import { type Attributes, type Child, CommentOrInstruction, Element, nodeBytes } from './tree.ts';
import type { Located } from './waiting.ts';

/** Records are unpacked block by block. */
const BLOCK_CHARACTERS = 1 << 18;
const BLOCK_RECORDS = 512;

const END = 0;
const ELEMENT = 1;
const TEXT = 2;
const COMMENT = 3;
const INSTRUCTION = 4;

interface Block {
  readonly characters: number;
  readonly records: number;
}

export class PackedRecords {
  readonly #text: SpilledText;
  /** By serial number. */
  readonly #names: Name[] = [];
  /** Elements that were open when records in them were packed. */
  #bases: Element[] = [];
  #blocks: Block[] = [];

  constructor(text: SpilledText) {
    this.#text = text;
  }

  /**
   * @param records which have ended, and none is within another
   * @param open the elements that have not
   * @returns bytes that need not be in memory any more, as `nodeBytes` counts
   */
  async add({ records, lines, paths }: Located, open: ReadonlySet<Element>): Promise<number> {
    let bytes = 0;
    for (let at = 0; at < records.length; ) {
      const writer = new Writer(this.#names);
      let parents: readonly Element[] = [];
      let base: Element | undefined;
      const from = at;
      for (; at < records.length && at - from < BLOCK_RECORDS && writer.text.length < BLOCK_CHARACTERS; at++) {
        const record = records[at] as Element;
        const around = parentsOf(record, open);
        if (around.base !== base) {
          base = around.base;
          parents = [];
          if (this.#bases.at(-1) !== base) this.#bases.push(base);
        }
        let same = 0;
        while (same < parents.length && parents[same] === around.parents[same]) same++;
        parents = around.parents;
        writer.number(this.#bases.length - 1);
        writer.number(same);
        writer.number(parents.length - same);
        for (const parent of parents.slice(same)) writer.tree(parent);
        writer.tree(record);
        writer.number(lines[at] as number);
        const path = paths[at];
        writer.number(path === undefined ? 0 : path.length + 1);
        for (const number of path ?? []) writer.number(number);
      }
      await this.#text.add(writer.text);
      this.#blocks.push({ characters: writer.text.length, records: at - from });
      bytes += writer.bytes;
    }
    return bytes;
  }

  /** The records in the order in which they were added, in batches. Empty afterwards. */
  async *take(): AsyncGenerator<Located> {
    let text = '';
    let block = 0;
    for await (const piece of this.#text.read()) {
      text += piece;
      for (let next = this.#blocks[block]; next !== undefined && text.length >= next.characters; next = this.#blocks[++block]) {
        yield this.#unpacked(new Reader(text.slice(0, next.characters), this.#names), next.records);
        text = text.slice(next.characters);
      }
    }
    if (block < this.#blocks.length) throw new Fault('internal/error', 'Records that were packed are missing');
    this.#blocks = [];
    this.#bases = [];
    await this.#text.clear();
  }

  #unpacked(reader: Reader, count: number): Located {
    let parents: readonly Element[] = [];
    const lines: number[] = [];
    const paths: (readonly number[])[] = [];
    const records = Array.from({ length: count }, () => {
      const base = this.#bases[reader.number()] as Element;
      const around = parents.slice(0, reader.number());
      for (let added = reader.number(); added > 0; added--) around.push(reader.tree(around.at(-1) ?? base));
      parents = around;
      const record = reader.tree(around.at(-1) ?? base);
      lines.push(reader.number());
      const levels = reader.number();
      if (levels > 0) paths.push(Array.from({ length: levels - 1 }, () => reader.number()));
      return record;
    });
    return { records, lines, paths };
  }
}

/** The elements around a record that have ended, the outermost first, and the innermost one that is open. */
function parentsOf(record: Element, open: ReadonlySet<Element>): { readonly base: Element; readonly parents: readonly Element[] } {
  const parents: Element[] = [];
  let up = record.parent;
  for (; up !== null && !open.has(up); up = up.parent) parents.push(up);
  if (up === null) throw new Fault('internal/error', 'A record waits for an element that is not open');
  return { base: up, parents: parents.reverse() };
}

class Writer {
  text = '';
  bytes = 0;
  readonly #names: Name[];

  constructor(names: Name[]) {
    this.#names = names;
  }

  /** Seven bits a character, the lowest first. */
  number(value: number): void {
    let rest = value;
    for (; rest > 127; rest >>>= 7) this.text += String.fromCharCode(128 | (rest & 127));
    this.text += String.fromCharCode(rest);
  }

  /** An element with its content. Uses no call stack per level. */
  tree(top: Element): void {
    this.#node(top);
    let parent = top;
    let node = top.first;
    if (node === null) return;
    while (true) {
      if (node === null) {
        this.number(END);
        if (parent === top) return;
        node = parent.next;
        parent = parent.parent as Element;
        continue;
      }
      this.#node(node);
      if (node instanceof Element && node.first !== null) {
        parent = node;
        node = node.first;
      } else node = node.next;
    }
  }

  #node(node: Child): void {
    this.bytes += nodeBytes(node);
    if (node instanceof Element) {
      this.number(ELEMENT);
      this.#name(node.name);
      const { attributes, first, text } = node;
      this.number(attributes.length / 2);
      for (let i = 0; i < attributes.length; i += 2) {
        this.#name(attributes[i] as Name);
        this.#string(attributes[i + 1] as string);
      }
      this.number(first === null ? 0 : 1);
      if (first === null) this.#string(text);
    } else if (node instanceof CommentOrInstruction) {
      this.number(node.target === undefined ? COMMENT : INSTRUCTION);
      if (node.target !== undefined) this.#string(node.target);
      this.#string(node.text);
    } else {
      this.number(TEXT);
      this.#string(node.text);
    }
  }

  #name(name: Name): void {
    this.#names[name.serial] ??= name;
    this.number(name.serial);
  }

  #string(text: string): void {
    this.number(text.length);
    this.text += text;
  }
}

class Reader {
  #at = 0;
  readonly #text: string;
  readonly #names: readonly Name[];

  constructor(text: string, names: readonly Name[]) {
    this.#text = text;
    this.#names = names;
  }

  number(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const code = this.#text.charCodeAt(this.#at++);
      value |= (code & 127) << shift;
      if (code < 128) return value;
    }
  }

  /** An element with its content, which is not put into its parent. */
  tree(parent: Element): Element {
    if (this.number() !== ELEMENT) throw new Fault('internal/error', 'A record that was packed is not readable');
    const [top, isLeaf] = this.#element(parent);
    if (isLeaf) return top;
    let open = top;
    while (true) {
      const kind = this.number();
      if (kind === END) {
        if (open === top) return top;
        open = open.parent as Element;
      } else if (kind === ELEMENT) {
        const [element, ended] = this.#element(open);
        open.addNode(element);
        if (!ended) open = element;
      } else if (kind === TEXT) open.addText(this.#string());
      else open.addNode(new CommentOrInstruction(kind === INSTRUCTION ? this.#string() : undefined, this.#string()));
    }
  }

  #element(parent: Element): [element: Element, isLeaf: boolean] {
    const name = this.#name();
    const attributes: (Name | string)[] = [];
    for (let left = this.number(); left > 0; left--) attributes.push(this.#name(), this.#string());
    const element = new Element(name, attributes as Attributes, parent);
    const isLeaf = this.number() === 0;
    if (isLeaf) element.text = this.#string();
    return [element, isLeaf];
  }

  #name(): Name {
    return this.#names[this.number()] as Name;
  }

  #string(): string {
    const length = this.number();
    this.#at += length;
    return this.#text.slice(this.#at - length, this.#at);
  }
}
