/** HTTPS of a built process: reload of the pair, versions, and what is refused. */
import { execFile, execFileSync } from 'node:child_process';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { get, request } from 'node:https';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type DetailedPeerCertificate } from 'node:tls';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { soakTest, test } from '../../support/jest/extent.ts';
import { PROJECT_ROOT } from '../../support/project-root.ts';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { type ServiceProcess, spawnService, startService } from '../../support/service/process.ts';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: ServiceProcess;
const at = (name: string): string => join(directory.path, name);

/** `NAME.pem` and `NAME.key`, self-signed for 127.0.0.1. */
function certificate(name: string, days: number): void {
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', at(`${name}.key`), '-out', at(`${name}.pem`)];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', String(days), ...subject, ...files],
    {
      stdio: 'ignore',
    },
  );
}

/** The pair in use, by its two files. */
const use = async (certificateOf: string, keyOf = certificateOf): Promise<void> => {
  await copyFile(at(`${certificateOf}.pem`), at('tls.pem'));
  await copyFile(at(`${keyOf}.key`), at('tls.key'));
};

beforeAll(async () => {
  directory = await temporaryDirectory();
  certificate('first', 90);
  certificate('second', 10);
  await use('first');
  service = await startService({ cwd: directory.path, env: { TLS_CERT: at('tls.pem'), TLS_KEY: at('tls.key') } });
});
afterAll(async () => {
  await service?.stop();
  await directory.remove();
});

interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  /** Common name of the server's certificate. */
  readonly name: string;
}

const ask = async (path: string, ca: string): Promise<Got> => {
  const trusted = await readFile(at(`${ca}.pem`));
  return new Promise((resolve, reject) => {
    get(`${service.url}${path}`, { ca: trusted, agent: false }, (response) => {
      const peer = (response.socket as unknown as { getPeerCertificate(): DetailedPeerCertificate }).getPeerCertificate();
      let body = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        body += part;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body, name: peer.subject.CN as string }),
      );
    }).on('error', reject);
  });
};

/** How a handshake with these versions ends. */
const handshake = (versions: {
  readonly minVersion: 'TLSv1' | 'TLSv1.2' | 'TLSv1.3';
  readonly maxVersion: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3';
}): Promise<string> =>
  new Promise((resolve) => {
    const port = Number(new URL(service.url).port);
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ciphers: 'DEFAULT@SECLEVEL=0', ...versions }, () => {
      resolve(String(socket.getProtocol()));
      socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(String(error.code)));
  });

test('answers over TLS, with HSTS, its own addresses and the time of the certificate in the metrics', async () => {
  expect(service.url).toMatch(/^https:/);
  const answer = await ask('/health/ready', 'first');
  expect(answer).toMatchObject({ status: 200, name: 'first', headers: { 'strict-transport-security': 'max-age=31536000' } });
  const until = Number(/^rml_tls_certificate_expires_timestamp_seconds (\S+)$/m.exec((await ask('/metrics', 'first')).body)?.[1]);
  expect(Math.round((until - Date.now() / 1000) / 86_400)).toBe(90);
});

test('speaks TLS 1.2 and 1.3, and nothing older', async () => {
  expect(await handshake({ minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' })).toBe('TLSv1.2');
  expect(await handshake({ minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' })).toBe('TLSv1.3');
  expect(await handshake({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1' })).toMatch(/ALERT_PROTOCOL_VERSION/);
});

soakTest('the check of health of the image asks over TLS', async () => {
  const [, command = ''] = /CMD (\["node", "-e".*\])/.exec(await readFile(join(PROJECT_ROOT, 'Dockerfile'), 'utf8')) ?? [];
  const [, ...args] = JSON.parse(command) as string[];
  const check = (env: Readonly<Record<string, string>>): Promise<number> =>
    new Promise((resolve) => {
      execFile(process.execPath, args, { env }, (error) => resolve(error === null ? 0 : Number(error.code)));
    });
  const { port } = new URL(service.url);
  expect(await check({ PORT: port, TLS_CERT: at('tls.pem') })).toBe(0);
  expect(await check({ PORT: port })).toBe(1);
});

test('does not answer plain HTTP', async () => {
  await expect(fetch(`${service.url.replace('https:', 'http:')}/health/live`)).rejects.toThrow();
});

soakTest('takes a new pair while requests go on, and keeps the last one when the new one is broken', async () => {
  // A request that is under way keeps its connection.
  const open = request(`${service.url}/semi-structured-transformer/process`, {
    method: 'POST',
    ca: await readFile(at('first.pem')),
    agent: false,
  });
  const status = new Promise<number | undefined>((resolve, reject) =>
    open.on('response', (response) => resolve(response.statusCode)).on('error', reject),
  );
  open.setHeader('content-type', 'application/json');
  open.write('{');
  await use('second');
  await service.waitForLog('TLS certificate loaded again');
  expect((await ask('/health/live', 'second')).name).toBe('second');
  open.end('}');
  expect(await status).toBe(400);

  await use('first', 'second');
  await service.waitForLog('TLS certificate not loaded: the last one stays in use', ({ error }) =>
    JSON.stringify(error).includes('does not belong'),
  );
  expect((await ask('/health/live', 'second')).name).toBe('second');
  await writeFile(at('tls.pem'), 'nonsense');
  await service.waitForLog('TLS certificate not loaded: the last one stays in use', ({ error }) =>
    JSON.stringify(error).includes('no certificate'),
  );
  const metrics = (await ask('/metrics', 'second')).body;
  expect(metrics).toContain('rml_tls_reloads_total{result="failed"} 2');
  expect(
    Math.round((Number(/^rml_tls_certificate_expires_timestamp_seconds (\S+)$/m.exec(metrics)?.[1]) - Date.now() / 1000) / 86_400),
  ).toBe(10);

  await use('first');
  for (
    const deadline = Date.now() + 30_000;
    (await ask('/health/live', 'first').catch(() => undefined))?.name !== 'first';
    await sleep(100)
  )
    if (Date.now() > deadline) throw new Error('the pair was not loaded');
});

soakTest.each<[string, () => Promise<Readonly<Record<string, string>>>, RegExp]>([
  ['a certificate without a key', async () => ({ TLS_CERT: at('first.pem') }), /TLS_CERT is set, but TLS_KEY is not/],
  [
    'a key of another certificate',
    async () => ({ TLS_CERT: at('first.pem'), TLS_KEY: at('second.key') }),
    /does not belong to the certificate/,
  ],
  ['files that are not there', async () => ({ TLS_CERT: at('none.pem'), TLS_KEY: at('first.key') }), /TLS_CERT cannot be read: ENOENT/],
])('does not start with %s', async (_, env, message) => {
  const refused = spawnService({ cwd: directory.path, env: { PORT: '0', DATA_DIR: 'other', ...(await env()) } });
  expect((await refused.exited).code).not.toBe(0);
  expect(refused.stderr()).toMatch(message);
});
