import { isDeepStrictEqual } from 'node:util';
import { describe, expect } from '@jest/globals';
import { fromBytes } from '../../../../src/core/text.ts';
import { openJson } from '../../../../src/sources/json/json.ts';
import { share, sharedTest, test } from '../../../support/jest/extent.ts';
import { chunks, READING, read, showAll } from './reading.ts';

const SHOP = JSON.stringify({
  students: [
    { id: 1, name: 'Ada', marks: [1, 2] },
    { id: 2, name: 'Bóris "B"', marks: [] },
    { id: 3, marks: [{ of: 'x' }] },
  ],
  skipped: { deep: [[{ a: ['}', ']', '\\', '"'] }], -1.5e3, true, null] },
  sports: [{ id: 's1', 'ISO 3166': 'é😀' }, { id: 's2' }],
  scalars: [1, 'two', 3.5, true, null, 12345678901234567890n.toString()],
}).replace('"12345678901234567890"', '12345678901234567890');

describe('openJson', () => {
  test.each<[name: string, iterators: (string | undefined)[], references: string[], expected: unknown]>([
    ['elements', ['$.students[*]'], ['$.id'], [['1^^integer', '2^^integer', '3^^integer']]],
    [
      'two branches of one document',
      ['$.students[*]', '$.sports[*]'],
      ['$.id'],
      [
        ['1^^integer', '2^^integer', '3^^integer'],
        ['s1', 's2'],
      ],
    ],
    ['records within records', ['$.students[*]', '$.students[*].marks[*]'], ['$'], undefined],
    ['members', ['$.*'], ['[0].id'], [['1^^integer', null, 's1', null]]],
    ['one element', ['$.students[1]'], ['name'], [['Bóris "B"']]],
    ['a slice from the front', ['$.students[1:]'], ['id'], [['2^^integer', '3^^integer']]],
    ['a slice from the end', ['$.students[-1:]'], ['id'], [['3^^integer']]],
    ['a union', ['$.students[2,0]'], ['id'], [['3^^integer', '1^^integer']]],
    ['a filter', ["$.students[?@.name == 'Ada']"], ['id'], [['1^^integer']]],
    ['a filter and on', ['$.students[?@.id < 3].marks[*]'], ['$'], [['1^^integer', '2^^integer']]],
    ['a filter that looks at the root', ['$.students[?@.id == $.students[0].id]'], ['id'], [['1^^integer']]],
    ['descendants', ['$..of'], ['$'], [['x']]],
    ['the document', [undefined], ['students[*].id'], [[['1^^integer', '2^^integer', '3^^integer']]]],
    ['one object', ['$.sports[0]'], ["$['ISO 3166']"], [['é😀']]],
    ['scalars', ['$.scalars[*]'], ['$'], [['1^^integer', 'two', '3.5E0^^double', 'true^^boolean', null, '12345678901234567890^^integer']]],
    ['nothing where nothing is', ['$.none[*]', '$.students[9]'], ['$'], [[], []]],
    ['an iterator without $', ['students[*]'], ['id'], [['1^^integer', '2^^integer', '3^^integer']]],
  ])('reads %s, however the bytes are cut', async (name, iterators, references, expected) => {
    if (expected === undefined) {
      const found = await read({ document: SHOP, iterators, references: [] });
      expect(found.map((records) => records.length)).toEqual([3, 3]);
      return;
    }
    for (const chunk of [1 << 20, 1, 2, 3, 5, 7, 16]) {
      const found = showAll(await read({ document: SHOP, iterators, references, chunk }));
      expect([name, chunk, found]).toEqual([name, chunk, expected]);
    }
  });
});

