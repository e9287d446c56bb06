/** The memory of the machine. */
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

/** Of the machine, for the tables of a run. */
const RUN_SHARE = 1 / 16;
/** Of the heap: tables are outside of it, but what joins keep is on it. */
const HEAP_SHARE = 1 / 4;
const LEAST_RUN_BYTES = 128 << 20;
const MOST_RUN_BYTES = 1 << 30;

/** The memory of the machine or container, in bytes. */
export function memoryBytes(): number {
  // 0 without a container; more than the machine has in a container without a limit.
  const allowed = process.constrainedMemory() ?? 0;
  return Math.min(allowed > 0 ? allowed : Number.POSITIVE_INFINITY, totalmem());
}

/** What a run that has the process for itself may hold for joins and de-duplication, in bytes. */
export const runMemoryBytes = (): number =>
  Math.floor(
    Math.max(LEAST_RUN_BYTES, Math.min(MOST_RUN_BYTES, memoryBytes() * RUN_SHARE, getHeapStatistics().heap_size_limit * HEAP_SHARE)),
  );
