/** Callers take turns where one of them has thousands of runs waiting, and every other case on every queue. */
import { QUEUES } from '../../support/queues/backends.ts';
import { describeQueues } from '../../support/queues/describe.ts';
import { fairnessSuite } from './fairness-suite.ts';

describeQueues(QUEUES, (queue) => fairnessSuite(queue, 'soak', 1_000));
