import { seeds } from '../../../support/random.ts';
import { followsTables } from './follow-suite.ts';

followsTables(seeds(1, 8), 3, seeds(1, 10), 6);
