/** Memory does not grow with the XML records that wait for an ancestor: 90 MB, a million records. */
import { boundedParents } from './suite.ts';

boundedParents(500_000);
