/** After the last fault: checks that files, queue and API agree with the ground truth. */

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { ALL_SERVICES, queuesOf, SERVICE_QUEUES } from '../../../queues/jobs.ts';
import { withLimit } from '../../../src/core/abort.ts';
import { PREFIX, type World } from '../fleet/world.ts';
import { mayEnd } from '../load/client.ts';
import { expectedStatements, OUTPUT_NAMES, type PlannedRun, serviceOf } from '../load/load.ts';
import type { GroundTruth } from './ground-truth.ts';

const QUEUES = queuesOf(ALL_SERVICES).map(({ name }) => name);
/** Queues whose jobs must not fail: a failed job is a lost one. */
const MUST_NOT_FAIL: ReadonlySet<string> = new Set(
  ALL_SERVICES.flatMap((service) => [SERVICE_QUEUES[service].cancel, SERVICE_QUEUES[service].outbox]),
);
/** Locks of workers killed last live for LOCK_SECONDS; messages wait for brokers that were away. */
const REST_LIMIT_MS = 30_000;

/** Records violations. */
export async function judge(world: World, runs: readonly PlannedRun[], ledger: GroundTruth): Promise<void> {
  for (const run of runs) judgeOutcome(run, ledger);
  await judgeFiles(world, runs, ledger);
  await judgeQueue(world, runs, ledger);
}

function judgeOutcome(run: PlannedRun, ledger: GroundTruth): void {
  const outcome = ledger.outcomeOf(run.key);
  if (outcome === undefined) ledger.violation(run.key, 'there is no outcome');
  else if (!mayEnd(run, outcome.state, outcome.body.code)) {
    ledger.violation(run.key, `a run of ${run.file} must not end so: ${JSON.stringify(outcome)}`);
  }
}

async function judgeFiles({ data }: World, runs: readonly PlannedRun[], ledger: GroundTruth): Promise<void> {
  const directory = join(data, 'output');
  // Missing if no run has written anything; then the outcomes explain why.
  const left = new Set(await readdir(directory).catch(() => []));
  for (const run of runs) {
    if (ledger.outcomeOf(run.key)?.state !== 'completed') continue;
    const name = `${OUTPUT_NAMES[serviceOf(run)]}-${ledger.idOf(run.key)}`;
    try {
      for (const file of await judgeOutput(directory, name, run, ledger)) left.delete(file);
    } catch (error) {
      ledger.violation(run.key, `the output of a completed run cannot be read: ${(error as Error).message}`);
    }
    left.delete(`${name}.manifest.json`);
  }
  for (const file of left) {
    const run = runs.find(({ key }) => file.includes(String(ledger.idOf(key))));
    ledger.violation(run?.key, `a file is left that belongs to no completed run: ${file}`);
  }
  const spills = await readdir(join(data, 'spill')).catch(() => []);
  for (const spill of spills) ledger.violation(undefined, `a spill directory is left: ${spill}`);
}

/** Compares manifest, parts and statements with each other and with the oracle. Returns the names of the parts. */
async function judgeOutput(directory: string, name: string, run: PlannedRun, ledger: GroundTruth): Promise<readonly string[]> {
  const manifest = JSON.parse(await readFile(join(directory, `${name}.manifest.json`), 'utf8'));
  const files: string[] = [];
  const lines: string[] = [];
  for (const { url, bytes, sha256 } of manifest.parts) {
    const file = basename(url);
    files.push(file);
    const content = await readFile(join(directory, file));
    const digest = createHash('sha256').update(content).digest('hex');
    if (bytes !== content.length || sha256 !== digest) {
      ledger.violation(run.key, `${file} has ${content.length} bytes, ${digest}, and in the manifest ${bytes}, ${sha256}`);
    }
    const text = content.toString().split('\n');
    if (text.pop() !== '') ledger.violation(run.key, `${file} does not end with the end of a line`);
    for (const line of text) lines.push(line);
  }
  const expected = expectedStatements(run);
  const found = new Set(lines);
  const missing = [...expected].filter((line) => !found.has(line));
  const more = lines.filter((line) => !expected.has(line));
  if (missing.length + more.length > 0 || lines.length !== expected.size) {
    const counts = `${lines.length} statements (${found.size} distinct) in place of ${expected.size}`;
    ledger.violation(run.key, `${name}: ${counts}; missing ${missing.slice(0, 3).join(' ')}; not expected ${more.slice(0, 3).join(' ')}`);
  }
  const { quads, outputFileLocations } = ledger.outcomeOf(run.key)?.body ?? {};
  const said = manifest.parts.map(({ url }: { readonly url: string }) => url);
  if (manifest.quads !== expected.size || quads !== expected.size || JSON.stringify(outputFileLocations) !== JSON.stringify(said)) {
    ledger.violation(run.key, `manifest and outcome disagree: ${JSON.stringify(manifest)}, ${quads}, ${outputFileLocations}`);
  }
  return files;
}

