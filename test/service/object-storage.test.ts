/** Object storage through a service and through the command, with a real server: mapping and inputs are objects, and large ones are cut. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { readBackup } from '../../src/config/backup.ts';
import { DEFAULTS, type OptionValues } from '../../src/config/options/options.ts';
import { readEnvironment } from '../../src/config/parse.ts';
import { quietLogger } from '../../src/core/telemetry/observe.ts';
import { OUTPUT_FORMATS } from '../../src/sinks/sink.ts';
import { probeInput, readBytes, readText } from '../../src/storage/open.ts';
import { listS3 } from '../../src/storage/s3/read.ts';
import { deleteSources } from '../../workers/jobs/delete-source.ts';
import { SHARED_START_MS, type SharedS3, sharedS3 } from '../servers/shared/shared.ts';
import { missingS3Proxy, S3_KEYS } from '../servers/stores/s3proxy.ts';
import { described, EX } from '../src/custom-functions/support.ts';
import { accessTo, putObject } from '../src/storage/s3/storing.ts';
import { soakTest, test } from '../support/jest/extent.ts';
import { PROJECT_ROOT } from '../support/project-root.ts';
import { temporaryDirectory } from '../support/queues/backends.ts';
import { PEOPLE, PEOPLE_LINES, peopleMapping } from '../support/service/inputs.ts';
import { type Answer, ask, postJson, type ServiceProcess, startService } from '../support/service/process.ts';

const missing = await missingS3Proxy();
const describeS3 = missing === undefined ? describe : describe.skip;
if (missing !== undefined) test.skip(`S3 is not tested: ${missing}`, () => undefined);

/** Two logical targets beside the output of the run. */
const TARGETS = `@prefix rml: <http://w3id.org/rml/> . @prefix formats: <http://www.w3.org/ns/formats/> . @prefix ex: <http://example.com/> .
ex:People a rml:TriplesMap ;
  rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://example.com/{id}" ; rml:class ex:Person ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ; rml:logicalTarget ex:packed, ex:archive ] ] .
ex:packed rml:target [ a rml:Target, rml:FilePath ; rml:path "names.ttl.gz" ] ; rml:serialization formats:Turtle ; rml:compression rml:gzip .
ex:archive rml:target [ a rml:Target, rml:FilePath ; rml:path "names.zip" ] ; rml:compression rml:zip .
`;
const ROWS = 20_000;
let server: SharedS3;
let service: ServiceProcess;
let directory: { readonly path: string; remove(): Promise<void> };
const url = (key: string): string => `s3://${server.bucket}/${key}`;
const put = (key: string, body: string): Promise<void> => putObject(accessTo(server.endpoint), server.bucket, key, body);
const environment = () => ({
  AWS_ACCESS_KEY: S3_KEYS.access,
  AWS_SECRET_KEY: S3_KEYS.secret,
  S3_ENDPOINT: server.endpoint,
  S3_PATH_STYLE: 'true',
});
const start = (body: object) => postJson(`${service.url}/semi-structured-transformer/process`, body);
async function linesOf(locations: readonly string[]): Promise<readonly string[]> {
  const texts = await Promise.all(locations.map((location) => readFile(fileURLToPath(location), 'utf8')));
  return texts.flatMap((text) => text.split('\n').filter(Boolean));
}

const textOf = (location: string): Promise<string> =>
  readText(location, 2 ** 24, { reach: undefined, workingDirectory: '/', s3: accessTo(server.endpoint) });
async function objectLines(locations: readonly string[]): Promise<readonly string[]> {
  return (await Promise.all(locations.map(textOf))).flatMap((text) => text.split('\n').filter(Boolean));
}

/** The bytes of a file or an object. */
const bytesOf = (location: string): Promise<Buffer> =>
  readBytes(location, 2 ** 24, { reach: undefined, workingDirectory: '/', s3: accessTo(server.endpoint) });
