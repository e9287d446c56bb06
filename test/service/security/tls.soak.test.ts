/** What `tls.test.ts` leaves out: the cases that start further processes, and the reload of the pair. */
import './tls.test.ts';
