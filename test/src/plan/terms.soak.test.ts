/** What takes long of `terms.test.ts`. */
import './terms.test.ts';
