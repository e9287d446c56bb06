/**
 * Start-time fair queueing: callers share the workers fairly, however many runs each of them has waiting.
 *
 * Each run gets a start tag, which becomes its BullMQ priority: the n-th waiting run of a caller gets the tag n, and a caller without
 * waiting runs continues at the queue's current tag. The state is the last tag of each caller and the current tag of the queue, stored by
 * the backend and deleted once no run is waiting, delayed or active. A retried run keeps its tag: it runs next and does not set the current
 * tag back. A process that dies between taking a tag and using it leaves a gap, which is harmless.
 *
 * Urgency takes precedence over fairness: each urgency has its own band of priorities.
 *
 * @see P. Goyal, H. Vin, H. Cheng: Start-time Fair Queueing (SIGCOMM 1996)
 */

/** As in RFC 9218: 0 is the most urgent. */
export const URGENCY_LEVELS = 8;
export const DEFAULT_URGENCY = 3;

/** BullMQ's priorities range from 1 to this. */
const LARGEST_PRIORITY = 2 ** 21 - 1;
const BAND_WIDTH = 2 ** 21 / URGENCY_LEVELS;
/**
 * The distance between tags halves every `HALF_LIFE` tags while the queue is not empty, so the band is enough for 10^9 runs. After that,
 * runs are taken in the order of submission until the queue is empty.
 */
const HALF_LIFE = 16_384;

/** A range of the priorities of a queue. */
export interface PriorityBand {
  readonly queue: string;
  /** The band has the priorities `offset + 1` to `offset + width`. */
  readonly offset: number;
  readonly width: number;
  readonly halfLife: number;
}

/** Implemented by the backend of the queue. */
export interface FairQueueing {
  /**
   * Takes the next start tag of `caller` in `band`, and stores it as the caller's last tag.
   *
   * The tag is one step after the caller's last tag, but at least the current tag of the queue, which is that of the next waiting job and
   * never decreases. In an empty queue all callers start again: the tag is `1 + pending`, where `pending` counts tags that the caller has
   * taken and not used yet. Without a caller: the current tag of the queue, and nothing is stored for a caller.
   *
   * Tags are fractional and at least 1; `priorityOf` rounds them. Safe to call from several processes at once. `pending` knows the tags of
   * one process alone: processes that submit for one caller to an empty queue at the same moment may take equal tags. Such runs keep
   * the order of arrival, and the caller has one of each such process in a turn, until a run of them is waiting.
   *
   * @throws the error of the queue's client library when the queue is away
   */
  nextStartTag(band: PriorityBand, caller: string | undefined, pending?: number): Promise<number>;
  /** As `nextStartTag`, for the job with this id. Where the queue has it already, nothing is taken, and there is no tag. */
  startTagOf(id: string, band: PriorityBand, caller: string, pending: number): Promise<number | undefined>;
}

export function bandOf(queue: string, urgency: number): PriorityBand {
  const offset = urgency * BAND_WIDTH;
  return { queue, offset, width: Math.min(BAND_WIDTH, LARGEST_PRIORITY - offset), halfLife: HALF_LIFE };
}

/** The urgency of a job with this priority. */
export const urgencyOf = (priority: number): number => Math.min(URGENCY_LEVELS - 1, Math.floor(Math.max(0, priority - 1) / BAND_WIDTH));

export const priorityOf = ({ offset, width }: PriorityBand, startTag: number): number =>
  offset + Math.min(width, Math.max(1, Math.round(startTag)));

/** The priorities of `count` consecutive jobs of one caller, in order; the first has `startTag`. */
export function prioritiesFrom(band: PriorityBand, startTag: number, count: number): readonly number[] {
  const priorities: number[] = [];
  for (let tag = startTag; priorities.length < count; tag += 2 ** (-tag / band.halfLife)) priorities.push(priorityOf(band, tag));
  return priorities;
}
