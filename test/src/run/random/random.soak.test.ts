/** More random mappings than `random.test.ts` has. */
import { randomMappings } from './random-suite.ts';
import { seeds } from './seeds.ts';

randomMappings(seeds(51, 300), seeds(2, 8));
