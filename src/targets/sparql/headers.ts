/** Headers of answers that only a store of this project sends. */

/** Why a request was refused, for programs: two reasons have the status 507. */
export const REASON_HEADER = 'quadmill-reason';
