import { describe, expect, test } from '@jest/globals';
import { Fault } from '../../../src/core/fault.ts';
import { canonicalEncoding } from '../../../src/core/input/encoding-name.ts';
import { toUtf8 } from '../../../src/sources/encoding.ts';

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size);
}

async function read(bytes: Uint8Array, size: number, declared?: string, sniff?: (head: Uint8Array) => string | undefined): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of toUtf8(pieces(bytes, size), declared, sniff)) chunks.push(Uint8Array.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

async function fault(reading: Promise<unknown>): Promise<Fault> {
  const error = await reading.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Fault)) throw new Error(`expected a fault, got ${String(error)}`);
  return error;
}

const TEXT = 'Aé€😀,Ω\u0000z';
const utf16 = (text: string, big: boolean) => {
  const bytes = Buffer.from(text, 'utf16le');
  return big ? bytes.swap16() : bytes;
};
const utf32 = (text: string, big: boolean) => {
  const points = [...text];
  const bytes = Buffer.alloc(points.length * 4);
  points.forEach((c, i) => {
    const point = c.codePointAt(0) as number;
    if (big) bytes.writeUInt32BE(point, i * 4);
    else bytes.writeUInt32LE(point, i * 4);
  });
  return bytes;
};

describe('toUtf8', () => {
  test.each<[string, Uint8Array, string | undefined]>([
    ['UTF-8 without a mark', Buffer.from(TEXT), undefined],
    ['UTF-8 with a mark', Buffer.from(`\ufeff${TEXT}`), undefined],
    ['declared UTF-8 with a mark', Buffer.from(`\ufeff${TEXT}`), 'UTF8'],
    ['UTF-16LE by its mark', utf16(`\ufeff${TEXT}`, false), undefined],
    ['UTF-16BE by its mark', utf16(`\ufeff${TEXT}`, true), undefined],
    ['declared UTF-16 with a little-endian mark', utf16(`\ufeff${TEXT}`, false), 'utf-16'],
    ['declared UTF-16 with a big-endian mark', utf16(`\ufeff${TEXT}`, true), 'UTF-16'],
    ['declared UTF-16 without mark or zeros, which is big-endian', utf16(`€€${TEXT}`, true), 'utf-16'],
    ['declared UTF-16LE without a mark', utf16(TEXT, false), 'UTF-16LE'],
    ['UTF-32LE by its mark', utf32(`\ufeff${TEXT}`, false), undefined],
    ['UTF-32BE by its mark', utf32(`\ufeff${TEXT}`, true), undefined],
    ['declared UTF-32 by its zeros', utf32(TEXT, false), 'utf-32'],
    ['undeclared UTF-16 by its zeros', utf16(`ab${TEXT}`, false), undefined],
    ['undeclared UTF-16BE by its zeros', utf16(`ab${TEXT}`, true), undefined],
  ])('reads %s, however the chunks are cut', async (name, bytes, declared) => {
    const expected = name.includes('without mark or zeros') ? `€€${TEXT}` : name.startsWith('undeclared') ? `ab${TEXT}` : TEXT;
    for (let size = 1; size <= bytes.length; size++) expect(await read(bytes, size, declared)).toBe(expected);
  });

  test.each([
    ['windows-1252', [0x80, 0xe9], '€é'],
    ['ISO-8859-1', [0x41, 0xe9], 'Aé'],
    ['iso_8859-15', [0xa4], '€'],
    ['windows-1250', [0xe8], 'č'],
    ['windows-1251', [0xcf], 'П'],
    ['US-ASCII', [0x41], 'A'],
  ])('reads %s', async (label, bytes, expected) => {
    expect(await read(Uint8Array.from(bytes), 1, label)).toBe(expected);
  });

  test('gives nothing for an empty document and for a mark alone', async () => {
    expect(await read(new Uint8Array(0), 1)).toBe('');
    expect(await read(Buffer.from('\ufeff'), 1)).toBe('');
  });

  test('keeps a second mark, which is a character', async () => {
    expect(await read(Buffer.from('\ufeff\ufeffa'), 2)).toBe('\ufeffa');
    expect(await read(utf16('\ufeff\ufeffa', false), 2)).toBe('\ufeffa');
  });

  test('asks the format only when neither declaration nor mark says', async () => {
    const sniff = () => 'ISO-8859-1';
    expect(await read(Uint8Array.of(0xe9), 1, undefined, sniff)).toBe('é');
    expect(await read(Buffer.from('\ufeffé'), 1, undefined, sniff)).toBe('é');
    expect(await read(Buffer.from('é'), 1, 'utf-8', sniff)).toBe('é');
    expect(await read(Buffer.from('é'), 1, undefined, () => 'UTF-16')).toBe('é');
  });

  test('refuses an unknown label at once, and lists those that are known', () => {
    expect(() => toUtf8(pieces(new Uint8Array(0), 1), 'klingon')).toThrow(
      expect.objectContaining({ code: 'source/encoding', hint: expect.stringContaining('windows-1250') }),
    );
    expect(canonicalEncoding('latin1')).toBe('windows-1252');
  });

  test.each<[string, number[], number]>([
    ['a lone continuation byte', [0x41, 0x80, 0x42], 1],
    ['a Latin-1 letter', [0x63, 0x61, 0x66, 0xe9, 0x2c, 0x78], 3],
    ['an overlong form', [0x41, 0xc0, 0x80], 1],
    ['a surrogate', [0xed, 0xa0, 0x80], 0],
    ['a character beyond U+10FFFF', [0x41, 0x42, 0xf5, 0x80, 0x80, 0x80], 2],
    ['an end within a character', [0x41, 0xe2, 0x82], 1],
    ['a wrong byte far in', [...Buffer.from('é€x'.repeat(500)), 0xff, 0x41], 3000],
  ])('says where %s is, however the chunks are cut', async (_name, bytes, byte) => {
    for (const size of [1, 2, 3, 7, 64, bytes.length]) {
      const found = await fault(read(Uint8Array.from(bytes), size));
      expect([found.code, found.place.byte]).toEqual(['source/encoding', byte]);
    }
  });

  test.each<[string, Uint8Array]>([
    ['utf-16le', Uint8Array.of(0x41, 0, 0x00, 0xd8, 0x41, 0)],
    ['utf-16be', Uint8Array.of(0, 0x41, 0)],
    ['utf-32le', Uint8Array.of(0x41, 0, 0, 0, 0, 0, 0x11, 0)],
    ['utf-32be', Uint8Array.of(0, 0, 0, 0x41, 0)],
  ])('refuses bytes that are not %s', async (label, bytes) => {
    for (const size of [1, 3, 8]) expect((await fault(read(bytes, size, label))).code).toBe('source/encoding');
  });

  test('closes the bytes it was given when the reader stops early', async () => {
    let closed = false;
    async function* endless() {
      try {
        for (;;) yield Buffer.alloc(512, 65);
      } finally {
        closed = true;
      }
    }
    for await (const _chunk of toUtf8(endless(), undefined)) break;
    expect(closed).toBe(true);
  });
});
