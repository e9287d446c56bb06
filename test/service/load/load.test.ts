/** Many runs at once by a fleet; `load.soak.test.ts` has them by one process. */
import { loadOfFleet } from './load-suite.ts';

loadOfFleet();
