/** `quadmill serve`: one process of the fleet; it serves HTTP, executes runs, or both. */

import { accessSync, constants } from 'node:fs';
import { resolve } from 'node:path';
import { makeGuard } from '../../api/access/guard.ts';
import { makeApp } from '../../api/app.ts';
import type { Api } from '../../api/route.ts';
import { type HttpServer, listen } from '../../api/server/server.ts';
import { readServerPair } from '../../api/server/tls.ts';
import { openBackend } from '../../queues/backend/backend.ts';
import { AT_START, queueRefusal } from '../../queues/backend/refusals.ts';
import { settingsOfService } from '../../queues/backend/settings.ts';
import { watchWorkerRegistry } from '../../queues/backend/worker-registry.ts';
import { cronOfOptions } from '../../queues/cron.ts';
import { callLimitsOf, openFleetFunctions } from '../../queues/custom-functions.ts';
import { followerOf } from '../../queues/follow/record.ts';
import { type FailureMessage, type Service, servicesOf } from '../../queues/jobs.ts';
import { openSwitch } from '../../queues/messaging/bus.ts';
import { openConfiguredBus } from '../../queues/messaging/configured-bus.ts';
import { deadLetter, topicOf } from '../../queues/messaging/messages.ts';
import { openOutbox } from '../../queues/messaging/outbox.ts';
import { openPreviews } from '../../queues/preview.ts';
import { checkFollowOptions } from '../../queues/requests/follow.ts';
import { openRuns, runPolicy } from '../../queues/runs/runs.ts';
import { openSchedule } from '../../queues/schedule/schedule.ts';
import { startTicks } from '../../queues/schedule/ticks.ts';
import { directories } from '../../src/config/directories.ts';
import { DEFAULTS, type OptionName, type OptionValues, type Snapshot } from '../../src/config/options/options.ts';
import { type EnvironmentReading, readEnvironment } from '../../src/config/parse.ts';
import type { ConfigStore } from '../../src/config/store.ts';
import { VERSION } from '../../src/config/version.ts';
import { atMost } from '../../src/core/abort.ts';
import { Fault } from '../../src/core/fault.ts';
import { createLogger, type Logger, observeProcess } from '../../src/core/telemetry/observe.ts';
import { logWarnings } from '../../src/core/telemetry/warnings.ts';
import { isWarningOfTimer } from '../../src/kafka/log.ts';
import { makeDirectory } from '../../src/storage/local/directory.ts';
import { startWorkers, type Workers } from '../../workers/host.ts';
import { openMessaging } from '../../workers/messaging/messaging.ts';
import { type Command, commandOf, UsageError } from '../command-line.ts';
import { openConfiguration } from '../configuration.ts';
import { SALVAGE } from '../options/salvage.ts';
import { flagValues } from '../options/variables.ts';
import { openStore } from '../store.ts';
import { Services } from './services.ts';

const ROLES = ['all', 'api', 'worker'] as const;
export type Role = (typeof ROLES)[number];

const SERVE: Command = {
  name: 'serve',
  usage: 'serve [options]',
  summary: 'Starts the service: the HTTP interface, the workers that carry out runs, or both.',
  options: {
    role: { value: 'ROLE', choices: ROLES, summary: 'what this process does, default all' },
    port: {
      short: 'p',
      value: 'PORT',
      summary: `port to listen on, default ${DEFAULTS.PORT}; 0 takes a free one. A worker listens only when it is given`,
    },
    host: { value: 'HOST', summary: `address to listen on, default ${DEFAULTS.HOST}` },
    'data-dir': { value: 'DIRECTORY', summary: `queue files, mappings and output, default ${DEFAULTS.DATA_DIR}` },
    salvage: SALVAGE,
  },
  notes: `Every option of the service is an environment variable, such as QUEUE_URL or API_TOKENS; an option given here wins.
Several processes need one queue that all of them reach: set QUEUE_URL=redis://… or postgres://…

  quadmill serve
  QUEUE_URL=redis://queue:6379 quadmill serve --role worker`,
};

