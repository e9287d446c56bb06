/** More random files in slices than `files.test.ts` has. */
import { randomSlices } from './files-random.ts';

randomSlices({ tables: [0, 1, 4, 6, 8, 10, 12, 14], dialects: [2, 3, 5], lines: [0, 2, 3, 4, 5, 6, 7] });
