/** Large files cut into slices: what the slices give together is what one pass over the file would give. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openCsv } from '../../../../src/sources/csv/csv.ts';
import { CsvCuts } from '../../../../src/sources/csv/cuts.ts';
import type { CsvOptions } from '../../../../src/sources/source.ts';
import { missingRedis } from '../../../servers/queues/redis.ts';
import { temporaryDirectory } from '../../../support/queues/backends.ts';
import { type Fleet, outputOf, startFleet } from '../../../support/service/fleet.ts';
import { postJson } from '../../../support/service/process.ts';
import { parquet } from '../../sources/parquet/writing.ts';
import { randomSlices, table } from './files-random.ts';
import { csvMapping, dice, type Given, json, KEYED, never, type Ran, run, write, XML } from './files-runs.ts';

const LARGE = csvMapping(`
<#Row> rml:logicalSource <#S> ; rml:subjectMap [ rml:template "http://example.com/row/{id}" ; rml:class ex:Row ] ;
  rml:predicateObjectMap [ rml:predicate ex:a ; rml:objectMap [ rml:reference "a" ] ] .
<#Kind> rml:logicalSource <#S> ; rml:subjectMap [ rml:template "http://example.com/kind/{kind}" ; rml:class ex:Kind ] .`);

randomSlices({ tables: [3], dialects: [1], lines: [1] });

describe('a CSV file', () => {
  /** A row is an array of its cells. */
  const rowsOf = async (bytes: Buffer): Promise<readonly unknown[]> => {
    const reading: CsvOptions = { format: 'csv', name: 'x', dialect: 'rml', nulls: [], encoding: undefined, maxRecordBytes: 1e6 };
    const scan = await openCsv(Readable.from([bytes]), [{ iterator: undefined, references: [], origin: '' }], reading);
    const readers = ['id', 'a', 'b', 'kind'].map((name) => scan.accessor(0, name));
    const rows: unknown[] = [];
    for await (const { records } of scan.batches(never)) for (const row of records) rows.push(readers.map((read) => read(row)));
    return rows;
  };

  test.each(Array.from({ length: 20 }, (_, i) => [i]))('is cut where a row begins, in whatever chunks it comes (seed %i)', async (seed) => {
    const below = dice(seed + 100);
    const text = Buffer.from(`${table(seed).replace('\ufeff', '')}\n`.repeat(1 + below(3)));
    const head = text.indexOf('\n') + 1;
    const whole = await rowsOf(text);
    const found = new Set<number>();
    for (let target = head + 1; target < text.length; target += 1 + below(9)) {
      const cuts = new CsvCuts({}, head, [target, target + below(20)]);
      for (let at = head; at < text.length; ) {
        const next = at + 1 + below(seed % 2 === 0 ? 5 : 400);
        cuts.feed(text.subarray(at, next));
        at = next;
      }
      for (const { to: cut } of cuts.cuts) {
        expect(cut).toBeGreaterThanOrEqual(target);
        found.add(cut);
      }
    }
    expect(found.size).toBeGreaterThan(1);
    for (const cut of found) {
      const rest = Buffer.concat([text.subarray(0, head), text.subarray(cut)]);
      expect([...(await rowsOf(text.subarray(0, cut))), ...(await rowsOf(rest))]).toEqual(whole);
    }
  });

  test('keeps its parts as they are when its subjects do not repeat', async () => {
    const rows = Array.from({ length: 500 }, (_, i) => `${i},"a ${i}"`).join('\n');
    const input = await write('keyed.csv', `id,a\n${rows}\n`);
    const { result, lines, slices } = await run({ mapping: KEYED, input, bytes: 1000 });
    expect(slices).toBeGreaterThan(5);
    expect(result.parts).toHaveLength(slices);
    expect(lines).toEqual((await run({ mapping: KEYED, input, bytes: 0 })).lines);
  });

  test('has no quotes between tabs: its slices are those of its lines, and one warning tells it', async () => {
    const rows = Array.from({ length: 500 }, (_, i) => `${i}\t${i % 50 === 7 ? '"Home' : i % 50 === 9 ? 'screen 5"' : `a ${i}`}`).join(
      '\n',
    );
    const input = await write('stray.tsv', `id\ta\n${rows}\n`);
    const { result, lines, slices } = await run({ mapping: KEYED, input, bytes: 500 });
    expect(slices).toBeGreaterThan(5);
    expect(lines).toHaveLength(500);
    expect(lines).toEqual((await run({ mapping: KEYED, input, bytes: 0 })).lines);
    expect(result.report.warnings).toEqual([expect.stringMatching(/^Cells begin with a quote.*stray\.tsv, line 9, record 7\)$/)]);
  });

  test('is distinct also where memory holds none of what repeats', async () => {
    const rows = Array.from({ length: 4000 }, (_, i) => `${i % 700},a${i % 900}`).join('\n');
    const input = await write('repeated.csv', `id,a\n${rows}\n`);
    const { lines, slices, result } = await run({ mapping: KEYED, input, bytes: 4000, more: { memoryBudgetBytes: 1000 } });
    expect(slices).toBeGreaterThan(5);
    expect(lines).toHaveLength(new Set(lines).size);
    expect(lines.toSorted()).toEqual((await run({ mapping: KEYED, input, bytes: 0 })).lines.toSorted());
    expect(result.report.quads).toBe(lines.length);
  });

  test('gives each row a separate blank node, also in different slices', async () => {
    const input = await write('blank.csv', `id\n${Array.from({ length: 200 }, () => 'x').join('\n')}\n`);
    const mapping = csvMapping(`<#M> rml:logicalSource <#S> ; rml:subjectMap [ rml:termType rml:BlankNode ] ;
      rml:predicateObjectMap [ rml:predicate ex:id ; rml:objectMap [ rml:reference "id" ] ] .`);
    expect(new Set((await run({ mapping, input, bytes: 50 })).lines).size).toBe(200);
  });

  test('tells a bad record by the byte where its slice begins', async () => {
    const rows = Array.from({ length: 100 }, (_, i) => `${i},${i === 70 ? 'no iri' : 'http://example.com/'}`).join('\n');
    const input = await write('bad.csv', `id,a\n${rows}\n`);
    const mapping = KEYED.replace('rml:reference "a"', 'rml:reference "a" ; rml:termType rml:IRI');
    const fault = await run({ mapping, input, bytes: 500 }).catch((error) => error);
    expect(fault).toMatchObject({ code: 'record/term' });
    const { record, recordsFrom } = fault.place;
    const before = `id,a\n${rows}`.slice(0, recordsFrom);
    expect(recordsFrom).toBeGreaterThan(0);
    expect(before.split('\n').length - 2 + record).toBe(70);
    const skipped = await run({ mapping, input, bytes: 500, more: { onError: 'skip' } });
    expect(skipped.result.report).toMatchObject({ rejected: 1, records: 100, quads: 99 });
  });

  test('tells a malformed quote by its byte in the file', async () => {
    const rows = Array.from({ length: 100 }, (_, i) => `${i},${i === 70 ? '"a"b' : 'a'}`).join('\n');
    const text = `id,a\n${rows}\n`;
    const input = await write('malformed.csv', text);
    for (const bytes of [0, 100]) {
      const fault = await run({ mapping: KEYED, input, bytes }).catch((error) => error);
      expect(fault).toMatchObject({ code: 'source/malformed', place: { byte: text.indexOf('b', text.indexOf('"a"')) } });
    }
  });

  test('that changes between the cut and the reading is noticed', async () => {
    const rows = Array.from({ length: 100 }, (_, i) => `${i},a`).join('\n');
    const input = await write('changing.csv', `id,a\n${rows}\n`);
    const between = async (): Promise<void> => {
      await write('changing.csv', `id,b,a\n${rows}\n`);
    };
    const fault = await run({ mapping: KEYED, input, bytes: 200, between }).catch((error) => error);
    expect(fault).toMatchObject({ code: 'run/lost', message: expect.stringContaining('changing.csv has changed') });
    expect(fault.hint).toContain('SLICE_BYTES=0');
  });
});

