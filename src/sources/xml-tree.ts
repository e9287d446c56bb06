/**
 * The light tree of a record: elements, attributes, text, and nothing that no expression asks for.
 *
 * All text is UTF-8 as one-byte strings.
 */
import type { Name } from './xml-names.ts';

/** Name, value, name, value, … in document order; namespace declarations are not attributes. */
export type Attributes = readonly (Name | string)[];

export const NO_ATTRIBUTES: Attributes = [];

/** A comment or a processing instruction: no part of any value, but it parts the text nodes around it. */
export class Remark {
  /** `undefined`: a comment. */
  readonly target: string | undefined;
  readonly text: string;

  constructor(target: string | undefined, text: string) {
    this.target = target;
    this.text = text;
  }
}

export type Child = Element | Remark | string;

export class Element {
  readonly name: Name;
  readonly attributes: Attributes;
  readonly parent: Element | null;
  /** A string while there is nothing but text; neighbouring texts are one. */
  content: string | Child[] = '';

  constructor(name: Name, attributes: Attributes, parent: Element | null) {
    this.name = name;
    this.attributes = attributes;
    this.parent = parent;
  }

  addText(text: string): void {
    const content = this.content;
    if (typeof content === 'string') {
      this.content = content === '' ? text : content + text;
      return;
    }
    const last = content.length - 1;
    if (typeof content[last] === 'string') content[last] += text;
    else content.push(text);
  }

  addNode(node: Element | Remark): void {
    const content = this.content;
    if (typeof content !== 'string') content.push(node);
    else this.content = content === '' ? [node] : [content, node];
  }
}

/** The text of all descendants, in document order. Depth costs no call stack. @see https://www.w3.org/TR/xpath-10/#element-nodes */
export function stringValue(element: Element): string {
  const content = element.content;
  if (typeof content === 'string') return content;
  let value = '';
  let nodes = content;
  let at = 0;
  const outer: { readonly nodes: Child[]; readonly at: number }[] = [];
  while (true) {
    if (at === nodes.length) {
      const up = outer.pop();
      if (up === undefined) return value;
      nodes = up.nodes;
      at = up.at;
      continue;
    }
    const node = nodes[at++] as Child;
    if (typeof node === 'string') value += node;
    else if (node instanceof Element) {
      if (typeof node.content === 'string') value += node.content;
      else {
        outer.push({ nodes, at });
        nodes = node.content;
        at = 0;
      }
    }
  }
}
