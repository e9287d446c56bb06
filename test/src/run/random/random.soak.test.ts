/** More random mappings than `random.test.ts` has; RANDOM_SEEDS=1000-2000 selects others. */

import { seeds, soakSeeds } from '../../../support/random.ts';
import { randomMappings } from './random-suite.ts';

randomMappings(soakSeeds(13, 36), seeds(2, 3));
