/** A real Neo4j: what the graph writer makes of statements, in every mode and scope, against an oracle. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Driver } from 'neo4j-driver';
import { toBytes } from '../../../../src/core/text.ts';
import type { Statement } from '../../../../src/nquads/statement.ts';
import type { PropertyGraphOptions } from '../../../../src/property-graph/names.ts';
import { boltTarget } from '../../../../src/targets/bolt/bolt.ts';
import type { GraphTarget } from '../../../../src/targets/target.ts';
import { writeTo } from '../../../../src/write/write.ts';
import { missingNeo4j, NEO4J_LOGIN, type Neo4jServer, startNeo4j } from '../../../servers/stores/neo4j.ts';
import { secretLogin } from '../../../support/secrets.ts';
import { listening, workspace } from '../../write/writing.ts';
import {
  cut,
  cutWhole,
  differences,
  emptyStore,
  expectedGraph,
  inSession,
  LITERALS,
  openDriver,
  randomNumbers,
  randomStatements,
  storedGraph,
  TYPE,
} from './oracle.ts';

const missing = await missingNeo4j();
const SIGNAL = new AbortController().signal;
const G = '<http://example.org/g>';
const H = '<http://example.org/h>';
const [A, B, C] = ['<http://example.org/a>', '<http://example.org/b>', '<http://example.org/c>'];
const [KNOWS, LIKES, NAME, AGE] = ['knows', 'likes', 'name', 'age'].map((name) => `<http://example.org/p/${name}>`) as [
  string,
  string,
  string,
  string,
];
const PERSON = '<http://example.org/class#Person>';
const [SEVEN, EIGHT] = [LITERALS.age?.[0]?.[0], LITERALS.age?.[1]?.[0]] as [string, string];

const statement = (subject: string, predicate: string, object: string, graph = ''): Statement => ({
  subject,
  predicate,
  object,
  graph,
  line: 0,
});

(missing === undefined ? describe : describe.skip)(`Neo4j${missing === undefined ? '' : ` (not tested: ${missing})`}`, () => {
  let server: Neo4jServer;
  let driver: Driver;
  let target: GraphTarget;

  const open = (propertyGraph: PropertyGraphOptions): Promise<GraphTarget> =>
    boltTarget({
      type: 'neo4j',
      endpoint: server.url,
      ...secretLogin(NEO4J_LOGIN),
      ca: undefined,
      requestSeconds: 120,
      connectSeconds: 10,
      database: undefined,
      propertyGraph,
    });

  beforeAll(async () => {
    const started = await startNeo4j();
    if ('skip' in started) throw new Error(started.skip);
    server = started;
    driver = openDriver(server.url, NEO4J_LOGIN);
    target = await open({ prefixes: {}, keepLanguage: true });
    await target.prepare(SIGNAL);
    await target.prepare(SIGNAL);
  }, 600_000);
  afterAll(async () => {
    await target?.close();
    await driver?.close();
    await server?.stop();
  });
  beforeEach(() => emptyStore(driver), 60_000);

  const insert = async (statements: readonly Statement[]): Promise<void> => target.insert(statements, SIGNAL);
  const replace = (scope: 'property' | 'subject', ...statements: readonly Statement[]): Promise<void> =>
    target.replace(statements, scope, SIGNAL);
  const holds = async (...statements: readonly Statement[]): Promise<void> =>
    expect(differences(await storedGraph(driver), expectedGraph(statements))).toEqual({ extra: [], missing: [] });
  /** What a query gives in one column. */
  const ask = (cypher: string): Promise<readonly unknown[]> =>
    inSession(driver, async (session) => (await session.run(cypher)).records.map((record) => record.get(0)));

  test('says which product it is', async () => {
    expect(await target.probe(SIGNAL)).toEqual({ product: 'Neo4j 5.26.30', milliseconds: expect.any(Number) });
    expect(target.describe()).toBe(`property graph at ${server.url}`);
  });

  describe('insert', () => {
    test('every kind of literal becomes its native type', async () => {
      const statements = Object.entries(LITERALS).flatMap(([name, values]) =>
        values.map(([term]) => statement(A, `<http://example.org/p/${name}>`, term)),
      );
      await insert(statements);
      await holds(...statements);
      // One by one the lists grow, and the mixed one becomes text on the way.
      await emptyStore(driver);
      for (const one of statements) await insert([one]);
      await holds(...statements);
    }, 120_000);

    test.each([
      ['in the default graph', ['']],
      ['in several graphs', ['', G, H]],
    ])(
      'random statements %s, in batches that cut subjects, are what the oracle says; again changes nothing',
      async (_, graphs) => {
        const statements = randomStatements({ subjects: 400, seed: 11, graphs });
        for (const part of cut(statements, 257)) await insert(part);
        await holds(...statements);
        const before = await ask('MATCH (n) RETURN elementId(n) ORDER BY elementId(n)');
        for (const part of cut(statements, 401)) await insert(part);
        await holds(...statements);
        expect(await ask('MATCH (n) RETURN elementId(n) ORDER BY elementId(n)')).toEqual(before);
      },
      120_000,
    );

    test('in whatever order statements come', async () => {
      const statements = randomStatements({ subjects: 150, seed: 5, graphs: ['', G] });
      const random = randomNumbers(3);
      const shuffled = statements.map((one) => [random(1e6), one] as const).sort(([a], [b]) => a - b);
      const parts = cut(
        shuffled.map(([, one]) => one),
        40,
      );
      for (const part of parts) await insert(part);
      await holds(...statements);
    }, 120_000);

    test('four writers of overlapping batches never wait for each other in a circle', async () => {
      const statements = randomStatements({ subjects: 1_000, seed: 23 });
      const random = randomNumbers(17);
      await Promise.all(
        Array.from({ length: 4 }, async () => {
          const parts = cut(statements, 300)
            .map((part) => [random(1e6), part] as const)
            .sort(([a], [b]) => a - b);
          for (const [, part] of parts) await insert(part);
        }),
      );
      await holds(...statements);
    }, 180_000);

    test('a subject in a graph and in the default graph says so', async () => {
      await insert([statement(A, NAME, '"Ann"')]);
      await insert([statement(A, AGE, SEVEN, G)]);
      expect(await ask('MATCH (n) RETURN n.graph')).toEqual([['', 'http://example.org/g']]);
      await holds(statement(A, NAME, '"Ann"'), statement(A, AGE, SEVEN, G));
    });

    test('names that Cypher would not take, and text of every script, arrive as they are', async () => {
      const strange = ['first-name', 'a.b', "it's", '1st', 'Größe', '名前', 'x(y)', '$p', '%60', '*'];
      const statements = strange.flatMap((name) => [
        statement(A, toBytes(`<http://example.org/p/${name}>`), toBytes(`"${name} 🚀"`)),
        statement(A, toBytes(`<http://example.org/p/${name}>`), toBytes(`<http://example.org/${name}>`)),
        statement(A, TYPE, toBytes(`<http://example.org/class#${name}>`)),
      ]);
      await insert(statements);
      await insert(statements);
      const [labels] = (await ask('MATCH (n {iri: "http://example.org/a"}) RETURN labels(n)')) as [readonly string[]];
      expect([...labels].sort()).toEqual(['Resource', ...strange].sort());
      const [properties] = (await ask('MATCH (n {iri: "http://example.org/a"}) RETURN properties(n)')) as [Record<string, unknown>];
      for (const name of strange) expect(properties[name]).toBe(`${name} 🚀`);
      const types = await ask('MATCH ()-[r]->() RETURN type(r) ORDER BY type(r)');
      expect(types).toEqual([...strange].sort((a, b) => (a < b ? -1 : 1)));
    });

    test('labels that another client has given are taken away by name, however they are written', async () => {
      await insert([statement(A, TYPE, PERSON)]);
      await inSession(driver, (session) => session.run('MATCH (n) SET n:`odd``\\u005Cu0060 label`'));
      await replace('property', statement(A, TYPE, '<http://example.org/class#Agent>'));
      await holds(statement(A, TYPE, '<http://example.org/class#Agent>'));
    });

    test('languages share a property where they are not kept, and prefixes keep names apart', async () => {
      const own = await open({ prefixes: { ex: 'http://example.org/p/' }, keepLanguage: false });
      try {
        await own.insert(
          [statement(A, NAME, '"one"@en'), statement(A, NAME, '"un"@fr'), statement(A, '<http://other.org/name>', '"x"')],
          SIGNAL,
        );
        expect(await ask('MATCH (n) RETURN properties(n)')).toEqual([{ iri: 'http://example.org/a', ex_name: ['one', 'un'], name: 'x' }]);
        expect(own.warnings?.()).toEqual([]);
        await own.insert([statement(A, '<http://third.org/name>', '"y"')], SIGNAL);
        expect(own.warnings?.()).toEqual([expect.stringContaining('http://other.org/name and http://third.org/name are both named name')]);
      } finally {
        await own.close();
      }
    });

    test('an IRI that no index takes is refused, and nothing of its batch written', async () => {
      const long = `<http://example.org/${'x'.repeat(8_200)}>`;
      for (const bad of [statement(long, NAME, '"x"'), statement(A, KNOWS, long)])
        await expect(insert([statement(A, NAME, '"Ann"'), bad])).rejects.toMatchObject({ code: 'target/refused' });
      await holds();
      const longest = `<http://example.org/${'é'.repeat(3_990)}>`;
      await insert([statement(toBytes(longest), NAME, '"Ann"')]);
      await holds(statement(longest, NAME, '"Ann"'));
    });
  });

  describe('update of properties', () => {
    const present = [
      statement(A, TYPE, PERSON),
      statement(A, NAME, '"Ann"'),
      statement(A, '<http://example.org/p/label>', '"one"@en'),
      statement(A, '<http://example.org/p/label>', '"un"@fr'),
      statement(A, AGE, SEVEN),
      statement(A, KNOWS, B),
      statement(A, KNOWS, C),
      statement(A, KNOWS, C, G),
      statement(A, LIKES, B),
    ];
    const without = (...gone: readonly number[]): readonly Statement[] => present.filter((_, i) => !gone.includes(i));
    beforeEach(() => insert(present), 60_000);

    test.each<[string, readonly Statement[], readonly number[]]>([
      ['a value', [statement(A, NAME, '"B\\"o\\\\b\\n"')], [1]],
      ['a value by several', [statement(A, AGE, SEVEN), statement(A, AGE, EIGHT)], [4]],
      ['the texts of all languages', [statement(A, '<http://example.org/p/label>', '"ein"@de')], [2, 3]],
      ['classes', [statement(A, TYPE, '<http://example.org/class#Agent>')], [0]],
      ['relationships, in their graph alone', [statement(A, KNOWS, C)], [5]],
      ['relationships by a value', [statement(A, LIKES, '"x"@en')], [8]],
      ['a value by a relationship', [statement(A, NAME, B)], [1]],
      ['nothing of another subject', [statement(B, NAME, '"Ann"')], []],
      ['relationships of a graph', [statement(A, KNOWS, A, G)], [7]],
    ])('replaces %s', async (_, statements, gone) => {
      for (let times = 0; times < 2; times++) {
        await replace('property', ...statements);
        await holds(...without(...gone), ...statements);
      }
    });

    test('a property has no graph: what another graph said of it goes, too', async () => {
      await replace('property', statement(A, NAME, '""', G));
      await holds(...without(1), statement(A, NAME, '""', G));
    });

    test('a node goes when nothing is left of it, and stays while anybody speaks of it', async () => {
      await replace('property', statement(A, LIKES, A));
      await replace('property', statement(A, KNOWS, A));
      await holds(...without(5, 6, 8), statement(A, LIKES, A), statement(A, KNOWS, A));
      await replace('property', statement(A, KNOWS, A, G));
      await holds(...without(5, 6, 7, 8), statement(A, LIKES, A), statement(A, KNOWS, A), statement(A, KNOWS, A, G));
    });
  });

  describe('update of subjects', () => {
    test('leaves nothing of a subject but what is given', async () => {
      await insert([
        statement(A, TYPE, PERSON),
        statement(A, NAME, '"Ann"'),
        statement(A, KNOWS, B),
        statement(A, LIKES, C),
        statement(B, NAME, '""'),
      ]);
      await replace('subject', statement(A, AGE, SEVEN), statement(A, LIKES, B));
      await holds(statement(A, AGE, SEVEN), statement(A, LIKES, B), statement(B, NAME, '""'));
    });

    test('a subject that is also in another graph keeps what may belong to that graph', async () => {
      await insert([statement(A, NAME, '"Ann"', H), statement(A, KNOWS, B, H), statement(A, KNOWS, B, G), statement(A, AGE, SEVEN, G)]);
      await replace('subject', statement(A, AGE, EIGHT, G));
      await holds(statement(A, NAME, '"Ann"', H), statement(A, KNOWS, B, H), statement(A, AGE, EIGHT, G));
    });

    test('of random statements gives what a fresh load gives', async () => {
      const before = randomStatements({ subjects: 300, seed: 41 });
      const after = randomStatements({ subjects: 300, seed: 42 });
      for (const part of cut(before, 300)) await insert(part);
      for (const part of cutWhole(after, 250)) await replace('subject', ...part);
      await holds(...after);
      for (const part of cutWhole(after, 400)) await replace('subject', ...part);
      await holds(...after);
    }, 120_000);

    test.each([52, 53, 54])(
      'four at once over shared objects, tried again where they met (%i)',
      async (seed) => {
        const before = randomStatements({ subjects: 150, seed: 51 });
        const after = randomStatements({ subjects: 150, seed });
        for (const part of cut(before, 1_000)) await insert(part);
        const parts = [...cutWhole(after, 40)];
        await Promise.all(
          Array.from({ length: 4 }, async () => {
            for (let part = parts.pop(); part !== undefined; part = parts.pop())
              for (let tries = 0; ; tries++)
                try {
                  await replace('subject', ...part);
                  break;
                } catch (error) {
                  if ((error as { code?: string }).code !== 'target/busy' || tries > 50) throw error;
                }
          }),
        );
        await holds(...after);
      },
      180_000,
    );
  });

  describe('update of graphs', () => {
    const fill = async (graph: string, key: string, statements: readonly Statement[]) => {
      const replacement = await target.replaceGraph(graph, key, SIGNAL);
      for (const part of cut(statements, 100)) await replacement.insert(part, SIGNAL);
      return replacement;
    };
    const visible = (): Promise<readonly unknown[]> => ask('MATCH (n:Resource) RETURN n.iri ORDER BY n.iri');

    test.each([
      ['a named graph', G],
      ['the default graph', ''],
    ])(
      '%s becomes what is given, out of sight until the end',
      async (_, graph) => {
        const before = randomStatements({ subjects: 120, seed: 61, graphs: [graph] });
        const after = randomStatements({ subjects: 150, seed: 62, graphs: [graph] });
        for (const part of cut(before, 500)) await insert(part);
        const replacement = await fill(graph, 'key', after);
        const shown = await visible();
        expect(shown).toEqual([...expectedGraph(before).nodes.keys()].sort());
        await replacement.commit(SIGNAL);
        await holds(...after);
        await replacement.commit(SIGNAL);
        await holds(...after);
      },
      120_000,
    );

    test.each<[what: string, lines: string]>([
      ['without statements', ''],
      [
        'with statements of another graph',
        '<http://example.org/c> <http://example.org/p/knows> <http://example.org/a> <http://example.org/new> .\n',
      ],
    ])('graphs that are named are emptied by a file %s, and others stay', async (_, lines) => {
      const space = workspace();
      const stay = [statement(A, NAME, '"Ann"', H), statement(A, KNOWS, B, H), statement(C, TYPE, PERSON)];
      const added = lines === '' ? [] : [statement(C, KNOWS, A, '<http://example.org/new>')];
      const gone = randomStatements({ subjects: 50, seed: 67, graphs: [G] }).map((one) => ({
        ...one,
        subject: one.subject.replace('>', '-gone>'),
      }));
      try {
        await insert([...stay, ...gone]);
        const named = { mode: 'update', scope: 'graph', graphs: ['http://example.org/g'] } as const;
        const request = space.request([space.file('named.nq', lines)], named);
        for (const runId of ['first', 'again']) {
          await writeTo(target, { ...request, runId }, listening());
          await holds(...stay, ...added);
        }
      } finally {
        space.remove();
      }
    });

    test('other graphs stay, nodes that both describe keep what they have', async () => {
      const other = [statement(A, NAME, '"Ann"', H), statement(A, KNOWS, B, H), statement(C, TYPE, PERSON)];
      await insert([
        ...other,
        statement(A, AGE, SEVEN, G),
        statement(B, NAME, '""', G),
        statement(A, KNOWS, B, G),
        statement(B, LIKES, C, G),
      ]);
      await (await fill(G, 'key', [statement(B, LIKES, A, G)])).commit(SIGNAL);
      const { nodes, edges } = expectedGraph([...other, statement(B, LIKES, A, G)]);
      const shared = JSON.stringify([
        ['Resource'],
        [
          ['age', 'bigint 7'],
          ['graph', 'string http://example.org/h'],
          ['iri', 'string http://example.org/a'],
          ['name', 'string Ann'],
        ],
      ]);
      expect(await storedGraph(driver)).toEqual({ nodes: new Map(nodes).set('http://example.org/a', shared), edges });
    });

    test('given up, it leaves nothing behind; begun again, the earlier try is forgotten', async () => {
      const present = [statement(A, NAME, '"Ann"', G)];
      await insert(present);
      await (await fill(G, 'one', [statement(B, NAME, '""', G)])).abort();
      await holds(...present);
      await fill(G, 'two', [statement(B, NAME, '""', G)]);
      await (await fill(G, 'two', [statement(C, NAME, '""', G)])).commit(SIGNAL);
      await holds(statement(C, NAME, '""', G));
    });

    test('an empty one empties the graph', async () => {
      await insert([statement(A, NAME, '"Ann"', G), statement(A, KNOWS, B, G), statement(C, NAME, '"Ann"')]);
      await (await fill(G, 'key', [])).commit(SIGNAL);
      await holds(statement(C, NAME, '"Ann"'));
    });
  });
});
