/** Previews of mappings by the built service: statements with what makes them, diagnostics, and the records of a statement. */
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { StudioPreview, StudioRecords, StudioStatement } from '../../../client/types.ts';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { JOIN_MAPPING, PEOPLE, PEOPLE_LINES, peopleMapping } from '../../support/service/inputs.ts';
import { type Answer, postJson, type ServiceProcess, startService } from '../../support/service/process.ts';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: ServiceProcess;
const at = (name: string): string => join(directory.path, name);
const urlOf = (name: string): string => pathToFileURL(at(name)).href;

beforeAll(async () => {
  directory = await temporaryDirectory();
  for (const format of ['csv', 'json', 'xml'] as const) await writeFile(at(`people.${format}`), PEOPLE[format]);
  await writeFile(at('towned.csv'), 'id,name,town\n1,Ann,BS\n2,Bob,ZZ\n3,Cid,BS\n');
  await writeFile(at('towns.csv'), 'code,name\nBS,Basel\nZH,Zurich\n');
  service = await startService({ cwd: directory.path, env: { DATA_DIR: at('data'), MAX_BODY_BYTES: '200000' } });
});
afterAll(async () => {
  await service?.stop();
  await directory.remove();
});

const ask = (question: object, route = 'previews'): Promise<Answer> => postJson(`${service.url}/studio/${route}`, question);
const previewOf = async (question: object): Promise<StudioPreview> => {
  const { status, body } = await ask(question);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body as unknown as StudioPreview;
};
const TEXT = peopleMapping('csv', 'people.csv');
const INPUTS = [{ name: 'people.csv', url: '' }];
const inputs = () => INPUTS.map(({ name }) => ({ name, url: urlOf(name) }));

test.each(['csv', 'json', 'xml'] as const)('the statements of %s are those of a run, each with its record', async (format) => {
  const name = `people.${format}`;
  const preview = await previewOf({ name: 'people.ttl', text: peopleMapping(format, name), inputs: [{ name, url: urlOf(name) }] });
  expect(preview.statements.map(({ text }) => text)).toEqual(PEOPLE_LINES);
  expect(preview.statements.map(({ by }) => by)).toEqual([
    [{ map: 0, input: urlOf(name), record: 0 }],
    [{ map: 0, input: urlOf(name), record: 1 }],
  ]);
  expect(preview).toMatchObject({ records: 2, cut: [], more: false, rejected: [], warnings: [], diagnostics: [] });
  const line =
    peopleMapping(format, name)
      .split('\n')
      .findIndex((one) => one.startsWith('ex:People')) + 1;
  expect(preview.triplesMaps).toEqual([
    expect.objectContaining({ id: 'http://example.com/People', line, records: 2, statements: 2, rejected: 0, without: [] }),
  ]);
});

test('a statement that several records make is there once, with them', async () => {
  await writeFile(at('people.csv'), 'id,name\n1,Ann\n1,Ann\n2,\n');
  const { statements, triplesMaps } = await previewOf({ name: 'people.ttl', text: TEXT, inputs: inputs() });
  expect(statements[0]).toMatchObject({ text: PEOPLE_LINES[0], by: [{ record: 0 }, { record: 1 }] });
  expect(triplesMaps[0]).toMatchObject({ records: 3 });
  await writeFile(at('people.csv'), PEOPLE.csv);
});

