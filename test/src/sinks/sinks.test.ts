import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Fault } from '../../../src/core/fault.ts';
import { toBytes } from '../../../src/core/text.ts';
import { type FileSinkOptions, openFileSink } from '../../../src/sinks/file.ts';
import { openStreamSink } from '../../../src/sinks/stream.ts';
import { PROJECT_ROOT } from '../../support/project-root.ts';

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
      await sink.rollOver();
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
    await sink.rollOver();
    await sink.write('<a> <b> "1" .\n');
    await sink.rollOver();
    await sink.write('');
    await sink.rollOver();
    await sink.write('<a> <b> "2" .\n');
    await sink.rollOver();
    await sink.rollOver();
    expect((await sink.commit()).map(({ bytes }) => bytes)).toEqual([14, 14]);
    expect((await readdir(directory)).sort()).toEqual(['out-2.nq', 'out.nq']);
    const nothing = await open({ name: 'none.nq' });
    await nothing.rollOver();
    expect(await nothing.commit()).toMatchObject([{ bytes: 0 }]);
  });

  test('removes all parts when it is aborted, also after a part could not be renamed', async () => {
    const write = async (attempt: number) => {
      const sink = await open({ attempt });
      for (const lines of ['<a> <b> "1" .\n', '<a> <b> "2" .\n', '<a> <b> "3" .\n']) {
        await sink.rollOver();
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
    await sink.rollOver();
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

  test('that may not become larger fails with the reason while others wait to be written, and leaves nothing', async () => {
    const rows = Array.from({ length: 60_000 }, (_, i) => `${i},${'x'.repeat(100)}`);
    await writeFile(join(directory, 'data.csv'), `id,name\n${rows.join('\n')}\n`);
    await writeFile(
      join(directory, 'mapping.ttl'),
      `@prefix rml: <http://w3id.org/rml/> .
      <#P> a rml:TriplesMap ;
        rml:logicalSource [ a rml:LogicalSource ; rml:source [ a rml:RelativePathSource ; rml:path "data.csv" ] ; rml:referenceFormulation rml:CSV ] ;
        rml:subjectMap [ rml:template "http://e/{id}" ] ;
        rml:predicateObjectMap [ rml:predicate <http://e/name> ; rml:objectMap [ rml:reference "name" ] ] .`,
    );
    const quadmill = join(PROJECT_ROOT, 'bin', 'quadmill.js');
    const script = 'ulimit -f 4096; exec "$0" "$1" run mapping.ttl -o out.nq';
    const { status, stderr } = spawnSync('sh', ['-c', script, process.execPath, quadmill], { cwd: directory, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringMatching(/out\.nq cannot be written: the file may not become larger/),
    });
    expect((await readdir(directory)).sort()).toEqual(['data.csv', 'mapping.ttl']);
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
