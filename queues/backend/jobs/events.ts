/**
 * The events of a queue, read together while several runs are under way.
 *
 * A run has four events, and each of them ends a read that waits. With many small runs that is a question to the queue for nearly every event. Where
 * an answer named several jobs, the next question comes a little later, and its answer names more.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type IQueueBackend, QueueEvents, type QueueEventsOptions } from 'bullmq';

type Answer = Awaited<ReturnType<IQueueBackend['readEvents']>>;

/** The additional delay of an outcome among others. The outcome of a single run is delivered at once. */
const GATHER_MS = 10;

export class GatheredEvents extends QueueEvents {
  constructor(name: string, options: QueueEventsOptions, factory?: undefined) {
    super(name, { ...options, autorun: false }, factory);
    const { backend } = this;
    const read = backend.readEvents.bind(backend);
    let isBusy = false;
    backend.readEvents = async (from, waitMs) => {
      if (isBusy) await sleep(GATHER_MS);
      if (this.closing !== undefined) return undefined;
      const answer = await read(from, waitMs);
      isBusy = jobsOf(answer) > 1;
      return answer;
    };
    this.run().catch((error: Error) => this.emit('error', error));
  }
}

/** How many jobs the events of an answer name. Without events there is no answer. The fields of an event are names and values in turn. */
function jobsOf(answer: Answer): number {
  const events = answer?.[0]?.[1] ?? [];
  return new Set(events.map(([, fields]) => fields[fields.indexOf('jobId') + 1])).size;
}
