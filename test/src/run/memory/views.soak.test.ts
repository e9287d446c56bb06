/** Memory does not grow with the rows of views: 300,000 records, and a join of as many with as many, in 8 MB. */
import { boundedViews } from './suite.ts';

boundedViews(300_000);