describe('what cannot be cut is mapped in one piece:', () => {
  const rows = Array.from({ length: 50 }, (_, i) => `${i},a${i}`).join('\n');
  const text = `id,a\n${rows}\n`;
  const joined = csvMapping(`
    <#A> rml:logicalSource <#S> ; rml:subjectMap [ rml:template "http://example.com/{id}" ] ;
      rml:predicateObjectMap [ rml:predicate ex:b ; rml:objectMap [ rml:parentTriplesMap <#B> ;
        rml:joinCondition [ rml:child "id" ; rml:parent "a" ] ] ] .
    <#B> rml:logicalSource <#S> ; rml:subjectMap [ rml:template "http://example.com/b/{id}" ] .`);

  const fields = 'rml:field [ rml:fieldName "id" ; rml:reference "id" ] , [ rml:fieldName "a" ; rml:reference "a" ]';
  const viewOf = (more: string, template: string): string =>
    csvMapping(`<#M> rml:logicalSource <#V> ; rml:subjectMap [ rml:template "http://example.com/${template}" ; rml:class ex:Row ] .
    <#V> rml:viewOn <#S> ; ${more} ${fields} . <#V2> rml:viewOn <#S> ; ${fields} .`);

  test.each<[string, string, string | Buffer, string]>([
    ['a join', joined, text, 'joined.csv'],
    ['a view with positions of records', viewOf('', '{#}/{id}'), text, 'positions.csv'],
    [
      'a view that joins another one',
      viewOf(
        'rml:leftJoin [ rml:parentLogicalView <#V2> ; rml:joinCondition [ rml:child "id" ; rml:parent "a" ] ; rml:field [ rml:fieldName "j" ; rml:reference "id" ] ] ;',
        '{id}/{j}',
      ),
      text,
      'views.csv',
    ],
    [
      'a view that promises something',
      viewOf('rml:structuralAnnotation [ a rml:UniqueAnnotation ; rml:onFields ( "id" ) ] ;', '{id}'),
      text,
      'promises.csv',
    ],
    ['a file as large as a slice', KEYED, text.slice(0, 100), 'small.csv'],
    ['gzip', KEYED, gzipSync(text), 'packed.csv.gz'],
    ['UTF-16', KEYED, Buffer.from(`\ufeff${text}`, 'utf16le'), 'wide.csv'],
    ['XML by a position', XML.replace('/r/x', '/r/x[7]'), `<r>${'<x i="1"/>'.repeat(50)}</r>`, 'position.xml'],
    ['XML with elements at any level', XML.replace('/r/x', '//x'), `<r>${'<x i="1"/>'.repeat(50)}</r>`, 'levels.xml'],
    ['XML with what stands around the records', XML.replace('@i', '../@i'), `<r i="1">${'<x/>'.repeat(50)}</r>`, 'around.xml'],
    ['XML with a document type', XML, `<!DOCTYPE r><r>${'<x i="1"/>'.repeat(50)}</r>`, 'type.xml'],
    ['JSON by a position', json('$.x[7]'), JSON.stringify({ x: Array.from({ length: 50 }, (_, id) => ({ id })) }), 'position.json'],
    ['JSON with members as records', json('$.x[*]'), `{"x":{${'"a":{"id":1},'.repeat(50)}"b":{"id":2}}}`, 'members.json'],
    [
      'JSON with parents around the records',
      json('$.x[*]', 'id', ['$^^.n']),
      `{"n":1,"x":[${'{"id":1},'.repeat(50)}{"id":2}]}`,
      'around.json',
    ],
    ['JSON Lines by a position', json('$[7]'), '{"id":1}\n'.repeat(50), 'position.jsonl'],
  ])('%s', async (_, mapping, content, name) => {
    const { slices, result } = await run({ mapping, input: await write(name, content), bytes: 100 });
    expect(slices).toBe(1);
    expect(result.report.records).toBeGreaterThan(0);
  });
});

