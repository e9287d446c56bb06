/** What `backend.test.ts` leaves out: the cases that start further processes. */
import './backend.test.ts';
