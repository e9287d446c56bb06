/**
 * The memory of a worker process. A thread's limit bounds its JavaScript heap alone; what buffers and libraries hold beside it is the
 * process's, and when that is too much the system ends the process with all its runs. Before that, the largest run ends.
 */
import { totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../src/core/fault.ts';
import type { Logger } from '../../src/core/telemetry/observe.ts';
import type { ThreadPool } from './pool.ts';

const CHECK_MS = 250;
/** A line in the log about memory that no run holds is repeated after so many looks. */
const CHECKS_PER_LOG_LINE = 240;

/** Nine tenths of what the machine has, or the container. */
export const defaultProcessMemoryMb = (): number => Math.floor((memoryBytes() * 0.9) / 2 ** 20);

/** A quarter: a store takes twice as much while its tables grow. WebAssembly ends at 4 GB. */
export const defaultStoreMemoryMb = (): number => Math.min(3_500, Math.floor(memoryBytes() / 4 / 1e6));

function memoryBytes(): number {
  // 0 where there is no container, and more than there is where it has no limit.
  const allowed = process.constrainedMemory() ?? 0;
  return Math.min(allowed > 0 ? allowed : Number.POSITIVE_INFINITY, totalmem());
}

/** Keeps the process within `limitMb` until `signal` ends the watch. */
export async function watchMemory(
  pool: Pick<ThreadPool, 'shedMemory'>,
  limitMb: number,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  const fault = new Fault('limit/exceeded', `The worker process needed more than ${limitMb} MB of memory, and this run held most of it`, {
    limit: 'PROCESS_MEMORY_MB',
    hint: 'Raise PROCESS_MEMORY_MB, lower WORKER_CONCURRENCY or MEMORY_BUDGET_MB, or split the input',
  });
  for (let unlogged = CHECKS_PER_LOG_LINE; !signal.aborted; unlogged++) {
    const bytes = process.memoryUsage.rss();
    if (bytes > limitMb * 2 ** 20) {
      const shed = await pool.shedMemory(limitMb * 2 ** 20, fault);
      if (shed !== 'nothing' || unlogged >= CHECKS_PER_LOG_LINE) {
        unlogged = 0;
        logger.warn({ bytes, limitMb, ended: shed }, 'memory is short');
      }
    }
    // Each look waits for what the one before has done.
    await sleep(CHECK_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
