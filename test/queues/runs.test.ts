/** The contract of runs on every queue that is here. */
import { QUEUES } from '../support/queues/backends.ts';
import { describeQueues } from '../support/queues/describe.ts';
import { runsSuite } from './runs-suite.ts';

describeQueues(QUEUES, (queue) => runsSuite(queue, 'fast'));
