/** More random joins than `joins.test.ts` has. */

import { seeds } from '../../../../support/random.ts';
import { randomJoins } from './joins-suite.ts';

randomJoins(seeds(9, 80), seeds(2, 6));