describe('a view', () => {
  /** Iterators within records, documents within values, fields that multiply, a row for each pair. */
  const mappingOf = (formulation: string, references: readonly [string, string, string], more: string): string =>
    csvMapping(
      `<#V> rml:viewOn <#S> ; rml:field [ rml:fieldName "id" ; rml:reference "${references[0]}" ] , [ rml:fieldName "kind" ; rml:reference "${references[1]}" ] ,
    [ rml:fieldName "items" ; rml:reference "${references[2]}" ; rml:field [ rml:fieldName "item" ; rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]" ;
      rml:field [ rml:fieldName "t" ; rml:reference "$.t" ] , [ rml:fieldName "tag" ; rml:reference "$.tags[*]" ] ] ] ${more} .
  <#Item> rml:logicalSource <#V> ; rml:subjectMap [ rml:template "http://example.com/{kind}/{items.item.#}" ] ;
    rml:predicateObjectMap [ rml:predicate ex:t ; rml:objectMap [ rml:reference "items.item.t" ] , [ rml:template "{items.item.tag}-{id}" ; rml:termType rml:Literal ] ] .
  <#Row> rml:logicalSource <#V> ; rml:subjectMap [ rml:termType rml:BlankNode ] ;
    rml:predicateObjectMap [ rml:predicate ex:kind ; rml:objectMap [ rml:reference "kind" ] ] .`,
      formulation,
      formulation === 'CSV' ? '' : '; rml:iterator "$[*]"',
    );
  const below = dice(7);
  const rows = Array.from({ length: 300 }, (_, id) => ({
    id,
    kind: `k${below(9)}`,
    items:
      below(5) === 0
        ? ''
        : JSON.stringify(Array.from({ length: below(4) }, (__, i) => ({ t: `t${below(3)}`, tags: i === 0 ? [] : ['a', `b${below(3)}`] }))),
    parts: Array.from({ length: below(3) }, () => ({ n: `n${below(4)}` })),
  }));
  const csv = `id,kind,items\n${rows.map(({ id, kind, items }) => `${id},${kind},"${items.replaceAll('"', '""')}"`).join('\n')}\n`;
  const lines = rows.map((row) => JSON.stringify(row)).join('\n');
  const parts = `, [ rml:fieldName "part" ; rml:iterator "$.parts[*]" ; rml:field [ rml:fieldName "n" ; rml:reference "$.n" ] ] .
  <#Part> rml:logicalSource <#V> ; rml:subjectMap [ rml:template "http://example.com/part/{part.n}" ] ;
    rml:predicateObjectMap [ rml:predicate ex:of ; rml:objectMap [ rml:reference "kind" ] ]`;

  test.each([
    ['CSV', mappingOf('CSV', ['id', 'kind', 'items'], ''), csv, 'views-cut.csv'],
    ['JSON Lines', mappingOf('JSONPath', ['$.id', '$.kind', '$.items'], parts), lines, 'views-cut.jsonl'],
  ])('of %s gives in slices what it gives as a whole', async (_, mapping, content, name) => {
    const input = await write(name, content);
    const whole = await run({ mapping, input, bytes: 1e9 });
    const cut = await run({ mapping, input, bytes: 2000 });
    expect([whole.slices, cut.slices > 4]).toEqual([1, true]);
    expect(cut.lines.toSorted()).toEqual(whole.lines.toSorted());
    expect(cut.lines.length).toBe(new Set(cut.lines).size);
    expect(cut.result.report.warnings).toEqual(whole.result.report.warnings);
  });
});

