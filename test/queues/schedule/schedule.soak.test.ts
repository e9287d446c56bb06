/** The cases of the schedule that `npm test` leaves out, on the other queues. */
import { describeQueues, OTHER_QUEUES } from '../../support/queues/describe.ts';
import { scheduleSuite } from './schedule-suite.ts';

describeQueues(OTHER_QUEUES, (queue) => scheduleSuite(queue, 'soak'));
