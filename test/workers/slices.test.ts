/** Runs that the fleet shares; `slices.soak.test.ts` has them on the other queues. */
import { describeQueues, FAST_QUEUES } from '../support/queues/describe.ts';
import { slicesSuite } from './slices-suite.ts';

describeQueues(FAST_QUEUES, (queue) => slicesSuite(queue, 'fast'));
