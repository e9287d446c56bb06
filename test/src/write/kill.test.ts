/** Kills in mid-write: the smallest of what `kill.soak.test.ts` does in every mode and scope. */
import { killSuite } from './kill-suite.ts';

killSuite([['update of subjects', 30_000, { mode: 'update', scope: 'subject' }]]);
