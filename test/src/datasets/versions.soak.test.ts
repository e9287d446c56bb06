/** More random datasets. */
import { soakSeeds } from '../../support/random.ts';
import { datasetsOfVersions } from './versions-suite.ts';

datasetsOfVersions(soakSeeds(25, 400), 8);
