/** The cases of `refusing-queue.test.ts` that take long. */
import './refusing-queue.test.ts';
