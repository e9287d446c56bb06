/** Sequences of JSON values: JSON Lines, values one after the other, and text sequences. */
import { describe, expect, test } from '@jest/globals';
import { faultOf, read, showAll } from './reading.ts';

const reading = { format: 'jsonl' as const };
const RS = '\x1e';
const CHUNKS = [1 << 20, 1, 2, 3, 7];

describe('a sequence', () => {
  test.each<[name: string, document: string]>([
    ['of JSON Lines', '{"a":1}\n{"a":[2,\n3]}\n{"a":"x"}\n'],
    ['of values one after the other', '{"a":1}{"a":[2,3]}{"a":"x"}'],
    ['of texts with record separators', `${RS}{"a":1}\n${RS}{"a":[2,3]}\n${RS}{"a":"x"}\n`],
    [
      'of texts without line feeds, and with separators that follow each other',
      `${RS}{"a":1}${RS}${RS}${RS}{"a":[2,3]}${RS}{"a":"x"}${RS}`,
    ],
  ])('%s is read, however the bytes are cut', async (_, document) => {
    for (const chunk of CHUNKS) {
      const found = await read({
        document,
        iterators: ['$[*]', undefined, '$[1].a[*]', '$..a[0]'],
        references: ['$.a[*]'],
        reading,
        chunk,
      });
      expect(found.map((records) => records.length)).toEqual([3, 3, 2, 1]);
      const texts = await read({ document, iterators: ['$[?(@.a == "x")].a'], references: ['$'], reading, chunk });
      expect(showAll(texts)).toEqual([['x']]);
    }
  });

  test('of numbers, texts and literals has a line feed after each', async () => {
    const document = `${RS}1\n${RS}"a${'b'.repeat(10)}"${RS}true\n${RS}12.50\n`;
    for (const chunk of CHUNKS)
      expect(showAll(await read({ document, iterators: ['$[*]'], references: ['$'], reading, chunk }))).toEqual([
        ['1^^integer', 'abbbbbbbbbb', 'true^^boolean', '1.25E1^^double'],
      ]);
  });

  test.each<[name: string, document: string, message: RegExp, byte: number, line: number, record: number]>([
    [
      'within an object',
      `${RS}{"a":1}\n${RS}{"a":\n${RS}{"a":3}\n`,
      /Text 2 of the JSON sequence ends too early, with 1 bracket open/,
      16,
      3,
      1,
    ],
    ['within a text', `${RS}{"a":1}\n${RS}"a${RS}1\n`, /Text 2 .* within a text/, 12, 2, 1],
    ['within a number', `${RS}1\n${RS}12${RS}3\n`, /Text 2 /, 6, 2, 1],
    ['within the last number', `${RS}1\n${RS}12`, /Text 2 /, 6, 2, 1],
    ['within the last object', `${RS}{"a":1}\n${RS}{"a":`, /Text 2 .* 1 bracket open/, 15, 2, 1],
  ])('with a text that is cut off %s is refused with its place', async (_, document, message, byte, line, record) => {
    for (const chunk of CHUNKS) {
      const fault = await faultOf(read({ document, iterators: ['$[*]'], reading, chunk }));
      expect([chunk, fault.code, fault.message]).toEqual([chunk, 'source/malformed', expect.stringMatching(message)]);
      expect([chunk, fault.place]).toEqual([chunk, { input: 'input.json', byte, line, record }]);
    }
  });

  test('is reported where one document is expected, and where it begins too late', async () => {
    expect((await faultOf(read({ document: `${RS}{}\n`, iterators: ['$'] }))).hint).toMatch(/\.json-seq, or with --input-format jsonl/);
    expect((await faultOf(read({ document: '{}{}', iterators: ['$'] }))).hint).toMatch(/--input-format jsonl/);
    expect((await faultOf(read({ document: `{}\n${RS}{}\n`, iterators: ['$[*]'], reading }))).message).toMatch(/byte 0x1e/);
  });
});
