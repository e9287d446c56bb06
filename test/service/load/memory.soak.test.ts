/** The memory of a process without a redis-server that is idle. */
import { idleMemory } from './memory-suite.ts';

idleMemory({ settleMs: 8_000, lookMs: 1_000 });
