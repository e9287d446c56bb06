/** Memory does not grow with the input, nor with the statements of a record. */
import { boundedInputs, boundedRecords } from './suite.ts';

boundedInputs(['csv', 'json', 'xml'], 60_000);
boundedRecords([0, 1, 2]);
