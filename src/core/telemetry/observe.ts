/** Log lines and metrics of a process. Labels are bounded: never a run id, a path or a URL. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type DestinationStream, type Logger, pino } from 'pino';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { redact } from '../redact.ts';

export type { Logger };

const SECRET_FIELDS = ['password', 'secret', 'token', 'authorization', 'cookie', 'apiTokens', 'DB_PASSWORD', 'KAFKA_PASSWORD'];

/**
 * One JSON line per event, to standard output or to `destination`. Fields that carry secrets are removed at the first three levels;
 * passwords inside URLs of `url`, `source`, `input`, `queue` and of error messages are hidden.
 */
export function createLogger(options: { readonly level?: string; readonly name?: string } = {}, destination?: DestinationStream): Logger {
  const hide = (value: unknown): unknown => (typeof value === 'string' ? redact(value) : value);
  const settings = {
    level: options.level ?? 'info',
    base: options.name === undefined ? null : { name: options.name },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]), censor: '******' },
    serializers: {
      url: hide,
      source: hide,
      input: hide,
      queue: hide,
      error: (error: unknown) =>
        error instanceof Error
          ? {
              type: error.name,
              message: redact(error.message),
              stack: error.stack === undefined ? undefined : redact(error.stack),
            }
          : hide(String(error)),
    },
  };
  // Lines that arrive during a write are written together.
  return pino(settings, destination ?? pino.destination({ fd: 1, sync: false }));
}

/** A logger that writes nothing. */
export function quietLogger(): Logger {
  return pino({ level: 'silent' });
}

export const registry = new Registry();

/** Registers the metrics of the Node process itself (memory, event loop, garbage collection), once. */
export function observeProcess(): void {
  if (registry.getSingleMetric('process_cpu_seconds_total') !== undefined) return;
  collectDefaultMetrics({ register: registry });
  observeEventLoop();
}

const LAG_RESOLUTION_MS = 20;
const LAG_WINDOW_MS = 1_000;

/** The longest delay of each second is one observation, so scraping more or less often changes nothing. */
function observeEventLoop(): void {
  const delay = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  delay.enable();
  const window = setInterval(() => {
    // Nanoseconds between two samples, including the wait between them.
    METRICS.eventLoopLag.observe(Math.max(0, delay.max / 1e9 - LAG_RESOLUTION_MS / 1e3));
    delay.reset();
  }, LAG_WINDOW_MS);
  window.unref();
}

const on = { registers: [registry] };

