import { seeds } from '../../../support/random.ts';
import { randomRewrites } from './rewrites-suite.ts';

randomRewrites(seeds(1, 40));
