/** The memory of the graph writer does not grow with its input; `memory.soak.test.ts` writes a million statements in every mode. */
import { boundedMemory } from './memory-suite.ts';

boundedMemory([['update of properties', { mode: 'update', scope: 'property' }]], 50_000, 250_000);
