/** The cases of runs that `npm test` leaves out, on the other queues. */
import { describeQueues, OTHER_QUEUES } from '../support/queues/describe.ts';
import { runsSuite } from './runs-suite.ts';

describeQueues(OTHER_QUEUES, (queue) => runsSuite(queue, 'soak'));
