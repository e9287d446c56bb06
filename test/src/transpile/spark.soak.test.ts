/**
 * Lines of jobs for Spark and DuckDB against those of runs: workloads of the bench, awkward data, and the cases of rml-core and rml-cc. One Spark with two executors
 * runs some of them, several in a job, and loses an executor within the first job.
 *
 * `TRANSPILE_ROWS=n` takes n rows of each file of the workloads in the place of 200, `TRANSPILE_CASES=n` n cases for Spark in the place of 4.
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { transpileFiles } from '../../../bin/commands/mappings/compile.ts';
import type { DialectName } from '../../../src/transpile/dialects/dialect.ts';
import { spark as sparkDialect } from '../../../src/transpile/dialects/spark.ts';
import { printSql, type Sql, unionOf } from '../../../src/transpile/sql.ts';
import type { Transpiled } from '../../../src/transpile/transpile.ts';
import { generateMissing } from '../../bench/measure.ts';
import { readManifest } from '../../conformance/manifest.ts';
import { type Spark, startSpark } from '../../servers/lake/spark.ts';
import { PROJECT_ROOT } from '../../support/project-root.ts';
import { writeCalls } from './calls.ts';
import { writeAwkward } from './cases.ts';
import { structureOf, writeCollections } from './collections.ts';
import { type Engine, startDuckdb } from './duckdb.ts';
import { BASE, linesOfRun } from './lines.ts';
import { randomReplacing } from './patterns.ts';
import { linesOfDirectory } from './spark.ts';
import { writeViews } from './views.ts';

const ROWS = Number(process.env.TRANSPILE_ROWS ?? 200);
/** Cases of rml-core and workloads that Spark runs, beside those with calls, views and several values; those between are left out. */
const SPARK_CASES = Number(process.env.TRANSPILE_CASES ?? 4);
const ALWAYS: ReadonlySet<string> = new Set(['combinations', 'calls-json', 'views', 'collections', 'collections-csv']);
/** Cases of one job: the time that Spark plans for grows faster than their number. */
const TOGETHER = 5;
const SUITES = join(PROJECT_ROOT, '..', 'shared', 'conformance');

interface Case {
  readonly name: string;
  readonly mapping: string;
  readonly directory: string;
  readonly base: string;
}

const directory = mkdtempSync(join(tmpdir(), 'quadmill-lake-'));
const cases: Case[] = [];
let engine: Engine;
let spark: Spark | { readonly skip: string };

beforeAll(async () => {
  engine = await startDuckdb();
  spark = await startSpark();
  const made = [...writeAwkward(directory, 3), ...writeCalls(directory, 2), ...writeViews(directory, 1), ...writeCollections(directory, 1)];
  for (const { name, mapping, directory: own } of made) cases.push({ name, mapping, directory: own, base: BASE });
  for (const [folder, mapping] of [
    ['flat-1k', 'mapping.ttl'],
    ['join-nm', 'mapping.ttl'],
    ['gtfs-1', 'mapping-csv.ttl'],
  ] as const) {
    const own = await workload(folder);
    cases.push({ name: folder, mapping: join(own, mapping), directory: own, base: BASE });
  }
  for (const { id, dir, mapping, baseIRI, suite } of readManifest(SUITES) ?? []) {
    if (!['rml-core', 'rml-cc'].includes(suite) || mapping === null) continue;
    cases.push({ name: id, mapping: join(SUITES, dir, mapping), directory: join(SUITES, dir), base: baseIRI });
  }
});

