/** Random requests, few of them: no 500, no stack, no hang. */
import { fuzz } from './fuzz-suite.ts';

fuzz(1, 200, 8);
