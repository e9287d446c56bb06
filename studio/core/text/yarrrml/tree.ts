/** A text of YARRRML taken apart: its mappings with their sources, subjects, predicates and objects, each with its nodes in the text. */
import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, parseDocument, visit, type YAMLMap, type YAMLSeq } from 'yaml';
import { DEFAULT_BASE } from '../../../../src/mapping/yarrrml/document.ts';
import { type KeyOf, longKey, type MapRole } from '../../../../src/mapping/yarrrml/keys.ts';
import type { Anchor } from '../../document.ts';

/** A key with its value, by the long form of the key. */
export type Keyed<P extends MapRole> = ReadonlyMap<KeyOf<P>, Pair<Node, Node | null>>;

/** A value that may stand alone, or as one of a list. */
export interface Several {
  readonly list: YAMLSeq<Node> | undefined;
  readonly items: readonly Node[];
}

export interface MappingNode {
  readonly name: string;
  readonly pair: Pair<Node, Node | null>;
  readonly map: YAMLMap;
  readonly keys: Keyed<'mapping'>;
  readonly sources: Several;
  readonly subjects: Several;
  readonly pairs: readonly PairNode[];
}

/** A triples map: one of the pairs of sources and subjects of a mapping. */
export interface Cell {
  readonly mapping: MappingNode;
  readonly source: Node | undefined;
  readonly subject: Node | undefined;
}

/** A predicate object. */
export interface PairNode {
  readonly node: Node;
  /** The list that it is an item of; undefined: it stands alone. */
  readonly list: YAMLSeq<Node> | undefined;
  /** Of one that is written as a map. */
  readonly keys: Keyed<'predicate object'> | undefined;
  readonly predicates: Several & { readonly node: Node | undefined };
  readonly objects: Several;
  /** The third of a short list: its datatype or language. */
  readonly mark: Node | undefined;
}

const NONE: Several = { list: undefined, items: [] };

export class YarrrmlTree {
  readonly text: string;
  readonly root: YAMLMap;
  readonly keys: Keyed<'document'>;
  readonly mappings: ReadonlyMap<string, MappingNode>;
  readonly #inLine = new Set<Node>();
  readonly #base: string;

  private constructor(text: string, root: YAMLMap) {
    this.text = text;
    this.root = root;
    this.keys = keysOf('document', root);
    const base = this.keys.get('base')?.value;
    this.#base = (isScalar(base) && scalarText(base)) || DEFAULT_BASE;
    const mappings = this.keys.get('mappings')?.value;
    this.mappings = new Map(isMap(mappings) ? pairsOf(mappings).flatMap((pair) => mappingOf(pair)) : []);
    visit(root, {
      Node: (_, node, path) => {
        if (path.some((one) => (isMap(one) || isSeq(one)) && one.flow === true)) this.#inLine.add(node);
      },
    });
  }

  /** undefined: it is no map of YAML. */
  static of(text: string): YarrrmlTree | undefined {
    const { contents, errors } = parseDocument(text, { keepSourceTokens: true, uniqueKeys: false });
    return errors.length === 0 && isMap(contents) ? new YarrrmlTree(text, contents) : undefined;
  }

  /** Whether a node stands within brackets. */
  isInLine(node: Node): boolean {
    return this.#inLine.has(node);
  }

  idOf(name: string): string {
    return this.#base + encodeURIComponent(name);
  }

