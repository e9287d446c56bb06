/** Memory does not grow with the input; `memory.soak.test.ts` does the same with larger ones, in every format. */
import { boundedInputs, boundedRecords, testBallast } from './suite.ts';

testBallast();
boundedInputs(['csv', 'json', 'xml'], 15_000);
boundedRecords([0, 2]);
