/** Some seeds; `records.soak.test.ts` has more. */

import { seeds } from '../../support/random.ts';
import { randomRecords } from './records-suite.ts';

randomRecords(seeds(1, 25));
