/** What takes long of `write.test.ts`. */
import './write.test.ts';
