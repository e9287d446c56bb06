/** What takes long of `promises.test.ts`. */
import './promises.test.ts';