/** All metrics in one table: what is counted, where, and in which unit. */
export const METRICS = {
  /** Ended runs. Counted by the worker that ended the run. */
  runs: new Counter({ name: 'rml_runs_total', help: 'Ended runs, by service and state', labelNames: ['service', 'state'], ...on }),
  faults: new Counter({ name: 'rml_run_faults_total', help: 'Runs that failed, by the code of their fault', labelNames: ['code'], ...on }),
  /** From taking the job to its end, for completed and failed attempts. */
  runSeconds: new Histogram({
    name: 'rml_run_duration_seconds',
    help: 'Duration of runs, from taken to done',
    labelNames: ['service', 'state'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200],
    ...on,
  }),
  records: new Counter({ name: 'rml_records_read_total', help: 'Records read by completed runs', ...on }),
  rejected: new Counter({ name: 'rml_records_rejected_total', help: 'Records that gave no valid term, of completed runs', ...on }),
  quads: new Counter({ name: 'rml_quads_written_total', help: 'Statements written by completed runs', ...on }),
  /** Counted by the worker that ended the run. The label is bounded: `observeVersion`. */
  datasetVersions: new Counter({ name: 'rml_dataset_versions_total', help: 'New versions, by dataset', labelNames: ['dataset'], ...on }),
  datasetAdded: new Counter({
    name: 'rml_dataset_added_total',
    help: 'Statements that new versions have and the versions before had not, by dataset',
    labelNames: ['dataset'],
    ...on,
  }),
  datasetRemoved: new Counter({
    name: 'rml_dataset_removed_total',
    help: 'Statements that new versions have not and the versions before had, by dataset',
    labelNames: ['dataset'],
    ...on,
  }),
  datasetLast: new Gauge({
    name: 'rml_dataset_last_version_timestamp_seconds',
    help: 'Unix time of the last version that a worker made, by dataset',
    labelNames: ['dataset'],
    ...on,
  }),
  datasetVersion: new Gauge({
    name: 'rml_dataset_version',
    help: 'The newest version that a worker made or found, by dataset',
    labelNames: ['dataset'],
    ...on,
  }),
  datasetWritten: new Gauge({
    name: 'rml_dataset_target_version',
    help: 'The newest version that a worker wrote to the target, by dataset',
    labelNames: ['dataset'],
    ...on,
  }),
  /** Of the process that follows; the others have none of these gauges. */
  followLagSeconds: new Gauge({
    name: 'rml_follow_lag_seconds',
    help: 'For how long the newest version has not been that of the end of the feed, at most; by dataset',
    labelNames: ['dataset'],
    ...on,
  }),
  followLagMessages: new Gauge({
    name: 'rml_follow_lag_messages',
    help: 'Messages of the feed that no version has, by dataset',
    labelNames: ['dataset'],
    ...on,
  }),
  followLagBytes: new Gauge({
    name: 'rml_follow_lag_bytes',
    help: 'Bytes of the log of the database that no version has, by dataset',
    labelNames: ['dataset'],
    ...on,
  }),
  followKeptBytes: new Gauge({
    name: 'rml_follow_kept_bytes',
    help: 'Bytes of its log that the database keeps for the follower, by dataset',
    labelNames: ['dataset'],
    ...on,
  }),
  followWanted: new Gauge({ name: 'rml_follow_wanted', help: 'Whether this process is to follow where no other one does', ...on }),
  followActive: new Gauge({ name: 'rml_follow_active', help: 'Whether this process follows', ...on }),
  followEpochs: new Counter({ name: 'rml_follow_epochs_total', help: 'Epochs of followers, by dataset', labelNames: ['dataset'], ...on }),
  followRejected: new Counter({
    name: 'rml_follow_rejected_total',
    help: 'Messages of feeds that are no change, and changes that cannot be made, by dataset',
    labelNames: ['dataset'],
    ...on,
  }),
  followRestarts: new Counter({ name: 'rml_follow_restarts_total', help: 'Followers that failed, and feeds that were lost', ...on }),
  bytesRead: new Counter({ name: 'rml_input_bytes_total', help: 'Bytes read by completed runs', ...on }),
  bytesWritten: new Counter({ name: 'rml_output_bytes_total', help: 'Bytes written by completed runs', ...on }),
  spilled: new Counter({
    name: 'rml_spill_bytes_total',
    help: 'Bytes that joins and de-duplication of completed runs wrote to disk',
    ...on,
  }),
  attempts: new Counter({ name: 'rml_run_attempts_total', help: 'Starts of runs', ...on }),
  retries: new Counter({
    name: 'rml_run_retries_total',
    help: 'Attempts that ended in a fault that can get better',
    labelNames: ['code'],
    ...on,
  }),
  stalls: new Counter({
    name: 'rml_run_stalls_total',
    help: 'Runs and slices that were taken from a worker that gave no sign of life',
    ...on,
  }),
  /** Counted by the worker that ended the run. */
  limitsHit: new Counter({
    name: 'rml_limits_hit_total',
    help: 'Runs that a limit has ended, by the option that sets it',
    labelNames: ['limit'],
    ...on,
  }),
  eventLoopLag: new Histogram({
    name: 'rml_event_loop_lag_seconds',
    help: 'Longest delay of the event loop in each second',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    ...on,
  }),
  functionDeployments: new Counter({
    name: 'rml_custom_function_deployments_total',
    help: 'Requests to deploy custom functions, by how they ended',
    labelNames: ['state'],
    ...on,
  }),
  threadDeaths: new Counter({ name: 'rml_thread_deaths_total', help: 'Threads that ended unasked', labelNames: ['reason'], ...on }),
  /** Set when the metrics are read. */
  queueDepth: new Gauge({ name: 'rml_queue_runs', help: 'Runs in the queue, by state', labelNames: ['state'], ...on }),
  queueAge: new Gauge({ name: 'rml_queue_oldest_seconds', help: 'How long the run has waited that has waited longest to be taken', ...on }),
  queueSlices: new Gauge({ name: 'rml_queue_slices', help: 'Slices of runs in the queue, by state', labelNames: ['state'], ...on }),
  freeBytes: new Gauge({
    name: 'rml_disk_free_bytes',
    help: 'Free space where output and spill files of this process lie',
    labelNames: ['directory'],
    ...on,
  }),
  licenceExpiry: new Gauge({
    name: 'rml_licence_expires_timestamp_seconds',
    help: 'Unix time at which the licence ends; 0 if it is invalid',
    ...on,
  }),
  activeRuns: new Gauge({ name: 'rml_active_runs', help: 'Runs that this process is mapping', ...on }),
  activeWrites: new Gauge({ name: 'rml_active_writes', help: 'Runs of the graph writer that this process is writing', ...on }),
  statementsWritten: new Counter({
    name: 'rml_statements_stored_total',
    help: 'Statements that targets have of completed runs of the graph writer',
    ...on,
  }),
  statementsRejected: new Counter({
    name: 'rml_statements_rejected_total',
    help: 'Statements that completed runs of the graph writer left out',
    ...on,
  }),
  writeBatches: new Counter({ name: 'rml_write_batches_total', help: 'Batches of statements that the target has taken', ...on }),
  writeRetries: new Counter({
    name: 'rml_write_retries_total',
    help: 'Batches that were sent again because the target had no time or could not be reached',
    ...on,
  }),
  activeSlices: new Gauge({ name: 'rml_active_slices', help: 'Slices of runs that this process is mapping', ...on }),
  slices: new Counter({ name: 'rml_slices_total', help: 'Ended slices of runs, by state', labelNames: ['state'], ...on }),
  requests: new Counter({ name: 'rml_http_requests_total', help: 'Answered requests', labelNames: ['route', 'method', 'status'], ...on }),
  requestSeconds: new Histogram({
    name: 'rml_http_request_duration_seconds',
    help: 'Time to answer a request; that of /process is the time of the run',
    labelNames: ['route'],
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60, 600],
    ...on,
  }),
  /** rate: over REQUESTS_PER_MINUTE; token: a wrong token; locked: after WRONG_TOKENS_PER_MINUTE of them. */
  requestsRefused: new Counter({
    name: 'rml_http_requests_refused_total',
    help: 'Requests that were refused because of their caller, by reason',
    labelNames: ['reason'],
    ...on,
  }),
  tlsExpiry: new Gauge({
    name: 'rml_tls_certificate_expires_timestamp_seconds',
    help: 'Unix time at which the certificate of the HTTP server ends; 0 without TLS',
    ...on,
  }),
  tlsReloads: new Counter({
    name: 'rml_tls_reloads_total',
    help: 'New files of TLS_CERT and TLS_KEY, by result',
    labelNames: ['result'],
    ...on,
  }),
  /** Counted by the worker that took the message. */
  messagesTaken: new Counter({
    name: 'rml_messages_taken_total',
    help: 'Source messages, by what became of them',
    labelNames: ['service', 'result'],
    ...on,
  }),
  messagesSent: new Counter({ name: 'rml_messages_sent_total', help: 'Messages of outcomes that were sent', labelNames: ['kind'], ...on }),
  messageErrors: new Counter({
    name: 'rml_message_errors_total',
    help: 'Errors of the message queue, by who met them',
    labelNames: ['kind'],
    ...on,
  }),
  messageLag: new Gauge({
    name: 'rml_messages_lag',
    help: 'Source messages that the service has not taken',
    labelNames: ['service'],
    ...on,
  }),
  /** The label omits processes without a message queue or with the connection switched off. */
  runsLeft: new Gauge({
    name: 'rml_runs_left_to_others',
    help: 'Whether this process leaves runs of the service to other workers, since it does not reach their database or target',
    labelNames: ['service'],
    ...on,
  }),
  messageQueueUp: new Gauge({
    name: 'rml_message_queue_up',
    help: 'Whether the brokers answered this process last time',
    labelNames: ['queue'],
    ...on,
  }),
  outboxDepth: new Gauge({ name: 'rml_outbox_messages', help: 'Outcomes whose messages are still to be sent', ...on }),
  outboxAge: new Gauge({ name: 'rml_outbox_oldest_seconds', help: 'Age of the oldest outcome whose messages are still to be sent', ...on }),
  queueErrors: new Counter({ name: 'rml_queue_errors_total', help: 'Errors of the connection to the queue', labelNames: ['kind'], ...on }),
} as const;

