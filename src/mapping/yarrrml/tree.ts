/**
 * YAML text → a tree in which every value and every key knows its place.
 *
 * Values keep the text that the author wrote: `1.0` is not the number 1. Aliases and merge keys (`<<`) are resolved here, within a bound: a
 * few lines of YAML can stand for billions of nodes.
 */
import { type Alias, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLMap } from 'yaml';
import type { Report } from '../model/diagnostics.ts';
import type { Origin } from '../model/model.ts';

export type Tree =
  | { readonly kind: 'text'; readonly origin: Origin; readonly text: string }
  | { readonly kind: 'list'; readonly origin: Origin; readonly items: readonly Tree[] }
  | { readonly kind: 'map'; readonly origin: Origin; readonly entries: readonly Entry[] }
  /** A key without a value, `null` or `~`. */
  | { readonly kind: 'nothing'; readonly origin: Origin };

export interface Entry {
  readonly key: string;
  readonly keyOrigin: Origin;
  readonly value: Tree;
}

/** All nodes of a document, those of aliases counted each time that they are used. A mapping of 10 MB has fewer. */
const MAX_NODES = 2_000_000;
/** Those of aliases alone: a mapping of ten thousand triples maps that share twenty values has as many. */
const MAX_REPEATED = 200_000;
const MAX_DEPTH = 100;
/** Of the way of keys to a value that is nested too deeply. */
const MOST_KEY = 60;

export interface YamlDocument {
  readonly tree: Tree;
  /** How many values the author wrote: without those that aliases repeat. */
  readonly written: number;
}

/** Parses a document; undefined, with diagnostics, if it is not valid YAML, or too large. Of a key that is there twice, the first counts. */
export function parseYaml(text: string, document: string, report: Report): YamlDocument | undefined {
  const lines = new LineCounter();
  const parsed = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const originAt = (offset: number, key: string): Origin => {
    const { line, col } = lines.linePos(offset);
    return { document, line: Math.max(1, line), column: Math.max(1, col), ...(key === '' ? {} : { key }) };
  };
  // What follows the first error of a line is a consequence of it.
  const wrong = new Set<number>();
  for (const { pos, message, code } of parsed.errors) {
    const origin = originAt(pos[0], '');
    const hint = (code === 'BLOCK_AS_IMPLICIT_KEY' ? unquoted(text.split(/\r\n|\r|\n/)[origin.line - 1] ?? '') : undefined) ?? HINTS[code];
    if (!wrong.has(origin.line)) report.error('syntax', origin, `this is not YAML: ${MESSAGES[code] ?? sentenceOf(message)}`, hint);
    wrong.add(origin.line);
  }
  if (wrong.size > 0) return undefined;
  // The library looks through the whole document for each.
  const resolved = new Map<Alias, Node | undefined>();
  const resolve = (alias: Alias): Node | undefined => {
    if (!resolved.has(alias)) resolved.set(alias, alias.resolve(parsed));
    return resolved.get(alias);
  };
  return new Reader(originAt, resolve, report).read(parsed.contents);
}

/** Replaces messages in which the library names its functions, or what it took the text for. */
const MESSAGES: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: 'there are several documents',
  BLOCK_AS_IMPLICIT_KEY: 'a list or a map where it cannot begin',
};

const HINTS: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'indent with spaces',
  MULTIPLE_DOCS: 'write one document a file: remove the line ---',
  BAD_INDENT: 'lines of one list or map begin in the same column, and what begins with [ or { ends with ] or }',
  MULTILINE_IMPLICIT_KEY: 'a key is followed by a colon and a space; quote a text that holds ": "',
  BLOCK_AS_IMPLICIT_KEY: 'lines of one list or map begin in the same column; quote a text that holds ": "',
  MISSING_CHAR: 'close what was opened, or quote the text',
  BAD_ALIAS: 'an alias is *name; quote a text that begins with *',
};

