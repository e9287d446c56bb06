/** Removes the outputs of old runs while a worker process runs, where RETAIN_OUTPUTS asks for it. */
import { fileURLToPath } from 'node:url';
import type { QueueBackend } from '../../queues/backend/backend.ts';
import { type RunPayload, SERVICE_QUEUES, SERVICES, type Service } from '../../queues/jobs.ts';
import { busKind } from '../../queues/messaging/bus.ts';
import { directories } from '../../src/config/directories.ts';
import type { ConfigStore } from '../../src/config/store.ts';
import type { Logger } from '../../src/core/telemetry/observe.ts';
import { isLocal, locate } from '../../src/storage/url.ts';
import { markWritten, removeOldOutputs, retentionOf } from '../output/retention.ts';

const EVERY_MS = 60_000;
const PAGE = 1_000;

/** Looks for what is beyond the limits at once and then every minute. What cannot be removed is logged, and tried again. */
export interface OutputRetention {
  /** Call when a graph writer run has completed: its inputs may be removed from then on. Never throws. */
  written(run: RunPayload): Promise<void>;
  stop(): void;
}

export function openRetention(
  services: readonly Service[],
  backend: Pick<QueueBackend, 'queue'>,
  config: ConfigStore,
  workingDirectory: string,
  logger: Logger,
): OutputRetention {
  const prefixes = services.filter((service) => service !== 'graph-writer').map((service) => `${SERVICES[service].name}-`);

  const sweep = async (): Promise<void> => {
    try {
      const snapshot = config.snapshot();
      const retention = retentionOf(snapshot.RETAIN_OUTPUTS);
      const { output } = directories(snapshot, workingDirectory);
      if (retention === undefined || prefixes.length === 0) return;
      if (!isLocal(output)) {
        logger.warn(
          { directory: output },
          'RETAIN_OUTPUTS ignored: it is for directories of this machine; give the bucket a lifecycle rule',
        );
        return;
      }
      const directory = output.startsWith('file:') ? fileURLToPath(output) : output;
      const needed = await inputsOfWriter(backend, workingDirectory);
      const isWritten = busKind(snapshot) !== 'none';
      const { runs, bytes, unwritten } = await removeOldOutputs(directory, retention, { prefixes, needed, isWritten, now: Date.now() });
      if (runs > 0) logger.info({ runs, bytes }, 'old outputs removed');
      if (unwritten > 0) logger.warn({ runs: unwritten }, 'outputs beyond RETAIN_OUTPUTS stay: the graph writer has not written them');
    } catch (error) {
      logger.warn({ reason: (error as Error).message }, 'old outputs not removed');
    }
  };

  let timer: NodeJS.Timeout | undefined;
  const again = (): void => {
    if (!isStopped) timer = setTimeout(() => void sweep().finally(again), EVERY_MS).unref();
  };
  let isStopped = false;
  void sweep().finally(again);
  return {
    async written(run) {
      if (run.service !== 'graph-writer' || config.snapshot().RETAIN_OUTPUTS.length === 0) return;
      try {
        await markWritten(
          run.inputs.map(({ url }) => url),
          workingDirectory,
        );
      } catch (error) {
        logger.warn({ run: run.runId, reason: (error as Error).message }, 'input not marked as written: RETAIN_OUTPUTS keeps it');
      }
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

/** Paths of the inputs of graph writer runs that have not ended. */
async function inputsOfWriter(backend: Pick<QueueBackend, 'queue'>, workingDirectory: string): Promise<ReadonlySet<string>> {
  const queue = backend.queue<RunPayload>(SERVICE_QUEUES['graph-writer'].work);
  const paths = new Set<string>();
  for (let from = 0; ; from += PAGE) {
    const jobs = await queue.getJobs(['active', 'delayed', 'prioritized', 'waiting', 'waiting-children'], from, from + PAGE - 1, true);
    for (const job of jobs) {
      // The queue returns an empty entry for a job removed between listing and reading.
      for (const { url } of job?.data?.inputs ?? []) {
        if (isLocal(url)) paths.add((locate(url, workingDirectory) as { readonly path: string }).path);
      }
    }
    if (jobs.length < PAGE) return paths;
  }
}
