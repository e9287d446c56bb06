/** More random datasets. */
import { soakSeeds } from '../../support/random.ts';
import { datasetsOfVersions, versionsOf } from './versions-suite.ts';

datasetsOfVersions(soakSeeds(11, 40), versionsOf(8));
