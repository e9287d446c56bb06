/** Inputs in archives and compressions, made by other tools and damaged by hand. */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateRawSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Fault } from '../../../src/core/fault.ts';
import { type Compression, compressionByName, withoutCompression } from '../../../src/storage/compression.ts';
import { inputFormat } from '../../../src/storage/input-format.ts';
import { openInput, probeInput } from '../../../src/storage/open.ts';
import { unpack } from '../../../src/storage/packed/unpack.ts';
import type { OpenOptions } from '../../../src/storage/storage.ts';
import { xzCompress } from './xz-program.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-packed-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function read(file: string, options: Partial<OpenOptions> = {}): Promise<string> {
  const input = await openInput(file, { reach: undefined, workingDirectory: directory, ...options });
  expect(input.sizeBytes).toBeUndefined();
  const parts: Uint8Array[] = [];
  for await (const chunk of input.bytes) parts.push(chunk);
  return Buffer.concat(parts).toString('latin1');
}

async function faultOf(promise: Promise<unknown>): Promise<Fault> {
  const error = await promise.catch((thrown) => thrown);
  expect(error).toBeInstanceOf(Fault);
  return error as Fault;
}

/** An archive of the system's tar. */
async function tar(entries: Readonly<Record<string, string | Buffer>>, ...args: readonly string[]): Promise<Buffer> {
  const root = await mkdtemp(join(directory, 'tar-'));
  for (const [name, content] of Object.entries(entries)) {
    if (name.endsWith('/')) await mkdir(join(root, name));
    else await writeFile(join(root, name), content);
  }
  return execFileSync('tar', [...args, '-cf', '-', '-C', root, ...Object.keys(entries)], { maxBuffer: 2 ** 27 });
}

interface ZipEntry {
  readonly name: string;
  readonly content: string;
  readonly stored?: boolean;
  readonly flags?: number;
  readonly method?: number;
  readonly checksum?: number;
}

/** Local headers with sizes in advance, as archivers of files write them, and an empty directory. */
function zip(...entries: readonly ZipEntry[]): Buffer {
  const parts = entries.flatMap(({ name, content, stored, flags = 0, method, checksum }) => {
    const bytes = Buffer.from(content, 'latin1');
    const packed = stored ? bytes : deflateRawSync(bytes);
    const header = Buffer.alloc(30);
    header.writeUInt32LE(0x04034b50);
    header.writeUInt16LE(flags, 6);
    header.writeUInt16LE(method ?? (stored ? 0 : 8), 8);
    header.writeUInt32LE(checksum ?? crc32(bytes), 14);
    header.writeUInt32LE(packed.length, 18);
    header.writeUInt32LE(bytes.length, 22);
    header.writeUInt16LE(Buffer.byteLength(name), 26);
    return [header, Buffer.from(name), packed];
  });
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50);
  return Buffer.concat([...parts, end]);
}

/** The same with a directory, as archivers write it. */
function zipWithDirectory(...entries: readonly ZipEntry[]): Buffer {
  const content = zip(...entries).subarray(0, -22);
  const directory = Buffer.concat(
    entries.flatMap(({ name }) => {
      const header = Buffer.alloc(46);
      header.writeUInt32LE(0x02014b50);
      header.writeUInt16LE(1 << 11, 8);
      header.writeUInt16LE(Buffer.byteLength(name), 28);
      return [header, Buffer.from(name)];
    }),
  );
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(content.length, 16);
  return Buffer.concat([content, directory, end]);
}

const LARGE = Array.from({ length: 100_000 }, (_, i) => `${i},${(i * 7919) % 10_007},YZ\n`).join('');