describe('JSON Lines', () => {
  test('warn of a reference that no line has, and not of one that some lines have', async () => {
    const input = await write(
      'sparse.jsonl',
      Array.from({ length: 60 }, (_, id) => JSON.stringify({ id, ...(id === 7 ? { rare: 1 } : {}) })).join('\n'),
    );
    const { result, slices } = await run({ mapping: json('$[*]', 'id', ['rare', 'never']), input, bytes: 100 });
    expect(slices).toBeGreaterThan(5);
    expect(result.report.warnings).toEqual([expect.stringContaining('No record has anything at never')]);
    const strict = run({ mapping: json('$[*]', 'id', ['rare', 'never']), input, bytes: 100, more: { onError: 'strict' } });
    await expect(strict).rejects.toMatchObject({ code: 'mapping/reference', place: { expression: 'never' } });
  });

  describe('behind HTTP', () => {
    const text = Array.from({ length: 300 }, (_, id) => JSON.stringify({ id, a: `a${id}` })).join('\n');
    let server: Server;
    let url: string;
    let asked: string[] = [];
    let etag: string | undefined = '"1"';
    let ranges = true;

    beforeAll(async () => {
      server = createServer(({ headers, url: path }, response) => {
        const range = ranges ? /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') : null;
        asked.push(`${path} ${headers.range ?? ''}`);
        if (etag !== undefined) response.setHeader('etag', etag);
        if (range === null) return void response.end(text);
        const [from, to] = [Number(range[1]), Math.min(Number(range[2]), text.length - 1)];
        response.writeHead(206, { 'content-range': `bytes ${from}-${to}/${text.length}` }).end(text.slice(from, to + 1));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/in.jsonl`;
    });
    afterAll(() => void server?.close());

    const from = async (more: Partial<Given> = {}): Promise<Ran> => {
      asked = [];
      return run({ mapping: json('$[*]'), input: url, bytes: 1500, ...more });
    };

    test('are read in ranges', async () => {
      const whole = await from({ bytes: 0 });
      expect(asked).toEqual(['/in.jsonl ']);
      const cut = await from();
      expect(cut.slices).toBeGreaterThan(3);
      expect(asked.every((request) => request.includes('bytes='))).toBe(true);
      expect(cut.lines).toEqual(whole.lines);
    });

    test('that change between the cut and the reading are noticed', async () => {
      const between = async (): Promise<void> => {
        etag = '"2"';
      };
      await expect(from({ between })).rejects.toMatchObject({ code: 'run/lost', message: expect.stringContaining('has changed') });
    });

    test.each<[string, () => void]>([
      ['does not offer ranges', () => (ranges = false)],
      ['gives no version', () => (etag = undefined)],
    ])('are mapped in one piece when the server %s', async (_, prepare) => {
      [ranges, etag] = [true, '"1"'];
      prepare();
      const { slices, lines } = await from();
      [ranges, etag] = [true, '"1"'];
      expect(slices).toBe(1);
      expect(lines).toHaveLength(600);
    });
  });
});

describe(`a large file${missingRedis === undefined ? '' : ` (skipped: ${missingRedis})`}`, () => {
  const maybe = missingRedis === undefined ? test : test.skip;
  const COUNT = 60_000;
  let home: Awaited<ReturnType<typeof temporaryDirectory>>;
  let fleet: Fleet;

  beforeAll(async () => {
    if (missingRedis !== undefined) return;
    home = await temporaryDirectory();
    // The last rows have the subjects of the first ones.
    const rows = Array.from({ length: COUNT }, (_, i) => [`${i % (COUNT - 100)}`, `a\n${i}`, `k${i % 7}`] as const);
    const text = rows.map(([id, a, kind]) => `${id},"${a}",${kind}`).join('\n');
    await writeFile(join(home.path, 'large.csv'), `id,a,kind\n${text}\n`);
    const columns = ['id', 'a', 'kind'].map((name, at) => ({ name, type: 'STRING' as const, data: rows.map((row) => row[at]) }));
    await writeFile(join(home.path, 'large.parquet'), parquet(columns, { rowGroupSize: 4_000 }));
    await writeFile(join(home.path, 'mapping.ttl'), LARGE);
    fleet = await startFleet(home.path, {
      SERVICE: 'semi-structured-transformer',
      WORKER_CONCURRENCY: '1',
      SLICE_BYTES: '100000',
    });
  }, 60_000);

  afterAll(async () => {
    await fleet?.stop();
    await home?.remove();
  });

  const ran = async (input = 'large.csv') => {
    const request = { inputFileURL: join(home.path, input), mappingURL: join(home.path, 'mapping.ttl') };
    return outputOf(await postJson(`${fleet.api.url}/process`, request));
  };

  maybe(
    'is mapped by all workers of a fleet, and gives what one of them would, under one manifest',
    async () => {
      const shared = await ran();
      for (const worker of fleet.workers) await worker.waitForLog('slice started', (line) => line.run === shared.report.runId);
      expect(shared.report.outputFileLocations.length).toBeGreaterThan(5);
      const output = join(home.path, 'data', 'output');
      const files = (await readdir(output)).filter((name) => name.includes(shared.report.runId));
      expect(files.filter((name) => name.startsWith('.'))).toEqual([]);
      const manifests = files.filter((name) => name.endsWith('.manifest.json'));
      expect(files).toHaveLength(shared.report.outputFileLocations.length + manifests.length);
      expect(manifests).toHaveLength(1);
      const { parts, quads } = JSON.parse(await readFile(join(output, manifests[0] as string), 'utf8'));
      expect(parts).toHaveLength(shared.report.outputFileLocations.length);

      await fleet.change('SLICE_BYTES', '0');
      const alone = await ran();
      await fleet.change('SLICE_BYTES', '100000');
      expect(alone.report.outputFileLocations).toHaveLength(1);
      expect(shared.report).toMatchObject({ records: COUNT, quads: alone.report.quads });
      expect(quads).toBe(shared.lines.length);
      expect(new Set(shared.lines).size).toBe(shared.lines.length);
      expect(shared.lines.join('\n') === alone.lines.join('\n')).toBe(true);
    },
    60_000,
  );

  maybe(
    'of Parquet is shared by its row groups, and gives what its rows give as CSV',
    async () => {
      const shared = await ran('large.parquet');
      for (const worker of fleet.workers) await worker.waitForLog('slice started', (line) => line.run === shared.report.runId);
      expect(shared.report.outputFileLocations.length).toBeGreaterThan(5);
      await fleet.change('SLICE_BYTES', '0');
      const [csv, alone] = [await ran(), await ran('large.parquet')];
      await fleet.change('SLICE_BYTES', '100000');
      expect(shared.report).toMatchObject({ records: COUNT, quads: csv.report.quads });
      // The batches of the two formats have different sizes, and so have the turns that their triples maps take.
      const sorted = ({ lines }: Pick<typeof csv, 'lines'>): string => [...lines].sort().join('\n');
      expect(sorted(shared) === sorted(csv)).toBe(true);
      expect(sorted(alone) === sorted(csv)).toBe(true);
    },
    60_000,
  );

  maybe(
    'is not shared for a format that has no lines, unless statements may repeat',
    async () => {
      await fleet.change('OUTPUT_FILE_FORMAT', 'turtle');
      expect((await ran()).report.outputFileLocations).toHaveLength(1);
      await fleet.change('DISTINCT', 'false');
      expect((await ran()).report.outputFileLocations.length).toBeGreaterThan(5);
    },
    60_000,
  );
});
