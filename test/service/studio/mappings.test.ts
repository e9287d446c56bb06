/** Mapping files of the studio on the built service: versions, drafts, names, and savers that meet. */
import { mkdir, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect } from '@jest/globals';
import { soakTest, test } from '../../support/jest/extent.ts';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { peopleMapping } from '../../support/service/inputs.ts';
import { type Answer, ask, type ServiceProcess, startService } from '../../support/service/process.ts';

const MAPPING = peopleMapping('csv', 'people.csv');
const version = (i: number | string): string => `${MAPPING}\n# ${i}\n`;
const YARRRML = `mappings:
  person:
    sources: [['people.csv~csv']]
    s: http://example.com/$(id)
`;
const NEW = { 'If-None-Match': '*' };

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: ServiceProcess;
/** Another process with the same mapping directory, where the SQL transformer has its own. */
let second: ServiceProcess;
const at = (...names: readonly string[]): string => join(directory.path, 'mappings', ...names);

beforeAll(async () => {
  directory = await temporaryDirectory();
  const start = (name: string): Promise<ServiceProcess> =>
    startService({
      cwd: directory.path,
      env: {
        API_TOKENS: 'ada:admin:a-long-secret,bo:admin:b-long-secret',
        DATA_DIR: join(directory.path, name),
        MAPPINGS_DIR_URL: join(directory.path, 'mappings'),
        SEMI_STRUCTURED_TRANSFORMER_MAPPINGS_DIR_URL: at(),
        SQL_TRANSFORMER_MAPPINGS_DIR_URL: at('sql'),
        MAX_BODY_BYTES: '100000',
      },
    });
  [service, second] = await Promise.all([start('data-1'), start('data-2')]);
});
afterAll(async () => {
  await Promise.all([service?.stop(), second?.stop()]);
  await directory.remove();
});
beforeEach(() => rm(at(), { recursive: true, force: true }));

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly by?: 'ada' | 'bo';
  readonly to?: ServiceProcess;
}
const send = (method: string, path: string, { headers = {}, body, by = 'ada', to = service }: Sent = {}): Promise<Answer> =>
  ask(`${to.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${by === 'ada' ? 'a' : 'b'}-long-secret`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
const put = (name: string, text: string, headers: Sent['headers'], more: Sent & { readonly side?: unknown } = {}): Promise<Answer> => {
  const { side, ...rest } = more;
  return send('PUT', `/studio/mappings/${name}`, { ...rest, headers, body: { text, ...('side' in more ? { side } : {}) } });
};
const get = (name: string): Promise<Answer> => send('GET', `/studio/mappings/${name}`);
const match = (etag: string) => ({ 'If-Match': `"${etag}"` });

describe('versions', () => {
  test('a new mapping is saved with its side file, listed and read back', async () => {
    const side = { version: 1, places: { a: [1, 2] } };
    const { status, body, headers } = await put('shop.ttl', MAPPING, NEW, { side });
    expect([status, body]).toEqual([201, { etag: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
    expect(headers.get('etag')).toBe(`"${body.etag}"`);
    const read = await get('shop.ttl');
    const saved = { etag: body.etag, by: 'ada', at: expect.stringMatching(/^20..-.*Z$/), language: 'turtle' };
    expect([read.status, read.body]).toEqual([200, { text: MAPPING, side, location: at('shop.ttl'), ...saved }]);
    expect((await send('GET', '/studio/mappings')).body).toEqual({ mappings: [{ name: 'shop.ttl', ...saved, draft: false }] });
    expect(await readFile(at('shop.ttl'), 'utf8')).toBe(MAPPING);
    expect((await readdir(at())).sort()).toEqual(['shop.ttl', 'shop.ttl.studio.json']);
  });

  test('a change needs the version that it changes', async () => {
    const { body: first } = await put('shop.ttl', version(1), NEW);
    expect(await put('shop.ttl', version(2), {})).toMatchObject({ status: 428, body: { code: 'request/precondition-required' } });
    expect(await send('DELETE', '/studio/mappings/shop.ttl')).toMatchObject({ status: 428 });
    const { status, body: changed } = await put('shop.ttl', version(2), match(first.etag), { by: 'bo' });
    expect(status).toBe(200);
    for (const headers of [match(first.etag), NEW, { 'If-Match': `W/"${changed.etag}"` }]) {
      expect(await put('shop.ttl', version(3), headers)).toMatchObject({
        status: 412,
        body: { code: 'request/precondition-failed', etag: changed.etag, by: 'bo', at: expect.any(String) },
      });
    }
    expect((await get('shop.ttl')).body).toMatchObject({ text: version(2), by: 'bo' });
    expect(await readFile(at('shop.ttl.previous'), 'utf8')).toBe(version(1));
    expect((await put('shop.ttl', version(4), { 'If-Match': `"x", "${changed.etag}"` })).status).toBe(200);
    expect((await put('shop.ttl', version(5), { 'If-Match': '*' })).status).toBe(200);
    expect((await put('other.ttl', version(5), { 'If-Match': '*' })).status).toBe(412);
  });

  test('the side file alone makes a version; left out it stays, an empty one removes it', async () => {
    const { body: one } = await put('shop.ttl', MAPPING, NEW, { side: { a: 1 } });
    const { body: two } = await put('shop.ttl', MAPPING, match(one.etag), { side: { a: 2 } });
    expect(two.etag).not.toBe(one.etag);
    const { body: three } = await put('shop.ttl', MAPPING, match(two.etag));
    expect(three.etag).toBe(two.etag);
    expect((await get('shop.ttl')).body.side).toEqual({ a: 2 });
    await put('shop.ttl', MAPPING, match(three.etag), { side: {} });
    expect((await get('shop.ttl')).body.side).toBeNull();
    expect(JSON.parse(await readFile(at('shop.ttl.studio.json.previous'), 'utf8'))).toMatchObject({ a: 2 });
  });

  test('a mapping that is removed stays as the previous version', async () => {
    const { body } = await put('shop.ttl', MAPPING, NEW, { side: { a: 1 } });
    expect((await send('DELETE', '/studio/mappings/shop.ttl', { headers: match('0') })).status).toBe(412);
    expect((await send('DELETE', '/studio/mappings/shop.ttl', { headers: match(body.etag) })).status).toBe(204);
    expect((await get('shop.ttl')).status).toBe(404);
    expect((await send('GET', '/studio/mappings')).body).toEqual({ mappings: [] });
    expect((await readdir(at())).sort()).toEqual(['shop.ttl.previous', 'shop.ttl.studio.json.previous']);
  });

  test('a text that was written past the service has another version, and no user is said to have saved it', async () => {
    const { body } = await put('shop.ttl', version(1), NEW, { side: { a: 1 } });
    await writeFile(at('shop.ttl'), version(2));
    const read = await get('shop.ttl');
    expect(read.body).toMatchObject({ text: version(2), side: { a: 1 }, by: null, at: expect.any(String) });
    expect((await put('shop.ttl', version(3), match(body.etag))).body).toMatchObject({ status: 412, etag: read.body.etag, by: null });
  });

  test('`/rml` gives and honours the same tags', async () => {
    const { body } = await put('shop.ttl', version(1), NEW, { side: { a: 1 } });
    const path = '/semi-structured-transformer/rml?fileName=shop.ttl';
    const shown = await send('GET', path);
    expect([shown.body, shown.headers.get('etag')]).toEqual([version(1), `"${body.etag}"`]);
    const turtle = { 'content-type': 'text/turtle' };
    expect((await send('PUT', path, { body: version(2), headers: { ...turtle, ...match('0') } })).status).toBe(412);
    const written = await send('PUT', path, { body: version(2), headers: { ...turtle, ...match(body.etag) }, by: 'bo' });
    expect([written.status, written.body]).toEqual([200, '']);
    const read = await get('shop.ttl');
    expect(read.body).toMatchObject({ text: version(2), side: { a: 1 }, by: 'bo' });
    expect(written.headers.get('etag')).toBe(`"${read.body.etag}"`);
    expect((await send('PUT', path, { body: version(3), headers: turtle })).status).toBe(200);
    expect((await send('PUT', path, { body: version(3), headers: { ...turtle, ...NEW } })).status).toBe(412);
  });

  test('the SQL transformer has its own directory, and `/rml` there the same tags', async () => {
    const master = 'mapping.ttl?service=sql-transformer';
    const { body } = await put(master, version(1), NEW);
    expect((await get('mapping.ttl')).status).toBe(404);
    const shown = await send('GET', '/sql-transformer/rml');
    expect([shown.status, shown.headers.get('etag')]).toEqual([200, `"${body.etag}"`]);
    expect((await send('GET', '/studio/mappings?service=sql-transformer')).body.mappings).toHaveLength(1);
    expect((await send('GET', '/studio/mappings?service=graph-writer')).status).toBe(400);
  });
});

describe('two savers', () => {
  soakTest(
    'in 100 rounds one wins, the other learns it, and nothing is lost',
    async () => {
      let { etag } = (await put('shop.ttl', version('start'), NEW)).body as { etag: string };
      let text = version('start');
      for (let round = 0; round < 100; round++) {
        const savers = [
          { name: 'ada', text: version(`${round} ada`), to: service },
          { name: 'bo', text: version(`${round} bo`), to: round % 2 === 0 ? service : second },
        ] as const;
        const order = round % 4 < 2 ? savers : savers.toReversed();
        const answers = await Promise.all(
          order.map((one) => put('shop.ttl', one.text, match(etag), { by: one.name, to: one.to, side: { round } })),
        );
        expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
        const won = answers.findIndex(({ status }) => status === 200);
        const winner = order[won] as (typeof savers)[number];
        const { body: saved } = answers[won] as Answer;
        expect(answers[1 - won]?.body).toMatchObject({ etag: saved.etag, by: winner.name, at: expect.any(String) });
        expect(await readFile(at('shop.ttl'), 'utf8')).toBe(winner.text);
        expect(await readFile(at('shop.ttl.previous'), 'utf8')).toBe(text);
        ({ etag } = saved as { etag: string });
        text = winner.text;
      }
      expect((await readdir(at())).filter((name) => name.startsWith('.'))).toEqual([]);
    },
    60_000,
  );

  test('of many that make the same file one succeeds', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => put('new.ttl', version(i), NEW, { to: i % 2 === 0 ? service : second })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(412)]);
  });

  test('the lock file of a process that has died does not stop the next change', async () => {
    await mkdir(at(), { recursive: true });
    await writeFile(at('.shop.ttl.lock'), '');
    const past = new Date(Date.now() - 120_000);
    await utimes(at('.shop.ttl.lock'), past, past);
    expect((await put('shop.ttl', MAPPING, NEW)).status).toBe(201);
  });
});

describe('what is saved', () => {
  test('a text with errors is refused with all diagnostics, and the old one stays', async () => {
    const { body } = await put('shop.ttl', MAPPING, NEW);
    const wrong = MAPPING.replaceAll('rml:reference ', 'rml:refrence ');
    const refused = await put('shop.ttl', wrong, match(body.etag));
    expect(refused).toMatchObject({ status: 400, body: { code: 'mapping/invalid', diagnostics: expect.any(Array) } });
    expect((await get('shop.ttl')).body.etag).toBe(body.etag);
  });

  test('a draft may have errors, is versioned by itself, and ends when the mapping is saved', async () => {
    const draft = 'shop.ttl?draft=true';
    const { status, body } = await put(draft, 'half a', NEW, { side: { a: 1 } });
    expect(status).toBe(201);
    expect((await get('shop.ttl')).status).toBe(404);
    expect((await send('GET', '/studio/mappings')).body.mappings).toMatchObject([{ name: 'shop.ttl', etag: null, draft: true, by: 'ada' }]);
    expect((await put(draft, 'half a map', match('0'))).status).toBe(412);
    expect((await put(draft, 'half a map', match(body.etag))).status).toBe(200);
    expect((await get(draft)).body).toMatchObject({ text: 'half a map', side: { a: 1 } });
    expect((await put('shop.ttl', MAPPING, NEW)).status).toBe(201);
    expect((await get(draft)).status).toBe(404);
    expect((await send('GET', '/studio/mappings')).body.mappings).toMatchObject([{ name: 'shop.ttl', draft: false }]);
  });

  test.each(['shop.yml', 'shop.yarrrml', 'shop.yarrr.yml'])('YARRRML is saved as what its name says: %s', async (name) => {
    expect((await put(name, YARRRML, NEW)).status).toBe(201);
    expect((await get(name)).body).toMatchObject({ text: YARRRML, language: 'yarrrml' });
    expect((await send('GET', '/studio/mappings')).body.mappings).toContainEqual(expect.objectContaining({ name, language: 'yarrrml' }));
  });

  test.each([
    ['..%2Fout.ttl', 400],
    ['%2Fetc%2Fout.ttl', 400],
    ['a%5Cb.ttl', 400],
    ['.hidden.ttl', 400],
    ['a%00b.ttl', 400],
    ['shop.txt', 400],
    ['shop.ttl.studio.json', 400],
    [`${'ä'.repeat(100)}.ttl`, 400],
    ['linked.ttl', 403],
    ['a%20shop%20(ä)..ttl', 201],
  ])('under the name %s: %i', async (name, expected) => {
    await mkdir(at(), { recursive: true });
    await writeFile(join(directory.path, 'outside.ttl'), 'nothing');
    await symlink(join(directory.path, 'outside.ttl'), at('linked.ttl'));
    expect((await put(name, MAPPING, NEW)).status).toBe(expected);
    expect(await readFile(join(directory.path, 'outside.ttl'), 'utf8')).toBe('nothing');
    expect((await send('GET', '/studio/mappings')).body.mappings).toHaveLength(expected === 201 ? 1 : 0);
  });

  test('a side file that leads out of the directory is not read', async () => {
    await mkdir(at(), { recursive: true });
    await writeFile(at('shop.ttl'), MAPPING);
    await writeFile(join(directory.path, 'secret.json'), '{"key": "hidden-word"}');
    await symlink(join(directory.path, 'secret.json'), at('shop.ttl.studio.json'));
    const read = await get('shop.ttl');
    expect(read.status).toBe(403);
    expect(JSON.stringify(read.body)).not.toContain('hidden-word');
  });

  test('a body that is too large, or no object, is refused', async () => {
    expect((await put('shop.ttl', 'x'.repeat(200_000), NEW)).status).toBe(413);
    expect((await put('shop.ttl', MAPPING, NEW, { side: 'text' })).status).toBe(400);
    expect((await send('PUT', '/studio/mappings/shop.ttl', { headers: NEW, body: { side: {} } })).status).toBe(400);
  });
});
