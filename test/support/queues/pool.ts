/** A pool of mapping threads without a queue, and the tasks that a worker would give it. */
import { join } from 'node:path';
import type { TransformRequest } from '../../../queues/jobs.ts';
import { RUN_DEFAULTS } from '../../../src/config/run-defaults.ts';
import { NO_LIMITS, type RunLimits } from '../../../src/core/limits.ts';
import { quietLogger } from '../../../src/core/telemetry/observe.ts';
import { USUAL_S3_ACCESS } from '../../../src/storage/s3-access.ts';
import { taskOf } from '../../../workers/jobs/task.ts';
import type { RunResult } from '../../../workers/task.ts';
import { ThreadPool } from '../../../workers/threads/pool.ts';

export interface PoolRun {
  readonly runId: string;
  readonly url: string;
  readonly mapping: string;
  readonly limits?: Partial<RunLimits>;
  readonly more?: Partial<TransformRequest>;
  readonly signal?: AbortSignal | undefined;
}

/** Results go to `out` within the directory. @param engine URL of a module in place of the engine */
export function openPool(directory: string, engine?: string): { readonly pool: ThreadPool; run(run: PoolRun): Promise<RunResult> } {
  const pool = new ThreadPool({ memoryMb: 64, ...(engine === undefined ? {} : { engine }) }, quietLogger());
  const settings = {
    spillDirectory: join(directory, 'spill'),
    datasetStates: join(directory, 'datasets'),
    workingDirectory: directory,
    database: async () => undefined,
    web: async () => RUN_DEFAULTS.web,
    s3: async () => USUAL_S3_ACCESS,
    functionDirectory: async () => '',
  };
  return {
    pool,
    async run({ runId, url, mapping, limits = {}, more = {}, signal = new AbortController().signal }) {
      const request: TransformRequest = {
        service: 'semi-structured-transformer',
        inputs: [{ name: undefined, url }],
        mappings: [mapping],
        run: { ...RUN_DEFAULTS, limits: { ...NO_LIMITS, ...limits } },
        sliceRows: 0,
        output: { directory: join(directory, 'out'), format: 'nquads' },
        ...more,
      };
      const task = await taskOf({ ...request, runId, submittedAt: new Date(0).toISOString() }, '1', settings);
      return pool.run(task, { signal, progress: () => undefined, assertMayCommit: async () => undefined });
    },
  };
}
