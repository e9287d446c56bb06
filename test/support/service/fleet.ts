/** An API process and two workers of one service, on a dedicated Redis. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { startRedis, uniquePrefix } from '../queues/backends.ts';
import { type Answer, ask, type ServiceProcess, startService } from './process.ts';

export interface Fleet {
  readonly api: ServiceProcess;
  readonly workers: readonly ServiceProcess[];
  /** Changes an option of all processes. */
  change(option: string, value: string): Promise<void>;
  stop(): Promise<void>;
}

/** @param cwd directory of all processes; the data directory is below it */
export async function startFleet(cwd: string, options: Readonly<Record<string, string>>): Promise<Fleet> {
  const redis = await startRedis();
  const env = { QUEUE_URL: redis.url, QUEUE_PREFIX: uniquePrefix(), ...options };
  const start = (role: string): Promise<ServiceProcess> => startService({ cwd, args: ['--role', role], env });
  const [api, ...workers] = await Promise.all([start('api'), start('worker'), start('worker')]);
  return {
    api,
    workers,
    async change(option, value) {
      const { status } = await ask(`${api.url}/updateConfig?configEntry=${option}&configValue=${value}`, { method: 'PUT' });
      if (status !== 200) throw new Error(`the option ${option} was refused with ${status}`);
    },
    async stop() {
      const all = [api, ...workers];
      for (const one of all) one.kill('SIGKILL');
      await Promise.all(all.map((one) => one.exited));
      await redis.stop();
    },
  };
}

/** The report of a run, and the lines of its files in their order. @throws the run failed */
export async function outputOf({ status, body }: Answer): Promise<{ readonly report: Answer['body']; readonly lines: string[] }> {
  if (status !== 200) throw new Error(`the run failed: ${JSON.stringify(body)}`);
  const texts = await Promise.all((body.outputFileLocations as string[]).map((url) => readFile(fileURLToPath(url), 'utf8')));
  return { report: body, lines: texts.flatMap((text) => text.trimEnd().split('\n')) };
}
