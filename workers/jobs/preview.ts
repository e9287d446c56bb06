/** Answers the questions of the studio: takes the jobs of the queue `preview`, one at a time. */
import type { Worker } from 'bullmq';
import type { QueueBackend, WorkerSettings } from '../../queues/backend/backend.ts';
import { PREVIEW_QUEUE } from '../../queues/jobs.ts';
import type { Question, QuestionJob, Reply } from '../../queues/preview.ts';
import { Fault } from '../../src/core/fault.ts';
import type { Logger } from '../../src/core/telemetry/observe.ts';
import { type PreviewAccess, PreviewThread } from '../threads/preview.ts';

export interface PreviewWorker {
  readonly worker: Worker;
  close(): Promise<void>;
}

/** A person waits for the answer, so a lost worker is noticed soon. */
const LOCK_MS = 5_000;
const STALLED_MS = 2_000;
/** How soon a question ends that no request waits for. */
const LOOK_MS = 500;
const nothing = (): void => undefined;
/** Of a question whose thread or worker has died. */
const MAX_STARTS = 3;

/** Takes no questions before its worker is run. `access` is read for each question. */
export function openPreviewWorker(
  backend: QueueBackend,
  access: (question: Question) => Promise<PreviewAccess>,
  common: WorkerSettings,
  logger: Logger,
): PreviewWorker {
  const thread = new PreviewThread(logger);

  const replyTo = async ({ question }: QuestionJob, startsBefore: number, signal: AbortSignal): Promise<Reply> => {
    for (let starts = startsBefore + 1; ; starts++) {
      try {
        if (starts > MAX_STARTS) throw new Fault('run/lost', `The question has ended ${MAX_STARTS} workers`);
        return { answer: await thread.ask({ question, access: await access(question) }, signal) };
      } catch (error) {
        const fault = Fault.of(error);
        if (fault.code !== 'run/lost' || starts >= MAX_STARTS) return { fault: fault.toJSON() };
      }
    }
  };

  const worker = backend.worker<QuestionJob>(
    PREVIEW_QUEUE,
    async (job) => {
      const withdrawn = new AbortController();
      const looking = setInterval(() => {
        backend
          .queue<QuestionJob>(PREVIEW_QUEUE)
          .getJob(job.id as string)
          // A queue that is away reports that itself.
          .then((now) => now?.data.withdrawn && withdrawn.abort(), nothing);
      }, LOOK_MS);
      try {
        const reply = await replyTo(job.data, job.attemptsStarted - 1, withdrawn.signal);
        await job.updateData({ ...job.data, reply });
      } finally {
        clearInterval(looking);
      }
    },
    { ...common, lockDuration: LOCK_MS, stalledInterval: STALLED_MS, concurrency: 1 },
  );
  return { worker: worker as unknown as Worker, close: () => thread.close() };
}