const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

beforeAll(async () => {
  if (missing !== undefined) return;
  directory = await temporaryDirectory();
  server = await sharedS3();
  await put('maps/people.ttl', peopleMapping('csv', 'people.csv'));
  await put('people.csv', PEOPLE.csv);
  await put('many.csv', `id,name\n${Array.from({ length: ROWS }, (_, i) => `${i},"a ${i}"\n`).join('')}`);
  service = await startService({
    cwd: directory.path,
    env: { DATA_DIR: join(directory.path, 'data'), RETRY_SECONDS: '0', SLICE_BYTES: '100000', ...environment() },
  });
}, SHARED_START_MS);
afterAll(async () => {
  await service?.stop();
  await server?.stop();
  await directory?.remove();
});

describeS3('object storage', () => {
  test('a service reads mapping and input from it', async () => {
    const answer = await start({ inputFileURL: url('people.csv'), logicalSource: 'people.csv', mappingURL: url('maps/people.ttl') });
    expect(answer.status).toBe(200);
    expect([...(await linesOf(answer.body.outputFileLocations))].sort()).toEqual(PEOPLE_LINES);
  });

  soakTest('a directory of mappings is one of objects', async () => {
    const answer = await start({ inputFileURL: url('people.csv'), mappingURL: url('maps') });
    expect(answer.status).toBe(200);
    expect(await linesOf(answer.body.outputFileLocations)).toHaveLength(2);
  });

  test('a large object is cut into slices, which together are the object', async () => {
    const answer = await start({ inputFileURL: url('many.csv'), logicalSource: 'people.csv', mappingURL: url('maps/people.ttl') });
    expect(answer.status).toBe(200);
    expect(answer.body.outputFileLocations.length).toBeGreaterThan(1);
    const lines = await linesOf(answer.body.outputFileLocations);
    expect([lines.length, new Set(lines).size]).toEqual([ROWS, ROWS]);
  });

  test('a service writes to it: parts, then the manifest; nothing else is left', async () => {
    const set = (entry: string, value: string) =>
      ask(`${service.url}/semi-structured-transformer/updateConfig?configEntry=${entry}&configValue=${encodeURIComponent(value)}`, {
        method: 'PUT',
      });
    expect((await set('OUTPUT_DIR_URL', url('out/100%'))).status).toBe(200);
    expect((await set('RECORD_PROVO', 'true')).status).toBe(200);
    const [small, sliced] = [
      await start({ inputFileURL: url('people.csv'), logicalSource: 'people.csv', mappingURL: url('maps/people.ttl') }),
      await start({ inputFileURL: url('many.csv'), logicalSource: 'people.csv', mappingURL: url('maps/people.ttl') }),
    ];
    expect((await set('OUTPUT_DIR_URL', join(directory.path, 'output'))).status).toBe(200);
    expect((await set('RECORD_PROVO', 'false')).status).toBe(200);
    for (const { status, body } of [small, sliced]) {
      expect([status, body]).toEqual([200, expect.objectContaining({ outputFileLocations: expect.any(Array) })]);
      for (const location of body.outputFileLocations) expect(location).toMatch(`${url('out/100%')}/Semi-Structured-Transformer-`);
      const manifest = body.outputFileLocations[0].replace(/(-\d+)?\.nq$/, '.manifest.json');
      const { parts } = JSON.parse(await textOf(manifest));
      expect(parts.map((part: { readonly url: string }) => part.url)).toEqual(body.outputFileLocations);
      for (const { url: part, sha256, bytes } of parts) {
        const text = await textOf(part);
        expect([bytes, sha256]).toEqual([Buffer.byteLength(text), createHash('sha256').update(text).digest('hex')]);
      }
    }
    expect([...(await objectLines(small.body.outputFileLocations))].sort()).toEqual(PEOPLE_LINES);
    expect(sliced.body.outputFileLocations.length).toBeGreaterThan(1);
    const lines = await objectLines(sliced.body.outputFileLocations);
    expect([lines.length, new Set(lines).size]).toEqual([ROWS, ROWS]);
    // Through the service, too, which needs no key of the caller.
    for (const [i, location] of sliced.body.outputFileLocations.entries()) {
      const answer = await fetch(`${service.url}/semi-structured-transformer/runs/${sliced.body.runId}/outputs/${i + 1}`);
      expect([answer.status, await answer.text()]).toEqual([200, await textOf(location)]);
      expect(answer.headers.get('content-disposition')).toBe(`attachment; filename*=UTF-8''${location.replace(/^.*\//, '')}`);
    }
    const names = (await listS3({ kind: 's3', bucket: server.bucket, key: 'out/100%' }, 'out', accessTo(server.endpoint))).map((key) =>
      key.slice('out/100%/'.length),
    );
    const isKnown = (name: string): boolean => /\.(nq|manifest\.json)$/.test(name) && name.startsWith('Semi-Structured-Transformer-');
    expect(names.filter((name) => !isKnown(name))).toEqual([]);
    expect(names.filter((name) => name.includes('-provenance-'))).toHaveLength(2);
    expect(await readdir(join(directory.path, 'data/spill/.unsent'))).toEqual([]);
  });

  test('mappings and the backup of the configuration are written to it', async () => {
    const base = `${service.url}/semi-structured-transformer`;
    const set = (entry: string, value: string) =>
      ask(`${base}/updateConfig?configEntry=${entry}&configValue=${encodeURIComponent(value)}`, { method: 'PUT' });
    const put = (fileName: string, body: string) =>
      ask(`${base}/rml?fileName=${encodeURIComponent(fileName)}`, { method: 'PUT', headers: { 'content-type': 'text/turtle' }, body });
    const get = (fileName: string) => ask(`${base}/rml?fileName=${encodeURIComponent(fileName)}`, {});
    const mapping = peopleMapping('csv', 'people.csv');
    expect((await set('MAPPINGS_DIR_URL', url('new-100%'))).status).toBe(200);
    expect((await get('a.ttl')).status).toBe(404);
    expect((await put('a.ttl', mapping)).status).toBe(200);
    expect((await put('a.ttl', 'no mapping')).status).toBe(400);
    for (const location of ['../a.ttl', '/a.ttl', url('maps/people.ttl'), 'file:///a.ttl'])
      expect((await put(location, mapping)).status).toBe(403);
    expect(await textOf(url('new-100%/a.ttl'))).toBe(mapping);
    for (const location of ['a.ttl', url('new-100%/a.ttl')]) expect((await get(location)).status).toBe(200);
    const ran = await start({ inputFileURL: url('people.csv'), logicalSource: 'people.csv' });
    expect([ran.status, await linesOf(ran.body.outputFileLocations)]).toEqual([200, expect.arrayContaining([...PEOPLE_LINES])]);
    expect((await set('CONFIG_BACKUP', url('backups/'))).status).toBe(200);
    const backup = await ask(`${base}/uploadConfigBackup`, { method: 'PUT' });
    expect([backup.status, backup.body]).toEqual([200, { location: url('backups/configuration.json') }]);
    const changes = await readBackup(url('backups/configuration.json'), accessTo(server.endpoint));
    expect(changes).toMatchObject({ CONFIG_BACKUP: url('backups/') });
    expect(await readBackup(url('backups/none.json'), accessTo(server.endpoint))).toBeUndefined();
  });

  test('the graph writer takes a directory of parts from it, once the job that writes it has ended', async () => {
    const write = (inputFileURL: string) => postJson(`${service.url}/graph-writer/process`, { inputFileURL });
    const at = url('lake/graph/');
    for (const part of ['a', 'b']) await put(`lake/graph/part-${part}.txt`, `<http://e.org/lake> <http://e.org/p> "${part}" .\n`);
    await put('lake/graph/_temporary/0/part-c', 'x');
    const early = await write(at);
    expect([early.status, early.body]).toEqual([400, expect.objectContaining({ code: 'source/malformed', entity: at })]);
    expect(JSON.stringify(early.body)).toContain('The directory has no file _SUCCESS');
    await put('lake/graph/_SUCCESS', '');
    expect(await write(at)).toMatchObject({ status: 200, body: { input: [at], quadsWritten: 2, rejectedRecords: 0 } });
    const query = encodeURIComponent('SELECT ?o { <http://e.org/lake> ?p ?o } ORDER BY ?o');
    const found = await ask(`${service.url}/sparql?query=${query}`);
    expect(JSON.stringify(found.body)).toMatch(/"a".*"b"/s);
    const [noSlash, none] = [await write(url('lake/graph')), await write(url('lake/none/'))];
    expect([noSlash.status, JSON.stringify(noSlash.body)]).toEqual([
      400,
      expect.stringContaining('The address of a directory of objects ends with /'),
    ]);
    expect([none.status, JSON.stringify(none.body)]).toEqual([400, expect.stringContaining('There is no object below')]);
  });

  test('a service keeps a dataset in it, and the state of the dataset on its disk', async () => {
    const set = (value: string) =>
      ask(
        `${service.url}/semi-structured-transformer/updateConfig?${new URLSearchParams({ configEntry: 'DATASETS_DIR_URL', configValue: value })}`,
        {
          method: 'PUT',
        },
      );
    expect((await set(url('sets/50%'))).status).toBe(200);
    await put('maps/kept.ttl', TARGETS);
    const run = async (rows: string): Promise<Answer['body']> => {
      await put('kept.csv', `id,name\n${rows}`);
      const body = { inputFileURL: url('kept.csv'), logicalSource: 'people.csv', mappingURL: url('maps/kept.ttl'), dataset: 'kept' };
      return (await start(body)).body;
    };
    expect(await run('1,Ann\n2,Bob\n')).toMatchObject({
      version: 1,
      added: 2,
      removed: 0,
      targetFileLocations: [expect.any(String), expect.any(String)],
    });
    const second = await run('1,Ann\n3,Cem\n');
    const { body: listed } = await ask(`${service.url}/datasets`);
    expect(listed.datasets).toEqual([expect.objectContaining({ name: 'kept', currentVersion: 2 })]);
    const member = await fetch(`${service.url}/datasets/kept/ldes/2/1`);
    expect([member.status, await member.text()]).toEqual([200, expect.stringContaining('<http://example.com/3> ')]);
    await set('');
    expect(second).toMatchObject({ dataset: 'kept', version: 2, previousVersion: 1, added: 1, removed: 1 });
    const type = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.com/Person> .';
    const places = [...second.outputFileLocations, ...second.targetFileLocations, ...second.removedFileLocations];
    expect(places.every((place) => place.startsWith(`${url('sets/50%')}/kept/versions/000002`))).toBe(true);
    const name = '<http://example.com/3> <http://example.com/name> "Cem" .';
    const texts = [`<http://example.com/3> ${type}`, name, name, `<http://example.com/2> ${type}`];
    for (const [i, text] of texts.entries()) {
      const answer = await fetch(`${service.url}/semi-structured-transformer/runs/${second.runId}/outputs/${i + 1}`);
      expect([answer.status, await answer.text()]).toEqual([200, `${text}\n`]);
    }
    expect(await readdir(join(directory.path, 'data/datasets'))).toEqual(['kept']);
  });

  soakTest.each(OUTPUT_FORMATS)('output as %s, with its targets and files of nodes and edges, is what a disk gets', async (format) => {
    const set = async (entry: string, value: string): Promise<void> => {
      const path = `${service.url}/semi-structured-transformer/updateConfig?${new URLSearchParams({ configEntry: entry, configValue: value })}`;
      expect((await ask(path, { method: 'PUT' })).status).toBe(200);
    };
    const contents = async (directory: string): Promise<readonly (readonly [kind: string, content: string])[]> => {
      await set('OUTPUT_DIR_URL', directory);
      const { status, body } = await start({
        inputFileURL: url('people.csv'),
        logicalSource: 'people.csv',
        mappingURL: url('maps/targets.ttl'),
      });
      expect({ status, body }).toMatchObject({ status: 200 });
      const { outputFileLocations, targetFileLocations, propertyGraphFileLocations } = body;
      const all: readonly string[] = [...outputFileLocations, ...targetFileLocations, ...(propertyGraphFileLocations ?? [])];
      expect(all.every((one) => one.startsWith(directory.startsWith('s3:') ? directory : 'file:'))).toBe(true);
      return Promise.all(all.map(async (one) => [one.replace(/^.*-[rk][0-9a-f]+/, ''), sha256(await bytesOf(one))] as const));
    };
    await put('maps/targets.ttl', TARGETS);
    await set('OUTPUT_FILE_FORMAT', format);
    await set('PROPERTY_GRAPH_MODE', String(format === 'nquads'));
    const onDisk = await contents(join(directory.path, 'output'));
    expect(onDisk).toHaveLength(format === 'nquads' ? 5 : 3);
    expect(await contents(url(`formats/${format}`))).toEqual(onDisk);
    for (const [entry, value] of [
      ['OUTPUT_FILE_FORMAT', 'nquads'],
      ['PROPERTY_GRAPH_MODE', 'false'],
      ['OUTPUT_DIR_URL', join(directory.path, 'output')],
    ] as const)
      await set(entry, value);
  });

  soakTest('custom functions are fetched from it', async () => {
    await put('functions/functions.ttl', described('mark'));
    await put('functions/code.mjs', "export const mark = (text) => text + '!';");
    const base = `${service.url}/semi-structured-transformer`;
    const set = (value: string) =>
      ask(`${base}/updateConfig?configEntry=CUSTOM_FUNCTION_TTL_URL&configValue=${encodeURIComponent(value)}`, { method: 'PUT' });
    expect((await set(url('functions/functions.ttl'))).status).toBe(200);
    expect(await ask(`${base}/updateCustomFunctions`)).toMatchObject({ status: 200, body: { functions: [`${EX}mark`] } });
    await put('functions/sub/100%25.mjs', "export const mark = (text) => text + '?';");
    for (const [key, code] of [
      ['below', '<sub/100%25.mjs>'],
      ['full', `<${url('functions/code.mjs')}>`],
    ] as const) {
      await put(`functions/${key}.ttl`, described('mark').replace('<code.mjs>', code));
      expect((await set(url(`functions/${key}.ttl`))).status).toBe(200);
      expect(await ask(`${base}/updateCustomFunctions`)).toMatchObject({ status: 200 });
    }
    // Who writes the description may not be able to read what this service can.
    for (const [key, code, message] of [
      ['none', undefined, 'none.ttl'],
      ['file', '<file:///etc/hostname>', 'names code elsewhere'],
      ['other', '<s3://other-bucket/code.mjs>', 'names code elsewhere'],
      ['missing', '<missing.mjs>', 'missing.mjs'],
    ] as const) {
      if (code !== undefined) await put(`functions/${key}.ttl`, described('mark').replace('<code.mjs>', code));
      expect((await set(url(`functions/${key}.ttl`))).status).toBe(200);
      expect(await ask(`${base}/updateCustomFunctions`)).toMatchObject({ status: 400, body: { detail: expect.stringContaining(message) } });
    }
    expect((await set('')).status).toBe(200);
    expect(await ask(`${base}/updateCustomFunctions`)).toMatchObject({ status: 200, body: { functions: [] } });
  });

  soakTest('what is missing is said, and no secret; options hold while the service goes on', async () => {
    const none = { inputFileURL: url('none.csv'), logicalSource: 'people.csv', mappingURL: url('maps/people.ttl') };
    const answer = await start(none);
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([400, expect.stringContaining(`There is no object ${url('none.csv')}`)]);
    const set = (value: string) =>
      ask(`${service.url}/semi-structured-transformer/updateConfig?configEntry=AWS_SECRET_KEY&configValue=${value}`, { method: 'PUT' });
    expect((await set('wrong-secret-key')).status).toBe(200);
    const refused = await start({ ...none, inputFileURL: url('people.csv') });
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).toMatch(/AWS_SECRET_KEY/);
    expect(JSON.stringify(refused.body)).not.toMatch(/wrong-secret-key|a-test-secret/);
    expect((await set(S3_KEYS.secret)).status).toBe(200);
  });

  soakTest('DELETE_SOURCE deletes the object of a published run, and not one that may have changed', async () => {
    await put('gone.csv', PEOPLE.csv);
    const access = accessTo(server.endpoint);
    const run = { runId: 'r', inputs: [{ name: undefined, url: url('gone.csv') }], deleteSource: true } as unknown as Parameters<
      typeof deleteSources
    >[0];
    const state = () => probeInput(url('gone.csv'), { reach: undefined, workingDirectory: '/', s3: access });
    const options =
      (more: OptionValues = {}) =>
      async () => ({ ...DEFAULTS, ...readEnvironment(environment()).values, ...more });
    await deleteSources(run, Date.now() - 60_000, '/', quietLogger(), options());
    expect(await state()).toMatchObject({ sizeBytes: PEOPLE.csv.length });
    for (const more of [{ OUTPUT_DIR_URL: url('') }, { MAPPINGS_DIR_URL: url('') }, { CONFIG_BACKUP: url('gone.csv') }])
      await deleteSources(run, Date.now() + 60_000, '/', quietLogger(), options(more));
    expect(await state()).toMatchObject({ sizeBytes: PEOPLE.csv.length });
    await deleteSources(run, Date.now() + 60_000, '/', quietLogger(), options({ OUTPUT_DIR_URL: url('gone') }));
    expect(await state()).toBeUndefined();
    await put('gone.csv/part-0', '');
    const warned: string[] = [];
    const logger = { ...quietLogger(), warn: (_: unknown, message: string) => void warned.push(message) } as ReturnType<typeof quietLogger>;
    const inputs = [url('gone.csv/'), directory.path].map((one) => ({ name: undefined, url: one }));
    await deleteSources({ ...run, inputs } as typeof run, Date.now() + 60_000, '/', logger, options());
    expect(warned).toEqual(Array(2).fill('input not deleted: it is a directory'));
  });

  soakTest('the command reads it, and says when there are no credentials', async () => {
    const command = (env: object) =>
      promisify(execFile)(
        process.execPath,
        [join(PROJECT_ROOT, 'bin/quadmill.js'), 'run', url('maps/people.ttl'), '-i', url('people.csv')],
        {
          env: { PATH: process.env.PATH, HOME: directory.path, AWS_EC2_METADATA_DISABLED: 'true', ...env },
        },
      );
    const { stdout } = await command(environment());
    expect(stdout.trim().split('\n').sort()).toEqual(PEOPLE_LINES);
    const none = { S3_ENDPOINT: server.endpoint, S3_PATH_STYLE: 'true', SOURCE_RETRIES: '0' };
    await expect(command(none)).rejects.toMatchObject({ stderr: expect.stringMatching(/no credentials.*AWS_ACCESS_KEY/s) });
    const away = { ...environment(), S3_ENDPOINT: 'http://127.0.0.1:1', SOURCE_RETRIES: '0' };
    await expect(command(away)).rejects.toMatchObject({ stderr: expect.stringMatching(/connection refused/) });
  });
});
