import { describeDamage } from './damage-suite.ts';

describeDamage(1, 12);
