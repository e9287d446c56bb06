/**
 * Records read into slots are those of the parser: random documents, some of them broken, are read in both ways.
 *
 * A reference that no slot can hold (`$..never`) makes the reader parse records to values.
 */
import { describe, expect, test } from '@jest/globals';
import { Fault } from '../../../../src/core/fault.ts';
import { openJson } from '../../../../src/sources/json/json.ts';
import type { JsonOptions } from '../../../../src/sources/source.ts';
import { chunks, READING, show } from './reading.ts';

const AS_VALUES = '$..never';
const REFERENCES = ['a', '$.b', 'c.a', 'c.b.a', 'd[*]', 'd[*].a', 'e', 'c[*]', '$', '__proto__', 'é', 'd[*][*]'];
const ITERATORS = ['$[*]', '$[*].d[*]', '$[*].c', '$[*].c.d[*].a', '$'];

interface Outcome {
  /** By iteration and record. */
  readonly records: readonly (readonly unknown[])[];
  readonly unmatched: readonly (readonly string[])[];
  readonly fault: unknown;
}

async function outcomeOf(
  document: string,
  iterators: readonly string[],
  references: readonly string[],
  asValues: boolean,
  reading: Partial<JsonOptions>,
  chunk: number,
): Promise<Outcome> {
  const asked = asValues ? [...references, AS_VALUES] : references;
  const scan = await openJson(
    chunks(Buffer.from(document), () => chunk),
    iterators.map((iterator) => ({ iterator, references: asked, origin: '' })),
    { ...READING, ...reading },
  );
  const readers = iterators.map((_, i) => references.map((reference) => scan.accessor(i, reference)));
  const records: unknown[][] = iterators.map(() => []);
  let fault: unknown;
  try {
    for await (const batch of scan.batches(new AbortController().signal))
      for (const record of batch.records)
        records[batch.iteration]?.push((readers[batch.iteration] ?? []).map((read) => shown(() => read(record), read.written, record)));
  } catch (error) {
    fault = shownFault(error);
  }
  const unmatched = iterators.map((_, i) => scan.unmatched(i).filter((one) => one !== AS_VALUES));
  return { records, unmatched, fault };
}

function shown(read: () => Parameters<typeof show>[0], written: ((record: unknown) => unknown) | undefined, record: unknown): unknown {
  let values: unknown;
  try {
    const found = read();
    values = [show(found), spelled(found)];
    if (written !== undefined) expect(written(record)).toEqual(spelled(found));
  } catch (error) {
    values = shownFault(error);
    if (written !== undefined) expect(() => written(record)).toThrow((error as Error).message);
  }
  return values;
}

function spelled(values: Parameters<typeof show>[0]): unknown {
  if (values === null || typeof values === 'string') return values;
  return 'written' in values ? values.written : values.map(spelled);
}

function shownFault(error: unknown): unknown {
  if (!(error instanceof Fault)) throw error;
  return error.toJSON();
}

/** Numbers in [0, 1) that a seed decides. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return (state >>> 8) / 2 ** 24;
  };
}

const SCALARS = [
  '0',
  '-0',
  '7',
  '-12',
  '1.5',
  '1.50',
  '0.0000001',
  '12345678901234567890',
  '1e3',
  '1E-2',
  '687.24',
  '-0.0',
  '999999999999999.5',
  'true',
  'false',
  'null',
  '""',
  '"x"',
  '"a text that is longer than a dozen"',
  '"Zoë"',
  '"\\u00e9\\n"',
  '"\\ud83d\\ude00"',
  '"\\ud83d"',
  '"\\""',
  '"\\\\u0041"',
];
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', '__proto__', 'é', 'longer name', 'a\\u0062', '\\u0061', ''];

function documentOf(random: () => number): string {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const spaced = random() < 0.3;
  const space = (): string => (spaced && random() < 0.5 ? pick([' ', '\n', '\r\n', '\t', '  ']) : '');
  const value = (depth: number): string => {
    const kind = random();
    if (depth > 4 || kind < 0.4) return pick(SCALARS);
    const parts = Array.from({ length: Math.floor(random() * 5) }, () =>
      kind < 0.75 ? `${space()}"${pick(NAMES)}"${space()}:${space()}${value(depth + 1)}${space()}` : space() + value(depth + 1) + space(),
    );
    return kind < 0.75 ? `{${parts.join(',')}}` : `[${parts.join(',')}]`;
  };
  const record = (): string =>
    `{"a":${pick(SCALARS)},${space()}"b":${pick(SCALARS)},"c":{"a":${pick(SCALARS)},"b":${value(3)},"d":[${value(2)}]},"d":[${value(3)},${value(3)}],"e":${value(3)}}`;
  const records = Array.from({ length: 1 + Math.floor(random() * 12) }, () => (random() < 0.6 ? record() : value(1)));
  const text = `[${records.join(`,${space()}\n`)}]`;
  if (random() < 0.75) return text;
  // Something is missing, or too much.
  const at = Math.floor(random() * text.length);
  return text.slice(0, at) + pick(['', '}', ']', ',', '"', '\\', 'x', '\u0001', '1']) + text.slice(at + Math.floor(random() * 2));
}

describe('records as slots', () => {
  test.each([1, 2, 3, 4])('are those of the parser (seed %d)', async (seed) => {
    const random = randomFrom(seed);
    let read = 0;
    for (let i = 0; i < 120; i++) {
      const document = documentOf(random);
      const iterators = ITERATORS.filter(() => random() < 0.5);
      if (iterators.length === 0) iterators.push('$[*]');
      const references = REFERENCES.filter(() => random() < 0.6);
      if (references.length === 0) references.push('a');
      const reading: Partial<JsonOptions> = {
        dialect: random() < 0.5 ? 'rml' : 'legacy',
        nulls: random() < 0.2 ? ['x', '7', '1.5E0'] : [],
        ...(random() < 0.2 ? { maxDepth: 4 } : {}),
        ...(random() < 0.1 ? { maxRecordBytes: 60 } : {}),
      };
      const chunk = random() < 0.7 ? 1 << 20 : 1 + Math.floor(random() * 60);
      const slots = await outcomeOf(document, iterators, references, false, reading, chunk);
      expect(slots).toEqual(await outcomeOf(document, iterators, references, true, reading, chunk));
      read += slots.records.flat().length;
    }
    expect(read).toBeGreaterThan(300);
  });

  test('survive that the window is written over: names of members are copies', async () => {
    const record = (i: number): string => `{"a":${i},"other":"${'x'.repeat(i % 50)}","b":"b${i}"}`;
    const document = `[${Array.from({ length: 5000 }, (_, i) => record(i)).join(',\n')}]`;
    const { records } = await outcomeOf(document, ['$[*]'], ['a', 'b'], false, {}, 1 << 16);
    expect(records[0]).toHaveLength(5000);
    expect(records[0]?.[4999]).toEqual([
      ['4999^^integer', '4999'],
      ['b4999', 'b4999'],
    ]);
  });

  test('go on behind records that the reader refuses, however many they are', async () => {
    const document = `[${Array.from({ length: 500 }, (_, i) => (i < 300 ? `{"a":{"b":${i}}}` : `{"a":${i}}`)).join()}]`;
    const { records } = await outcomeOf(document, ['$[*]'], ['a', 'a.b'], false, {}, 1 << 16);
    expect(records[0]?.[299]).toEqual([expect.objectContaining({ code: 'record/term' }), ['299^^integer', '299']]);
    expect(records[0]?.[499]).toEqual([
      ['499^^integer', '499'],
      [null, null],
    ]);
  });
});
