/** Parts of the inference: kinds of values, names, and the beginnings of documents. */
import { describe, expect, test } from '@jest/globals';
import { JsonBeginningError, readJson, readJsonSequence } from '../../../src/infer/json-beginning.ts';
import { commonKind, type Kind, kindOf } from '../../../src/infer/kinds.ts';
import { classNameOf, classWords, keyLikeness, speaksOf, withoutKey } from '../../../src/infer/names.ts';
import { isArray, isMembers, type Tree } from '../../../src/infer/sample.ts';
import { delimiterOfHead } from '../../../src/sampling/peek.ts';

test.each<[text: string, kind: Kind]>([
  ['0', 'integer'],
  ['-12', 'integer'],
  ['007', 'text'],
  ['+1', 'text'],
  ['1234567890123456789', 'text'],
  ['1.50', 'decimal'],
  ['01.5', 'text'],
  ['1e5', 'double'],
  ['1.5E-3', 'double'],
  ['NaN', 'text'],
  ['1,5', 'text'],
  ['true', 'boolean'],
  ['True', 'text'],
  ['2024-02-29', 'date'],
  ['2023-02-29', 'text'],
  ['2024-13-01', 'text'],
  ['0000-01-01', 'text'],
  ['2024-02-29T23:59:59Z', 'dateTime'],
  ['2024-02-29T23:59:59.5+02:00', 'dateTime'],
  ['2024-02-29T24:00:00', 'text'],
  ['2024-02-29 10:00:00', 'text'],
  [' 1', 'text'],
  ['', 'text'],
])('%j is %s', (text, kind) => {
  expect(kindOf(text)).toBe(kind);
});

test('numbers have the widest kind in common, other kinds none', () => {
  expect(commonKind('integer', 'decimal')).toBe('decimal');
  expect(commonKind('double', 'integer')).toBe('double');
  expect(commonKind('date', 'dateTime')).toBe('text');
});

test.each([
  ['people', 'Person'],
  ['order-lines', 'OrderLine'],
  ['categories', 'Category'],
  ['addresses', 'Address'],
  ['status', 'Status'],
  ['Bus', 'Bus'],
  ['Kunden 2026', 'Kunden2026'],
  ['…', 'Record'],
])('%s holds things of the class %s', (name, found) => {
  expect(classNameOf(classWords(name))).toBe(found);
});

test('names like keys', () => {
  const likeness = (name: string): number => keyLikeness(name, ['order']);
  expect(['id', '@id', 'orderId', 'order_no', 'customer_id', 'sku', 'name', 'paid'].map(likeness)).toEqual([4, 4, 3, 2, 2, 2, 0, 0]);
});

test.each([
  ['customer_id', ['customer'], 'id', true],
  ['billing_customer', ['customer'], 'id', true],
  ['CustomerNo', ['customer'], 'no', true],
  ['isbn', ['book'], 'isbn', true],
  ['id', ['customer'], 'id', false],
  ['quantity', ['customer'], 'id', false],
] as const)('%s may refer to %j by %s: %s', (name, words, key, expected) => {
  expect(speaksOf(name, words, key)).toBe(expected);
});

const plain = (tree: Tree): unknown =>
  tree === null || typeof tree === 'string'
    ? tree
    : isMembers(tree)
      ? Object.fromEntries([...tree.members].map(([name, inner]) => [name, plain(inner)]))
      : isArray(tree)
        ? tree.map(plain)
        : JSON.parse((tree as { readonly text: string }).text);

