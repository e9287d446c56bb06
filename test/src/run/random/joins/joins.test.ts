/** Joins that do not fit into memory, and random ones; `joins.soak.test.ts` has more of these. */

import { seeds } from '../../../../support/random.ts';
import { joinsInThreads, largeSides, randomJoins } from './joins-suite.ts';

randomJoins(seeds(1, 8), seeds(1, 1));
joinsInThreads(seeds(1, 2));
largeSides();
