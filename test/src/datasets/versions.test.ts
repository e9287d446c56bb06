/** Random datasets; `versions.soak.test.ts` has more of them. */
import { seeds } from '../../support/random.ts';
import { datasetsOfVersions } from './versions-suite.ts';

datasetsOfVersions(seeds(1, 10), 5);
