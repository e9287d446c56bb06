/** Inputs of a run and the sources they are: several for one source, one for a directory of mappings, and types that only the server tells. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../src/config/run-defaults.ts';
import { Fault } from '../../../src/core/fault.ts';
import type { RunReport, RunRequest } from '../../../src/run/request.ts';
import { executeRun } from '../../../src/run/run.ts';
import { difference } from '../../conformance/compare.ts';
import { ods, odsRows, xlsx, xlsxRows, zip } from '../sources/sheet/workbooks.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-inputs-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const at = (name: string): string => join(directory, name);
const write = (name: string, text: string | Uint8Array): string => {
  writeFileSync(at(name), text);
  return at(name);
};

async function run(options: Pick<RunRequest, 'mappings' | 'inputs'> & Partial<RunRequest>): Promise<{ text: string; report: RunReport }> {
  const parts: string[] = [];
  const sink = { write: (lines: string) => void parts.push(lines), commit: async () => [], abort: async () => {} };
  const request = { ...RUN_DEFAULTS, runId: 'inputs', workingDirectory: directory, spillDirectory: at('spill'), ...options };
  const report = await executeRun(request, sink, {});
  return { text: Buffer.from(parts.join(''), 'latin1').toString(), report };
}

const faultOf = async (options: Parameters<typeof run>[0]): Promise<Fault> => {
  const error = await run(options).then(
    () => undefined,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(Fault);
  return error as Fault;
};

const nquads = (text: string) => ({ text, mediaType: 'application/n-quads', baseIri: 'http://example.com/' });
const PREFIXES = '@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://example.com/> .\n';
const source = (path: string, formulation = 'rml:CSV', more = ''): string =>
  `rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:path "${path}" ] ; rml:referenceFormulation ${formulation} ${more} ]`;
const valueOf = (reference: string): string => `rml:objectMap [ rml:reference "${reference}" ]`;
const mapOf = (name: string, path: string, more = ''): string => `${PREFIXES}
ex:${name} a rml:TriplesMap ; ${source(path)} ;
  rml:subjectMap [ rml:template "http://example.com/${name}/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; ${valueOf('name')} ] ${more} .
`;

const BOOK = {
  sheets: {
    One: xlsxRows([
      ['id', 'name'],
      ['1', 'Ann'],
    ]),
    'Sheet 2': xlsxRows([
      ['id', 'name'],
      ['2', 'Bob'],
    ]),
  },
};

test('a view joins its own rows over several inputs', async () => {
  const mapping = write(
    'view.ttl',
    `${PREFIXES}
ex:People a rml:TriplesMap ; rml:logicalSource ex:view ;
  rml:subjectMap [ rml:template "http://example.com/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:with ; rml:objectMap [ rml:template "http://example.com/{other}/{again}" ] ] .
ex:view rml:viewOn ex:all ; rml:field [ rml:fieldName "id" ; rml:reference "id" ] , [ rml:fieldName "name" ; rml:reference "name" ] ;
  rml:leftJoin [ rml:parentLogicalView ex:pairs ; rml:joinCondition [ rml:child "name" ; rml:parent "name" ] ;
    rml:field [ rml:fieldName "other" ; rml:reference "id" ] , [ rml:fieldName "again" ; rml:reference "other" ] ] .
ex:pairs rml:viewOn ex:all ; rml:field [ rml:fieldName "id" ; rml:reference "id" ] , [ rml:fieldName "name" ; rml:reference "name" ] ;
  rml:innerJoin [ rml:parentLogicalView ex:plain ; rml:joinCondition [ rml:child "name" ; rml:parent "name" ] ;
    rml:field [ rml:fieldName "other" ; rml:reference "id" ] ] .
ex:plain rml:viewOn ex:all ; rml:field [ rml:fieldName "id" ; rml:reference "id" ] , [ rml:fieldName "name" ; rml:reference "name" ] .
ex:all ${source('all.csv').replace('rml:logicalSource [', '').replace(/]$/, '')} .
`,
  );
  const inputs = [write('one.csv', 'id,name\n1,a\n2,b\n3,a\n'), write('two.csv', 'id,name\n4,a\n5,b\n6,\n')].map((url) => ({
    url,
    name: 'all.csv',
  }));
  const names: Readonly<Record<string, string>> = { 1: 'a', 2: 'b', 3: 'a', 4: 'a', 5: 'b', 6: '' };
  const ids = Object.keys(names);
  const expected = ids.flatMap((id) =>
    ids.flatMap((other) =>
      ids.flatMap((again) =>
        names[id] === names[other] && names[id] === names[again]
          ? [`<http://example.com/${id}> <http://example.com/with> <http://example.com/${other}/${again}> .`]
          : [],
      ),
    ),
  );
  for (const memoryBudgetBytes of [RUN_DEFAULTS.memoryBudgetBytes, 0]) {
    const { text } = await run({ mappings: [mapping], inputs, memoryBudgetBytes });
    expect(text.split('\n').slice(0, -1).sort()).toEqual(expected.sort());
  }
});

describe('several inputs for one source', () => {
  const MAPPING = `${PREFIXES}
ex:People a rml:TriplesMap ; ${source('people.csv')} ;
  rml:subjectMap [ rml:template "http://example.com/person/{id}" ; rml:class ex:Person ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; ${valueOf('name')} ] ;
  rml:predicateObjectMap [ rml:predicate ex:town ; rml:objectMap [ rml:parentTriplesMap ex:Towns ; rml:joinCondition [ rml:child "town" ; rml:parent "code" ] ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:namesake ; rml:objectMap [ rml:parentTriplesMap ex:People ; rml:joinCondition [ rml:child "name" ; rml:parent "name" ] ] ] .
ex:Notes a rml:TriplesMap ; ${source('people.csv')} ;
  rml:subjectMap [ rml:termType rml:BlankNode ] ;
  rml:predicateObjectMap [ rml:predicate ex:about ; ${valueOf('id')} ] .
ex:Towns a rml:TriplesMap ; ${source('towns.csv')} ;
  rml:subjectMap [ rml:template "http://example.com/town/{name}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:code ; ${valueOf('code')} ] .
`;
  const people = ['1,Ann,a\n2,Bob,b\n2,Bob,b\n', '2,Bob,b\n3,Ann,c\n4,Cy,a\n', '', '1,Ann,c\n5,Bob,d\n'];
  const towns = ['a,Aarau\nb,Basel\n', 'c,Chur\na,Aarau\nd,Davos\n'];
  const PEOPLE = 'id,name,town\n';
  const TOWNS = 'code,name\n';

  test.each([
    ['in memory', {}],
    ['when nothing fits in memory', { memoryBudgetBytes: 0 }],
    ['with threads', { threads: 2 }],
    ['duplicates allowed', { distinct: false }],
  ])('are read as one source: %s', async (_, options) => {
    const mappings = [write('mapping.ttl', MAPPING)];
    const bind = (name: string, header: string, parts: readonly string[]) =>
      parts.map((part, i) => ({ name, url: write(`${i}-of-${parts.length}-${name}`, header + part) }));
    const whole = await run({
      mappings,
      inputs: [...bind('people.csv', PEOPLE, [people.join('')]), ...bind('towns.csv', TOWNS, [towns.join('')])],
      ...options,
    });
    const parted = await run({ mappings, inputs: [...bind('people.csv', PEOPLE, people), ...bind('towns.csv', TOWNS, towns)], ...options });
    expect(parted.text).toMatch(/namesake/);
    expect(difference(nquads(parted.text), nquads(whole.text))).toBeUndefined();
    const lines = parted.text.split('\n');
    if (!('distinct' in options)) expect(new Set(lines).size).toBe(lines.length);
    const counts = ({ report }: typeof whole) =>
      report.triplesMaps.map(({ name, records, rejected, empty }) => [name, records, rejected, empty]).sort();
    expect(counts(parted)).toEqual(counts(whole));
    expect(parted.report.records).toBe(whole.report.records);
    // How often the pairs of a join are written depends on where they are made.
    if (!('distinct' in options)) expect(parted.report.quads).toBe(whole.report.quads);
  });

  test('come in the order of the request, and the one that is broken is named', async () => {
    const mappings = [write('order.ttl', mapOf('P', 'people.csv'))];
    const inputs = ['b', 'a', 'c'].map((name) => ({ name: 'people.csv', url: write(`${name}.csv`, `id,name\n${name},x\n`) }));
    const { text } = await run({ mappings, inputs });
    expect([...text.matchAll(/P\/(\w)>/g)].map(([, name]) => name)).toEqual(['b', 'a', 'c']);
    const broken = { name: 'people.csv', url: write('broken.csv', 'id,nom\n1,x\n') };
    const fault = await faultOf({ mappings, inputs: [...inputs, broken] });
    expect(fault.place.input).toBe(broken.url);
  });
});

describe('one input for a directory of mappings', () => {
  const orders = `; rml:predicateObjectMap [ rml:predicate ex:by ; rml:objectMap [ rml:parentTriplesMap ex:P ; rml:joinCondition [ rml:child "name" ; rml:parent "id" ] ] ]`;
  const mappings = (): string[] => [
    write('p.ttl', mapOf('P', 'people.csv')),
    write('o.ttl', mapOf('O', 'orders.csv', orders)),
    write('t.ttl', mapOf('T', 'towns.csv')),
    write('x.ttl', mapOf('X', 'missing.csv')),
  ];
  const towns = (): string => write('in-towns.csv', 'id,name\n7,Chur\n');

  test('transforms by what is bound, leaves the rest out and names it', async () => {
    const { text, report } = await run({ mappings: mappings(), inputs: [{ name: 'towns.csv', url: towns() }], boundOnly: true });
    expect(text).toBe('<http://example.com/T/7> <http://example.com/name> "Chur" .\n');
    const [warning, ...more] = report.warnings.filter((one) => one.includes('left out'));
    expect(more).toEqual([]);
    for (const name of ['P (', 'O (', 'X (']) expect(warning).toContain(name);
    expect(warning).not.toContain('T (');
    expect(report.mappings.map(({ url }) => url)).toEqual([at('t.ttl')]);
    expect(report.triplesMaps.map(({ name }) => name)).toEqual(['T']);
  });

  test.each(['orders.csv', 'people.csv'])('takes what is joined to %s from where its mapping says', async (name) => {
    write('people.csv', 'id,name\n1,Ann\n');
    write('orders.csv', 'id,name\n9,1\n');
    const { text, report } = await run({ mappings: mappings(), inputs: [{ name, url: at(name) }], boundOnly: true });
    expect(text).toContain('<http://example.com/O/9> <http://example.com/by> <http://example.com/P/1> .');
    expect(report.warnings.join()).toMatch(/2 triples maps were left out.*T \(.*X \(/);
  });

  test('without a name, it is the source that has the name of its file', async () => {
    const url = write('towns.csv', 'id,name\n7,Chur\n');
    expect((await run({ mappings: mappings(), inputs: [{ name: undefined, url }], boundOnly: true })).report.quads).toBe(1);
    const fault = await faultOf({ mappings: mappings(), inputs: [{ name: undefined, url: towns() }], boundOnly: true });
    expect([fault.code, fault.hint]).toEqual(['request/invalid', 'Name one of people.csv, orders.csv, towns.csv, missing.csv']);
  });

  test('mappings that call their triples maps by the same name do not disturb each other', async () => {
    const named = (file: string, name: string, source: string): string =>
      write(file, mapOf(name, source).replaceAll(`ex:${name} a`, 'ex:TriplesMap1 a'));
    const all = [named('p.ttl', 'P', 'people.csv'), named('t.ttl', 'T', 'towns.csv')];
    const { text, report } = await run({ mappings: all, inputs: [{ name: 'towns.csv', url: towns() }], boundOnly: true });
    expect(text).toBe('<http://example.com/T/7> <http://example.com/name> "Chur" .\n');
    expect(report.mappings.map(({ url }) => url)).toEqual([at('t.ttl')]);
  });

  test('a mapping file is carried out as a whole', async () => {
    const { code } = await faultOf({ mappings: mappings(), inputs: [{ name: 'towns.csv', url: towns() }] });
    expect(code).toBe('source/missing');
  });
});

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

/** Quotes that are characters: no rows are lost. */
const STRAY = 'id\tname\n1\t"Home\n2\tb\n3\tscreen 5"\n4\t"x"\n';
const STRAY_NAMES = ['\\"Home', 'b', 'screen 5\\"', '\\"x\\"'];
const namesIn = (text: string): readonly string[] => [...text.matchAll(/name> "(.*)" \.$/gm)].map(([, name]) => name as string);

