/** Tests of the chaos harness: its tools work, and its checks find violations. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { SERVICE_QUEUES } from '../../queues/jobs.ts';
import { answers, missingPostgres, startPostgres } from '../servers/databases/postgres.ts';
import { closeAfterEach } from '../support/closing.ts';
import { Random } from '../support/random.ts';
import { diskMb, type World } from './fleet/world.ts';
import { Latencies, LOOK_MS } from './judge/delays.ts';
import { GroundTruth } from './judge/ground-truth.ts';
import type { InstanceLog, LogLine } from './judge/logs.ts';
import { isHandOver, type QueueEvent, startsOf } from './judge/recovery.ts';
import { judgeWaits } from './judge/waits.ts';
import { expectedStatements, outputBytes, planLoad } from './load/load.ts';
import { PRESETS } from './presets.ts';

const { closes, directory: directoryForTest } = closeAfterEach();

const missing = await missingPostgres();
(missing === undefined ? test : test.skip)(
  'a PostgreSQL that has ended already can be crashed, and is there again afterwards',
  async () => {
    const server = await startPostgres();
    if ('skip' in server) throw new Error(server.skip);
    closes(() => server.stop());
    process.kill(server.pid, 'SIGKILL');
    await server.crash();
    await server.restart();
    expect(await answers(server.url)).toBe(true);
  },
);

describe('the disk', () => {
  const has = { kafka: true, database: true };

  test.each([60, 120])('has room for what %i s of load write', (seconds) => {
    const runs = planLoad(PRESETS.mixed.load(seconds), new Random(20261121), has);
    const bytes = runs.reduce((sum, run) => sum + outputBytes(run), 0);
    expect(diskMb(runs, 3) * 2 ** 20).toBeGreaterThan(bytes * 1.2);
    for (const run of runs.slice(0, 40)) {
      if (outputBytes(run) === 0) continue;
      expect([...expectedStatements(run)].reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0)).toBeLessThanOrEqual(
        outputBytes(run),
      );
    }
  });
});

describe('the verdict', () => {
  async function violations(
    events: readonly (readonly [at: number, event: string])[],
    free: readonly (readonly [number, number])[],
    slowdown = 1,
  ) {
    const directory = await directoryForTest();
    const ledger = new GroundTruth(join(directory, 'ledger.ndjson'), []);
    const all = events.map(([at, event]): QueueEvent => ({ at, event, due: 0 }));
    const spans = free.map(([from, to]) => ({ from, to, worker: 'worker-1' }));
    const delays = { longest: () => 0, slowdown: () => slowdown };
    const { work } = SERVICE_QUEUES['sql-transformer'];
    judgeWaits({ [work]: new Map([['r1', all]]) }, { [work]: spans }, delays, ledger);
    return ledger.violations;
  }
  const lost = (at: number): (readonly [number, string])[] => [
    [at, 'delayed'],
    [at, 'stalled'],
  ];

  test('sees a run that is restarted without a growing backoff', async () => {
    const start = (at: number): readonly [number, string] => [at, 'active'];
    const kept = [start(0), ...lost(3_000), start(4_000), ...lost(7_000), start(9_000)];
    expect(await violations(kept, [])).toEqual([]);
    const broken = [start(0), ...lost(3_000), start(4_000), ...lost(7_000), start(8_000)];
    expect(await violations(broken, [])).toEqual([expect.stringContaining('r1 was started again 1000 ms after it was lost 2 times')]);
  });

  test('sees a run that waits while there is free capacity, and none without', async () => {
    const waited: (readonly [number, string])[] = [
      [0, 'waiting'],
      [9_000, 'active'],
    ];
    expect(await violations(waited, [[8_500, 9_500]])).toEqual([]);
    expect(await violations(waited, [[5_000, 9_500]])).toEqual([expect.stringContaining('waited 4000 ms')]);
    // A machine on which everything takes longer allows more, and not everything.
    expect(await violations(waited, [[5_000, 9_500]], 3)).toEqual([expect.stringContaining('3200 are allowed')]);
    expect(await violations(waited, [[5_000, 9_500]], 4)).toEqual([]);
  });

  test('measures how much slower the machine was meanwhile', async () => {
    const workers: readonly never[] = [];
    const latencies = new Latencies({ workers, redis: { url: 'redis://127.0.0.1:1', busy: true } as unknown as World['redis'] });
    const from = Date.now();
    try {
      expect(latencies.slowdown({ from: 0, to: 1 })).toBe(1);
      // The event loop is held up, as by processes that take the processor.
      for (let i = 0; i < 4; i++) {
        await sleep(LOOK_MS / 2);
        const until = performance.now() + 3 * LOOK_MS;
        while (performance.now() < until);
      }
      await sleep(LOOK_MS);
      expect(latencies.slowdown({ from, to: Date.now() })).toBeGreaterThan(1.5);
    } finally {
      latencies.close();
    }
  });

  test('takes no place for free in which an attempt is still being stopped', () => {
    const at = (time: number, event: string): QueueEvent => ({ at: time, event, due: 0 });
    const events = new Map([['r1', [at(10, 'active'), at(900, 'delayed'), at(900, 'stalled'), at(1_900, 'waiting'), at(2_000, 'active')]]]);
    const line = (time: number, msg: string, attempt: number) => ({ at: time, msg, run: 'r1', attempt }) as unknown as LogLine;
    const lines = [line(20, 'run started', 1), line(2_010, 'run started', 2), line(2_500, 'run retried', 1)];
    const log = (killedAt?: number): InstanceLog =>
      ({ process: undefined, instance: { killedAt }, lines, errors: [] }) as unknown as InstanceLog;
    const { work } = SERVICE_QUEUES['sql-transformer'];
    const held = (killedAt?: number) => startsOf(events, work, [log(killedAt)]).map((start) => [start.held, start.killedAt]);
    const infinite = Number.POSITIVE_INFINITY;
    expect(held()).toEqual([
      [{ from: 10, to: 2_500 }, undefined],
      [{ from: 2_000, to: infinite }, undefined],
    ]);
    // The second attempt dies with the worker, the first one had been lost before.
    expect(held(2_200)).toEqual([
      [{ from: 10, to: 2_200 }, undefined],
      [{ from: 2_000, to: 2_200 }, 2_200],
    ]);
    expect(held(800)[0]).toEqual([{ from: 10, to: 800 }, 800]);
  });

  test('takes no moment between two jobs of a worker for free capacity', () => {
    const held = [
      { from: 0, to: 1_000 },
      { from: 1_090, to: 2_000 },
      { from: 2_500, to: 3_000 },
    ];
    expect(isHandOver({ from: 1_000, to: 1_090 }, held)).toBe(true);
    expect(isHandOver({ from: 2_000, to: 2_500 }, held)).toBe(false);
    // The worker ends, or has just started.
    expect(isHandOver({ from: 3_000, to: 3_020 }, held)).toBe(false);
    expect(isHandOver({ from: -20, to: 0 }, held)).toBe(false);
  });
});
