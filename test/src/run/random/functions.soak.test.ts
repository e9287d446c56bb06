/** What takes long of `functions.test.ts`. */
import './functions.test.ts';
