/** The dashboard of the queues: what it shows, to which role, and which actions it allows, on every kind of queue. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { openBackend, type QueueBackend } from '../../queues/backend/backend.ts';
import { ALL_SERVICES, PREVIEW_QUEUE, queuesOf, SCHEDULE_QUEUE, SERVICE_QUEUES, type TransformRequest } from '../../queues/jobs.ts';
import { openRuns } from '../../queues/runs/runs.ts';
import { quietLogger } from '../../src/core/telemetry/observe.ts';
import { missingRedis } from '../servers/queues/redis.ts';
import { fastest } from '../support/fastest.ts';
import { PROJECT_ROOT } from '../support/project-root.ts';
import { openQueue, QUEUES, startRedis, type TestServer, temporaryDirectory, uniquePrefix } from '../support/queues/backends.ts';
import { secrets } from '../support/secrets.ts';
import { type FakeApi, startFakeApi } from '../support/service/fake.ts';
import { ask } from '../support/service/process.ts';

const {
  cancel: CANCEL_QUEUE,
  outbox: OUTBOX_QUEUE,
  slice: SLICE_QUEUE,
  work: TRANSFORM_QUEUE,
} = SERVICE_QUEUES['semi-structured-transformer'];

const TOKENS = ['vic:viewer:v-token', 'oli:operator:o:token'];
const basic = (token: string) => ({ authorization: `Basic ${Buffer.from(`anybody:${token}`).toString('base64')}` });
const viewer = basic('v-token');
const operator = basic('o:token');

/** No worker runs it, so it need not be valid. */
const request = {
  service: 'semi-structured-transformer',
  inputs: [{ name: undefined, url: 'http://ann:s3cret@files.example/people.csv?token=s3cret' }],
  mappings: ['/nowhere/people.ttl'],
} as unknown as TransformRequest;

