/**
 * Memory of a worker process. The limit of a thread covers its JavaScript heap only; buffers and native memory belong to the process, and
 * if there is too much the operating system kills the process with all its runs. Before that, the largest run is ended.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../src/core/fault.ts';
import type { Logger } from '../../src/core/telemetry/observe.ts';
import { memoryBytes } from '../../src/storage/local/memory.ts';
import { LARGEST_STORE_MB } from '../../src/targets/embedded/messages.ts';
import type { ThreadPool } from './pool.ts';

const CHECK_MS = 250;
/** Memory that no run holds is logged again after so many checks. */
const CHECKS_PER_LOG_LINE = 240;

/** Nine tenths of the memory of the machine or container. */
export const defaultProcessMemoryMb = (): number => Math.floor((memoryBytes() * 0.9) / 2 ** 20);

/** A quarter: the store takes twice as much while its tables grow. */
export const defaultStoreMemoryMb = (): number => Math.min(LARGEST_STORE_MB, Math.floor(memoryBytes() / 4 / 1e6));

/** Keeps the process below `limitMb` until `signal` is aborted. */
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
        logger.warn({ bytes, limitMb, ended: shed }, 'memory is low');
      }
    }
    // Each check waits for the effect of the previous one.
    await sleep(CHECK_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