/** Command-line options for options of the service. */
export const SERVE_FLAGS: readonly (readonly [flag: string, option: OptionName])[] = [
  ['port', 'PORT'],
  ['host', 'HOST'],
  ['data-dir', 'DATA_DIR'],
];

/** Time for outcomes of runs that ended last to reach waiting callers. */
const FINAL_ANSWERS_MS = 500;
/** A signal that repeats within this time is the same one: npm passes on what a process of its group has got already. */
const SAME_SIGNAL_MS = 1_000;
/** Time to send answers after all waits for runs have ended. */
const CLOSING_MS = 2_000;

/** Serves until a signal. Resolves to the exit code. @throws UsageError, Fault — it could not start */
export const serve = commandOf(SERVE, async (parsed) => {
  if (parsed.positionals.length > 0) throw new UsageError(`serve takes no ${parsed.positionals[0]}`);
  const role = (parsed.value('role') ?? 'all') as Role;
  return serveUntilSignal(role, flagValues(parsed, SERVE_FLAGS), { salvage: parsed.has('salvage') });
});

export interface ServeSettings {
  /** Called with the URL when requests are accepted. */
  readonly listening?: (url: string) => void;
  /** Whether a damaged embedded store is opened with what can be read. */
  readonly salvage?: boolean;
}

/**
 * @param flags options of the command line, which win over those of the environment
 * @throws Fault — it could not start
 */
export async function serveUntilSignal(
  role: Role,
  flags: OptionValues,
  { listening, salvage = false }: ServeSettings = {},
): Promise<number> {
  keepFilesFromOthers();
  const environment = readEnvironment(process.env);
  const options: OptionValues = { ...environment.values, ...flags };
  const listens = role !== 'worker' || options.PORT !== undefined;
  const snapshot: Snapshot = { ...DEFAULTS, ...options };
  refuseUnreachableQueue(role, snapshot);
  // Checked before anything is opened.
  cronOfOptions(snapshot);
  if (role !== 'api') checkFollowOptions(snapshot);
  if (role !== 'api') prepareDataDirectory(snapshot);
  // Checked before anything is opened; the application creates its own guard.
  if (listens) {
    makeGuard(snapshot, () => snapshot);
    readServerPair(snapshot);
  }

  const logger = createLogger({ level: snapshot.LOG_LEVEL });
  logWarnings(logger, isWarningOfTimer);
  logCrash(logger);
  warnOfVariables(environment, logger);
  const signal = firstSignal(logger);
  const services = new Services(logger);
  const { config, url } = await startServices(services, role, { listens, salvage }, options, logger).catch(async (error) => {
    await services.stop();
    exitSoon();
    throw queueRefusal(error, AT_START) ?? error;
  });
  if (url !== undefined) listening?.(url);
  const name = await signal;
  logger.info({ signal: name, seconds: config.snapshot().DRAIN_SECONDS }, 'draining');
  const isStopped = await services.stop();
  logger.info('stopped');
  exitSoon();
  return isStopped ? 0 : 1;
}

/**
 * When they stop, the runs of this process end or go back to the queue. A caller that waits for another run gets its address. Then each service closes
 * what it has open.
 *
 * @returns `url`: undefined where the process does not listen
 * @throws what keeps a service from starting
 */