/** A linear congruential generator: the same documents in every run. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const TEXTS = [
  '',
  'a',
  'é',
  '€uro',
  '😀',
  'quote " and \\',
  'line\nfeed',
  '\u0000',
  '{"a":[1]}',
  'x'.repeat(40),
  '1234567890123456789',
  'true',
  'e5',
];
const NAMES = ['a', 'b', 'c', 'ä', 'toString', '__proto__', 'length'];

/** JSON text with odd spaces and escapes. */
function randomJson(below: (n: number) => number, depth: number): string {
  const space = () => ['', '', '', ' ', '\n  ', '\t', '\r\n'][below(7)];
  const string = (text: string) =>
    below(4) === 0
      ? JSON.stringify(text).replace(/[^\x20-\x7f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
      : JSON.stringify(text);
  const kind = below(depth > 3 ? 5 : 9);
  if (kind === 0) return String(below(1000) - 500);
  if (kind === 1)
    return ['0.5', '-12.25', '655.56', '30.0', '1e3', '12345678901234567890', '0.0000001', '-0', '1.50', '9007199254740993'][
      below(10)
    ] as string;
  if (kind === 2) return ['true', 'false', 'null'][below(3)] as string;
  if (kind < 5) return string(TEXTS[below(TEXTS.length)] as string);
  const parts: string[] = [];
  const used = new Set<string>();
  for (let n = below(5); n > 0; n--) {
    const name = NAMES[below(NAMES.length)] as string;
    if (kind >= 7 && used.has(name)) continue;
    used.add(name);
    const value = `${space()}${randomJson(below, depth + 1)}${space()}`;
    parts.push(kind < 7 ? value : `${space()}${string(name)}${space()}:${value}`);
  }
  return kind < 7 ? `[${parts.join(',') || space()}]` : `{${parts.join(',') || space()}}`;
}

/** The plain meaning of an iterator, on `JSON.parse`d values. */
function evaluate(value: unknown, steps: readonly (string | number | '*')[]): unknown[] {
  let nodes = [value];
  for (const step of steps) {
    nodes = nodes.flatMap((node): unknown[] => {
      if (typeof node !== 'object' || node === null) return [];
      if (step === '*') return Object.values(node);
      if (typeof step === 'number') return Array.isArray(node) && step < node.length ? [node[step]] : [];
      return !Array.isArray(node) && Object.hasOwn(node, step) ? [(node as Record<string, unknown>)[step]] : [];
    });
  }
  return nodes;
}

const ITERATORS: readonly (readonly [string, (string | number | '*')[]])[] = [
  ['$', []],
  ['$[*]', ['*']],
  ['$.a', ['a']],
  ['$.a[*]', ['a', '*']],
  ['$[*].b', ['*', 'b']],
  ["$['ä'][*]", ['ä', '*']],
  ['$[0]', [0]],
  ['$[*][1]', ['*', 1]],
  ['$.b.c', ['b', 'c']],
  ['$.*.*[*]', ['*', '*', '*']],
  ["$['__proto__']", ['__proto__']],
  ['$[*].toString', ['*', 'toString']],
  ['$.length', ['length']],
];

describe('memory', () => {
  test('does not grow with the document, be it read or skipped', async () => {
    const chunk = Buffer.from('{"id":1,"text":"some words","list":[1,2,3]},'.repeat(2000));
    async function* document() {
      yield Buffer.from('{"r":[');
      for (let i = 0; i < 250; i++) yield chunk;
      yield Buffer.from('null],"s":[');
      for (let i = 0; i < 250; i++) yield chunk;
      yield Buffer.from('null]}');
    }
    const scan = await openJson(document(), [{ iterator: '$.r[*]', references: [], origin: '' }], READING);
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    let records = 0;
    let largest = 0;
    for await (const batch of scan.batches(new AbortController().signal)) {
      records += batch.records.length;
      largest = Math.max(largest, batch.records.length);
      most = Math.max(most, process.memoryUsage().arrayBuffers);
    }
    most = Math.max(most, process.memoryUsage().arrayBuffers);
    expect(records).toBe(500_001);
    expect(largest).toBeLessThanOrEqual(512);
    expect(most - before).toBeLessThan(2 * 2 ** 20);
  });
});

describe('records of random documents', () => {
  sharedTest.each(share(1, [7, 8, 9, 10]))(
    'are those of JSON.parse and the iterator, however the bytes are cut (seed %d)',
    async (seed) => {
      const below = random(seed);
      for (let round = 0; round < 100; round++) {
        const document = randomJson(below, 0);
        const picked = Array.from({ length: 1 + below(3) }, () => ITERATORS[below(ITERATORS.length)] as (typeof ITERATORS)[number]);
        const parsed: unknown = JSON.parse(document);
        const small = Buffer.byteLength(document) < 60;
        for (let size = 1; size <= (small ? 60 : 3); size++) {
          const found = await records(
            document,
            picked.map(([iterator]) => iterator),
            small ? () => size : () => 1 + below(40),
          );
          const expected = picked.map(([, steps]) => evaluate(parsed, steps));
          // `expect` alone says what differs, but takes longer than the reading.
          if (!isDeepStrictEqual(found, expected)) expect([document, picked, found]).toEqual([document, picked, expected]);
        }
      }
    },
  );
});

/** The records themselves, decoded: numbers as JSON.parse has them. */
async function records(document: string, iterators: readonly string[], chunk: () => number): Promise<unknown[][]> {
  const iterations = iterators.map((iterator) => ({ iterator, references: [], origin: '' }));
  const scan = await openJson(chunks(Buffer.from(document), chunk), iterations, READING);
  const found: unknown[][] = iterations.map(() => []);
  for await (const batch of scan.batches(new AbortController().signal)) found[batch.iteration]?.push(...batch.records.map(plain));
  return found;
}

function plain(value: unknown): unknown {
  if (typeof value === 'string') return fromBytes(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  if (Object.getPrototypeOf(value) !== Object.prototype)
    return Number((value as unknown as Record<symbol, string>)[Object.getOwnPropertySymbols(value)[0] as symbol]);
  const object: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    Object.defineProperty(object, fromBytes(name), { value: plain(member), enumerable: true, configurable: true, writable: true });
  }
  return object;
}
