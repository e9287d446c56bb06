/** Many small runs at once: each is answered, each output is complete, and none exists twice. */
import { spawnSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { sharedRedis } from '../../servers/shared/shared.ts';
import { temporaryDirectory, uniquePrefix } from '../../support/queues/backends.ts';
import { PEOPLE, PEOPLE_LINES, peopleMapping } from '../../support/service/inputs.ts';
import { type Answer, ask, postJson, type ServiceProcess, startService } from '../../support/service/process.ts';

const RUNS = 500;
const IN_FLIGHT = 50;
/** The embedded queue needs 10 s on two idle cores; other tests may be running. */
const LIMIT_MS = 300_000;
const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

async function postAll(url: string, body: unknown): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  let started = 0;
  const client = async (): Promise<void> => {
    while (started < RUNS) {
      started++;
      answers.push(await postJson(url, body));
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, client));
  return answers;
}

/** Posts the runs to the first of `fleet`, and checks everything that they left. */
async function checkLoad(directory: string, [api]: readonly ServiceProcess[]): Promise<void> {
  await writeFile(join(directory, 'people.csv'), PEOPLE.csv);
  await writeFile(join(directory, 'people.ttl'), peopleMapping('csv', 'people.csv'));
  const url = `${api?.url}/process`;
  const answers = await postAll(url, { inputFileURL: join(directory, 'people.csv'), mappingURL: join(directory, 'people.ttl') });

  expect(answers.filter(({ status }) => status !== 200).map(({ status, body }) => [status, body])).toEqual([]);
  const ids = new Set(answers.map(({ body }) => body.runId as string));
  expect(ids.size).toBe(RUNS);
  for (const { body } of answers) {
    expect(body.outputFileLocations).toHaveLength(1);
    const text = await readFile(fileURLToPath(body.outputFileLocations[0]), 'utf8');
    expect(text.trimEnd().split('\n').sort()).toEqual(PEOPLE_LINES);
  }
  const expected = [...ids].flatMap((id) => ['nq', 'manifest.json'].map((end) => `Semi-Structured-Transformer-${id}.${end}`));
  expect((await readdir(join(directory, 'data', 'output'))).sort()).toEqual(expected.sort());
  expect((await ask(`${api?.url}/runs?state=completed&limit=1000`)).body.runs).toHaveLength(RUNS);
  expect((await ask(`${api?.url}/health/ready`)).status).toBe(200);
  expect(api?.stderr()).toBe('');
}

const common = { SERVICE: 'semi-structured-transformer', LOG_LEVEL: 'debug' };

export function loadOfOneProcess(): void {
  test(
    `${RUNS} requests, ${IN_FLIGHT} of them in flight, are all answered by one process on the embedded queue`,
    async () => {
      const directory = await temporaryDirectory();
      const service = await startService({ cwd: directory.path, env: { ...common, QUEUE_URL: 'embedded:' } });
      try {
        await checkLoad(directory.path, [service]);
      } finally {
        await service.stop();
        await directory.remove();
      }
    },
    LIMIT_MS,
  );
}

export function loadOfFleet(): void {
  (hasRedis ? test : test.skip)(
    `${RUNS} requests, ${IN_FLIGHT} of them in flight, are all answered by an API and two workers on Redis${hasRedis ? '' : ' (skipped: there is no redis-server on the PATH)'}`,
    async () => {
      const directory = await temporaryDirectory();
      const redis = await sharedRedis();
      const env = { ...common, QUEUE_URL: redis.url, QUEUE_PREFIX: uniquePrefix() };
      const fleet = await Promise.all(
        ['api', 'worker', 'worker'].map((role) => startService({ cwd: directory.path, env, args: ['--role', role] })),
      );
      try {
        await checkLoad(directory.path, fleet);
        const shares = fleet.slice(1).map(({ log }) => log.filter(({ msg }) => msg === 'run started').length);
        expect(shares.reduce((sum, share) => sum + share)).toBe(RUNS);
        expect(Math.min(...shares)).toBeGreaterThan(0);
      } finally {
        await Promise.all(fleet.map((one) => one.stop()));
        await redis.stop();
        await directory.remove();
      }
    },
    LIMIT_MS,
  );
}
