/** What takes long of `equalities.test.ts`. */
import './equalities.test.ts';
