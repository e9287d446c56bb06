/** Edits of a text of YAML: values, and items and keys of lists and maps, in lines or in brackets. */
import { isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap, type YAMLSeq } from 'yaml';
import { yamlInLine, yamlOf } from '../../../../src/mapping/convert/yarrrml-layout.ts';
import type { Value } from '../../../../src/mapping/convert/yarrrml-terms.ts';
import { startsInYaml } from '../../../../src/mapping/yarrrml/comments.ts';
import type { Anchor, Id } from '../../document.ts';
import type { TextEdit } from '../../history/edits.ts';
import { rangesOfObjects } from '../ranges.ts';
import { stop, Unpatched } from '../unpatched.ts';
import { pairsOf, scalarText, type YarrrmlTree } from './tree.ts';

export class YamlEdits {
  readonly edits: TextEdit[] = [];
  readonly #tree: YarrrmlTree;
  readonly #text: string;
  readonly #lineEnd: string;
  readonly #comments: readonly number[];

  constructor(tree: YarrrmlTree) {
    this.#tree = tree;
    this.#text = tree.text;
    this.#lineEnd = /\r?\n/.exec(this.#text)?.[0] ?? '\n';
    this.#comments = startsInYaml(this.#text);
  }

  /** Brings a value up to date: only what differs within it is written. */
  value(node: Node, before: Value, after: Value): void {
    if (keyOfValue(before) === keyOfValue(after)) return;
    if (Array.isArray(before) && Array.isArray(after) && isSeq(node)) {
      const items = node.items as Node[];
      if (before.length === after.length && items.length === after.length) {
        for (const [i, item] of items.entries()) this.value(item, before[i] as Value, after[i] as Value);
        return;
      }
    }
    if (before instanceof Map && after instanceof Map && isMap(node) && sameKeys(before, after)) {
      const own = new Map(pairsOf(node).map((pair) => [isScalar(pair.key) ? scalarText(pair.key) : '', pair.value]));
      const changed = [...after].filter(([key, value]) => keyOfValue(before.get(key) as Value) !== keyOfValue(value));
      if (changed.every(([key]) => own.get(key) != null)) {
        for (const [key, value] of changed) this.value(own.get(key) as Node, before.get(key) as Value, value);
        return;
      }
    }
    this.write(node, after);
  }

