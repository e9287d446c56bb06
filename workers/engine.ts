/** The engine of this program, as the threads that map load it. */
export { executeRun } from '../src/run/run.ts';
export { cutRun } from '../src/run/slices.ts';
