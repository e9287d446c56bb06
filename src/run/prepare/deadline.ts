/** Prepares a run that has a limit of time: a database may answer late, before the first record is read. */
import { LinkedAbort } from '../../core/abort.ts';
import { Fault } from '../../core/fault.ts';
import { timeOverFault } from '../../core/limits.ts';
import type { RunHooks, RunRequest } from '../request.ts';
import type { PreparedRun } from './open.ts';
import { type Planner, prepareRun } from './prepare.ts';

/**
 * As `prepareRun`, until the time of `hooks.limit` is over.
 *
 * @throws Fault limit/exceeded — it is over; says what it was spent on
 */
export async function prepareWithDeadline(
  request: RunRequest,
  { signal, limit, located, ...opening }: Pick<RunHooks, 'signal' | 'limit' | 'located' | 'openSession' | 'openTopic'>,
  snapshots?: Readonly<Record<string, string>>,
  planner?: Planner,
): Promise<PreparedRun> {
  if (limit === undefined) return prepareRun(request, signal, snapshots, planner, undefined, located, opening);
  const began = Date.now();
  let doing = 'reading the mapping';
  let isOver = false;
  // Databases keep the signal beyond this, so the signal has no limit.
  const over = new LinkedAbort([signal]);
  const timer = setTimeout(
    () => {
      isOver = true;
      over.abort(new Fault('run/cancelled', 'The time is over'));
    },
    Math.max(0, limit.until - began),
  );
  try {
    const step = (next: string): void => {
      doing = next;
      limit.step?.(next);
    };
    const prepared = await prepareRun(request, over.signal, snapshots, planner, step, located, opening);
    return {
      ...prepared,
      close: async () => {
        over.release();
        await prepared.close();
      },
    };
  } catch (error) {
    over.release();
    if (!isOver || signal?.aborted === true) throw error;
    throw timeOverFault(doing, limit.until - began, error);
  } finally {
    clearTimeout(timer);
  }
}
