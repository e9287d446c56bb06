/** Calls: what is checked before the first record, null rules, several values, faults, chance. */
import { describe, expect, test } from '@jest/globals';
import { Fault } from '../../../src/core/fault.ts';
import { fromBytes, toBytes } from '../../../src/core/text.ts';
import { TypedValue, type Values, XSD } from '../../../src/core/value.ts';
import { type Arguments, type CallContext, compileCall, type Read } from '../../../src/functions/compile.ts';
import type { FunctionDefinition } from '../../../src/functions/definition.ts';
import { findFunction } from '../../../src/functions/registry.ts';

const GREL = 'http://users.ugent.be/~bjdmeest/function/grel.ttl#';
const IDLAB = 'https://w3id.org/imec/idlab/function#';
const OLD_IDLAB = 'http://example.com/idlab/function/';
const QM = 'http://w3id.org/quadmill/function#';
const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';

const known = (iri: string): FunctionDefinition => {
  const definition = findFunction(iri);
  if (definition === undefined) throw new Error(`no ${iri}`);
  return definition;
};

const constant = (values: Values) => (): Values => values;
/** Reads a column of a row of one-byte texts. */
const column =
  (name: string): Read =>
  (row) =>
    (row as Readonly<Record<string, Values>>)[name] ?? null;

const args = (given: Readonly<Record<string, Values | Read>>): Arguments =>
  new Map(Object.entries(given).map(([iri, value]) => [iri, typeof value === 'function' ? value : constant(value)]));

const call = (iri: string, given: Readonly<Record<string, Values | Read>>, returns?: string, context?: CallContext): Read =>
  compileCall(known(iri), args(given), returns, context);

