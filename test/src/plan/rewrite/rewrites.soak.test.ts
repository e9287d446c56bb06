import { seeds } from '../../run/random/seeds.ts';
import { randomRewrites } from './rewrites-suite.ts';

randomRewrites(seeds(1001, 4000));
