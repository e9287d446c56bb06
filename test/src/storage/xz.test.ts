/** xz, read and written: against the program xz, with every kind of content, and damaged. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { describe, expect } from '@jest/globals';
import { Fault } from '../../../src/core/fault.ts';
import { streamed } from '../../../src/sinks/packing/packed.ts';
import { createXz } from '../../../src/sinks/packing/xz.ts';
import { unxz } from '../../../src/storage/packed/xz.ts';
import { share, sharedTest, soakTest, test } from '../../support/jest/extent.ts';
import { Random } from '../../support/random.ts';
import { type XzCheck, xzCompress, xzDecompress } from './xz-program.ts';

const CHECKS: readonly XzCheck[] = ['crc32', 'crc64', 'sha256'];

async function encode(content: Buffer, writes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  const write = (bytes: string): void => void parts.push(Buffer.from(bytes, 'latin1'));
  const sink = streamed({ write, commit: async () => [], abort: async () => undefined }, await createXz());
  for (let at = 0; at < content.length; at += writes) await sink.write(content.toString('latin1', at, at + writes));
  await sink.commit();
  return Buffer.concat(parts);
}

async function decode(packed: Buffer, chunkBytes = 65_536): Promise<Buffer> {
  const chunks = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    for (let at = 0; at < packed.length; at += chunkBytes) yield packed.subarray(at, at + chunkBytes);
  };
  const parts: Uint8Array[] = [];
  for await (const part of unxz(chunks(), 'a.xz', 0)) parts.push(part);
  return Buffer.concat(parts);
}

/** Pieces that repeat near and far, runs of one byte, and noise. */
function contentOf(random: Random, bytes: number): Buffer {
  const content = Buffer.alloc(bytes);
  for (let at = 0; at < bytes; ) {
    const length = Math.min(bytes - at, random.between(1, random.chance(0.1) ? 5_000 : 60));
    if (at > 0 && random.chance(0.6)) {
      const from = Math.max(0, at - random.between(1, random.chance(0.3) ? at : Math.min(at, 300)));
      for (let i = 0; i < length; i++) content[at + i] = content[from + i] as number;
    } else if (random.chance(0.2)) content.fill(random.between(0, 255), at, at + length);
    else for (let i = 0; i < length; i++) content[at + i] = random.chance(0.7) ? random.between(97, 105) : random.between(0, 255);
    at += length;
  }
  return content;
}

const SIZES = [0, 1, 2, 5, 271, 272, 273, 274, 4_000, 65_535, 65_537, 300_000, 2_200_000];

sharedTest.each(share(12, SIZES))('%d bytes are the same for the program xz and for us', async (bytes) => {
  const random = new Random(bytes);
  const content = contentOf(random, bytes);
  const packed = await encode(content, random.between(1_000, 400_000));
  expect(xzDecompress(packed).equals(content)).toBe(true);
  expect((await decode(packed, random.between(100, 100_000))).equals(content)).toBe(true);
  for (const check of CHECKS) {
    const theirs = xzCompress(content, random.between(1, 9), check);
    expect((await decode(theirs, random.between(100, 100_000))).equals(content)).toBe(true);
  }
});

soakTest('content that is larger than the window is the same, whether it repeats or not', async () => {
  const random = new Random(3);
  const some = contentOf(random, 3_000_000);
  const noise = Buffer.concat(Array.from({ length: 40_000 }, (_, i) => createHash('sha256').update(String(i)).digest()));
  const content = Buffer.concat([some, noise, some, Buffer.alloc(3_000_000), some, some]);
  const packed = await encode(content, 333_333);
  expect(packed.length).toBeLessThan(content.length / 2);
  expect(xzDecompress(packed).equals(content)).toBe(true);
  expect((await decode(packed)).equals(content)).toBe(true);
});

describe('a damaged file', () => {
  test('is malformed wherever a byte is another one', async () => {
    const random = new Random(11);
    const content = contentOf(random, 20_000);
    for (const packed of [await encode(content, 20_000), xzCompress(content, 6)]) {
      const places = [...Array.from({ length: 24 }, (_, i) => i), ...Array.from({ length: 36 }, (_, i) => packed.length - 1 - i)];
      for (let i = 0; i < 150; i++) places.push(random.between(24, packed.length - 30));
      for (const place of places) {
        const damaged = Buffer.from(packed);
        damaged[place] = (damaged[place] as number) ^ (1 << random.between(0, 7));
        const found = await decode(damaged).catch((error) => error);
        expect([place, found]).toEqual([place, expect.any(Fault)]);
        expect(['source/malformed', 'source/refused', 'limit/exceeded']).toContain((found as Fault).code);
      }
    }
  });

  test('is malformed wherever it is cut off', async () => {
    const packed = xzCompress(contentOf(new Random(12), 5_000), 6);
    for (let length = 0; length < packed.length; length += 1 + (length >> 4)) {
      const found = await decode(packed.subarray(0, length)).catch((error) => error);
      expect([length, found]).toEqual([length, expect.objectContaining({ code: 'source/malformed' })]);
    }
  });
});

