/** Large files cut into slices: what the slices give together is what one pass over the file would give. */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { SliceResult } from '../../../queues/jobs.ts';
import { RUN_DEFAULTS } from '../../../src/config/run-defaults.ts';
import type { Fault } from '../../../src/core/fault.ts';
import { quietLogger } from '../../../src/core/telemetry/observe.ts';
import type { RunRequest, RunSlice } from '../../../src/run/request.ts';
import { openCsv } from '../../../src/sources/csv/csv.ts';
import { CsvCuts } from '../../../src/sources/csv/cuts.ts';
import type { ReadOptions } from '../../../src/sources/source.ts';
import type { RunResult, Task } from '../../../workers/task.ts';
import { ThreadPool } from '../../../workers/threads/pool.ts';
import { missingRedis } from '../../servers/redis.ts';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { type Fleet, outputOf, startFleet } from '../../support/service/fleet.ts';
import { postJson } from '../../support/service/process.ts';

const PREFIXES = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://example.com/ns#> .
  @prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix ql: <http://semweb.mmlab.be/ns/ql#> .\n`;
const csvMapping = (maps: string, formulation = 'CSV', iterator = ''): string =>
  `${PREFIXES}<#S> a rml:LogicalSource ; rml:source [ a rml:RelativePathSource ; rml:path "in" ] ;
    rml:referenceFormulation rml:${formulation} ${iterator} .\n${maps}`;

/** Every value of a row; a kind that many rows share; a statement that two rules make. */
const ROWS = csvMapping(`
<#Row> rml:logicalSource <#S> ; rml:subjectMap [ rml:template "http://example.com/row/{id}" ; rml:class ex:Row ] ;
  rml:predicateObjectMap [ rml:predicate ex:a ; rml:objectMap [ rml:reference "a" ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:b ; rml:objectMap [ rml:reference "b" ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:kind ; rml:objectMap [ rml:template "http://example.com/kind/{kind}" ] ] .
<#Kind> rml:logicalSource <#S> ; rml:subjectMap [ rml:template "http://example.com/kind/{kind}" ; rml:class ex:Kind ] ;
  rml:predicateObjectMap [ rml:predicate ex:a ; rml:objectMap [ rml:reference "kind" ] ] .
<#Both> rml:logicalSource <#S> ; rml:subjectMap [ rml:constant ex:all ] ;
  rml:predicateObjectMap [ rml:predicate ex:has ; rml:objectMap [ rml:template "http://example.com/kind/{kind}" ] ] ;
  rml:predicateObjectMap [ rml:predicateMap [ rml:template "http://example.com/ns#{kind}" ] ; rml:objectMap [ rml:reference "kind" ] ] .
`);

const KEYED = csvMapping(`<#Row> rml:logicalSource <#S> ; rml:subjectMap [ rml:template "http://example.com/row/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:a ; rml:objectMap [ rml:reference "a" ] ] .`);
const XML = csvMapping(
  `<#X> rml:logicalSource <#S> ; rml:subjectMap [ rml:template "http://example.com/{@i}" ; rml:class ex:X ] .`,
  'XPath',
  '; rml:iterator "/r/x"',
);
const json = (iterator: string, id = 'id', references: readonly string[] = []): string =>
  csvMapping(
    `<#L> rml:logicalSource <#S> ; rml:subjectMap [ rml:template "http://example.com/{${id}}" ; rml:class ex:L ] ${[id, ...references]
      .map((name) => `; rml:predicateObjectMap [ rml:predicate ex:${name} ; rml:objectMap [ rml:reference "${name}" ] ]`)
      .join(' ')} .`,
    'JSONPath',
    `; rml:iterator "${iterator}"`,
  );

const LARGE = csvMapping(`
<#Row> rml:logicalSource <#S> ; rml:subjectMap [ rml:template "http://example.com/row/{id}" ; rml:class ex:Row ] ;
  rml:predicateObjectMap [ rml:predicate ex:a ; rml:objectMap [ rml:reference "a" ] ] .
<#Kind> rml:logicalSource <#S> ; rml:subjectMap [ rml:template "http://example.com/kind/{kind}" ; rml:class ex:Kind ] .`);

