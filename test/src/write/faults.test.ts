/** What goes wrong while statements are written: refusals, stores without time, cancelling, limits. */
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect } from '@jest/globals';
import { Fault, type FaultCode } from '../../../src/core/fault.ts';
import { NO_LIMITS } from '../../../src/core/limits.ts';
import type { Statement } from '../../../src/nquads/statement.ts';
import { openTarget } from '../../../src/targets/open.ts';
import { type TargetAddress, TargetBusy, type UpdateScope } from '../../../src/targets/target.ts';
import type { TransientFailure, WriteHooks, WriteRequest } from '../../../src/write/request.ts';
import { writeTo } from '../../../src/write/write.ts';
import { elapsedMs, fastest } from '../../support/fastest.ts';
import { share, sharedTest, test } from '../../support/jest/extent.ts';
import { type Call, lineOf, memoryTarget } from './memory-target.ts';
import { contentOf, dice, listening, randomStatements, textOf, workspace } from './writing.ts';

const space = workspace();
afterAll(() => space.remove());

const MODES: readonly (readonly [string, Partial<WriteRequest>])[] = [
  ['insert', { mode: 'insert' }],
  ['update property', { mode: 'update', scope: 'property' }],
  ['update subject', { mode: 'update', scope: 'subject' }],
  ['update graph', { mode: 'update', scope: 'graph' }],
];

const write = (file: string, target: ReturnType<typeof memoryTarget>, more: Partial<WriteRequest>, hooks: WriteHooks = listening()) =>
  writeTo(target, space.request([file], more), hooks);

const faultOf = (promise: Promise<unknown>): Promise<Fault> =>
  promise.then(
    () => expect('a fault').toBe('thrown') as never,
    (error) => error as Fault,
  );

/** Distinct, so that a refusal is of one line. */
const distinct = (seed: number, count: number): Statement[] => {
  const seen = new Set<string>();
  return randomStatements(seed, count).filter((one) => !seen.has(lineOf(one)) && seen.add(lineOf(one)));
};

