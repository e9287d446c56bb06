/** A real Neo4j, of which things are asked while it is in trouble. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Driver } from 'neo4j-driver';
import { Fault } from '../../../../src/core/fault.ts';
import type { Statement } from '../../../../src/nquads/statement.ts';
import { boltTarget } from '../../../../src/targets/bolt/bolt.ts';
import type { GraphTarget, TargetAddress } from '../../../../src/targets/target.ts';
import { missingNeo4j, NEO4J_LOGIN, type Neo4jServer, startNeo4j } from '../../../servers/stores/neo4j.ts';
import { secretLogin } from '../../../support/secrets.ts';
import { cut, differences, emptyStore, expectedGraph, openDriver, randomStatements, storedGraph } from './oracle.ts';

const missing = await missingNeo4j();
export const SIGNAL = new AbortController().signal;
export const NAME = '<http://example.org/p/name>';
export const KNOWS = '<http://example.org/p/knows>';
export const statement = (subject: string, predicate: string, object: string): Statement => ({
  subject,
  predicate,
  object,
  graph: '',
  line: 0,
});

const SETTINGS = { 'dbms.security.auth_max_failed_attempts': '0', 'db.memory.transaction.max': '20m' };

export const addressOf = (address: Partial<TargetAddress> & { readonly endpoint: string }): TargetAddress => ({
  type: 'neo4j',
  ...secretLogin(NEO4J_LOGIN),
  ca: undefined,
  requestSeconds: 120,
  connectSeconds: 10,
  database: undefined,
  propertyGraph: { prefixes: {}, keepLanguage: true },
  ...address,
});

export interface Given {
  readonly server: Neo4jServer;
  readonly driver: Driver;
  /** A target of the server, unless the address says otherwise; closed after the test. */
  open(address?: Partial<TargetAddress>): Promise<GraphTarget>;
  /** The store has these statements and no others. */
  holds(...statements: readonly Statement[]): Promise<void>;
  /** Again, as long as the fault is transient; gives the codes of the faults before. */
  insist(act: () => Promise<void>): Promise<readonly string[]>;
}

/** Declares tests of a dedicated server, which is empty before each. */
export function neo4jInTrouble(declare: (given: Given) => void): void {
  const title = `Neo4j in trouble${missing === undefined ? '' : ` (not tested: ${missing})`}`;
  (missing === undefined ? describe : describe.skip)(title, () => declare(prepare()));
}

function prepare(): Given {
  let server: Neo4jServer;
  let driver: Driver;
  let opened: GraphTarget[];

  const open = async (address: Partial<TargetAddress> = {}): Promise<GraphTarget> => {
    const target = await boltTarget(addressOf({ endpoint: server.url, ...address }));
    opened.push(target);
    return target;
  };
  const holds = async (...statements: readonly Statement[]): Promise<void> =>
    expect(differences(await storedGraph(driver), expectedGraph(statements))).toEqual({ extra: [], missing: [] });
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
  return {
    get server() {
      return server;
    },
    get driver() {
      return driver;
    },
    open,
    holds,
    insist,
  };
}

/** The server is killed and started again, each time when so many batches were acknowledged. */
export function testKills(given: Given, crashes: readonly number[]): void {
  test(`kill -9 in mid-write, ${crashes.length} times: written again, the graph is as if nothing had happened`, async () => {
    const target = await given.open({ connectSeconds: 3 });
    const statements = randomStatements({ subjects: 1_500, seed: 81, graphs: ['', '<http://example.org/g>'] });
    const parts = [...cut(statements, 400)];
    let acknowledged = 0;
    const codes: string[] = [];
    const crashing = (async () => {
      for (const after of crashes) {
        while (acknowledged < after) await sleep(5);
        await sleep(30);
        await given.server.crash();
        await given.server.restart();
      }
    })();
    await Promise.all([
      crashing,
      ...[0, 1].map(async () => {
        for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
          const batch = part;
          codes.push(...(await given.insist(() => target.insert(batch, SIGNAL))));
          acknowledged++;
        }
      }),
    ]);
    expect(codes).toContain('target/unreachable');
    await given.holds(...statements);
  }, 600_000);
}

export function testNeighbours(given: Given, rounds: number): void {
  test('a neighbour that removes a node just when it is needed again costs a repetition, not a statement', async () => {
    const target = await given.open();
    const numbers = Array.from({ length: 20 }, (_, i) => i);
    const about = (i: number): string => `<http://example.org/m${i}>`;
    for (let round = 0; round < rounds; round++) {
      await emptyStore(given.driver);
      await target.insert(
        numbers.map((i) => statement(`<http://example.org/old${i}>`, KNOWS, about(i))),
        SIGNAL,
      );
      const update = numbers.map((i) => statement(`<http://example.org/old${i}>`, NAME, '"Ann"'));
      const added = numbers.map((i) =>
        round % 2 === 0 ? statement(`<http://example.org/new${i}>`, KNOWS, about(i)) : statement(about(i), NAME, '""'),
      );
      await Promise.all([
        given.insist(() => target.replace(update, 'subject', SIGNAL)),
        sleep(round % 20).then(() => given.insist(() => target.insert(added, SIGNAL))),
      ]);
      await given.holds(...update, ...added);
    }
  }, 300_000);
}
