/** Kills in mid-write, in every mode and scope. */
import { killSuite } from './kill-suite.ts';

killSuite([
  ['insert', 60_000, { mode: 'insert' }],
  ['update of properties', 60_000, { mode: 'update', scope: 'property' }],
  ['update of subjects', 60_000, { mode: 'update', scope: 'subject' }],
  ['update of graphs', 60_000, { mode: 'update', scope: 'graph' }],
]);