/** Waits until no job of the queue is waiting or active. Returns the remaining activity after the limit. */
export async function waitUntilIdle({ redis }: Pick<World, 'redis'>): Promise<readonly string[]> {
  const client = new Redis(redis.url, { maxRetriesPerRequest: 1 });
  client.on('error', () => undefined);
  try {
    for (const deadline = Date.now() + REST_LIMIT_MS; ; await sleep(250)) {
      const unrest = await findActivity(client);
      if (unrest.length === 0 || Date.now() > deadline) return unrest;
    }
  } finally {
    client.disconnect();
  }
}

async function judgeQueue({ redis, url }: World, runs: readonly PlannedRun[], ledger: GroundTruth): Promise<void> {
  const client = new Redis(redis.url, { maxRetriesPerRequest: 1 });
  client.on('error', () => undefined);
  try {
    for (const what of await findActivity(client)) ledger.violation(undefined, what);
    const sets = ALL_SERVICES.flatMap((service) =>
      ['completed', 'failed'].map((set) => `${PREFIX}:${SERVICE_QUEUES[service].work}:${set}`),
    );
    const ended = (await Promise.all(sets.map((set) => client.zcard(set)))).reduce((sum, count) => sum + count, 0);
    const counts = ledger.counts();
    const heard = counts.completed + counts.failed + counts.cancelled;
    if (ended !== runs.length || heard !== runs.length) {
      ledger.violation(undefined, `the queue has ${ended} outcomes, the ground truth ${heard}, and there were ${runs.length} requests`);
    }
    for (const [state, count] of Object.entries(counts)) {
      const listed = await listRuns(url, state);
      if (listed !== count) ledger.violation(undefined, `/runs lists ${listed} runs that are ${state}, the ground truth ${count}`);
    }
  } finally {
    client.disconnect();
  }
}

/** Activity that an idle queue must not have. */
async function findActivity(client: Redis): Promise<readonly string[]> {
  const found: string[] = [];
  for (const queue of QUEUES) {
    const key = (name: string): string => `${PREFIX}:${queue}:${name}`;
    for (const list of ['wait', 'active', 'paused'] as const) {
      const ids = await client.lrange(key(list), 0, 9);
      if (ids.length > 0) found.push(`queue ${queue} has ${list} jobs: ${ids.join(' ')}`);
    }
    const sets = ['delayed', 'prioritized', 'waiting-children', ...(MUST_NOT_FAIL.has(queue) ? ['failed'] : [])];
    for (const set of sets) {
      const ids = await client.zrange(key(set), '0', '9');
      if (ids.length > 0) found.push(`queue ${queue} has ${set} jobs: ${ids.join(' ')}`);
    }
  }
  const locks = await keysOf(client, `${PREFIX}:*:lock`);
  if (locks.length > 0) found.push(`there are locks without a job: ${locks.join(' ')}`);
  return found;
}

async function keysOf(client: Redis, pattern: string): Promise<readonly string[]> {
  const keys: string[] = [];
  let cursor = '0';
  do {
    const [next, some] = await client.scan(cursor, 'MATCH', pattern, 'COUNT', '1000');
    keys.push(...some);
    cursor = next;
  } while (cursor !== '0');
  return keys;
}

async function listRuns(url: string, state: string): Promise<number> {
  let count = 0;
  for (const service of Object.keys(OUTPUT_NAMES)) {
    const address = `${url}/${service}/runs?state=${state}&limit=1000`;
    const answer = await withLimit(30_000, async (signal) => (await fetch(address, { signal })).json());
    const { runs } = answer as { readonly runs: readonly unknown[] };
    count += runs.length;
  }
  return count;
}
