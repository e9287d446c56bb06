/** What takes long of `gathers.test.ts`. */
import './gathers.test.ts';
