/** Random mappings that combine all modules; `combined.soak.test.ts` has more of them. */
import { seeds } from '../../../../support/random.ts';
import { combinedModules } from './combined-suite.ts';

combinedModules(seeds(1, 8), (seed) => seed === 8);
