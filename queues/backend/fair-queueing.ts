/**
 * Whose run is next: callers take turns, whatever number of runs each has waiting.
 *
 * Start-time fair queueing: a run gets as BullMQ priority its place in the row of its caller, the n-th waiting run the place n, and a
 * caller without waiting runs goes on where the queue is. The only state is the last place of each caller and where the queue is, kept beside
 * it, and forgotten when nothing waits, is delayed or goes on. A run that comes back keeps its place: it is next, and moves nothing back. A process that dies between taking a place and using it leaves a gap, and gaps harm nobody.
 *
 * Urgency comes before fairness: each has a band of priorities of its own.
 *
 * @see P. Goyal, H. Vin, H. Cheng: Start-time Fair Queueing (SIGCOMM 1996)
 */

/** As in RFC 9218: 0 is the most urgent. */
export const URGENCY_LEVELS = 8;
export const DEFAULT_URGENCY = 3;

/** BullMQ's priorities go from 1 to 2^21. */
const BAND_WIDTH = 2 ** 21 / URGENCY_LEVELS;
/**
 * Places lie the closer together the longer the queue has not been empty: half as far apart with each so many. So the band lasts for
 * 10^9 runs; at its end there is the order of submission, until the queue is empty.
 */
const HALF_LIFE = 16_384;

/** A band of the priorities of a queue. */
export interface PriorityBand {
  readonly queue: string;
  /** Priorities `above + 1` to `above + width`. */
  readonly offset: number;
  readonly width: number;
  readonly halfLife: number;
}

/** Kept by the backend of the queue. */
export interface FairQueueing {
  /**
   * The next place of a caller: that behind its last one, but not before where the queue is: the job which is next, unless that has come
   * back from an earlier time. In an empty queue, where callers start anew, that behind the `pending` runs for which the caller has taken
   * places and not used them yet. Without a caller, where the queue is. Places are at least 1, and not whole.
   */
  nextStartTag(band: PriorityBand, caller: string | undefined, pending?: number): Promise<number>;
}

export function bandOf(queue: string, urgency: number): PriorityBand {
  return { queue, offset: urgency * BAND_WIDTH, width: BAND_WIDTH, halfLife: HALF_LIFE };
}

/** The urgency of a job with this priority. */
export const urgencyOf = (priority: number): number => Math.min(URGENCY_LEVELS - 1, Math.floor(Math.max(0, priority - 1) / BAND_WIDTH));

export const priorityOf = ({ offset, width }: PriorityBand, startTag: number): number =>
  offset + Math.min(width, Math.max(1, Math.round(startTag)));

/** The priorities of neighbouring jobs of one caller, the first of which has `place`. */
export function prioritiesFrom(band: PriorityBand, startTag: number, count: number): readonly number[] {
  const priorities: number[] = [];
  for (let tag = startTag; priorities.length < count; tag += 2 ** (-tag / band.halfLife)) priorities.push(priorityOf(band, tag));
  return priorities;
}
