/** Advice about paths that find nothing, from the beginning of a document. */
import { describe, expect, test } from '@jest/globals';
import type { XmlOptions } from '../../../../src/sources/source.ts';
import { openXml } from '../../../../src/sources/xml/xml.ts';

const OPTIONS: XmlOptions = {
  format: 'xml',
  name: 'input.xml',
  dialect: 'rml',
  nulls: [],
  encoding: undefined,
  namespaces: {},
  maxRecordBytes: 1e8,
};

async function hintOf(
  document: string | Buffer,
  iterator: string | undefined,
  reference: string | undefined,
  options: Partial<XmlOptions> = {},
) {
  const bytes = (async function* () {
    const all = Buffer.from(document as string);
    for (let at = 0; at < all.length; at += 10_000) yield all.subarray(at, at + 10_000);
  })();
  const references = reference === undefined ? [] : [reference];
  const scan = await openXml(bytes, [{ iterator, references, origin: '' }], { ...OPTIONS, ...options });
  const read = references.map((one) => scan.accessor(0, one));
  for await (const { records } of scan.batches(new AbortController().signal)) for (const record of records) read[0]?.(record);
  return scan.hint?.(0, reference);
}

const WITHIN = 'A reference begins within the record';

describe('advice', () => {
  test.each<[name: string, document: string, iterator: string | undefined, reference: string | undefined, hint: string]>([
    ['other letters', '<a><b><firstName/></b></a>', '/a/b', 'first-name', 'There is <firstName>: write firstName'],
    ['a step that is left out', '<a><b><c><d>1</d></c></b></a>', '/a/b', 'd', '<d> stands deeper: write c/d'],
    ['a step that is left out before //', '<a><b><c/></b></a>', '/a//x', undefined, 'The path ends at /a, which has the child <b>'],
    ['an attribute below', '<a><b><c Id="1"/></b></a>', '/a/b', 'c/@id', 'Upper and lower case count: write c/@Id'],
    ['an attribute with a prefix', '<a xmlns:x="u:x"><b x:id="1"/></a>', '/a/b', '@id', 'The attribute is x:id: write @*:id'],
    ['text of children alone', '<a><b><c/></b></a>', '/a/b', 'c/text()', 'The path ends at c, which has no text outside of its elements'],
    ['a quote in a predicate', `<a><b n="it's"/></a>`, '/a/B[@n="it\'s"]', undefined, `Upper and lower case count: write /a/b[@n="it's"]`],
    ['a record that is the document', '<a><b>1</b></a>', undefined, 'a/B', 'Upper and lower case count: write a/b'],
    [
      'a namespace of a step behind which nothing is found',
      '<a><b xmlns="u:b"><c/></b></a>',
      '/a/*:b',
      'c/@id',
      'The path ends at the record, where <c> is in the namespace u:b: write *:c for it',
    ],
    [
      'no namespace of a step',
      '<a xmlns:x="u:x"><c/></a>',
      '/a',
      'x:c/d',
      'The path ends at the record, where <c> is in no namespace: write *:c for it',
    ],
    ['a path that begins with the record', '<r><x><Name/></x></r>', '/r/x', 'x/Name', `${WITHIN}: write Name`],
    ['a path that begins with the record, in other letters', '<r><x><Name/></x></r>', '/r/x', 'x/name', `${WITHIN}: write Name`],
    [
      'a path that begins with the record, in a default namespace',
      '<r xmlns="u:d"><x><Name/></x></r>',
      '/*:r/*:x',
      'x/Name',
      `${WITHIN}: write *:Name`,
    ],
    [
      'an attribute of the record that is named, in a default namespace',
      '<r xmlns="u:d"><x id="1"/></r>',
      '/*:r/*:x',
      'x/@id',
      `${WITHIN}: write @id`,
    ],
    ['a path that begins at the root element', '<r><s><x><Name/></x></s></r>', '/r/s/x', 'r/s/x/Name', `${WITHIN}: write Name`],
    [
      'a path of which not all steps lead to the record',
      '<r><s><x><Name/></x></s></r>',
      '/r/s/x',
      'r/x/Name',
      'The path ends at the record, which has the child <Name>',
    ],
    ['a parent', '<a><B>1</B><c/></a>', '/a/c', '../b', 'Upper and lower case count: write ../B'],
    ['a path from the root', '<a><b>1</b><c/></a>', '/a/c', '/a/d', 'The path ends at /a, which has the children <b>, <c>'],
    [
      'a namespace of one step',
      '<a xmlns:x="u:x"><x:b><c/></x:b></a>',
      '/a/b/c',
      undefined,
      'The document has "b" in the namespace u:x, and a name without prefix means no namespace: write /a/*:b/c, or x:b',
    ],
  ])('for %s', async (_, document, iterator, reference, hint) => {
    expect(await hintOf(document, iterator, reference)).toBe(hint);
  });

  test('comes of a document in another encoding', async () => {
    expect(await hintOf(Buffer.from('\ufeff<a><B/></a>', 'utf16le'), '/a/b', undefined)).toBe('Upper and lower case count: write /a/B');
  });

  test('comes of the first 64 KiB: elements behind them are not known', async () => {
    const long = `<a>${'<b><c/></b>'.repeat(20_000)}<d/></a>`;
    expect(await hintOf(long, '/a/e', undefined)).toBe('The path ends at /a, which has the child <b>, …');
  });

  test('takes a bounded time, whatever the document holds', async () => {
    const level = (depth: number): string =>
      depth === 0 ? '' : Array.from({ length: 9 }, (_, i) => `<n${i}>${level(depth - 1)}</n${i}>`).join('');
    const begin = process.cpuUsage();
    expect(await hintOf(`<a>${level(4)}</a>`, '/a/missing/name/of/an/element', undefined)).toMatch(/^The path ends at \/a/);
    expect(process.cpuUsage(begin).user / 1e6).toBeLessThan(5);
  });
});
