/** What npm test shows of runs on one queue, on the others. */
import { describeQueues, OTHER_QUEUES } from '../support/queues/describe.ts';
import { runsSuite } from './runs-suite.ts';

describeQueues(OTHER_QUEUES, (queue) => runsSuite(queue, 'soak'));
