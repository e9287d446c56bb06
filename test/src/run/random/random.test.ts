/** Random mappings; `random.soak.test.ts` has more of them. */

import { seeds } from '../../../support/random.ts';
import { randomMappings } from './random-suite.ts';

randomMappings(seeds(1, 12), seeds(1, 1));