/** So many datasets have different labels in a process; the others share one. */
const MAX_DATASETS = 200;
const datasets = new Set<string>();

function labelOf(name: string): string {
  if (datasets.size < MAX_DATASETS) datasets.add(name);
  return datasets.has(name) ? name : 'other';
}

/** The newest version of a dataset after a run, and what it changes. @param changed undefined: the run has found it */
export function observeVersion(
  name: string,
  version: number,
  changed: { readonly added: number; readonly removed: number } | undefined,
): void {
  const dataset = labelOf(name);
  if (dataset === name) METRICS.datasetVersion.set({ dataset }, version);
  if (changed === undefined) return;
  METRICS.datasetVersions.inc({ dataset });
  METRICS.datasetAdded.inc({ dataset }, changed.added);
  METRICS.datasetRemoved.inc({ dataset }, changed.removed);
  METRICS.datasetLast.set({ dataset }, Date.now() / 1000);
}

/** The version of a dataset that the target has after a write. */
export function observeWritten(name: string, version: number): void {
  const dataset = labelOf(name);
  if (dataset === name) METRICS.datasetWritten.set({ dataset }, version);
}

const FOLLOW_LAG = {
  seconds: METRICS.followLagSeconds,
  messages: METRICS.followLagMessages,
  bytes: METRICS.followLagBytes,
  keptBytes: METRICS.followKeptBytes,
} as const;

