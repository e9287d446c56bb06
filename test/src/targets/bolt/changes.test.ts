/** Changes of datasets in a property graph in memory; `changes.soak.test.ts` has a real one. */
import { expect, test } from '@jest/globals';
import { BLANK_NAMES, described } from '../../../../src/nquads/described.ts';
import type { Statement } from '../../../../src/nquads/statement.ts';
import { namesOf, type PropertyGraphOptions } from '../../../../src/property-graph/names.ts';
import { changeInto } from '../../../../src/targets/bolt/change.ts';
import type { BoltConnection } from '../../../../src/targets/bolt/connect.ts';
import { versionsOver } from '../../../../src/targets/bolt/versions.ts';
import { insertInto } from '../../../../src/targets/bolt/write.ts';
import type { VersionBatch } from '../../../../src/targets/target.ts';
import { Random, seeds } from '../../../support/random.ts';
import { ModelGraph } from './model.ts';
import { TYPE } from './oracle.ts';

const SIGNAL = new AbortController().signal;
const XSD = 'http://www.w3.org/2001/XMLSchema#';
const [G, H] = ['<http://example.org/g>', '<http://example.org/h>'];
const SUBJECTS = Array.from({ length: 5 }, (_, i) => `<http://example.org/s${i}>`);
/** Different predicates and classes have one name, and different literals one value. */
const PREDICATES = ['<http://a.org/p>', '<http://b.org/p>', '<http://a.org/q>', '<http://a.org/p@en>', '<http://a.org/constructor>'];
const CLASSES = ['<http://a.org/C>', '<http://b.org/C>', '<http://a.org/D>'];
const LITERALS = [
  ...['"1"', '"one"', '"one"@en', '"one"@fr', '""@en'],
  ...[
    ['1', 'integer'],
    ['01', 'int'],
    ['1', 'decimal'],
    ['2.5', 'double'],
    ['-0', 'double'],
    ['0', 'double'],
    ['2026-01-31', 'date'],
    ['2026-01-31', 'string'],
    ['9007199254740993', 'long'],
  ].map(([text, name]) => `"${text}"^^<${XSD}${name}>`),
];

const statement = (subject: string, predicate: string, object: string, graph = ''): Statement => ({
  subject,
  predicate,
  object,
  graph,
  line: 0,
});
const lineOf = ({ subject, predicate, object, graph }: Statement): string => `${subject} ${predicate} ${object} ${graph}`;

function randomStatement(random: Random): Statement {
  const graph = random.pick(['', '', G, H]);
  const node = (): string => (random.chance(0.25) ? triple() : random.pick(SUBJECTS));
  const triple = (): string => `<< ${node()} ${random.pick(PREDICATES.slice(2))} ${random.pick([...SUBJECTS.slice(3), '"1"'])} >>`;
  if (random.chance(0.2)) return statement(node(), TYPE, random.pick(CLASSES), graph);
  return statement(node(), random.pick(PREDICATES), random.chance(0.5) ? random.pick(LITERALS) : node(), graph);
}

/** The triples that a statement has as terms, also within each other. */
function triplesIn({ subject, object }: Statement): readonly string[] {
  const inner = (term: string): readonly string[] => (term.startsWith('<< ') ? [term, ...inner(term.slice(3))] : []);
  return [...inner(subject), ...inner(object)].map((term) => term.replace(/(?: >>)+.*$/, ''));
}

type Version = ReadonlyMap<string, Statement>;

function edited(random: Random, before: Version): Version {
  const gone = random.chance(0.2) ? random.pick(SUBJECTS) : undefined;
  const share = random.pick([0.05, 0.3, 1]);
  const stays = [...before.values()].filter(({ subject }) => subject !== gone && !random.chance(share));
  const added = Array.from({ length: random.between(0, random.pick([2, 15])) }, () => randomStatement(random));
  return new Map([...stays, ...added].map((one) => [lineOf(one), one]));
}

