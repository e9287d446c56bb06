/** What takes long of `parents.test.ts`. */
import './parents.test.ts';
