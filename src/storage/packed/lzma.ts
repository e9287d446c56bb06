/** The model that encoder and decoder of LZMA share: where each probability stands, and how the state follows what was coded. */

export const STATES = 12;
export const MOST_LENGTH = 273;
export const LEAST_LENGTH = 2;
/** Slots from here on have direct bits, of which the last four are modelled. */
export const FIRST_DIRECT_SLOT = 14;
/** Probabilities have 11 bits; half of them is where each begins. */
export const PROBABILITY_BITS = 11;
export const HALF = 1 << (PROBABILITY_BITS - 1);
export const MOVE_BITS = 5;
/** Below it, the range takes a further byte. */
export const LEAST_RANGE = 2 ** 24;

const POSITION_STATES = 16;

// Within a coder of lengths.
export const CHOICE = 0;
export const CHOICE_2 = 1;
export const LOW = 2;
export const MIDDLE = LOW + POSITION_STATES * 8;
export const HIGH = MIDDLE + POSITION_STATES * 8;
const LENGTH_PROBABILITIES = HIGH + 256;

export const IS_MATCH = 0;
export const IS_REP = IS_MATCH + STATES * POSITION_STATES;
export const IS_REP_0 = IS_REP + STATES;
export const IS_REP_1 = IS_REP_0 + STATES;
export const IS_REP_2 = IS_REP_1 + STATES;
export const IS_REP_0_LONG = IS_REP_2 + STATES;
export const SLOT = IS_REP_0_LONG + STATES * POSITION_STATES;
export const DISTANCE = SLOT + 4 * 64;
export const ALIGN = DISTANCE + 128;
export const MATCH_LENGTH = ALIGN + 16;
export const REP_LENGTH = MATCH_LENGTH + LENGTH_PROBABILITIES;
export const LITERAL = REP_LENGTH + LENGTH_PROBABILITIES;

/** @param literalBits `lc + lp` */
export const newProbabilities = (literalBits: number): Uint16Array => new Uint16Array(LITERAL + (0x300 << literalBits)).fill(HALF);

export const afterLiteral = (state: number): number => (state < 4 ? 0 : state < 10 ? state - 3 : state - 6);
export const afterMatch = (state: number): number => (state < 7 ? 7 : 10);
export const afterRep = (state: number): number => (state < 7 ? 8 : 11);
export const afterShortRep = (state: number): number => (state < 7 ? 9 : 11);
