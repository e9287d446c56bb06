/** Random datasets by record; `records.soak.test.ts` has more of them. */
import { seeds } from '../../support/random.ts';
import { datasetsByRecord } from './records-suite.ts';

datasetsByRecord(seeds(1, 10), 6);