function faultOf(run: () => unknown): Fault {
  try {
    run();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('no fault');
}

describe('before the first record', () => {
  const place = { mapping: 'a.ttl:3:5' };

  test('an unknown parameter is named, with those that exist', () => {
    const {
      code,
      message,
      hint,
      place: where,
    } = faultOf(() => call(`${GREL}toUpperCase`, { [`${GREL}valueParm`]: 'a' }, undefined, { place }));
    expect({ code, message, hint, where }).toEqual({
      code: 'mapping/invalid',
      message: 'The function grel:toUpperCase has no parameter grel:valueParm',
      hint: 'It takes grel:valueParam. Did you mean grel:valueParam?',
      where: place,
    });
  });

  test('an unknown return is named, with those that exist', () => {
    const { code, message, hint } = faultOf(() =>
      call(`${GREL}toUpperCase`, { [`${GREL}valueParam`]: 'a' }, `${GREL}unknownOut`, { place }),
    );
    expect([code, message, hint]).toEqual([
      'mapping/invalid',
      'The function grel:toUpperCase has no return grel:unknownOut',
      'It returns grel:stringOut.',
    ]);
  });

  test('a missing parameter', () => {
    const { code, message, hint } = faultOf(() => call(`${GREL}string_replace`, { [`${GREL}valueParam`]: 'a' }));
    expect([code, message, hint]).toEqual([
      'mapping/invalid',
      'The function grel:string_replace needs grel:param_find, grel:param_replace',
      'It takes grel:valueParam, grel:param_find, grel:param_replace.',
    ]);
  });

  test('a parameter that is given under two of its names', () => {
    const { code, message } = faultOf(() => call(`${GREL}toUpperCase`, { [`${GREL}valueParam`]: 'a', [`${GREL}valueParameter`]: 'b' }));
    expect([code, message]).toEqual(['mapping/invalid', 'The parameter grel:valueParam of grel:toUpperCase is given twice']);
  });

  test('nothing is read', () => {
    const read = (): Values => {
      throw new Error('read');
    };
    expect(() => call(`${GREL}toUpperCase`, { [`${GREL}valueParam`]: read })).not.toThrow();
  });
});

describe('names', () => {
  test.each([
    ['the parameter', `${GREL}valueParam`, `${GREL}stringOut`],
    ['its predicate', `${GREL}valueParameter`, `${GREL}stringOutput`],
    ['the first return by default', `${GREL}valueParam`, undefined],
  ])('%s', (_, parameter, returned) => {
    expect(call(`${GREL}toUpperCase`, { [parameter]: 'venus' }, returned)({}, 0)).toBe('VENUS');
  });

  test('IDLab in its earlier namespace', () => {
    expect(call(`${OLD_IDLAB}slugify`, { [`${OLD_IDLAB}str`]: 'A b' }, `${OLD_IDLAB}_stringOut`)({}, 0)).toBe('a-b');
  });

  test('one of several returns', () => {
    const url = 'https://example.org/a';
    expect(call(`${QM}parseUrl`, { [`${QM}value`]: url }, `${QM}hostOut`)({}, 0)).toBe('example.org');
    expect(call(`${QM}parseUrl`, { [`${QM}value`]: url }, `${QM}fragmentOut`)({}, 0)).toBeNull();
  });

  test('a list in several inputs, also under numbered names', () => {
    const items: Arguments = new Map([[`${GREL}param_rep_b`, [constant('true'), constant(null), constant(['true', 'false'])]]]);
    expect(compileCall(known(`${GREL}boolean_and`), items, undefined)({}, 0)).toBe('false');
    const numbered = { [`${RDF}_10`]: 'j', [`${RDF}_2`]: 'b', [`${RDF}_1`]: 'a', [`${IDLAB}delimiter`]: '-' };
    expect(call(`${IDLAB}concatSequence`, numbered)({}, 0)).toBe('a-b-j');
  });
});

describe('values', () => {
  test('text goes in and out as bytes, and functions see characters', () => {
    const upper = call(`${GREL}toUpperCase`, { [`${GREL}valueParam`]: column('a') });
    expect(upper({ a: toBytes('élan 😀') }, 0)).toBe(toBytes('ÉLAN 😀'));
    expect(upper({ a: 'straight' }, 0)).toBe('STRAIGHT');
    const length = call(`${GREL}string_length`, { [`${GREL}valueParam`]: toBytes('é') });
    expect(length({}, 0)).toBe('1');
  });

  test('a typed value is read by its text', () => {
    const typed = new TypedValue('6.555E2', `${XSD}double`, '655.50');
    expect(call(`${GREL}math_round`, { [`${GREL}p_dec_n`]: typed })({}, 0)).toBe('656');
  });

  test('what is only chosen keeps its natural datatype', () => {
    const five = new TypedValue('5', `${XSD}integer`);
    const chosen = call(`${GREL}controls_if`, { [`${GREL}bool_b`]: 'true', [`${GREL}any_true`]: [five, 'a'] });
    expect(chosen({}, 0)).toEqual([five, 'a']);
    expect(call(`${GREL}array_get`, { [`${GREL}p_any_e`]: ['a', five], [`${GREL}p_any_e2`]: '1' })({}, 0)).toBe(five);
  });

  test('no value gives no result', () => {
    const upper = call(`${GREL}toUpperCase`, { [`${GREL}valueParam`]: column('a') });
    expect([upper({ a: null }, 0), upper({ a: [] }, 0), upper({ a: '' }, 0)]).toEqual([null, null, '']);
  });

  test('several values give the product, the last parameter varying fastest', () => {
    const concat = call(`${IDLAB}concat`, {
      [`${IDLAB}otherStr`]: ['1', '2', '3'],
      [`${IDLAB}str`]: ['a', 'b'],
      [`${IDLAB}delimiter`]: constant('-'),
    });
    expect(concat({}, 0)).toEqual(['a-1', 'a-2', 'a-3', 'b-1', 'b-2', 'b-3']);
  });

  test('of the product, what has no result is dropped', () => {
    const before = call(`${QM}before`, { [`${QM}value`]: ['a:b', 'c', 'd:e'], [`${QM}separator`]: ':' });
    expect(before({}, 0)).toEqual(['a', 'd']);
  });

  test('a call in a call', () => {
    const replaced = call(`${GREL}string_replace`, {
      [`${GREL}valueParam`]: column('name'),
      [`${GREL}param_find`]: ' ',
      [`${GREL}param_replace`]: '-',
    });
    const upper = call(`${GREL}toUpperCase`, { [`${GREL}valueParam`]: replaced });
    expect(upper({ name: 'M Venus' }, 0)).toBe('M-VENUS');
  });
});

describe('data that a function cannot take', () => {
  test('gives a fault with function, arguments and hint', () => {
    const floor = call(`${GREL}math_floor`, { [`${GREL}param_dec_n`]: toBytes('fünf') }, undefined, { place: { mapping: 'a.ttl:1:1' } });
    const { code, message, hint, place } = faultOf(() => floor({}, 0));
    expect({ code, message, hint, place }).toEqual({
      code: 'record/term',
      message: 'The function grel:math_floor fails: "fünf" is not a number',
      hint: 'Expected digits, with a point before decimals and no separators of thousands.',
      place: { expression: 'grel:math_floor', mapping: 'a.ttl:1:1', value: 'n = "fünf"' },
    });
  });

  test('in a branch that is not taken does no harm', () => {
    const quotient = call(`${QM}divide`, { [`${QM}number`]: '1', [`${QM}number2`]: column('n') });
    const isZero = call(`${QM}numbersEqual`, { [`${QM}number`]: column('n'), [`${QM}number2`]: '0' });
    const guarded = call(`${GREL}controls_if`, { [`${GREL}bool_b`]: isZero, [`${GREL}any_true`]: 'none', [`${GREL}any_false`]: quotient });
    expect([guarded({ n: '0' }, 0), guarded({ n: '4' }, 1)]).toEqual(['none', '0.25']);
    expect(faultOf(() => guarded({ n: 'x' }, 2)).message).toBe('The function qm:numbersEqual fails: "x" is not a number');
  });

  test('quotes characters also where the function works on bytes', () => {
    const sum = call(`${GREL}array_sum`, { [`${GREL}p_array_a`]: [toBytes('fünf'), '1'] });
    expect(faultOf(() => sum({}, 0)).message).toBe('The function grel:array_sum fails: "fünf" is not a number');
  });

  test('shows all arguments, and leaves the fault of an inner call alone', () => {
    const inner = call(`${QM}divide`, { [`${QM}number`]: '1', [`${QM}number2`]: column('n') });
    const outer = call(`${QM}add`, { [`${QM}number`]: inner, [`${QM}number2`]: '1' });
    const { message, place } = faultOf(() => outer({ n: '0' }, 7));
    expect([message, place.value]).toEqual([
      'The function qm:divide fails: a number cannot be divided by 0',
      'number = "1"; number2 = "0"',
    ]);
    expect(outer({ n: '2' }, 8)).toBe('1.5');
  });
});

describe('chance', () => {
  const uuid = (context: CallContext): Read => call(`${IDLAB}random`, {}, undefined, context);

  test('a repeated attempt gives the same, another row or seed another', () => {
    const first = uuid({ seed: 'run 1, call 1' })({}, 0) as string;
    expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(uuid({ seed: 'run 1, call 1' })({}, 0)).toBe(first);
    const others = [uuid({ seed: 'run 1, call 1' })({}, 1), uuid({ seed: 'run 1, call 2' })({}, 0)];
    expect(new Set([first, ...others]).size).toBe(3);
  });

  test('rows differ by their identity if it is given', () => {
    const read = uuid({ seed: 's', identity: (row) => (row as { readonly id: string }).id });
    expect(read({ id: 'a' }, 0)).toBe(read({ id: 'a' }, 9));
    expect(read({ id: 'a' }, 0)).not.toBe(read({ id: 'b' }, 0));
  });

  test('many rows have different UUIDs', () => {
    const read = uuid({ seed: 's' });
    expect(new Set(Array.from({ length: 20_000 }, (_, i) => read({}, i))).size).toBe(20_000);
  });

  test('each combination of several values has its own', () => {
    const read = call(`${GREL}math_randomNumber`, { [`${GREL}p_int_i`]: ['0', '0'], [`${GREL}p_int_i2`]: '1000000000' }, undefined, {
      seed: 's',
    });
    const values = read({}, 0) as readonly string[];
    expect(values[0]).not.toBe(values[1]);
  });

  test('numbers stay within their bounds, and reach them', () => {
    const read = call(`${GREL}math_randomNumber`, { [`${GREL}p_int_i`]: '1', [`${GREL}p_int_i2`]: '6' }, undefined, { seed: 's' });
    expect([...new Set(Array.from({ length: 500 }, (_, i) => fromBytes(read({}, i) as string)))].sort()).toEqual([
      '1',
      '2',
      '3',
      '4',
      '5',
      '6',
    ]);
  });

  test('the time is that of the run', () => {
    const read = call(`${GREL}date_now`, {}, undefined, { startedAt: Date.UTC(2030, 1, 3, 4, 5, 6) });
    expect([read({}, 0), read({}, 5)]).toEqual(['2030-02-03T04:05:06Z', '2030-02-03T04:05:06Z']);
  });
});
