/** What a triples map of an entity iterates over. */
import type { Input, Path } from '../document.ts';
import { isFlat, iterationOf } from '../levels.ts';

/** Its iteration; of an object that is in no list, the root of the document. Rows of flat inputs have no path. */
export const iteratorOf = (input: Input, level: Path): Path => (isFlat(input.format) ? [] : iterationOf(level));
