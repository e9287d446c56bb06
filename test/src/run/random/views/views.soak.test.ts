/** What takes long of `views.test.ts`. */
import './views.test.ts';