/** What to do about a value that holds a colon with a blank behind it, and is not quoted. */
function unquoted(line: string): string | undefined {
  const [, value] = /^\s*(?:- )*[^\s:]+:\s+([^\s"'[{].*:\s.*?)\s*$/.exec(line) ?? [];
  return value === undefined ? undefined : `quote the value, since it holds a colon and a blank: ${JSON.stringify(value)}`;
}

/** Messages of the library are sentences over several lines. */
const sentenceOf = (message: string): string => {
  if (/call stack/.test(message)) return 'it is nested too deeply';
  const first = message.split('\n')[0] ?? '';
  return first.charAt(0).toLowerCase() + first.slice(1);
};

/** Thrown to leave the tree at once: every further finding would be the same. */
class TooLarge extends Error {}

class Reader {
  readonly #originAt: (offset: number, key: string) => Origin;
  readonly #resolve: (alias: Alias) => Node | undefined;
  readonly #report: Report;
  /** What aliases lead to on the way to the node that is read. */
  readonly #passed = new Set<Node>();
  #nodes = 0;
  #repeated = 0;

  constructor(originAt: (offset: number, key: string) => Origin, resolve: (alias: Alias) => Node | undefined, report: Report) {
    this.#originAt = originAt;
    this.#resolve = resolve;
    this.#report = report;
  }

  read(contents: Node | null): YamlDocument | undefined {
    try {
      const tree = this.#tree(contents, this.#originAt(0, ''), 0);
      return { tree, written: this.#nodes - this.#repeated };
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error;
      return undefined;
    }
  }

  /** @param from of the key or the list, for a node that has no place */
  #tree(node: Node | null | undefined, from: Origin, depth: number): Tree {
    const key = from.key ?? '';
    const origin = node?.range == null ? from : this.#originAt(node.range[0], key);
    this.#count(origin, depth);
    if (isAlias(node)) return this.#aliased(node, origin, (found) => this.#tree(found, origin, depth + 1));
    if (isMap(node)) return { kind: 'map', origin, entries: this.#entries(node, origin, depth) };
    if (isSeq(node)) {
      const items = node.items.map((item, i) => this.#tree(item as Node | null, { ...origin, key: `${key}[${i}]` }, depth + 1));
      return { kind: 'list', origin, items };
    }
    if (!isScalar(node) || node.value === null || node.value === undefined) return { kind: 'nothing', origin };
    const { value, source } = node;
    return { kind: 'text', origin, text: typeof value === 'string' ? value : (source ?? String(value)) };
  }

  #count(origin: Origin, depth: number): void {
    this.#nodes++;
    if (this.#passed.size > 0) this.#repeated++;
    if (this.#nodes <= MAX_NODES && this.#repeated <= MAX_REPEATED && depth <= MAX_DEPTH) return;
    const what =
      depth > MAX_DEPTH
        ? `is nested deeper than ${MAX_DEPTH} levels`
        : this.#repeated > MAX_REPEATED
          ? `has more than ${MAX_REPEATED} values that aliases repeat`
          : `has more than ${MAX_NODES} values`;
    const { key = '' } = origin;
    const at = { ...origin, ...(key.length > MOST_KEY ? { key: `${key.slice(0, MOST_KEY)}…` } : {}) };
    this.#report.error('too-large', at, `the document ${what}`, 'write out what its aliases repeat, or split it');
    throw new TooLarge();
  }

  #aliased(alias: Alias, origin: Origin, read: (found: Node) => Tree): Tree {
    const found = this.#resolve(alias);
    if (found === undefined) {
      this.#report.error('syntax', origin, `there is no anchor &${alias.source}`, 'an anchor stands before the aliases that refer to it');
      return { kind: 'nothing', origin };
    }
    if (this.#passed.has(found)) {
      this.#report.error('circle', origin, `the alias *${alias.source} stands within what it refers to`);
      return { kind: 'nothing', origin };
    }
    this.#passed.add(found);
    const tree = read(found);
    this.#passed.delete(found);
    return tree;
  }

  #entries(map: YAMLMap, within: Origin, depth: number): readonly Entry[] {
    const own = new Map<string, Entry>();
    const merged: Entry[] = [];
    for (const { key: keyNode, value } of map.items as readonly { key: unknown; value: unknown }[]) {
      const node = keyNode as Node | null;
      const at = node?.range == null ? within : this.#originAt(node.range[0], within.key ?? '');
      if (!isScalar(node)) {
        this.#report.error('wrong-value', at, 'a key is a text, found a list, a map or an alias', 'quote a key that begins with [, { or *');
        continue;
      }
      const key = typeof node.value === 'string' ? node.value : (node.source ?? '');
      const keyOrigin = { ...at, key: within.key === undefined ? key : `${within.key}.${key}` };
      const tree = this.#tree(value as Node | null, keyOrigin, depth + 1);
      const first = own.get(key);
      if (key === '<<' && node.type === 'PLAIN') merged.push(...this.#merged(tree));
      else if (first !== undefined) {
        const hint = `the other is on line ${first.keyOrigin.line}; give one of them another name, or make a list of their values`;
        this.#report.error('duplicate-key', keyOrigin, `a second key ${JSON.stringify(key)} in one map`, hint);
      } else own.set(key, { key, keyOrigin, value: tree });
    }
    // What a map says itself comes before what it merges, and of several merged maps the first.
    for (const entry of merged) if (!own.has(entry.key)) own.set(entry.key, entry);
    return [...own.values()];
  }

  /** @see https://yaml.org/type/merge.html */
  #merged(tree: Tree): readonly Entry[] {
    if (tree.kind === 'map') return tree.entries;
    if (tree.kind === 'list' && tree.items.every(({ kind }) => kind === 'map')) return tree.items.flatMap((item) => this.#merged(item));
    this.#report.error('wrong-value', tree.origin, `<< takes a map or a list of maps, found ${describeTree(tree)}`, 'write <<: *name');
    return [];
  }
}

/** For messages. */
export function describeTree(tree: Tree): string {
  switch (tree.kind) {
    case 'text':
      return JSON.stringify(tree.text.length > 60 ? `${tree.text.slice(0, 60)}…` : tree.text);
    case 'list':
      return 'a list';
    case 'map':
      return 'a map';
    case 'nothing':
      return 'nothing';
  }
}
