import { describe, expect, test } from '@jest/globals';
import { openJson } from '../../../../src/sources/json/json.ts';
import type { IterationRequest, JsonOptions } from '../../../../src/sources/source.ts';
import { chunks, faultOf, READING, read, show } from './reading.ts';

const ORDERS = JSON.stringify({
  version: 3,
  orders: [
    { id: 'A', lines: [{ sku: 'x', n: 1 }, { sku: 'y' }], customer: { name: 'Ada', tags: ['t1', 't2'] } },
    { lines: [{ sku: 'z' }], id: 'B' },
    { id: 'C', lines: [] },
    { id: 'D' },
  ],
  shop: 'S',
});
const LINES = '$.orders[*].lines[*]';

/** By record: what each reference reads. */
async function values(document: string, iterator: string, references: readonly string[], reading: Partial<JsonOptions> = {}, chunk = 7) {
  const found = await read({ document, iterators: [iterator], references, reading, chunk });
  return found[0]?.map((record) => record.map(show));
}

describe('references to parents of JSON records', () => {
  test.each<[name: string, iterator: string, references: string[], expected: unknown]>([
    [
      'the object around the array',
      LINES,
      ['$.sku', '$^^.id'],
      [
        ['x', 'A'],
        ['y', 'A'],
        ['z', 'B'],
      ],
    ],
    ['a member behind the array', LINES, ['$^^.customer.name'], [['Ada'], ['Ada'], [null]]],
    ['several values', LINES, ['$^^.customer.tags[*]'], [[['t1', 't2']], [['t1', 't2']], [null]]],
    [
      'the root, with members before and after',
      LINES,
      ['$^^^^.version', '$^^^^.shop'],
      [
        ['3^^integer', 'S'],
        ['3^^integer', 'S'],
        ['3^^integer', 'S'],
      ],
    ],
    [
      'of the root alone',
      '$.orders[*]',
      ['$.id', '$^^.shop'],
      [
        ['A', 'S'],
        ['B', 'S'],
        ['C', 'S'],
        ['D', 'S'],
      ],
    ],
    ['an array has no members', LINES, ['$^.id'], [[null], [null], [null]]],
    [
      'neighbours',
      LINES,
      ['$^[0].sku', '$^[*].sku'],
      [
        ['x', ['x', 'y']],
        ['x', ['x', 'y']],
        ['z', 'z'],
      ],
    ],
    [
      'descendants',
      '$..sku',
      ['$', '$^.n', '$^^^.id'],
      [
        ['x', '1^^integer', 'A'],
        ['y', null, 'A'],
        ['z', null, 'B'],
      ],
    ],
    ['a filter in the iterator', "$.orders[?@.id=='B'].lines[*]", ['$.sku', '$^^.id'], [['z', 'B']]],
    [
      'a filter on the root',
      '$.orders[?@.id!=$.shop].lines[*]',
      ['$.sku', '$^^.id'],
      [
        ['x', 'A'],
        ['y', 'A'],
        ['z', 'B'],
      ],
    ],
    [
      'a filter in the reference: $ is the ancestor',
      LINES,
      ['$^^.lines[?@.sku==$.lines[0].sku].n'],
      [['1^^integer'], ['1^^integer'], [null]],
    ],
    [
      'records that are values',
      '$.orders[*].customer.tags[*]',
      ['$', '$^^^.id'],
      [
        ['t1', 'A'],
        ['t2', 'A'],
      ],
    ],
    ['above the document, by the way of a record', '$..orders', ['$^.version', '$^^.version'], 'fault'],
    ['a quoted name', LINES, ["$^^['id']"], [['A'], ['A'], ['B']]],
  ])('%s', async (_, iterator, references, expected) => {
    const reading = expected === 'fault' ? values('{"orders":{}}', iterator, references) : values(ORDERS, iterator, references);
    // `$..orders` may lead deeper, so that the document does not always end.
    if (expected === 'fault') expect(await reading).toEqual([[null, null]]);
    else expect(await reading).toEqual(expected);
  });

  test('the last of equal members counts, before and after the array', async () => {
    const document = '{"o":[{"id":1,"id":2,"l":[{}],"id":3},{"id":4,"l":[{}],"x":1,"id":{"a":5}}]}';
    expect(await values(document, '$.o[*].l[*]', ['$^^.id'], { dialect: 'legacy' }).catch((fault) => fault.code)).toEqual('record/term');
    expect(await values(document.replace('{"a":5}', '5'), '$.o[*].l[*]', ['$^^.id'])).toEqual([['3^^integer'], ['5^^integer']]);
  });

  test('legacy RML: plain strings, and its own leniencies behind the parents', async () => {
    const document = '{"o":[{"the id":1,"l":[{"a":[1,2]}]}]}';
    expect(await values(document, '$.o.[*].l.[*]', ['a', '$^^.the id', ' $^^.the id '], { dialect: 'legacy' })).toEqual([
      [['1', '2'], '1', '1'],
    ]);
  });

  test('a legacy key that begins with ^ stays a key', async () => {
    expect(await values('[{"^id":1,"^":{"id":2}}]', '$[*]', ['^id', '^.id'], { dialect: 'legacy' })).toEqual([['1', '2']]);
  });

  test('JSON Lines: within the line, and over all lines', async () => {
    const document = '{"id":1,"l":[{"s":"a"},{"s":"b"}]}\n{"l":[{"s":"c"}],"id":2}\n';
    const found = [
      ['a', '1^^integer'],
      ['b', '1^^integer'],
      ['c', '2^^integer'],
    ];
    expect(await values(document, '$[*].l[*]', ['s', '$^^.id'], { format: 'jsonl' })).toEqual(found);
    expect(await values(document, '$[*].l[*]', ['s', '$^^^[0].id'], { format: 'jsonl' })).toEqual(found.map(([s]) => [s, '1^^integer']));
  });

  test('several iterators share the pass, those with parents and those without', async () => {
    const iterations: IterationRequest[] = [
      { iterator: LINES, references: ['$^^.id'], origin: '' },
      { iterator: '$.orders[*]', references: ['$.id'], origin: '' },
      { iterator: LINES, references: ['$.sku'], origin: '' },
      { iterator: '$.orders[*].lines', references: ['$^.id', '$[0].sku'], origin: '' },
    ];
    const scan = await openJson(
      chunks(Buffer.from(ORDERS), () => 11),
      iterations,
      READING,
    );
    const readers = iterations.map(({ references }, i) => references.map((reference) => scan.accessor(i, reference)));
    const found: unknown[][] = iterations.map(() => []);
    for await (const { iteration, records } of scan.batches(new AbortController().signal))
      for (const record of records) found[iteration]?.push(readers[iteration]?.map((reader) => show(reader(record))));
    expect(found).toEqual([
      [['A'], ['A'], ['B']],
      [['A'], ['B'], ['C'], ['D']],
      [['x'], ['y'], ['z']],
      [
        ['A', 'x'],
        ['B', 'z'],
        ['C', null],
      ],
    ]);
    expect(scan.warnings?.()).toEqual([]);
  });

  test('items of such records', async () => {
    const scan = await openJson(
      chunks(Buffer.from(ORDERS), () => 50),
      [{ iterator: '$.orders[*]', references: ['$^^.shop'], origin: '' }],
      READING,
    );
    const items = scan.nested?.(0, '$.lines[*]');
    const sku = items?.accessor('$.sku');
    const found: unknown[] = [];
    for await (const { records } of scan.batches(new AbortController().signal))
      for (const record of records) found.push(items?.items(record).map((item) => show(sku?.(item) ?? null)));
    expect(found).toEqual([['x', 'y'], ['z'], [], []]);
    expect(() => items?.accessor('$^.id')).toThrow(expect.objectContaining({ code: 'mapping/reference' }));
  });

  test('a parent above the document is a fault of the mapping', async () => {
    const fault = await faultOf(values(ORDERS, '$.orders[*]', ['$^^^.x']));
    expect([fault.code, fault.place.expression]).toEqual(['mapping/reference', '$^^^.x']);
  });

  test('a parent without nodes is unmatched', async () => {
    const scan = await openJson(
      chunks(Buffer.from(ORDERS), () => 50),
      [{ iterator: LINES, references: ['$^^.id', '$^.id'], origin: '' }],
      READING,
    );
    const readers = ['$^^.id', '$^.id'].map((reference) => scan.accessor(0, reference));
    for await (const { records } of scan.batches(new AbortController().signal))
      for (const record of records) for (const reader of readers) reader(record);
    expect(scan.unmatched(0)).toEqual(['$^.id']);
  });

  test('an ancestor that is too large is a fault that names the reference, and a large one a warning', async () => {
    const big = `{"orders":[${Array.from({ length: 40_000 }, (_, i) => `{"id":${i},"text":"${'x'.repeat(30)}"}`).join(',')}],"shop":"S"}`;
    const iteration = { iterator: '$.orders[*]', references: ['$^^.shop'], origin: '' };
    const scan = await openJson(
      chunks(Buffer.from(big), () => 1 << 16),
      [iteration],
      READING,
    );
    const shop = scan.accessor(0, '$^^.shop');
    let records = 0;
    for await (const batch of scan.batches(new AbortController().signal))
      for (const record of batch.records) if (shop(record) === 'S') records++;
    expect(records).toBe(40_000);
    expect(scan.warnings?.()).toEqual([
      expect.stringMatching(/^The iterator \$\.orders\[\*\] with the reference \$\^\^\.shop took 3 MB of input\.json/),
    ]);
    const fault = await faultOf(
      read({
        document: `{"o":[{"l":[1,2],"t":"${'x'.repeat(2000)}"}]}`,
        iterators: ['$.o[*].l[*]'],
        references: ['$^^.t'],
        reading: { maxRecordBytes: 1000 },
      }),
    );
    expect([fault.code, fault.limit]).toEqual(['limit/exceeded', 'MAX_RECORD_BYTES']);
  });
});

