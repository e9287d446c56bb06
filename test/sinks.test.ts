import { createHash } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { JsonLdParser } from 'jsonld-streaming-parser';
import { Parser, type Quad, type Term } from 'n3';
import { Fault } from '../src/fault.ts';
import { type FileSinkOptions, openFileSink } from '../src/sinks/file.ts';
import { graphStart } from '../src/sinks/lines.ts';
import type { OutputFormat } from '../src/sinks/sink.ts';
import { openStreamSink } from '../src/sinks/stream.ts';
import { toBytes } from '../src/text.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-sinks-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const open = (options: Partial<FileSinkOptions> = {}) =>
  openFileSink({ directory, name: 'out.nq', attempt: 1, format: 'nquads', durable: false, ...options });

describe('a file sink', () => {
  test('shows nothing under the final name before commit, and nothing else after', async () => {
    const sink = await open();
    await sink.write('<a> <b> <c> .\n');
    expect(await readdir(directory)).toEqual(['.out.nq.1.part']);
    await sink.commit();
    expect(await readdir(directory)).toEqual(['out.nq']);
  });

  test('tells location, bytes and SHA-256 of what it wrote', async () => {
    const sink = await open({ durable: true });
    const text = '<http://e/ü> <http://e/p> "日本" .\n';
    await sink.write(toBytes(text));
    const expected = Buffer.from(text);
    expect(await sink.commit()).toEqual([
      {
        url: pathToFileURL(join(directory, 'out.nq')).href,
        bytes: expected.length,
        sha256: createHash('sha256').update(expected).digest('hex'),
      },
    ]);
    expect(await readFile(join(directory, 'out.nq'), 'utf8')).toBe(text);
  });

  test.each([
    ['many small writes', 1_000, 3_000],
    ['writes larger than its buffers', 2_600_000, 3],
    ['writes of exactly a buffer', 1 << 20, 3],
    ['nothing', 0, 0],
  ])('keeps order and content over %s', async (_, length, count) => {
    const sink = await open();
    const hash = createHash('sha256');
    for (let i = 0; i < count; i++) {
      const lines = `${String(i).padStart(length - 1, 'xyz')}\n`;
      hash.update(lines);
      await sink.write(lines);
    }
    const [part] = await sink.commit();
    const content = await readFile(join(directory, 'out.nq'));
    expect(content.length).toBe(length * count);
    expect([part?.bytes, part?.sha256]).toEqual([length * count, hash.copy().digest('hex')]);
    expect(createHash('sha256').update(content).digest('hex')).toBe(hash.digest('hex'));
  });

  test('leaves nothing behind when it is aborted, at any time', async () => {
    const early = await open();
    await early.abort();
    const late = await open({ attempt: 2 });
    await late.write('x'.repeat(3 << 20));
    await late.abort();
    expect(await readdir(directory)).toEqual([]);
  });

  test('of one attempt does not disturb the other', async () => {
    const [first, second] = [await open({ attempt: 1 }), await open({ attempt: 2 })];
    await first.write('first\n');
    await second.write('second\n');
    await second.commit();
    await first.abort();
    expect(await readFile(join(directory, 'out.nq'), 'utf8')).toBe('second\n');
  });

  test('that cannot be renamed fails with the path, and aborts cleanly after that', async () => {
    await mkdir(join(directory, 'out.nq', 'x'), { recursive: true });
    const sink = await open();
    await expect(sink.commit()).rejects.toMatchObject({ code: 'sink/failed', message: expect.stringContaining(join(directory, 'out.nq')) });
    await sink.abort();
    expect(await readdir(directory)).toEqual(['out.nq']);
  });

  test('goes on in a further part after each cut, and shows all of them at once', async () => {
    const sink = await open({ durable: true });
    for (const lines of ['<a> <b> "1" .\n', '<a> <b> "2" .\n', '<a> <b> "3" .\n']) {
      await sink.write(lines);
      await sink.cut();
    }
    expect((await readdir(directory)).sort()).toEqual(['.out-2.nq.1.part', '.out-3.nq.1.part', '.out.nq.1.part']);
    const parts = await sink.commit();
    expect(parts.map(({ url }) => url)).toEqual(
      ['out.nq', 'out-2.nq', 'out-3.nq'].map((name) => pathToFileURL(join(directory, name)).href),
    );
    expect((await readdir(directory)).sort()).toEqual(['out-2.nq', 'out-3.nq', 'out.nq']);
    for (const [i, part] of parts.entries()) {
      const text = await readFile(new URL(part.url), 'utf8');
      expect(text).toBe(`<a> <b> "${i + 1}" .\n`);
      expect(part).toMatchObject({ bytes: text.length, sha256: createHash('sha256').update(text).digest('hex') });
    }
  });

  test('makes no part without a statement, but always one part', async () => {
    const sink = await open();
    await sink.cut();
    await sink.write('<a> <b> "1" .\n');
    await sink.cut();
    await sink.write('');
    await sink.cut();
    await sink.write('<a> <b> "2" .\n');
    await sink.cut();
    await sink.cut();
    expect((await sink.commit()).map(({ bytes }) => bytes)).toEqual([14, 14]);
    expect((await readdir(directory)).sort()).toEqual(['out-2.nq', 'out.nq']);
    const nothing = await open({ name: 'none.nq' });
    await nothing.cut();
    expect(await nothing.commit()).toMatchObject([{ bytes: 0 }]);
  });

  test('removes all parts when it is aborted, also after a part could not be renamed', async () => {
    const write = async (attempt: number) => {
      const sink = await open({ attempt });
      for (const lines of ['<a> <b> "1" .\n', '<a> <b> "2" .\n', '<a> <b> "3" .\n']) {
        await sink.cut();
        await sink.write(lines);
      }
      return sink;
    };
    await (await write(1)).abort();
    expect(await readdir(directory)).toEqual([]);
    await mkdir(join(directory, 'out-2.nq', 'in the way'), { recursive: true });
    const second = await write(2);
    await expect(second.commit()).rejects.toMatchObject({ code: 'sink/failed', message: expect.stringContaining('out-2.nq') });
    await second.abort();
    expect(await readdir(directory)).toEqual(['out-2.nq']);
  });

  test('that is only finished leaves complete parts under their temporary names', async () => {
    const sink = await open({ attempt: '2-5-1' });
    await sink.write('<a> <b> "1" .\n');
    await sink.cut();
    await sink.write('<a> <b> "22" .\n');
    expect(await sink.finish()).toMatchObject([
      { file: '.out.nq.2-5-1.part', bytes: 14, empty: false },
      { file: '.out-2.nq.2-5-1.part', bytes: 15, empty: false },
    ]);
    expect(await readFile(join(directory, '.out-2.nq.2-5-1.part'), 'utf8')).toBe('<a> <b> "22" .\n');
    await sink.abort();
    expect(await readdir(directory)).toEqual([]);
    expect(await (await open()).finish()).toMatchObject([{ bytes: 0, empty: true }]);
  });

  test('whose directory cannot be made fails in words', async () => {
    await expect(open({ directory: '/dev/null/x' })).rejects.toMatchObject({ code: 'sink/failed' });
  });
});

