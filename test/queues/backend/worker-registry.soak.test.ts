/** What `worker-registry.test.ts` leaves out, on PostgreSQL as the queue. */
import './worker-registry.test.ts';
