/** More random algebras for each rewrite. The 9,000 of RANDOM_SEEDS=1001-4000 take three minutes. */
import { soakSeeds } from '../../../support/random.ts';
import { randomRewrites } from './rewrites-suite.ts';

randomRewrites(soakSeeds(41, 140));
