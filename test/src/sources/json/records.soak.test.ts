/** What takes long of `records.test.ts`. */
import './records.test.ts';
