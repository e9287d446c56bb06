/** A service that is killed while it writes to object storage: nothing looks like a whole run before it is one, and nothing is left over. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ListMultipartUploadsCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readText } from '../../../src/storage/open.ts';
import { s3Client } from '../../../src/storage/s3/client.ts';
import { listS3 } from '../../../src/storage/s3/read.ts';
import { SHARED_START_MS, type SharedS3, sharedS3 } from '../../servers/shared/shared.ts';
import { startTroubles, type Troubles } from '../../servers/stores/s3-troubles.ts';
import { missingS3Proxy, S3_KEYS } from '../../servers/stores/s3proxy.ts';
import { accessTo, putObject } from '../../src/storage/s3/storing.ts';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { peopleMapping } from '../../support/service/inputs.ts';
import { poll, postJson, type ServiceProcess, startService } from '../../support/service/process.ts';

const missing = await missingS3Proxy();
const describeS3 = missing === undefined ? describe : describe.skip;
if (missing !== undefined) test.skip(`S3 is not tested: ${missing}`, () => undefined);

const ROWS = 20_000;
let server: SharedS3;
let troubles: Troubles;
const directories: { remove(): Promise<void> }[] = [];
const services: ServiceProcess[] = [];
const url = (key: string): string => `s3://${server.bucket}/${key}`;
const textOf = (location: string): Promise<string> =>
  readText(location, 2 ** 26, { reach: undefined, workingDirectory: '/', s3: accessTo(server.endpoint) });

beforeAll(async () => {
  if (missing !== undefined) return;
  server = await sharedS3();
  troubles = await startTroubles(server.endpoint);
  const put = (key: string, body: string) => putObject(accessTo(server.endpoint), server.bucket, key, body);
  await put('people.ttl', peopleMapping('csv', 'people.csv'));
  await put('many.csv', `id,name\n${Array.from({ length: ROWS }, (_, i) => `${i},"a ${i}"\n`).join('')}`);
}, SHARED_START_MS);
afterAll(async () => {
  for (const service of services) service.kill('SIGKILL');
  await Promise.all(services.map(({ exited }) => exited));
  await troubles?.stop();
  await server?.stop();
  for (const directory of directories) await directory.remove();
});

async function namesIn(prefix: string): Promise<readonly string[]> {
  const at = { kind: 's3', bucket: server.bucket, key: prefix } as const;
  const keys = await listS3(at, prefix, accessTo(server.endpoint)).catch((error: { readonly code?: string }) => {
    if (error.code === 'source/missing') return [];
    throw error;
  });
  return keys.map((key) => key.slice(prefix.length + 1)).sort();
}

/** The statements of the manifest in a directory; undefined: it has none. Every part of a manifest is whole. */
async function statementsIn(prefix: string): Promise<{ readonly lines: readonly string[]; readonly names: readonly string[] } | undefined> {
  const manifest = (await namesIn(prefix)).find((name) => name.endsWith('.manifest.json'));
  if (manifest === undefined) return undefined;
  const { parts } = JSON.parse(await textOf(url(`${prefix}/${manifest}`)));
  const lines: string[] = [];
  for (const { url: part, sha256 } of parts) {
    const text = await textOf(part);
    expect(createHash('sha256').update(text).digest('hex')).toBe(sha256);
    lines.push(...text.split('\n').filter(Boolean));
  }
  return { lines, names: [manifest, ...parts.map((part: { readonly url: string }) => part.url.slice(url(`${prefix}/`).length))].sort() };
}

describeS3.each([
  ['one piece', '0', [1, 3, 5]],
  ['slices', '100000', [3, 8, 14]],
])('a service that writes a run in %s', (kind, sliceBytes, numbers) => {
  // Requests that write: some fall on slices, on uploads, on completions, and on what follows. A run in one piece has six.
  test.each(numbers)('is killed at its write number %i', async (number) => {
    const directory = await temporaryDirectory();
    directories.push(directory);
    const prefix = `out-${kind.replace(' ', '-')}-${number}`;
    const start = async (): Promise<ServiceProcess> => {
      const service = await startService({
        cwd: directory.path,
        env: {
          DATA_DIR: join(directory.path, 'data'),
          QUEUE_URL: 'embedded:',
          OUTPUT_DIR_URL: url(prefix),
          SLICE_BYTES: sliceBytes,
          LOCK_SECONDS: '2',
          STALLED_SECONDS: '1',
          RETRY_SECONDS: '0',
          AWS_ACCESS_KEY: S3_KEYS.access,
          AWS_SECRET_KEY: S3_KEYS.secret,
          S3_ENDPOINT: troubles.endpoint,
          S3_PATH_STYLE: 'true',
        },
      });
      services.push(service);
      return service;
    };
    const first = await start();
    let writes = 0;
    let killed = false;
    troubles.trouble = async ({ method, path }) => {
      if (!['PUT', 'POST', 'DELETE'].includes(method) || !path.includes(prefix) || ++writes !== number) return undefined;
      killed = true;
      // Every other time the storage still does what it was asked for.
      if (number % 2 === 0) return void setTimeout(() => first.kill('SIGKILL'), 3);
      first.kill('SIGKILL');
      await first.exited;
      return { status: 503, body: '' };
    };
    const body = { inputFileURL: url('many.csv'), logicalSource: 'people.csv', mappingURL: url('people.ttl') };
    const accepted = await postJson(`${first.url}/semi-structured-transformer/process`, body, { prefer: 'respond-async' });
    expect(accepted.status).toBe(202);
    const deadline = Date.now() + 60_000;
    const isOver = async (): Promise<boolean> => killed || (await statementsIn(prefix)) !== undefined;
    while (!(await isOver()) && Date.now() < deadline) await sleep(50);
    if (number < 6) expect(killed).toBe(true);
    if (killed) {
      await first.exited;
      const seen = await statementsIn(prefix);
      if (seen !== undefined) expect(seen.lines).toHaveLength(ROWS);
    } else await first.stop();
    troubles.trouble = () => undefined;
    const second = await start();
    const run = `${second.url}/semi-structured-transformer/runs/${accepted.body.id}`;
    const { body: view } = await poll(run, (answer) => ['completed', 'failed'].includes(answer.body.state), 60_000);
    expect([view.state, view.outcome?.error]).toEqual(['completed', undefined]);
    await second.stop();
    // The records have a key, so no slice has a statement of another one: the storage copies what they have written.
    const isPart = (path: string): boolean => /\/\.[^/]*\.nq/.test(decodeURIComponent(path));
    const partsBy = (verb: string) => troubles.seen.filter(({ method, path }) => method === verb && path.includes(prefix) && isPart(path));
    expect([partsBy('PUT').length > 0, partsBy('GET')]).toEqual([kind === 'slices', []]);
    const whole = await statementsIn(prefix);
    expect([whole?.lines.length, new Set(whole?.lines).size]).toEqual([ROWS, ROWS]);
    expect(await namesIn(prefix)).toEqual(whole?.names);
    const { Uploads = [] } = await s3Client(accessTo(server.endpoint)).send(new ListMultipartUploadsCommand({ Bucket: server.bucket }));
    expect(Uploads.filter(({ Key }) => Key?.startsWith(prefix))).toEqual([]);
  });
});
