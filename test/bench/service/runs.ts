/**
 * Many tiny runs through the API of a fleet on a dedicated Redis, or of one process with the embedded queue: runs a second, the wait of each
 * caller, memory and CPU time.
 *
 * The load generator is this process, on the same cores: what it costs is part of the result, and told.
 */
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { table } from '../../conformance/summary.ts';
import { startRedis } from '../../servers/queues/redis.ts';
import { PEOPLE, peopleMapping } from '../../support/service/inputs.ts';
import { type ServiceProcess, startService } from '../../support/service/process.ts';

interface RunsMeasurement {
  readonly runsPerSecond: number;
  /** Of the requests, from sent to answered. */
  readonly milliseconds: { readonly p50: number; readonly p95: number; readonly p99: number; readonly longest: number };
  readonly processes: readonly ProcessMeasurement[];
  /** Why it is wrong; undefined when every request was answered 200 and has its files. */
  readonly wrong: string | undefined;
}

interface ProcessMeasurement {
  readonly name: string;
  /** Per run, user and system. */
  readonly cpuMilliseconds: number;
  /** Resident, at half of the runs and at the end. */
  readonly halfMb: number;
  readonly endMb: number;
}

/** How the four places for runs lie. Without workers one process does everything, with the embedded queue. */
export const RUN_FLEETS = {
  runs: { workers: 4, concurrency: 1 },
  'runs-1-process': { workers: 1, concurrency: 4 },
  'runs-embedded': { workers: 0, concurrency: 4 },
} as const;

const CONNECTIONS = 64;
/** Threads and caches are made by the first runs; these are not measured. */
const WARM_UP = 400;

/** Measures and prints; false when a request was not answered as it should, or has no files. */
export async function benchRuns(fleet: keyof typeof RUN_FLEETS, count: number): Promise<boolean> {
  const load = loadavg()[0] as number;
  const measured = await measureRuns(fleet, count);
  if ('skip' in measured) {
    console.log(`\n${fleet}: skipped: ${measured.skip}`);
    return true;
  }
  const { runsPerSecond, milliseconds, processes, wrong } = measured;
  const { workers, concurrency } = RUN_FLEETS[fleet];
  const waits = Object.entries(milliseconds).map(([name, value]) => `${name} ${value.toFixed(0)} ms`);
  const places = workers === 0 ? `one process, WORKER_CONCURRENCY=${concurrency}` : `${workers} × WORKER_CONCURRENCY=${concurrency}`;
  console.log(`\n${fleet}: ${count} runs, ${places}; load of the machine before: ${load.toFixed(1)}`);
  console.log(`${runsPerSecond.toFixed(0)} runs/s; ${waits.join(', ')}; ${wrong === undefined ? 'ok' : `WRONG: ${wrong}`}`);
  const total = processes.reduce((sum, { cpuMilliseconds }) => sum + cpuMilliseconds, 0);
  const rows = processes.map((one) => [one.name, one.cpuMilliseconds.toFixed(2), one.halfMb.toFixed(0), one.endMb.toFixed(0)]);
  rows.push(['all of them', total.toFixed(2), '', '']);
  console.log(table([['process', 'CPU ms a run', 'MB at half', 'MB at the end'], ...rows]));
  return wrong === undefined;
}