describe('a stream sink', () => {
  test('fails with name and reason when the disk is full', async () => {
    if (!(await stat('/dev/full').catch(() => undefined))) return;
    const descriptor = openSync('/dev/full', 'w');
    const sink = await openStreamSink({ descriptor, name: 'standard output', format: 'nquads' });
    await sink.write('x\n');
    await expect(sink.commit()).rejects.toMatchObject({
      code: 'sink/failed',
      message: 'standard output cannot be written: the disk is full',
    });
    await sink.abort();
    closeSync(descriptor);
  });

  test('reports a full disk in a later write too', async () => {
    if (!(await stat('/dev/full').catch(() => undefined))) return;
    const descriptor = openSync('/dev/full', 'w');
    const sink = await openStreamSink({ descriptor, name: 'standard output', format: 'nquads' });
    const writing = async (): Promise<void> => {
      for (let i = 0; i < 10; i++) await sink.write('x'.repeat(1 << 20));
    };
    await expect(writing()).rejects.toBeInstanceOf(Fault);
    await sink.abort();
    closeSync(descriptor);
  });
});

const NQUADS = `<http://e/a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/Person> .
<http://e/a> <http://e/name> "Zoë \\"Z\\" \\\\ \\n. <x> <y> ."@en-GB .
<http://e/a> <http://e/age> "7"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://e/a> <http://e/knows> _:b1 .
_:b1 <http://e/name> "日本" .
`;
const GRAPHED = `${NQUADS}<http://e/a> <http://e/p> "v"@en <http://e/g> .
<http://e/a> <http://e/p> <http://e/o> _:g2 .
<http://e/a> <http://e/p> "1"^^<http://e/d> <http://e/g> .
`;

/** Blank labels in order of appearance, lines sorted. */
const asLines = (quads: readonly Quad[]): string[] => {
  const labels = new Map<string, string>();
  const shown = (term: Term): string => {
    if (term.termType === 'BlankNode') return `_:${labels.get(term.value) ?? labels.set(term.value, `x${labels.size}`).get(term.value)}`;
    if (term.termType === 'Literal') return `"${term.value}"@${term.language.toLowerCase()}^^${term.datatype.value}`;
    return `${term.termType} ${term.value}`;
  };
  return quads.map((q) => [q.subject, q.predicate, q.object, q.graph].map((term) => shown(term as Term)).join(' | ')).sort();
};
const parse = (text: string, format: string): Quad[] => new Parser({ format, blankNodePrefix: '' }).parse(text);

