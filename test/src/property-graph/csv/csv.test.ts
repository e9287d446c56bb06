/** Statements as files of nodes and edges, and back: header lines of each product, quotes, lists, types, and what cannot be held. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Fault } from '../../../../src/core/fault.ts';
import { readGraphCsv } from '../../../../src/property-graph/csv/read.ts';
import { type GraphCsvFiles, writeGraphCsv } from '../../../../src/property-graph/csv/write.ts';
import type { EdgeElement, NodeElement } from '../../../../src/property-graph/elements.ts';
import type { PropertyGraphOptions } from '../../../../src/property-graph/names.ts';
import { valuesOf } from '../../../../src/property-graph/values.ts';
import type { GraphHeader } from '../../../../src/sinks/sink.ts';
import { graphOf, inventQuads, plainOf, shownEdges } from './random.ts';

const PLAIN: PropertyGraphOptions = { prefixes: {}, keepLanguage: false };

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-graph-csv-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

interface Written extends GraphCsvFiles {
  readonly nodesText: string;
  readonly edgesText: string;
}

let runs = 0;

async function write(quads: string, header: GraphHeader, propertyGraph = PLAIN, memoryBudgetBytes = 2 ** 24): Promise<Written> {
  const name = `run${runs++}`;
  const input = join(directory, `${name}.nq`);
  writeFileSync(input, quads);
  const spillDirectory = join(directory, `${name}-spill`);
  const { signal } = new AbortController();
  const files = await writeGraphCsv([input], {
    header,
    propertyGraph,
    directory,
    name,
    attempt: 1,
    spillDirectory,
    memoryBudgetBytes,
    signal,
  });
  const text = (file: string): string => readFileSync(join(directory, file), 'utf8');
  return { ...files, nodesText: text(files.nodes.file), edgesText: text(files.edges.file) };
}

async function* bytesOf(text: string, size = 64): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(text: string): Promise<{ nodes: NodeElement[]; edges: EdgeElement[] }> {
  const nodes: NodeElement[] = [];
  const edges: EdgeElement[] = [];
  const reading = { input: 'graph.csv', skolem: undefined, maxRecordBytes: 2 ** 24, signal: new AbortController().signal };
  for await (const block of readGraphCsv(bytesOf(text), reading)) {
    nodes.push(...block.nodes);
    edges.push(...block.edges);
  }
  return { nodes, edges };
}

const XSD = 'http://www.w3.org/2001/XMLSchema#';
const TYPE = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>';

describe('a small graph', () => {
  const QUADS = `<http://e/ann> ${TYPE} <http://e/Person> <http://g/1> .
<http://e/ann> ${TYPE} <http://e/Author> .
<http://e/ann> <http://e/name> "Ann \\"A\\", Lee" .
<http://e/ann> <http://e/age> "42"^^<${XSD}integer> .
<http://e/ann> <http://e/nick> "a;b" .
<http://e/ann> <http://e/nick> "c" .
<http://e/ann> <http://e/knows> <http://e/bob> <http://g/1> .
<http://e/bob> ${TYPE} <http://e/Person> .
<http://e/bob> <http://e/name> "" .
<http://e/bob> <http://e/since> "2020-01-02T03:04:05Z"^^<${XSD}dateTime> .
<http://e/bob> <http://e/height> "1.5"^^<${XSD}double> .
<http://e/bob> <http://e/old> "true"^^<${XSD}boolean> .
<http://e/bob> <http://e/knows> _:c .
`;

  /** In the order of the partitions of subjects, which is the same in all processes. */
  test.each<[GraphHeader, string, string, readonly string[]]>([
    [
      'default',
      `iri,labels,name:string,age:integer,nick:string[],graph:string[],since:dateTime,height:float,old:boolean
http://e/ann,Resource;Person;Author,"Ann ""A"", Lee",42,a\\;b;c,http://g/1;,,,
_:c,Resource,,,,,,,
http://e/bob,Resource;Person,"",,,,2020-01-02T03:04:05Z,1.5,true
`,
      `from,to,type,graph
http://e/ann,http://e/bob,knows,http://g/1
http://e/bob,_:c,knows,
`,
      [],
    ],
    [
      'neo4j',
      `iri:ID,:LABEL,name:string,age:long,nick:string[],graph:string[],since:datetime,height:double,old:boolean,array-delimiter=U+007C:IGNORE
http://e/ann,Resource|Person|Author,"Ann ""A"", Lee",42,a;b|c,http://g/1|,,,,
_:c,Resource,,,,,,,,
http://e/bob,Resource|Person,"",,,,2020-01-02T03:04:05Z,1.5,true,
`,
      `:START_ID,:END_ID,:TYPE,graph:string
http://e/ann,http://e/bob,knows,http://g/1
http://e/bob,_:c,knows,
`,
      ["Values of lists hold ';': import the nodes with --array-delimiter='|'"],
    ],
    [
      'neptune',
      `~id,~label,name:String,age:Long,nick:String[],graph:String[],since:Date,height:Double,old:Bool
http://e/ann,Resource;Person;Author,"Ann ""A"", Lee",42,a\\;b;c,http://g/1;,,,
_:c,Resource,,,,,,,
http://e/bob,Resource;Person,"",,,,2020-01-02T03:04:05Z,1.5,true
`,
      `~id,~from,~to,~label,graph:String
71e06b492012d6f509c69e389305a67e,http://e/ann,http://e/bob,knows,http://g/1
76b8f8ffd81c1cee96b08a9f59d9f797,http://e/bob,_:c,knows,
`,
      [],
    ],
    [
      'tigergraph',
      `iri type name age nick graph since height old
http://e/ann Person Ann_"A",_Lee 42 a;b|c http://g/1|   
http://e/ann Author Ann_"A",_Lee 42 a;b|c http://g/1|   
_:c Resource       
http://e/bob Person     2020-01-02T03:04:05Z 1.5 true
`
        .replaceAll(' ', '\t')
        .replaceAll('_"A",_', ' "A", '),
      `from to type graph
http://e/ann http://e/bob knows http://g/1
http://e/bob _:c knows 
`.replaceAll(' ', '\t'),
      [],
    ],
  ])('is what %s wants', async (header, nodes, edges, warnings) => {
    const written = await write(QUADS, header);
    expect(written.nodesText).toBe(nodes);
    expect(written.edgesText).toBe(edges);
    expect(written.warnings).toEqual(warnings);
  });

  test('repeats nothing and keeps its order of columns when it is written again', async () => {
    const [first, second] = [await write(QUADS, 'neptune'), await write(QUADS, 'neptune')];
    expect(second.nodesText).toBe(first.nodesText);
    expect(second.edgesText).toBe(first.edgesText);
    expect(second.nodes.sha256).toBe(first.nodes.sha256);
  });
});

