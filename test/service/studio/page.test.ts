/** The page of the studio, as the built service sends it. */
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { type ServiceProcess, startService } from '../../support/service/process.ts';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: ServiceProcess;

beforeAll(async () => {
  directory = await temporaryDirectory();
  service = await startService({ cwd: directory.path, env: { API_TOKENS: 'admin:a-long-secret' } });
});
afterAll(async () => {
  await service?.stop();
  await directory.remove();
});

interface Sent {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: number;
}

/** As it is sent: `fetch` would unpack it. */
const sent = (path: string, encoding: string): Promise<Sent> =>
  new Promise((resolve, reject) => {
    request(service.url + path, { headers: { 'accept-encoding': encoding } }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on('end', () => resolve({ status: response.statusCode as number, headers: response.headers, bytes }));
    })
      .on('error', reject)
      .end();
  });

test('is open to everyone, has a fresh nonce each time, and is not kept', async () => {
  const answers = await Promise.all([1, 2].map(() => fetch(`${service.url}/studio/`)));
  const policies = answers.map(({ headers }) => headers.get('content-security-policy') as string);
  const nonces = policies.map((policy) => /style-src 'self' 'nonce-([\w+/=]{24})'/.exec(policy)?.[1] as string);
  expect(new Set(nonces).size).toBe(2);
  for (const [i, answer] of answers.entries()) {
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')]).toEqual([
      200,
      'text/html; charset=utf-8',
      'no-store',
    ]);
    expect(await answer.text()).toContain(`content="${nonces[i]}"`);
  }
  expect(policies[0]).toMatch(/^default-src 'none'; script-src 'self'; /);
  expect(policies[0]).not.toContain('unsafe');
});

test('has its address with a slash', async () => {
  const { status, headers } = await fetch(`${service.url}/studio`, { redirect: 'manual' });
  expect([status, new URL(headers.get('location') as string, `${service.url}/studio`).pathname]).toEqual([308, '/studio/']);
});

test('files are kept by browsers for ever, and sent as small as the browser takes them', async () => {
  const html = await (await fetch(`${service.url}/studio/`)).text();
  const script = /src="(\/studio\/assets\/[^"]+\.js)"/.exec(html)?.[1] as string;
  const [plain, gzip, brotli] = await Promise.all([sent(script, 'identity'), sent(script, 'gzip, deflate'), sent(script, 'gzip, br')]);
  expect([plain, gzip, brotli].map(({ headers }) => headers['content-encoding'])).toEqual([undefined, 'gzip', 'br']);
  expect(plain.headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
    // Workers have it, and load parts of themselves.
    'content-security-policy': "default-src 'none'; script-src 'self'; frame-ancestors 'none'",
    vary: 'Accept-Encoding',
  });
  expect(gzip.bytes).toBeLessThan(plain.bytes / 2);
  expect(brotli.bytes).toBeLessThan(gzip.bytes);
});

test.each(['no-such-file.js', '..%2Findex.html', '%2e%2e%2findex.html', 'manifest.json', 'x.js.br'])(
  'there is no file %s',
  async (name) => {
    const { status } = await fetch(`${service.url}/studio/assets/${name}`);
    expect(status).toBe(404);
  },
);

test('a graph writer has no studio', async () => {
  const writer = await startService({ cwd: directory.path, env: { SERVICE: 'graph-writer', DATA_DIR: 'writer' } });
  try {
    expect((await fetch(`${writer.url}/studio/`)).status).toBe(404);
  } finally {
    await writer.stop();
  }
});