afterAll(async () => {
  await engine.close();
  if ('stop' in spark) await spark.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** The first rows of a workload of the bench. */
async function workload(folder: string): Promise<string> {
  const whole = join(directory, 'whole');
  mkdirSync(whole, { recursive: true });
  await generateMissing(folder, whole);
  const own = join(directory, folder);
  mkdirSync(own);
  for (const name of readdirSync(join(whole, folder))) {
    const from = join(whole, folder, name);
    if (name.endsWith('.csv')) writeFileSync(join(own, name), linesIn(from, ROWS + 1));
    else if (name.endsWith('.ttl')) cpSync(from, join(own, name));
  }
  rmSync(join(whole, folder), { recursive: true });
  return own;
}

const linesIn = (file: string, count: number): string => `${readFileSync(file, 'utf8').split('\n').slice(0, count).join('\n')}\n`;

interface Compiled {
  readonly case: Case;
  readonly job: Transpiled;
  readonly lines: string[];
}

/** The cases that a dialect takes and a run maps. */
async function taken(dialect: DialectName): Promise<Compiled[]> {
  const all: Compiled[] = [];
  for (const one of cases) {
    const job = await transpileFiles([one.mapping], dialect, new Map(), one.base, one.directory).catch(() => undefined);
    if (job === undefined || job.refusals.length > 0) continue;
    const lines = await linesOfRun(one.mapping, one.directory, one.base);
    if (typeof lines !== 'string') all.push({ case: one, job, lines });
  }
  return all;
}

test('DuckDB gives the lines of runs', async () => {
  for (const { case: one, job, lines } of await taken('duckdb'))
    expect([one.name, structureOf(await engine.run(job))]).toEqual([one.name, structureOf(lines)]);
});

test('Spark gives the lines of runs, also when it loses an executor', async () => {
  if ('skip' in spark) return console.warn(`skipped: ${spark.skip}`);
  const session = await spark.session();
  const able = await taken('spark');
  const others = able.filter(({ case: { name } }) => !ALWAYS.has(name));
  const all = [
    ...others.filter((_, at) => at % Math.ceil(others.length / SPARK_CASES) === 0),
    ...able.filter(({ case: { name } }) => ALWAYS.has(name)),
  ];
  expect(all.length).toBeGreaterThan(ALWAYS.size);
  const { dialect } = (all[0] as Compiled).job;
  for (const statement of dialect.preamble) await session.run(statement);
  const own = (at: number, sql: string): string => sql.replaceAll(/\b(records|file)_(i?\d+)\b/g, `case_${at}_$1_$2`);
  for (let from = 0; from < all.length; from += TOGETHER) {
    const group = all.slice(from, from + TOGETHER);
    for (const [at, { job }] of group.entries())
      for (const statement of job.preparation.slice(dialect.preamble.length)) await session.run(own(at, statement));
    const output = join(directory, `graph-${from}`);
    await session.run(`SET quadmill.output = file://${output}`);
    const done = session.run(
      dialect.write(unionOf(group.map(({ job }, at) => `SELECT '${at} ' || line AS line FROM (${own(at, job.query)})`))),
    );
    if (from === 0) await loseExecutor(spark);
    await done;
    const lines = linesOfDirectory(output);
    for (const [at, { case: one, lines: expected }] of group.entries()) {
      const found = lines.filter((line) => line.startsWith(`${at} `)).map((line) => line.slice(2));
      expect([one.name, structureOf(found)]).toEqual([one.name, structureOf(expected)]);
    }
  }
  await session.close();
});

test('Spark replaces what ECMAScript replaces', async () => {
  if ('skip' in spark) return console.warn(`skipped: ${spark.skip}`);
  const session = await spark.session();
  const output = join(directory, 'replaced');
  const all = randomReplacing(7, 300);
  const rows = all.map(({ pattern, text, replacement }, at) => {
    const value: Sql = { kind: 'raw', sql: sparkDialect.text(text) };
    return `concat('${String(at).padStart(4, '0')} ', hex(${printSql({ kind: 'replaced', value, pattern: pattern.source, replacement }, sparkDialect)}))`;
  });
  await session.run(`INSERT OVERWRITE DIRECTORY 'file://${output}' USING text SELECT explode(array(${rows.join(', ')}))`);
  await session.close();
  const found = linesOfDirectory(output).map((line, at) => [
    all[at]?.source,
    all[at]?.text,
    Buffer.from(line.slice(5), 'hex').toString('utf8'),
  ]);
  expect(found).toEqual(all.map(({ source, text, replaced }) => [source, text, replaced]));
});

async function loseExecutor({ executors }: Spark): Promise<void> {
  await sleep(1_000);
  const [lost] = await executors();
  process.kill(lost as number, 'SIGKILL');
}