describe('values', () => {
  const about = (...objects: readonly string[]): string => objects.map((object) => `<http://e/s> <http://e/p> ${object} .\n`).join('');
  const typed = (text: string, type: string): string => `"${text}"^^<${XSD}${type}>`;
  const cellOf = ({ nodesText }: Written): string => {
    const [head = '', row = ''] = nodesText.split(/\n(?=http)/);
    return `${head.split(',')[2]} ${row.trimEnd().replace(/^http:\/\/e\/s,Resource,/, '')}`;
  };

  test.each<[string, GraphHeader, string, string]>([
    ['integers stay integers', 'neo4j', about(typed('1', 'integer'), typed('2', 'long')), 'p:long[] 1;2'],
    ['integers beside floats are floats', 'neo4j', about(typed('1', 'integer'), typed('2.5', 'double')), 'p:double[] 1;2.5'],
    ['any other mixture is text', 'neo4j', about(typed('1', 'integer'), typed('true', 'boolean')), 'p:string[] 1;true'],
    [
      'a large integer beside a float is text',
      'neo4j',
      about(typed('9007199254740993', 'integer'), typed('2.5', 'double')),
      'p:string[] 9007199254740993;2.5',
    ],
    ['a year of five digits has a sign in Neo4j', 'neo4j', about(typed('12345-01-01', 'date')), 'p:date +12345-01-01'],
    ['a year of five digits is no date of Neptune', 'neptune', about(typed('12345-01-01', 'date')), 'p:String 12345-01-01'],
    [
      'an instant with a fraction is no date of Neptune',
      'neptune',
      about(typed('2020-01-01T00:00:00.5Z', 'dateTime')),
      'p:String 2020-01-01T00:00:00.5Z',
    ],
    ['infinity has its own word', 'neptune', about(typed('-INF', 'double')), 'p:Double -Infinity'],
    ['a line feed is quoted', 'default', about('"a\\nb"'), 'p:string "a\nb"'],
    ['white space at an end is quoted', 'neptune', about('" a"'), 'p:String " a"'],
    ['a backslash is escaped within a list only', 'default', about('"a\\\\"', '"b"'), 'p:string[] a\\\\;b'],
    ['a backslash at the end stands last in a list of Neptune', 'neptune', about('"a\\\\"', '"b"'), 'p:String[] b;a\\'],
    [
      'no list holds the delimiter: it stays, whatever other texts hold',
      'neo4j',
      `${about('"a"', '"b"')}<http://e/s> <http://e/q> "x;y" .\n`,
      'p:string[] a;b,x;y',
    ],
  ])('%s', async (_, header, quads, expected) => {
    const written = await write(quads, header);
    expect(cellOf(written)).toBe(expected);
    expect(written.warnings).toEqual([]);
  });

  test.each<[string, GraphHeader, string, string]>([
    ['a line break of TigerGraph', 'tigergraph', about('"a\\r\\nb"'), 'Line breaks became spaces in 1 value; the first is p of http://e/s'],
    ['a list of TigerGraph that holds its delimiters', 'tigergraph', about('"a|b"', '"c;d"'), "they are to be split at '#'"],
    ['a tab of TigerGraph', 'tigergraph', about('"a\\tb"'), 'Values hold tabs: load the nodes with SEPARATOR="\\31"'],
    [
      'a list of an empty text, of Neo4j',
      'neo4j',
      `${about('""')}<http://e/t> <http://e/p> "a" .\n<http://e/t> <http://e/p> "b" .\n`,
      'The product cannot hold, and so the files leave out, 1 value; the first is p of http://e/s',
    ],
    [
      'two backslashes at the end, of Neptune',
      'neptune',
      about('"a\\\\"', '"b\\\\"'),
      'The product cannot hold, and so the files leave out, 1 value; the first is p of http://e/s',
    ],
    [
      'a statement that no store takes',
      'default',
      '<http://e/%zz> <http://e/p> "a" .\n',
      '1 statement is not in the CSV files of the property graph',
    ],
    [
      'an IRI that is none, as rml:UnsafeIRI writes it',
      'default',
      '<http://e/a b> <http://e/p> "a" .\n',
      '1 statement is not in the CSV files of the property graph',
    ],
    ['two predicates of one name', 'default', `${about('"a"')}<http://e/s> <http://f/p> "b" .\n`, 'are both named p in the property graph'],
  ])('%s is reported', async (_, header, quads, expected) => {
    const { warnings } = await write(quads, header);
    expect(warnings).toEqual([expect.stringContaining(expected)]);
  });

  test('names that a product cannot have are written otherwise, and never twice', async () => {
    const quads = `<http://e/s> <http://e/a(b)> "1" .\n<http://e/s> <http://e/a%28b%29> "2" .\n`;
    expect((await write(quads, 'neo4j')).nodesText.split('\n')[0]).toBe('iri:ID,:LABEL,a%28b%29:string,a%28b%29_2:string');
    const commas = '<http://e/s> <http://e/a,b> "1" .\n<http://e/s> <http://e/> "2" .\n';
    expect((await write(commas, 'neptune')).nodesText.split('\n')[0]).toBe('~id,~label,a%2Cb:String,http\\://e/:String');
  });

  test('languages are kept in names when they are to be kept', async () => {
    const quads = about('"a"@en', '"b"@de');
    const { nodesText } = await write(quads, 'neo4j', { prefixes: { ex: 'http://e/' }, keepLanguage: true });
    expect(nodesText).toBe('iri:ID,:LABEL,ex_p@en:string,ex_p@de:string\nhttp://e/s,Resource,a,b\n');
  });

  test('nothing at all makes two header lines', async () => {
    const { nodesText, edgesText } = await write('', 'neo4j');
    expect([nodesText, edgesText]).toEqual(['iri:ID,:LABEL\n', ':START_ID,:END_ID,:TYPE,graph:string\n']);
  });
});

