/** Every case of shared runs on every queue. */
import { QUEUES } from '../support/queues/backends.ts';
import { describeQueues } from '../support/queues/describe.ts';
import { slicesSuite } from './slices-suite.ts';

describeQueues(QUEUES, (queue) => slicesSuite(queue, 'soak'));
