/** More random mappings than `random.test.ts` has. */

import { seeds } from '../../../support/random.ts';
import { randomMappings } from './random-suite.ts';

randomMappings(seeds(13, 130), seeds(2, 5));
