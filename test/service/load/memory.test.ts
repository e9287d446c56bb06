/** Output that a store of a process without a redis-server does not hold; `memory.soak.test.ts` watches one that is idle. */
import { loadedMemory } from './memory-suite.ts';

loadedMemory(200_000);
