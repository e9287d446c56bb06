/** Random mappings; `random.soak.test.ts` has more of them. */
import { randomMappings } from './random-suite.ts';
import { seeds } from './seeds.ts';

randomMappings(seeds(1, 50), seeds(1, 1));
