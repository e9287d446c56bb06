/** What makes a statement of a dataset: rules and records by the built service, for statements that were added and for those that have gone. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { QuadmillClient } from '../../../client/client.ts';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { type ServiceProcess, startService } from '../../support/service/process.ts';

const MAPPING = `@prefix rml: <http://w3id.org/rml/> .
@prefix ex: <http://example.com/> .
ex:Person rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://example.com/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:town ; rml:objectMap [ rml:parentTriplesMap ex:Town ;
    rml:joinCondition [ rml:child "town" ; rml:parent "code" ] ] ] .
ex:Row rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:termType rml:BlankNode ] ;
  rml:predicateObjectMap [ rml:predicate ex:of ; rml:objectMap [ rml:template "http://example.com/{id}" ] ] .
ex:Town rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:path "towns.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://example.com/town/{code}" ] .
`;

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: ServiceProcess;
let client: QuadmillClient;
const at = (name: string): string => join(directory.path, name);

async function makeVersion(people: readonly string[]): Promise<void> {
  await writeFile(at('people.csv'), `id,name,town\n${people.join('\n')}\n`);
  const inputs = ['people.csv', 'towns.csv'];
  const request = { inputFileURL: inputs.map(at), logicalSource: inputs, mappingURL: at('mapping.ttl'), dataset: 'people' };
  await client.semiStructuredTransformer.run(request, { longestPauseMs: 200 });
}

beforeAll(async () => {
  directory = await temporaryDirectory();
  await writeFile(at('mapping.ttl'), MAPPING);
  await writeFile(at('towns.csv'), 'code\nBS\nZH\n');
  service = await startService({ cwd: directory.path, env: { DATA_DIR: at('data') } });
  client = new QuadmillClient(service.url);
  // More records than a preview reads.
  const many = Array.from({ length: 2_000 }, (_, i) => `${i},name ${i},BS`);
  await makeVersion(many);
  await makeVersion(many.map((row, i) => (i === 1_500 ? '1500,Ann,ZH' : row)));
}, 90_000);
afterAll(async () => {
  await service?.stop();
  await directory.remove();
});

const changed = async (which: 'added' | 'removed', predicate: string): Promise<string> => {
  const { statements } = await client.datasets.changesPage('people', 2, { which, blankNodes: 'keep' });
  return statements.find((line) => line.includes(` <http://example.com/${predicate}> `)) as string;
};

test('an added statement has its rule and its record, wherever that stands in the input', async () => {
  const statement = await changed('added', 'name');
  expect(statement).toBe('<http://example.com/1500> <http://example.com/name> "Ann" .');
  const { rules, rows, ...rest } = await client.datasets.findStatement('people', { statement });
  expect(rest).toEqual({ count: 1, partial: false, late: [] });
  expect(rules).toEqual([
    expect.objectContaining({
      triplesMap: 'http://example.com/Person',
      document: expect.stringContaining('mapping.ttl'),
      line: 5,
      parts: [
        expect.objectContaining({ part: 'subject', values: [{ name: 'id', value: '1500' }] }),
        expect.objectContaining({ part: 'predicate' }),
        expect.objectContaining({ part: 'object', values: [{ name: 'name', value: 'Ann' }] }),
      ],
    }),
  ]);
  expect(rows).toEqual([
    {
      record: expect.objectContaining({
        places: [expect.objectContaining({ input: expect.stringContaining('people.csv'), record: 1500 })],
        values: expect.arrayContaining([{ name: 'name', values: ['Ann'] }]),
      }),
    },
  ]);
});

test('a removed statement has the rules that could make it, with the values that they would need, and no record', async () => {
  const statement = await changed('removed', 'name');
  const { rules, rows, count } = await client.datasets.findStatement('people', { statement, version: 2 });
  expect([rows, count]).toEqual([[], 0]);
  expect(rules.map(({ name, parts }) => [name, parts.flatMap(({ values }) => values)])).toEqual([
    [
      expect.stringContaining('Person'),
      [
        { name: 'id', value: '1500' },
        { name: 'name', value: 'name 1500' },
      ],
    ],
  ]);
});

test('a join has both of its records', async () => {
  const { rows } = await client.datasets.findStatement('people', { statement: await changed('added', 'town') });
  expect(rows).toMatchObject([{ record: { places: [{ record: 1500 }] }, parent: { places: [{ record: 1 }] } }]);
});

test('the blank node of a row has its rule, and does not tell its record', async () => {
  const statement = await changed('added', 'of');
  expect(statement).toMatch(/^_:q/);
  expect(await client.datasets.findStatement('people', { statement })).toMatchObject({
    partial: true,
    rules: [{ triplesMap: 'http://example.com/Row' }],
    rows: [],
  });
});

test('a statement that no rule can make has none, and a text that is none is a problem', async () => {
  const statement = '<http://example.com/1> <http://example.com/none> "1" .';
  expect(await client.datasets.findStatement('people', { statement })).toEqual({ rules: [], rows: [], count: 0, partial: false, late: [] });
  await expect(client.datasets.findStatement('people', { statement: 'a b c' })).rejects.toMatchObject({ status: 400 });
});

test('an input that is gone is named', async () => {
  const statement = await changed('added', 'name');
  await writeFile(at('mapping.ttl'), MAPPING.replaceAll('people.csv', 'gone.csv'));
  await expect(client.datasets.findStatement('people', { statement })).rejects.toThrow(/gone\.csv/);
  await writeFile(at('mapping.ttl'), MAPPING);
});

test('what the service may not read, a dataset does not open', async () => {
  const statement = await changed('added', 'name');
  await service.stop();
  service = await startService({ cwd: directory.path, env: { DATA_DIR: at('data'), ALLOWED_DIRECTORIES: at('elsewhere') } });
  client = new QuadmillClient(service.url);
  await expect(client.datasets.findStatement('people', { statement })).rejects.toMatchObject({ status: 403 });
});