/** How far the follower of this process is behind. What the feed does not count has no value. */
export function observeFollower(name: string, lag: { readonly [M in keyof typeof FOLLOW_LAG]?: number | undefined }): void {
  const dataset = labelOf(name);
  for (const [measure, gauge] of Object.entries(FOLLOW_LAG)) {
    const value = lag[measure as keyof typeof FOLLOW_LAG];
    if (value !== undefined) gauge.set({ dataset }, value);
  }
}

/** The process has ended to follow the dataset. */
export function forgetFollower(name: string): void {
  for (const gauge of Object.values(FOLLOW_LAG)) gauge.remove({ dataset: labelOf(name) });
}

/** Counts one answered request. `route` is the pattern of the route, never the requested path. */
export function observeRequest(request: {
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly seconds: number;
}): void {
  const { route, method, status, seconds } = request;
  METRICS.requests.inc({ route, method, status: String(status) });
  METRICS.requestSeconds.observe({ route }, seconds);
}

/** Values that are measured when metrics are scraped. Each may fail, and is omitted then. */
export interface Measures {
  /** Runs in the queue, by state. */
  readonly counts?: () => Promise<Readonly<Record<string, number>>>;
  readonly backlog?: () => Promise<{ readonly oldestSeconds: number; readonly slices: Readonly<Record<string, number>> }>;
  /** By directory. */
  readonly freeBytes?: () => Promise<Readonly<Record<string, number>>>;
  /** Unix time. */
  readonly licenceExpiry?: () => number;
}

/** The text of `/metrics`. */
export async function metricsText({ counts, backlog, freeBytes, licenceExpiry }: Measures = {}): Promise<string> {
  for (const gauge of [METRICS.queueDepth, METRICS.queueSlices, METRICS.queueAge, METRICS.freeBytes]) gauge.reset();
  const measure = async <T>(kind: string, ask: (() => Promise<T>) | undefined, set: (value: T) => void): Promise<void> => {
    if (ask === undefined) return;
    try {
      set(await ask());
    } catch {
      METRICS.queueErrors.inc({ kind });
    }
  };
  const setAll = <L extends string>(gauge: Gauge<L>, label: L, values: Readonly<Record<string, number>>): void => {
    for (const [name, value] of Object.entries(values)) gauge.set({ [label]: name } as Record<L, string>, value);
  };
  if (licenceExpiry !== undefined) METRICS.licenceExpiry.set(licenceExpiry());
  await Promise.all([
    measure('depth', counts, (values) => setAll(METRICS.queueDepth, 'state', values)),
    measure('depth', backlog, ({ oldestSeconds, slices }) => {
      METRICS.queueAge.set(oldestSeconds);
      setAll(METRICS.queueSlices, 'state', slices);
    }),
    measure('disk', freeBytes, (values) => setAll(METRICS.freeBytes, 'directory', values)),
  ]);
  return registry.metrics();
}
