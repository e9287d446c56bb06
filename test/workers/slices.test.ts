/** Runs that the fleet shares, on every queue that is here. */
import { QUEUES } from '../support/queues/backends.ts';
import { describeQueues } from '../support/queues/describe.ts';
import { slicesSuite } from './slices-suite.ts';

describeQueues(QUEUES, (queue) => slicesSuite(queue, 'fast'));
