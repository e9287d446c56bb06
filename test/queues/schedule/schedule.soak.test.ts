/** Every case of the schedule on every queue. */
import { QUEUES } from '../../support/queues/backends.ts';
import { describeQueues } from '../../support/queues/describe.ts';
import { scheduleSuite } from './schedule-suite.ts';

describeQueues(QUEUES, (queue) => scheduleSuite(queue, 'soak'));
