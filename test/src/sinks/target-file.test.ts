/** Files of logical targets: every serialisation, compression and encoding, read back by programs that are not ours. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { fromBuffer } from 'yauzl';
import { headersOf } from '../../../src/sinks/packing/tar.ts';
import { SERIALIZATIONS, type Serialization, TEXT_ENCODINGS, type TextEncoding } from '../../../src/sinks/sink.ts';
import { openTargetFile, type TargetFileOptions } from '../../../src/sinks/target-file.ts';
import { COMPRESSIONS, type Compression } from '../../../src/storage/compression.ts';
import { openInput } from '../../../src/storage/open.ts';
import { Random } from '../../support/random.ts';
import { randomDataset } from '../../support/random-dataset.ts';
import { xzDecompress } from '../storage/xz-program.ts';
import { batchesOf, canSay, directoryOfTest, expectSame, PREFIXES, WITHOUT_GRAPHS } from './read-back.ts';

const ENDING: Readonly<Record<Compression, string>> = { none: '', gzip: '.gz', zip: '.zip', targz: '.tar.gz', tarxz: '.tar.xz' };

async function write(lines: readonly string[], options: Partial<TargetFileOptions> & { readonly location: string }): Promise<Buffer> {
  const workingDirectory = directoryOfTest();
  const sink = await openTargetFile({
    workingDirectory,
    serialization: 'nquads',
    attempt: 1,
    prefixes: PREFIXES,
    durable: false,
    ...options,
  });
  try {
    for (const some of lines) await sink.write(some);
    const parts = await sink.commit();
    expect(parts).toHaveLength(1);
    const content = await readFile(new URL(parts[0]?.url as string));
    expect(parts[0]?.bytes).toBe(content.length);
    return content;
  } catch (error) {
    await sink.abort();
    throw error;
  }
}

interface Unpacked {
  /** Of the file in an archive. */
  readonly name: string | undefined;
  readonly content: Buffer;
}

async function unpack(packed: Buffer, compression: Compression): Promise<Unpacked> {
  switch (compression) {
    case 'none':
      return { name: undefined, content: packed };
    case 'gzip':
      return { name: undefined, content: gunzipSync(packed) };
    case 'zip':
      return unzip(packed);
    case 'targz':
      return untar(gunzipSync(packed));
    case 'tarxz':
      return untar(xzDecompress(packed));
  }
}

const unzip = (packed: Buffer): Promise<Unpacked> =>
  new Promise((done, fail) =>
    fromBuffer(packed, { strictFileNames: true, lazyEntries: true }, (error, zip) => {
      if (error !== null) return fail(error);
      expect(zip.entryCount).toBe(1);
      zip.on('error', fail).on('entry', (entry) =>
        zip.openReadStream(entry, async (failed, stream) => {
          if (failed !== null) return fail(failed);
          done({ name: entry.fileName, content: Buffer.concat(await stream.toArray()) });
        }),
      );
      zip.readEntry();
    }),
  );

function untar(archive: Buffer): Unpacked {
  const names = execFileSync('tar', ['--quoting-style=literal', '-tf', '-'], { input: archive }).toString().trim().split('\n');
  expect(names).toHaveLength(1);
  return { name: names[0], content: execFileSync('tar', ['-xOf', '-'], { input: archive, maxBuffer: 2 ** 27 }) };
}

function decode(content: Buffer, encoding: TextEncoding): string {
  if (encoding === 'utf-8') return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  expect(content.subarray(0, 2).toString('hex')).toBe('fffe');
  return new TextDecoder('utf-16le', { fatal: true }).decode(content);
}

const combinations = SERIALIZATIONS.flatMap((serialization) =>
  COMPRESSIONS.flatMap((compression) => TEXT_ENCODINGS.map((encoding) => [serialization, compression, encoding] as const)),
);

test.each(combinations)('%s, compressed %s, in %s, loses and changes nothing', async (serialization, compression, encoding) => {
  for (let i = 0; i < 3; i++) {
    const random = new Random(i * 31 + combinations.findIndex((one) => one[0] === serialization));
    const graphs = !WITHOUT_GRAPHS.includes(serialization);
    const statements = randomDataset(random, i * 20, graphs).filter((one) => canSay(serialization, one));
    const location = `out-${i}${ENDING[compression]}`;
    const packed = await write(batchesOf(random, statements), { location, serialization, compression, encoding });
    const { name, content } = await unpack(packed, compression);
    if (name !== undefined) expect(name).toBe(`out-${i}`);
    const text = decode(content, encoding);
    // Readers of text that is decoded already.
    await expectSame(serialization, text.replace(' encoding="UTF-16"', ''), statements);
    expect(serialization === 'rdfxml' ? text.includes(`encoding="${encoding.toUpperCase()}"`) : true).toBe(true);
  }
  expect((await readdir(directoryOfTest())).sort()).toEqual([0, 1, 2].map((i) => `out-${i}${ENDING[compression]}`));
});

