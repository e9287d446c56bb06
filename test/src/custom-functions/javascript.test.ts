/** JavaScript functions: what they see, what they give, and what ends them. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { FunctionDefinition, Outcome } from '../../../src/functions/definition.ts';
import { described, EX, makeWorkshop, PREFIXES, type Workshop } from './support.ts';

let workshop: Workshop;
beforeAll(async () => {
  workshop = await makeWorkshop();
  await workshop.write({ 'functions.ttl': described('same', 'odd', 'costly', 'world'), 'code.mjs': MODULE });
  const functions = await workshop.open({ seconds: 1 });
  open = (name) => functions.find(EX + name) as FunctionDefinition;
});
afterAll(() => workshop.remove());

const MODULE = String.raw`
export const same = (text) => text;
export const odd = (text) => {
  switch (text) {
    case 'number': return 12.5;
    case 'infinite': return -1 / 0;
    case 'boolean': return true;
    case 'big': return 2n ** 70n;
    case 'nothing': return undefined;
    case 'list': return ['a', [2, null], true];
    case 'date': return new Date(0);
    case 'nul': return 'a\0b';
    case 'separator': return 'a\x01b\x02';
    case 'object': return { a: 1 };
    case 'function': return () => 1;
    case 'promise': return Promise.resolve(1);
    case 'error': throw new RangeError('too odd');
    case 'text': throw 'thrown';
    case 'deep': return odd('deep') + 1;
    default: return text + '!';
  }
};
export const costly = (text) => {
  if (text === 'loop') for (;;);
  if (text === 'pattern') return String(/^(a+)+$/.test('a'.repeat(60) + 'b'));
  if (text === 'memory') { const held = []; for (;;) held.push(new Array(1e5).fill(held.length)); }
  return text;
};
export const world = () => Object.getOwnPropertyNames(globalThis).filter((name) => /^[a-z]/.test(name)).join(' ');
`;

let open: (name: string) => FunctionDefinition;
const all = ({ callAll }: FunctionDefinition, ...texts: readonly unknown[]): readonly Outcome[] =>
  (callAll as NonNullable<typeof callAll>)(texts.map((text) => [text]));

describe('results', () => {
  test.each([
    ['number', 12.5],
    ['infinite', '-INF'],
    ['boolean', true],
    ['big', '1180591620717411303424'],
    ['nothing', null],
    ['list', ['a', 2, null, true]],
    ['date', '1970-01-01T00:00:00.000Z'],
    ['nul', 'a\0b'],
    ['separator', 'a\x01b\x02'],
    ['other', 'other!'],
  ])('%s', async (text, result) => {
    const odd = open('odd');
    expect(all(odd, text)).toEqual([{ result }]);
    // Among texts, which go another way.
    expect(all(odd, 'x', text, 'y')).toEqual([{ result: 'x!' }, { result }, { result: 'y!' }]);
  });

  test.each([
    ['object', 'it gives an object'],
    ['function', 'it gives a function'],
    ['promise', 'it gives a promise'],
    ['error', 'RangeError: too odd (code.mjs:'],
    ['text', 'it throws thrown'],
    ['deep', 'stack'],
  ])('%s is an error of its call alone', async (text, message) => {
    const outcomes = all(open('odd'), 'x', text, 'y');
    expect(outcomes).toEqual([{ result: 'x!' }, { error: expect.any(Error) }, { result: 'y!' }]);
    expect((outcomes[1] as { error: Error }).error.message).toContain(message);
  });

  test('texts of all kinds stay as they are', async () => {
    const texts = ['', 'é ü ß', '漢字', '😀', 'a\0b', '\x01', '\x02', '"\\\n', ' '.repeat(1000)];
    const same = open('same');
    expect(all(same, ...texts)).toEqual(texts.map((result) => ({ result })));
    for (const text of texts) expect(all(same, text)).toEqual([{ result: text }]);
  });

  test('more text than may be given at once is given in parts', async () => {
    const long = 'x'.repeat(400_000);
    const outcomes = all(open('same'), ...Array(5).fill(long));
    expect(outcomes.length).toBeGreaterThan(0);
    expect(outcomes.length).toBeLessThan(5);
    expect(all(open('same'), long.repeat(5))).toEqual([{ result: long.repeat(5) }]);
  });
});

test('numbers, booleans and lists are that, and what is left out is null', async () => {
  await workshop.write({
    'functions.ttl': `${PREFIXES}
ex:show a fno:Function ; fno:expects ( ex:i ex:d ex:b ex:l ex:o ) ; fno:returns ( ex:output ) .
ex:i fno:predicate ex:pi ; fno:type xsd:int . ex:d fno:predicate ex:pd ; fno:type xsd:double . ex:b fno:predicate ex:pb ; fno:type xsd:boolean .
ex:l fno:predicate ex:pl ; fno:type rdf:List . ex:o fno:predicate ex:po ; fno:type xsd:integer ; fno:required false .
ex:output fno:predicate ex:result .
ex:code a fnoi:JavaScriptImplementation ; doap:download-url <code.mjs> .
[] a fno:Mapping ; fno:function ex:show ; fno:implementation ex:code ; fno:methodMapping [ fnom:method-name "show" ] .`,
    'code.mjs': 'export const show = (...args) => JSON.stringify(args);',
  });
  const show = (await workshop.open()).find(`${EX}show`) as FunctionDefinition;
  expect(show.parameters.map(({ type, needs }) => `${type} ${needs}`)).toEqual([
    'integer value',
    'number value',
    'boolean value',
    'list value',
    'integer nothing',
  ]);
  expect(show.call(1, 2.5, true, ['a', 'b'], undefined)).toBe('[1,2.5,true,["a","b"],null]');
});

describe('limits', () => {
  test.each([
    ['loop', 'it needed more than 1 s', 'CUSTOM_FUNCTION_SECONDS'],
    ['pattern', 'it needed more than 1 s', 'CUSTOM_FUNCTION_SECONDS'],
    ['memory', 'it needed more than 64 MB of memory', 'CUSTOM_FUNCTION_MEMORY_MB'],
  ])('%s', async (text, message, limit) => {
    const costly = open('costly');
    // The first call is not to blame, and has its outcome.
    expect(all(costly, 'a', text)).toEqual([{ result: 'a' }]);
    expect(() => all(costly, text)).toThrow(expect.objectContaining({ message, limit }));
    expect(all(costly, 'b')).toEqual([{ result: 'b' }]);
  });

  test('a module sees the language and nothing else', async () => {
    const [outcome] = all(open('world'), '');
    expect((outcome as { result: string }).result).toBe(
      'parseInt parseFloat isNaN isFinite decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape undefined eval globalThis',
    );
  });
});

describe('modules that cannot be used', () => {
  test.each([
    ['export const other = 1;', 'The module code.mjs exports no same'],
    ['export const same = 1;', 'The export same of the module code.mjs is no function'],
    ['export const same = (', 'The module code.mjs cannot be loaded: SyntaxError'],
    ["import fs from 'node:fs'; export const same = 1;", 'The module code.mjs cannot be loaded'],
    ['export const same = 1; throw new Error("no");', 'The module code.mjs cannot be loaded: Error: no'],
    ['export const same = 1; await new Promise(() => {});', 'The module code.mjs waits for something'],
    ['export const same = 1; for (;;);', 'The module code.mjs cannot be loaded: InternalError: interrupted'],
  ])('%s', async (code, message) => {
    await workshop.write({ 'functions.ttl': described('same'), 'code.mjs': code });
    const functions = await workshop.open({ seconds: 1 });
    expect(() => functions.start()).toThrow(
      expect.objectContaining({ code: 'functions/invalid', message: expect.stringContaining(message) }),
    );
  });
});
