/** Random datasets in every format, beyond those of `formats.test.ts`. */
import { describe } from '@jest/globals';
import { SERIALIZATIONS } from '../../../src/sinks/sink.ts';
import './formats.test.ts';
import { testRandomDatasets } from './read-back.ts';

describe.each(SERIALIZATIONS)('%s', (format) => testRandomDatasets(format, [1, 2, 3, 4, 5, 6, 7, 8, 9]));
