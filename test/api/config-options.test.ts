/** Every option over HTTP, for each service: those that may change are set and read back, those of other services are refused. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SERVICES, type Service } from '../../queues/jobs.ts';
import { optionsOf } from '../../src/config/effective.ts';
import { DEFAULTS, OPTION_NAMES, type OptionName, optionRow } from '../../src/config/options/options.ts';
import { parseOption } from '../../src/config/parse.ts';
import { type FakeApi, startFakeApi } from '../support/service/fake.ts';
import { type Answer, ask } from '../support/service/process.ts';

let directory: string;
let api: FakeApi;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-api-'));
  api = await startFakeApi({ DATA_DIR: directory });
});
afterAll(async () => {
  await api.close();
  await rm(directory, { recursive: true, force: true });
});

const update = (service: Service, configEntry: string, configValue: string): Promise<Answer> =>
  ask(`${api.url}/${service}/updateConfig?${new URLSearchParams({ configEntry, configValue })}`, { method: 'PUT' });

/** Values that options of texts may take, besides their own default. */
const TEXTS = [
  'https://example.org/a',
  'a/b',
  'a.example:9092',
  'jdbc:postgresql://h/d',
  '0 0 12 * * ?',
  'Europe/Berlin',
  'name',
  '/a',
  'https://user:word@example.org/a',
  'main',
  'ex=http://example.org/',
  '30d',
  'kafka://a.example:9092/shop.public.{table}',
];

/** Another value than the present one that the option takes; undefined: it takes none of these. */
function anotherValue(name: OptionName): string | undefined {
  const row = optionRow(name);
  const present = String(DEFAULTS[name] ?? '');
  const candidates =
    row.type === 'boolean'
      ? ['true', 'false']
      : row.type === 'integer'
        ? [Number(present || 0) + 1, row.minimum ?? 0, row.maximum ?? 1].map(String)
        : (row.values ?? TEXTS);
  return candidates.find((value) => {
    try {
      parseOption(name, value);
      return value !== present;
    } catch {
      return false;
    }
  });
}

describe.each(Object.keys(SERVICES) as Service[])('every option that may change of the %s', (service) => {
  const seen = { name: SERVICES[service].name, scope: service === 'graph-writer' ? 'writer' : 'transformer' } as const;
  const own = optionsOf(seen).filter((name) => optionRow(name).live === true && optionRow(name).own === undefined);
  const others = OPTION_NAMES.filter((name) => (optionRow(name).scope ?? seen.scope) !== seen.scope);

  test('there are some, and others are not its own', () => {
    expect(own.length).toBeGreaterThan(30);
    expect(others.length).toBeGreaterThan(5);
  });

  test.each(own)('%s is set and read back, by its name and by its path', async (name) => {
    const { path, secret, type } = optionRow(name);
    const value = anotherValue(name);
    expect(value).toBeDefined();
    expect(await update(service, name, value as string)).toMatchObject({ status: 200, body: { configEntry: name } });
    const shown = secret === true ? '******' : type === 'boolean' ? value === 'true' : type === 'integer' ? Number(value) : value;
    for (const entry of [name, path]) {
      const { status, body } = await ask(`${api.url}/${service}/config?paths=${entry}`);
      expect([status, JSON.stringify(body)]).toEqual([200, expect.stringContaining(JSON.stringify(shown))]);
    }
  });

  test.each(others)('%s is that of another service', async (name) => {
    expect((await update(service, name, anotherValue(name) ?? 'x')).body).toMatchObject({ status: 400, code: 'config/unknown' });
  });
});