  /** Writes a value in the place of another one. */
  write(node: Node, value: Value, of?: Id): void {
    const { from, to } = this.#tree.rangeOf(node);
    if (this.commentsIn({ from, to }).length > 0) stop('A comment stands within what would be rewritten. Change it in the text.');
    this.edits.push({ from, to, text: this.#inPlaceOf(node, value), ...(of !== undefined && { of }) });
  }

  #inPlaceOf(node: Node, value: Value): string {
    const type = isScalar(node) ? node.type : undefined;
    if (typeof value === 'string' && !this.#tree.isInLine(node) && (type === 'PLAIN' || type === undefined) && !/[\r\n]/.test(value))
      return yamlOf(value, 'value');
    return yamlInLine(value, type);
  }

  /** Adds an item behind the last one of a list. */
  addItem(list: YAMLSeq<Node>, value: Value, of?: Id): void {
    const last = list.items.at(-1);
    if (last === undefined) stop('The list has no items in the text, so nothing is added to it. Add it in the text.');
    else this.addBehind(list, last, value, of);
  }

  addBehind(list: YAMLSeq<Node>, item: Node, value: Value, of?: Id): void {
    const { to } = this.#tree.rangeOf(item);
    const owned = of === undefined ? {} : { of };
    if (list.flow === true) {
      this.edits.push({ from: to, to, text: ', ' }, { from: to, to, text: yamlInLine(value), ...owned });
      return;
    }
    const dash = this.#tree.dashOf(list, item) ?? stop('This list is not found in the text.');
    const indent = ' '.repeat(this.#columnOf(dash));
    this.#addLines(to, `${indent}- `, indented(yamlOf(value, 'item'), `${indent}  `), owned);
  }

  /** Adds a key with its value behind the last one of a map. */
  addKey(map: YAMLMap, key: string, value: Value, ofItems: readonly (Id | undefined)[] = []): void {
    const last = pairsOf(map).at(-1);
    const [first] = pairsOf(map);
    if (last === undefined || first === undefined) throw new Unpatched('The map has no keys in the text. Add one there.');
    const { to } = this.#tree.rangeOfPair(last);
    if (map.flow === true) {
      this.edits.push({ from: to, to, text: `, ${yamlInLine(new Map([[key, value]])).replace(/^\{|\}$/g, '')}` });
      return;
    }
    const indent = ' '.repeat(this.#columnOf(first.key.range?.[0] ?? 0));
    const isList = ofItems.length > 0 && Array.isArray(value);
    if (isList) {
      this.#addLines(to, `${indent}${key}:`, '', {});
      (value as readonly Value[]).forEach((item, i) => {
        const of = ofItems[i];
        this.#addLines(to, `${indent}  - `, indented(yamlOf(item, 'item'), `${indent}    `), of === undefined ? {} : { of });
      });
      return;
    }
    const text = yamlOf(value, key === 'po' ? '' : 'value');
    const isShort = !text.includes('\n');
    this.#addLines(to, `${indent}${key}:${isShort ? ' ' : `${this.#lineEnd}${indent}  `}`, indented(text, `${indent}  `), {});
  }

  /** Adds lines behind the line in which an offset is. */
  #addLines(behind: number, head: string, text: string, owned: { readonly of?: Id }): void {
    const at = this.afterLine(behind);
    const isOpen = at > 0 && this.#text[at - 1] !== '\n';
    const written = text.replaceAll('\n', this.#lineEnd);
    this.edits.push({ from: at, to: at, text: `${isOpen ? this.#lineEnd : ''}${head}` });
    if (written !== '') this.edits.push({ from: at, to: at, text: written, ...owned });
    if (!isOpen) this.edits.push({ from: at, to: at, text: this.#lineEnd });
  }

  /** Adds a block of lines, such as a mapping. */
  addBlock(behind: number, text: string, isApart: boolean, of: Id | undefined): void {
    this.#addLines(behind, isApart ? this.#lineEnd : '', text, of === undefined ? {} : { of });
  }

  insert(at: number, text: string): void {
    this.edits.push({ from: at, to: at, text });
  }

  /** Removes items of a list, of which at least one stays. */
  removeItems(list: YAMLSeq<Node>, removed: ReadonlySet<Node>): void {
    if (list.flow === true) {
      const objects = list.items.map((item) => ({ ...this.#tree.rangeOf(item), item }));
      for (const range of rangesOfObjects({ objects }, new Set(objects.filter(({ item }) => removed.has(item))))) this.#removeInLine(range);
      return;
    }
    for (const item of removed) {
      const dash = this.#tree.dashOf(list, item) ?? stop('This list is not found in the text.');
      this.#removeLines({ from: dash, to: this.#tree.rangeOf(item).to });
    }
  }

  removeKey(map: YAMLMap, pair: Pair<Node, Node | null>): void {
    const all = pairsOf(map);
    const range = this.#tree.rangeOfPair(pair);
    const at = all.indexOf(pair);
    if (all.length === 1) stop('Nothing would be left of a map in the text. Remove it there.');
    if (map.flow === true) {
      const objects = all.map((one) => this.#tree.rangeOfPair(one));
      for (const one of rangesOfObjects({ objects }, new Set([objects[at] as Anchor]))) this.#removeInLine(one);
    } else if (this.#isFirstOfLine(range.from)) this.#removeLines(range, pair.key);
    else {
      // The first key of an item stands behind its dash.
      const next = all[at + 1] ?? stop('Nothing would be left of a map in the text. Remove it there.');
      this.#removeInLine({ from: range.from, to: next.key.range?.[0] ?? range.to });
    }
  }

  #removeInLine(range: Anchor): void {
    if (this.commentsIn(range).length > 0) stop('A comment stands beside what would be removed. Remove it in the text.');
    this.edits.push({ ...range, text: '' });
  }

  /** With the comment on the same line. Comments that stand below a key belong to what is around it, and stay. */
  #removeLines({ from, to }: Anchor, key?: Node): void {
    if (!this.#isFirstOfLine(from)) stop('What would be removed does not stand on separate lines. Remove it in the text.');
    let start = from - this.#columnOf(from);
    if (key !== undefined) {
      const head = this.afterLine(key.range?.[1] ?? from);
      const kept = /^(?:[ \t]*(?:#[^\n]*)?\n)*/.exec(this.#text.slice(head, to))?.[0] ?? '';
      if (kept.includes('#')) {
        this.edits.push({ from: start, to: head, text: '' });
        start = head + kept.length;
      }
    }
    const end = this.afterLine(to);
    const isOpen = end === this.#text.length && this.#text[end - 1] !== '\n';
    this.edits.push({ from: isOpen && start > 0 ? start - 1 : start, to: end, text: '' });
  }

  #isFirstOfLine(offset: number): boolean {
    return this.#text.slice(offset - this.#columnOf(offset), offset).trim() === '';
  }

  #columnOf(offset: number): number {
    return offset - (this.#text.lastIndexOf('\n', offset - 1) + 1);
  }

  /** The beginning of the next line, or the end of the text. */
  afterLine(offset: number): number {
    const end = this.#text.indexOf('\n', offset);
    return end < 0 ? this.#text.length : end + 1;
  }

  commentsIn({ from, to }: Anchor): readonly string[] {
    return this.#comments.filter((at) => at >= from && at < to).map((at) => this.#text.slice(at).split(/\r?\n/, 1)[0] as string);
  }

  /** Rewrites an item of a list. Comments within it go to lines above it. */
  writeItem(list: YAMLSeq<Node>, item: Node, value: Value, of: Id): void {
    const range = this.#tree.rangeOf(item);
    const comments = this.commentsIn(range);
    if (list.flow === true) {
      this.write(item, value, of);
      return;
    }
    const dash = this.#tree.dashOf(list, item) ?? stop('This list is not found in the text.');
    const indent = ' '.repeat(this.#columnOf(dash));
    if (comments.length > 0 && !this.#isFirstOfLine(dash)) stop('A comment stands within what would be rewritten. Change it in the text.');
    const line = dash - indent.length;
    if (comments.length > 0) this.insert(line, comments.map((one) => `${indent}${one}${this.#lineEnd}`).join(''));
    const text = indented(yamlOf(value, 'item'), `${indent}  `).replaceAll('\n', this.#lineEnd);
    this.edits.push({ ...range, text, of });
  }
}

/** The lines of a text behind the first one, indented. */
export const indented = (text: string, indent: string): string => text.replace(/\n(?=.)/g, `\n${indent}`);

/** Equal for values that are written alike. */
export const keyOfValue = (value: Value | undefined): string =>
  JSON.stringify(value, (_, one: unknown) => (one instanceof Map ? { entries: [...one] } : one)) ?? '';

const sameKeys = (a: ReadonlyMap<string, Value>, b: ReadonlyMap<string, Value>): boolean =>
  a.size === b.size && [...a.keys()].every((key) => b.has(key));