async function convert(format: OutputFormat, nquads: string, perWrite = 1): Promise<string> {
  const sink = await openFileSink({ directory, name: 'out', attempt: 1, format, durable: false, prefixes: { e: 'http://e/' } });
  const lines = toBytes(nquads).split(/(?<=\n)/);
  try {
    for (let i = 0; i < lines.length; i += perWrite) await sink.write(lines.slice(i, i + perWrite).join(''));
    await sink.commit();
  } catch (error) {
    await sink.abort();
    throw error;
  }
  return readFile(join(directory, 'out'), 'utf8');
}

describe('a format', () => {
  test.each<[OutputFormat, string, string]>([
    ['ntriples', 'N-Triples', NQUADS],
    ['turtle', 'Turtle', NQUADS],
    ['trig', 'TriG', NQUADS],
    ['trig', 'TriG', GRAPHED],
  ])('%s says the same as the N-Quads', async (format, parser, nquads) => {
    for (const perWrite of [1, 100]) {
      expect(asLines(parse(await convert(format, nquads, perWrite), parser))).toEqual(asLines(parse(nquads, 'N-Quads')));
    }
  });

  test.each([NQUADS, GRAPHED, ''])('jsonld says the same as the N-Quads', async (nquads) => {
    const text = await convert('jsonld', nquads, 2);
    const quads = (await Readable.from([text]).pipe(new JsonLdParser()).toArray()) as Quad[];
    expect(asLines(quads)).toEqual(asLines(parse(nquads, 'N-Quads')));
  });

  test.each<[OutputFormat, string]>([
    ['ntriples', 'nt'],
    ['turtle', 'ttl'],
    ['trig', 'trig'],
    ['jsonld', 'jsonld'],
  ])('%s makes of each part a document of its own', async (format, extension) => {
    const sink = await openFileSink({ directory, name: `out.${extension}`, attempt: 1, format, durable: false });
    const halves = [NQUADS.slice(0, NQUADS.indexOf('_:b1 <')), NQUADS.slice(NQUADS.indexOf('_:b1 <'))];
    for (const half of halves) {
      await sink.write(toBytes(half));
      await sink.cut();
    }
    const quads: Quad[][] = [];
    for (const { url } of await sink.commit()) {
      const text = await readFile(new URL(url), 'utf8');
      if (format === 'jsonld') quads.push((await Readable.from([text]).pipe(new JsonLdParser()).toArray()) as Quad[]);
      else quads.push(parse(text, { ntriples: 'N-Triples', turtle: 'Turtle', trig: 'TriG' }[format as 'turtle']));
    }
    expect(quads.map(asLines)).toEqual(halves.map((half) => asLines(parse(half, 'N-Quads'))));
    expect((await readdir(directory)).sort()).toEqual([`out-2.${extension}`, `out.${extension}`]);
  });

  test('turtle uses the given prefixes', async () => {
    expect(await convert('turtle', NQUADS)).toContain('e:a a e:Person');
  });

  test.each<OutputFormat>(['ntriples', 'turtle'])('%s refuses a named graph and says what to ask for', async (format) => {
    await expect(convert(format, GRAPHED)).rejects.toMatchObject({
      code: 'mapping/invalid',
      message: expect.stringContaining('<http://e/g>'),
      hint: expect.stringContaining('nquads'),
    });
    expect(await readdir(directory)).toEqual([]);
  });

  test('other than nquads refuses an IRI with a space in words', async () => {
    await expect(convert('turtle', '<http://e/a b> <http://e/p> <http://e/o> .\n')).rejects.toMatchObject({ code: 'sink/failed' });
  });
});

test.each([
  ['<s> <p> <o> .\n', ''],
  ['<s> <p> <o> <g> .\n', '<g> .\n'],
  ['_:s <p> _:o .\n', ''],
  ['_:s <p> _:o _:g .\n', '_:g .\n'],
  ['<s> <p> "a . <g> .\\" <x> " .\n', ''],
  ['<s> <p> "a\\\\" <g> .\n', '<g> .\n'],
  ['<s> <p> "a"@en .\n', ''],
  ['<s> <p> "a"@en <g> .\n', '<g> .\n'],
  ['<s> <p> "a"^^<d> .\n', ''],
  ['<s> <p> "a"^^<d> <g> .\n', '<g> .\n'],
  ['<s x> <p> <o y> .\n', ''],
  ['\n', ''],
])('the graph of %j is %j', (line, graph) => {
  const lines = `<a> <b> <c> <d> .\n${line}<e> <f> <g> <h> .\n`;
  const [from, end] = [18, 18 + line.length];
  const at = graphStart(lines, from, end);
  expect(at === -1 ? '' : lines.slice(at, end)).toBe(graph);
});