  /** The name of the mapping that has this id. */
  nameOf(id: string): string {
    const rest = id.startsWith(this.#base) ? id.slice(this.#base.length) : id;
    try {
      return decodeURIComponent(rest);
    } catch {
      return rest;
    }
  }

  /** What has this id: the second pair of sources and subjects of `person` is `person,2`, and the sources come first. */
  cellOf(id: string): Cell | undefined {
    const name = this.nameOf(id);
    const own = this.mappings.get(name);
    if (own !== undefined && this.idOf(name) === id) return { mapping: own, source: own.sources.items[0], subject: own.subjects.items[0] };
    const [, of = '', number] = /^(.*),(\d+)$/s.exec(id) ?? [];
    const mapping = this.mappings.get(this.nameOf(of));
    if (mapping === undefined || this.idOf(mapping.name) !== of) return undefined;
    const [sources, subjects] = [mapping.sources.items, mapping.subjects.items];
    const [at, across] = [Number(number) - 1, Math.max(1, subjects.length)];
    const source = sources[Math.floor(at / across)];
    return source && { mapping, source, subject: subjects[at % across] };
  }

  /** As mappings of the text call this key. */
  keyFor(long: 'sources' | 'subjects' | 'predicateobjects' | 'graphs', otherwise: string): string {
    for (const { keys } of this.mappings.values()) {
      const key = keys.get(long)?.key;
      if (isScalar(key)) return scalarText(key);
    }
    return otherwise;
  }

  /** From the first to the last character, without the comments behind it. */
  rangeOf(node: Node): Anchor {
    const from = node.range?.[0] ?? 0;
    return { from, to: Math.max(from, this.#endOf(node)) };
  }

  #endOf(node: Node): number {
    const to = node.range?.[1] ?? 0;
    if ((isMap(node) || isSeq(node)) && node.flow !== true) {
      const last = (node.items as readonly (Node | Pair<Node, Node | null>)[]).at(-1);
      if (last === undefined) return to;
      if (!('key' in last)) return this.#endOf(last);
      return last.value?.range == null ? this.#behindColon(last.key) : Math.max(this.#endOf(last.value), this.#behindColon(last.key));
    }
    return (node.range?.[0] ?? 0) + this.text.slice(node.range?.[0] ?? 0, to).trimEnd().length;
  }

  #behindColon(key: Node): number {
    const to = key.range?.[1] ?? 0;
    return to + (/^\s*:/.exec(this.text.slice(to))?.[0].length ?? 0);
  }

  /** A key with its value. */
  rangeOfPair({ key, value }: Pair<Node, Node | null>): Anchor {
    const to = this.#behindColon(key);
    return { from: key.range?.[0] ?? 0, to: value === null || value.range == null ? to : Math.max(to, this.rangeOf(value).to) };
  }

  /** Where the `-` of an item of a list stands. */
  dashOf(list: YAMLSeq<Node>, item: Node): number | undefined {
    const token = list.srcToken;
    if (token?.type !== 'block-seq') return undefined;
    const found = token.items[list.items.indexOf(item)];
    return found?.start.find(({ type }) => type === 'seq-item-ind')?.offset;
  }
}

export const scalarText = (node: { readonly value: unknown; readonly source?: string | undefined }): string =>
  typeof node.value === 'string' ? node.value : (node.source ?? String(node.value));

export const pairsOf = (map: YAMLMap): readonly Pair<Node, Node | null>[] => map.items as Pair<Node, Node | null>[];

/** Keys that the map has itself. */
function keysOf<P extends MapRole>(role: P, map: YAMLMap): Keyed<P> {
  const found = new Map<KeyOf<P>, Pair<Node, Node | null>>();
  for (const pair of pairsOf(map)) {
    const name = isScalar(pair.key) ? longKey(role, scalarText(pair.key)) : undefined;
    if (name !== undefined) found.set(name, pair);
  }
  return found;
}

function several(node: Node | null | undefined): Several {
  if (node === null || node === undefined || (isScalar(node) && node.value === null)) return NONE;
  return isSeq(node) ? { list: node as YAMLSeq<Node>, items: node.items as Node[] } : { list: undefined, items: [node] };
}

function mappingOf(pair: Pair<Node, Node | null>): [string, MappingNode][] {
  const { key, value } = pair;
  if (!isScalar(key) || !isMap(value)) return [];
  const keys = keysOf('mapping', value);
  const name = scalarText(key);
  const sources = keys.get('sources')?.value;
  const short = isSeq(sources) && isScalar(sources.items[0]) && /~[^~/]*$/.test(scalarText(sources.items[0]));
  return [
    [
      name,
      {
        name,
        pair,
        map: value,
        keys,
        sources: short ? { list: undefined, items: [sources] } : several(sources),
        subjects: several(keys.get('subjects')?.value),
        pairs: pairNodesOf(keys.get('predicateobjects')?.value),
      },
    ],
  ];
}

function pairNodesOf(value: Node | null | undefined): readonly PairNode[] {
  const isOne = isSeq(value) && isScalar(value.items[0]);
  const { list, items } = isOne ? { list: undefined, items: [value] } : several(value);
  return items.flatMap((node) => pairNodeOf(node, list));
}

function pairNodeOf(node: Node, list: YAMLSeq<Node> | undefined): readonly PairNode[] {
  if (isSeq(node)) {
    const [predicates, objects, mark] = node.items as (Node | undefined)[];
    return [{ node, list, keys: undefined, predicates: { ...several(predicates), node: predicates }, objects: several(objects), mark }];
  }
  if (!isMap(node) || isAlias(node)) return [];
  const keys = keysOf('predicate object', node);
  const predicates = keys.get('predicates')?.value ?? undefined;
  return [
    {
      node,
      list,
      keys,
      predicates: { ...several(predicates), node: predicates },
      objects: several(keys.get('objects')?.value),
      mark: undefined,
    },
  ];
}