describe.each<[Compression, (content: string) => Promise<Buffer>]>([
  ['zip', async (content) => zip({ name: 'folder/', content: '', stored: true }, { name: 'folder/a.csv', content })],
  ['targz', async (content) => gzipSync(await tar({ 'folder/': '', 'a.csv': Buffer.from(content, 'latin1') }))],
  ['tarxz', async (content) => xzCompress(await tar({ 'a.csv': Buffer.from(content, 'latin1') }))],
])('%s', (compression, pack) => {
  const ending = { zip: 'zip', targz: 'tar.gz', tarxz: 'tar.xz' }[compression as 'zip'];

  test.each([
    ['of some bytes', 'a,b\n1,2\n'],
    ['of none', ''],
    ['of 511', 'x'.repeat(511)],
    ['of 512', 'x'.repeat(512)],
    ['of many chunks', LARGE],
  ])('gives the one file, %s, by the ending of its name or as declared', async (_, content) => {
    const packed = await pack(content);
    await writeFile(join(directory, `a.csv.${ending}`), packed);
    await writeFile(join(directory, 'a.bin'), packed);
    expect((await read(`a.csv.${ending}`)) === content).toBe(true);
    expect((await read('a.bin', { compression })) === content).toBe(true);
  });

  test('is read whatever the size of the chunks', async () => {
    const packed = await pack('a,b\n'.repeat(3_000));
    for (const size of [1, 7, 511, 513]) {
      const pieces = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
        for (let at = 0; at < packed.length; at += size) yield packed.subarray(at, at + size);
      };
      let text = '';
      for await (const chunk of unpack(pieces(), compression, 'a.bin', true, 0)) text += Buffer.from(chunk).toString();
      expect(text === 'a,b\n'.repeat(3_000)).toBe(true);
    }
  });

  test('is read as the format of the file within, and never in ranges', async () => {
    expect(inputFormat(`http://e/a.jsonl.${ending}?v=1`)).toBe('jsonl');
    await writeFile(join(directory, `b.csv.${ending}`), await pack('a\n'));
    expect(await probeInput(`b.csv.${ending}`, { reach: undefined, workingDirectory: directory })).toBeUndefined();
  });

  test('that is cut off anywhere, or damaged, is malformed', async () => {
    const packed = await pack(LARGE);
    for (const length of [0, 3, 20, 200, packed.length >> 1, packed.length - 9000]) {
      await writeFile(join(directory, 'cut.bin'), packed.subarray(0, length));
      expect([length, (await faultOf(read('cut.bin', { compression }))).code]).toEqual([length, 'source/malformed']);
    }
    const damaged = Buffer.from(packed);
    damaged.write('damage', damaged.length >> 1);
    await writeFile(join(directory, 'damaged.bin'), damaged);
    expect((await faultOf(read('damaged.bin', { compression }))).code).toBe('source/malformed');
  });

  test('that is none is malformed, and the fault says so', async () => {
    await writeFile(join(directory, 'plain.bin'), 'id,name\n1,a\n'.repeat(200));
    const fault = await faultOf(read('plain.bin', { compression }));
    expect([fault.code, fault.message]).toEqual(['source/malformed', expect.stringMatching(/is none|is not/)]);
    expect(fault.hint).toContain('rml:compression');
  });

  test('that unpacks to too much is refused by both limits', async () => {
    const bomb = await pack('x'.repeat(80 * 2 ** 20));
    expect(bomb.length).toBeLessThan(200_000);
    await writeFile(join(directory, 'bomb.bin'), bomb);
    const open = (limits: OpenOptions['limits']): Promise<Fault> => faultOf(read('bomb.bin', { compression, limits }));
    expect(await open({ inputBytes: 0, inflationRatio: 50 })).toMatchObject({ code: 'limit/exceeded', limit: 'MAX_INFLATION_RATIO' });
    expect(await open({ inputBytes: 1000, inflationRatio: 0 })).toMatchObject({ code: 'limit/exceeded', limit: 'MAX_INPUT_BYTES' });
  });

  test('ends when its reader stops early', async () => {
    await writeFile(join(directory, 'early.bin'), await pack(LARGE.repeat(4)));
    const input = await openInput('early.bin', { reach: undefined, workingDirectory: directory, compression });
    for await (const chunk of input.bytes) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    await input.close();
  });
});

