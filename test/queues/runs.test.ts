/** The contract of runs; `runs.soak.test.ts` has it on the other queues. */
import { describeQueues, FAST_QUEUES } from '../support/queues/describe.ts';
import { runsSuite } from './runs-suite.ts';

describeQueues(FAST_QUEUES, (queue) => runsSuite(queue, 'fast'));
