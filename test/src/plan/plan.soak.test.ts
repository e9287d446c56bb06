/** What takes long of `plan.test.ts`. */
import './plan.test.ts';
