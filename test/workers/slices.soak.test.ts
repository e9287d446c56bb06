/** The cases of sliced runs that `npm test` leaves out, on the other queues. */
import { describeQueues, OTHER_QUEUES } from '../support/queues/describe.ts';
import { slicesSuite } from './slices-suite.ts';

describeQueues(OTHER_QUEUES, (queue) => slicesSuite(queue, 'soak'));