describe('tab-separated text', () => {
  const table = (dialect: string): string =>
    mapOf('P', 'x').replace(/rml:source \[.*?\]/, `rml:source [ a <http://www.w3.org/ns/csvw#Table> ; ${dialect} ]`);
  const CSVW = 'http://www.w3.org/ns/csvw#';

  test.each<[string, () => string]>([
    ['.tsv', () => write('stray.tsv', STRAY)],
    ['.tab', () => write('stray.tab', STRAY)],
    ['.TSV.gz', () => write('stray.TSV.gz', gzipSync(STRAY))],
  ])('%s has no quotes, and one warning says so', async (_, file) => {
    const { text, report } = await run({ mappings: [write('tabs.ttl', mapOf('P', 'x.tsv'))], inputs: [{ name: 'x.tsv', url: file() }] });
    expect(namesIn(text)).toEqual(STRAY_NAMES);
    expect(report.warnings).toEqual([expect.stringContaining('Cells begin with a quote')]);
  });

  test.each([
    ['a delimiter in the mapping', 'stray.txt', `<${CSVW}delimiter> "\\t"`, STRAY_NAMES],
    ['quotes that the mapping declares', 'stray.tsv', `<${CSVW}quoteChar> "\\""`, ['Home\\n2\tb\\n3\tscreen 5', 'x']],
    ['another delimiter than that of the name', 'commas.tsv', `<${CSVW}delimiter> ","`, ['a, b']],
  ])('%s', async (_, name, dialect, expected) => {
    write('stray.txt', STRAY);
    write('stray.tsv', STRAY);
    write('commas.tsv', 'id,name\n1,"a, b"\n');
    const mapping = write('dialect.ttl', table(`<${CSVW}url> "${name}" ; <${CSVW}dialect> [ ${dialect} ]`));
    expect(namesIn((await run({ mappings: [mapping], inputs: [] })).text)).toEqual(expected);
  });
});

