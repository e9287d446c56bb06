/** What npm test shows of sliced runs on one queue, on the others. */
import { describeQueues, OTHER_QUEUES } from '../support/queues/describe.ts';
import { slicesSuite } from './slices-suite.ts';

describeQueues(OTHER_QUEUES, (queue) => slicesSuite(queue, 'soak'));
