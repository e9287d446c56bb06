import { soakSeeds } from '../../../../support/random.ts';
import { describeDamage } from './damage-suite.ts';

for (const seed of soakSeeds(2, 2)) describeDamage(seed, 30);
