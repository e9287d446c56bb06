/** More random joins than `joins.test.ts` has. */

import { seeds } from '../../../../support/random.ts';
import { joinsInThreads, randomJoins } from './joins-suite.ts';

randomJoins(seeds(9, 80), seeds(2, 6));
joinsInThreads(seeds(3, 40));
