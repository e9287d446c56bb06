/** Many runs at once, by a fleet and by one process. */
import { loadOfFleet, loadOfOneProcess } from './load-suite.ts';

loadOfFleet();
loadOfOneProcess();
