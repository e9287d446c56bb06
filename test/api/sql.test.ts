/** The SQL transformer over HTTP with runs in memory: `/process`, `/rml`, `/config`, `/updateCron`, `/restartKafka`. */
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { FailureMessage } from '../../queues/jobs.ts';
import { openSwitch } from '../../queues/messaging/bus.ts';
import type { OptionValues } from '../../src/config/options/options.ts';
import { Secret } from '../../src/core/secret.ts';
import { type FakeApi, memorySettings, startFakeApi, successReport } from '../support/service/fake.ts';
import { type Answer, ask } from '../support/service/process.ts';

const MAPPING = `@prefix rml: <http://w3id.org/rml/> .
<http://example.com/m> a rml:TriplesMap ;
  rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://example.com/{id}" ] .
`;

let directory: string;
let api: FakeApi;
const buried: FailureMessage[] = [];
const others: FakeApi[] = [];

const start = async (options: OptionValues, more: Parameters<typeof startFakeApi>[1] = {}): Promise<FakeApi> => {
  const one = await startFakeApi(
    { DATA_DIR: directory, ...options },
    { deadLetter: async (_service, failure) => void buried.push(failure), ...more },
  );
  one.runs.ends((id) => ({ state: 'completed', report: successReport(id) }));
  others.push(one);
  return one;
};
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-api-'));
  api = await start({});
});
afterEach(async () => {
  await Promise.all(others.splice(0).map((one) => one.close()));
  await rm(directory, { recursive: true, force: true });
});

const base = (): string => `${api.url}/sql-transformer`;
const mappings = (...names: string[]): string => join(directory, 'mappings', 'sql-transformer', ...names);
const putMapping = (text: string, url = base()): Promise<Answer> =>
  ask(`${url}/rml`, { method: 'PUT', body: text, headers: { 'content-type': 'text/turtle' } });
const updateCron = (value?: string, url = base()): Promise<Answer> =>
  ask(`${url}/updateCron${value === undefined ? '' : `?${new URLSearchParams({ cronValue: value })}`}`, { method: 'PUT' });

