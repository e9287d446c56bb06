/** Predicates and objects of the mappings of a text of YARRRML: changed where they stand, rewritten, added, and removed. */
import { isScalar, isSeq, type Node, type YAMLSeq } from 'yaml';
import { type SaidObject, type SaidPair, valueOfObject, valueOfPair } from '../../../../src/mapping/convert/yarrrml.ts';
import { yamlOf } from '../../../../src/mapping/convert/yarrrml-layout.ts';
import type { Value } from '../../../../src/mapping/convert/yarrrml-terms.ts';
import type { Id } from '../../document.ts';
import { nameOf } from '../../elements/names.ts';
import { stop } from '../unpatched.ts';
import { indented, keyOfValue } from './edits.ts';
import { guard, type Patching } from './patching.ts';
import type { SaidPart } from './said.ts';
import { type MappingNode, type PairNode, scalarText } from './tree.ts';

/** An edge in the text: its object, in its predicate object. */
export interface ObjectPlace {
  readonly pair: PairNode;
  readonly object: Node;
}

export class PairEdits {
  readonly #patching: Patching;
  /** Items to be removed, by their list; of one that stands alone, the key that leads to it. */
  readonly #removed = new Map<MappingNode, Map<PairNode, Set<Node>>>();

  constructor(patching: Patching) {
    this.#patching = patching;
  }

  change(mapping: MappingNode, old: SaidPart, next: SaidPart, classes: readonly string[]): void {
    const added: [Id | undefined, SaidPair][] = [...next.pairs].filter(([edge]) => !old.pairs.has(edge));
    if (classes.length > 0) added.unshift([undefined, classPair(classes)]);
    const groups = new Map<Node, { readonly place: ObjectPlace; readonly edges: Id[] }>();
    for (const edge of old.pairs.keys()) {
      const place = this.#placeOf(edge, mapping) ?? stop(`${nameOf(this.#patching.before, edge)} is not found in the text.`);
      const group = groups.get(place.object) ?? { place, edges: [] };
      group.edges.push(edge);
      groups.set(place.object, group);
    }
    for (const { place, edges } of groups.values()) {
      const changed = edges.filter((edge) => keyOfPair(old.pairs.get(edge)) !== keyOfPair(next.pairs.get(edge)));
      const [edge] = changed;
      if (edge === undefined) continue;
      if (edges.length > 1) stop('Several edges are one object in the text. Change them there.');
      const [before, after] = [old.pairs.get(edge) as SaidPair, next.pairs.get(edge)];
      if (after === undefined) this.remove(mapping, place);
      else if (place.pair.objects.items.length === 1) this.#changePair(mapping, place, edge, before, after);
      else if (!this.#changeObject(place, before, after)) {
        // It leaves the others, and gets a separate predicate object.
        this.remove(mapping, place);
        added.push([edge, after]);
      }
    }
    if (added.length > 0) this.#addPairs(mapping, added);
  }

