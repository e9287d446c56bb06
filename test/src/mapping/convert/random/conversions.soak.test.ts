import { soakSeeds } from '../../../../support/random.ts';
import { conversions } from './conversions-suite.ts';

conversions(soakSeeds(41, 140));