test('rows of a view are of their record: it is reported once, and so is each statement', async () => {
  await writeFile(at('orders.json'), '[{"id":1,"lines":[{"sku":"A","qty":2},{"sku":"B","qty":3}]},{"id":2}]');
  const text = `@prefix rml: <http://w3id.org/rml/> .
<#Order> rml:logicalSource [ a rml:LogicalView ;
    rml:viewOn [ rml:source [ a rml:RelativePathSource ; rml:path "orders.json" ] ; rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]" ] ;
    rml:field [ rml:fieldName "id" ; rml:reference "$.id" ] , [ rml:fieldName "lines" ; rml:iterator "$.lines[*]" ;
      rml:field [ rml:fieldName "sku" ; rml:reference "$.sku" ] , [ rml:fieldName "qty" ; rml:reference "$.qty" ] ] ] ;
  rml:subjectMap [ rml:template "http://e/{id}" ; rml:class <http://e/Order> ] ;
  rml:predicateObjectMap [ rml:predicate <http://e/line> ; rml:objectMap [ rml:template "{lines.sku} x {lines.qty}" ; rml:termType rml:Literal ] ] .`;
  const question = { name: 'view.ttl', text, inputs: [{ name: 'orders.json', url: urlOf('orders.json') }] };
  const { statements, triplesMaps } = await previewOf(question);
  expect(statements.map(({ text: line, by }) => [line.replace(/^\S+ \S+ (.*) \.$/, '$1'), by.map(({ record }) => record)]).sort()).toEqual([
    ['"A x 2"', [0]],
    ['"B x 3"', [0]],
    ['<http://e/Order>', [0]],
    ['<http://e/Order>', [1]],
  ]);
  expect(triplesMaps).toMatchObject([{ records: 2, without: [] }]);
  const { body } = await ask({ ...question, triplesMap: triplesMaps[0]?.id }, 'records');
  expect((body as unknown as StudioRecords).rows.map(({ statements: count }) => count)).toEqual([3, 3, 1]);
});

test('only the first records are mapped, and the answer says of which input', async () => {
  await writeFile(at('long.csv'), `id,name\n${Array.from({ length: 500 }, (_, i) => `${i},n${i}`).join('\n')}\n`);
  const text = peopleMapping('csv', 'long.csv');
  const preview = await previewOf({ name: 'people.ttl', text, inputs: [{ name: 'long.csv', url: urlOf('long.csv') }], records: 20 });
  expect([preview.records, preview.statements.length, preview.cut]).toEqual([20, 20, [urlOf('long.csv')]]);
});

test('joins look for the partners of the first records', async () => {
  const bound = [
    { name: 'people.csv', url: urlOf('towned.csv') },
    { name: 'towns.csv', url: urlOf('towns.csv') },
  ];
  const preview = await previewOf({ name: 'j.ttl', text: JOIN_MAPPING, inputs: bound, records: 10 });
  expect(preview.statements.map(({ text }) => text).sort()).toEqual([
    '<http://example.com/person/1> <http://example.com/livesIn> <http://example.com/town/Basel> .',
    '<http://example.com/person/3> <http://example.com/livesIn> <http://example.com/town/Basel> .',
  ]);
  const { status, body } = await ask(
    { name: 'j.ttl', text: JOIN_MAPPING, inputs: bound, statement: preview.statements[0]?.text },
    'statements',
  );
  expect(status).toBe(200);
  const found = body as unknown as StudioStatement;
  expect(found).toMatchObject({ count: 1, partial: false });
  expect(found.rows[0]?.record).toMatchObject({
    triplesMap: 'http://example.com/People',
    places: [{ input: urlOf('towned.csv'), record: 0 }],
  });
  expect(found.rows[0]?.parent).toMatchObject({ triplesMap: 'http://example.com/Towns', places: [{ record: 0 }] });
  expect(found.rows[0]?.record.values).toEqual(expect.arrayContaining([{ name: 'town', values: ['BS'] }]));
});

test('a mapping with errors gives diagnostics with their places', async () => {
  const text = TEXT.replace('rml:reference "name"', 'rml:referense "name"');
  const preview = await previewOf({ name: 'people.ttl', text, inputs: inputs() });
  expect(preview.statements).toEqual([]);
  const line = text.split('\n').findIndex((one) => one.includes('referense')) + 1;
  expect(preview.diagnostics).toEqual(expect.arrayContaining([expect.objectContaining({ line, message: expect.any(String) })]));
  const half = await previewOf({ name: 'people.ttl', text: TEXT.slice(0, 200), inputs: inputs() });
  expect(half.diagnostics).toMatchObject([{ severity: 'error', code: 'syntax' }]);
});