describe('random graphs come back as they were', () => {
  const cases = Array.from({ length: 60 }, (_, i) => i + 1);

  test.each<GraphHeader>(['default', 'neo4j'])('from files with the header %s', async (header) => {
    for (const seed of cases) {
      const quads = inventQuads(seed);
      const options = { ...PLAIN, keepLanguage: seed % 2 === 0 };
      const expected = await graphOf(quads, header, options);

      const written = await write(quads, header, options, seed % 3 === 0 ? 1 : 2 ** 24);
      const back = await read(written.nodesText);
      expect({ seed, nodes: new Map(back.nodes.map((node) => [node.iri, plainOf(node)])) }).toEqual({ seed, nodes: expected.nodes });
      expect(back.nodes).toHaveLength(expected.nodes.size);

      const edgesBack = await read(written.edgesText);
      expect({ seed, edges: shownEdges(edgesBack.edges) }).toEqual({ seed, edges: expected.edges });
    }
  });
});

describe('what is no file of nodes or edges', () => {
  test.each([
    ['another table', 'id,name\n1,a\n', 'source/type', 'id,name'],
    ['a file for Neptune', '~id,~label\na,b\n', 'source/type', 'Neptune'],
    ['an empty file', '', 'source/type', 'expected are nodes or edges'],
    ['an unknown type', 'iri,labels,p:point\n', 'source/malformed', 'p:point'],
    ['a number that is none', 'iri,labels,p:integer\nhttp://e/a,,1\nhttp://e/b,,x\n', 'source/malformed', 'no integer'],
    ['a number beyond 64 bits', 'iri,labels,p:integer\nhttp://e/b,,9223372036854775808\n', 'source/malformed', 'no integer'],
    ['a date with a time', 'iri,labels,p:date\nhttp://e/b,,2020-01-01T00:00:00Z\n', 'source/malformed', 'no date'],
    ['a row without its key', ':START_ID,:END_ID,:TYPE\na,,knows\n', 'source/malformed', 'no value'],
    ['a quote that is never closed', 'iri,labels\n"http://e/a,\n', 'source/malformed', 'never closed'],
  ])('%s is refused', async (_, text, code, message) => {
    const fault = await read(text).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(fault).toBeInstanceOf(Fault);
    expect(fault).toMatchObject({ code, message: expect.stringContaining(message) });
    expect((fault as Fault).place.input).toBe('graph.csv');
  });

  test('a fault of a cell says row, column and value', async () => {
    await expect(read('iri,labels,p:integer\nhttp://e/a,,1\nhttp://e/b,,x\n')).rejects.toMatchObject({
      place: { record: 1, expression: 'p:integer', value: '"x"' },
    });
  });
});

