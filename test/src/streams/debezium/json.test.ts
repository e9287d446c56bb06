/** JSON whose numbers keep their text. */
import { describe, expect, test } from '@jest/globals';
import { isObject, JsonText, parseJson, printJson } from '../../../../src/streams/debezium/json.ts';
import { Random, seeds } from '../../../support/random.ts';

describe('JSON with exact numbers', () => {
  test.each(['9007199254740993', '-9223372036854775808', '18446744073709551615', '1.10', '1.4E-45', '1e300', '0', '-0.0'])(
    '%s keeps its text',
    (number) => {
      expect(printJson(parseJson(number))).toBe(number);
      expect(printJson(parseJson(`{"a":[${number}]}`))).toBe(`{"a":[${number}]}`);
    },
  );

  test.each([
    ['', 'it ends too early'],
    ['{', 'it ends too early'],
    ['{"a":1', 'it ends too early'],
    ['"a', 'it ends too early'],
    ['{"a" 1}', 'unexpected text at character 5'],
    ['{"a":01}', 'unexpected text at character 6'],
    ['[1,]', 'unexpected text at character 3'],
    ['{a:1}', 'unexpected text at character 1'],
    ['nul', 'unexpected text at character 0'],
    ['1 2', 'unexpected text at character 2'],
    ['"\n"', 'unexpected text at character 0'],
    ['"\\x"', 'unexpected text at character 0'],
  ])('%j is no JSON: %s', (text, message) => expect(() => parseJson(text)).toThrow(new SyntaxError(message)));

  test('more than a hundred arrays in one another are refused', () => {
    expect(() => parseJson('['.repeat(100) + ']'.repeat(100))).not.toThrow();
    expect(() => parseJson('['.repeat(100_000))).toThrow('more than 100 arrays and objects in one another');
  });

  test('a member of the outermost object can be left as text', () => {
    const value = parseJson('{"payload":{"schema":1},"schema": {"a":"}\\"]{","b":[[1.0, true]]} }', 'schema');
    if (!isObject(value)) throw new Error('no object');
    expect(value.schema).toEqual(new JsonText('{"a":"}\\"]{","b":[[1.0, true]]}'));
    expect(printJson(value.payload)).toBe('{"schema":1}');
    for (const text of ['{"schema":}', '{"schema":', '{"schema":[1}', '{"schema":]}'])
      expect(() => parseJson(text, 'schema')).toThrow(SyntaxError);
    expect(printJson(parseJson('{"schema":null,"payload":-1.5e3}', 'schema'))).toBe('{"schema":null,"payload":-1.5e3}');
  });

  test('names of columns may be those of members of all objects', () => {
    const value = parseJson('{"__proto__":1,"constructor":2}');
    expect(isObject(value) && Object.keys(value)).toEqual(['__proto__', 'constructor']);
  });

  test.each(seeds(1, 200))('random values, seed %i', (seed) => {
    const random = new Random(seed);
    const value = (depth: number): unknown => {
      switch (random.between(0, depth > 4 ? 3 : 5)) {
        case 0:
          return random.pick([null, true, false]);
        case 1:
          return random.between(-1e9, 1e9) / random.pick([1, 8, 1000]);
        case 2:
        case 3:
          return Array.from({ length: random.between(0, 8) }, () => random.pick([...'ab"\\/\n\t\u0000é🐘{}[],: \ud800'])).join('');
        case 4:
          return Array.from({ length: random.between(0, 4) }, () => value(depth + 1));
        default:
          return Object.fromEntries(
            Array.from({ length: random.between(0, 4) }, (_, i) => [`${random.pick(['a', 'schema', '"', ''])}${i}`, value(depth + 1)]),
          );
      }
    };
    const given = value(0);
    const text = JSON.stringify(given, null, random.pick([0, 1]));
    expect(JSON.parse(printJson(parseJson(text)))).toEqual(given);
    expect(JSON.parse(printJson(parseJson(text, 'schema')))).toEqual(given);
    const broken =
      text.slice(0, random.between(0, text.length - 1)) + random.pick(['', '"', '}', '\\']) + text.slice(random.between(0, text.length));
    const isJson = (read: (text: string) => unknown): boolean => {
      try {
        read(broken);
        return true;
      } catch {
        return false;
      }
    };
    expect(isJson(parseJson)).toBe(isJson(JSON.parse));
  });
});
