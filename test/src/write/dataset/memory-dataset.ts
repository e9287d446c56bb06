/** A dataset in memory, and random versions of it with statements that stores may take for one. */
import { subjectAt } from '../../../../src/nquads/terms.ts';
import type { WrittenDataset } from '../../../../src/write/dataset/request.ts';
import type { Random } from '../../../support/random.ts';

export interface MemoryDataset extends WrittenDataset {
  /** Makes a version. */
  push(graph: readonly string[]): void;
  /** Removes the oldest versions. */
  keep(count: number): void;
  /** Lines of a version. */
  of(version: number): readonly string[];
  versions: readonly number[];
  current: number;
}

const subjectOf = (line: string): string => subjectAt(line, 0);

/** Triples that are terms, here never of each other. */
const triplesIn = (line: string): readonly string[] => line.match(/<< .*? >>/g) ?? [];

export function memoryDataset(id = '00000000-0000-4000-8000-000000000001', name = 'people'): MemoryDataset {
  const graphs: (readonly string[])[] = [[]];
  const minus = (one: readonly string[], other: readonly string[]): readonly string[] => {
    const known = new Set(other);
    return one.filter((line) => !known.has(line));
  };
  const linesOf = (version: number, kind: 'added' | 'removed' | 'kept' | 'base'): readonly string[] => {
    const [old, fresh] = [graphs[version - 1] as readonly string[], graphs[version] as readonly string[]];
    const removed = minus(old, fresh);
    const touched = new Set(removed.map(subjectOf));
    const triples = new Set(removed.flatMap(triplesIn));
    if (kind === 'base') return fresh;
    if (kind === 'removed') return removed;
    if (kind === 'added') return minus(fresh, old);
    const isKept = (line: string): boolean => touched.has(subjectOf(line)) || triplesIn(line).some((triple) => triples.has(triple));
    return fresh.filter(isKept);
  };
  const made: MemoryDataset = {
    description: { id, name },
    versions: [],
    current: 0,
    push(graph) {
      graphs.push(graph);
      made.current = graphs.length - 1;
      made.versions = [...made.versions, made.current];
    },
    keep: (count) => void (made.versions = made.versions.slice(-count)),
    of: (version) => graphs[version] as readonly string[],
    manifest: async (version) => ({ previous: version - 1, removed: linesOf(version, 'removed').length }),
    async *lines(version, kind) {
      const lines = linesOf(version, kind);
      for (let at = 0; at < lines.length; at += 7) yield lines.slice(at, at + 7).join('');
    },
    async *graph(version) {
      yield (graphs[version] as readonly string[]).join('');
    },
  };
  return made;
}

const INTEGER = '<http://www.w3.org/2001/XMLSchema#integer>';
export const GRAPH = 'http://e/g1';

/** @param triples whether triples are terms of some */
function lineOf(random: Random, triples: boolean): string {
  const subject = (): string => `<http://e/s${random.between(0, 4)}>`;
  const blank = (): string => `_:q${'0123456789abcdef'.repeat(2)}r${random.between(0, 2)}`;
  const predicate = (): string => `<http://e/p${random.between(0, 1)}>`;
  const object = (): string =>
    random.pick([
      () => `${random.pick(['"1"', '"01"', '"+1"', '"2"'])}^^${INTEGER}`,
      () => random.pick(['"a"@en', '"a"@EN', '"b"@en']),
      () => random.pick(['"1"', '"01"', '"a"', '"\\"\\n\\\\"', '"\u00c3\u00a4"']),
      () => random.pick([subject, subject, blank])(),
    ])();
  const quoted = (): string =>
    `<< <http://e/s0> <http://e/p0> ${random.pick(['"a"', `"1"^^${INTEGER}`, `"01"^^${INTEGER}`, '<http://e/s1>', '_:q0123456789abcdef0123456789abcdefr0'])} >>`;
  const first = triples && random.chance(0.2) ? quoted() : random.pick([subject, subject, subject, blank])();
  const last = triples && random.chance(0.1) ? quoted() : object();
  return `${first} ${predicate()} ${last} ${random.pick(['', '', `<${GRAPH}> `, '<http://e/g2> '])}.\n`;
}

/** The next version of a graph. */
export function editedGraph(random: Random, graph: readonly string[], triples: boolean): readonly string[] {
  if (random.chance(0.05)) return [];
  const stays = random.pick([0, 0.5, 0.9, 1]);
  const next = new Set(graph.filter(() => random.chance(stays)));
  for (let i = random.between(0, 25); i > 0; i--) next.add(lineOf(random, triples));
  return random.shuffle([...next]);
}