describe('a file that Neo4j describes', () => {
  test('is read: columns in any order, texts without a type, groups of ids', async () => {
    const { nodes } = await read('name,:LABEL,uri:ID(Things),n:int[]\nA,X;Y,http://e/a,1;2\n,,http://e/b,\n');
    expect(nodes.map(({ iri, ...node }) => [iri, plainOf({ iri, ...node })])).toEqual([
      ['http://e/a', { labels: ['X', 'Y'], graphs: [''], properties: { name: ['string A'], n: ['bigint 1', 'bigint 2'] } }],
      ['http://e/b', { labels: [], graphs: [''], properties: {} }],
    ]);
  });
});

test('triples as terms are nodes of the type Statement, with the reifiers of both spellings', async () => {
  const triple = '<http://e/s> <http://e/p> "1"';
  const reifier = `_:t${createHash('sha256').update(`<<( ${triple} )>>`).digest('hex').slice(0, 32)}`;
  const star = await write(`<< ${triple} >> <http://e/q> "2" .\n`, 'default');
  const rdf12 = await write(
    `${reifier} <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> <<( ${triple} )>> .\n${reifier} <http://e/q> "2" .\n`,
    'default',
  );
  expect([star.warnings, rdf12.warnings]).toEqual([[], []]);
  expect(rdf12.nodesText.split('\n').sort()).toEqual(star.nodesText.split('\n').sort());
  expect(rdf12.edgesText.split('\n').sort()).toEqual(star.edgesText.split('\n').sort());
  const { nodes } = await read(star.nodesText);
  const { edges } = await read(star.edgesText);
  const statement = `${reifier}s`;
  expect(edges.map(({ from, type, to }) => `${from} ${type} ${to}`).sort()).toEqual(
    [`${reifier} reifies ${statement}`, `${statement} predicate http://e/p`, `${statement} subject http://e/s`].sort(),
  );
  const described = nodes.find(({ iri }) => iri === statement);
  expect([described?.labels, described && valuesOf(described.properties.get('object') as never)]).toEqual([['Statement'], ['1']]);
  expect(nodes.map(({ iri }) => iri).sort()).toEqual([reifier, statement, 'http://e/p', 'http://e/s'].sort());
});

