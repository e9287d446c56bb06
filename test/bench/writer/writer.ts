/**
 * A million statements into a store, by the writer and by hand: one streamed upload of the same file, or a loader that knows what is in it.
 *
 * Each measurement has a new, empty store, and the two take turns, so that what else the machine does meets both.
 */
import { spawn } from 'node:child_process';
import { createWriteStream, existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { NO_LIMITS } from '../../../src/core/limits.ts';
import type { WriteReport, WriteRequest } from '../../../src/write/request.ts';
import { table } from '../../conformance/summary.ts';
import { BENCH_STORES, type BenchStore, type Counts, EXPECTED, inputLines } from './stores.ts';

const WRITER = fileURLToPath(new URL('../../src/write/writer.js', import.meta.url));
/** Of the rate by hand. */
const WANTED = 0.7;

interface Pair {
  readonly load: number;
  readonly handSeconds: number;
  readonly writerSeconds: number;
  readonly cpuSeconds: number;
  readonly peakMemoryBytes: number;
  readonly batches: number;
  readonly wrong: string | undefined;
}

/** Measures and prints; false when a store did not hold afterwards what the input says. */
export async function benchWriter(names: readonly string[], data: string, runs: number): Promise<boolean> {
  const file = await makeInput(data);
  const rows: string[][] = [];
  let isRight = true;
  for (const name of names) {
    const pairs: Pair[] = [];
    let skip: string | undefined;
    for (let run = 0; run < runs && skip === undefined; run++) {
      const pair = await measurePair(name, file, run % 2 === 1);
      if ('skip' in pair) skip = pair.skip;
      else pairs.push(pair);
    }
    if (skip !== undefined) rows.push([name, ...COLUMNS.slice(2).map(() => ''), `skipped: ${skip}`]);
    else {
      rows.push(rowOf(name, pairs));
      isRight &&= pairs.every(({ wrong }) => wrong === undefined);
    }
  }
  console.log(`\n${table([COLUMNS, ...rows])}`);
  return isRight;
}

const COLUMNS = [
  'store',
  'by hand s',
  'writer s',
  'statements/s',
  'rate to by hand',
  'CPU s',
  'peak MB',
  'batches',
  'load before',
  'check',
];

function rowOf(name: string, pairs: readonly Pair[]): string[] {
  const all = (of: (pair: Pair) => number, digits: number): string => pairs.map((pair) => of(pair).toFixed(digits)).join(' ');
  const ratios = pairs.map(({ handSeconds, writerSeconds }) => handSeconds / writerSeconds);
  const wrong = pairs.find((pair) => pair.wrong !== undefined)?.wrong;
  return [
    name,
    all((pair) => pair.handSeconds, 1),
    all((pair) => pair.writerSeconds, 1),
    all((pair) => EXPECTED.statements / pair.writerSeconds, 0),
    `${median(ratios).toFixed(2)} (${ratios.map((one) => one.toFixed(2)).join(' ')})`,
    all((pair) => pair.cpuSeconds, 1),
    all((pair) => pair.peakMemoryBytes / 2 ** 20, 0),
    all((pair) => pair.batches, 0),
    all((pair) => pair.load, 1),
    wrong === undefined ? (median(ratios) >= WANTED ? 'ok' : `ok, slower than ${WANTED}`) : `WRONG: ${wrong}`,
  ];
}

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

async function measurePair(name: string, file: string, writerFirst: boolean): Promise<Pair | { readonly skip: string }> {
  const load = loadavg()[0] as number;
  const byHand = (): Promise<Measured | { readonly skip: string }> =>
    inStore(name, async (store) => {
      const started = performance.now();
      await store.upload(file);
      return { seconds: (performance.now() - started) / 1000, cpuSeconds: 0, peakMemoryBytes: 0, batches: 1 };
    });
  const byWriter = (): Promise<Measured | { readonly skip: string }> => inStore(name, (store) => runWriter(store, file));
  const first = writerFirst ? await byWriter() : await byHand();
  const second = writerFirst ? await byHand() : await byWriter();
  const [hand, writer] = writerFirst ? [second, first] : [first, second];
  if ('skip' in hand) return hand;
  if ('skip' in writer) return writer;
  console.error(`${name}: by hand ${hand.seconds.toFixed(1)} s, writer ${writer.seconds.toFixed(1)} s`);
  const { cpuSeconds, peakMemoryBytes, batches } = writer;
  const wrong = writer.wrong ?? (hand.wrong === undefined ? undefined : `by hand ${hand.wrong}`);
  return { load, handSeconds: hand.seconds, writerSeconds: writer.seconds, cpuSeconds, peakMemoryBytes, batches, wrong };
}

interface Measured {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakMemoryBytes: number;
  readonly batches: number;
  readonly wrong?: string | undefined;
}

async function inStore(name: string, act: (store: BenchStore) => Promise<Measured>): Promise<Measured | { readonly skip: string }> {
  const store = await (BENCH_STORES[name] as (typeof BENCH_STORES)[string])();
  if ('skip' in store) return store;
  const end = (): void => void store.stop().finally(() => process.exit(130));
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.once(signal, end);
  try {
    const measured = await act(store);
    return { ...measured, wrong: verdict(await store.count()) };
  } finally {
    for (const signal of signals) process.off(signal, end);
    await store.stop();
  }
}

const verdict = ({ statements, ages }: Counts): string | undefined =>
  statements !== EXPECTED.statements
    ? `${statements} statements, ${EXPECTED.statements} expected`
    : ages === EXPECTED.ages
      ? undefined
      : `the ages add up to ${ages}, ${EXPECTED.ages} expected`;

/** A separate process, whose memory is that of the write. Its time is that of the write, without the start of Node. */
async function runWriter(store: BenchStore, file: string): Promise<Measured> {
  const directory = await mkdtemp(join(tmpdir(), 'quadmill-bench-writer-'));
  try {
    const request: WriteRequest = {
      runId: 'bench',
      inputs: [file],
      workingDirectory: directory,
      target: {
        ...store.address,
        ca: undefined,
        requestSeconds: 600,
        connectSeconds: 10,
        database: undefined,
        propertyGraph: { prefixes: {}, keepLanguage: false },
      },
      mode: 'insert',
      scope: 'property',
      blankNodes: 'skolem',
      skolemBase: 'http://example.com/.well-known/genid/',
      maxRejected: 0,
      patienceSeconds: 60,
      memoryBudgetBytes: 160 * 2 ** 20,
      limits: NO_LIMITS,
      spillDirectory: join(directory, 'spill'),
      reach: undefined,
      resume: undefined,
    };
    const path = join(directory, 'request.json');
    await writeFile(path, JSON.stringify(request));
    const { report, cpuSeconds, peakMemoryBytes } = await lastWords(path);
    return { seconds: report.seconds, cpuSeconds, peakMemoryBytes, batches: report.batches };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function lastWords(path: string): Promise<{ report: WriteReport; cpuSeconds: number; peakMemoryBytes: number }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [WRITER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    let out = '';
    child.stdout.on('data', (chunk) => {
      out += chunk;
    });
    child.on('error', reject).on('close', () => {
      const last = out.trim().split('\n').at(-1) ?? '';
      if (last.startsWith('{"report"')) resolve(JSON.parse(last));
      else reject(new Error(`the writer ended with ${last}`));
    });
  });
}

async function makeInput(data: string): Promise<string> {
  const directory = join(data, 'writer-1m');
  const file = join(directory, 'data.nq');
  if (existsSync(file)) return file;
  await mkdir(directory, { recursive: true });
  await pipeline(Readable.from(inputLines()), createWriteStream(`${file}.part`));
  await rename(`${file}.part`, file);
  return file;
}