describe('behind HTTP', () => {
  let server: Server;
  let base: string;
  /** By the end of the path: media type (none: no header), body. */
  const FILES: Readonly<Record<string, readonly [string | undefined, string | Uint8Array]>> = {
    csv: ['text/csv; charset=utf-8', 'id,name\n1,Ann\n'],
    tsv: ['text/tab-separated-values', 'id\tname\n1\tAnn\n'],
    'stray.tsv': ['text/plain', STRAY],
    stray: ['text/tab-separated-values; charset=utf-8', STRAY],
    'wrong-type.csv': ['application/octet-stream', 'id,name\n1,Ann\n'],
    pdf: ['application/pdf', '%PDF-1.7'],
    'table.pdf': ['application/pdf', '%PDF-1.7'],
    html: ['text/html', '<p>Please log in</p>'],
    plain: ['text/plain', 'id,name\n1,Ann\n'],
    none: [undefined, 'id,name\n1,Ann\n'],
    json: ['application/json', '[{"id":1,"name":"Ann"}]'],
    lines: ['application/x-ndjson', '{"id":1,"name":"Ann"}\n{"id":2,"name":"Bob"}\n'],
    'rows.json': ['text/csv', '[]'],
    'latin.csv': ['text/csv; charset=ISO-8859-1', latin1('id,name\n1,Zoë\n')],
    latin: ['text/csv;header=present; Charset="iso-8859-15"', latin1('id,name\n1,Zoë\n')],
    'latin.tsv': ['text/tab-separated-values; charset=windows-1252', latin1('id\tname\n1\tZoë\n')],
    'latin.csv.gz': ['text/csv; charset=latin1', gzipSync(latin1('id,name\n1,Zoë\n'))],
    'marked.csv': ['text/csv; charset=ISO-8859-1', '\ufeffid,name\n1,Zoë\n'],
    'wide.csv': ['text/csv; charset=utf-16', Buffer.from('id,name\n1,Zoë\n', 'utf16le')],
    'klingon.csv': ['text/csv; charset=klingon', 'id,name\n1,Zoë\n'],
    'wrong.csv': ['text/csv; charset=utf-8', latin1('id,name\n1,Zoë\n')],
    'latin.xml': [
      'application/xml; charset=ISO-8859-1',
      latin1('<?xml version="1.0" encoding="utf-8"?><r><p id="1"><name>Zoë</name></p></r>'),
    ],
    'utf.json': ['application/json; charset=ISO-8859-1', '[{"id":1,"name":"Zoë"}]'],
    'latin.json': ['application/json; charset=ISO-8859-1', latin1('[{"id":1,"name":"Zoë"}]')],
    'page.csv': ['text/html; charset=utf-8', '\n<!-- x -->\n<!DOCTYPE html>\n<html><body>Log in, please</body></html>'],
    'fragment.csv': ['text/html', '<p>Log in, please</p>'],
    'untold.csv': ['text/csv', '<HTML lang="en"><p>Error, 500</p>'],
    'export.csv': ['text/html', 'id,name\n1,Zoë\n'],
    'angles.csv': ['text/csv', '<id>,name\n1,Zoë\n'],
    'page.json': ['text/html', '<!doctype html><title>Log in</title>'],
    'page.xml': ['text/html', '<!doctype html><html><p>Log in<br></html>'],
    'page.xhtml': ['application/xhtml+xml', '<html xmlns="http://www.w3.org/1999/xhtml"><p id="1"><name>Zoë</name></p></html>'],
    'book.xlsx': ['application/octet-stream', xlsx(BOOK)],
    book: [
      'application/vnd.oasis.opendocument.spreadsheet',
      ods({
        sheets: {
          One: odsRows([
            ['id', 'name'],
            ['1', 'Ann'],
          ]),
        },
      }),
    ],
  };
  beforeAll(async () => {
    server = createServer((request, response) => {
      const [type, body] = FILES[(request.url ?? '').slice(1)] ?? ['text/plain', ''];
      if (type !== undefined) response.setHeader('content-type', type);
      response.end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => void server.close());
  const inputs = (name: string) => [{ name: 'people.csv', url: `${base}/${name}` }];
  const mappings = (): string[] => [write('http.ttl', mapOf('P', 'people.csv'))];

  test.each(['csv', 'tsv', 'wrong-type.csv'])('%s is CSV', async (name) => {
    expect((await run({ mappings: mappings(), inputs: inputs(name) })).text).toBe(
      '<http://example.com/P/1> <http://example.com/name> "Ann" .\n',
    );
  });

  test.each(['stray.tsv', 'stray'])('%s has no quotes', async (name) => {
    expect(namesIn((await run({ mappings: mappings(), inputs: inputs(name) })).text)).toEqual(STRAY_NAMES);
  });

  const mappingOf = (name: string): string => {
    const isXml = /\.xh?t?ml$/.test(name);
    const iterator = name === 'page.xhtml' ? '/*:html/*:p' : '/r/p';
    if (isXml)
      return mapOf('P', name)
        .replace(source(name), source(name, 'rml:XPath', `; rml:iterator "${iterator}"`))
        .replace('{id}', '{@id}')
        .replace('"name"', '"*:name"');
    return name.endsWith('.json')
      ? mapOf('P', name).replace(source(name), source(name, 'rml:JSONPath', '; rml:iterator "$[*]"'))
      : mapOf('P', name);
  };
  const served = (name: string, inputOptions?: RunRequest['inputOptions']) => ({
    mappings: [write('served.ttl', mappingOf(name))],
    inputs: [{ name, url: `${base}/${name}` }],
    ...(inputOptions && { inputOptions }),
  });
  const OPTIONS = { csv: {}, format: undefined, sourceRoot: undefined };

  test.each([
    ['latin.csv'],
    ['latin'],
    ['latin.tsv'],
    ['latin.csv.gz'],
    ['latin.xml'],
    ['marked.csv'],
    ['wide.csv'],
    ['utf.json'],
    ['export.csv'],
  ])('the charset of the server is used: %s', async (name) => {
    expect((await run(served(name))).text).toBe('<http://example.com/P/1> <http://example.com/name> "Zoë" .\n');
  });

  test('the mapping and the option come before the charset of the server', async () => {
    for (const name of ['wrong.csv', 'klingon.csv']) {
      const encoding = name === 'wrong.csv' ? 'iso-8859-1' : 'utf-8';
      const mapping = write('said.ttl', mapOf('P', name).replace('rml:path', `rml:encoding "${encoding}" ; rml:path`));
      const inputs = [{ name, url: `${base}/${name}` }];
      expect((await run({ mappings: [mapping], inputs })).text).toContain('"Zoë"');
      expect((await run(served(name, { ...OPTIONS, encoding }))).text).toContain('"Zoë"');
    }
    expect((await run(served('latin.json', { ...OPTIONS, encoding: 'latin1' }))).text).toContain('"Zoë"');
  });

  test.each([
    ['klingon.csv', 'The server says charset=klingon, which is not known', 'rml:encoding'],
    ['wrong.csv', 'The input is not valid UTF-8', 'The server says charset=utf-8'],
    ['latin.json', 'The input is not valid UTF-8', 'The server says charset=ISO-8859-1'],
  ])('a charset that does not fit is named: %s', async (name, message, hint) => {
    const fault = await faultOf(served(name));
    expect([fault.code, fault.place.input]).toEqual(['source/encoding', `${base}/${name}`]);
    expect(fault.message).toContain(message);
    expect(fault.hint).toContain(hint);
  });

  test.each([
    ['page.csv', 'CSV'],
    ['fragment.csv', 'CSV'],
    ['untold.csv', 'CSV'],
    ['page.json', 'JSON'],
    ['page.xml', 'XML'],
  ])('a page in the place of data is named: %s', async (name, expected) => {
    const fault = await faultOf(served(name));
    expect([fault.code, fault.message, fault.place.input]).toEqual([
      'source/type',
      `The input is an HTML page, and ${expected} was expected`,
      `${base}/${name}`,
    ]);
    expect(fault.hint).toContain('login');
  });

  test('what is no page is read: a column with angles, and XHTML as XML', async () => {
    const mapping = write('angles.ttl', mapOf('P', 'angles.csv').replace('{id}', '{<id>}'));
    const { text } = await run({ mappings: [mapping], inputs: [{ name: 'angles.csv', url: `${base}/angles.csv` }] });
    expect(text).toContain('"Zoë"');
    expect((await run(served('page.xhtml'))).text).toContain('"Zoë"');
  });

  test.each(['book.xlsx', 'book'])('%s is a workbook', async (name) => {
    expect((await run({ mappings: mappings(), inputs: inputs(name) })).text).toBe(
      '<http://example.com/P/1> <http://example.com/name> "Ann" .\n',
    );
  });

  test('a request names the sheet of a workbook, or leaves it to the mapping', async () => {
    const text = async (path: string, url: string): Promise<string> =>
      (await run({ mappings: [write('sheet.ttl', mapOf('P', path))], inputs: [{ name: path, url }] })).text;
    const ann = '<http://example.com/P/1> <http://example.com/name> "Ann" .\n';
    const bob = '<http://example.com/P/2> <http://example.com/name> "Bob" .\n';
    const file = `file://${write('names.xlsx', xlsx(BOOK))}`;
    expect(await text('names.xlsx', file)).toBe(ann);
    expect(await text('names.xlsx', `${file}#Sheet%202`)).toBe(bob);
    expect(await text('names.xlsx#Sheet 2', file)).toBe(bob);
    expect(await text('names.xlsx#Sheet 2', `${file}#One`)).toBe(ann);
  });

  test('JSON Lines are recognised by their media type', async () => {
    const jsonMap = `${PREFIXES} ex:P a rml:TriplesMap ; ${source('people.json', 'rml:JSONPath', '; rml:iterator "$[*]"')} ;
      rml:subjectMap [ rml:template "http://example.com/P/{$.id}" ; rml:class ex:P ] .`;
    const bound = [{ name: 'people.json', url: `${base}/lines` }];
    expect((await run({ mappings: [write('lines.ttl', jsonMap)], inputs: bound })).report.quads).toBe(2);
  });

  test.each([
    ['pdf', 'Input has no file extension and the media type application/pdf; expected is one of XML, JSON, CSV, XLSX, ODS'],
    ['table.pdf', "Input has the file extension 'pdf' and the media type application/pdf; expected is one of XML, JSON, CSV, XLSX, ODS"],
    ['html', 'Input has no file extension and the media type text/html; expected is one of XML, JSON, CSV, XLSX, ODS'],
    ['plain', 'Input has no file extension and the media type text/plain; expected is one of XML, JSON, CSV, XLSX, ODS'],
    ['none', 'Input has no file extension; expected is one of XML, JSON, CSV, XLSX, ODS'],
    ['json', 'The input is JSON, and the mapping reads this source as CSV'],
    ['rows.json', 'The input is JSON, and the mapping reads this source as CSV'],
  ])('%s ends the run, whatever the mapping says of it', async (name, message) => {
    const fault = await faultOf({ mappings: mappings(), inputs: inputs(name) });
    expect([fault.code, fault.message, fault.place.input]).toEqual(['source/type', message, `${base}/${name}`]);
  });
});

describe('an archive', () => {
  const TABS = 'id\tname\n1\tAnn\n';
  const COMMAS = 'id,name\n1,Ann\n';
  const ANN = '<http://example.com/Zip/1> <http://example.com/name> "Ann" .\n';

  test.each([
    ['x.zip', 'a.tsv', TABS],
    ['x.zip', 'dir/a.TSV', TABS],
    ['x.zip', 'a.csv', COMMAS],
    ['x.zip', 'a', COMMAS],
    ['data.tsv.zip', 'a.txt', TABS],
    ['data.tsv.zip', 'a.csv', TABS],
    ['data.csv.zip', 'a.tsv', COMMAS],
  ])('%s with %s is read as its name says, or else as that of its file', async (name, member, text) => {
    write(name, zip({ [member]: text }));
    const mappings = [
      write('zip.ttl', mapOf('Zip', name).replace('RelativePathSource ;', 'RelativePathSource ; rml:root rml:MappingDirectory ;')),
    ];
    expect((await run({ mappings, inputs: [] })).text).toBe(ANN);
  });
});
