/** The memory of the machine. */
import { totalmem } from 'node:os';

/** The memory of the machine or container, in bytes. */
export function memoryBytes(): number {
  // 0 without a container; more than the machine has in a container without a limit.
  const allowed = process.constrainedMemory() ?? 0;
  return Math.min(allowed > 0 ? allowed : Number.POSITIVE_INFINITY, totalmem());
}
