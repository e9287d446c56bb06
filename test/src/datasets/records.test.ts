/** Random datasets by record; `records.soak.test.ts` has more of them. And those that they seldom meet. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Dataset } from '../../../src/datasets/dataset.ts';
import { openFiles } from '../../../src/datasets/files.ts';
import type { ChangesBy } from '../../../src/datasets/manifest.ts';
import { EQUAL_NAMED } from '../../../src/datasets/records/changes.ts';
import { runDataset } from '../../../src/datasets/run.ts';
import type { RunRequest } from '../../../src/run/request.ts';
import { openLineBorders } from '../../../src/sources/json/cuts.ts';
import { USUAL_S3_ACCESS } from '../../../src/storage/s3-access.ts';
import { writeSqlite } from '../../servers/databases/sqlite.ts';
import { seeds } from '../../support/random.ts';
import { requestOf } from '../run/random/engine.ts';
import { datasetsByRecord } from './records-suite.ts';
import { expectKept, textsOf } from './versions-suite.ts';

datasetsByRecord(seeds(1, 14), 4, false);

const MAPPING = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://e/> .
<http://e/m> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:path "one.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://e/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap [ rml:reference "k" ] ] .
`;

/**
 * Versions of a dataset of `id,k,a`, each record a chunk.
 *
 * @param others files that do not change
 * @param more of the request
 * @param look at the dataset after each version
 */