/** From 1 to 21. @see https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
function contrast(one: string, other: string): number {
  const luminance = (colour: string): number => {
    const [red, green, blue] = [1, 3, 5].map((at) => {
      const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    }) as [number, number, number];
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [lighter, darker] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
  return (lighter + 0.05) / (darker + 0.05);
}

describe.each(QUEUES)('over a queue of kind $name', ({ missing, start }) => {
  const prefix = uniquePrefix();
  let server: TestServer;
  let backend: QueueBackend;
  let runs: Awaited<ReturnType<typeof openRuns>>;
  let api: FakeApi;
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;

  beforeAll(async () => {
    if (missing !== undefined) return;
    directory = await temporaryDirectory();
    server = await start();
    backend = await openQueue(server.url, directory.path, prefix);
    runs = await openRuns(backend, { retryMs: 1 });
    api = await startFakeApi({ API_TOKENS: secrets(TOKENS) }, { runs, queues: backend, queueName: 'redis://ann:s3cret@queue.example' });
  }, 60_000);

  afterAll(async () => {
    if (missing !== undefined) return;
    await api.close();
    await runs.close();
    await backend.close();
    await server.stop(prefix);
    await directory.remove();
  }, 30_000);

  const check = missing === undefined ? test : test.skip;
  const why = missing === undefined ? '' : ` (skipped: ${missing})`;
  /** Cancels a run without the time that the route gives to its worker. */
  const forget = async (id: string): Promise<void> => {
    for (const name of [TRANSFORM_QUEUE, CANCEL_QUEUE]) await backend.queue(name).remove(id);
  };
  const at = (path: string, headers: Readonly<Record<string, string>>, method = 'GET') =>
    ask(`${api.url}/queues${path}`, { method, headers });

  check(`shows every queue and what is in it${why}`, async () => {
    const { id } = await runs.submit(request, {});
    const page = await at('/', viewer);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('content-security-policy')).toMatch(/frame-ancestors 'none'/);
    expect(page.body).toContain('<base href="/queues/"');
    expect(page.body).toContain('rel="stylesheet"');
    expect(page.body).not.toMatch(/(?:href|src)=["']?(?:https?:)?\/\//i);
    const banner = JSON.parse(/<script id="__UI_CONFIG__"[^>]*>(.*?)<\/script>/s.exec(page.body)?.[1] ?? '{}').environment;
    expect(banner).toMatchObject({ label: expect.stringContaining('queue.example') });
    // WCAG's enhanced level; a missing colour depends on the theme.
    expect(contrast(banner.color, banner.textColor)).toBeGreaterThanOrEqual(7);
    const script = /src="(static\/js\/main[^"]+)"/.exec(page.body)?.[1];
    const loaded = await at(`/${script}`, viewer);
    expect([loaded.status, loaded.headers.get('content-type')]).toEqual([200, expect.stringMatching(/javascript/)]);

    const { body, headers } = await at(`/api/queues?activeQueue=${TRANSFORM_QUEUE}`, viewer);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    const queues = body.queues as { name: string; readOnlyMode: boolean; allowRetries: boolean; jobs: { id: string }[] }[];
    expect(queues.map((queue) => queue.name).sort()).toEqual(
      queuesOf(ALL_SERVICES)
        .map(({ name }) => name)
        .sort(),
    );
    expect(queues.every(({ readOnlyMode, allowRetries }) => readOnlyMode && !allowRetries)).toBe(true);
    expect(queues.find((queue) => queue.name === TRANSFORM_QUEUE)?.jobs.map((job) => job.id)).toEqual([id]);
    await forget(id);
  });

  check(`shows no password of a URL, nor of the message that started a run${why}`, async () => {
    const bytes = Buffer.from('http://ann:s3cret@files.example/people.csv').toString('base64');
    const source = { topic: 'source_urls', partition: 0, offset: '7', key: bytes, value: bytes };
    const { id } = await runs.submit(request, { source });
    const outbox = backend.queue(OUTBOX_QUEUE);
    const message = { topic: 'dead_letter_queue', key: id, value: '{"error":"http://ann:s3cret@files.example"}' };
    await outbox.add('dead-letter', { messages: [{ ...message, headers: { 'source-value': { base64: bytes } } }] }, { jobId: `o${id}` });
    for (const path of ['/', `/api/queues?activeQueue=${TRANSFORM_QUEUE}`, `/api/queues/${TRANSFORM_QUEUE}/${id}`]) {
      const { status, body } = await at(path, operator);
      expect(status).toBe(200);
      expect(JSON.stringify(body)).not.toContain('s3cret');
      expect(JSON.stringify(body)).not.toContain(bytes);
    }
    const { body: run } = await at(`/api/queues/${TRANSFORM_QUEUE}/${id}`, viewer);
    expect(run.job.data.source).toEqual({ topic: 'source_urls', partition: 0, offset: '7' });
    const { body: sent } = await at(`/api/queues/${OUTBOX_QUEUE}/o${id}`, viewer);
    expect(sent.job.data.messages).toMatchObject([{ topic: 'dead_letter_queue', key: id, headers: { 'source-value': {} } }]);
    expect(JSON.stringify(sent)).not.toContain('s3cret');
    expect(JSON.stringify(sent)).not.toContain(bytes);
    await outbox.remove(`o${id}`);
    await forget(id);
  });

  check(`cancels a run that is taken out, and keeps one that has ended${why}`, async () => {
    const { id } = await runs.submit(request, {});
    expect((await at(`/api/queues/${TRANSFORM_QUEUE}/${id}/clean`, operator, 'PUT')).status).toBe(204);
    // There is no worker: the mark determines the outcome.
    expect((await backend.queue(TRANSFORM_QUEUE).getJob(id))?.data).toMatchObject({ cancelled: true });
    expect((await backend.queue(CANCEL_QUEUE).getJob(id))?.data).toEqual({ runId: id });
    const worker = backend.worker(TRANSFORM_QUEUE, async () => ({ state: 'cancelled', failure: {} }), {});
    worker.run().catch(() => undefined);
    expect(await runs.outcome(id, 10_000)).toMatchObject({ state: 'cancelled' });
    await worker.close();
    const again = await at(`/api/queues/${TRANSFORM_QUEUE}/${id}/clean`, operator, 'PUT');
    expect([again.status, again.body.code]).toEqual([409, 'request/conflict']);
    expect(await runs.get(id)).toMatchObject({ state: 'cancelled' });
  });

  check(`lets an operator pause and resume a queue${why}`, async () => {
    expect((await at(`/api/queues/${TRANSFORM_QUEUE}/pause`, operator, 'PUT')).status).toBe(200);
    expect(await backend.queue(TRANSFORM_QUEUE).isPaused()).toBe(true);
    expect((await at(`/api/queues/${TRANSFORM_QUEUE}/resume`, operator, 'PUT')).status).toBe(200);
    expect(await backend.queue(TRANSFORM_QUEUE).isPaused()).toBe(false);
    expect((await at('/api/queues/schedule/pause', operator, 'PUT')).status).toBe(405);
  });

  check(`lets an operator have a retry tried at once${why}`, async () => {
    const patient = await openRuns(backend, { retryMs: 600_000 });
    const { id } = await patient.submit(request, {});
    const worker = backend.worker(TRANSFORM_QUEUE, async () => Promise.reject(new Error('again')), {});
    const failed = new Promise((resolve) => worker.once('failed', resolve));
    worker.run().catch(() => undefined);
    await failed;
    await worker.close();
    expect(await runs.get(id)).toMatchObject({ state: 'retrying' });
    expect(await backend.queue(TRANSFORM_QUEUE).getJobCountByTypes('delayed')).toBe(1);
    expect((await at(`/api/queues/${TRANSFORM_QUEUE}/${id}/promote`, operator, 'PUT')).status).toBe(204);
    expect(await backend.queue(TRANSFORM_QUEUE).getJobCountByTypes('delayed')).toBe(0);
    expect(await runs.get(id)).toMatchObject({ state: 'retrying', attempts: 1 });
    await forget(id);
    await patient.close();
  });

  check(`refuses what would give a run a second outcome, or none${why}`, async () => {
    const { id } = await runs.submit(request, {});
    const job = `/api/queues/${TRANSFORM_QUEUE}/${id}`;
    const refused: readonly (readonly [method: string, path: string])[] = [
      ['PUT', `${job}/retry`],
      ['PUT', `${job}/retry/failed`],
      ['PATCH', `${job}/update-data`],
      ['PATCH', `${job}/delay`],
      ['PUT', `${job}/remove-unprocessed-children`],
      ['POST', `/api/queues/${TRANSFORM_QUEUE}/add`],
      ['PUT', `/api/queues/${TRANSFORM_QUEUE}/retry/failed`],
      ['PUT', `/api/queues/${TRANSFORM_QUEUE}/retry/completed`],
      ['PUT', `/api/queues/${TRANSFORM_QUEUE}/clean/wait`],
      ['PUT', `/api/queues/${TRANSFORM_QUEUE}/clean/completed`],
      ['PUT', `/api/queues/${TRANSFORM_QUEUE}/empty`],
      ['PUT', `/api/queues/${TRANSFORM_QUEUE}/obliterate`],
      ['PUT', `/api/queues/${SLICE_QUEUE}/some-slice/clean`],
      ['PUT', '/api/queues/schedule/repeat:x:1/clean'],
    ];
    const statuses = await Promise.all(refused.map(async ([method, path]) => [path, (await at(path, operator, method)).status]));
    expect(statuses.filter(([, status]) => ![403, 404, 405].includes(status as number))).toEqual([]);
    expect(await runs.get(id)).toMatchObject({ state: 'queued' });
    await forget(id);
  });

  check(`lets a viewer do nothing${why}`, async () => {
    const { id } = await runs.submit(request, {});
    for (const path of ['/api/queues/pause', `/api/queues/${TRANSFORM_QUEUE}/pause`, `/api/queues/${TRANSFORM_QUEUE}/${id}/clean`]) {
      const { status, body } = await at(path, viewer, 'PUT');
      expect([status, body.code]).toEqual([403, 'request/forbidden']);
    }
    expect(await backend.queue(TRANSFORM_QUEUE).isPaused()).toBe(false);
    await forget(id);
  });
});