let directory: string;
let pool: ThreadPool;
let runs = 0;
const never = new AbortController().signal;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-slices-'));
  pool = new ThreadPool({ memoryMb: 256 }, quietLogger());
});
afterAll(async () => {
  await pool?.close();
  await rm(directory, { recursive: true, force: true });
});

interface Given {
  readonly mapping: string;
  /** Name of the file, or a URL. */
  readonly input: string;
  readonly bytes: number;
  readonly more?: Partial<RunRequest>;
  /** Called when the run is cut, before the slices are mapped. */
  readonly between?: () => Promise<void>;
}

async function taskFor({ mapping, input, bytes, more }: Given): Promise<Task> {
  const id = `r${runs++}`;
  const output = join(directory, id);
  await mkdir(output);
  await writeFile(join(output, 'mapping.ttl'), mapping);
  const request: RunRequest = {
    ...RUN_DEFAULTS,
    runId: id,
    mappings: [join(output, 'mapping.ttl')],
    inputs: [{ name: 'in', url: input }],
    workingDirectory: directory,
    spillDirectory: join(directory, 'spill', `Service-${id}.1`),
    ...more,
  };
  return {
    request,
    slices: { rows: 0, bytes },
    output: { directory: output, name: `Service-${id}`, format: 'nquads', attempt: '1', service: 'S' },
  };
}

interface Ran {
  readonly result: RunResult;
  /** Of all parts, in their order. */
  readonly lines: readonly string[];
  readonly slices: number;
}

/** A run whose slices are mapped by the threads of one pool, as a fleet would. */
async function run(given: Given): Promise<Ran> {
  const task = await taskFor(given);
  const mapSlice = (slice: RunSlice): Promise<SliceResult> => {
    const attempt = `1-${slice.index}-1`;
    const request = { ...task.request, slice, spillDirectory: join(directory, 'spill', `${task.output.name}.${attempt}`) };
    return pool.runSlice({ request, slices: { rows: 0, bytes: 0 }, output: { ...task.output, attempt } }, hooks);
  };
  const hooks = { signal: never, progress: () => undefined, assertMayCommit: async () => undefined };
  let slices = 1;
  const share = async (cut: readonly RunSlice[]): Promise<readonly SliceResult[]> => {
    slices = cut.length;
    await given.between?.();
    const results: SliceResult[] = [];
    // As they come back from the queue.
    for (let i = 0; i < cut.length; i += 4) results.push(...(await Promise.all(cut.slice(i, i + 4).map(mapSlice))));
    return JSON.parse(JSON.stringify(results));
  };
  const result = await pool.run(task, { ...hooks, scatter: share });
  const texts = await Promise.all(result.parts.map(({ url }) => readFile(fileURLToPath(url), 'utf8')));
  for (const [i, { sha256 }] of result.parts.entries()) {
    expect(sha256).toBe(
      createHash('sha256')
        .update(texts[i] as string)
        .digest('hex'),
    );
  }
  return { result, lines: texts.flatMap((text) => text.split('\n').slice(0, -1)), slices };
}

const write = async (name: string, text: string | Buffer): Promise<string> => {
  await writeFile(join(directory, name), text);
  return name;
};

