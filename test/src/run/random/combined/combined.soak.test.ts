/** More random mappings that combine all modules. */
import { soakSeeds } from '../../../../support/random.ts';
import { combinedModules } from './combined-suite.ts';

combinedModules(soakSeeds(9, 60), (seed) => seed % 10 === 0);
