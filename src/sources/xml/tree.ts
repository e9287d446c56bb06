/**
 * The light tree of a record: elements, attributes and text that some expression needs.
 *
 * All text is UTF-8 in one-byte strings.
 */
import type { Name } from './names.ts';

/** Name, value, name, value, … in document order; namespace declarations are not attributes. */
export type Attributes = readonly (Name | string)[];

export const NO_ATTRIBUTES: Attributes = [];

/** Text next to elements, comments or processing instructions. */
export class Text {
  text: string;
  next: Child | null = null;

  constructor(text: string) {
    this.text = text;
  }
}

/** A comment or a processing instruction: part of no value, but it separates the text nodes around it. */
export class CommentOrInstruction {
  /** `undefined`: a comment. */
  readonly target: string | undefined;
  readonly text: string;
  next: Child | null = null;

  constructor(target: string | undefined, text: string) {
    this.target = target;
    this.text = text;
  }
}

export type Child = Element | Text | CommentOrInstruction;

/** Children are a linked list, which takes a third of the memory of small arrays. */
export class Element {
  readonly name: Name;
  readonly attributes: Attributes;
  readonly parent: Element | null;
  /** The next child of the parent, if the parent keeps its children. */
  next: Child | null = null;
  /** The text, while there is no other content. */
  text = '';
  first: Child | null = null;
  last: Child | null = null;

  constructor(name: Name, attributes: Attributes, parent: Element | null) {
    this.name = name;
    this.attributes = attributes;
    this.parent = parent;
  }

  /** Adjacent texts are merged. */
  addText(text: string): void {
    const { last } = this;
    if (last === null) this.text = this.text === '' ? text : this.text + text;
    else if (last instanceof Text) last.text += text;
    else this.#append(last, new Text(text));
  }

  addNode(node: Element | CommentOrInstruction): void {
    const { last } = this;
    if (last !== null) this.#append(last, node);
    else if (this.text === '') this.first = this.last = node;
    else {
      this.first = new Text(this.text);
      this.text = '';
      this.#append(this.first, node);
    }
  }

  #append(last: Child, node: Child): void {
    last.next = node;
    this.last = node;
  }
}

/** Approximate length of an element's tags in the document. */
export function tagBytes(name: Name, attributes: Attributes): number {
  let bytes = 2 * name.raw.length + 5;
  for (let i = 0; i < attributes.length; i += 2) bytes += (attributes[i] as Name).raw.length + (attributes[i + 1] as string).length + 4;
  return bytes;
}

/** Approximate length of a comment or a processing instruction. */
export const commentBytes = (text: string): number => text.length + 7;

/** Approximate length of a node in the document, without that of its children. */
export function nodeBytes(node: Child): number {
  if (node instanceof Element) return tagBytes(node.name, node.attributes) + node.text.length;
  return node instanceof Text ? node.text.length : commentBytes(node.text);
}

/** Calls `visit` for every node below `top`, in document order. Uses no call stack per level. */
export function visitBelow(top: Element, visit: (node: Child) => void): void {
  let parent = top;
  let node = top.first;
  while (true) {
    if (node === null) {
      if (parent === top) return;
      node = parent.next;
      parent = parent.parent as Element;
      continue;
    }
    visit(node);
    if (node instanceof Element && node.first !== null) {
      parent = node;
      node = node.first;
    } else node = node.next;
  }
}

/**
 * Of an element and those around it, from below the root on: the number of elements before it in the same parent. The tree is that of the whole
 * document.
 *
 * @param numbers those that are known
 */
export function pathOf(element: Element, numbers: Map<Element, number>): readonly number[] {
  const path: number[] = [];
  for (let at = element; at.parent !== null; at = at.parent) {
    if (!numbers.has(at)) {
      let number = 0;
      for (let child = at.parent.first; child !== null; child = child.next) if (child instanceof Element) numbers.set(child, number++);
    }
    path.push(numbers.get(at) as number);
  }
  return path.reverse();
}

/** The text of all descendants, in document order. @see https://www.w3.org/TR/xpath-10/#element-nodes */
export function stringValue(element: Element): string {
  if (element.first === null) return element.text;
  let value = '';
  visitBelow(element, (node) => {
    if (!(node instanceof CommentOrInstruction)) value += node.text;
  });
  return value;
}

/** Receives the scanner's tokens. */
export interface XmlSink {
  /** False: `text` and `commentOrInstruction` need not be called at present. */
  readonly wantsText: boolean;
  open(name: Name, attributes: Attributes): void;
  /** A piece of text or of a CDATA section, with references resolved and line ends normalised. Never empty. */
  text(text: string): void;
  /** A comment (no target) or a processing instruction within the root element. */
  commentOrInstruction(target: string | undefined, text: string): void;
  close(): void;
  /**
   * In place of `open`, `text` and `close` for an element without attributes that has the text from `from` to `to`, as it stands there, or none.
   * False: the sink has taken nothing, and wants the three calls.
   */
  leaf?(name: Name, text: string, from: number, to: number): boolean;
  /** 0-based position of the current record, for messages. */
  recordAt(): number | undefined;
}