describe('zip', () => {
  const readZip = async (archive: Buffer): Promise<string> => {
    await writeFile(join(directory, 'entries.zip'), archive);
    return read('entries.zip');
  };

  test('gives a file that is stored as it is, and skips what macOS adds', async () => {
    const attributes = { name: '__MACOSX/._a.csv', content: 'attributes' };
    expect(await readZip(zip({ name: 'a.csv', content: 'plain', stored: true }, attributes))).toBe('plain');
  });

  test.each<[string, Buffer, string, string]>([
    ['several files', zip({ name: 'a.csv', content: 'a' }, { name: 'b.csv', content: 'b' }), 'source/refused', '"a.csv" and "b.csv"'],
    ['no file', zip({ name: 'a/', content: '', stored: true }), 'source/malformed', 'no file'],
    ['nothing', zip(), 'source/malformed', 'no file'],
    ['an encrypted file', zip({ name: 'a.csv', content: 'a', flags: 1 }), 'source/refused', 'encrypted'],
    ['a file packed by another method', zip({ name: 'a.csv', content: 'a', method: 12 }), 'source/refused', 'method 12'],
    ['a file of unknown length', zip({ name: 'a.csv', content: 'a', stored: true, flags: 8 }), 'source/refused', 'size'],
    [
      'another archive',
      zip({ name: 'a.csv.ZIP', content: 'PK' }),
      'source/refused',
      '"a.csv.ZIP" of the zip archive cannot be read: it is packed itself',
    ],
    ['a wrong checksum', zip({ name: 'a.csv', content: 'a', checksum: 7 }), 'source/malformed', 'checksum'],
  ])('with %s is refused with the reason', async (_, archive, code, message) => {
    expect(await faultOf(readZip(archive))).toMatchObject({ code, message: expect.stringContaining(message) });
  });
});

describe('an archive of several files is refused before the first of them is read', () => {
  /** What a reader is given before the fault. */
  async function readUntilFault(chunks: AsyncIterable<Uint8Array>): Promise<{ bytes: number; fault: Fault }> {
    let bytes = 0;
    const reading = async (): Promise<void> => {
      for await (const chunk of chunks) bytes += chunk.length;
    };
    const fault = await faultOf(reading());
    return { bytes, fault };
  }
  const small = ['agency', 'routes', 'stops', 'trips', 'wörter'].map((name) => ({ name: `${name}.txt`, content: 'id\n1\n' }));

  test('in a zip archive on this machine, by its directory, which names them', async () => {
    const attributes = { name: '__MACOSX/._a.csv', content: 'attributes' };
    await writeFile(join(directory, 'gtfs.zip'), zipWithDirectory({ name: 'stop_times.txt', content: LARGE }, attributes, ...small));
    const fault = await faultOf(openInput('gtfs.zip', { reach: undefined, workingDirectory: directory }));
    expect(fault).toMatchObject({
      code: 'source/refused',
      message: 'The zip archive has more than one file: "stop_times.txt", "agency.txt", "routes.txt" and 3 others',
      hint: expect.stringContaining('Unpack the one that is to be read (unzip -p ARCHIVE FILE > FILE)'),
      place: { input: 'gtfs.zip' },
    });
  });

  test('one file and a directory is read', async () => {
    await writeFile(
      join(directory, 'one.zip'),
      zipWithDirectory({ name: 'a/', content: '', stored: true }, { name: 'a/ü.csv', content: LARGE }),
    );
    expect(await read('one.zip')).toBe(LARGE);
  });

  test('in an archive that arrives as a stream, if the first is small', async () => {
    const stream = async function* (bytes: Buffer): AsyncGenerator<Uint8Array, void, undefined> {
      for (let at = 0; at < bytes.length; at += 11) yield bytes.subarray(at, at + 11);
    };
    const zipped = await readUntilFault(unpack(stream(zip(...small)), 'zip', 'in.zip', true, 0));
    expect([zipped.bytes, zipped.fault.message]).toEqual([0, expect.stringContaining('"agency.txt" and "routes.txt"')]);
    const archive = await tar({ 'a.csv': 'a', 'b.csv': 'b' });
    const tarred = await readUntilFault(unpack(stream(gzipSync(archive)), 'targz', 'in.tgz', true, 0));
    expect([tarred.bytes, tarred.fault.message]).toEqual([0, expect.stringContaining('"a.csv" and "b.csv"')]);
  });

  test('the first of a stream is not held as a whole', async () => {
    const stream = async function* (bytes: Buffer): AsyncGenerator<Uint8Array, void, undefined> {
      yield bytes;
    };
    const archive = zip({ name: 'a.csv', content: LARGE.repeat(4) }, { name: 'b.csv', content: 'b' });
    expect((await readUntilFault(unpack(stream(archive), 'zip', 'in.zip', true, 0))).bytes).toBe(LARGE.length * 4);
  });
});

