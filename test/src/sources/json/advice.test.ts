/** Advice about expressions that find nothing, from the beginning of a document. */
import { describe, expect, test } from '@jest/globals';
import { JsonBeginning } from '../../../../src/sources/json/beginning.ts';
import { openJson } from '../../../../src/sources/json/json.ts';
import type { JsonOptions } from '../../../../src/sources/source.ts';
import { READING } from './reading.ts';

async function hintOf(document: string, iterator: string, reference: string | undefined, options: Partial<JsonOptions> = {}) {
  const bytes = (async function* () {
    const all = Buffer.from(document);
    for (let at = 0; at < all.length; at += 10_000) yield all.subarray(at, at + 10_000);
  })();
  const references = reference === undefined ? [] : [reference];
  const scan = await openJson(bytes, [{ iterator, references, origin: '' }], { ...READING, ...options });
  const read = references.map((one) => scan.accessor(0, one));
  for await (const { records } of scan.batches(new AbortController().signal)) for (const record of records) read[0]?.(record);
  return scan.hint?.(0, reference);
}

describe('the beginning of a document', () => {
  test('of any length is a value, with all that is complete', () => {
    const document = '{"a":[1,{"b":"x,]}\\"é"},[]],"c":{"d":[true]},"e":null}';
    const bytes = Buffer.from(document);
    for (let length = 1; length <= bytes.length; length++) {
      const beginning = new JsonBeginning();
      // Pieces of any size: what follows 64 KiB is not kept.
      beginning.add(bytes.subarray(0, length));
      beginning.add(Buffer.alloc(70_000, ' '));
      expect(beginning.isWhole).toBe(false);
      expect(beginning.value(false)).toEqual(expect.anything());
    }
  });

  test('has the values of a sequence, without one that is cut off', () => {
    const beginning = new JsonBeginning();
    beginning.add(Buffer.from('{"a":1}\n\x1e{"a":2}\n'));
    expect(beginning.value(true)).toEqual([{ a: 1 }, { a: 2 }]);
    const cut = new JsonBeginning();
    cut.add(Buffer.from(`{"a":1}\n{"a":"${'x'.repeat(70_000)}"}`));
    expect(cut.value(true)).toEqual([{ a: 1 }]);
  });
});

describe('advice', () => {
  test.each<[name: string, document: string, iterator: string, reference: string | undefined, hint: string | undefined]>([
    ['other letters', '[{"firstName":1}]', '$[*]', '$.first_name', 'There is a member "firstName": write $.firstName'],
    ['two corrections', '[{"Tags":[{"t":1}]}]', '$[*]', '$.tags.t', 'Upper and lower case count: write $.Tags[*].t'],
    [
      'a name with points beside an object',
      '[{"a":{"x":1},"a.b.c":2}]',
      '$[*]',
      '$.a.b.c',
      'The name "a.b.c" has a point in it: write $[\'a.b.c\']',
    ],
    ['a name in Turkish', '[{"şehir":1}]', '$[*]', '$.sehir', 'There is a member "şehir": write $.şehir'],
    [
      'a record that is an array',
      '[[{"n":1}]]',
      '$[*]',
      '$.n',
      'The record is an array, an iterator with [*] at its end gives its members: write $[*].n',
    ],
    ['an array within', '[{"a":{"b":[{"c":{"d":1}}]}}]', '$[*]', '$.a.b.c.d', '$.a.b is an array: write $.a.b[*].c.d'],
    ['a value that is null', '[{"a":null}]', '$[*]', '$.a.b', 'The path ends at $.a, which is null'],
    [
      'the text of a document',
      '[{"a":"[1]"}]',
      '$[*]',
      '$.a[0]',
      'The path ends at $.a, which is a text that is JSON itself: a field of a view reads it (docs/views.md)',
    ],
    ['an XPath', '[{"a":{"b":1}}]', '$[*]', 'a/b', 'JSONPath writes a point where XPath has /'],
    ['descendants', '[{"a":{"Name":1}}]', '$[*]', '$..name', 'The record is an object with the member a'],
    ['a document that is an array', '[{"id":1}]', '$.people[*]', undefined, 'The document is an array: $[*] gives its members'],
    [
      'an array around what is named',
      '[{"people":[{"id":1}]}]',
      '$.people[*]',
      undefined,
      'The document is an array: write $[*].people[*]',
    ],
    ['a document that is a text', '"x"', '$.people[*]', undefined, 'The document is a text'],
  ])('for %s', async (_, document, iterator, reference, hint) => {
    expect(await hintOf(document, iterator, reference)).toBe(hint);
  });

  test('for the lines of JSON Lines', async () => {
    expect(await hintOf('{"Id":1}\n{"Id":2}\n', '$[*]', '$.id', { format: 'jsonl' })).toBe('Upper and lower case count: write $.Id');
  });

  test('comes of the first 64 KiB: members behind them are not known', async () => {
    const long = `[{"a":1},${'{"b":2},'.repeat(20_000)}{"c":3}]`;
    expect(await hintOf(long, '$[*]', '$.c.d')).toBe('The record is an object with the members a, b, …');
  });

  test('takes a bounded time, whatever the document holds', async () => {
    const level = (depth: number): unknown =>
      depth === 0 ? 1 : Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`n${i}`, level(depth - 1)]));
    const begin = process.cpuUsage();
    expect(await hintOf(JSON.stringify([level(4)]), '$[*]', '$.missing.name.of.a.member')).toMatch(/^The record is an object/);
    expect(process.cpuUsage(begin).user / 1e6).toBeLessThan(5);
  });
});
