/** What takes a real Neo4j long: read-only and back, more than its memory, kill -9 again and again, neighbours in each other's way. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { Fault } from '../../../../src/core/fault.ts';
import { cut, inSession, randomStatements, storedGraph } from './oracle.ts';
import { KNOWS, NAME, neo4jInTrouble, SIGNAL, statement, testKills, testNeighbours } from './trouble.ts';

const ANN = statement('<http://example.org/a>', NAME, '"Ann"');

neo4jInTrouble((given) => {
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
