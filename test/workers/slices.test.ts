/** Runs that the fleet shares; `slices.soak.test.ts` has them on the other queues. */
import { describeQueues, ONE_QUEUE } from '../support/queues/describe.ts';
import { slicesSuite } from './slices-suite.ts';

describeQueues(ONE_QUEUE, (queue) => slicesSuite(queue, 'fast'));
