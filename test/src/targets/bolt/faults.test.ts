/** What goes wrong between the graph writer and a real Neo4j: logins, TLS, read-only, silence, kill -9, neighbours. */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Driver } from 'neo4j-driver';
import { Fault } from '../../../../src/core/fault.ts';
import type { Statement } from '../../../../src/nquads/statement.ts';
import { boltTarget } from '../../../../src/targets/bolt/bolt.ts';
import type { GraphTarget, TargetAddress } from '../../../../src/targets/target.ts';
import { missingNeo4j, NEO4J_LOGIN, type Neo4jServer, startNeo4j } from '../../../servers/neo4j.ts';
import { freePort } from '../../../servers/port.ts';
import { cut, differences, emptyStore, expectedGraph, inSession, openDriver, randomStatements, storedGraph, TYPE } from './oracle.ts';

const missing = await missingNeo4j();
const SIGNAL = new AbortController().signal;
const NAME = '<http://example.org/p/name>';
const KNOWS = '<http://example.org/p/knows>';
const statement = (subject: string, predicate: string, object: string): Statement => ({ subject, predicate, object, graph: '', line: 0 });
const ANN = statement('<http://example.org/a>', NAME, '"Ann"');

const SETTINGS = { 'dbms.security.auth_max_failed_attempts': '0', 'db.memory.transaction.max': '20m' };