async function versionsOf(
  texts: readonly string[],
  by?: ChangesBy,
  mapping = MAPPING,
  others: Readonly<Record<string, string>> = {},
  more: (directory: string, text: string) => Partial<RunRequest> = () => ({}),
  look: (dataset: Dataset) => Promise<void> = async () => undefined,
) {
  const place = mkdtempSync(join(tmpdir(), 'quadmill-records-'));
  try {
    writeFileSync(join(place, 'mapping.ttl'), mapping);
    for (const [name, text] of Object.entries(others)) writeFileSync(join(place, name), text);
    const files = openFiles(join(place, 'dataset'), place, USUAL_S3_ACCESS);
    const made = [];
    for (const [step, text] of texts.entries()) {
      writeFileSync(join(place, 'one.csv'), `id,k,a\n${text}`);
      const changes = { mappings: ['mapping.ttl'], workingDirectory: place, ...more(place, text) };
      const request = { ...requestOf(changes, join(place, 'spill')), runId: `run-${step}` };
      const finding = { by, chunks: { least: 1, usual: 0, most: 1 } };
      made.push(await runDataset({ files, stateDirectory: join(place, 'dataset', 'state') }, request, {}, undefined, finding));
      await look(await Dataset.open(files));
    }
    return made.map(({ changesBy, reason, added, removed }) => ({ changesBy, reason, added, removed }));
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

test('a first version notes each record that makes a statement, a known one too', async () => {
  const triples = MAPPING.replace('ex:p ;', 'ex:p, ex:q ;');
  const joined = `${MAPPING.replace(/ \.\n$/, ' ;\n')}  rml:predicateObjectMap [ rml:predicate ex:j ; rml:objectMap [
    rml:parentTriplesMap <http://e/n> ; rml:joinCondition [ rml:child "k" ; rml:parent "k" ] ] ] .
<http://e/n> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:path "two.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://e/n/{k}" ] .
`;
  for (const mapping of [MAPPING, triples, joined])
    expect(
      await versionsOf(['1,x,a\n1,x,b\n2,y,a\n', '1,x,b\n2,y,a\n', '1,x,b\n'], 'record', mapping, { 'two.csv': 'k\nx\nx\ny\n' }),
    ).toEqual([
      expect.objectContaining({ removed: 0 }),
      { changesBy: 'record', reason: undefined, added: 0, removed: 0 },
      { changesBy: 'record', reason: undefined, added: 0, removed: mapping === MAPPING ? 1 : 2 },
    ]);
});

test('records that the reader takes together with a long one are of their chunks', async () => {
  const wide = `1,x,${'wide '.repeat(15_000)}\n`;
  const made = await versionsOf([`${wide}2,y,1\n3,z,1\n2,y,2\n`, `${wide}2,y,1\n3,z,1\n`], 'record');
  expect(made[1]).toEqual({ changesBy: 'record', reason: undefined, added: 0, removed: 0 });
});

test('a version says why it was not made by record', async () => {
  const rows = Array.from({ length: 40 }, (_, i) => `${i},x,1\n`);
  const few = [...rows.slice(0, -1), '40,x,1\n'].join('');
  const many = rows.map((row) => row.replace('x', 'y')).join('');
  const made = await versionsOf([rows.join(''), few, many, few]);
  expect(made).toEqual([
    { changesBy: 'output', reason: 'it is the first version', added: 40, removed: 0 },
    { changesBy: 'record', reason: undefined, added: 1, removed: 1 },
    { changesBy: 'output', reason: 'most records have changed, or are needed to know what stays', added: 40, removed: 40 },
    { changesBy: 'output', reason: 'most records have changed, or are needed to know what stays', added: 40, removed: 40 },
  ]);
});

/** `top` joins `middle`, which joins `one.csv`. @param kind of both joins */
const chainOf = (
  kind: 'innerJoin' | 'leftJoin',
): string => `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://e/> . @base <http://e/m#> .
<#one> rml:viewOn [ rml:source [ a rml:RelativePathSource ; rml:path "one.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:field [ rml:fieldName "id" ; rml:reference "id" ] , [ rml:fieldName "k" ; rml:reference "k" ] .
<#middle> rml:viewOn [ rml:source [ a rml:RelativePathSource ; rml:path "middle.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:field [ rml:fieldName "m" ; rml:reference "m" ] , [ rml:fieldName "id" ; rml:reference "id" ] ;
  rml:${kind} [ rml:parentLogicalView <#one> ; rml:joinCondition [ rml:child "id" ; rml:parent "id" ] ; rml:field [ rml:fieldName "k" ; rml:reference "k" ] ] .
<#top> rml:viewOn [ rml:source [ a rml:RelativePathSource ; rml:path "top.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:field [ rml:fieldName "t" ; rml:reference "t" ] , [ rml:fieldName "m" ; rml:reference "m" ] ;
  rml:${kind} [ rml:parentLogicalView <#middle> ; rml:joinCondition [ rml:child "m" ; rml:parent "m" ] ; rml:field [ rml:fieldName "k" ; rml:reference "k" ] ] .
<#map> rml:logicalSource <#top> ; rml:subjectMap [ rml:template "http://e/{t}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:t ; rml:objectMap [ rml:reference "t" ] ] , [ rml:predicate ex:k ; rml:objectMap [ rml:reference "k" ] ] .
`;

test.each(['innerJoin', 'leftJoin'] as const)('a record is followed through a chain of views with %s', async (kind) => {
  const others = {
    'middle.csv': `m,id\n${[1, 2, 3, 4].map((i) => `m${i},${i}\n`).join('')}`,
    'top.csv': `t,m\n${[1, 2, 3, 4].map((i) => `t${i},m${i}\n`).join('')}`,
  };
  const rows = (...texts: readonly string[]): string => texts.map((text, i) => `${i + 1},${text},a\n`).join('');
  const versions = [rows('a', 'b', 'c'), rows('a', 'B', 'c'), rows('a', 'B', 'c', 'd'), rows('a', 'B')];
  const made = await versionsOf(versions, 'record', chainOf(kind), others);
  const counts = made.map(({ changesBy, added, removed }) => [changesBy, added, removed]);
  // With inner joins, rows of the top without a partner make nothing.
  const of = (outer: number, inner: number): number => (kind === 'leftJoin' ? outer : inner);
  expect(counts).toEqual([
    ['output', of(7, 6), 0],
    ['record', 1, 1],
    ['record', of(1, 2), 0],
    ['record', 0, of(2, 4)],
  ]);
});

const nodesOf = (source: string): string => `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://e/> .
<http://e/m> ${source} ; rml:subjectMap [ rml:termType rml:BlankNode ] ; rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap [ rml:reference "k" ] ] .
`;
const ONE = 'rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:path "one.csv" ] ; rml:referenceFormulation rml:CSV ]';

test('records that have blank nodes and are equal, in what the mapping reads, are found by output', async () => {
  const rows = (...of: readonly string[]): string => of.map((k, i) => `${i},${k},1\n`).join('');
  const versions = [
    rows('a', 'b', 'c', 'd'),
    rows('a', 'b', 'c', 'e'),
    rows('a', 'b', 'c', 'e', 'a'),
    rows('a', 'b', 'c', 'e'),
    rows('a', 'e'),
  ];
  const made = await versionsOf(versions, 'record', nodesOf(ONE));
  const lost = 'there is no state by record of the last version';
  expect(made).toEqual([
    { changesBy: 'output', reason: 'it is the first version', added: 4, removed: 0 },
    { changesBy: 'record', reason: undefined, added: 1, removed: 1 },
    { changesBy: 'output', reason: EQUAL_NAMED, added: 1, removed: 0 },
    { changesBy: 'output', reason: lost, added: 0, removed: 1 },
    { changesBy: 'record', reason: undefined, added: 0, removed: 2 },
  ]);
});

test('a row within a list to which rows append changes the nodes behind it', async () => {
  const list = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://e/> .
<http://e/m> ${ONE} ; rml:subjectMap [ rml:constant ex:s ] ; rml:predicateObjectMap [ rml:predicate ex:list ; rml:objectMap [
  rml:template "http://e/{k}" ; rml:gather ( [ rml:reference "id" ] ) ; rml:gatherAs <http://www.w3.org/1999/02/22-rdf-syntax-ns#List> ] ] .
`;
  const rows = ['1,x,1\n', '2,x,1\n', '3,x,1\n', '4,x,1\n'];
  const made = await versionsOf([rows.join(''), rows.toSpliced(2, 0, '5,x,1\n').join(''), rows.join('')], undefined, list);
  const reason = 'records append to collections, in their order';
  // The members of three nodes, and the end.
  expect(made).toEqual([
    { changesBy: 'output', reason, added: 9, removed: 0 },
    { changesBy: 'output', reason, added: 5, removed: 3 },
    { changesBy: 'output', reason, added: 3, removed: 5 },
  ]);
});

test('equal rows of a table have blank nodes that their key names', async () => {
  const source = 'rml:logicalSource [ a <http://www.w3.org/ns/r2rml#LogicalTable> ; <http://www.w3.org/ns/r2rml#tableName> "t" ]';
  const table = (directory: string, text: string): Partial<RunRequest> => {
    const path = join(directory, 'one.db');
    rmSync(path, { force: true });
    const rows = text.split(' ').map((k, i) => `(${i}, '${k}')`);
    writeSqlite(path, `CREATE TABLE t (id INTEGER PRIMARY KEY, k TEXT); INSERT INTO t VALUES ${rows.join()}`);
    return { database: { jdbcUrl: `jdbc:sqlite:${path}`, user: '' } };
  };
  const made = await versionsOf(['a b a c', 'a b a d', 'a a a d'], 'record', nodesOf(source), {}, table);
  expect(made.map(({ changesBy, added, removed }) => [changesBy, added, removed])).toEqual([
    ['output', 4, 0],
    ['record', 1, 1],
    ['record', 1, 1],
  ]);
});

/** Quotes `<k> ex:p k` as a subject, as that of a join, and as an object. */
const QUOTES = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://e/> . @base <http://e/m#> .
<#one> a rml:NonAssertedTriplesMap ; ${ONE} ; rml:subjectMap [ rml:template "http://e/{k}" ] ; rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap [ rml:reference "k" ] ] .
<#by> ${ONE} ; rml:subjectMap [ rml:quotedTriplesMap <#one> ] ; rml:predicateObjectMap [ rml:predicate ex:by ; rml:objectMap [ rml:reference "a" ] ] .
<#of> ${ONE} ; rml:subjectMap [ rml:quotedTriplesMap <#one> ] ; rml:predicateObjectMap [ rml:predicate ex:of ; rml:objectMap [
  rml:parentTriplesMap <#last> ; rml:joinCondition [ rml:child "a" ; rml:parent "a" ] ] ] .
<#says> ${ONE} ; rml:subjectMap [ rml:template "http://e/s{id}" ] ; rml:predicateObjectMap [ rml:predicate ex:says ; rml:objectMap [ rml:quotedTriplesMap <#one> ] ] .
<#last> ${ONE} ; rml:subjectMap [ rml:template "http://e/t{id}" ] ; rml:predicateObjectMap [ rml:predicate ex:k ; rml:objectMap [ rml:reference "a" ] ] .
`;

test.each([
  ['star', 'objects'],
  ['1.2', 'subjects'],
  ['star', 'joins'],
  ['1.2', 'joins'],
] as const)('a triple that several records quote, in RDF %s, %s', async (rdf, kind) => {
  const without = { objects: /<#by>.*\n|<#of>.*\n.*\n/g, subjects: /<#of>.*\n.*\n/g, joins: /<#(?:by|says)>.*\n/g };
  const versions = ['0,x,1\n1,x,2\n2,y,1\n3,z,3\n', '1,x,2\n2,y,1\n3,z,3\n', '1,y,2\n2,y,1\n3,z,3\n4,x,3\n', '1,y,2\n2,y,1\n3,z,4\n'];
  const graphs: (readonly string[])[][] = [];
  const made = [];
  for (const by of ['output', 'record'] as const) {
    const own: (readonly string[])[] = [];
    graphs.push(own);
    const look = async (dataset: Dataset): Promise<void> => {
      const folding = { directory: join(tmpdir(), `quadmill-records-${process.pid}`), memoryBudgetBytes: 2 ** 24 };
      const graph = (await textsOf(dataset.graph(dataset.current, undefined, folding))).split('\n').slice(0, -1);
      const kept = (await textsOf(dataset.lines(dataset.current, 'kept', undefined))).split('\n').slice(0, -1);
      expectKept(own.at(-1) ?? [], graph, kept);
      own.push(graph.toSorted());
    };
    made.push(await versionsOf(versions, by, QUOTES.replaceAll(without[kind], ''), {}, () => ({ rdf }), look));
  }
  expect(graphs[1]).toEqual(graphs[0]);
  expect(made[1]?.map(({ changesBy }) => changesBy)).toEqual(['output', 'record', 'record', 'record']);
});

test('a document of a server is read as the server says', async () => {
  let body = '';
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/csv; charset=iso-8859-1').end(Buffer.from(`id,k,a\n${body}`, 'latin1'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/one.csv`;
    const given = (_: string, text: string): Partial<RunRequest> => {
      body = text;
      return { inputs: [{ name: 'one.csv', url }] };
    };
    const rows = Array.from({ length: 20 }, (_, i) => `${i},é${i},1\n`);
    const made = await versionsOf([rows.join(''), [...rows.slice(0, 19), '19,ü,1\n'].join('')], 'record', MAPPING, {}, given);
    expect(made.map(({ changesBy, added, removed }) => [changesBy, added, removed])).toEqual([
      ['output', 20, 0],
      ['record', 1, 1],
    ]);
  } finally {
    server.close();
  }
});

test('a row that breaks the promise of a view with one that stays makes no version', async () => {
  const view = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://e/> . @base <http://e/m#> .
<#one> rml:viewOn [ rml:source [ a rml:RelativePathSource ; rml:path "one.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:field [ rml:fieldName "id" ; rml:reference "id" ] , [ rml:fieldName "k" ; rml:reference "k" ] ;
  rml:structuralAnnotation [ a rml:UniqueAnnotation ; rml:onFields ( "k" ) ] .
<#map> rml:logicalSource <#one> ; rml:subjectMap [ rml:template "http://e/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:k ; rml:objectMap [ rml:reference "k" ] ] .
`;
  const rows = ['0,a,1\n', '1,b,1\n', '2,c,1\n', '3,d,1\n'];
  const made = await versionsOf([rows.join(''), [...rows.slice(1), '4,a,1\n'].join('')], 'record', view);
  expect(made[1]).toEqual({ changesBy: 'record', reason: undefined, added: 1, removed: 1 });
  const broken = versionsOf([rows.join(''), [...rows, '4,a,1\n'].join('')], 'record', view);
  await expect(broken).rejects.toMatchObject({ code: 'record/promise' });
});

test('lines of JSON are records where each is an object', async () => {
  const document = { sizeBytes: 0, read: async () => Buffer.alloc(0), bytes: async function* () {} };
  const options = { format: 'jsonl', name: 'a.jsonl', dialect: 'rml', nulls: [], maxRecordBytes: 1000, encoding: undefined } as const;
  const borders = await openLineBorders(document, [{ iterator: '$[*]', references: ['$.a'], origin: '' }], options);
  const areRecords = (text: string): boolean | undefined => borders?.areRecords?.(Buffer.from(text));
  for (const text of ['', '{"a":1}', '{"a":1}\n{"a":[{}]}\r\n\n \t{} \n']) expect(areRecords(text)).toBe(true);
  for (const text of ['[\n1\n]\n', '1\n', '{"a":\n{}}\n', '{"a":{}\n,"b":{}}', '{"a":[{}\n]}', '{"a":1}x\n'])
    expect(areRecords(text)).toBe(false);
});
