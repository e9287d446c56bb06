/** A real service cuts a run with a join: each slice reads the side that is small, and no statement is written twice. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { missingRedis } from '../../servers/queues/redis.ts';
import { startRedis, temporaryDirectory, uniquePrefix } from '../../support/queues/backends.ts';
import { postJson, type ServiceProcess, startService } from '../../support/service/process.ts';

const source = (path: string): string =>
  `rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:path "${path}" ] ; rml:referenceFormulation rml:CSV ]`;
const statement = (predicate: string, object: string): string =>
  `rml:predicateObjectMap [ rml:predicate ex:${predicate} ; rml:objectMap [ ${object} ] ]`;
const PARENT = 'rml:parentTriplesMap ex:Departments ; rml:joinCondition [ rml:child "dept" ; rml:parent "key" ]';
/** Departments are said to be such by their own map, and by the one of their people. */
const MAPPING = `@prefix rml: <http://w3id.org/rml/> .
@prefix ex: <http://example.com/> .
ex:People ${source('people.csv')} ; rml:subjectMap [ rml:template "http://example.com/p/{id}" ] ; ${statement('name', 'rml:reference "name"')} ; ${statement('in', PARENT)} .
ex:Of ${source('people.csv')} ; rml:subjectMap [ rml:template "http://example.com/d/{dept}" ] ; ${statement('is', 'rml:constant "department"')} .
ex:Departments ${source('departments.csv')} ; rml:subjectMap [ rml:template "http://example.com/d/{key}" ] ; ${statement('is', 'rml:constant "department"')} .
`;
const DEPARTMENTS = 12;
const PEOPLE = 400;
const inDepartment = (i: number): number => (i * 7) % 15;

/** Every person stands in the file twice, far from each other. */
const people = `id,name,dept\n${Array.from({ length: 2 * PEOPLE }, (_, i) => `${i % PEOPLE},n${i % PEOPLE},${inDepartment(i % PEOPLE)}\n`).join('')}`;
const departments = `key\n${Array.from({ length: DEPARTMENTS }, (_, i) => `${i}\n`).join('')}`;

const EXPECTED = new Set(
  Array.from({ length: PEOPLE }, (_, i) => {
    const [person, department] = [`<http://example.com/p/${i}>`, `<http://example.com/d/${inDepartment(i)}>`];
    return [
      `${person} <http://example.com/name> "n${i}" .`,
      `${department} <http://example.com/is> "department" .`,
      ...(inDepartment(i) < DEPARTMENTS ? [`${person} <http://example.com/in> ${department} .`] : []),
    ];
  }).flat(),
);

describe(`a service that cuts a run with a join${missingRedis === undefined ? '' : ` (not tested: ${missingRedis})`}`, () => {
  const maybe = missingRedis === undefined ? test : test.skip;
  let directory: { readonly path: string; remove(): Promise<void> };
  let redis: Awaited<ReturnType<typeof startRedis>> | undefined;
  let service: ServiceProcess | undefined;
  const at = (name: string): string => join(directory.path, name);

  beforeAll(async () => {
    directory = await temporaryDirectory();
    if (missingRedis !== undefined) return;
    redis = await startRedis();
    await writeFile(at('people.csv'), people);
    await writeFile(at('departments.csv'), departments);
    await writeFile(at('mapping.ttl'), MAPPING);
    const env = { QUEUE_URL: redis.url, QUEUE_PREFIX: uniquePrefix(), DATA_DIR: at('data'), SLICE_BYTES: '2000' };
    service = await startService({ cwd: directory.path, env: { ...env, SERVICE: 'semi-structured-transformer' } });
  });
  afterAll(async () => {
    await service?.stop();
    await redis?.stop();
    await directory.remove();
  });

  maybe('writes each statement once, and reports the rows without a partner once', async () => {
    const { status, body } = await postJson(`${service?.url}/process`, {
      inputFileURL: at('people.csv'),
      logicalSource: 'people.csv',
      mappingURL: at('mapping.ttl'),
    });
    expect([status, body.warnings]).toEqual([200, []]);
    expect(body.outputFileLocations.length).toBeGreaterThan(3);
    const texts = await Promise.all(body.outputFileLocations.map((url: string) => readFile(fileURLToPath(url), 'utf8')));
    const lines = texts.flatMap((text: string) => text.split('\n').slice(0, -1));
    expect(lines.toSorted()).toEqual([...EXPECTED].sort());
    expect(body.quads).toBe(EXPECTED.size);
    const without = Array.from({ length: 2 * PEOPLE }, (_, i) => i).filter((i) => inDepartment(i % PEOPLE) >= DEPARTMENTS).length;
    expect(body.joins).toEqual([expect.objectContaining({ rows: 2 * PEOPLE, withoutPartner: without })]);
  });
});
