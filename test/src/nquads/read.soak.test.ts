/** What takes long of `read.test.ts`. */
import './read.test.ts';
