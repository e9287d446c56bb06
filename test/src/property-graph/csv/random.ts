/** Random statements for files of nodes and edges, and what such files can say of them. */

import { readStatements } from '../../../../src/nquads/read.ts';
import type { Statement } from '../../../../src/nquads/statement.ts';
import { type EdgeElement, elementsOf, type NodeElement } from '../../../../src/property-graph/elements.ts';
import type { PropertyGraphOptions } from '../../../../src/property-graph/names.ts';
import { namesOf } from '../../../../src/property-graph/names.ts';
import { type PropertyValue, textOf, valuesOf } from '../../../../src/property-graph/values.ts';
import type { GraphHeader } from '../../../../src/sinks/sink.ts';

const XSD = 'http://www.w3.org/2001/XMLSchema#';
const TYPE = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>';

/** What is compared: kinds and texts of values, in any order. */
export interface Plain {
  readonly labels: readonly string[];
  readonly graphs: readonly string[];
  readonly properties: Readonly<Record<string, readonly string[]>>;
}

const shownValue = (value: PropertyValue): string => `${typeof value === 'object' ? value.kind : typeof value} ${textOf(value)}`;

export const plainOf = ({ labels, graphs, properties }: NodeElement): Plain => ({
  labels: [...labels].sort(),
  graphs: [...graphs].sort(),
  properties: Object.fromEntries(
    [...properties].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, property]) => [name, valuesOf(property).map(shownValue).sort()]),
  ),
});

/** What a file can say of these nodes: a column has one type. */
function asColumns(nodes: readonly NodeElement[], header: GraphHeader): readonly NodeElement[] {
  const columns = new Map<string, { kinds: Set<string>; safe: boolean; list: boolean }>();
  for (const { properties } of nodes) {
    for (const [name, property] of properties) {
      const column = columns.get(name) ?? { kinds: new Set(), safe: true, list: false };
      columns.set(name, column);
      for (const value of valuesOf(property)) {
        column.kinds.add(shownValue(value).split(' ')[0] as string);
        if (typeof value === 'bigint' && !Number.isSafeInteger(Number(value))) column.safe = false;
      }
      column.list ||= Array.isArray(property);
    }
  }
  return nodes.map((node) => {
    const properties = new Map<string, PropertyValue | readonly PropertyValue[]>();
    for (const [name, property] of node.properties) {
      const { kinds, safe, list } = columns.get(name) as { kinds: Set<string>; safe: boolean; list: boolean };
      const numbers = [...kinds].every((kind) => kind === 'bigint' || kind === 'number') && safe;
      const values = valuesOf(property).map((value) => (kinds.size === 1 ? value : numbers ? Number(value) : textOf(value)));
      if (header === 'neo4j' && list && values.length === 1 && values[0] === '') continue;
      properties.set(name, values);
    }
    return { ...node, properties };
  });
}

/** A small generator with a seed, so that a failure can be repeated. */
function dice(seed: number) {
  let state = (seed * 2654435761) >>> 0 || 1;
  const below = (n: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  return { below, pick: <T>(of: readonly T[]): T => of[below(of.length)] as T };
}

const TEXTS = [
  '',
  'a',
  ';',
  'a;b',
  '|',
  'x|y',
  '\\\\',
  '\\\\;',
  '\\"',
  '\\"q\\",',
  ',',
  '\\n',
  'a\\r\\nb',
  '\\r',
  ' lead',
  'ü',
  '日本 𝄞',
  '\u2028',
  '\\t',
  '0',
  'true',
  '-',
];
const TYPED: readonly (readonly [string, readonly string[]])[] = [
  ['integer', ['0', '-7', '9223372036854775807', '9007199254740993', '99999999999999999999', 'x']],
  ['double', ['1.5', '1E300', 'NaN', 'INF', '-INF', '-0', '5']],
  ['decimal', ['0.5', '10', '3.14159265358979323846']],
  ['boolean', ['true', '0', 'maybe']],
  ['date', ['2020-02-29', '-0044-03-15', '12345-01-01', '2020-01-01Z']],
  ['dateTime', ['2020-01-02T03:04:05', '2020-01-02T03:04:05.123456789Z', '2020-01-02T03:04:05+05:30', '10000-01-01T00:00:00Z']],
  ['time', ['03:04:05', '03:04:05.5-01:00']],
  ['duration', ['P1Y2M3DT4H5M6.7S', '-P1D', 'PT0S', '-PT0.5S']],
];

/** N-Quads of a few subjects, full of what CSV files make trouble with; `space` begins their IRIs. */
export function inventQuads(seed: number, space = 'http://e/'): string {
  const { below, pick } = dice(seed);
  const resource = (): string => pick([`<${space}s${below(12)}>`, `<${space}s${below(12)}>`, `_:b${below(4)}`]);
  const literal = (): string => {
    if (below(2) === 0) return `"${pick(TEXTS)}"${pick(['', '', '@en', '@de-AT'])}`;
    const [type, texts] = pick(TYPED);
    return `"${pick(texts)}"^^<${XSD}${type}>`;
  };
  /** Some have values of one type only. */
  const property = (): string => {
    const type = below(TYPED.length);
    const [name, texts] = TYPED[type] as (typeof TYPED)[number];
    return below(2) === 0
      ? `<http://e/${name}> "${texts[0]}"^^<${XSD}${name}>`
      : `<http://e/${pick(['p', 'q', 'iri', 'graph', 'a:b', '', 'läng'])}> ${literal()}`;
  };
  const graph = (): string => pick(['', '', '<http://g/1>', '<http://g/2>', '_:g']);
  let quads = '';
  for (let i = 0, many = 1 + below(150); i < many; i++) {
    const rest = pick([
      property,
      property,
      () => `<http://e/${pick(['knows', 'likes'])}> ${resource()}`,
      () => `${TYPE} <http://e/${pick(['C', 'D', 'Resource', 'x;y'])}>`,
    ])();
    quads += `${resource()} ${rest} ${graph()} .\n`;
  }
  return quads;
}

export async function statementsOf(quads: string): Promise<readonly Statement[]> {
  const all: Statement[] = [];
  const bytes = (async function* () {
    yield Buffer.from(quads);
  })();
  for await (const { statements } of readStatements(bytes, { input: 'quads.nq', skolem: undefined })) all.push(...statements);
  return all;
}

/** What files with this header say of the statements: nodes by key, and edges in order. */
export async function graphOf(
  quads: string,
  header: GraphHeader,
  options: PropertyGraphOptions,
): Promise<{ readonly nodes: ReadonlyMap<string, Plain>; readonly edges: readonly string[] }> {
  const { nodes, edges } = elementsOf(await statementsOf(quads), namesOf(options));
  const found = new Map(asColumns(nodes, header).map((node) => [node.iri, plainOf(node)]));
  for (const { to } of edges) if (!found.has(to)) found.set(to, { labels: [], graphs: [''], properties: {} });
  return { nodes: found, edges: shownEdges(edges) };
}

export const shownEdges = (edges: readonly EdgeElement[]): readonly string[] =>
  edges.map(({ from, to, type, graph }) => [from, to, type, graph].join(' ')).sort();
