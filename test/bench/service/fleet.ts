/**
 * One large CSV file through the API of a fleet on a dedicated Redis: by one worker process and by two, or a billion statements by four.
 *
 * The workers map one run or slice at a time. One worker maps the file in one piece, one cuts it for itself, two share it.
 */
import { createReadStream, createWriteStream, existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { table } from '../../conformance/summary.ts';
import { startRedis } from '../../servers/queues/redis.ts';
import { postJson, type ServiceProcess, startService } from '../../support/service/process.ts';
import { generateMissing } from '../measure.ts';

const COPIES = 10;
const SLICE_BYTES = 256 * 2 ** 20;

const map = (subject: string, rules: string, namespace = 'http://example.com/ns#'): string => `@prefix rml: <http://w3id.org/rml/> .
@prefix ex: <${namespace}> .
<#Map> rml:logicalSource [ a rml:LogicalSource ; rml:source [ a rml:RelativePathSource ; rml:path "data.csv" ] ;
    rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "${subject}" ; rml:class ex:Thing ] ${rules} .\n`;
const rule = (name: string): string => `; rml:predicateObjectMap [ rml:predicate ex:${name} ; rml:objectMap [ rml:reference "${name}" ] ]`;

interface Fleet {
  readonly name: string;
  readonly workers: number;
  readonly sliceBytes: number;
}

const FLEETS: readonly Fleet[] = [
  { name: '1 worker, not cut', workers: 1, sliceBytes: 0 },
  { name: '1 worker', workers: 1, sliceBytes: SLICE_BYTES },
  { name: '2 workers', workers: 2, sliceBytes: SLICE_BYTES },
];

/** Columns of the rows of `fleet-billion`, beside the identifier: with its type each row gives ten statements. */
const DIGITS = Array.from({ length: 9 }, (_, i) => `d${i}`);
const BILLION_ROWS = 100_000_000;

interface FleetWorkload {
  readonly mapping: string;
  readonly fleets: readonly Fleet[];
  /** @returns the file, which is made if it is not there */
  readonly input: (data: string) => Promise<string>;
}

/** By name: every row is read and mapped, and few of them say something new; or each row has another subject. */
export const FLEET_WORKLOADS: Readonly<Record<string, FleetWorkload>> = {
  fleet: { mapping: map('http://example.com/city/{city}', ['country', 'active'].map(rule).join(' ')), fleets: FLEETS, input: makeLarge },
  'fleet-keyed': { mapping: map('http://example.com/person/{id}', ''), fleets: FLEETS, input: makeLarge },
  'fleet-billion': {
    mapping: map('http://e.g/{id}', DIGITS.map(rule).join(' '), 'http://e.g/'),
    fleets: [{ name: '4 workers', workers: 4, sliceBytes: SLICE_BYTES }],
    input: makeBillion,
  },
};

interface FleetMeasurement {
  readonly name: string;
  /** Of each run, from the request to its answer. */
  readonly seconds: readonly number[];
  /** Share of them in which no worker had the run: request, queue and answer. */
  readonly queueShare: readonly number[];
  /** Of the machine, when the run began: more than its processors means that others had a share. */
  readonly load: readonly number[];
  /** Of all processes of the fleet, for the run: user and system. */
  readonly cpuSeconds: readonly number[];
  readonly quads: number;
  readonly outputBytes: number;
  readonly files: number;
  /** Of the worker that had most, at any time of the run. */
  readonly peakBytes: number;
}

/** Measures and prints a workload; false when the fleets did not write the same number of statements. */
export async function benchFleet(workload: string, data: string, runs: number): Promise<boolean> {
  const measured = await measureFleet(workload, data, runs);
  if ('skip' in measured) {
    console.log(`\n${workload}: skipped: ${measured.skip}`);
    return true;
  }
  const isSame = measured.every(({ quads, outputBytes }) => quads === measured[0]?.quads && outputBytes === measured[0]?.outputBytes);
  const rows = measured.map(({ name, seconds, queueShare, cpuSeconds, load, quads, outputBytes, files, peakBytes }) => [
    `${workload}, ${name}`,
    ...[seconds, cpuSeconds].map((all) => all.map((one) => one.toFixed(1)).join(' ')),
    queueShare.map((one) => (one * 100).toFixed(2)).join(' '),
    load.map((one) => one.toFixed(1)).join(' '),
    String(quads),
    (outputBytes / 1e6).toFixed(0),
    String(files),
    (peakBytes / 1e6).toFixed(0),
    isSame ? 'ok' : 'WRONG: not the same statements',
  ]);
  console.log(
    `\n${table([['workload', 'wall s', 'CPU s', 'queue %', 'load before', 'statements', 'output MB', 'files', 'peak MB', 'check'], ...rows])}`,
  );
  return isSame;
}

/** @param data directory with `flat-1m` */
async function measureFleet(
  workload: string,
  data: string,
  runs: number,
): Promise<readonly FleetMeasurement[] | { readonly skip: string }> {
  const redis = await startRedis();
  if ('skip' in redis) return redis;
  const directory = await mkdtemp(join(tmpdir(), 'quadmill-fleet-'));
  try {
    const { mapping, fleets, input: inputOf } = FLEET_WORKLOADS[workload] as FleetWorkload;
    const input = await inputOf(data);
    await writeFile(join(directory, 'mapping.ttl'), mapping);
    const found = new Map<string, FleetMeasurement>();
    // In turn, so that what else the machine does meets all of them.
    for (let i = 0; i < runs; i++) {
      for (const [position, fleet] of fleets.entries()) {
        const prefix = `bench_${i}_${position}`;
        const one = await measureOnce(fleet, input, directory, { QUEUE_URL: redis.url, QUEUE_PREFIX: prefix });
        const before = found.get(fleet.name);
        found.set(fleet.name, {
          ...one,
          seconds: [...(before?.seconds ?? []), ...one.seconds],
          queueShare: [...(before?.queueShare ?? []), ...one.queueShare],
          cpuSeconds: [...(before?.cpuSeconds ?? []), ...one.cpuSeconds],
          load: [...(before?.load ?? []), ...one.load],
        });
      }
    }
    return [...found.values()];
  } finally {
    await redis.stop();
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function measureOnce(
  { name, workers, sliceBytes }: Fleet,
  input: string,
  directory: string,
  env: Readonly<Record<string, string>>,
): Promise<FleetMeasurement> {
  const started: ServiceProcess[] = [];
  const start = async (role: string): Promise<ServiceProcess> => {
    const more = { SERVICE: 'semi-structured-transformer', WORKER_CONCURRENCY: '1', SLICE_BYTES: String(sliceBytes) };
    const one = await startService({ cwd: directory, env: { ...env, ...more }, args: ['--role', role] });
    started.push(one);
    return one;
  };
  try {
    const [api] = await Promise.all([start('api'), ...Array.from({ length: workers }, () => start('worker'))]);
    const load = loadavg()[0] as number;
    const cpuBefore = cpuSecondsOf(started);
    const from = performance.now();
    const { status, body } = await postJson(`${api.url}/process`, { inputFileURL: input, mappingURL: join(directory, 'mapping.ttl') });
    const seconds = (performance.now() - from) / 1000;
    if (status !== 200) throw new Error(`the run was answered ${status}: ${JSON.stringify(body)}`);
    const parts = await Promise.all((body.outputFileLocations as string[]).map((url) => stat(fileURLToPath(url))));
    return {
      name,
      seconds: [seconds],
      queueShare: [1 - body.processingTime / 1000 / seconds],
      cpuSeconds: [cpuSecondsOf(started) - cpuBefore],
      load: [load],
      quads: body.quads,
      outputBytes: parts.reduce((sum, { size }) => sum + size, 0),
      files: parts.length,
      peakBytes: Math.max(...started.map(peakBytesOf)),
    };
  } finally {
    await Promise.all(started.map((one) => one.stop()));
    await rm(join(directory, 'data'), { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Linux counts CPU time in hundredths of a second. @see proc_pid_stat(5) */
function cpuSecondsOf(processes: readonly ServiceProcess[]): number {
  return processes.reduce((sum, { pid }) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return sum + (Number(fields[11]) + Number(fields[12])) / 100;
  }, 0);
}

/** @see proc_pid_status(5) */
const peakBytesOf = ({ pid }: ServiceProcess): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;

/** Rows of an identifier and nine digits: 2.7 GB. */
async function makeBillion(data: string): Promise<string> {
  const rows = function* (): Generator<string> {
    yield `id,${DIGITS.join()}\n`;
    for (let from = 0; from < BILLION_ROWS; from += 10_000) {
      let text = '';
      for (let id = from; id < from + 10_000; id++)
        text += `${id},${String(id % 997_002_999)
          .padStart(9, '0')
          .split('')
          .join()}\n`;
      yield text;
    }
  };
  return madeOnce(join(data, 'billion'), BILLION_ROWS, rows());
}

/** @returns the file of rows in a directory, which is written if it is not there */
async function madeOnce(directory: string, rows: number, texts: AsyncIterable<string> | Iterable<string>): Promise<string> {
  const file = join(directory, 'data.csv');
  if (existsSync(file)) return file;
  await mkdir(directory, { recursive: true });
  await pipeline(texts, createWriteStream(`${file}.part`));
  await writeFile(join(directory, 'expected.json'), `${JSON.stringify({ rows })}\n`);
  await rename(`${file}.part`, file);
  return file;
}

/** The rows of flat-1m ten times, with other identifiers each: a gigabyte. */
async function makeLarge(data: string): Promise<string> {
  await generateMissing('flat-1m', data);
  const rows = async function* (): AsyncGenerator<string> {
    for (let copy = 0; copy < COPIES; copy++) {
      const lines = createInterface({ input: createReadStream(join(data, 'flat-1m', 'data.csv')) });
      let text = '';
      let isHeader = true;
      for await (const line of lines) {
        if (isHeader && copy > 0) {
          isHeader = false;
          continue;
        }
        const comma = line.indexOf(',');
        text += isHeader || copy === 0 ? `${line}\n` : `${copy}${line.slice(0, comma).padStart(6, '0')}${line.slice(comma)}\n`;
        isHeader = false;
        if (text.length < 1 << 18) continue;
        yield text;
        text = '';
      }
      yield text;
    }
  };
  const { rows: count } = JSON.parse(await readFile(join(data, 'flat-1m', 'expected.json'), 'utf8')) as { rows: number };
  return madeOnce(join(data, 'flat-10m'), count * COPIES, rows());
}
