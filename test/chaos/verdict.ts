/** After the last fault: does everything that is left behind agree with the ledger? */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { mayEnd } from './client.ts';
import type { Ledger } from './ledger.ts';
import { expectedStatements, type PlannedRun } from './load.ts';
import { PREFIX, type World } from './world.ts';

const SERVICE = 'Semi-Structured-Transformer';
const QUEUES = ['transform', 'announce', 'slice'] as const;
/** Locks of workers that were killed last live for LOCK_SECONDS. */
const REST_LIMIT_MS = 30_000;

/** Writes what is wrong into the ledger. */
export async function judge(world: World, runs: readonly PlannedRun[], ledger: Ledger): Promise<void> {
  for (const run of runs) judgeOutcome(run, ledger);
  await judgeFiles(world, runs, ledger);
  await judgeQueue(world, runs, ledger);
}

function judgeOutcome(run: PlannedRun, ledger: Ledger): void {
  const outcome = ledger.outcomeOf(run.key);
  if (outcome === undefined) ledger.violation(run.key, 'there is no outcome');
  else if (!mayEnd(run, outcome.state, outcome.body.code)) {
    ledger.violation(run.key, `a run of ${run.file} must not end so: ${JSON.stringify(outcome)}`);
  }
}

async function judgeFiles({ data }: World, runs: readonly PlannedRun[], ledger: Ledger): Promise<void> {
  const directory = join(data, 'output');
  const left = new Set(await readdir(directory));
  for (const run of runs) {
    if (ledger.outcomeOf(run.key)?.state !== 'completed') continue;
    const name = `${SERVICE}-${ledger.idOf(run.key)}`;
    try {
      await judgeOutput(directory, name, run, ledger);
    } catch (error) {
      ledger.violation(run.key, `the output of a completed run cannot be read: ${(error as Error).message}`);
    }
    left.delete(`${name}.nq`);
    left.delete(`${name}.manifest.json`);
  }
  for (const file of left) {
    const run = runs.find(({ key }) => file.includes(String(ledger.idOf(key))));
    ledger.violation(run?.key, `a file is left that belongs to no completed run: ${file}`);
  }
  const spills = await readdir(join(data, 'spill')).catch(() => []);
  for (const spill of spills) ledger.violation(undefined, `a spill directory is left: ${spill}`);
}

async function judgeOutput(directory: string, name: string, run: PlannedRun, ledger: Ledger): Promise<void> {
  const bytes = await readFile(join(directory, `${name}.nq`));
  const manifest = JSON.parse(await readFile(join(directory, `${name}.manifest.json`), 'utf8'));
  const expected = expectedStatements(run);
  const lines = bytes.toString().split('\n');
  if (lines.pop() !== '') ledger.violation(run.key, 'the output does not end with the end of a line');
  const found = new Set(lines);
  const missing = [...expected].filter((line) => !found.has(line));
  const more = lines.filter((line) => !expected.has(line));
  if (missing.length + more.length > 0 || lines.length !== expected.size) {
    const counts = `${lines.length} statements (${found.size} distinct) in place of ${expected.size}`;
    ledger.violation(
      run.key,
      `${name}.nq: ${counts}; missing ${missing.slice(0, 3).join(' ')}; not expected ${more.slice(0, 3).join(' ')}`,
    );
  }
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const [part, ...parts] = manifest.parts;
  const agrees =
    parts.length === 0 &&
    part.url.endsWith(`/${name}.nq`) &&
    part.bytes === bytes.length &&
    part.sha256 === sha256 &&
    manifest.quads === expected.size &&
    ledger.outcomeOf(run.key)?.body.quads === expected.size;
  if (!agrees) ledger.violation(run.key, `manifest and output disagree: ${JSON.stringify(manifest)}, ${bytes.length} bytes, ${sha256}`);
}

async function judgeQueue({ redis, url }: World, runs: readonly PlannedRun[], ledger: Ledger): Promise<void> {
  const client = new Redis(redis.url, { maxRetriesPerRequest: 1 });
  client.on('error', () => undefined);
  try {
    let unrest: readonly string[] = [];
    for (const deadline = Date.now() + REST_LIMIT_MS; ; await sleep(250)) {
      unrest = await findUnrest(client);
      if (unrest.length === 0 || Date.now() > deadline) break;
    }
    for (const what of unrest) ledger.violation(undefined, what);
    const ended = await client.zcard(`${PREFIX}:announce:completed`);
    const counts = ledger.counts();
    const heard = counts.completed + counts.failed + counts.cancelled;
    if (ended !== runs.length || heard !== runs.length) {
      ledger.violation(undefined, `the queue has ${ended} outcomes, the ledger ${heard}, and there were ${runs.length} requests`);
    }
    for (const [state, count] of Object.entries(counts)) {
      const listed = await listRuns(url, state);
      if (listed !== count) ledger.violation(undefined, `/runs lists ${listed} runs that are ${state}, the ledger ${count}`);
    }
  } finally {
    client.disconnect();
  }
}

/** What a queue at rest does not have. */
async function findUnrest(client: Redis): Promise<readonly string[]> {
  const found: string[] = [];
  for (const queue of QUEUES) {
    const key = (name: string): string => `${PREFIX}:${queue}:${name}`;
    for (const list of ['wait', 'active', 'paused'] as const) {
      const ids = await client.lrange(key(list), 0, 9);
      if (ids.length > 0) found.push(`queue ${queue} has ${list} jobs: ${ids.join(' ')}`);
    }
    const sets = ['delayed', 'prioritized', 'waiting-children', ...(queue === 'announce' ? ['failed'] : [])];
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
  const response = await fetch(`${url}/runs?state=${state}&limit=1000`, { signal: AbortSignal.timeout(30_000) });
  const { runs } = (await response.json()) as { readonly runs: readonly unknown[] };
  return runs.length;
}
