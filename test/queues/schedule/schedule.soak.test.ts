/** What npm test shows of the schedule on one queue, on the others. */
import { describeQueues, OTHER_QUEUES } from '../../support/queues/describe.ts';
import { scheduleSuite } from './schedule-suite.ts';

describeQueues(OTHER_QUEUES, (queue) => scheduleSuite(queue, 'soak'));
