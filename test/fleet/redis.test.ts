/** A service on Redis by TLS, on a cluster, and behind sentinels; and what it says when that is not as QUEUE_URL says. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect } from '@jest/globals';
import { Redis } from 'ioredis';
import { openBackend, type QueueSecurity } from '../../queues/backend/backend.ts';
import { Secret } from '../../src/core/secret.ts';
import { quietLogger } from '../../src/core/telemetry/observe.ts';
import { freePort, listens } from '../servers/process/port.ts';
import { missingRedis } from '../servers/queues/redis.ts';
import { startCluster, startSentinels } from '../servers/queues/redis-groups.ts';
import { closeAfterEach } from '../support/closing.ts';
import { soakTest, test } from '../support/jest/extent.ts';
import { startRedis } from '../support/queues/backends.ts';
import { PEOPLE, PEOPLE_LINES, peopleMapping, slowInput } from '../support/service/inputs.ts';
import { type Answer, ask, poll, postJson, type ServiceProcess, startService } from '../support/service/process.ts';

const missingOpenssl = spawnSync('openssl', ['version']).status === 0 ? undefined : 'there is no openssl on the PATH';
const missing = missingRedis ?? missingOpenssl;
const why = missing === undefined ? '' : ` (skipped: ${missing})`;
const { closes, directory } = closeAfterEach();

/** Certificates of an authority of the test for 127.0.0.1, and one that no authority has signed. */
function makeCertificates(cwd: string): void {
  const openssl = (...words: readonly string[]): unknown => execFileSync('openssl', words, { cwd, stdio: 'pipe' });
  for (const name of ['ca', 'stranger']) {
    openssl(
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '1',
      '-subj',
      `/CN=${name}`,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.pem`,
    );
  }
  for (const name of ['server', 'client']) {
    openssl('req', '-newkey', 'rsa:2048', '-nodes', '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.csr`);
    execFileSync('sh', ['-c', `printf subjectAltName=IP:127.0.0.1 > ${name}.ext`], { cwd });
    openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      '-CA',
      'ca.pem',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-days',
      '1',
      '-extfile',
      `${name}.ext`,
      '-out',
      `${name}.pem`,
    );
  }
}

/** A Redis that speaks TLS alone, with clients that have a certificate of the authority. */
async function startSecureRedis(cwd: string): Promise<number> {
  makeCertificates(cwd);
  const port = await freePort();
  const tls = ['--tls-port', port, '--tls-cert-file', 'server.pem', '--tls-key-file', 'server.key', '--tls-ca-cert-file', 'ca.pem'];
  const server = spawn('redis-server', ['--port', '0', ...tls.map(String), '--save', ''], { cwd, stdio: 'ignore' });
  closes(async () => {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGKILL');
    await ended;
  });
  while (!(await listens(port))) await sleep(20);
  return port;
}

