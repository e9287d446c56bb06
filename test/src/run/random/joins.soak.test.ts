/** More random joins than `joins.test.ts` has. */
import { randomJoins } from './joins-suite.ts';
import { seeds } from './seeds.ts';

randomJoins(seeds(41, 80), seeds(3, 6));
