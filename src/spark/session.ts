/**
 * A session on a server of Spark Connect: statements of SQL, and queries whose lines the cluster writes. No row comes to this process.
 *
 * Spark keeps the answers of an operation, so a connection that breaks is opened again, and the operation goes on meanwhile.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientReadableStream, type ServiceError, status } from '@grpc/grpc-js';
import { Fault } from '../core/fault.ts';
import type { SparkAddress } from './address.ts';
import { type Answer, errorIdOf, SparkClient } from './client.ts';
import { type Sent, sparkFault, statementExcerpt } from './faults.ts';

/** A server may have to start a cluster before its first answer. */
const CONNECT_LIMIT_MS = 300_000;
const ANSWER_LIMIT_MS = 10_000;
/** A connection that has broken is given up after this time without an answer. */
const RECONNECT_LIMIT_MS = 30_000;
const RECONNECT_PAUSE_MS = 1_000;
const OLDEST_VERSION = 4;

/** Values of enumerations: `protocol.ts`. */
const OVERWRITE = 2;
const INTERRUPT_OPERATION = 3;

/** Tasks of the stages that Spark knows of. */
export interface SparkProgress {
  readonly tasks: number;
  readonly completed: number;
  readonly bytesRead: number;
}

export class SparkSession {
  readonly #client: SparkClient;
  readonly #server: string;
  readonly #signal: AbortSignal;
  /** Of each request. */
  readonly #common: object;
  /** What the server calls the session: a server that has been started again refuses it. */
  #observed: { readonly client_observed_server_side_session_id?: string } = {};

  private constructor(address: SparkAddress, signal: AbortSignal) {
    this.#client = new SparkClient(address);
    this.#server = address.server;
    this.#signal = signal;
    const { userId, agent } = address;
    this.#common = { session_id: randomUUID(), user_context: { user_id: userId, user_name: userId }, client_type: agent };
  }

  /**
   * @param signal cancels what is under way on the server
   * @throws Fault engine/unreachable, engine/credentials, engine/refused — also a version before 4.0
   */
  static async open(address: SparkAddress, signal: AbortSignal): Promise<SparkSession> {
    const session = new SparkSession(address, signal);
    try {
      await session.#greet();
      return session;
    } catch (error) {
      session.#client.close();
      throw error;
    }
  }

  async #greet(): Promise<void> {
    const sent: Sent = { what: 'a session', place: {} };
    const answer = await this.#client
      .ask<{ server_side_session_id?: string; spark_version?: { version?: string } }>(
        'AnalyzePlan',
        { ...this.#common, spark_version: {} },
        CONNECT_LIMIT_MS,
        this.#signal,
      )
      .catch((error: ServiceError) => {
        throw sparkFault(error, this.#server, sent);
      });
    const version = answer.spark_version?.version ?? '';
    if (!(Number.parseInt(version, 10) >= OLDEST_VERSION))
      throw new Fault('engine/refused', `Spark at ${this.#server} has the version ${version || 'unknown'}, and a job needs 4.0 or later`);
    if (answer.server_side_session_id) this.#observed = { client_observed_server_side_session_id: answer.server_side_session_id };
  }

  /**
   * Executes a statement for its effect.
   *
   * @throws Fault engine/…, the code that the job names, run/cancelled
   */
  async run(sql: string, place: Sent['place'] = {}): Promise<void> {
    await this.#execute({ sql_command: { input: { sql: { query: sql } } } }, { what: statementExcerpt(sql), place });
  }

  /**
   * Has the cluster write the one column of a query as lines of text files, and replaces what is there.
   *
   * @param directory as Spark names it
   * @returns the number of lines
   * @throws Fault — as `run`
   */
  async write(query: string, directory: string, progress: (progress: SparkProgress) => void): Promise<number> {
    const counted = {
      collect_metrics: { input: { sql: { query } }, name: 'lines', metrics: [{ expression_string: { expression: 'count(1)' } }] },
    };
    let lines: number | undefined;
    await this.#execute(
      { write_operation: { input: counted, source: 'text', path: directory, mode: OVERWRITE } },
      { what: `the query of ${directory}`, place: {} },
      ({ observed_metrics: metrics = [], execution_progress: now }) => {
        const value = metrics[0]?.values?.[0];
        if (value !== undefined) lines = value.long ?? 0;
        if (now === undefined) return;
        const stages = now.stages ?? [];
        const sum = (field: keyof (typeof stages)[number]): number => stages.reduce((all, stage) => all + (stage[field] ?? 0), 0);
        progress({ tasks: sum('num_tasks'), completed: sum('num_completed_tasks'), bytesRead: sum('input_bytes_read') });
      },
    );
    if (lines === undefined) throw new Fault('engine/refused', `Spark at ${this.#server} has not counted the lines of ${directory}`);
    return lines;
  }