test('zeros between and behind streams are skipped, anything else is malformed', async () => {
  const packed = xzCompress(Buffer.from('abc'), 6);
  expect((await decode(Buffer.concat([packed, Buffer.alloc(8), packed, Buffer.alloc(4)]))).toString()).toBe('abcabc');
  await expect(decode(Buffer.concat([packed, Buffer.from('garbage')]))).rejects.toMatchObject({ code: 'source/malformed' });
});

test('content with a filter for programs is read, and a check that is not known is refused', async () => {
  const packed = execFileSync('xz', ['--compress', '--x86', '--lzma2'], { input: 'abc' });
  expect((await decode(packed)).toString()).toBe('abc');
  // The flags of the stream stand at its beginning and its end, each with its checksum.
  const unknown = Buffer.from(xzCompress(Buffer.from('abc'), 6, 'crc32'));
  for (const at of [7, unknown.length - 3]) unknown[at] = 2;
  unknown.writeUInt32LE(crc32(unknown.subarray(6, 8)), 8);
  unknown.writeUInt32LE(crc32(unknown.subarray(-8, -2)), unknown.length - 12);
  await expect(decode(unknown)).rejects.toMatchObject({ code: 'source/refused', message: expect.stringContaining('Unsupported') });
});

test('a file that asks for gigabytes of memory is refused', async () => {
  const packed = Buffer.from(xzCompress(Buffer.from('abc'), 6));
  // The header of the block: size, flags, filter, its size, the code of the dictionary, three bytes of padding, checksum.
  packed[12 + 4] = 40;
  packed.writeUInt32LE(crc32(packed.subarray(12, 20)), 20);
  await expect(decode(packed)).rejects.toMatchObject({ code: 'limit/exceeded', message: expect.stringContaining('memory') });
});

test('without the program, nothing is begun', async () => {
  const { PATH } = process.env;
  process.env.PATH = '';
  const fault = {
    message: 'The program xz, which reads and writes .tar.xz, is not installed',
    hint: expect.stringContaining('xz-utils'),
  };
  try {
    await expect(createXz()).rejects.toMatchObject({ code: 'sink/failed', ...fault });
    await expect(decode(Buffer.from('x'))).rejects.toMatchObject({ code: 'source/refused', place: { input: 'a.xz' }, ...fault });
  } finally {
    process.env.PATH = PATH;
  }
});

const killXz = (): Buffer => execFileSync('pkill', ['-KILL', '-P', String(process.pid), '-x', 'xz']);

test('a program that is killed while it unpacks gives a fault, never less content', async () => {
  const packed = xzCompress(contentOf(new Random(5), 3_000_000));
  const stalled = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    yield packed.subarray(0, -100);
    killXz();
    await new Promise(() => undefined);
  };
  const reading = async (): Promise<void> => {
    for await (const _ of unxz(stalled(), 'a.xz', 0));
  };
  await expect(reading()).rejects.toMatchObject({ code: 'source/unreadable', message: expect.stringContaining('SIGKILL') });
});

test('damage is reported while the rest of the input is still to come, and a fault of the input is passed on as it is', async () => {
  const packed = xzCompress(contentOf(new Random(6), 300_000));
  const reading = async (last: () => Promise<void>): Promise<void> => {
    const chunks = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
      yield packed.subarray(0, 40_000);
      await last();
    };
    for await (const _ of unxz(chunks(), 'a.xz', 0));
  };
  await expect(reading(() => Promise.reject(new Error('no network')))).rejects.toThrow('no network');
  packed.write('damage', 10_000);
  await expect(reading(() => new Promise(() => undefined))).rejects.toMatchObject({
    code: 'source/malformed',
    message: expect.stringContaining('damaged'),
  });
});

test('a program that is killed while it packs leaves no file', async () => {
  const sink = streamed({ write: () => undefined, commit: async () => [], abort: async () => undefined }, await createXz());
  await sink.write('some');
  killXz();
  await expect(sink.commit()).rejects.toMatchObject({ code: 'sink/failed', message: expect.stringContaining('SIGKILL') });
  await sink.abort();
});
