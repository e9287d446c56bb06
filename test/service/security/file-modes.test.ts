/** Files that the service writes are not for other users of the machine; reading a mapping has the time limit of a run. */
import { stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { readMappingSources } from '../../../queues/requests/mapping-sources.ts';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { PEOPLE, peopleMapping } from '../../support/service/inputs.ts';
import { ask, postJson, startService } from '../../support/service/process.ts';

test('outputs, manifests, provenance and backups have the mode 0640', async () => {
  const directory = await temporaryDirectory();
  const at = (name: string): string => join(directory.path, name);
  await writeFile(at('people.csv'), PEOPLE.csv);
  await writeFile(at('people.ttl'), peopleMapping('csv', 'people.csv'));
  const before = process.umask(0o022);
  const service = await startService({ cwd: directory.path, env: { DATA_DIR: at('data'), RECORD_PROVO: 'true' } });
  process.umask(before);
  try {
    const base = `${service.url}/semi-structured-transformer`;
    const { status, body } = await postJson(`${base}/process`, { inputFileURL: at('people.csv'), mappingURL: at('people.ttl') });
    expect(status).toBe(200);
    const backup = await ask(`${base}/uploadConfigBackup`, { method: 'PUT' });
    const [output] = body.outputFileLocations.map((url: string) => fileURLToPath(url));
    const files = [output, output.replace(/\.nq$/, '.manifest.json'), fileURLToPath(body.provenance), fileURLToPath(backup.body.location)];
    const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;
    expect(await Promise.all(files.map(modeOf))).toEqual(files.map(() => 0o640));
    expect(await modeOf(at('data/output'))).toBe(0o750);
  } finally {
    await service.stop();
    await directory.remove();
  }
});

test('a mapping that a server sends without end is given up when the time of a run is over', async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/turtle' });
    const timer = setInterval(() => response.write('# more\n'), 50);
    response.on('close', () => clearInterval(timer));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/people.ttl`;
    const started = performance.now();
    const sources = await readMappingSources([url], { reach: undefined, workingDirectory: '/', base: undefined, seconds: 1 });
    expect(sources).toBeUndefined();
    // Without the limit it is five seconds.
    expect(performance.now() - started).toBeLessThan(4_000);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
