/** More random datasets. */
import { soakSeeds } from '../../support/random.ts';
import { datasetsOfVersions } from './versions-suite.ts';

datasetsOfVersions(soakSeeds(11, 70), 8);