describe('/process', () => {
  test('runs with the master mapping, and without anything of the database', async () => {
    const one = await start({
      JDBC_URL: 'jdbc:postgresql://db/x',
      DB_USER: 'ann',
      DB_PASSWORD: new Secret('hunter2'),
      SQL_ITERATION_ROWS: 7,
    });
    await putMapping(MAPPING);
    const answer = await ask(`${one.url}/sql-transformer/process`);
    expect(answer.status).toBe(200);
    const [run] = one.runs.submitted;
    expect(run?.request).toMatchObject({
      service: 'sql-transformer',
      inputs: [],
      mappings: [mappings('mapping.ttl')],
      run: { rowsPerPart: 7, sql: { connectSeconds: 10 } },
    });
    expect(JSON.stringify(run)).not.toMatch(/hunter2|jdbc:|ann/);
  });

  test('makes a version of the dataset that the request names, else of that of the option', async () => {
    await putMapping(MAPPING);
    const one = await start({ DATASET: 'usual', DATASETS_DIR_URL: 's3://bucket/sets' });
    await ask(`${one.url}/sql-transformer/process?dataset=asked`);
    await ask(`${one.url}/sql-transformer/process`);
    expect(one.runs.submitted.map(({ request }) => 'dataset' in request && request.dataset)).toEqual([
      { name: 'asked', url: 's3://bucket/sets/asked', keptVersions: 0 },
      { name: 'usual', url: 's3://bucket/sets/usual', keptVersions: 0 },
    ]);
    expect(await ask(`${one.url}/sql-transformer/process?dataset=a%2Fb`)).toMatchObject({ status: 400, body: { code: 'request/invalid' } });
  });

  test('a file: URL stays one', async () => {
    await putMapping(MAPPING);
    const one = await start({ MAPPINGS_DIR_URL: `file://${join(directory, 'mappings')}` });
    await ask(`${one.url}/sql-transformer/process`);
    expect(one.runs.submitted[0]?.request.mappings).toEqual([`file://${mappings('mapping.ttl')}`]);
  });

  test.each([
    ['an http: directory', 'http://maps.example/dir', 'master.ttl', 'http://maps.example/dir/sql-transformer/master.ttl'],
    ['one with a slash at its end', 'http://maps.example/dir/', 'a/master.ttl', 'http://maps.example/dir/sql-transformer/a/master.ttl'],
  ])('%s is left to the run', async (_, MAPPINGS_DIR_URL, MASTER_MAPPING_FILE, expected) => {
    const one = await start({ MAPPINGS_DIR_URL, MASTER_MAPPING_FILE });
    expect((await ask(`${one.url}/sql-transformer/process`)).status).toBe(200);
    expect(one.runs.submitted[0]?.request.mappings).toEqual([expected]);
    expect((await ask(`${one.url}/sql-transformer/rml`)).body).toMatchObject({ status: 409, code: 'request/conflict' });
  });

  test.each([false, true])(
    'without a master mapping it says where one is looked for, and what to do (directory there: %s)',
    async (there) => {
      if (there) await mkdir(mappings(), { recursive: true });
      const { status, body } = await ask(`${base()}/process`);
      expect({ status, ...body }).toMatchObject({
        status: 400,
        name: 'SQL-Transformer',
        type: 'SQL-Transformer',
        code: 'mapping/unreadable',
        provenance: '',
        error: expect.stringMatching(
          /^Record could not be processed due to: There is no master mapping.*PUT \/rml.*MASTER_MAPPING_FILE\.$/,
        ),
      });
      expect(body.error).toContain(mappings('mapping.ttl'));
      expect(body).not.toHaveProperty('runId');
      expect(buried.splice(0)).toEqual([{ ...body, runId: expect.any(String) }]);
      expect(api.runs.submitted).toEqual([]);
    },
  );

  test('answers 202 when asked to, and knows an idempotency key', async () => {
    await putMapping(MAPPING);
    api.runs.ends(undefined);
    const headers = { prefer: 'respond-async', 'idempotency-key': 'night' };
    const [first, second] = [await ask(`${base()}/process`, { headers }), await ask(`${base()}/process`, { headers })];
    expect(first.status).toBe(202);
    expect(first.headers.get('location')).toBe(`${base()}/runs/${api.runs.submitted[0]?.id}`);
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    expect(api.runs.submitted).toHaveLength(1);
  });

  test('HEAD starts nothing', async () => {
    await putMapping(MAPPING);
    expect((await fetch(`${base()}/process`, { method: 'HEAD' })).status).toBe(405);
    expect(api.runs.submitted).toEqual([]);
  });
});

describe('/rml', () => {
  test('is the master mapping: 404 before there is one, then what was put', async () => {
    const before = await ask(`${base()}/rml`);
    expect(before.body).toMatchObject({ status: 404, detail: expect.stringContaining(mappings('mapping.ttl')) });
    const written = await putMapping(MAPPING);
    expect([written.status, written.body]).toEqual([200, '']);
    const after = await ask(`${base()}/rml`);
    expect([after.status, after.headers.get('content-type'), after.body]).toEqual([200, 'text/turtle', MAPPING]);
    expect(await readFile(mappings('mapping.ttl'), 'utf8')).toBe(MAPPING);
  });

  test('a body that is no mapping leaves the old file', async () => {
    await putMapping(MAPPING);
    expect((await putMapping('<a> <b> ;;;')).body).toMatchObject({ status: 400, code: 'mapping/syntax' });
    expect((await ask(`${base()}/rml`)).body).toBe(MAPPING);
  });

  test('a mapping of a table is accepted', async () => {
    const r2rml = `@prefix rr: <http://www.w3.org/ns/r2rml#> .
<http://example.com/m> rr:logicalTable [ rr:tableName "person" ] ; rr:subjectMap [ rr:template "http://example.com/{id}" ] .`;
    expect(await putMapping(r2rml)).toMatchObject({ status: 200, body: '' });
  });

  test.each(['../secret.ttl', 'link.ttl', 'a/../../secret.ttl'])('a MASTER_MAPPING_FILE outside the directory is 403: %s', async (file) => {
    const one = await start({ MASTER_MAPPING_FILE: file });
    const url = `${one.url}/sql-transformer`;
    await writeFile(join(directory, 'secret.ttl'), 'secret');
    const refused = { status: 403, code: 'request/forbidden', detail: expect.stringContaining('MASTER_MAPPING_FILE') };
    if (file !== 'link.ttl') expect((await ask(`${url}/rml`)).body).toMatchObject(refused);
    await mkdir(mappings(), { recursive: true });
    await symlink(join(directory, 'secret.ttl'), mappings('link.ttl'));
    for (const answer of [await ask(`${url}/rml`), await putMapping(MAPPING, url), await ask(`${url}/process`)]) {
      expect(answer.body).toMatchObject(refused);
    }
    expect(await readFile(join(directory, 'secret.ttl'), 'utf8')).toBe('secret');
  });
});

