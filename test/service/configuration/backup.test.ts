/** History, secrets at rest and backup of the configuration, over HTTP and a real process. */
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { type Answer, ask, type ServiceProcess, startService } from '../../support/service/process.ts';

const ADMIN = 'a-long-secret-of-ada';
const VIEWER = 'a-long-secret-of-bob';
const SECRET = 'canary-of-the-database';

let directory: { readonly path: string; remove(): Promise<void> };
let service: ServiceProcess;
const start = (env: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> =>
  startService({
    cwd: directory.path,
    env: { DATA_DIR: 'data', API_TOKENS: `ada:admin:${ADMIN},bob:viewer:${VIEWER}`, ...env },
  });
const call = (method: string, path: string, token = ADMIN): Promise<Answer> =>
  ask(`${service.url}/${path}`, { method, headers: { Authorization: `Bearer ${token}` } });
const set = (option: string, value: string): Promise<Answer> =>
  call('PUT', `sql-transformer/updateConfig?${new URLSearchParams({ configEntry: option, configValue: value })}`);

beforeAll(async () => {
  directory = await temporaryDirectory();
  service = await start();
});
afterAll(async () => {
  await service?.stop();
  await directory.remove();
});

test('changes are in the history of those services that have the option, for admins alone', async () => {
  expect((await set('friendlyName', 'Mill')).status).toBe(200);
  expect((await set('DB_PASSWORD', SECRET)).status).toBe(200);
  expect((await set('MAX_RECORDS', '-1')).status).toBe(400);
  expect(await call('GET', 'sql-transformer/config/history')).toMatchObject({
    status: 200,
    body: {
      changes: [
        { by: 'ada', option: 'DB_PASSWORD', value: '******' },
        { by: 'ada', option: 'SQL_TRANSFORMER_FRIENDLY_NAME', value: 'Mill' },
      ],
    },
  });
  expect((await call('GET', 'graph-writer/config/history')).body).toEqual({ changes: [] });
  expect((await call('GET', 'sql-transformer/config/history', VIEWER)).status).toBe(403);
  expect((await call('PUT', 'sql-transformer/uploadConfigBackup', VIEWER)).status).toBe(403);
});

test('a backup lies below the data directory, without the secret', async () => {
  const { status, body } = await call('PUT', 'sql-transformer/uploadConfigBackup');
  expect({ status, body }).toEqual({
    status: 200,
    body: { location: expect.stringMatching(/^file:.*\/data\/backup\/configuration\.json$/) },
  });
  const text = await readFile(fileURLToPath(body.location), 'utf8');
  expect(text).not.toContain(SECRET);
  expect(JSON.parse(text)).toMatchObject({
    configuration: { friendlyName: 'Mill', serviceTransformerConfig: { sql: { password: '******' } } },
    changes: { SQL_TRANSFORMER_FRIENDLY_NAME: 'Mill', DB_PASSWORD: expect.stringMatching(/^sealed:1:/) },
  });
  expect((await stat(join(directory.path, 'data', 'secrets.key'))).mode & 0o777).toBe(0o600);
});

test('each service writes one to CONFIG_BACKUP, and a new queue is filled from it', async () => {
  expect((await call('PUT', 'graph-writer/updateConfig?configEntry=CONFIG_BACKUP&configValue=s3://bucket/key')).status).toBe(200);
  expect(await call('PUT', 'graph-writer/uploadConfigBackup')).toMatchObject({ status: 400, body: { code: 'config/invalid' } });
  expect((await call('PUT', 'graph-writer/updateConfig?configEntry=CONFIG_BACKUP&configValue=kept/')).status).toBe(200);
  const kept = join(directory.path, 'kept', 'configuration.json');
  for (const name of ['semi-structured-transformer', 'sql-transformer', 'graph-writer']) {
    expect(await call('PUT', `${name}/uploadConfigBackup`)).toMatchObject({ status: 200, body: { location: `file://${kept}` } });
    await rm(name === 'graph-writer' ? `${kept}.none` : kept, { force: true });
  }
  expect((await service.stop()).code).toBe(0);
  await rm(join(directory.path, 'data', 'queue'), { recursive: true });

  service = await start({ CONFIG_BACKUP: 'kept/' });
  expect(await service.waitForLog('configuration restored')).toMatchObject({ path: kept });
  expect((await call('GET', 'sql-transformer/config?paths=friendlyName,sql.password')).body).toEqual({
    friendlyName: 'Mill',
    serviceTransformerConfig: { sql: { password: '******' } },
  });
  expect(JSON.stringify(service.log)).not.toContain(SECRET);
});
