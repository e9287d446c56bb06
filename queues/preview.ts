/**
 * The queue of the studio's questions: what is in an input, what a mapping gives. A worker answers within seconds; the API never opens an
 * input itself. An answer stands in the data of its job, not in its result, which the queue would also write into its stream of events.
 */
import { randomUUID } from 'node:crypto';
import type { Job, Queue, QueueEvents } from 'bullmq';
import { atMost } from '../src/core/abort.ts';
import { Fault, type FaultData } from '../src/core/fault.ts';
import type { RdfSyntax } from '../src/core/input/rdf-syntaxes.ts';
import type { QueueBackend } from './backend/backend.ts';
import { NO_WORKERS } from './backend/worker-registry.ts';
import { PREVIEW_QUEUE, type Transformer } from './jobs.ts';

/** Of `POST /studio/samples`. */
export interface SampleQuestion {
  readonly kind: 'sample';
  /** URL or path of the input; of a workbook also with a sheet, `people.xlsx#Staff`. */
  readonly location: string;
  /** One of `FORMATS`; undefined: by the name, else by the media type. */
  readonly format?: string | undefined;
  readonly delimiter?: string | undefined;
  /** Empty: none. */
  readonly quote?: string | undefined;
  readonly encoding?: string | undefined;
  /** The transformer whose mapping directory a relative path is of; undefined: it is of the working directory. */
  readonly mappings?: Transformer | undefined;
  /** More of the input is read. */
  readonly deeper?: boolean | undefined;
  /** Values of single items of lists are wanted. */
  readonly items?: boolean | undefined;
  /** Texts that mean no value. undefined: empty cells of CSV and workbooks alone. */
  readonly nulls?: readonly string[] | undefined;
  /** An empty cell without quotes is no value, as in legacy RML and YARRRML. */
  readonly legacy?: boolean | undefined;
}

/** Of `POST /studio/items`. */
export interface ItemsQuestion {
  readonly kind: 'items';
  readonly location: string;
  readonly format: 'json' | 'jsonl' | 'xml';
  /** As of a sample. */
  readonly mappings?: Transformer | undefined;
  /** Of XML: by prefix. */
  readonly namespaces?: Readonly<Record<string, string>> | undefined;
  /** JSONPath or XPath of the items of one list. */
  readonly iterator: string;
  /** From an item on. */
  readonly references: readonly string[];
  /** Position of the first item that is wanted, from 0. */
  readonly from: number;
  /** Only items with this in one of their values. */
  readonly find?: string | undefined;
  /** Texts that mean no value. */
  readonly nulls?: readonly string[] | undefined;
}

/** Of `POST /studio/ontologies`. */
export interface OntologyQuestion {
  readonly kind: 'ontology';
  readonly location: string;
  /** undefined: what the document shows, else its name or media type. */
  readonly format?: RdfSyntax | undefined;
  /** As of a sample. */
  readonly mappings?: Transformer | undefined;
}

/** Of `POST /studio/samples` with a table or a query of the database of the SQL transformer. */
export interface RowsQuestion {
  readonly kind: 'rows';
  readonly of: 'table' | 'query';
  /** The table as a mapping writes it, or the query. */
  readonly text: string;
  readonly deeper?: boolean | undefined;
  /** Texts that mean no value. */
  readonly nulls?: readonly string[] | undefined;
}

/** Of `GET /studio/tables`. */
export interface TablesQuestion {
  readonly kind: 'tables';
}

/** The text of a mapping, and what it reads. */
interface MappingOf {
  readonly service: Transformer;
  /** Name of the mapping file, which tells the language. */
  readonly name: string;
  readonly text: string;
  readonly inputs: readonly { readonly name: string; readonly url: string }[];
  /** Of each iteration, from 10 to 1000. */
  readonly records: number;
}

/** Of `POST /studio/previews`. */
export interface PreviewQuestion extends MappingOf {
  readonly kind: 'preview';
}

/** Of `POST /studio/statements`. */
export interface StatementQuestion extends MappingOf {
  readonly kind: 'statement';
  readonly statement: string;
}

/** Of `POST /studio/records`. */
export interface RecordsQuestion extends MappingOf {
  readonly kind: 'records';
  /** IRI, or `_:label`. */
  readonly triplesMap: string;
}

/** Of `POST /studio/joins`. */
export interface JoinsQuestion extends MappingOf {
  readonly kind: 'joins';
  /** Triples maps: IRI, or `_:label`. */
  readonly child: string;
  readonly parent: string;
  /** An IRI; undefined: any. */
  readonly predicate?: string | undefined;
}

export type Question =
  | SampleQuestion
  | ItemsQuestion
  | RowsQuestion
  | TablesQuestion
  | OntologyQuestion
  | PreviewQuestion
  | StatementQuestion
  | RecordsQuestion
  | JoinsQuestion;

export interface QuestionJob {
  readonly question: Question;
  /** Absent: not answered yet. */
  readonly reply?: Reply;
  /** Nobody waits for the answer any more. */
  readonly withdrawn?: true;
}

export type Reply = { readonly answer: unknown } | { readonly fault: FaultData };

export interface Previews {
  /**
   * Resolves to the answer of a worker. `signal`: the caller has gone; a question that no worker has taken is withdrawn.
   *
   * @throws Fault that of the answer; service/unavailable — nobody has answered in time, or the queue is away
   */
  ask(question: Question, signal: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}

/** A worker ends what takes longer (`workers/threads/preview.ts`), and others may come first. */
const ANSWER_MS = 20_000;
const POLL_MS = 1_000;
/** Of answers that nobody has fetched. */
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