describe('the beginning of JSON', () => {
  const DOCUMENT = '{"a":[{"x":1,"y":"\\"\\u00fc"},{"x":-2.5e3,"y":null}], "b":{"c":[[],{}, [true]]},"":"","d":false}';

  test('a whole document is what JSON.parse makes of it', () => {
    const { tree = null, isAll } = readJson(DOCUMENT, true, 100);
    expect(plain(tree)).toEqual(JSON.parse(DOCUMENT));
    expect(isAll).toBe(true);
  });

  test('wherever it breaks off, what is there is a part of the whole', () => {
    const isPart = (part: unknown, whole: unknown): boolean => {
      if (Array.isArray(part)) return Array.isArray(whole) && part.every((one, i) => isPart(one, whole[i]));
      if (typeof part === 'object' && part !== null)
        return Object.entries(part).every(([name, one]) => isPart(one, (whole as Record<string, unknown>)[name]));
      return part === whole;
    };
    for (let end = 0; end < DOCUMENT.length; end++) {
      const { tree } = readJson(DOCUMENT.slice(0, end), false, 100);
      if (tree !== undefined) expect([end, isPart(plain(tree), JSON.parse(DOCUMENT))]).toEqual([end, true]);
      expect(() => readJson(DOCUMENT.slice(0, end), true, 100)).toThrow(JsonBeginningError);
    }
  });

  test('wherever it is wrong, the text before has a tree as one that breaks off', () => {
    const deep = '['.repeat(600);
    const wrong = [...DOCUMENT].flatMap((_, at) =>
      [...'{}[],:"\\x1 '].map((one) => `${DOCUMENT.slice(0, at)}${one}${DOCUMENT.slice(at + 1)}`),
    );
    let faults = 0;
    for (const text of [...wrong, deep, `{"a":${deep}`]) {
      try {
        readJson(text, true, 100);
      } catch (error) {
        faults++;
        if (!(error instanceof JsonBeginningError)) throw error;
        const before = text.slice(0, error.offset);
        readJson(before, false, 100);
        readJsonSequence(before, false, 100);
      }
    }
    expect(faults).toBeGreaterThan(wrong.length / 2);
  });

  test.each([
    ['{"a":1}\n{"a":2}\n', [{ a: 1 }, { a: 2 }], true],
    ['{"a":1}{"a":\n2}', [{ a: 1 }, { a: 2 }], true],
    ['\x1e{"a":1}\n\x1e2\n', [{ a: 1 }, 2], true],
    ['1 2 3 4', [1, 2, 3], false],
    ['', [], true],
  ])('the sequence %j', (text, values, all) => {
    const { tree = null, isAll } = readJsonSequence(text, true, 3);
    expect([plain(tree), isAll]).toEqual([values, all]);
  });

  test('a sequence that breaks off has the values before', () => {
    expect(plain(readJsonSequence('{"a":1}\n{"a":2,"b":', false, 9).tree ?? null)).toEqual([{ a: 1 }]);
  });

  test('items beyond the bound are left out', () => {
    const { tree = null, isAll } = readJson('[1,2,3]', true, 2);
    expect([plain(tree), isAll]).toEqual([[1, 2], false]);
  });

  test.each([['[1,]'], ['{"a"}'], ['{a:1}'], ['[1 2]'], ['nul'], ['"a'], ['[01]'], ['1 2'], [`${'['.repeat(600)}`]])(
    '%s is none',
    (text) => {
      expect(() => readJson(text, true, 10)).toThrow(JsonBeginningError);
    },
  );
});

test.each([
  ['a,b\n1,2\n', ','],
  ['a;b\n1,5;2\n', ';'],
  ['a\tb\n1\t"x,\ny"\n', '\t'],
  ['"a;b",c\n1,2\n', ','],
  ['a|b|c\n1|2|3', '|'],
  ['a\n1\n', ','],
  ['', ','],
])('the delimiter of %j is %j', (head, delimiter) => {
  expect(delimiterOfHead(head)).toBe(delimiter);
});

test.each([
  ['customer_id', 'customer'],
  ['customerId', 'customer'],
  ['home_branch', 'home_branch'],
  ['homeBranch', 'homeBranch'],
  ['homeBranchId', 'homeBranch'],
  ['home branch no', 'home_branch'],
])('%s speaks of %s, written as the name is', (name, expected) => expect(withoutKey(name)).toBe(expected));

test.each([
  ['shelves', 'Shelf'],
  ['movies', 'Movie'],
  ['statuses', 'Status'],
  ['cities', 'City'],
])('%s are of the class %s', (name, expected) => expect(classNameOf(classWords(name))).toBe(expected));
