/**
 * Whose turn it is among the runs of a line (`lineOf`): one runs at a time, in the order of the requests. Lines of runs in the queue's database say the order;
 * a run leaves its line when it has ended. A run that is taken before its turn is put off, and holds no place of a worker meanwhile.
 */
import type { Job } from 'bullmq';
import type { QueueBackend } from '../../queues/backend/backend.ts';
import { lockOf } from '../../queues/backend/jobs/changes.ts';
import { ALL_SERVICES, lineOf, type Outcome, type RunPayload, SERVICE_QUEUES } from '../../queues/jobs.ts';

type RunJob = Job<RunPayload, Outcome>;

/** A run that ends calls the next one. This is for the case that its worker dies before it does: each run looks itself, the next one most often. */
const LOOK_MS = 2_000;
const LONGEST_LOOK_MS = 300_000;

export interface DatasetTurns {
  /** Whether an earlier run of the dataset has not ended. */
  isBusy(job: Job<RunPayload>): Promise<boolean>;
  /** Puts a run off until it is called, or where it waits for another process, for a while. @throws Error — `token` does not hold the lock any more */
  putOff(job: Job<RunPayload>, token: string): Promise<void>;
  /** Takes a run that has ended out of the line, and calls the next one. */
  leave(run: RunPayload): Promise<void>;
}

export function datasetTurns({
  queue,
  datasetLines,
  jobChanges,
}: Pick<QueueBackend, 'queue' | 'datasetLines' | 'jobChanges'>): DatasetTurns {
  const queues = ALL_SERVICES.map((service) => queue<RunPayload, Outcome>(SERVICE_QUEUES[service].work));
  const find = async (id: string): Promise<RunJob | undefined> =>
    (await Promise.all(queues.map((one) => one.getJob(id)))).find((job) => job !== undefined);

  /**
   * The first run that has not ended. Runs before it leave the line: their workers died at their end, or their requests before they were in the queue.
   * A request that is still on its way to the queue was not answered, so no later one has to wait for it; its run joins the line again.
   */
  const firstOf = async (line: string, head: string | undefined): Promise<RunJob | undefined> => {
    for (let id = head; id !== undefined; id = await datasetLines.leave(line, id)) {
      const job = await find(id);
      if (job !== undefined && job.finishedOn === undefined) return job;
    }
    return undefined;
  };

  /** Wakes a run that was put off. One that waits for its next attempt keeps its time. */
  const call = async (job: RunJob | undefined): Promise<void> => {
    if (job === undefined || job.attemptsMade > 0 || job.stalledCounter > 0 || !(await job.isDelayed())) return;
    // Its time was over, or another process has called it.
    await job.promote().catch(() => undefined);
  };

  return {
    async isBusy({ data }) {
      const line = lineOf(data);
      if (line === undefined) return false;
      const { head } = await datasetLines.join(line, data.runId);
      if (head === data.runId) return false;
      return (await firstOf(line, head))?.id !== data.runId;
    },

    async putOff(job, token) {
      const { data } = job;
      const line = lineOf(data) as string;
      // 0: its turn has come, and another process writes the dataset.
      const { before } = await datasetLines.join(line, data.runId);
      await jobChanges.amend(SERVICE_QUEUES[data.service].work, data.runId, { waits: (data.waits ?? 0) + 1 }, lockOf(job, token));
      await job.moveToDelayed(Date.now() + Math.min(LONGEST_LOOK_MS, Math.max(1, before) * LOOK_MS), token);
      if (before === 0) return;
      // A run that ended before that did not find it among those that can be called.
      const { head } = await datasetLines.join(line, data.runId);
      if (head === data.runId) await call(await find(head));
    },

    async leave(run) {
      const line = lineOf(run);
      if (line !== undefined) await call(await firstOf(line, await datasetLines.leave(line, run.runId)));
    },
  };
}
