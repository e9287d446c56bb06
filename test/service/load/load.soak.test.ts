/** Many runs at once by one process; `load.test.ts` has them by a fleet. */
import { loadOfOneProcess } from './load-suite.ts';

loadOfOneProcess();
