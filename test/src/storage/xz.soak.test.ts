/** What `xz.test.ts` leaves out: content that is larger than the window. */
import './xz.test.ts';