describe('/config', () => {
  test('is that of the SQL transformer, without passwords', async () => {
    const one = await start({
      JDBC_URL: 'jdbc:postgresql://ann:hunter2@db/x?user=ann&password=hunter2&sslmode=require',
      DB_PASSWORD: new Secret('hunter2'),
    });
    const { body } = await ask(`${one.url}/sql-transformer/config`);
    expect(body).toMatchObject({
      applicationName: 'SQL-Transformer',
      friendlyName: 'SQL-Transformer',
      serviceTransformerConfig: {
        masterMappingFile: 'mapping.ttl',
        sql: { jdbcUrl: 'jdbc:postgresql://ann:******@db/x?user=ann&password=******&sslmode=require', password: '******' },
      },
    });
    expect(JSON.stringify(body)).not.toContain('hunter2');
  });

  test.each([
    'jdbc:mysql://db:3306/x?password=hun#ter2',
    'jdbc:mysql://address=(host=db)(user=ann)(password=hunter2)/x',
    'jdbc:mysql://(host=db,password=hunter2)/x',
    'jdbc:sqlserver://db;user=ann;password=hunter2',
  ])('hides the password of %s', async (JDBC_URL) => {
    const one = await start({ JDBC_URL });
    const { body } = await ask(`${one.url}/sql-transformer/config?paths=JDBC_URL`);
    expect(body.serviceTransformerConfig.sql.jdbcUrl).toMatch(/^jdbc:\w+:\/\/.*\bdb/);
    expect(JSON.stringify(body)).not.toMatch(/ter2/);
  });

  test('a change is answered in the service’s name', async () => {
    const changed = await ask(`${base()}/updateConfig?configEntry=friendlyName&configValue=`, { method: 'PUT' });
    expect(changed.body).toEqual({ configEntry: 'friendlyName', configValue: 'SQL-Transformer' });
    const url = await ask(`${base()}/updateConfig?configEntry=JDBC_URL&configValue=jdbc:mysql://a:secret@db/x`, { method: 'PUT' });
    expect(url.body.configValue).toBe('jdbc:mysql://a:******@db/x');
  });

  test('a time zone that there is not is refused', async () => {
    const { body } = await ask(`${base()}/updateConfig?configEntry=CRON_TIMEZONE&configValue=Europe/Atlantis`, { method: 'PUT' });
    expect(body).toMatchObject({ status: 400, code: 'config/invalid', detail: expect.stringContaining('IANA') });
  });
});

