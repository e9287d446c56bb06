/** Random conversions; `conversions.soak.test.ts` has more of them. */
import { seeds } from '../../../../support/random.ts';
import { conversions } from './conversions-suite.ts';

conversions(seeds(1, 40));