test('a node that is larger than the memory is one row', async () => {
  const of = (i: number): string =>
    `<http://e/large> <http://e/n> "${i}"^^<${XSD}integer> .\n<http://e/large> <http://e/to> <http://e/s${i % 50}> .\n<http://e/s${i % 50}> <http://e/to> <http://e/large> .\n`;
  const written = await write(Array.from({ length: 4000 }, (_, i) => of(i)).join(''), 'default', PLAIN, 1);
  const { nodes } = await read(written.nodesText);
  expect(nodes.map(({ iri }) => iri).sort()).toEqual(['http://e/large', ...Array.from({ length: 50 }, (_, i) => `http://e/s${i}`)].sort());
  const values = valuesOf(nodes.find(({ iri }) => iri === 'http://e/large')?.properties.get('n') ?? []).map(Number);
  expect(values.sort((a, b) => a - b)).toEqual(Array.from({ length: 4000 }, (_, i) => i));
  expect((await read(written.edgesText)).edges).toHaveLength(100);
});

test('nothing is left when writing fails', async () => {
  const before = readdirSync(directory).length;
  await expect(write('this is not N-Quads\n', 'default')).rejects.toMatchObject({ code: 'source/malformed' });
  // The input alone.
  expect(readdirSync(directory)).toHaveLength(before + 1);
});

test('a run that is cancelled stops', async () => {
  const stop = new AbortController();
  stop.abort(new Fault('run/cancelled', 'enough'));
  writeFileSync(join(directory, 'cancelled.nq'), '<http://e/s> <http://e/p> "a" .\n');
  const options = { header: 'default', propertyGraph: PLAIN, directory, name: 'cancelled', attempt: 1, memoryBudgetBytes: 1e6 } as const;
  const spillDirectory = join(directory, 'cancelled-spill');
  await expect(writeGraphCsv([join(directory, 'cancelled.nq')], { ...options, spillDirectory, signal: stop.signal })).rejects.toMatchObject(
    { code: 'run/cancelled' },
  );
  expect(readdirSync(directory).filter((file) => file.includes('cancelled'))).toEqual(['cancelled.nq']);
});