// ---------------------------------------------------------------- random documents

type Step = string | number | '*';

/** Paths of keys to what an iterator finds, without any of the code under test. */
function pathsTo(value: unknown, steps: readonly Step[], path: readonly (string | number)[] = []): (string | number)[][] {
  const [step, ...rest] = steps;
  if (step === undefined) return [[...path]];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) {
    const positions = step === '*' ? value.map((_, i) => i) : typeof step === 'number' && step < value.length ? [step] : [];
    return positions.flatMap((i) => pathsTo(value[i], rest, [...path, i]));
  }
  const object = value as Record<string, unknown>;
  const names = step === '*' ? Object.keys(object) : typeof step === 'string' && Object.hasOwn(object, step) ? [step] : [];
  return names.flatMap((name) => pathsTo(object[name], rest, [...path, name]));
}

const at = (value: unknown, path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>(
    (node, key) =>
      typeof node === 'object' && node !== null && Object.hasOwn(node, key) ? (node as Record<string, unknown>)[key] : undefined,
    value,
  );

test('equals a simple evaluator of whole documents, for random documents, iterators and parents', async () => {
  let seed = 11;
  const random = (below: number): number => {
    seed = (seed * 16_807) % 2_147_483_647;
    return seed % below;
  };
  const NAMES = ['a', 'b', 'c', 'id', 'ü'];
  /** JSON text with members before and after nested ones, missing ones, and some twice. */
  const value = (depth: number): string => {
    const kind = depth === 0 ? 5 + random(2) : random(depth > 4 ? 4 : 9);
    if (kind < 4) return [String(random(100)), '"é\\u00e9"', `"${'x'.repeat(random(20))}"`, 'null'][kind] as string;
    if (kind === 4 || kind === 7) return `[${Array.from({ length: random(4) }, () => value(depth + 1)).join(',')}]`;
    const members = Array.from({ length: 1 + random(6) }, () => NAMES[random(NAMES.length)] as string);
    // Members on the way to records stand once: outside of a record, each of equal members is walked.
    const once = members.filter((name, i) => members.indexOf(name) === i);
    const text = once.map((name) => `${JSON.stringify(name)}:${value(depth + 1)}`);
    return `{${text.join(' , ')}}`;
  };
  let compared = 0;
  for (let run = 0; run < 1500; run++) {
    const document = value(0);
    const parsed = JSON.parse(document);
    const steps: Step[] = Array.from({ length: 1 + random(4) }, () => [...NAMES.slice(0, 3), '*', '*', '*', 0, 1][random(8)] as Step);
    const iterator = `$${steps.map((step) => (step === '*' ? '[*]' : typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')}`;
    const ups = Array.from({ length: 3 }, () => random(steps.length + 1));
    const name = NAMES[random(NAMES.length)] as string;
    const references = ups.map((up) => `$${'^'.repeat(up)}['${name}']`);
    const expected = pathsTo(parsed, steps).map((path) =>
      ups.map((up) => {
        const found = at(parsed, [...path.slice(0, path.length - up), name]);
        return typeof found === 'object' || found === undefined ? null : String(found);
      }),
    );
    const scan = await openJson(
      chunks(Buffer.from(document), () => 1 + random(40)),
      [{ iterator, references, origin: '' }],
      { ...READING, dialect: 'legacy' },
    );
    const readers = references.map((reference) => scan.accessor(0, reference));
    const found: unknown[] = [];
    for await (const { records } of scan.batches(new AbortController().signal))
      for (const record of records)
        found.push(
          readers.map((reader) => {
            try {
              const read = show(reader(record));
              return Array.isArray(read) ? null : read;
            } catch {
              // An object has no text.
              return null;
            }
          }),
        );
    expect([document, iterator, references, found]).toEqual([document, iterator, references, expected]);
    compared += found.length;
  }
  expect(compared).toBeGreaterThan(500);
});
