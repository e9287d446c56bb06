/** A property graph in memory that carries out the statements of the graph writer. */
import type { Work } from '../../../../src/targets/bolt/connect.ts';
import { CHANGE_NODES, MERGE_NODES, positions, removeBare } from '../../../../src/targets/bolt/cypher.ts';
import { text } from './oracle.ts';

interface ModelNode {
  properties: Record<string, unknown>;
  readonly labels: Set<string>;
}

type Row = Readonly<Record<string, unknown>>;

const NAME = '`(?:[^`]|``)*`';
const LABELS = new RegExp(`(SET|REMOVE) n((?::${NAME})+)\\nRETURN`);
const EDGE = new RegExp(`\\(a\\)-\\[r?:(${NAME})`);

export class ModelGraph implements Work {
  readonly #nodes = new Map<string, ModelNode>();
  readonly #edges = new Map<string, { readonly from: string; readonly to: string; readonly graph: string }>();
  #positions: readonly Row[] = [];

  async run(cypher: string, parameters: Readonly<Record<string, unknown>> = {}): ReturnType<Work['run']> {
    const rows = this.#rowsOf(cypher, parameters);
    return { records: rows.map((row) => ({ get: (key: string) => row[key], toObject: () => row })) } as unknown as Awaited<
      ReturnType<Work['run']>
    >;
  }

  /** Nodes and relationships as sorted texts. */
  content(): readonly string[] {
    const nodes = Array.from(this.#nodes.values(), ({ properties, labels }) => {
      const values = Object.entries(properties).map(([name, value]) => [name, Array.isArray(value) ? value.map(text).sort() : text(value)]);
      return JSON.stringify([properties.iri, [...labels].sort(), values.sort()]);
    });
    return [...nodes, ...this.#edges.keys()].sort();
  }

  #rowsOf(cypher: string, { rows = [], keys = [], ...others }: Readonly<Record<string, unknown>>): readonly Row[] {
    const [given, found] = [rows as readonly Row[], (keys as readonly string[]).filter((key) => this.#nodes.has(key))];
    switch (cypher) {
      case MERGE_NODES:
        return given.flatMap((row) => this.#merge(row, others.all === true));
      case CHANGE_NODES:
        for (const { iri, properties } of given) this.#change(this.#node(iri), properties as Row);
        return [{ found: given.length }];
      case removeBare:
        for (const key of found) if (this.#isBare(key)) this.#nodes.delete(key);
        return [{ found: found.length }];
      case positions.all:
        return this.#positions;
      case positions.store: {
        const position = others.position as Row;
        this.#positions = [...this.#positions.filter(({ id, name }) => id !== position.id && name !== position.name), position];
        return [];
      }
    }
    const labels = LABELS.exec(cypher);
    if (labels !== null) {
      for (const label of namesIn(labels[2] as string))
        for (const key of found) {
          const known = this.#node(key).labels;
          if (labels[1] === 'SET') known.add(label);
          else known.delete(label);
        }
      return [{ found: found.length }];
    }
    const [type] = namesIn(EDGE.exec(cypher)?.[1] ?? '');
    if (type === undefined) throw new Error(`The model does not know ${cypher}`);
    for (const { from, to, graph = '' } of given as readonly { from: string; to: string; graph?: string }[]) {
      this.#node(from);
      this.#node(to);
      const key = `${from} ${type} ${to} ${graph}`;
      if (cypher.includes('DELETE r')) this.#edges.delete(key);
      else this.#edges.set(key, { from, to, graph });
    }
    return [{ found: given.length }];
  }

  #merge({ iri, properties }: Row, all: boolean): readonly Row[] {
    const key = iri as string;
    const wanted = properties as Row | undefined;
    if (!this.#nodes.has(key)) this.#nodes.set(key, { properties: { iri }, labels: new Set(['Resource']) });
    const node = this.#node(key);
    const isLinked = [...this.#edges.values()].some(({ from, graph }) => from === key && graph === '');
    const linked = wanted?.graph !== undefined && node.properties.graph === undefined && isLinked;
    if (wanted === undefined) return [];
    if (!linked && Object.keys(node.properties).length === 1 && node.labels.size === 1) {
      this.#change(node, wanted);
      return [];
    }
    const same =
      JSON.stringify(Object.entries(wanted).map(String).sort()) === JSON.stringify(Object.entries(node.properties).map(String).sort());
    return all || !same ? [{ iri, properties: { ...node.properties }, labels: [...node.labels], linked, removed: false }] : [];
  }

  #change(node: ModelNode, properties: Row): void {
    for (const [name, value] of Object.entries(properties)) {
      if (value === null) delete node.properties[name];
      else node.properties[name] = value;
    }
  }

  #isBare(key: string): boolean {
    const { properties, labels } = this.#node(key);
    return (
      labels.size === 1 &&
      Object.keys(properties).length === 1 &&
      ![...this.#edges.values()].some(({ from, to }) => from === key || to === key)
    );
  }

  #node(key: unknown): ModelNode {
    const node = this.#nodes.get(key as string);
    if (node === undefined) throw new Error(`There is no node ${key}`);
    return node;
  }
}

const namesIn = (quoted: string): readonly string[] =>
  Array.from(quoted.matchAll(new RegExp(NAME, 'g')), ([name]) => name.slice(1, -1).replaceAll('``', '`'));
