/** More seeds of `records.test.ts`. */

import { seeds } from '../../support/random.ts';
import { randomRecords } from './records-suite.ts';

randomRecords(seeds(1000, 1150));
