/**
 * Records that are slots have the values that the tree of a record gives: random documents, some of them broken, are read in both ways.
 *
 * A reference with a predicate (`*[@never]`) makes the reader build trees.
 */
import { describe, expect, jest, test } from '@jest/globals';
import { Fault } from '../../../../src/core/fault.ts';
import type { XmlOptions } from '../../../../src/sources/source.ts';
import { SlotBuilder } from '../../../../src/sources/xml/parse/slots.ts';
import { openXml } from '../../../../src/sources/xml/xml.ts';

const READING: XmlOptions = {
  format: 'xml',
  name: 'in.xml',
  dialect: 'rml',
  nulls: [],
  encoding: undefined,
  namespaces: { n: 'http://n/' },
  maxRecordBytes: 1_000_000,
};

const AS_TREE = '*[@never]';
const REFERENCES = ['.', '@a', '@*', '@n:a', 'a', 'b', '*', 'n:a', 'a/b', 'a/@a', '*/@a', 'text()', 'b/text()', 'a/b/text()', '*/*', '*:b'];
const ITERATORS = ['/r/a', '/r/*', '/r/a/b', '/r/*/b', '/*/n:a', '/r/b/a/b'];

async function outcomeOf(
  document: string,
  iterators: readonly string[],
  references: readonly string[],
  asTree: boolean,
  reading: Partial<XmlOptions>,
  chunk: number,
  first = 0,
): Promise<unknown> {
  const bytes = Buffer.from(document);
  async function* input(): AsyncGenerator<Uint8Array> {
    if (first > 0) yield bytes.subarray(0, first);
    for (let at = first; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk);
  }
  const asked = asTree ? [...references, AS_TREE] : references;
  const found: unknown[][] = iterators.map(() => []);
  try {
    const iterations = iterators.map((iterator) => ({ iterator, references: asked, origin: '' }));
    const scan = await openXml(input(), iterations, { ...READING, ...reading });
    const readers = iterators.map((_, i) => references.map((reference) => scan.accessor(i, reference)));
    for await (const batch of scan.batches(new AbortController().signal)) {
      expect(batch.first).toBe(found[batch.iteration]?.length);
      for (const record of batch.records) {
        if (!asTree) expect(Array.isArray(record)).toBe(true);
        found[batch.iteration]?.push((readers[batch.iteration] ?? []).map((read) => read(record)));
      }
    }
    return { found, unmatched: iterators.map((_, i) => scan.unmatched(i).filter((one) => one !== AS_TREE)) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    // The windows decide how many records are handed over before a fault.
    return error.toJSON();
  }
}

/** Numbers in [0, 1) that a seed decides. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return (state >>> 8) / 2 ** 24;
  };
}

const TEXTS = [
  'x',
  ' ',
  '\n',
  'Zoë',
  'a &amp; b',
  '&#233;',
  '<![CDATA[<&]]>',
  '<![CDATA[]]>',
  '<!-- c -->',
  '<?p i?>',
  'a text of more than a dozen',
  '\r\n',
];
const NAMES = ['a', 'b', 'c', 'n:a'];

function documentOf(random: () => number): string {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const element = (depth: number): string => {
    const name = pick(NAMES);
    const attributes = ['a', 'b', 'n:a'].filter(() => random() < 0.3).map((one) => ` ${one}="${pick(['', 'v', 'a &lt; b', 'w\tx'])}"`);
    const content = Array.from({ length: Math.floor(random() * 5) }, () =>
      random() < 0.5 && depth < 5 ? element(depth + 1) : pick(TEXTS),
    );
    return content.length === 0 && random() < 0.5
      ? `<${name}${attributes.join('')}/>`
      : `<${name}${attributes.join('')}>${content.join('')}</${name}>`;
  };
  const content = Array.from({ length: Math.floor(random() * 12) }, () => (random() < 0.8 ? element(1) : pick(TEXTS)));
  const text = `<r xmlns:n="http://n/">${content.join('')}</r>`;
  if (random() < 0.8) return text;
  const at = Math.floor(random() * text.length);
  return text.slice(0, at) + pick(['', '<', '>', '&', '/', '</a>', '"', ']]>']) + text.slice(at + Math.floor(random() * 2));
}

describe('records as slots', () => {
  test.each([1, 2, 3, 4])('have the values of trees (seed %d)', async (seed) => {
    const random = randomFrom(seed);
    let values = 0;
    for (let i = 0; i < 150; i++) {
      const document = documentOf(random);
      const iterators = ITERATORS.filter(() => random() < 0.5);
      if (iterators.length === 0) iterators.push('/r/a');
      const references = REFERENCES.filter(() => random() < 0.5);
      if (references.length === 0) references.push('a');
      const reading: Partial<XmlOptions> = {
        nulls: random() < 0.2 ? ['x', ''] : [],
        ...(random() < 0.2 ? { maxRecordBytes: 40 + Math.floor(random() * 100) } : {}),
        ...(random() < 0.1 ? { maxDepth: 4 } : {}),
      };
      const chunk = random() < 0.6 ? 1 << 20 : 1 + Math.floor(random() * 40);
      const slots = await outcomeOf(document, iterators, references, false, reading, chunk);
      // A tree keeps what the predicate asks for, too: its record is larger.
      if (reading.maxRecordBytes === undefined)
        expect(slots).toEqual(await outcomeOf(document, iterators, references, true, reading, chunk));
      values += JSON.stringify(slots).length;
    }
    expect(values).toBeGreaterThan(20_000);
  });

  test('are the same, and so are faults, whether elements are read whole or tag by tag', async () => {
    const random = randomFrom(5);
    let whole = 0;
    let faults = 0;
    for (let i = 0; i < 16; i++) {
      const document = documentOf(random);
      const iterators = ITERATORS.filter(() => random() < 0.5);
      if (iterators.length === 0) iterators.push('/r/a');
      const references = REFERENCES.filter(() => random() < 0.3);
      if (references.length === 0) references.push('b');
      const reading: Partial<XmlOptions> = {
        ...(random() < 0.3 ? { maxRecordBytes: 80 + Math.floor(random() * 40) } : {}),
        ...(random() < 0.2 ? { maxDepth: 3 } : {}),
      };
      const outcome = (chunk: number, first = 0) => outcomeOf(document, iterators, references, false, reading, chunk, first);
      const never = jest.spyOn(SlotBuilder.prototype, 'leaf').mockReturnValue(false);
      const tagByTag = await outcome(1 << 20);
      never.mockRestore();
      if (!Object.hasOwn(tagByTag as object, 'found')) faults++;
      const leaf = jest.spyOn(SlotBuilder.prototype, 'leaf');
      const { length } = Buffer.from(document);
      for (let at = 0; at < length; at++) expect([document, at, await outcome(1 << 20, at)]).toEqual([document, at, tagByTag]);
      whole += leaf.mock.results.filter(({ value }) => value === true).length;
      leaf.mockRestore();
    }
    expect(whole).toBeGreaterThan(500);
    expect(faults).toBeGreaterThan(1);
  });

  test.each<[name: string, document: string, references: string[], message: string | undefined]>([
    [
      'tags and texts that are read',
      '<r><a><b>12345678901234567890</b></a></r>',
      ['b'],
      'A record keeps more than the 30 bytes that are allowed',
    ],
    ['not what no path leads to', '<r><a><c>12345678901234567890</c></a></r>', ['b'], undefined],
    [
      'what is within a value',
      '<r><a><b><c>12345678901234567890</c></b></a></r>',
      ['b'],
      'A record keeps more than the 30 bytes that are allowed',
    ],
    ['each record by itself', '<r><a><b>123</b></a><a><b>456</b></a><a><b>789</b></a></r>', ['b'], undefined],
  ])('a record counts %s', async (_, document, references, message) => {
    const outcome = await outcomeOf(document, ['/r/a'], references, false, { maxRecordBytes: 30 }, 1 << 20);
    if (message === undefined) expect(outcome).toHaveProperty('found');
    else expect(outcome).toMatchObject({ code: 'limit/exceeded', message, place: { record: 0 } });
  });
});
