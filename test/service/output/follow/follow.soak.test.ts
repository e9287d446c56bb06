/** What takes long of `follow.test.ts`. */
import './follow.test.ts';
