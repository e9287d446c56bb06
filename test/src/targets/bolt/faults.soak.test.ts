/**
 * What goes wrong between the graph writer and a real Neo4j: logins, TLS, silence, read-only and back, more than its memory, kill -9 again
 * and again, neighbours in each other's way. `unreachable.test.ts` has what needs no Neo4j.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { Fault } from '../../../../src/core/fault.ts';
import { Secret } from '../../../../src/core/secret.ts';
import type { TargetAddress } from '../../../../src/targets/target.ts';
import { cut, inSession, randomStatements, storedGraph, TYPE } from './oracle.ts';
import { KNOWS, NAME, neo4jInTrouble, SIGNAL, statement, testKills, testNeighbours } from './trouble.ts';

const ANN = statement('<http://example.org/a>', NAME, '"Ann"');

neo4jInTrouble((given) => {
  test.each<[string, () => Partial<TargetAddress>]>([
    ['a wrong password', () => ({ password: new Secret('wrong-secret') })],
    ['no login', () => ({ username: undefined, password: undefined })],
  ])(
    '%s is reported as such, by every call',
    async (_, address) => {
      const target = await given.open(address());
      const refusal = { code: 'target/credentials', message: expect.stringContaining(`${given.server.url} refuses the login`) };
      await expect(target.probe(SIGNAL)).rejects.toMatchObject(refusal);
      await expect(target.prepare(SIGNAL)).rejects.toMatchObject(refusal);
      await expect(target.insert([ANN], SIGNAL)).rejects.toMatchObject(refusal);
    },
    60_000,
  );

  test.each<[string, () => Promise<Partial<TargetAddress>>, object]>([
    [
      'there is no such database',
      async () => ({ database: 'elsewhere' }),
      { code: 'config/invalid', message: expect.stringContaining('elsewhere') },
    ],
  ])(
    '%s',
    async (_, address, expected) => {
      const target = await given.open({ connectSeconds: 3, ...(await address()) });
      await expect(target.probe(SIGNAL)).rejects.toMatchObject(expected);
      await expect(target.insert([ANN], SIGNAL)).rejects.toMatchObject(expected);
    },
    60_000,
  );

  describe('over TLS', () => {
    const secure = (scheme: string, host = 'localhost'): string => `${scheme}://${host}:${new URL(given.server.url).port}`;

    test('its own authority, as a file and as text', async () => {
      const file = given.server.ca as string;
      for (const ca of [file, await readFile(file, 'utf8')]) {
        const target = await given.open({ endpoint: secure('bolt+s'), ca });
        expect(await target.probe(SIGNAL)).toMatchObject({ product: 'Neo4j 5.26.30' });
      }
      const routed = await given.open({ endpoint: given.server.url.replace('bolt:', 'neo4j:') });
      expect(await routed.probe(SIGNAL)).toMatchObject({ product: 'Neo4j 5.26.30' });
      const unchecked = await given.open({ endpoint: secure('bolt+ssc') });
      expect(await unchecked.probe(SIGNAL)).toMatchObject({ product: 'Neo4j 5.26.30' });
    }, 60_000);

    test.each<[string, () => Partial<TargetAddress>]>([
      ['an unknown authority', () => ({ endpoint: secure('bolt+s') })],
      ['a host that the certificate does not name', () => ({ endpoint: secure('bolt+s', '127.0.0.1'), ca: given.server.ca })],
    ])(
      '%s is refused, with advice',
      async (_, address) => {
        const target = await given.open({ connectSeconds: 3, ...address() });
        await expect(target.probe(SIGNAL)).rejects.toMatchObject({
          code: 'target/unreachable',
          hint: expect.stringContaining('TRIPLESTORE_CA'),
        });
      },
      60_000,
    );
  });

  test('a server that says nothing is waited for no longer than allowed, and takes the statements afterwards', async () => {
    const target = await given.open({ requestSeconds: 1 });
    await given.insist(() => target.insert([ANN], SIGNAL));
    given.server.pause();
    const begun = performance.now();
    try {
      await expect(target.insert([ANN], SIGNAL)).rejects.toMatchObject({
        code: 'target/busy',
        message: expect.stringContaining('did not answer within 1 s'),
      });
      expect(performance.now() - begun).toBeLessThan(20_000);
    } finally {
      given.server.resume();
    }
    await given.insist(() => target.insert([statement('<http://example.org/b>', NAME, '""')], SIGNAL));
    await given.holds(ANN, statement('<http://example.org/b>', NAME, '""'));
  }, 120_000);

  test('a target of a silent server can be closed', async () => {
    const target = await given.open({ requestSeconds: 1 });
    await given.insist(() => target.insert([ANN], SIGNAL));
    given.server.pause();
    try {
      await expect(target.probe(SIGNAL)).rejects.toMatchObject({ code: 'target/busy' });
      const begun = performance.now();
      await target.close();
      expect(performance.now() - begun).toBeLessThan(20_000);
    } finally {
      given.server.resume();
    }
  }, 120_000);

  test('an aborted call throws the reason, and what it was about is not written later', async () => {
    const target = await given.open();
    const reason = new Fault('run/cancelled', 'The run was cancelled');
    await expect(target.insert([ANN], AbortSignal.abort(reason))).rejects.toBe(reason);
    const controller = new AbortController();
    const statements = randomStatements({ subjects: 3_000, seed: 71 });
    const insert = target.insert(statements, controller.signal);
    setTimeout(() => controller.abort(reason), 50);
    await expect(insert).rejects.toBe(reason);
    // Whatever is under way ends before a writer that needs the same nodes gets them.
    await target.insert([ANN, ...statements.slice(0, 20)], SIGNAL);
    await given.holds(ANN, ...statements.slice(0, 20));
  }, 120_000);

  test('what is found wrong by the server is refused, and nothing of it written', async () => {
    const target = await given.open();
    await inSession(given.driver, (session) => session.run('CREATE CONSTRAINT one_name FOR (n:Person) REQUIRE n.name IS UNIQUE'));
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
      await given.holds(...present);
    } finally {
      await inSession(given.driver, (session) => session.run('DROP CONSTRAINT one_name'));
    }
  }, 60_000);

  test('a server that is read-only says so before anything is written', async () => {
    await given.server.crash();
    await given.server.restart({ 'server.databases.default_to_read_only': 'true' });
    try {
      const target = await given.open();
      const refusal = { code: 'target/read-only', message: expect.stringContaining('read-only') };
      await given.insist(async () =>
        expect(await target.probe(SIGNAL).catch((error) => (error.retriable ? Promise.reject(error) : error))).toMatchObject(refusal),
      );
      await expect(target.insert([ANN], SIGNAL)).rejects.toMatchObject(refusal);
      await expect(target.replaceGraph('', 'key', SIGNAL)).rejects.toMatchObject(refusal);
    } finally {
      await given.server.crash();
      await given.server.restart();
    }
    await given.insist(
      async () =>
        void (await storedGraph(given.driver).catch((cause) => Promise.reject(new Fault('target/unreachable', 'not yet', { cause })))),
    );
    await given.holds();
  }, 300_000);

  test('a graph that is more than the server has memory for is exchanged in several transactions, also after an interruption', async () => {
    const G = '<http://example.org/g>';
    const other = [
      statement('<http://example.org/s1>', NAME, '"Ann"'),
      statement('<http://example.org/a>', KNOWS, '<http://example.org/s2>'),
    ];
    const after = randomStatements({ subjects: 5_000, seed: 92, graphs: [G] }).filter(
      ({ subject }) => subject !== '<http://example.org/s1>',
    );
    const target = await given.open();
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
      inSession(given.driver, async (session) =>
        (await session.run('MATCH (n) WHERE n.phase IS NOT NULL RETURN n.phase')).records[0]?.get(0),
      );
    while ((await phase()) !== 'fill') await sleep(5);
    controller.abort(reason);
    await interrupted;
    await replacement.commit(SIGNAL);
    await given.holds(...other, ...after);
    await replacement.commit(SIGNAL);
    await given.holds(...other, ...after);
  }, 300_000);

  testKills(given, [2, 6]);

  testNeighbours(given, 40);
});