describe('/updateCron', () => {
  test('sets the schedule, shows the next three times in its zone, and switches it off', async () => {
    const one = await start({ CRON_TIMEZONE: 'Asia/Kolkata' });
    const url = `${one.url}/sql-transformer`;
    const shown = async () => (await ask(`${url}/config?paths=sql.cron`)).body.serviceTransformerConfig.sql.cron;
    expect(await shown()).toBeNull();
    const { status, body } = await updateCron(' 0 30 2 * *  ? 2098-2099 ', url);
    expect(status).toBe(200);
    expect(body).toEqual({
      cron: '0 30 2 * * ? 2098-2099',
      timezone: 'Asia/Kolkata',
      next: ['2098-01-01T02:30:00+05:30', '2098-01-02T02:30:00+05:30', '2098-01-03T02:30:00+05:30'],
    });
    expect(one.schedule.current()).toEqual({ cron: '0 30 2 * * ? 2098-2099', timezone: 'Asia/Kolkata' });
    expect(await shown()).toBe('0 30 2 * * ? 2098-2099');
    expect(await updateCron(undefined, url)).toMatchObject({ status: 200, body: { cron: null } });
    expect(one.schedule.current()).toBeUndefined();
    expect(await shown()).toBeNull();
  });

  test.each(['', ' '])('an empty cronValue, %j, switches the schedule off', async (value) => {
    await updateCron('0 0 2 * * ?');
    expect(await updateCron(value)).toMatchObject({ status: 200, body: { cron: null } });
    expect(api.schedule.current()).toBeUndefined();
  });

  test('an expression that is wrong is refused with the field, and the old schedule stays', async () => {
    await updateCron('0 0 2 * * ?');
    for (const [value, detail] of [
      ['0 0 25 * * ?', /field 3 \(hours\) is "25", expected are 0 to 23/],
      ['@daily', /1 field/],
      ['0 0 0 31 2 ?', /never/],
    ] as const) {
      expect((await updateCron(value)).body).toMatchObject({ status: 400, code: 'request/invalid', detail: expect.stringMatching(detail) });
    }
    expect(api.schedule.current()?.cron).toBe('0 0 2 * * ?');
  });

  test('a value twice is refused', async () => {
    const { body } = await ask(`${base()}/updateCron?cronValue=a&cronValue=b`, { method: 'PUT' });
    expect(body).toMatchObject({ status: 400, code: 'request/invalid' });
  });
});

describe('/restartKafka', () => {
  test.each(['semi-structured-transformer', 'sql-transformer', 'graph-writer'])('of the %s', async (service) => {
    expect((await ask(`${api.url}/${service}/restartKafka`)).body).toMatchObject({
      status: 409,
      code: 'request/conflict',
      hint: expect.stringContaining('KAFKA_BROKERS'),
    });
    const alone = await start({ KAFKA_BROKERS: ['broker:9092'], TRANSFORMER_RUN_STANDALONE: true });
    expect((await ask(`${alone.url}/${service}/restartKafka`)).body).toMatchObject({
      status: 409,
      hint: expect.stringContaining('TRANSFORMER_RUN_STANDALONE'),
    });
  });

  test('switches off and on, one state for all services', async () => {
    const one = await start({ KAFKA_BROKERS: ['broker:9092'] }, { messageQueue: await openSwitch(memorySettings()) });
    const answers: unknown[] = [];
    for (const service of ['semi-structured-transformer', 'sql-transformer', 'graph-writer']) {
      const { status, body } = await ask(`${one.url}/${service}/restartKafka`);
      answers.push([status, body]);
    }
    expect(answers).toEqual(['off', 'on', 'off'].map((kafka) => [200, { kafka }]));
  });
});

test('alone, the SQL transformer is mounted at the root', async () => {
  const one = await start({ SERVICE: 'sql-transformer' });
  expect((await ask(`${one.url}/config?paths=applicationName`)).body).toEqual({ applicationName: 'SQL-Transformer' });
  expect((await updateCron('0 2 * * *', one.url)).status).toBe(200);
});

describe('who may', () => {
  const TOKENS = { viewer: 'v', operator: 'o', admin: 'a' } as const;
  test.each<[string, string, keyof typeof TOKENS]>([
    ['GET', '/process', 'operator'],
    ['GET', '/rml', 'viewer'],
    ['PUT', '/rml', 'admin'],
    ['PUT', '/updateCron', 'admin'],
    ['GET', '/restartKafka', 'admin'],
    ['GET', '/config', 'viewer'],
    ['PUT', '/updateConfig', 'admin'],
  ])('%s %s: %s', async (method, path, role) => {
    const one = await start({ API_TOKENS: [new Secret('viewer:v'), new Secret('operator:o'), new Secret('admin:a')] });
    const roles = ['viewer', 'operator', 'admin'] as const;
    for (const own of roles) {
      const { status } = await ask(`${one.url}/sql-transformer${path}`, { method, headers: { authorization: `Bearer ${TOKENS[own]}` } });
      expect([own, status === 403]).toEqual([own, roles.indexOf(own) < roles.indexOf(role)]);
    }
    expect((await ask(`${one.url}/sql-transformer${path}`, { method })).status).toBe(401);
  });
});
