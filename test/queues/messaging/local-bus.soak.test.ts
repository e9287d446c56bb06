/** What npm test shows of the local bus on one queue, on the others. */
import { describeQueues, OTHER_QUEUES } from '../../support/queues/describe.ts';
import { localBusSuite } from './local-bus-suite.ts';

describeQueues(OTHER_QUEUES, (queue) => localBusSuite(queue, 'soak'));
