/** What `object-storage.test.ts` leaves out. */
import './object-storage.test.ts';