describe('the door of the dashboard', () => {
  const queues = { queue: () => undefined as never, ping: () => Promise.resolve() };
  let api: FakeApi | undefined;
  afterEach(async () => {
    await api?.close();
    api = undefined;
  });

  test.each([
    ['no token', {}, 401],
    ['a password that is no token', basic('wrong'), 401],
    ['a user name that is a token', { authorization: `Basic ${Buffer.from('v-token:').toString('base64')}` }, 401],
    ['a login that is not in Base64', { authorization: 'Basic ?' }, 401],
  ])('stays closed for %s, and tells a browser to ask', async (_, headers, status) => {
    api = await startFakeApi({ API_TOKENS: secrets(TOKENS) }, { queues });
    const answer = await ask(`${api.url}/queues/`, { headers });
    expect([answer.status, answer.body.code]).toEqual([status, 'request/unauthorized']);
    expect(answer.headers.get('www-authenticate')).toBe('Basic realm="quadmill", charset="UTF-8"');
  });

  test('takes passwords nowhere else', async () => {
    api = await startFakeApi({ API_TOKENS: secrets(TOKENS) }, { queues });
    const answer = await ask(`${api.url}/metrics`, { headers: operator });
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="quadmill"']);
  });

  test.each(['cross-site', 'same-site'])('refuses actions of a page that is %s, whose browser knows the password', async (site) => {
    api = await startFakeApi({ API_TOKENS: secrets(TOKENS) }, { queues });
    const headers = { ...operator, 'sec-fetch-site': site };
    expect((await ask(`${api.url}/queues/api/queues/pause`, { method: 'PUT', headers })).status).toBe(403);
  });

  test('is shown the way to, and is in the description of the interface', async () => {
    api = await startFakeApi({ API_TOKENS: secrets(TOKENS) }, { queues });
    const answer = await ask(`${api.url}/queues`, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([308, '/queues/']);
    expect((await ask(`${api.url}/openapi.json`)).body.paths['/queues']).toBeDefined();
  });

  test('answers 503 when the queue does not answer', async () => {
    api = await startFakeApi({}, { queues });
    api.runs.breaks('hangs');
    const { url } = api;
    const refusal = async (): Promise<number> => {
      const before = performance.now();
      expect((await ask(`${url}/queues/api/queues/${TRANSFORM_QUEUE}/x/clean`, { method: 'PUT' })).status).toBe(503);
      return performance.now() - before;
    };
    expect(await fastest(3_000, refusal)).toBeLessThan(3_000);
  });

  test('logs each action with its actor', async () => {
    const lines: unknown[] = [];
    const logger = Object.assign(quietLogger(), { info: (line: unknown) => lines.push(line) });
    api = await startFakeApi({ API_TOKENS: secrets(TOKENS) }, { queues, logger });
    const { id } = await api.runs.submit(request, {});
    const path = `/queues/api/queues/${TRANSFORM_QUEUE}/${id}/clean`;
    expect((await ask(api.url + path, { method: 'PUT', headers: operator })).status).toBe(204);
    expect(lines).toContainEqual({ actor: 'oli', method: 'PUT', path });
  });
});

(missingRedis === undefined ? describe : describe.skip)('without its queue', () => {
  test('the dashboard answers a problem within two seconds, and works again when the queue is back', async () => {
    const directory = await temporaryDirectory();
    let redis = await startRedis();
    const backend = await openBackend({ url: redis.url, directory: directory.path, prefix: uniquePrefix() }, quietLogger());
    const runs = await openRuns(backend);
    const api = await startFakeApi({}, { runs, queues: backend });
    const look = () => ask(`${api.url}/queues/api/queues`);
    try {
      expect((await look()).status).toBe(200);
      const { port } = new URL(redis.url);
      await redis.stop();
      const refusal = async (): Promise<number> => {
        const before = performance.now();
        const away = await look();
        const ended = performance.now();
        expect([away.status, away.body.code, away.headers.get('retry-after')]).toEqual([503, 'service/unavailable', '2']);
        return ended - before;
      };
      expect(await fastest(2_500, refusal)).toBeLessThan(2_500);
      redis = await startRedis(Number(port));
      const deadline = Date.now() + 10_000;
      while ((await look()).status !== 200 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 100));
      expect((await look()).status).toBe(200);
    } finally {
      await api.close();
      await runs.close();
      await backend.close();
      await redis.stop();
      await directory.remove();
    }
  }, 60_000);
});

test('every queue is in the table, once', () => {
  const names = ALL_SERVICES.flatMap((service) => Object.values(SERVICE_QUEUES[service]).filter((name) => name !== undefined));
  expect(
    queuesOf(ALL_SERVICES)
      .map(({ name }) => name)
      .sort(),
  ).toEqual([...names, SCHEDULE_QUEUE, PREVIEW_QUEUE].sort());
  // No code opens one that the table does not name.
  const opened = ['queues', 'workers', 'api', 'bin'].flatMap((room) =>
    readdirSync(join(PROJECT_ROOT, room), { recursive: true })
      .filter((path) => String(path).endsWith('.ts'))
      .flatMap((path) => [
        ...readFileSync(join(PROJECT_ROOT, room, String(path)), 'utf8').matchAll(/\.(?:queue|worker)(?:<[^>]*>)?\(\s*('[^']*'|[A-Z_]+)/g),
      ])
      .map(([, one]) => one),
  );
  expect([...new Set(opened)].sort()).toEqual(['PREVIEW_QUEUE', 'SCHEDULE_QUEUE', 'SERVICE_QUEUES']);
});
