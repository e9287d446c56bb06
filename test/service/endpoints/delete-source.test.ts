/** DELETE_SOURCE: an input goes when its run is published, never before, and no other file goes. */
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { PEOPLE, peopleMapping, slowInput } from '../../support/service/inputs.ts';
import { type Answer, ask, postJson, type ServiceProcess, startService } from '../../support/service/process.ts';

let directory: { readonly path: string; remove(): Promise<void> };
let service: ServiceProcess;
const at = (name: string): string => join(directory.path, name);
const set = async (option: string, value: string, of = 'semi-structured-transformer'): Promise<void> => {
  const { status } = await ask(`${service.url}/${of}/updateConfig?configEntry=${option}&configValue=${value}`, { method: 'PUT' });
  expect(status).toBe(200);
};
const run = (...inputs: readonly string[]): Promise<Answer> =>
  postJson(`${service.url}/semi-structured-transformer/process`, {
    inputFileURL: inputs,
    logicalSource: inputs.map(() => 'people.csv'),
    mappingURL: at('people.ttl'),
  });
/** The log line comes after the answer of the run. */
const logged = (message: string, input: string): Promise<unknown> => service.waitForLog(message, (line) => line.input === input);

beforeAll(async () => {
  directory = await temporaryDirectory();
  await writeFile(at('people.ttl'), peopleMapping('csv', 'people.csv'));
  service = await startService({ cwd: directory.path, env: { DATA_DIR: at('data'), RETRY_SECONDS: '0' } });
});
beforeEach(async () => {
  await writeFile(at('people.csv'), PEOPLE.csv);
  await set('DELETE_SOURCE', 'true');
});
afterAll(async () => {
  await service?.stop();
  await directory.remove();
});

test('nothing goes unless it is asked for', async () => {
  await set('DELETE_SOURCE', 'false');
  expect((await run(at('people.csv'))).status).toBe(200);
  expect(existsSync(at('people.csv'))).toBe(true);
});

test('the inputs of a completed run go, also named by URL, and its mapping and output stay', async () => {
  await mkdir(at('a b'), { recursive: true });
  await writeFile(at('a b/more.csv'), 'id,name\n3,Cid\n');
  const url = `file://${at('a%20b/more.csv')}`;
  const { status, body } = await run('people.csv', url);
  expect(status).toBe(200);
  await Promise.all([logged('input deleted', 'people.csv'), logged('input deleted', url)]);
  expect([existsSync(at('people.csv')), existsSync(at('a b/more.csv')), existsSync(at('people.ttl'))]).toEqual([false, false, true]);
  expect((await readFile(fileURLToPath(body.outputFileLocations[0]), 'utf8')).trim().split('\n')).toHaveLength(3);
});

test('the inputs of a failed run stay', async () => {
  await writeFile(at('broken.csv'), 'id,name\n1,"x\n');
  expect((await run(at('people.csv'), at('broken.csv'))).status).toBe(400);
  expect([existsSync(at('people.csv')), existsSync(at('broken.csv'))]).toEqual([true, true]);
});

test('an input that has changed or was replaced while the run went on stays, one on the web is left alone', async () => {
  const slow = await slowInput();
  try {
    await writeFile(at('appended.csv'), PEOPLE.csv);
    await writeFile(at('replaced.csv'), PEOPLE.csv);
    await writeFile(at('next.csv'), PEOPLE.csv);
    const answer = run(at('appended.csv'), at('replaced.csv'), at('people.csv'), slow.url);
    await slow.asked;
    await appendFile(at('appended.csv'), '9,Eve\n');
    await rename(at('next.csv'), at('replaced.csv'));
    slow.release();
    expect((await answer).status).toBe(200);
    await Promise.all([
      logged('input not deleted: it has changed since the run began', at('appended.csv')),
      logged('input not deleted: it has changed since the run began', at('replaced.csv')),
      logged('input deleted', at('people.csv')),
    ]);
    expect([existsSync(at('appended.csv')), existsSync(at('replaced.csv'))]).toEqual([true, true]);
  } finally {
    await slow.close();
  }
});

test("the service's own files stay: mappings, output, backup, and what is in DATA_DIR itself", async () => {
  const backup = at('kept/backup.csv');
  await set('CONFIG_BACKUP', backup);
  await symlink(at('data/output'), at('way'));
  const own = ['data/own.csv', 'data/mappings/own.csv', 'data/output/own.csv', 'data/backup/own.csv', 'kept/backup.csv', 'way/other.csv'];
  const others = ['kept/other.csv', 'data/uploads/own.csv', 'data/inputs/own.csv', 'data/output-of-others/own.csv'];
  for (const name of [...own, ...others]) {
    await mkdir(at(dirname(name)), { recursive: true });
    await writeFile(at(name), PEOPLE.csv);
  }
  expect((await run(...[...own, ...others].map(at))).status).toBe(200);
  await Promise.all(others.map((name) => logged('input deleted', at(name))));
  await Promise.all(own.map((name) => logged('input not deleted: it stands where the service keeps its own files', at(name))));
  expect([own, others].map((names) => names.map((name) => existsSync(at(name))))).toEqual([own.map(() => true), others.map(() => false)]);
  await set('CONFIG_BACKUP', '');
});

test('of a link, the link goes', async () => {
  await writeFile(at('kept.csv'), PEOPLE.csv);
  await symlink(at('kept.csv'), at('link.csv'));
  expect((await run(at('link.csv'))).status).toBe(200);
  await logged('input deleted', at('link.csv'));
  expect([existsSync(at('kept.csv')), existsSync(at('link.csv'))]).toEqual([true, false]);
});

test('the graph writer, which here reads the output of the transformers, deletes its inputs by its own option alone', async () => {
  const write = (name: string): Promise<Answer> => postJson(`${service.url}/graph-writer/process`, { inputFileURL: at(name) });
  const shown = async (): Promise<unknown> =>
    (await ask(`${service.url}/graph-writer/config?paths=deleteSource`)).body.serviceWriterConfig.deleteSource;
  await mkdir(at('data/output'), { recursive: true });
  for (const name of ['one.nq', 'two.nq', 'data/output/three.nq', 'data/mappings/four.nq'])
    await writeFile(at(name), '<http://example.com/a> <http://example.com/b> "c" .\n');
  expect(await shown()).toBe(false);
  expect((await write('one.nq')).status).toBe(200);
  await set('DELETE_SOURCE', 'true', 'graph-writer');
  expect(await shown()).toBe(true);
  expect((await write('two.nq')).status).toBe(200);
  // The output of a transformer is its input.
  expect((await write('data/output/three.nq')).status).toBe(200);
  expect((await write('data/mappings/four.nq')).status).toBe(200);
  await Promise.all([logged('input deleted', at('two.nq')), logged('input deleted', at('data/output/three.nq'))]);
  await logged('input not deleted: it stands where the service keeps its own files', at('data/mappings/four.nq'));
  expect([existsSync(at('one.nq')), existsSync(at('two.nq'))]).toEqual([true, false]);
});