  /** Where an edge stands that was drawn of the text. */
  #placeOf(edge: Id, { pairs }: MappingNode): ObjectPlace | undefined {
    const ranges = this.#patching.before.text.anchors.get(edge) ?? [];
    const begins = (node: Node): boolean => {
      const { from, to } = this.#patching.tree.rangeOf(node);
      return ranges.some((range) => range.from >= from && range.from < to);
    };
    for (const pair of pairs.filter(({ node }) => begins(node))) {
      const object = pair.objects.items.length === 1 ? pair.objects.items[0] : pair.objects.items.find(begins);
      if (object !== undefined) return { pair, object };
    }
    return undefined;
  }

  #changePair(mapping: MappingNode, place: ObjectPlace, edge: Id, before: SaidPair, after: SaidPair): void {
    const { pair } = place;
    const isSameGraph = keyOfValue(before.graphs) === keyOfValue(after.graphs);
    const canStay = !this.#patching.isWhole && (isSameGraph || pair.keys !== undefined);
    const objects = canStay ? this.#objectEdits(place, before, after) : undefined;
    const { node, list, items } = pair.predicates;
    if (objects === undefined || node === undefined) {
      this.#writePair(mapping, pair, edge, after);
      return;
    }
    if (keyOfValue(before.predicates) !== keyOfValue(after.predicates)) {
      if (items.length === before.predicates.length && items.length === after.predicates.length && list === undefined)
        this.#patching.edits.value(node, before.predicates[0] as Value, after.predicates[0] as Value);
      else this.#patching.edits.value(node, before.predicates, oneOr(after.predicates));
    }
    for (const edit of objects) edit();
    if (isSameGraph || pair.keys === undefined) return;
    const graphs = pair.keys.get('graphs');
    const map = pair.node as MappingNode['map'];
    if (after.graphs.length === 0) {
      if (graphs !== undefined) this.#patching.edits.removeKey(map, graphs);
    } else if (graphs?.value == null) this.#patching.edits.addKey(map, 'graphs', oneOr(after.graphs));
    else this.#patching.edits.value(graphs.value, oneOr(before.graphs), oneOr(after.graphs));
  }

  /** Changes an object among others. @returns whether it could be */
  #changeObject(place: ObjectPlace, before: SaidPair, after: SaidPair): boolean {
    if (this.#patching.isWhole) return false;
    const isSame = keyOfValue([before.predicates, before.graphs]) === keyOfValue([after.predicates, after.graphs]);
    const edits = isSame ? this.#objectEdits(place, before, after) : undefined;
    for (const edit of edits ?? []) edit();
    return edits !== undefined;
  }

  /** What changes an object where it stands; undefined: it cannot be said there. */
  #objectEdits({ pair, object }: ObjectPlace, before: SaidPair, after: SaidPair): readonly (() => void)[] | undefined {
    const [was, next] = [before.objects[0] as SaidObject, after.objects[0] as SaidObject];
    if (keyOfValue(valueOfObject(was)) === keyOfValue(valueOfObject(next))) return [];
    const isShared = pair.mark !== undefined || (pair.keys !== undefined && OF_ALL.some((key) => pair.keys?.has(key)));
    if (typeof was.value !== 'string' || typeof next.value !== 'string') {
      if (isShared) return undefined;
      return [() => this.#patching.edits.value(object, valueOfObject(was), valueOfObject(next))];
    }
    const edits: (() => void)[] = [];
    const value = isSequence(object) ? object.items[0] : object;
    if (!isScalar(value)) return undefined;
    if (was.value !== next.value) {
      const wasIri = was.value.endsWith('~iri');
      // Where the type is said elsewhere, the value has none.
      if (wasIri !== next.value.endsWith('~iri') || wasIri !== scalarText(value).endsWith('~iri')) {
        if (isShared || wasIri !== scalarText(value).endsWith('~iri')) return undefined;
      }
      edits.push(() => this.#patching.edits.write(value, next.value));
    }
    if (was.mark === next.mark) return edits;
    if (isSequence(object)) {
      const [, mark] = object.items;
      if (mark === undefined) return undefined;
      return [
        ...edits,
        next.mark === undefined
          ? () => this.#patching.edits.removeItems(object, new Set([mark]))
          : () => this.#patching.edits.write(mark, next.mark as string),
      ];
    }
    // The third of a short list is for all its objects.
    const list = pair.keys === undefined && isSequence(pair.node) && pair.objects.items.length === 1 ? pair.node : undefined;
    if (list === undefined || pair.objects.list !== undefined) return undefined;
    if (next.mark === undefined)
      return pair.mark === undefined ? undefined : [...edits, () => this.#patching.edits.removeItems(list, new Set([pair.mark as Node]))];
    const mark = next.mark;
    return [
      ...edits,
      pair.mark === undefined ? () => this.#patching.edits.addItem(list, mark) : () => this.#patching.edits.write(pair.mark as Node, mark),
    ];
  }

  /** Rewrites a predicate object of one object. */
  #writePair(mapping: MappingNode, { node, list }: PairNode, edge: Id, after: SaidPair): void {
    guard(this.#patching, this.#patching.tree.rangeOf(node));
    const value = valueOfPair(after);
    if (list !== undefined) this.#patching.edits.writeItem(list, node, value, edge);
    else if (mapping.map.flow === true || this.#patching.tree.isInLine(node)) this.#patching.edits.write(node, value, edge);
    else this.#patching.edits.write(node, [value], edge);
  }

  #addPairs(mapping: MappingNode, added: readonly (readonly [Id | undefined, SaidPair])[]): void {
    const pair = mapping.keys.get('predicateobjects');
    const [only] = mapping.pairs;
    const list = only?.list;
    const values = added.map(([, one]) => valueOfPair(one));
    if (pair?.value == null || only === undefined) {
      if (pair !== undefined) stop('The mapping has a key for its rules, and none that is found in the text. Write them there.');
      this.#patching.edits.addKey(
        mapping.map,
        this.#patching.tree.keyFor('predicateobjects', 'po'),
        values,
        added.map(([edge]) => edge),
      );
    } else if (list !== undefined) for (const [edge, one] of added) this.#patching.edits.addItem(list, valueOfPair(one), edge);
    else this.#addToOne(only, added);
  }

  /** A predicate object that stands alone becomes the first of a list. */
  #addToOne({ node }: PairNode, added: readonly (readonly [Id | undefined, SaidPair])[]): void {
    const { from, to } = this.#patching.tree.rangeOf(node);
    if (isSequence(node) && node.flow !== true) stop('The mapping has one rule, which is no item of a list. Make it one in the text.');
    if ('flow' in node && node.flow === true) {
      this.#patching.edits.insert(from, '[');
      for (const [edge, one] of added) {
        this.#patching.edits.insert(to, ', ');
        this.#patching.edits.edits.push({ from: to, to, text: yamlOf(valueOfPair(one), 'item'), ...(edge !== undefined && { of: edge }) });
      }
      this.#patching.edits.insert(to, ']');
      return;
    }
    const text = this.#patching.before.text.text;
    const start = text.lastIndexOf('\n', from - 1) + 1;
    const indent = text.slice(start, from);
    if (indent.trim() !== '') stop('The mapping has one rule, which does not stand on separate lines. Make it a list in the text.');
    this.#patching.edits.insert(from, '- ');
    for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) this.#patching.edits.insert(at + 1, '  ');
    for (const [edge, one] of added)
      this.#patching.edits.addBlock(to, `${indent}- ${indented(yamlOf(valueOfPair(one), 'item'), `${indent}  `)}`, false, edge);
  }

  /** Removed together, when all is known that goes. */
  remove(mapping: MappingNode, { pair, object }: ObjectPlace): void {
    guard(this.#patching, this.#patching.tree.rangeOf(object));
    const removed = this.#removed.get(mapping) ?? new Map<PairNode, Set<Node>>();
    removed.set(pair, (removed.get(pair) ?? new Set()).add(object));
    this.#removed.set(mapping, removed);
  }

  #removeFrom(mapping: MappingNode, removed: ReadonlyMap<PairNode, ReadonlySet<Node>>): void {
    const whole = new Set<PairNode>();
    for (const [pair, objects] of removed) {
      const { list, items } = pair.objects;
      if (items.every((one) => objects.has(one))) whole.add(pair);
      else if (list !== undefined) this.#patching.edits.removeItems(list, objects);
    }
    if (whole.size === 0) return;
    const key = mapping.keys.get('predicateobjects');
    if (whole.size === mapping.pairs.length) {
      // What is added below would have no list.
      const range = key && this.#patching.tree.rangeOfPair(key);
      const isAdded =
        range !== undefined &&
        this.#patching.edits.edits.some(
          ({ from, to }) => from === to && from >= range.from && from <= this.#patching.edits.afterLine(range.to),
        );
      if (key !== undefined && !isAdded) {
        this.#patching.edits.removeKey(mapping.map, key);
        return;
      }
    }
    const list = [...whole][0]?.list;
    if (list === undefined) stop('The mapping has one rule, which is no item of a list. Change it in the text.');
    else this.#patching.edits.removeItems(list, new Set([...whole].map(({ node }) => node)));
  }

  /** Removes what is to go, after everything that is changed. */
  end(): void {
    for (const [mapping, removed] of this.#removed) this.#removeFrom(mapping, removed);
  }
}

const OF_ALL = ['type', 'datatype', 'language', 'conditions', 'inversepredicates'] as const;

export const classPair = (classes: readonly string[]): SaidPair => ({
  predicates: ['a'],
  objects: classes.map((value) => ({ value, mark: undefined })),
  graphs: [],
});

export const oneOr = (values: readonly Value[]): Value => (values.length === 1 ? (values[0] as Value) : values);

export const keyOfPair = (pair: SaidPair | undefined): string =>
  pair === undefined ? '' : keyOfValue([pair.predicates, pair.objects.map(valueOfObject), pair.graphs]);

const isSequence = (node: Node | undefined): node is YAMLSeq<Node> => isSeq(node);
