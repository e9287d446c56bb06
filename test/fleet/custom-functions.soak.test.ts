/** Custom functions in a fleet: processes with separate disks, a switch in the middle of a run that is sliced. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { missingRedis } from '../servers/queues/redis.ts';
import { described, EX } from '../src/custom-functions/support.ts';
import { closeAfterEach } from '../support/closing.ts';
import { startRedis } from '../support/queues/backends.ts';
import { type Answer, ask, poll, postJson, type ServiceProcess, startService } from '../support/service/process.ts';

const ROWS = 1_200;
const MAPPING = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <${EX}> .
<#People> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://example.org/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:is ; rml:objectMap [ rml:functionExecution [
    rml:function ex:mark ; rml:input [ rml:parameter ex:text ; rml:inputValueMap [ rml:reference "name" ] ] ] ] ] .`;
/** About a millisecond a call, so that the run goes on while the fleet is switched. */
const code = (mark: string): string => `export const mark = (text) => { for (let i = 0; i < 20000; i++); return text + '${mark}'; };`;

const why = missingRedis === undefined ? '' : ` (skipped: ${missingRedis})`;
const { closes, directory } = closeAfterEach();

(missingRedis === undefined ? describe : describe.skip)(`custom functions of a fleet${why}`, () => {
  test('all slices of a run have the version that it began with, on every worker; the next run has the new one', async () => {
    const cwd = await directory();
    const at = (name: string): string => join(cwd, name);
    const redis = await startRedis();
    closes(() => redis.stop());
    await Promise.all([
      writeFile(at('mapping.ttl'), MAPPING),
      writeFile(at('people.csv'), `id,name\n${Array.from({ length: ROWS }, (_, i) => `${i},Name\n`).join('')}`),
      writeFile(at('functions.ttl'), described('mark')),
      writeFile(at('code.mjs'), code('!')),
    ]);
    const start = async (role: string, name: string): Promise<ServiceProcess> => {
      const env = {
        QUEUE_URL: redis.url,
        SERVICE: 'semi-structured-transformer',
        DATA_DIR: at(name),
        TRANSFORMED_DATA_URL: at('output'),
        CUSTOM_FUNCTION_TTL_URL: at('functions.ttl'),
        SLICE_BYTES: '1000',
        WORKER_CONCURRENCY: '1',
      };
      const one = await startService({ cwd, args: ['--role', role], env });
      closes(async () => {
        one.kill('SIGKILL');
        await one.exited;
      });
      return one;
    };
    const [api, ...workers] = (await Promise.all([start('api', 'a'), start('worker', 'b'), start('worker', 'c')])) as [
      ServiceProcess,
      ...ServiceProcess[],
    ];
    const deploy = async (): Promise<unknown> => {
      const { status, body } = await ask(`${api.url}/updateCustomFunctions`);
      expect({ status, body }).toMatchObject({ status: 200 });
      return body.version;
    };
    const request = { inputFileURL: at('people.csv'), logicalSource: 'people.csv', mappingURL: at('mapping.ttl') };
    /** The marks at the end of all values, each once. */
    const marks = async ({ outputFileLocations, records }: Answer['body']): Promise<readonly string[]> => {
      expect(records).toBe(ROWS);
      const texts = await Promise.all((outputFileLocations as string[]).map((url) => readFile(fileURLToPath(url), 'utf8')));
      const values = texts.flatMap((text) => [...text.matchAll(/"Name(.)"/g)].map(([, mark]) => mark as string));
      expect(values).toHaveLength(ROWS);
      return [...new Set(values)];
    };
    const slicesOf = (worker: ServiceProcess): number => worker.log.filter(({ msg }) => msg === 'slice started').length;

    const first = await deploy();
    const { body: run } = await postJson(`${api.url}/process`, request, { prefer: 'respond-async' });
    await Promise.race(workers.map((worker) => worker.waitForLog('slice started')));
    await writeFile(at('code.mjs'), code('?'));
    const second = await deploy();
    expect(second).not.toBe(first);
    expect((await ask(`${api.url}/runs/${run.id}`)).body).toMatchObject({ state: 'running' });
    const before = workers.map(slicesOf);
    const done = await poll(`${api.url}/runs/${run.id}`, ({ body: { state } }) => state !== 'queued' && state !== 'running', 60_000);
    expect(await marks(done.body.outcome.report)).toEqual(['!']);
    // Both workers have mapped slices, and some after the switch.
    const after = workers.map(slicesOf);
    expect(Math.min(...after)).toBeGreaterThan(0);
    expect(after[0] as number).toBeGreaterThan(before[0] as number);
    const next = await postJson(`${api.url}/process`, request);
    expect(await marks(next.body)).toEqual(['?']);
  }, 120_000);
});
