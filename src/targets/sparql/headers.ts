/** Headers of answers that only a store of this project sends. */

/** Why a request was refused, for programs: two reasons have the status 507. */
export const REASON_HEADER = 'quadmill-reason';

/** By which the embedded store tells the callers of its process apart; absent: the process itself. */
export const CALLER_HEADER = 'quadmill-caller';