  async #execute(command: object, sent: Sent, seen: (answer: Answer) => void = () => undefined): Promise<void> {
    if (this.#signal.aborted) throw cancelled();
    const operation = { ...this.#common, ...this.#observed, operation_id: randomUUID() };
    let last: string | undefined;
    let isComplete = false;
    let lostSince: number | undefined;
    const take = (answer: Answer): void => {
      lostSince = undefined;
      last = answer.response_id ?? last;
      isComplete ||= answer.result_complete !== undefined;
      seen(answer);
    };
    const begin = (): ClientReadableStream<Answer> =>
      this.#client.stream('ExecutePlan', {
        ...operation,
        plan: { command },
        request_options: [{ reattach_options: { reattachable: true } }],
      });
    let stream = begin();
    let cancelling: Promise<Fault> | undefined;
    const cancel = (): void => {
      cancelling = this.#interrupt(operation, () => stream.cancel());
    };
    this.#signal.addEventListener('abort', cancel, { once: true });
    try {
      for (;;) {
        const started = performance.now();
        const error = await endOf(stream, take);
        if (cancelling !== undefined) throw await cancelling;
        if (isComplete) return;
        const ended = performance.now();
        // Spark ends a stream that has lasted for some minutes, which is no error. One may last without an answer.
        if (error === undefined || ended - started > RECONNECT_LIMIT_MS) lostSince = undefined;
        // The connection broke before the operation came to Spark.
        const isUnknown = last === undefined && error?.details.includes('[INVALID_HANDLE.OPERATION_NOT_FOUND]') === true;
        if (error !== undefined) {
          lostSince ??= ended;
          const isLost = isUnknown || error.code === status.UNAVAILABLE;
          if (!isLost || ended - lostSince > RECONNECT_LIMIT_MS) throw await this.#faultOf(error, sent);
        }
        await sleep(RECONNECT_PAUSE_MS);
        stream = isUnknown
          ? begin()
          : this.#client.stream('ReattachExecute', { ...operation, ...(last === undefined ? {} : { last_response_id: last }) });
      }
    } finally {
      this.#signal.removeEventListener('abort', cancel);
    }
  }

  /** Resolves to what the run ends with: it was cancelled, or the server has not said so. */
  async #interrupt(operation: object, end: () => void): Promise<Fault> {
    try {
      await this.#client.ask('Interrupt', { ...operation, interrupt_type: INTERRUPT_OPERATION }, ANSWER_LIMIT_MS);
      return cancelled();
    } catch (error) {
      end();
      const { details } = error as ServiceError;
      return new Fault('engine/unreachable', `Spark at ${this.#server} does not confirm that the job is cancelled: ${details}`, {
        hint: 'It may go on there until it ends',
        cause: error,
      });
    }
  }

  /** Spark keeps the causes of an error for a while. */
  async #faultOf(error: ServiceError, sent: Sent): Promise<Fault> {
    const id = errorIdOf(error);
    if (id === undefined) return sparkFault(error, this.#server, sent);
    // The status has the message all the same.
    const { root_error_idx: root, errors = [] } = await this.#client
      .ask<{ root_error_idx?: number; errors?: readonly { message?: string; cause_idx?: number }[] }>(
        'FetchErrorDetails',
        { ...this.#common, error_id: id },
        ANSWER_LIMIT_MS,
      )
      .catch(() => ({ root_error_idx: undefined, errors: undefined }));
    const messages: string[] = [];
    for (let at = root; at !== undefined && messages.length < errors.length; at = errors[at]?.cause_idx)
      messages.push(errors[at]?.message ?? '');
    return sparkFault(error, this.#server, sent, messages);
  }

  async close(): Promise<void> {
    // A session that is not released ends when it has not been used for a while.
    await this.#client.ask('ReleaseSession', this.#common, ANSWER_LIMIT_MS).catch(() => undefined);
    this.#client.close();
  }
}

const cancelled = (): Fault => new Fault('run/cancelled', 'The run was cancelled');

/** Resolves to the error that ends a stream. */
const endOf = (stream: ClientReadableStream<Answer>, take: (answer: Answer) => void): Promise<ServiceError | undefined> =>
  new Promise((resolve) => {
    stream
      .on('data', take)
      .on('error', (error) => resolve(error as ServiceError))
      .on('end', () => resolve(undefined));
  });