describe.each(COMPRESSIONS)('%s', (compression) => {
  const LINES = Array.from({ length: 300 }, (_, batch) =>
    Array.from({ length: 100 }, (_, i) => `<http://e/${batch}/${i}> <http://e/p> "YZ ${batch * i} é" .\n`).join(''),
  ).map((text) => Buffer.from(text).toString('latin1'));

  test('of megabytes is whole, the same bytes each time, and readable as an input of ours', async () => {
    const location = `large.nq${ENDING[compression]}`;
    const packed = await write(LINES, { location, compression });
    const { content } = await unpack(packed, compression);
    expect(content.equals(Buffer.from(LINES.join(''), 'latin1'))).toBe(true);
    expect((await write(LINES, { location, compression })).equals(packed)).toBe(true);
    const input = await openInput(location, { reach: undefined, workingDirectory: directoryOfTest() });
    const parts: Uint8Array[] = [];
    for await (const chunk of input.bytes) parts.push(chunk);
    expect(Buffer.concat(parts).equals(content)).toBe(true);
  });

  test('is not there before it is committed, and leaves nothing behind when it is aborted', async () => {
    const workingDirectory = directoryOfTest();
    for (const serialization of ['nquads', 'rdfjson'] as const) {
      const location = `${serialization}${ENDING[compression]}`;
      await writeFile(join(workingDirectory, location), 'earlier');
      const sink = await openTargetFile({ location, workingDirectory, serialization, compression, attempt: 7 });
      for (const lines of LINES) await sink.write(lines);
      expect(await readFile(join(workingDirectory, location), 'utf8')).toBe('earlier');
      await sink.abort();
      expect(await readFile(join(workingDirectory, location), 'utf8')).toBe('earlier');
    }
    expect((await readdir(workingDirectory)).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  test('leaves nothing behind when a statement cannot be said', async () => {
    const lines = [...LINES, '<http://e/a> <http://e/p> "x" <http://e/g> .\n'];
    await expect(write(lines, { location: 'out', serialization: 'rdfxml', compression })).rejects.toMatchObject({
      code: 'mapping/invalid',
    });
    expect(await readdir(directoryOfTest())).toEqual([]);
  });
});

test.each<[location: string, compression: Compression, name: string, serialization?: Serialization]>([
  ['dump.nq.zip', 'zip', 'dump.nq'],
  ['dump', 'zip', 'dump.ttl', 'turtle'],
  ['dump.tgz', 'targz', 'dump'],
  ['dump.tar.xz', 'tarxz', 'dump'],
  ['a/b/dump.nq.tar.gz', 'targz', 'dump.nq'],
  ['Zürich süd 日本.nq.zip', 'zip', 'Zürich süd 日本.nq'],
  ['Zürich süd 日本.nq.tgz', 'targz', 'Zürich süd 日本.nq'],
  [`${'n'.repeat(120)}.nq.tgz`, 'targz', `${'n'.repeat(120)}.nq`],
])('%s as %s holds a file %s', async (location, compression, name, serialization = 'nquads') => {
  const packed = await write(['<http://e/a> <http://e/p> "x" .\n'], { location, compression, serialization });
  const found = await unpack(packed, compression);
  expect([found.name, found.content.length > 0]).toEqual([name, true]);
});

test('is named by a path or a file: URL; a link is kept; a directory or a web address is refused', async () => {
  const directory = directoryOfTest();
  const line = ['<http://e/a> <http://e/p> "x" .\n'];
  await write(line, { location: pathToFileURL(join(directory, 'ü b.nq')).href });
  await write(line, { location: join(directory, 'new/folders/c.nq') });
  await symlink('ü b.nq', join(directory, 'link.nq'));
  await write([...line, ...line], { location: './link.nq' });
  expect(await readlink(join(directory, 'link.nq'))).toBe('ü b.nq');
  expect((await readFile(join(directory, 'ü b.nq'), 'utf8')).split('\n')).toHaveLength(3);
  await mkdir(join(directory, 'folder'));
  await expect(write(line, { location: 'folder' })).rejects.toMatchObject({
    code: 'sink/failed',
    message: expect.stringContaining('directory'),
  });
  await expect(write(line, { location: 'https://e/x.nq' })).rejects.toMatchObject({ code: 'target/refused' });
  expect((await readdir(directory)).sort()).toEqual(['folder', 'link.nq', 'new', 'ü b.nq'].sort());
});

test('a tar archive tells a size of more than 8 GiB', () => {
  const { stdout } = spawnSync('tar', ['-tvf', '-'], { input: headersOf('large.nq', 9 * 2 ** 30), encoding: 'utf8' });
  expect(stdout).toMatch(/ 9663676416 1980-01-01 .*large\.nq/);
});
