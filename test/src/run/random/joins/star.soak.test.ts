/** What takes long of `star.test.ts`. */
import './star.test.ts';