describe.each(share(1, MODES))('%s', (_, mode) => {
  sharedTest('statements that the store refuses are found, said with its reason, and the others are written', async () => {
    for (let seed = 1; seed <= 6; seed++) {
      const { below } = dice(seed);
      const statements = distinct(seed, 1500);
      const bad = new Set(statements.filter(() => below(150) === 0).map(lineOf));
      const refuse = (one: Statement): string | undefined => (bad.has(lineOf(one)) ? `no ${one.object}` : undefined);
      const target = memoryTarget({ refuse, sizes: { first: 1 + below(300), most: 2000 } });
      const hooks = listening();
      const report = await write(space.file('some.nq', textOf(statements)), target, mode, hooks);
      expect(target.store.content).toEqual(contentOf(statements).filter((line) => !bad.has(line)));
      expect(report).toMatchObject({ statements: statements.length, quadsWritten: statements.length - bad.size, rejected: bad.size });
      expect(hooks.rejected.map(({ statement }) => statement).sort()).toEqual([...bad].sort());
      for (const { statement, line, fault } of hooks.rejected) {
        expect(lineOf({ ...statements[line - 1] } as Statement)).toBe(
          lineOf(statements.find((one) => lineOf(one) === statement) as Statement),
        );
        expect(fault).toMatchObject({
          code: 'target/refused',
          message: expect.stringMatching(/^no /),
          place: { value: expect.any(String) },
        });
      }
      expect(hooks.last?.position?.rejected).toBe(bad.size);
    }
  });

  sharedTest('the work for few refusals is small', async () => {
    const statements = distinct(20, 4000);
    const bad = new Set([7, 1900, 3600].map((at) => lineOf(statements[at] as Statement)));
    const sizes = { first: 1024, least: 1024, most: 1024 };
    const clean = memoryTarget({ sizes });
    const file = space.file('few.nq', textOf(statements));
    await write(file, clean, mode);
    const target = memoryTarget({ sizes, refuse: (one) => (bad.has(lineOf(one)) ? 'no' : undefined) });
    await write(file, target, mode);
    // Two halves for each of ten levels; inside of a subject some more; and a look whether the store is sound.
    expect(target.calls.length - clean.calls.length).toBeLessThanOrEqual(3 * (2 * 10 + 8));
  });

  sharedTest('a store that refuses everything is not asked about every statement', async () => {
    const statements = distinct(21, 3000);
    const file = space.file('all.nq', textOf(statements));
    const target = memoryTarget({ refuse: () => 'disk quota exceeded', sizes: { first: 400 } });
    const fault = await faultOf(write(file, target, mode));
    expect(fault).toMatchObject({
      code: 'target/refused',
      message: 'disk quota exceeded',
      hint: expect.stringContaining('not about single'),
    });
    expect(target.calls.length).toBeLessThan(60);
    expect(target.store.lines.size).toBe(0);
  });

  sharedTest('no more than so many may be rejected', async () => {
    const statements = distinct(22, 2000);
    const refuse = (one: Statement): string | undefined => (one.object.includes('@en') ? 'no languages here' : undefined);
    const file = space.file('limit.nq', textOf(statements));
    const hooks = listening();
    const target = memoryTarget({ refuse, sizes: { first: 400 } });
    const fault = await faultOf(write(file, target, { ...mode, maxRejected: 3 }, hooks));
    expect(fault).toMatchObject({
      code: 'record/limit',
      limit: 'MAX_REJECTED_STATEMENTS',
      message: expect.stringContaining('no languages here'),
    });
    expect(hooks.rejected.length).toBe(4);
    expect(target.store.staged.size).toBe(0);
  });

  sharedTest(
    'a store that is busy now and then gets everything in the end',
    async () => {
      const statements = distinct(23, 2000);
      for (let seed = 1; seed <= 2; seed++) {
        const { below } = dice(seed);
        const busy = (): void => {
          if (below(6) === 0) throw below(2) === 0 ? new TargetBusy('later', 5) : new Fault('target/unreachable', 'gone for a moment');
        };
        const target = memoryTarget({ before: busy, after: busy, sizes: { first: 400, least: 200 } });
        const report = await write(space.file('busy.nq', textOf(statements)), target, mode);
        expect(target.store.content).toEqual(contentOf(statements));
        expect(report).toMatchObject({ quadsWritten: statements.length, rejected: 0 });
        expect(report.retries).toBeGreaterThan(0);
      }
    },
    60_000,
  );

  sharedTest('a store that cannot take large batches gets small ones', async () => {
    const statements = distinct(24, 2000);
    const slow = ({ statements: some }: Call): void => {
      if (some.length > 60) throw new TargetBusy('no answer in time');
    };
    const target = memoryTarget({ before: slow, sizes: { first: 400 } });
    await write(space.file('smaller.nq', textOf(statements)), target, mode);
    expect(target.store.content).toEqual(contentOf(statements));
  });

  sharedTest('a store that stays away is waited for as long as the run has patience', async () => {
    const gone = {
      before: ({ kind }: Call) => (kind === 'abort' ? undefined : Promise.reject(new Fault('target/unreachable', 'refused'))),
    };
    const file = space.file('gone.nq', textOf(distinct(25, 500)));
    const started = performance.now();
    const fault = await faultOf(write(file, memoryTarget(gone), { ...mode, patienceSeconds: 1 }));
    const seconds = (performance.now() - started) / 1000;
    expect(fault).toMatchObject({ code: 'target/unreachable', message: 'refused', hint: expect.stringContaining('1 s') });
    expect(seconds).toBeGreaterThan(0.9);
    expect(seconds).toBeLessThan(4);
  });

  sharedTest('a wait for the store is reported: why, how long it lasts, and when it is over', async () => {
    const until = performance.now() + 1_500;
    const away = {
      before: ({ kind }: Call) =>
        kind === 'abort' || performance.now() > until ? undefined : Promise.reject(new Fault('target/unreachable', 'refused')),
    };
    const told: (boolean | undefined)[] = [];
    const waiting = (trouble: TransientFailure | undefined): void => {
      if (trouble !== undefined) expect(trouble.reason.message).toBe('refused');
      if (told.at(-1) !== trouble?.lasting) told.push(trouble?.lasting);
    };
    const report = await write(space.file('away.nq', textOf(distinct(26, 500))), memoryTarget(away), mode, { ...listening(), waiting });
    expect(report.retries).toBeGreaterThan(1);
    expect(told).toEqual([false, true, undefined]);
  });

  sharedTest.each(['target/credentials', 'target/read-only'] as FaultCode[])('%s ends it at once', async (code) => {
    const target = memoryTarget({
      before: ({ kind }) =>
        kind === 'insert' || kind === 'replace' || kind === 'fill' ? Promise.reject(new Fault(code, 'no')) : undefined,
      sizes: { inFlight: 1 },
    });
    const fault = await faultOf(write(space.file('once.nq', textOf(distinct(26, 500))), target, mode));
    expect(fault).toMatchObject({ code });
    expect(target.calls.filter(({ statements }) => statements.length > 0)).toHaveLength(1);
    expect(target.store.staged.size).toBe(0);
  });

  sharedTest.each([
    ['a store that never answers', { before: () => new Promise<void>(() => undefined) }],
    ['a store that is away', { before: () => Promise.reject(new Fault('target/unreachable', 'refused')) }],
    ['a slow store', { delayMs: 200 }],
  ])('cancelling ends it within a second, with %s', async (__, behaviour) => {
    const cancel = async (): Promise<number> => {
      const stop = new AbortController();
      const target = memoryTarget(behaviour);
      const writing = faultOf(write(space.file('cancel.nq', textOf(distinct(27, 20_000))), target, mode, listening(stop.signal)));
      await sleep(700);
      const took = await elapsedMs(async () => {
        stop.abort(new Fault('run/cancelled', 'enough'));
        expect(await writing).toMatchObject({ code: 'run/cancelled', message: 'enough' });
      });
      expect(existsSync(space.request([]).spillDirectory)).toBe(false);
      return took;
    };
    expect(await fastest(1_000, cancel)).toBeLessThan(1_000);
  });

  sharedTest.each([
    ['MAX_RUN_SECONDS', { ...NO_LIMITS, seconds: 1 }],
    ['MAX_STATEMENTS', { ...NO_LIMITS, statements: 1000 }],
    ['MAX_RECORDS', { ...NO_LIMITS, records: 1000 }],
    ['MAX_INPUT_BYTES', { ...NO_LIMITS, inputBytes: 10_000 }],
  ])('%s ends it', async (limit, limits) => {
    const target = memoryTarget({ delayMs: limit === 'MAX_RUN_SECONDS' ? 400 : 0 });
    const fault = await faultOf(write(space.file('limits.nq', textOf(distinct(28, 20_000))), target, { ...mode, limits }));
    expect(fault).toMatchObject({ code: 'limit/exceeded', limit });
  });
});

