import { describe, expect, test } from '@jest/globals';
import {
  blankLabel,
  encodeIriPart,
  encodeUriPart,
  escapeLiteral,
  findNotInIri,
  fromBytes,
  guardUnsafeIri,
  hasScheme,
  iriToUri,
  toBytes,
} from '../../../src/core/text.ts';

describe('text as bytes', () => {
  test.each([
    ['ASCII stays the same string', 'plain', 'plain'],
    ['two bytes', 'é', '\u00c3\u00a9'],
    ['three bytes', '€', '\u00e2\u0082\u00ac'],
    ['four bytes', '😀', '\u00f0\u009f\u0098\u0080'],
    ['a lone surrogate becomes the replacement character', '\ud800', '\u00ef\u00bf\u00bd'],
    ['NUL passes', 'a\0b', 'a\0b'],
    ['a byte order mark stays', '\ufeffa', '\u00ef\u00bb\u00bfa'],
    ['a long text', 'é'.repeat(10_001), '\u00c3\u00a9'.repeat(10_001)],
  ])('%s', (_, text, bytes) => {
    expect(toBytes(text)).toBe(bytes);
    if (!text.includes('\ud800') || text.length > 1) expect(fromBytes(toBytes(text))).toBe(text);
  });

  test('any bytes are read as a decoder of UTF-8 reads them', () => {
    const decoder = new TextDecoder();
    // What two, three and four bytes begin and go on with, at the edges of each range.
    const edges = [0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xf8, 0xff];
    for (const a of edges)
      for (const b of edges)
        for (const c of edges)
          for (const d of [0x41, 0x80, 0xbf, 0xc3]) {
            const bytes = [0x61, a, b, c, d];
            expect(fromBytes(String.fromCharCode(...bytes))).toBe(decoder.decode(new Uint8Array(bytes)));
          }
  });

  test('any text comes back', () => {
    for (let seed = 1; seed < 500; seed++) {
      const text = Array.from({ length: 20 }, (_, i) => String.fromCodePoint(((seed * 7919 * (i + 1)) % 0xd7ff) + 1)).join('');
      expect(fromBytes(toBytes(text))).toBe(text);
      expect(Buffer.from(text).toString('latin1')).toBe(toBytes(text));
    }
  });
});

describe('percent-encoding', () => {
  test.each([
    ['unreserved stays', 'AZaz09-._~', 'AZaz09-._~'],
    ['space and reserved', 'a b/c?d#e,(f)', 'a%20b%2Fc%3Fd%23e%2C%28f%29'],
    ['a percent sign is data', '100%', '100%25'],
    ['letters beyond ASCII stay', 'Zoë Krüger 東京', 'Zoë%20Krüger%20東京'],
    ['characters beyond the first plane stay', '😀', '😀'],
    ['controls above ASCII are encoded', '\u0085', '%C2%85'],
    ['a no-break space is a ucschar', '\u00a0', '\u00a0'],
    ['private use is encoded', '\ue000', '%EE%80%80'],
    ['noncharacters are encoded', '\ufffe', '%EF%BF%BE'],
    ['CJK compatibility stays', '\uf900', '\uf900'],
  ])('%s', (_, text, expected) => expect(fromBytes(encodeIriPart(toBytes(text)))).toBe(expected));

  test('a URI encodes what is beyond ASCII too', () => {
    expect(encodeUriPart(toBytes('é b'))).toBe('%C3%A9%20b');
    expect(iriToUri(toBytes('http://a/é'))).toBe('http://a/%C3%A9');
  });
});

describe('IRIs and literals', () => {
  test.each([
    ['http://a', true],
    ['urn:x', true],
    ['a+b-c.d:e', true],
    [':a', false],
    ['1a:b', false],
    ['path/to:x', false],
    ['plain', false],
    ['', false],
  ])('%s has a scheme: %s', (text, expected) => expect(hasScheme(text)).toBe(expected));

  test.each([
    ['http://a/b', -1],
    ['a b', 1],
    ['a<', 1],
    ['\u00e9', -1],
    ['a\\b', 1],
  ])('%j is wrong at %d', (text, at) => expect(findNotInIri(text)).toBe(at));

  test.each([
    ['nothing', 'nothing'],
    ['a"b\\c\nd\re', 'a\\"b\\\\c\\nd\\re'],
    ['\t stays', '\t stays'],
  ])('escapes %j', (text, expected) => expect(escapeLiteral(text)).toBe(expected));

  test('escapes each byte alike wherever it stands, in short and long texts', () => {
    const escapes = new Map(Object.entries({ '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r' }));
    const wrong: string[] = [];
    for (let byte = 0; byte < 256; byte++) {
      const character = String.fromCharCode(byte);
      for (let length = 1; length <= 30; length++) {
        for (const at of [0, 1, length >> 1, length - 1]) {
          const [before, after] = ['x'.repeat(at), 'y'.repeat(Math.max(0, length - at - 1))];
          const expected = before + (escapes.get(character) ?? character) + after;
          if (escapeLiteral(before + character + after) !== expected) wrong.push(before + character + after);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  test('labels of different values differ', () => {
    const values = ['a b', 'a_20b', 'a_b', 'a-b', 'ab', '_', '__', ''];
    expect(new Set(values.map(blankLabel)).size).toBe(values.length);
  });

  test('an unsafe IRI cannot end its line', () => expect(guardUnsafeIri('a b>\n<"')).toBe('a b\\u003E\\u000A\\u003C\\u0022'));
});
