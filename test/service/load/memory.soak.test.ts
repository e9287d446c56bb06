/** The memory of a process without a redis-server: one that is idle, and output that its store does not hold. */
import { idleMemory, loadedMemory } from './memory-suite.ts';

idleMemory({ settleMs: 8_000, lookMs: 1_000 });
loadedMemory(200_000);