test('waits for as long as the store asks to be left alone', async () => {
  let first: number | undefined;
  let second: number | undefined;
  const target = memoryTarget({
    before({ kind }) {
      if (kind !== 'insert') return;
      if (first === undefined) {
        first = performance.now();
        throw new TargetBusy('429', 700);
      }
      second ??= performance.now();
    },
  });
  await write(space.file('asked.nq', textOf(distinct(29, 20))), target, {});
  expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(695);
});

test('a store that asks for more time than there is patience is not waited for', async () => {
  const giveUp = (): Promise<number> =>
    elapsedMs(async () => {
      const target = memoryTarget({ before: () => Promise.reject(new TargetBusy('503', 60_000)) });
      const fault = await faultOf(write(space.file('long.nq', textOf(distinct(30, 20))), target, { patienceSeconds: 5 }));
      expect(fault).toMatchObject({ code: 'target/busy', hint: expect.stringContaining('asks for 60 s') });
    });
  expect(await fastest(3_000, giveUp)).toBeLessThan(3_000);
});

test('a file that is cut off: what stands before is written by an insert, and the place is named', async () => {
  const statements = distinct(31, 9000);
  const target = memoryTarget();
  const hooks = listening();
  const file = space.file('cut.nq', textOf(statements).slice(0, -6));
  const fault = await faultOf(write(file, target, {}, hooks));
  expect(fault).toMatchObject({ code: 'source/malformed', place: { line: statements.length } });
  expect(hooks.last?.position?.done ?? 0).toBeLessThan(textOf(statements).length);
});