test('triples maps with errors are left out, with those that refer to them; the others are previewed', async () => {
  const towns = JOIN_MAPPING.replace('ex:livesIn', 'ex:livesIn ; rml:predicat ex:x');
  const bound = [
    { name: 'people.csv', url: urlOf('towned.csv') },
    { name: 'towns.csv', url: urlOf('towns.csv') },
  ];
  const named = `${towns}\nex:Names a rml:TriplesMap ; rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:path "towns.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://example.com/town/{code}" ] ; rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] .`;
  const preview = await previewOf({ name: 'j.ttl', text: named, inputs: bound });
  expect(preview.diagnostics.filter(({ severity }) => severity === 'error')).toHaveLength(1);
  expect(preview.statements.map(({ text }) => text).sort()).toEqual([
    '<http://example.com/town/BS> <http://example.com/name> "Basel" .',
    '<http://example.com/town/ZH> <http://example.com/name> "Zurich" .',
  ]);
  const statement = preview.statements[0]?.text;
  const { body } = await ask({ name: 'j.ttl', text: named, inputs: bound, statement }, 'statements');
  expect(body).toMatchObject({ count: 1 });
});

test('what goes wrong with the data is reported beside what went well', async () => {
  const missing = await previewOf({ name: 'people.ttl', text: TEXT, inputs: [{ name: 'people.csv', url: urlOf('nothing.csv') }] });
  expect(missing.fault).toMatchObject({ code: 'source/missing', message: expect.stringContaining('nothing.csv') });
  const column = TEXT.replace('rml:reference "name"', 'rml:reference "surname"');
  const wrong = await previewOf({ name: 'people.ttl', text: column, inputs: inputs() });
  expect(JSON.stringify(wrong)).toMatch(/surname/);
});

test('YARRRML by the extension of its name', async () => {
  const text = `prefixes:\n  ex: http://example.com/\nmappings:\n  people:\n    sources:\n      - ['people.csv~csv']\n    s: ex:$(id)\n    po:\n      - [ex:name, $(name)]\n`;
  const { statements, diagnostics } = await previewOf({ name: 'people.yml', text, inputs: inputs() });
  expect([statements.map((one) => one.text), diagnostics]).toEqual([PEOPLE_LINES, []]);
});

test('sources that are not bound are those of a run', async () => {
  const preview = await previewOf({ name: 'people.ttl', text: peopleMapping('csv', 'beside.csv') });
  expect(preview.fault).toMatchObject({
    message: expect.stringContaining(at('beside.csv')),
  });
});

test.each<[string, object, RegExp]>([
  ['a password', { name: 'a.ttl', text: '[] d2rq:password "hidden" .' }, /JDBC_URL/],
  ['a password in a JDBC URL', { name: 'a.ttl', text: '[] d2rq:jdbcDSN "jdbc:mysql://h/db?user=u&password=hidden" .' }, /JDBC_URL/],
  ['a password of YARRRML', { name: 'a.yml', text: 'sources:\n  a:\n    credentials:\n      password: hidden\n' }, /JDBC_URL/],
  ['a login in a URL', { name: 'a.ttl', text: '[] rml:root "https://u:hidden@h/orders.json" .' }, /JDBC_URL/],
  ['a login of an input', { name: 'a.ttl', text: '', inputs: [{ name: 'a', url: 'https://u:hidden@h/a.csv' }] }, /JDBC_URL/],
  ['a name that is a path', { name: '../a.ttl', text: '' }, /name/],
  ['a language by its name', { name: 'a.txt', text: '' }, /name/],
  ['too many records', { name: 'a.ttl', text: '', records: 5_000 }, /records/],
])('%s is refused', async (_, question, says) => {
  const { status, body } = await ask(question);
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringMatching(says)]);
  expect(JSON.stringify(body)).not.toContain('hidden');
});

test('what is no statement is refused', async () => {
  const { status, body } = await ask({ name: 'people.ttl', text: TEXT, inputs: inputs(), statement: 'no statement' }, 'statements');
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringMatching(/statement/)]);
});