/** The changes as a dataset gives them, with the subjects of triples that are nodes, in batches of whole subjects. */
function batchesOf(random: Random, before: Version, after: Version): readonly VersionBatch[] {
  const removed = [...before].flatMap(([line, one]) => (after.has(line) ? [] : [one]));
  const added = [...after].flatMap(([line, one]) => (before.has(line) ? [] : [one]));
  const subjects = new Set(removed.map(({ subject }) => subject));
  const triples = new Set(removed.flatMap(triplesIn));
  const kept = [...after.values()].filter((one) => subjects.has(one.subject) || triplesIn(one).some((triple) => triples.has(triple)));
  const batches = Array.from(
    { length: random.between(1, 4) },
    () => ({ removed: [], added: [], kept: [] }) as Record<'removed' | 'added' | 'kept', Statement[]>,
  );
  const batchOf = new Map<string, (typeof batches)[number]>();
  for (const [kind, statements] of Object.entries({ removed, added, kept }) as [keyof (typeof batches)[number], readonly Statement[]][])
    for (const one of statements.flatMap((each) => described(each, BLANK_NAMES))) {
      const batch = batchOf.get(one.subject) ?? random.pick(batches);
      batchOf.set(one.subject, batch);
      batch[kind].push(one);
    }
  return batches;
}

const fresh = async (version: Version, names: ReturnType<typeof namesOf>): Promise<readonly string[]> => {
  const graph = new ModelGraph();
  await insertInto(
    graph,
    [...version.values()].flatMap((one) => described(one, BLANK_NAMES)),
    names,
  );
  return graph.content();
};

test.each(seeds(1, 30))('versions give what a fresh load of the last one gives (seed %d)', async (seed) => {
  const random = new Random(seed);
  const names = namesOf({ prefixes: random.chance(0.5) ? { a: 'http://a.org/' } : {}, keepLanguage: random.chance(0.5) });
  const graph = new ModelGraph();
  let before: Version = new Map();
  for (let version = 1; version <= 12; version++) {
    const after = edited(random, before);
    const batches = batchesOf(random, before, after);
    for (const batch of batches) {
      await changeInto(graph, batch, names);
      if (random.chance(0.2)) await changeInto(graph, random.pick(batches.slice(0, batches.indexOf(batch) + 1)), names);
    }
    const expected = await fresh(after, names);
    expect(graph.content()).toEqual(expected);
    for (const batch of random.shuffle(batches)) await changeInto(graph, batch, names);
    expect(graph.content()).toEqual(expected);
    before = after;
  }
});

test('the position is that of the newest version, and depends on how things are named', async () => {
  const graph = new ModelGraph();
  const connection = { transaction: (work: (model: ModelGraph) => unknown) => work(graph) } as unknown as BoltConnection;
  const versionsOf = (options: PropertyGraphOptions) => versionsOver(connection, namesOf(options), options, () => undefined);
  const options = { prefixes: { a: 'http://a.org/' }, keepLanguage: true };
  const { change, positions } = versionsOf(options);
  const added = [statement(SUBJECTS[0] as string, PREDICATES[0] as string, '"1"')];
  const first = { version: 1, complete: false, form: 'form' };
  await change({ removed: [], added, kept: [] }, first, { id: 'one', name: 'people' }, SIGNAL);
  expect(await positions(SIGNAL)).toEqual([{ id: 'one', name: 'people', ...first }]);
  const second = { version: 2, complete: true, form: 'other' };
  for (const id of ['one', 'two']) await change({ removed: added, added: [], kept: [] }, second, { id, name: 'people' }, SIGNAL);
  expect(await positions(SIGNAL)).toEqual([{ id: 'two', name: 'people', ...second }]);
  const [other] = await versionsOf({ ...options, keepLanguage: false }).positions(SIGNAL);
  expect(other?.form).not.toBe('other');
  expect(graph.content()).toEqual([]);
});
