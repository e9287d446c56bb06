/** Memory does not grow with the input; `memory.soak.test.ts` does the same with larger ones, in every format. */
import { boundedInputs, testBallast } from './suite.ts';

testBallast();
boundedInputs(['csv'], 15_000);
