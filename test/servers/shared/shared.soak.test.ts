/** The server that `shared.test.ts` leaves out, since no file of `npm test` needs it. */
import './shared.test.ts';
