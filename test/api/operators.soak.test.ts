/** What `operators.test.ts` leaves out, on PostgreSQL as the queue. */
import './operators.test.ts';
