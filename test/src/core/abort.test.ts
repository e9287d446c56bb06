/** Signals that end with others, or after a time. */
import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { atMost, LinkedAbort, within, withLimit } from '../../../src/core/abort.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const aborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason), { once: true }));

describe('a linked signal', () => {
  test('ends in time although a garbage collection comes first', async () => {
    const ended = aborted(new LinkedAbort([new AbortController().signal], 50).signal);
    for (let i = 0; i < 3; i++) {
      collectGarbage();
      await sleep(1);
    }
    expect(await Promise.race([ended, sleep(5_000, 'never', { ref: false })])).toMatchObject({ name: 'TimeoutError' });
  });

  test.each([0, 1])('ends with the reason of the %i-th of its signals, and lets go of the others', (which) => {
    const controllers = [new AbortController(), new AbortController()];
    const linked = new LinkedAbort([undefined, ...controllers.map(({ signal }) => signal)], 60_000);
    controllers[which]?.abort('enough');
    expect(linked.signal.reason).toBe('enough');
    expect(linked.timedOut).toBe(false);
    for (const { signal } of controllers) expect(getEventListeners(signal, 'abort')).toEqual([]);
    controllers[1 - which]?.abort('too late');
    expect(linked.signal.reason).toBe('enough');
  });

  test('has ended when one of its signals had', () => {
    const linked = new LinkedAbort([new AbortController().signal, AbortSignal.abort('before')], 60_000);
    expect(linked.signal).toMatchObject({ aborted: true, reason: 'before' });
  });

  test('that is released ends with nothing but its own abort', async () => {
    const controller = new AbortController();
    const linked = new LinkedAbort([controller.signal], 1);
    linked.release();
    controller.abort();
    await sleep(20);
    expect(linked.signal.aborted).toBe(false);
    linked.abort('by itself');
    expect(linked.signal.reason).toBe('by itself');
  });
});

describe('a limit of time', () => {
  test('ends what takes longer, and says so', async () => {
    const never = (signal: AbortSignal): Promise<void> => sleep(60_000, undefined, { signal });
    await expect(withLimit(20, never)).rejects.toMatchObject({ name: 'AbortError', cause: { name: 'TimeoutError' } });
  });

  test('keeps nothing of what is done in time', async () => {
    const { signal } = new AbortController();
    expect(await withLimit(60_000, async () => 'done', signal)).toBe('done');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('a promise with a time limit', () => {
  test('gives its own result in time, and its own error', async () => {
    await expect(within(60_000, Promise.resolve('own'), () => 'late')).resolves.toBe('own');
    await expect(within(60_000, Promise.reject(new Error('own')), () => 'late')).rejects.toThrow('own');
  });

  test('gives the result of the limit afterwards, or its error; a later rejection of the promise is ignored', async () => {
    let reject: (error: Error) => void = () => undefined;
    const promise = new Promise<never>((_, refuse) => {
      reject = refuse;
    });
    await expect(within(1, promise, () => 'late')).resolves.toBe('late');
    await expect(
      within(1, promise, () => {
        throw new Error('late');
      }),
    ).rejects.toThrow('late');
    reject(new Error('much later'));
    await new Promise((resolve) => setImmediate(resolve));
  });

  test('atMost says whether it settled', async () => {
    await expect(atMost(60_000, Promise.reject(new Error('failed')))).resolves.toBe(true);
    await expect(atMost(1, new Promise(() => undefined))).resolves.toBe(false);
  });
});
