/** Licences from the command line to the running service. */
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { PEOPLE, peopleMapping } from '../../support/service/inputs.ts';
import { type Answer, ask, postJson, type ServiceProcess, startService } from '../../support/service/process.ts';

const SERVICES = ['semi-structured-transformer', 'sql-transformer', 'graph-writer'];
const WHO = ['--name', 'Ada Lovelace', '--company', 'Example Ltd', '--email', 'ada@example.org'];
const { privateKey, publicKey } = generateKeyPairSync('ed25519');

let directory: { readonly path: string; remove(): Promise<void> };
let service: ServiceProcess;
const at = (name: string): string => join(directory.path, name);

const quadmill = (...args: readonly string[]) =>
  spawnSync(process.execPath, [resolve('bin/quadmill.js'), ...args], { cwd: directory.path, encoding: 'utf8' });
const create = async (name: string, ...args: readonly string[]): Promise<string> => {
  const { status, stderr } = quadmill('licence', 'create', '--key', 'private.pem', ...WHO, ...args, '-o', name);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return (await readFile(at(name), 'utf8')).trim();
};
const setLicence = async (text: string): Promise<void> => {
  const { status, body } = await ask(`${service.url}/graph-writer/updateConfig?configEntry=LICENSE&configValue=${text}`, { method: 'PUT' });
  expect({ status, body }).toEqual({ status: 200, body: { configEntry: 'LICENSE', configValue: text === '' ? null : '******' } });
};
const run = (): Promise<Answer> =>
  postJson(`${service.url}/semi-structured-transformer/process`, { inputFileURL: at('people.csv'), mappingURL: at('people.ttl') });
const licenceOf = (name: string): Promise<Answer> => ask(`${service.url}/${name}/license`);

beforeAll(async () => {
  directory = await temporaryDirectory();
  await writeFile(at('private.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  await writeFile(at('public.pem'), publicKey.export({ type: 'spki', format: 'pem' }));
  await writeFile(at('people.csv'), PEOPLE.csv);
  await writeFile(at('people.ttl'), peopleMapping('csv', 'people.csv'));
  const env = { DATA_DIR: at('data'), LICENSE_PUBLIC_KEY: await readFile(at('public.pem'), 'utf8') };
  service = await startService({ cwd: directory.path, env });
});
afterAll(async () => {
  await service?.stop();
  await directory.remove();
});

test('a licence made on the command line holds for the fleet as soon as it is set, and one that has ended starts no run', async () => {
  for (const name of SERVICES) {
    expect(await licenceOf(name)).toMatchObject({
      status: 200,
      body: { validationStatus: 'LICENSE_VALID', license: expect.stringMatching(/^community: /) },
    });
  }
  expect((await run()).status).toBe(200);

  await setLicence(await create('ended.txt', '--from', '2020-01-01', '--expires', '2020-12-31', '--id', 'old'));
  for (const name of SERVICES) {
    expect((await licenceOf(name)).body).toMatchObject({
      licenseInformation: { registeredTo: 'Ada Lovelace - Example Ltd - ada@example.org', expires: '2020-12-31 (0 days remaining)' },
      validationStatus: 'LICENSE_EXPIRED',
    });
  }
  expect(await run()).toMatchObject({
    status: 400,
    body: {
      error: `Record '${at('people.csv')}' could not be processed due to: The licence old expired on 2020-12-31. Set LICENSE to a valid licence with PUT /updateConfig, or to the empty text for the community licence.`,
      code: 'licence/invalid',
    },
  });
  expect(await (await fetch(`${service.url}/metrics`)).text()).toContain('rml_licence_expires_timestamp_seconds 1609459200');

  await setLicence(await create('now.txt', '--expires', '2999-12-31'));
  expect((await licenceOf('sql-transformer')).body.validationStatus).toBe('LICENSE_VALID');
  expect((await run()).status).toBe(200);

  await setLicence('made-up');
  expect((await licenceOf('graph-writer')).body).toMatchObject({
    validationStatus: 'LICENSE_INVALID',
    problem: 'The text is not a licence',
  });
  expect((await run()).body.code).toBe('licence/invalid');
  await setLicence('');
  expect((await run()).status).toBe(200);
});

test('quadmill licence show says the same, and fails when the licence is not valid', async () => {
  await create('shown.txt', '--expires', '2999-12-31', '--id', '7');
  const { status, stdout } = quadmill('licence', 'show', '--licence', 'shown.txt', '--public-key', 'public.pem');
  expect({ status, ...JSON.parse(stdout) }).toMatchObject({
    status: 0,
    validationStatus: 'LICENSE_VALID',
    license: expect.stringMatching(/^7: /),
  });
  const unknown = quadmill('licence', 'show', '--licence', 'shown.txt');
  expect({ status: unknown.status, ...JSON.parse(unknown.stdout) }).toMatchObject({ status: 1, validationStatus: 'LICENSE_INVALID' });
});

test.each([
  [['licence'], 'licence is followed by create or show'],
  [['licence', 'creat'], 'licence is followed by create or show'],
  [['licence', 'create', '--name', 'x'], 'licence create needs --company'],
  [['licence', 'create', '--key', 'none.pem', ...WHO, '--expires', '2999-12-31'], 'none.pem cannot be read'],
  [['licence', 'create', '--key', 'public.pem', ...WHO, '--expires', '2999-12-31'], 'public.pem holds no private key'],
  [['licence', 'create', '--key', 'private.pem', ...WHO, '--expires', 'soon'], "expires is 'soon', expected is a date"],
  [['licence', 'show', '--public-key', 'private.pem'], 'LICENSE_PUBLIC_KEY does not take the value'],
])('quadmill %j is refused', (args, said) => {
  const { status, stderr, stdout } = quadmill(...args);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain(said);
  expect(stderr).not.toContain(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().slice(40, 70));
});
