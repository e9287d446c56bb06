/** A property graph in memory that carries out the statements of the graph writer. */
import type { BoltConnection, Work } from '../../../../src/targets/bolt/connect.ts';
import { ALL_EDGES, ALL_NODES, CHANGE_NODES, MERGE_NODES, positions, removeBare, stated } from '../../../../src/targets/bolt/cypher.ts';
import type { Random } from '../../../support/random.ts';
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
  readonly #edges = new Map<string, { readonly from: string; readonly to: string; readonly type: string; readonly graph: string }>();
  readonly #stated = new Map<string, Row>();
  #positions: readonly Row[] = [];
  #last: Promise<unknown> = Promise.resolve();

  /** One transaction after the other. They are never rolled back. */
  connection(): BoltConnection {
    const act = <T>(work: (model: Work) => Promise<T>): Promise<T> => {
      const result = this.#last.then(() => work(this));
      this.#last = result.catch(() => undefined);
      return result;
    };
    const rows = async function* (this: ModelGraph, cypher: string, parameters: Row) {
      yield (await this.run(cypher, parameters)).records;
    }.bind(this);
    return {
      name: 'model',
      transaction: act,
      rows,
      schema: async () => undefined,
      agent: async () => 'model',
    } as unknown as BoltConnection;
  }

  /** Takes something away, or with `adds` changes anything. */
  damage(random: Random, adds: boolean): void {
    if (this.#nodes.size === 0) return;
    const [key, node] = random.pick([...this.#nodes]);
    const names = Object.keys(node.properties).filter((name) => name !== 'iri' && (adds || name !== 'graph'));
    const edges = [...this.#edges.keys()];
    const harmless = [
      () => void (names.length > 0 && delete node.properties[random.pick(names)]),
      () => node.labels.forEach((label) => void (label !== 'Resource' && random.chance(0.5) && node.labels.delete(label))),
      () => void (edges.length > 0 && this.#edges.delete(random.pick(edges))),
      () => {
        this.#nodes.delete(key);
        for (const [id, { from, to }] of this.#edges) if (from === key || to === key) this.#edges.delete(id);
      },
    ];
    const others = [
      () => void (node.properties.p0 = random.pick(['changed', 1n, ['1', '2']])),
      () => void node.labels.add('Changed'),
      () => void this.#nodes.set('http://e/new', { properties: { iri: 'http://e/new', p0: 'new' }, labels: new Set(['Resource']) }),
      () => void this.#nodes.set('a "b>', { properties: { iri: 'a "b>' }, labels: new Set(['Resource']) }),
      () => void this.#edges.set(`${key} p9 ${key} `, { from: key, to: key, type: 'p9', graph: '' }),
    ];
    random.pick(adds ? [...harmless, ...others] : harmless)();
  }

  async run(cypher: string, parameters: Readonly<Record<string, unknown>> = {}): ReturnType<Work['run']> {
    const rows = this.#rowsOf(cypher, parameters);
    return { records: rows.map((row) => ({ get: (key: string) => row[key], toObject: () => row })) } as unknown as Awaited<
      ReturnType<Work['run']>
    >;
  }

  /** The number of subjects of which the statements of datasets are kept. */
  get subjects(): number {
    return this.#stated.size;
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
      case ALL_NODES:
        return Array.from(this.#nodes.values(), ({ properties, labels }) => {
          const edges = [...this.#edges.values()];
          const isEnd = ({ from, to }: { readonly from: string; readonly to: string }): boolean =>
            from === properties.iri || to === properties.iri;
          const linked = edges.some(({ from, graph }) => from === properties.iri && graph === '');
          return { iri: properties.iri, properties: { ...properties }, labels: [...labels], linked, alone: !edges.some(isEnd) };
        });
      case ALL_EDGES:
        return [...this.#edges.values()];
      case stated.lock:
        return (keys as readonly string[]).map((key) => {
          const known = this.#stated.get(key) ?? { iri: key };
          this.#stated.set(key, known);
          const { iri: _, ...others } = known;
          return {
            key,
            removed: false,
            size: Object.values(others as Record<string, readonly string[]>)
              .flat()
              .join('').length,
          };
        });
      case stated.read:
        return (keys as readonly string[]).map((key) => ({ key, stated: this.#stated.get(key) as Row }));
      case stated.store:
        for (const { iri, properties } of given as readonly { readonly iri: string; readonly properties: Row }[]) {
          const all = Object.entries({ ...this.#stated.get(iri), ...properties }).filter(([, value]) => value !== null);
          if (all.length > 1) this.#stated.set(iri, Object.fromEntries(all));
          else this.#stated.delete(iri);
        }
        return [{ found: given.length }];
      case stated.all:
        return [...this.#stated.values()].flatMap(({ iri, ...sets }) =>
          ((sets[others.id as string] ?? []) as readonly string[]).map((statement) => ({ iri, statement })),
        );
      case positions.of(true):
      case positions.of(false):
        return this.#positions.filter(({ id }) => id === others.id);
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
      else this.#edges.set(key, { from, to, type, graph });
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
