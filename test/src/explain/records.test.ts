/** Some seeds; `records.soak.test.ts` has more. */

import { seeds } from '../run/random/seeds.ts';
import { randomRecords } from './records-suite.ts';

randomRecords(seeds(1, 25));
