/**
 * The queue of the studio's questions: what is in an input, what a mapping gives. A worker answers within seconds; the API never opens an
 * input itself. An answer stands in the data of its job, not in its result, which the queue would also write into its stream of events.
 */
import { randomUUID } from 'node:crypto';
import type { Job, Queue, QueueEvents } from 'bullmq';
import { atMost } from '../src/core/abort.ts';
import { Fault, type FaultData } from '../src/core/fault.ts';
import type { OntologyQuestion as Ontology } from '../src/ontology/read.ts';
import type { RowsQuestion } from '../src/preview/database.ts';
import type { JoinsQuestion as Joins } from '../src/preview/joins.ts';
import type { MappingQuestion } from '../src/preview/preview.ts';
import type { RecordsQuestion as Records } from '../src/preview/records.ts';
import type { MadeQuestion as Made, StatementQuestion as Statement } from '../src/preview/statement.ts';
import type { FieldsQuestion } from '../src/sampling/fields.ts';
import type { ItemsQuestion as Items } from '../src/sampling/items.ts';
import type { QueueBackend } from './backend/backend.ts';
import { NO_WORKERS } from './backend/worker-registry.ts';
import { PREVIEW_QUEUE, type Transformer } from './jobs.ts';

/** Of an input. */
interface OfDirectory {
  /** The transformer whose mapping directory a relative path is of; undefined: it is of the working directory. */
  readonly mappings?: Transformer | undefined;
}

/** Of a mapping: the transformer whose mapping directory its name is of. */
interface OfTransformer {
  readonly service: Transformer;
}

type Asked<Kind extends string, Question> = { readonly kind: Kind } & Question;

/** Of `POST /studio/samples`. */
export type SampleQuestion = Asked<'sample', FieldsQuestion & OfDirectory>;
/** Of `POST /studio/items`. */
export type ItemsQuestion = Asked<'items', Items & OfDirectory>;
/** Of `POST /studio/ontologies`. */
export type OntologyQuestion = Asked<'ontology', Ontology & OfDirectory>;
/** Of `POST /studio/previews`. */
export type PreviewQuestion = Asked<'preview', MappingQuestion & OfTransformer>;
/** Of `POST /studio/statements`. */
export type StatementQuestion = Asked<'statement', Statement & OfTransformer>;
/** Of `POST /datasets/{name}/statements`. */
export type MadeQuestion = Asked<'made', Made & OfTransformer>;
/** Of `POST /studio/records`. */
export type RecordsQuestion = Asked<'records', Records & OfTransformer>;
/** Of `POST /studio/joins`. */
export type JoinsQuestion = Asked<'joins', Joins & OfTransformer>;

export type Question =
  | SampleQuestion
  | ItemsQuestion
  // Of `POST /studio/samples` with a table or a query of the database of the SQL transformer.
  | Asked<'rows', RowsQuestion>
  // Of `GET /studio/tables`.
  | Asked<'tables', unknown>
  | OntologyQuestion
  | PreviewQuestion
  | StatementQuestion
  | MadeQuestion
  | RecordsQuestion
  | JoinsQuestion;

export interface QuestionJob {
  readonly question: Question;
  /** Absent: not answered yet. */
  readonly reply?: Reply;
  /** The caller has disconnected. */
  readonly withdrawn?: true;
}

export type Reply = { readonly answer: unknown } | { readonly fault: FaultData };

export interface Previews {
  /**
   * Resolves to the answer of a worker. `signal`: the caller has gone; a question that no worker has taken is withdrawn.
   *
   * @throws Fault that of the answer; service/unavailable — no answer in time, or the queue is away
   */
  ask(question: Question, signal: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}

/** A worker ends what takes longer (`workers/threads/preview.ts`), and others may come first. */
const ANSWER_MS = 20_000;
const POLL_MS = 1_000;
/** Of answers that were not fetched. */
const KEPT = { age: 60, count: 100 };
const CLOSE_MS = 2_000;

/** Listens from the first question on. */
export function openPreviews(backend: Pick<QueueBackend, 'queue' | 'queueEvents'>): Previews {
  const waiting = new Map<string, () => void>();
  let events: Promise<QueueEvents> | undefined;
  let isClosed = false;

  const listen = async (): Promise<void> => {
    events ??= backend.queueEvents(PREVIEW_QUEUE).then((opened) => {
      const wake = ({ jobId }: { jobId: string }): void => waiting.get(jobId)?.();
      opened.on('completed', wake);
      opened.on('failed', wake);
      return opened;
    });
    try {
      await events;
    } catch (error) {
      events = undefined;
      throw error;
    }
  };

  /** Resolves when the job may have ended: by its event, or since a second has passed. */
  const nextLook = (id: string, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        waiting.delete(id);
        resolve();
      };
      const timer = setTimeout(end, POLL_MS);
      signal.addEventListener('abort', end, { once: true });
      waiting.set(id, end);
    });

  return {
    async ask(question, signal) {
      await listen();
      const queue = backend.queue<QuestionJob>(PREVIEW_QUEUE);
      const id = randomUUID();
      await queue.add(question.kind, { question }, { jobId: id, attempts: 1, removeOnComplete: KEPT, removeOnFail: KEPT });
      try {
        for (const deadline = Date.now() + ANSWER_MS; ; ) {
          const look = nextLook(id, signal);
          const job = await queue.getJob(id);
          if (job === undefined) throw new Fault('service/unavailable', 'The queue has lost the question', { hint: 'Ask again' });
          if (job.data.reply !== undefined) return answerIn(job.data.reply);
          if (job.failedReason)
            throw new Fault('service/unavailable', `No worker could answer: ${job.failedReason}`, { hint: 'Ask again' });
          if (signal.aborted || isClosed) throw new Fault('run/cancelled', 'The caller did not wait for the answer');
          if (Date.now() > deadline) throw await lateFault(job);
          await look;
        }
      } finally {
        waiting.get(id)?.();
        await atMost(CLOSE_MS, withdraw(queue, id));
      }
    },

    async close() {
      isClosed = true;
      for (const wake of waiting.values()) wake();
      const opened = await events?.catch(() => undefined);
      if (opened !== undefined) await atMost(CLOSE_MS, opened.close());
    },
  };
}

/** Removes an answered question, and one that no worker has taken. A worker ends one that it holds, and the queue removes it later. */
async function withdraw(queue: Queue<QuestionJob>, id: string): Promise<void> {
  if ((await queue.remove(id)) === 1) return;
  const job = await queue.getJob(id);
  if (job !== undefined && job.data.reply === undefined) await job.updateData({ ...job.data, withdrawn: true });
}

function answerIn(reply: Reply): unknown {
  if ('fault' in reply) throw Fault.from(reply.fault);
  return reply.answer;
}

async function lateFault(job: Job<QuestionJob>): Promise<Fault> {
  const seconds = ANSWER_MS / 1_000;
  if (await job.isActive()) return new Fault('service/unavailable', `The answer took longer than ${seconds} s`, { hint: 'Ask again' });
  return new Fault('service/unavailable', `No worker has taken the question for ${seconds} s`, { hint: NO_WORKERS });
}
