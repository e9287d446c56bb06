/** What takes long of `datasets.test.ts`. */
import './datasets.test.ts';