async function start(cwd: string, env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<ServiceProcess> {
  const service = await startService({ cwd, args, env: { SERVICE: 'semi-structured-transformer', LOG_LEVEL: 'debug', ...env } });
  closes(async () => {
    service.kill('SIGKILL');
    await service.exited;
  });
  return service;
}

async function writePeople(cwd: string): Promise<{ readonly inputFileURL: string; readonly mappingURL: string }> {
  const body = { inputFileURL: join(cwd, 'people.csv'), mappingURL: join(cwd, 'people.ttl') };
  await writeFile(body.inputFileURL, PEOPLE.csv);
  await writeFile(body.mappingURL, peopleMapping('csv', 'people.csv'));
  return body;
}

async function linesOf({ status, body }: Answer): Promise<readonly string[]> {
  expect({ status, ...body }).toMatchObject({ status: 200 });
  const texts = await Promise.all((body.outputFileLocations as string[]).map((url) => readFile(fileURLToPath(url), 'utf8')));
  return texts.flatMap((text) => text.trimEnd().split('\n')).sort();
}

/** How opening the queue fails. */
const failure = async (url: string, security: QueueSecurity = {}): Promise<unknown> => {
  const opened = await openBackend({ url, directory: await directory(), prefix: 'test', security }, quietLogger()).catch((error) => error);
  if (!(opened instanceof Error)) await opened.close();
  return opened;
};

(missing === undefined ? describe : describe.skip)(`Redis that is not one plain server${why}`, () => {
  test('by TLS, with a private certificate; each mistake is named', async () => {
    const cwd = await directory();
    const port = await startSecureRedis(cwd);
    const url = `rediss://127.0.0.1:${port}`;
    const at = (name: string): string => join(cwd, name);
    const files = { QUEUE_SSL_CA: at('ca.pem'), QUEUE_SSL_CERT: at('client.pem'), QUEUE_SSL_KEY: at('client.key') };
    const service = await start(cwd, { QUEUE_URL: url, ...files });
    expect(await linesOf(await postJson(`${service.url}/process`, await writePeople(cwd)))).toEqual([...PEOPLE_LINES].sort());

    const { QUEUE_SSL_CA, ...own } = files;
    expect(await failure(url, own)).toMatchObject({ code: 'service/unavailable', hint: expect.stringContaining('set QUEUE_SSL_CA') });
    expect(await failure(url, { QUEUE_SSL_CA })).toMatchObject({ hint: expect.stringContaining('set QUEUE_SSL_CERT and QUEUE_SSL_KEY') });
    const stranger = { QUEUE_SSL_CA, QUEUE_SSL_CERT: at('stranger.pem'), QUEUE_SSL_KEY: at('stranger.key') };
    expect(await failure(url, stranger)).toMatchObject({ hint: expect.stringContaining('refuse the certificate of QUEUE_SSL_CERT') });
    expect(await failure(url, { ...files, QUEUE_SSL_KEY: at('stranger.key') })).toMatchObject({
      code: 'config/invalid',
      message: expect.stringContaining('QUEUE_SSL_KEY'),
    });
    expect(await failure(url, { QUEUE_SSL_CA: at('nothing.pem') })).toMatchObject({
      code: 'config/invalid',
      message: expect.stringContaining('QUEUE_SSL_CA'),
    });
    expect(await failure(`redis://127.0.0.1:${port}`, files)).toMatchObject({
      code: 'config/invalid',
      message: expect.stringContaining('does not say TLS'),
    });
    expect(await failure(`redis://127.0.0.1:${port}`)).toMatchObject({ code: 'service/unavailable' });
  }, 60_000);

  soakTest(
    'what is another kind of server than QUEUE_URL says is named, and so is a refused login',
    async () => {
      const redis = await startRedis();
      closes(() => redis.stop());
      const { host } = new URL(redis.url);
      expect(await failure(`redis+cluster://${host}`)).toMatchObject({
        code: 'service/unavailable',
        hint: expect.stringContaining('It is not a cluster'),
      });
      expect(await failure(`redis+sentinel://${host}/main`)).toMatchObject({ message: expect.stringContaining('is not a sentinel') });
      expect(await failure(redis.url, { QUEUE_SENTINEL_PASSWORD: new Secret('hunter2') })).toMatchObject({
        code: 'config/invalid',
        message: 'QUEUE_SENTINEL_PASSWORD is set, but QUEUE_URL names no sentinels',
      });
      const admin = new Redis(redis.url);
      closes(() => admin.disconnect());
      await admin.call('CONFIG', 'SET', 'requirepass', 's3cret');
      for (const url of [redis.url, redis.url.replace('//', '//:hunter2@'), redis.url.replace('//', '//stranger:hunter2@')]) {
        const refused = (await failure(url)) as Error;
        expect(refused).toMatchObject({
          code: 'service/unavailable',
          hint: expect.stringContaining('the user and the password in QUEUE_URL'),
        });
        expect(refused.message).not.toContain('hunter2');
      }
      expect(await failure('redis+cluster://127.0.0.1:1')).toMatchObject({
        code: 'service/unavailable',
        message: expect.stringContaining('127.0.0.1:1'),
      });
      expect(await failure('redis+sentinel://127.0.0.1:1/main')).toMatchObject({ code: 'service/unavailable' });
    },
    60_000,
  );

  soakTest(
    'a cluster: runs, slices, options and callers in turn; a node alone is refused',
    async () => {
      const cluster = await startCluster();
      closes(() => cluster.stop());
      const cwd = await directory();
      const [first = 0, second = 0] = cluster.ports;
      const env = { QUEUE_URL: `redis+cluster://127.0.0.1:${first},127.0.0.1:${second}`, SLICE_BYTES: '50' };
      const [api] = await Promise.all([
        start(cwd, env, '--role', 'api'),
        start(cwd, env, '--role', 'worker'),
        start(cwd, env, '--role', 'worker'),
      ]);
      const service = api as ServiceProcess;
      const body = await writePeople(cwd);
      const answers = await Promise.all(Array.from({ length: 10 }, () => postJson(`${service.url}/process`, body)));
      for (const answer of answers) expect(await linesOf(answer)).toEqual([...PEOPLE_LINES].sort());
      const rows = Array.from({ length: 200 }, (_, i) => `${i},Name ${i}`);
      await writeFile(join(cwd, 'people.csv'), `${PEOPLE.csv.split('\n')[0]}\n${rows.join('\n')}\n`);
      const sliced = await postJson(`${service.url}/process`, body);
      expect({ status: sliced.status, ...sliced.body }).toMatchObject({ status: 200, records: 200 });
      const change = new URLSearchParams({ configEntry: 'friendlyName', configValue: 'Mill' });
      expect((await ask(`${service.url}/updateConfig?${change}`, { method: 'PUT' })).status).toBe(200);
      expect((await ask(`${service.url}/runs`)).body.runs).toHaveLength(11);
      expect((await ask(`${service.url}/queues/api/queues`)).status).toBe(200);
      // All of its keys are on one node.
      const sizes = await Promise.all(
        cluster.ports.map(async (port) => {
          const node = new Redis({ port });
          const size = await node.dbsize();
          node.disconnect();
          return size;
        }),
      );
      expect(sizes.filter((size) => size > 0)).toHaveLength(1);
      expect(await failure(`redis://127.0.0.1:${first}`)).toMatchObject({
        code: 'config/invalid',
        message: expect.stringContaining('is a node of a Redis Cluster'),
        hint: expect.stringContaining('redis+cluster://'),
      });
    },
    120_000,
  );

  soakTest(
    'a cluster and sentinels by TLS, each with a certificate of this service',
    async () => {
      const cwd = await directory();
      makeCertificates(cwd);
      const at = (name: string): string => join(cwd, name);
      const tls = { ca: at('ca.pem'), cert: at('server.pem'), key: at('server.key') };
      const files = { QUEUE_SSL_CA: tls.ca, QUEUE_SSL_CERT: at('client.pem'), QUEUE_SSL_KEY: at('client.key') };
      const [cluster, group] = await Promise.all([startCluster(tls), startSentinels(undefined, tls)]);
      closes(() => Promise.all([cluster.stop(), group.stop()]));
      const urls = [`rediss+cluster://127.0.0.1:${cluster.ports[0]}`, `rediss+sentinel://127.0.0.1:${group.sentinels[0]}/queue`];
      const body = await writePeople(cwd);
      for (const [i, url] of urls.entries()) {
        const service = await start(cwd, { QUEUE_URL: url, DATA_DIR: at(`data${i}`), ...files });
        expect(await linesOf(await postJson(`${service.url}/process`, body))).toEqual([...PEOPLE_LINES].sort());
        const { QUEUE_SSL_CA, ...own } = files;
        expect(await failure(url, own)).toMatchObject({ code: 'service/unavailable', hint: expect.stringContaining('set QUEUE_SSL_CA') });
        expect(await failure(url, { QUEUE_SSL_CA })).toMatchObject({ hint: expect.stringContaining('set QUEUE_SSL_CERT') });
      }
    },
    120_000,
  );

  soakTest(
    'sentinels: when the master dies in the middle of a run, the service goes on with the replica',
    async () => {
      const group = await startSentinels('sentinel-word');
      closes(() => group.stop());
      const cwd = await directory();
      const hosts = group.sentinels.map((port) => `127.0.0.1:${port}`).join(',');
      const url = `redis+sentinel://${hosts}/queue`;
      const login = { QUEUE_SENTINEL_PASSWORD: new Secret('sentinel-word') };
      expect(await failure(`redis+sentinel://${hosts}/other`, login)).toMatchObject({
        message: expect.stringContaining("knows no master 'other'; it knows queue"),
      });
      expect(await failure(url)).toMatchObject({
        message: expect.stringContaining('refuses the login'),
        hint: expect.stringContaining('QUEUE_SENTINEL_PASSWORD'),
      });
      const env = {
        QUEUE_URL: url,
        QUEUE_SENTINEL_PASSWORD: 'sentinel-word',
        LOCK_SECONDS: '10',
        STALLED_SECONDS: '2',
        ALLOW_PRIVATE_ADDRESSES: 'true',
      };
      const [api, worker] = await Promise.all([start(cwd, env, '--role', 'api'), start(cwd, env, '--role', 'worker')]);
      const service = api as ServiceProcess;
      const slow = await slowInput();
      closes(() => slow.close());
      await writeFile(join(cwd, 'slow.ttl'), peopleMapping('csv', slow.url));
      const request = { inputFileURL: slow.url, mappingURL: join(cwd, 'slow.ttl') };
      const { body: run } = await postJson(`${service.url}/process`, request, { prefer: 'respond-async' });
      await (worker as ServiceProcess).waitForLog('run started');
      // What the master has answered and not yet sent to its replica is lost with it.
      await sleep(500);
      await group.kill(group.master);
      slow.release();
      const done = await poll(
        `${service.url}/runs/${run.id}`,
        ({ status, body: { state } }) => status === 200 && state === 'completed',
        60_000,
      );
      expect(done.body.outcome.report.quads).toBeGreaterThan(0);
      const body = await writePeople(cwd);
      expect(await linesOf(await postJson(`${service.url}/process`, body))).toEqual([...PEOPLE_LINES].sort());
    },
    120_000,
  );
});