describe('tar', () => {
  const readTar = async (archive: Buffer): Promise<string> => {
    await writeFile(join(directory, 'entries.tgz'), gzipSync(archive));
    return read('entries.tgz');
  };
  const long = `${'n'.repeat(180)}.csv`;

  test.each(['ustar', 'pax', 'gnu'])('in the format %s gives a file with a long name and one beside folders', async (format) => {
    if (format !== 'ustar') expect(await readTar(await tar({ [long]: 'a,b\n' }, `--format=${format}`))).toBe('a,b\n');
    expect(await readTar(await tar({ 'ü/': '', 'ö.csv': 'a,b\n', 'ä/': '' }, `--format=${format}`))).toBe('a,b\n');
  });

  test('without gzip passes, since a server may have undone it', async () => {
    await writeFile(join(directory, 'undone.tar.gz'), await tar({ 'a.csv': 'a\n' }));
    expect(await read('undone.tar.gz')).toBe('a\n');
  });

  test('with several files or none is refused', async () => {
    expect(await faultOf(readTar(await tar({ 'a.csv': 'a', 'b.csv': 'b' })))).toMatchObject({
      code: 'source/refused',
      message: expect.stringContaining('"a.csv" and "b.csv"'),
    });
    expect((await faultOf(readTar(await tar({ 'a/': '' })))).message).toContain('no file');
  });

  test('with another archive is refused', async () => {
    expect((await faultOf(readTar(await tar({ 'a.csv.gz': 'a' })))).message).toBe(
      'The file "a.csv.gz" of the tar archive cannot be read: it is packed itself',
    );
  });
});

test('xz of several streams in a row is one content', async () => {
  const archive = await tar({ 'a.csv': LARGE });
  const half = archive.length >> 1;
  await writeFile(
    join(directory, 'two.tar.xz'),
    Buffer.concat([xzCompress(archive.subarray(0, half)), xzCompress(archive.subarray(half))]),
  );
  expect((await read('two.tar.xz')) === LARGE).toBe(true);
});

test.each([
  ['a.csv', 'none', 'a.csv'],
  ['a.csv.gz', 'gzip', 'a.csv'],
  ['a.csv.ZIP', 'zip', 'a.csv'],
  ['a.csv.tar.gz', 'targz', 'a.csv'],
  ['a.csv.tgz', 'targz', 'a.csv'],
  ['a.csv.tar.xz', 'tarxz', 'a.csv'],
  ['a.csv.txz', 'tarxz', 'a.csv'],
  ['gz', 'none', 'gz'],
])('%s implies %s', (name, compression, plain) => {
  expect([compressionByName(`http://e/x.zip/${name}?q=.zip`), withoutCompression(name)]).toEqual([compression, plain]);
});
