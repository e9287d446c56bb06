/** More random joins than `joins.test.ts` has; RANDOM_SEEDS=1000-2000 selects others. */

import { seeds, soakSeeds } from '../../../../support/random.ts';
import { joinsInThreads, randomJoins } from './joins-suite.ts';

randomJoins(soakSeeds(9, 24), seeds(2, 4));
joinsInThreads(soakSeeds(3, 10));