test('a subject whose statements are all refused stays as it was', async () => {
  const old = distinct(32, 50).map((one) => ({ ...one, subject: '<http://e/kept>' }));
  const target = memoryTarget({
    refuse: (one) => (one.subject === '<http://e/kept>' && one.predicate === '<http://e/new>' ? 'no' : undefined),
  });
  target.store.add(old);
  const file = space.file(
    'kept.nq',
    '<http://e/kept> <http://e/new> "1" .\n<http://e/kept> <http://e/new> "2" .\n<http://e/x> <http://e/p> "1" .\n',
  );
  const report = await write(file, target, { mode: 'update', scope: 'subject' });
  expect(report).toMatchObject({ quadsWritten: 1, rejected: 2 });
  expect(target.store.lines.size).toBe(contentOf(old).length + 1);
});

test.each([50, 2000])('a graph that the store refuses by its name is left out as a whole (%s statements)', async (count) => {
  const statements = distinct(33, count);
  const target = memoryTarget();
  const refusing = {
    ...target,
    replaceGraph: (graph: string, key: string, signal: AbortSignal) =>
      graph === '<http://e/g2>' ? Promise.reject(new Fault('target/refused', 'no such name')) : target.replaceGraph(graph, key, signal),
  };
  const hooks = listening();
  const file = space.file('graphs.nq', textOf(statements));
  const report = await writeTo(refusing, space.request([file], { mode: 'update', scope: 'graph' }), hooks);
  const [bad, good] = [true, false].map((refused) => statements.filter(({ graph }) => (graph === '<http://e/g2>') === refused));
  expect(target.store.content).toEqual(contentOf(good as Statement[]));
  expect(report).toMatchObject({ statements: statements.length, quadsWritten: good?.length, rejected: bad?.length });
  expect(hooks.rejected.map(({ statement }) => statement).sort()).toEqual(contentOf(bad as Statement[]));
});

test('of several inputs of an update, a refused statement names its own', async () => {
  const files = ['a', 'b', 'c'].map((name) =>
    space.file(`${name}.nq`, `<http://e/${name}> <http://e/p> "1" .\n<http://e/${name}> <http://e/bad> "2" .\n`),
  );
  const hooks = listening();
  const target = memoryTarget({ refuse: (one) => (one.predicate.includes('bad') ? 'no' : undefined) });
  for (const scope of ['property', 'graph'] as UpdateScope[]) {
    const heard = listening();
    await writeTo(target, space.request(files, { mode: 'update', scope }), heard);
    expect(heard.rejected.map(({ input, line }) => `${input} ${line}`).sort()).toEqual(files.map((file) => `${file} 2`));
  }
  expect(hooks.rejected).toEqual([]);
});

test('a subject that does not fit in memory is a fault that says what to do', async () => {
  const text = Array.from({ length: 30_000 }, (_, i) => `<http://e/s> <http://e/p> "${i}" .\n`).join('');
  const more: Partial<WriteRequest> = { mode: 'update', memoryBudgetBytes: 2 ** 20 };
  const target = memoryTarget();
  const fault = await faultOf(write(space.file('one.nq', text), target, more));
  expect(fault).toMatchObject({ code: 'limit/exceeded', message: expect.stringContaining('A subject has more statements') });
  expect(target.store.lines.size).toBe(0);
  await write(space.file('one.nq', text), memoryTarget(), { ...more, memoryBudgetBytes: 64 * 2 ** 20 });
});

test('a type of target that is not known names those that are', async () => {
  const address = { type: 'fusek' } as unknown as TargetAddress;
  expect(await faultOf(openTarget(address))).toMatchObject({
    code: 'target/unknown',
    message: expect.stringContaining('known are embedded, sparql, fuseki'),
    hint: 'Did you mean fuseki?',
  });
});