async function startServices(
  parts: Services,
  role: Role,
  { listens, salvage }: { readonly listens: boolean; readonly salvage: boolean },
  options: OptionValues,
  logger: Logger,
): Promise<{ readonly config: ConfigStore; readonly url: string | undefined }> {
  const settings: Snapshot = { ...DEFAULTS, ...options };
  const workingDirectory = process.cwd();
  const { QUEUE_URL: url, QUEUE_PREFIX: prefix } = settings;
  const isWorker = role !== 'api';
  const services = servicesOf(settings.SERVICE);

  const backend = await parts.start('queue', () =>
    openBackend({ url, prefix, directory: directories(settings, workingDirectory).queue, security: settings }, logger),
  );
  logger.info({ queue: backend.describe(), kind: backend.kind, role, version: VERSION }, 'queue opened');
  observeProcess();
  const shared = settings.SERVICE === 'all' ? backend.settings : settingsOfService(backend.settings, settings.SERVICE);
  const config = await parts.start('configuration', () => openConfiguration(options, shared, workingDirectory, logger));
  logger.level = config.snapshot().LOG_LEVEL;
  config.onChange(({ LOG_LEVEL }) => {
    logger.level = LOG_LEVEL;
  });
  const drainMs = (): number => config.snapshot().DRAIN_SECONDS * 1_000;
  const messageQueue = await parts.start('message switch', () => openSwitch(shared));
  const bus = await parts.start('message queue', () => openConfiguredBus(config, logger));
  const workerRegistry = await parts.start('worker registry', () => watchWorkerRegistry(backend.settings));
  const schedule = await parts.start('schedule', () => openSchedule(backend.settings));
  const functions = await parts.start('custom functions', () =>
    openFleetFunctions(shared, directories(settings, workingDirectory).functions),
  );
  const runs = await parts.start('runs', () =>
    openRuns(backend, () => runPolicy(config.snapshot()), {
      services,
      functions: () => {
        const version = functions.current();
        return version === undefined ? undefined : { version, limits: callLimitsOf(config.snapshot()) };
      },
    }),
  );
  const previews = await parts.start('previews', () => openPreviews(backend));
  const store = await parts.start('embedded store', () => openStore(role === 'all', config.snapshot(), workingDirectory, logger, salvage));
  const embedded = store === undefined ? {} : { store };
  const outbox = openOutbox(backend);
  const sendDeadLetter = async (service: Service, failure: FailureMessage): Promise<void> => {
    if (bus.hasConsumer(topicOf('dead-letter', config.snapshot()))) await outbox.add(service, deadLetter(failure, {}, config.snapshot()));
  };
  let workers: Workers | undefined;

  const draining = new AbortController();
  const ending = new AbortController();
  let answered: Promise<void> = Promise.resolve();
  const listenOn = (): Promise<HttpServer> => {
    const api: Api = {
      runs,
      previews,
      schedule,
      get messageQueue() {
        return bus.kind === 'kafka' ? messageQueue : undefined;
      },
      deadLetter: sendDeadLetter,
      config,
      functions,
      logger,
      workingDirectory,
      queues: backend,
      services,
      followerOf: (url) => followerOf(backend.settings, url),
      queueName: backend.describe(),
      draining: draining.signal,
      ending: ending.signal,
      ...embedded,
      workerCount: (service) => workerRegistry.count(service === undefined ? services : [service]),
      ...(isWorker
        ? {
            messages: () => (bus.kind === 'kafka' ? { on: messageQueue.isOn(), lastError: bus.lastError() } : undefined),
            workers: () => ({ running: workers?.state().running ?? false }),
            follower: () => workers?.follower(),
          }
        : {}),
    };
    return listen(makeApp(api, role === 'worker' ? 'none' : settings.SERVICE), {
      host: settings.HOST,
      port: settings.PORT,
      requestTimeoutMs: settings.REQUEST_TIMEOUT_SECONDS * 1_000,
      maxHeaderBytes: settings.MAX_HEADER_BYTES,
      maxConnections: settings.MAX_CONNECTIONS,
      tls: { files: settings, logger },
    });
  };
  const server = !listens
    ? undefined
    : await parts.start('HTTP server', listenOn, {
        leave(server) {
          draining.abort();
          answered = server.close();
        },
        async stop(server) {
          await atMost(isWorker ? FINAL_ANSWERS_MS : drainMs(), answered);
          ending.abort();
          await atMost(CLOSING_MS, answered);
          server.closeAllConnections();
        },
      });

  if (isWorker) {
    const messaging = await parts.start(
      'messages',
      () =>
        openMessaging(
          backend,
          { services, bus, state: bus.effectiveState(messageQueue), runs, config, functions, workingDirectory, store },
          logger,
        ),
      { leave: (messages) => messages.stopConsuming(), stop: (messages) => messages.close() },
    );
    if (services.includes('sql-transformer')) {
      await parts.start(
        'ticks of the schedule',
        () => startTicks(backend, schedule, { runs, config, workingDirectory, deadLetter: sendDeadLetter }, logger),
        { leave: (ticks) => ticks.stop() },
      );
    }
    const { publish, provenanceFailed, rejected } = messaging;
    workers = await parts.start(
      'workers',
      () => startWorkers(backend, config, logger, { services, workingDirectory, publish, provenanceFailed, rejected, ...embedded }),
      { stop: (started) => started.drain(drainMs()) },
    );
  }
  if (server !== undefined) logger.info({ url: server.url, queue: backend.describe(), role, service: settings.SERVICE }, 'listening');
  return { config, url: server?.url };
}