test('the records of a triples map, with what is missing and what was rejected', async () => {
  await writeFile(at('holes.json'), '{"people":[{"id":"1","name":"Ann"},{"name":"Bob"},{"id":"3","name":null}]}');
  const bound = [{ name: 'people.json', url: urlOf('holes.json') }];
  const question = {
    name: 'people.ttl',
    text: peopleMapping('json', 'people.json'),
    inputs: bound,
    triplesMap: 'http://example.com/People',
  };
  const { status, body } = await ask(question, 'records');
  expect(status).toBe(200);
  const { rows, more } = body as unknown as StudioRecords;
  expect(more).toBe(false);
  expect(rows.map(({ record: { places, values }, statements }) => [places, values, statements])).toEqual(
    [
      [['1'], ['Ann'], 1],
      [[], ['Bob'], 0],
      [['3'], [], 0],
    ].map(([id, name, statements], record) => [
      [{ input: urlOf('holes.json'), record, items: [] }],
      [
        { name: 'id', values: id },
        { name: 'name', values: name },
      ],
      statements,
    ]),
  );
  const dated = TEXT.replace('rml:reference "name"', 'rml:reference "name" ; rml:termType rml:IRI');
  await writeFile(at('spaced.csv'), 'id,name\n1,http://e/a\n2,http://e/<\n');
  const rejected = await ask({ ...question, text: dated, inputs: [{ name: 'people.csv', url: urlOf('spaced.csv') }] }, 'records');
  expect((rejected.body as unknown as StudioRecords).rows).toMatchObject([
    { statements: 1 },
    { statements: 0, fault: { code: 'record/term', message: expect.stringContaining('An IRI may not hold') } },
  ]);
  const unknown = await ask({ ...question, triplesMap: 'http://example.com/Peple' }, 'records');
  expect([unknown.status, JSON.stringify(unknown.body)]).toEqual([400, expect.stringContaining('Did you mean http://example.com/People?')]);
});

test('the keys of a join are among the values of a record', async () => {
  const bound = [
    { name: 'people.csv', url: urlOf('towned.csv') },
    { name: 'towns.csv', url: urlOf('towns.csv') },
  ];
  const { body } = await ask({ name: 'j.ttl', text: JOIN_MAPPING, inputs: bound, triplesMap: 'http://example.com/People' }, 'records');
  const { rows } = body as unknown as StudioRecords;
  expect(rows.map(({ record }) => record.values.find(({ name }) => name === 'town')?.values)).toEqual([['BS'], ['ZZ'], ['BS']]);
});

test('how many of the first records find a partner by a join, and keys of those that do not', async () => {
  const bound = [
    { name: 'people.csv', url: urlOf('towned.csv') },
    { name: 'towns.csv', url: urlOf('towns.csv') },
  ];
  const question = {
    name: 'j.ttl',
    text: JOIN_MAPPING,
    inputs: bound,
    child: 'http://example.com/People',
    parent: 'http://example.com/Towns',
  };
  const share = { children: 3, asked: 3, found: 2, parents: 2, complete: true, without: [[['ZZ']]], examples: [[['BS']], [['ZH']]] };
  expect(await ask(question, 'joins')).toMatchObject({ status: 200, body: { joins: [share] } });
  const predicate = 'http://example.com/livesIn';
  expect(await ask({ ...question, predicate }, 'joins')).toMatchObject({ status: 200, body: { joins: [share] } });
  expect(await ask({ ...question, predicate: 'http://example.com/other' }, 'joins')).toMatchObject({ status: 200, body: { joins: [] } });
  expect(await ask({ ...question, parent: 'http://example.com/People' }, 'joins')).toMatchObject({ status: 200, body: { joins: [] } });
  const missing = await ask({ ...question, inputs: [{ name: 'people.csv', url: urlOf('nothing.csv') }] }, 'joins');
  expect([missing.status, JSON.stringify(missing.body)]).toEqual([400, expect.stringContaining('nothing.csv')]);
});

test('partners far behind in the parent are found, and it is said where it was not read to its end', async () => {
  await writeFile(at('many-towns.csv'), `code,name\n${Array.from({ length: 12_000 }, (_, i) => `T${i},n${i}`).join('\n')}\n`);
  await writeFile(at('far.csv'), 'id,name,town\n1,Ann,T9999\n2,Bob,T10001\n');
  const bound = [
    { name: 'people.csv', url: urlOf('far.csv') },
    { name: 'towns.csv', url: urlOf('many-towns.csv') },
  ];
  const question = {
    name: 'j.ttl',
    text: JOIN_MAPPING,
    inputs: bound,
    child: 'http://example.com/People',
    parent: 'http://example.com/Towns',
  };
  expect(await ask(question, 'joins')).toMatchObject({
    status: 200,
    body: { joins: [{ children: 2, asked: 2, found: 1, parents: 10_000, complete: false, without: [[['T10001']]] }] },
  });
});