(missing === undefined ? describe : describe.skip)(`Neo4j in trouble${missing === undefined ? '' : ` (not tested: ${missing})`}`, () => {
  let server: Neo4jServer;
  let driver: Driver;
  let opened: GraphTarget[];

  const open = async (address: Partial<TargetAddress> = {}): Promise<GraphTarget> => {
    const target = await boltTarget({
      type: 'neo4j',
      endpoint: server.url,
      ...NEO4J_LOGIN,
      ca: undefined,
      requestSeconds: 120,
      connectSeconds: 10,
      database: undefined,
      propertyGraph: { prefixes: {}, keepLanguage: true },
      ...address,
    });
    opened.push(target);
    return target;
  };
  const holds = async (...statements: readonly Statement[]): Promise<void> =>
    expect(differences(await storedGraph(driver), expectedGraph(statements))).toEqual({ extra: [], missing: [] });
  /** Again, as long as it may get better; gives the codes of the faults before. */
  const insist = async (act: () => Promise<void>): Promise<readonly string[]> => {
    const codes: string[] = [];
    for (;;)
      try {
        await act();
        return codes;
      } catch (error) {
        if (!(error instanceof Fault) || !error.retriable || codes.length > 500) throw error;
        codes.push(error.code);
        await sleep(100);
      }
  };

  beforeAll(async () => {
    const started = await startNeo4j({ tls: true, settings: SETTINGS });
    if ('skip' in started) throw new Error(started.skip);
    server = started;
    driver = openDriver(server.url, NEO4J_LOGIN);
    opened = [];
    const target = await open();
    await target.prepare(SIGNAL);
    await target.close();
  }, 600_000);
  afterAll(async () => {
    await driver?.close();
    await server?.stop();
  });
  beforeEach(async () => {
    opened = [];
    await emptyStore(driver);
  }, 60_000);
  afterEach(async () => {
    for (const target of opened) await target.close();
  });

  test.each<[string, () => Partial<TargetAddress>]>([
    ['a wrong password', () => ({ password: 'wrong-secret' })],
    ['no login', () => ({ username: undefined, password: undefined })],
  ])(
    '%s is told as such, by every call',
    async (_, address) => {
      const target = await open(address());
      const refusal = { code: 'target/credentials', message: expect.stringContaining(`${server.url} refuses the login`) };
      await expect(target.probe(SIGNAL)).rejects.toMatchObject(refusal);
      await expect(target.prepare(SIGNAL)).rejects.toMatchObject(refusal);
      await expect(target.insert([ANN], SIGNAL)).rejects.toMatchObject(refusal);
    },
    60_000,
  );

  test('a password in the endpoint is not shown', async () => {
    await expect(open({ endpoint: 'http://neo4j:geheim@localhost/' })).rejects.toMatchObject({
      code: 'config/invalid',
      message: expect.not.stringContaining('geheim'),
    });
  });

  test.each<[string, () => Promise<Partial<TargetAddress>>, object]>([
    [
      'nobody listens',
      async () => ({ endpoint: `bolt://127.0.0.1:${await freePort()}` }),
      { code: 'target/unreachable', message: expect.stringContaining('connection refused') },
    ],
    [
      'there is no such host',
      async () => ({ endpoint: 'bolt://no-such-host.invalid:7687' }),
      { code: 'target/unreachable', message: expect.stringContaining('no such host') },
    ],
    [
      'there is no such database',
      async () => ({ database: 'elsewhere' }),
      { code: 'config/invalid', message: expect.stringContaining('elsewhere') },
    ],
  ])(
    '%s',
    async (_, address, expected) => {
      const target = await open({ connectSeconds: 3, ...(await address()) });
      await expect(target.probe(SIGNAL)).rejects.toMatchObject(expected);
      await expect(target.insert([ANN], SIGNAL)).rejects.toMatchObject(expected);
    },
    60_000,
  );

  test('a server that is read-only says so before anything is written', async () => {
    await server.crash();
    await server.restart({ 'server.databases.default_to_read_only': 'true' });
    try {
      const target = await open();
      const refusal = { code: 'target/read-only', message: expect.stringContaining('read-only') };
      await insist(async () =>
        expect(await target.probe(SIGNAL).catch((error) => (error.retriable ? Promise.reject(error) : error))).toMatchObject(refusal),
      );
      await expect(target.insert([ANN], SIGNAL)).rejects.toMatchObject(refusal);
      await expect(target.replaceGraph('', 'key', SIGNAL)).rejects.toMatchObject(refusal);
    } finally {
      await server.crash();
      await server.restart();
    }
    await insist(
      async () => void (await storedGraph(driver).catch((cause) => Promise.reject(new Fault('target/unreachable', 'not yet', { cause })))),
    );
    await holds();
  }, 300_000);

  describe('over TLS', () => {
    const secure = (scheme: string, host = 'localhost'): string => `${scheme}://${host}:${new URL(server.url).port}`;

    test('its own authority, as a file and as text', async () => {
      const file = server.ca as string;
      for (const ca of [file, await readFile(file, 'utf8')]) {
        const target = await open({ endpoint: secure('bolt+s'), ca });
        expect(await target.probe(SIGNAL)).toMatchObject({ product: 'Neo4j 5.26.30' });
      }
      const routed = await open({ endpoint: server.url.replace('bolt:', 'neo4j:') });
      expect(await routed.probe(SIGNAL)).toMatchObject({ product: 'Neo4j 5.26.30' });
      const unchecked = await open({ endpoint: secure('bolt+ssc') });
      expect(await unchecked.probe(SIGNAL)).toMatchObject({ product: 'Neo4j 5.26.30' });
    }, 60_000);

    test.each<[string, () => Partial<TargetAddress>]>([
      ['an authority that nobody knows', () => ({ endpoint: secure('bolt+s') })],
      ['a host that the certificate does not name', () => ({ endpoint: secure('bolt+s', '127.0.0.1'), ca: server.ca })],
    ])(
      '%s is refused, with advice',
      async (_, address) => {
        const target = await open({ connectSeconds: 3, ...address() });
        await expect(target.probe(SIGNAL)).rejects.toMatchObject({
          code: 'target/unreachable',
          hint: expect.stringContaining('TRIPLESTORE_CA'),
        });
      },
      60_000,
    );

    test('certificates that cannot be read are a fault of the configuration', async () => {
      await expect(open({ endpoint: secure('bolt+s'), ca: '/no/such/file.pem' })).rejects.toMatchObject({ code: 'config/invalid' });
    });
  });

  test('a server that says nothing is waited for no longer than allowed, and takes the statements afterwards', async () => {
    const target = await open({ requestSeconds: 1 });
    await insist(() => target.insert([ANN], SIGNAL));
    server.pause();
    const begun = performance.now();
    try {
      await expect(target.insert([ANN], SIGNAL)).rejects.toMatchObject({
        code: 'target/busy',
        message: expect.stringContaining('did not answer within 1 s'),
      });
      expect(performance.now() - begun).toBeLessThan(20_000);
    } finally {
      server.resume();
    }
    await insist(() => target.insert([statement('<http://example.org/b>', NAME, '""')], SIGNAL));
    await holds(ANN, statement('<http://example.org/b>', NAME, '""'));
  }, 120_000);

  test('a target of a silent server can be closed', async () => {
    const target = await open({ requestSeconds: 1 });
    await insist(() => target.insert([ANN], SIGNAL));
    server.pause();
    try {
      await expect(target.probe(SIGNAL)).rejects.toMatchObject({ code: 'target/busy' });
      const begun = performance.now();
      await target.close();
      expect(performance.now() - begun).toBeLessThan(20_000);
    } finally {
      server.resume();
    }
  }, 120_000);

  test('an aborted call throws the reason, and what it was about is not written later', async () => {
    const target = await open();
    const reason = new Fault('run/cancelled', 'The run was cancelled');
    await expect(target.insert([ANN], AbortSignal.abort(reason))).rejects.toBe(reason);
    const controller = new AbortController();
    const statements = randomStatements({ subjects: 3_000, seed: 71 });
    const insert = target.insert(statements, controller.signal);
    setTimeout(() => controller.abort(reason), 50);
    await expect(insert).rejects.toBe(reason);
    // Whatever is under way ends before a writer that needs the same nodes gets them.
    await target.insert([ANN, ...statements.slice(0, 20)], SIGNAL);
    await holds(ANN, ...statements.slice(0, 20));
  }, 120_000);

  test('what is found wrong by the server is refused, and nothing of it written', async () => {
    const target = await open();
    await inSession(driver, (session) => session.run('CREATE CONSTRAINT one_name FOR (n:Person) REQUIRE n.name IS UNIQUE'));
    try {
      const person = (subject: string) => [
        statement(subject, TYPE, '<http://example.org/class#Person>'),
        statement(subject, NAME, '"Ann"'),
      ];
      const present = person('<http://example.org/a>');
      await target.insert(present, SIGNAL);
      const refusal = { code: 'target/refused', message: expect.stringContaining('already exists') };
      await expect(
        target.insert([statement('<http://example.org/b>', KNOWS, '<http://example.org/c>'), ...person('<http://example.org/b>')], SIGNAL),
      ).rejects.toMatchObject(refusal);
      await holds(...present);
    } finally {
      await inSession(driver, (session) => session.run('DROP CONSTRAINT one_name'));
    }
  }, 60_000);

  test('a graph that is more than the server has memory for is exchanged in several transactions, also after an interruption', async () => {
    const G = '<http://example.org/g>';
    const other = [
      statement('<http://example.org/s1>', NAME, '"Ann"'),
      statement('<http://example.org/a>', KNOWS, '<http://example.org/s2>'),
    ];
    const after = randomStatements({ subjects: 5_000, seed: 92, graphs: [G] }).filter(
      ({ subject }) => subject !== '<http://example.org/s1>',
    );
    const target = await open();
    await target.insert(other, SIGNAL);
    for (const part of cut(
      randomStatements({ subjects: 500, seed: 91, graphs: [G] }).filter(({ subject }) => subject !== '<http://example.org/s1>'),
      1_000,
    ))
      await target.insert(part, SIGNAL);
    await expect(target.insert(after, SIGNAL)).rejects.toMatchObject({
      code: 'target/busy',
      message: expect.stringContaining('db.memory.transaction.max'),
    });

    const replacement = await target.replaceGraph(G, 'key', SIGNAL);
    for (const part of cut(after, 1_500)) await replacement.insert(part, SIGNAL);
    const controller = new AbortController();
    const reason = new Fault('run/cancelled', 'The run was cancelled');
    const interrupted = expect(replacement.commit(controller.signal)).rejects.toBe(reason);
    const phase = (): Promise<unknown> =>
      inSession(driver, async (session) => (await session.run('MATCH (n) WHERE n.phase IS NOT NULL RETURN n.phase')).records[0]?.get(0));
    while ((await phase()) !== 'fill') await sleep(5);
    controller.abort(reason);
    await interrupted;
    await replacement.commit(SIGNAL);
    await holds(...other, ...after);
    await replacement.commit(SIGNAL);
    await holds(...other, ...after);
  }, 300_000);

  test('kill -9 in mid-write: written again, the graph is as if nothing had happened', async () => {
    const target = await open({ connectSeconds: 3 });
    const statements = randomStatements({ subjects: 1_500, seed: 81, graphs: ['', '<http://example.org/g>'] });
    const parts = [...cut(statements, 400)];
    let acknowledged = 0;
    const codes: string[] = [];
    const crashes = (async () => {
      for (const after of [2, 6]) {
        while (acknowledged < after) await sleep(5);
        await sleep(30);
        await server.crash();
        await server.restart();
      }
    })();
    await Promise.all([
      crashes,
      ...[0, 1].map(async () => {
        for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
          const batch = part;
          codes.push(...(await insist(() => target.insert(batch, SIGNAL))));
          acknowledged++;
        }
      }),
    ]);
    expect(codes).toContain('target/unreachable');
    await holds(...statements);
  }, 600_000);

  test('a neighbour that removes a node just when it is needed again costs a repetition, not a statement', async () => {
    const target = await open();
    const numbers = Array.from({ length: 20 }, (_, i) => i);
    const about = (i: number): string => `<http://example.org/m${i}>`;
    for (let round = 0; round < 40; round++) {
      await emptyStore(driver);
      await target.insert(
        numbers.map((i) => statement(`<http://example.org/old${i}>`, KNOWS, about(i))),
        SIGNAL,
      );
      const update = numbers.map((i) => statement(`<http://example.org/old${i}>`, NAME, '"Ann"'));
      const added = numbers.map((i) =>
        round % 2 === 0 ? statement(`<http://example.org/new${i}>`, KNOWS, about(i)) : statement(about(i), NAME, '""'),
      );
      await Promise.all([
        insist(() => target.replace(update, 'subject', SIGNAL)),
        sleep(round % 20).then(() => insist(() => target.insert(added, SIGNAL))),
      ]);
      await holds(...update, ...added);
    }
  }, 300_000);
});
