import { soakSeeds } from '../../../support/random.ts';
import { followsTables } from './follow-suite.ts';

followsTables(soakSeeds(101, 120), 5, soakSeeds(201, 220), 6);