test('joins of inputs that are slow are looked at as far as there is time, and it is said how far', async () => {
  // Neither ends, and the towns do not even begin.
  const rows = `id,name,town\n${Array.from({ length: 20_000 }, (_, i) => `${i},Ann,BS\n`).join('')}`;
  const slow = createServer(({ url }, response) => void (url === '/people.csv' && response.write(rows)));
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  try {
    const address = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
    const inputs = ['people.csv', 'towns.csv'].map((name) => ({ name, url: `${address}/${name}` }));
    const [child, parent] = ['http://example.com/People', 'http://example.com/Towns'];
    // Of the child as many as are wanted, which is no reason to wait for more.
    expect(await ask({ name: 'j.ttl', text: JOIN_MAPPING, inputs, child, parent, records: 10 }, 'joins')).toMatchObject({
      status: 200,
      body: { joins: [{ children: 10, cut: false, asked: 10, found: 0, parents: 0, complete: false, examples: [] }] },
    });
    const turned = JOIN_MAPPING.replaceAll('people.csv', 'x.csv').replaceAll('towns.csv', 'people.csv').replaceAll('x.csv', 'towns.csv');
    expect(
      await ask({ name: 'j.ttl', text: turned.replace('rml:parent "code"', 'rml:parent "town"'), inputs, child, parent }, 'joins'),
    ).toMatchObject({
      status: 200,
      body: { joins: [{ children: 0, cut: true, asked: 0, found: 0, complete: false, examples: [[['BS']], [['BS']], [['BS']]] }] },
    });
  } finally {
    slow.closeAllConnections();
    slow.close();
  }
}, 60_000);

test('of inputs that are slow is mapped what comes in time, the others are mapped as ever, and fewer records come sooner', async () => {
  await writeFile(at('people.csv'), PEOPLE.csv);
  // Three give twenty records, and then nothing; one does not even begin.
  const name = `Ann${' Lee'.repeat(1_000)}`;
  const each = (text: (id: number) => string): string => Array.from({ length: 20 }, (_, i) => text(i + 1)).join('');
  const begun: Readonly<Record<string, string>> = {
    '/slow.csv': `id,name\n${each((id) => `${id},${name}\n`)}`,
    '/slow.json': `{"people":[${each((id) => `{"id":${id},"name":"${name}"},`)}`,
    '/slow.xml': `<people>${each((id) => `<person><id>${id}</id><name>${name}</name></person>`)}`,
  };
  const slow = createServer(({ url = '' }, response) => void (begun[url] !== undefined && response.write(begun[url])));
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  try {
    const address = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
    const sources = [...Object.keys(begun).map((path) => path.slice(1)), 'never.csv', 'people.csv'];
    const maps = sources.map((source, i) =>
      peopleMapping(source.replace(/.*\./, '') as 'csv', source)
        .replaceAll('ex:People', `ex:People${i}`)
        .replace('example.com/{id}', `example.com/${i}/{id}`),
    );
    const given = sources.map((source) => ({ name: source, url: source === 'people.csv' ? urlOf(source) : `${address}/${source}` }));
    const text = maps.map((map, i) => (i === 0 ? map : map.replace(/@prefix.*\n/g, ''))).join('');
    const preview = await previewOf({ name: 's.ttl', text, inputs: given });
    expect(preview.late.toSorted()).toEqual(['never.csv', 'slow.csv', 'slow.json', 'slow.xml'].map((source) => `${address}/${source}`));
    expect(preview.fault).toBeUndefined();
    expect(preview.triplesMaps.map(({ name: map, records, statements }) => [map, records, statements])).toEqual([
      ['People0', 20, 20],
      ['People1', 20, 20],
      ['People2', 20, 20],
      ['People4', 2, 2],
    ]);
    const fewer = await previewOf({ name: 's.ttl', text: maps[1], inputs: given, records: 10 });
    expect([fewer.late, fewer.statements.length]).toEqual([[], 10]);
  } finally {
    slow.closeAllConnections();
    slow.close();
  }
}, 60_000);
