/**
 * The Turtle parser of n3, without the rest of n3: its store and streams, and what they import, take 15 % of the processor time of a run of
 * three records.
 */
import type { Parser as N3Parser } from 'n3';
import parser from 'n3/lib/N3Parser.js';

/** As @types/n3 describes it. */
export const Parser: typeof N3Parser = parser.default;