function warnOfVariables({ suspects, overruled }: EnvironmentReading, logger: Logger): void {
  for (const { name, hint } of suspects) logger.warn({ variable: name, hint }, 'unknown variable that looks like an option');
  for (const { name, by } of overruled) logger.warn({ variable: name, by }, 'variable ignored: the option is also set by its own name');
}

/** @throws Fault config/invalid — an API or worker process alone, on a queue that no other process can reach */
function refuseUnreachableQueue(role: Role, { QUEUE_URL }: Snapshot): void {
  if (role === 'all' || (QUEUE_URL !== undefined && QUEUE_URL !== 'embedded:')) return;
  const other = role === 'api' ? 'workers' : 'API processes';
  throw new Fault(
    'config/invalid',
    `serve --role ${role} needs a queue that ${other} can reach, and the queue here would be this process's own`,
    {
      hint: 'Set QUEUE_URL to redis://… or postgres://…, or leave --role out',
    },
  );
}

/** Outputs, provenance, backups and the like have the mode 0640, their directories 0750, or less: they hold what sources hold. */
function keepFilesFromOthers(): void {
  const before = process.umask(0o077);
  process.umask(before | 0o027);
}

/** @throws Fault config/invalid — it cannot be created, or is not writable */
function prepareDataDirectory({ DATA_DIR, QUEUE_URL }: Snapshot): void {
  const directory = resolve(DATA_DIR);
  try {
    // With a private queue the directory holds its files and is private too; output of a fleet is often read by other users.
    makeDirectory(directory, QUEUE_URL === undefined ? 0o700 : undefined);
    accessSync(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = message.includes(', access ') ? `nothing can be written there (${code})` : message;
    throw new Fault('config/invalid', `The data directory ${directory} cannot be used: ${reason}`, {
      hint: 'Give --data-dir (DATA_DIR) a directory in which this user may write',
      cause: error,
    });
  }
}

/**
 * Says why the process ends after an error that was not handled, with secrets hidden: Node would print the error with all of its
 * properties.
 */
function logCrash(logger: Logger): void {
  process.on('uncaughtException', (error) => {
    process.exitCode = 1;
    logger.fatal({ error }, 'crashed');
    logger.flush(() => process.exit(1));
  });
}

/** Resolves to the first SIGTERM or SIGINT; another one ends the process at once. */
function firstSignal(logger: Logger): Promise<string> {
  return new Promise((resolve) => {
    let first: { readonly signal: string; readonly at: number } | undefined;
    const take = (signal: string): void => {
      const at = performance.now();
      if (first !== undefined && first.signal === signal && at - first.at < SAME_SIGNAL_MS) return;
      if (first !== undefined) {
        logger.warn({ signal }, 'ended at once');
        process.exit(1);
      }
      first = { signal, at };
      resolve(signal);
    };
    process.on('SIGTERM', take);
    process.on('SIGINT', take);
  });
}

/** Exits soon, with the current exit code, even if a library has left something open. */
function exitSoon(): void {
  setTimeout(() => process.exit(), 1_000).unref();
}