/** A small generator with a seed, so that a failure can be repeated. */
function dice(seed: number): (below: number) => number {
  let state = (seed * 2654435761) >>> 0 || 1;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const CELLS = ['', 'x', 'ü', '"', 'a"b', 'a, b', 'line\nfeed', '\n', '\r\n', 'cr\rcr', '""', ',', '"\n"', '10', 'x\n\ny', '\t'];

/** A table whose cells are quoted where they must be, and sometimes where they need not be. */
function table(seed: number, delimiter = ','): string {
  const below = dice(seed);
  const quoted = (cell: string): string => `"${cell.replaceAll('"', '""')}"`;
  const cell = (text: string): string => (new RegExp(`[\n\r${delimiter}]|^"`).test(text) || below(4) === 0 ? quoted(text) : text);
  const end = ['\n', '\r\n', '\n\n'][below(3)] as string;
  const rows = Array.from({ length: 3 + below(30) }, (_, i) => {
    const id = below(4) === 0 ? String(below(i + 1)) : String(i);
    const random = (): string => CELLS[below(CELLS.length)] as string;
    return [id, random(), random(), `k${below(3)}`].map(cell).join(delimiter);
  });
  const mark = below(4) === 0 ? '\ufeff' : '';
  return `${mark}id,a,b,kind`.replaceAll(',', delimiter) + end + rows.join(end) + (below(2) === 0 ? end : '');
}

describe('a CSV file', () => {
  /** A row is an array of its cells. */
  const rowsOf = async (bytes: Buffer): Promise<readonly unknown[]> => {
    const reading: ReadOptions = { name: 'x', dialect: 'rml', nulls: [], encoding: undefined, namespaces: {}, maxRecordBytes: 1e6 };
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
      for (const cut of cuts.cuts) {
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

  test.each(Array.from({ length: 15 }, (_, i) => [i]))(
    'of random rows gives the same in slices of whatever size (seed %i)',
    async (seed) => {
      const tabs = seed % 5 === 4;
      const text = table(seed, tabs ? '\t' : ',');
      const input = await write(`random-${seed}.${tabs ? 'tsv' : 'csv'}`, text);
      const memoryBudgetBytes = seed % 3 === 0 ? 4096 : RUN_DEFAULTS.memoryBudgetBytes;
      for (const distinct of [true, false]) {
        const whole = await run({ mapping: ROWS, input, bytes: 0, more: { distinct } });
        expect(whole.slices).toBe(1);
        const sizes = [7, 16 + seed, 1 + dice(seed)(text.length)];
        for (const bytes of sizes) {
          const cut = await run({ mapping: ROWS, input, bytes, more: { distinct, memoryBudgetBytes } });
          expect(cut.lines.toSorted()).toEqual(whole.lines.toSorted());
          if (bytes === 7) expect(cut.slices).toBeGreaterThan(1);
          const { records } = whole.result.report;
          expect(cut.result.report).toMatchObject({ records, quads: whole.lines.length });
        }
      }
    },
    60_000,
  );

  const dialect = (csvw: string): string =>
    ROWS.replace('rml:path "in"', `rml:path "in" ; csvw:dialect [ ${csvw} ]`).replace(
      '\n',
      ' @prefix csvw: <http://www.w3.org/ns/csvw#> .\n',
    );

  test.each<[name: string, csvw: string, delimiter: string, change: (text: string) => string | Buffer, isCut: boolean]>([
    ['semicolons', 'csvw:delimiter ";"', ';', (text) => text, true],
    ['semicolons and a byte order mark', 'csvw:delimiter ";"', ';', (text) => `\ufeff${text}`, true],
    [
      'bars and apostrophes',
      `csvw:delimiter "|" ; csvw:quoteChar "'"`,
      '|',
      (text) => text.replaceAll("'", '´').replaceAll('"', "'"),
      true,
    ],
    ['comments', 'csvw:commentPrefix "#"', ',', (text) => text.replace(/(?<=^[\d",]*\n)(?=\d)/gm, '# "a\n').replace(/\n$/, '\n#"'), true],
    ['rows before the header', 'csvw:skipRows 3', ',', (text) => `"a\n"b\n\nx"\n${text}`, true],
    ['a header of two rows', 'csvw:headerRowCount 2', ',', (text) => text.replace(/[\r\n]+/, '$&x,"x\ny",,\n'), true],
    ['blank rows as records', 'csvw:skipBlankRows false', ',', (text) => text.replace(/\n\n/g, '\n'), true],
    ['UTF-16', 'csvw:delimiter ";" ; csvw:encoding "UTF-16"', ';', (text) => Buffer.from(`\ufeff${text}`, 'utf16le'), false],
    ['latin1', 'csvw:delimiter ";" ; csvw:encoding "latin1"', ';', (text) => Buffer.from(text, 'latin1'), false],
    ['escapes', 'csvw:doubleQuote false', ',', (text) => text.replaceAll('""', '\\"').replace(/\\"(?=[,\r\n])/g, '""'), false],
    ['trimmed cells', 'csvw:trim true', ',', (text) => text.replace(/,"/g, ', "'), false],
    ['long comment signs', 'csvw:commentPrefix "//"', ',', (text) => `// "a\n${text}`, false],
  ])('of another dialect gives the same in slices: %s', async (name, csvw, delimiter, change, isCut) => {
    const mapping = dialect(csvw);
    let most = 0;
    for (const seed of [1, 2, 3, 5]) {
      const text = table(seed + 7, delimiter).replace('\ufeff', '');
      const input = await write(`dialect-${seed}.csv`, change(text));
      const whole = await run({ mapping, input, bytes: 0 }).catch((error) => error);
      for (const bytes of [7, 23, 90]) {
        const cut = await run({ mapping, input, bytes }).catch((error) => error);
        // Random text may be malformed in one of the dialects: then it is so in slices.
        if (whole instanceof Error) expect(cut).toMatchObject({ code: (whole as Fault).code, message: whole.message });
        else expect(cut.lines.toSorted()).toEqual(whole.lines.toSorted());
        if (!(whole instanceof Error)) most = Math.max(most, cut.slices);
      }
    }
    expect([name, most > 1]).toEqual([name, isCut]);
    expect(most).toBeGreaterThan(0);
  });

  test('keeps its parts as they are when its subjects do not repeat', async () => {
    const rows = Array.from({ length: 500 }, (_, i) => `${i},"a ${i}"`).join('\n');
    const input = await write('keyed.csv', `id,a\n${rows}\n`);
    const { result, lines, slices } = await run({ mapping: KEYED, input, bytes: 1000 });
    expect(slices).toBeGreaterThan(5);
    expect(result.parts).toHaveLength(slices);
    expect(lines).toEqual((await run({ mapping: KEYED, input, bytes: 0 })).lines);
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

  test('gives each row a blank node of its own, also in different slices', async () => {
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

  test.each<[string, string, string | Buffer, string]>([
    ['a join', joined, text, 'joined.csv'],
    ['a file as large as a slice', KEYED, text.slice(0, 100), 'small.csv'],
    ['gzip', KEYED, gzipSync(text), 'packed.csv.gz'],
    ['UTF-16', KEYED, Buffer.from(`\ufeff${text}`, 'utf16le'), 'wide.csv'],
    ['XML', XML, `<r>${'<x i="1"/>'.repeat(50)}</r>`, 'in.xml'],
    ['a JSON document', json('$.x[*]'), JSON.stringify({ x: Array.from({ length: 50 }, (_, id) => ({ id })) }), 'in.json'],
    ['JSON Lines by a position', json('$[7]'), '{"id":1}\n'.repeat(50), 'position.jsonl'],
  ])('%s', async (_, mapping, content, name) => {
    const { slices, result } = await run({ mapping, input: await write(name, content), bytes: 100 });
    expect(slices).toBe(1);
    expect(result.report.records).toBeGreaterThan(0);
  });
});

describe('JSON Lines', () => {
  const lines = (seed: number): string => {
    const below = dice(seed);
    const values = Array.from({ length: 5 + below(40) }, (_, i) => {
      const value = {
        id: below(3) === 0 ? below(i + 1) : i,
        a: ['ü', 'x\ny', null, '', `{"a":1}`][below(5)],
        list: [{ n: i }, { n: below(3) }],
      };
      // Values over several lines are no JSON Lines, and read all the same.
      return JSON.stringify(value, undefined, below(6) === 0 ? 1 : 0);
    });
    return (below(3) === 0 ? '\ufeff' : '') + values.join(['\n', '\r\n', '\n\n'][below(3)]) + (below(2) === 0 ? '\n' : '');
  };

  test.each(Array.from({ length: 8 }, (_, i) => [i]))('give the same in slices of whatever size (seed %i)', async (seed) => {
    const input = await write(`random-${seed}.jsonl`, lines(seed));
    for (const mapping of [json('$[*]'), json('$[*].list[*]', 'n')]) {
      const whole = await run({ mapping, input, bytes: 0 });
      for (const bytes of [20, 60, 200 + seed]) {
        const cut = await run({ mapping, input, bytes });
        expect(cut.lines.toSorted()).toEqual(whole.lines.toSorted());
        expect(cut.result.report.records).toBe(whole.result.report.records);
      }
    }
  });

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
    const rows = Array.from({ length: COUNT }, (_, i) => `${i % (COUNT - 100)},"a\n${i}",k${i % 7}`).join('\n');
    await writeFile(join(home.path, 'large.csv'), `id,a,kind\n${rows}\n`);
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

  const ran = async () => {
    const request = { inputFileURL: join(home.path, 'large.csv'), mappingURL: join(home.path, 'mapping.ttl') };
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
