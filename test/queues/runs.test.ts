/** The contract of runs; `runs.soak.test.ts` has it on the other queues. */
import { describeQueues, ONE_QUEUE } from '../support/queues/describe.ts';
import { runsSuite } from './runs-suite.ts';

describeQueues(ONE_QUEUE, (queue) => runsSuite(queue, 'fast'));