async function measureRuns(fleet: keyof typeof RUN_FLEETS, count: number): Promise<RunsMeasurement | { readonly skip: string }> {
  const { workers, concurrency } = RUN_FLEETS[fleet];
  const redis = workers === 0 ? undefined : await startRedis();
  if (redis !== undefined && 'skip' in redis) return redis;
  const directory = await mkdtemp(join(tmpdir(), 'quadmill-runs-'));
  const started: ServiceProcess[] = [];
  const start = async (role: string): Promise<ServiceProcess> => {
    const env = {
      SERVICE: 'semi-structured-transformer',
      QUEUE_URL: redis?.url ?? 'embedded:',
      LOG_LEVEL: 'info',
      WORKER_CONCURRENCY: String(concurrency),
      ...(role === 'worker' ? { PORT: '0' } : {}),
    };
    const one = await startService({ cwd: directory, env, args: ['--role', role] });
    started.push(one);
    return one;
  };
  try {
    await writeFile(join(directory, 'people.csv'), PEOPLE.csv);
    await writeFile(join(directory, 'people.ttl'), peopleMapping('csv', 'people.csv'));
    const [api] = await Promise.all([start(workers === 0 ? 'all' : 'api'), ...Array.from({ length: workers }, () => start('worker'))]);
    const body = JSON.stringify({ inputFileURL: join(directory, 'people.csv'), mappingURL: join(directory, 'people.ttl') });
    const post = poster(`${api.url}/process`, body);
    await post(WARM_UP, 'warm');
    const watched = [
      { name: 'load generator', pid: process.pid },
      ...(redis === undefined ? [] : [{ name: 'redis-server', pid: redis.pid }]),
      { name: workers === 0 ? 'service' : 'api', pid: api.pid },
      ...started.filter((one) => one !== api).map(({ pid }, i) => ({ name: `worker ${i + 1}`, pid })),
    ];
    const before = watched.map(({ pid }) => lookAt(pid));
    const first = await post(count >> 1, 'a');
    const half = watched.map(({ pid }) => lookAt(pid));
    const second = await post(count - (count >> 1), 'b');
    const end = watched.map(({ pid }) => lookAt(pid));
    const waits = [...first.waits, ...second.waits].sort((a, b) => a - b);
    const at = (share: number): number => waits[Math.min(waits.length - 1, Math.floor(waits.length * share))] ?? 0;
    const files = (await readdir(join(directory, 'data', 'output'))).length;
    const expected = 2 * (count + WARM_UP);
    return {
      runsPerSecond: count / (first.seconds + second.seconds),
      milliseconds: { p50: at(0.5), p95: at(0.95), p99: at(0.99), longest: at(1) },
      processes: watched.map(({ name }, i) => ({
        name,
        cpuMilliseconds: ((end[i] as Look).cpuMilliseconds - (before[i] as Look).cpuMilliseconds) / count,
        halfMb: (half[i] as Look).mb,
        endMb: (end[i] as Look).mb,
      })),
      wrong:
        [...first.wrong, ...second.wrong][0] ??
        (files === expected ? undefined : `${files} files in the output directory, not ${expected}`),
    };
  } finally {
    await Promise.all(started.map((one) => one.stop()));
    await redis?.stop();
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

interface Posted {
  readonly seconds: number;
  readonly waits: readonly number[];
  readonly wrong: readonly string[];
}

/** Posts so many requests, each with its own key, by connections that stay open. */
function poster(url: string, body: string): (count: number, series: string) => Promise<Posted> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const post = (key: string): Promise<string | undefined> =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': body.length, 'idempotency-key': key };
      const sent = request(url, { method: 'POST', agent, headers }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        answer.on('end', () => resolve(answer.statusCode === 200 ? undefined : `a request was answered ${answer.statusCode}: ${text}`));
      });
      sent.on('error', reject).end(body);
    });
  return async (count, series) => {
    const waits: number[] = [];
    const wrong: string[] = [];
    let next = 0;
    const from = performance.now();
    const client = async (): Promise<void> => {
      while (next < count) {
        const sent = performance.now();
        const fault = await post(`${series}-${next++}`);
        waits.push(performance.now() - sent);
        if (fault !== undefined) wrong.push(fault);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, client));
    return { seconds: (performance.now() - from) / 1000, waits, wrong };
  };
}

interface Look {
  readonly cpuMilliseconds: number;
  readonly mb: number;
}

/** Linux counts CPU time in hundredths of a second. @see proc_pid_stat(5) */
const TICK_MS = 10;

function lookAt(pid: number): Look {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { cpuMilliseconds: (Number(fields[11]) + Number(fields[12])) * TICK_MS, mb: Number(resident) / 1024 };
}
