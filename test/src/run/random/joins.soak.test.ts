/** More random joins than `joins.test.ts` has. */
import { randomJoins } from './joins-suite.ts';
import { seeds } from './seeds.ts';

randomJoins(seeds(21, 80), seeds(2, 6));
