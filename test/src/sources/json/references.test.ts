import { describe, expect, test } from '@jest/globals';
import { type TypedValue, type Values, XSD } from '../../../../src/core/value.ts';
import { openJson } from '../../../../src/sources/json/json.ts';
import { canonicalDouble } from '../../../../src/sources/json/references.ts';
import { Random } from '../../../support/random.ts';
import { isCanonicalDouble } from '../double-oracle.ts';
import { chunks, faultOf, READING, read, showAll } from './reading.ts';

const RECORD = `{
  "name": "Ada \\u00e9\\ud83d\\ude00 \\u0000 \\" \\\\u00e9", "raw": "é😀", "\\u00e4\\u0062": 1, "Country Code": "BO", "ISO 3166": "BOL",
  "a-b": "hyphen", "@id": "x:1", "customer": {"name": "Bo", "tags": ["p", "q"]}, "none": null, "yes": true, "no": false,
  "list": ["a", null, 2, true], "nested": [["a"], ["b", "c"]], "objects": [{"a": 1}], "empty": [], "length": 7, "toString": "own"
}`;

describe('a reference', () => {
  test.each<[reference: string, dialect: 'rml' | 'legacy', expected: unknown]>([
    ['$.name', 'rml', 'Ada é😀 \u0000 " \\u00e9'],
    ['name', 'legacy', 'Ada é😀 \u0000 " \\u00e9'],
    ['raw', 'rml', 'é😀'],
    ["$['äb']", 'rml', '1^^integer'],
    ['$.äb', 'rml', '1^^integer'],
    ['äb', 'legacy', '1'],
    ['Country Code', 'rml', 'BO'],
    ['Country Code', 'legacy', 'BO'],
    ['$.Country Code', 'legacy', 'BO'],
    ["$['Country Code']", 'rml', 'BO'],
    ['$["ISO 3166"]', 'legacy', 'BOL'],
    ['a-b', 'rml', 'hyphen'],
    ['@id', 'rml', 'x:1'],
    ['customer.name', 'rml', 'Bo'],
    ['$.customer.tags[*]', 'rml', ['p', 'q']],
    ['customer.tags[1]', 'rml', 'q'],
    ['customer.tags[-1]', 'rml', 'q'],
    ['customer.tags[5]', 'rml', null],
    ['$.customer.*', 'legacy', ['Bo', 'p', 'q']],
    ['$..name', 'legacy', ['Ada é😀 \u0000 " \\u00e9', 'Bo']],
    ["$['a-b','@id']", 'rml', ['hyphen', 'x:1']],
    ["$.list[?@ != 'a']", 'rml', ['2^^integer', 'true^^boolean']],
    ['none', 'rml', null],
    ['missing', 'rml', null],
    ['name.missing.further', 'rml', null],
    ['yes', 'rml', 'true^^boolean'],
    ['no', 'rml', 'false^^boolean'],
    ['no', 'legacy', 'false'],
    ['list[*]', 'rml', ['a', '2^^integer', 'true^^boolean']],
    ['list', 'legacy', ['a', '2', 'true']],
    ['nested', 'legacy', ['a', 'b', 'c']],
    ['nested[*]', 'legacy', ['a', 'b', 'c']],
    ['empty', 'legacy', []],
    ['empty[*]', 'rml', null],
    ['length', 'rml', '7^^integer'],
    ['list.length', 'rml', null],
    ['toString', 'rml', 'own'],
    ['constructor', 'rml', null],
    ['customer.toString', 'rml', null],
    ['__proto__', 'rml', null],
    ['customer.hasOwnProperty.name', 'legacy', null],
  ])('%s reads, in dialect %s, %j', async (reference, dialect, expected) => {
    expect(showAll(await read({ document: `[${RECORD}]`, iterators: ['$[*]'], references: [reference], reading: { dialect } }))).toEqual([
      [expected],
    ]);
  });

  test.each<[reference: string, dialect: 'rml' | 'legacy', hint: string]>([
    ['$.list', 'rml', 'Its elements are $.list[*]'],
    ['$.nested[*]', 'rml', 'Its elements are $.nested[*][*]'],
    ['$.customer', 'rml', 'Name a member of it: $.customer.name'],
    ['customer', 'legacy', 'Name a member of it: customer.name'],
    ['objects', 'legacy', 'Name a member of it: objects[*].a'],
    ['$', 'legacy', 'Name a member of it: $.name'],
  ])('%s, in dialect %s, has no text and says what to write', async (reference, dialect, hint) => {
    const fault = await faultOf(read({ document: `[${RECORD}]`, iterators: ['$[*]'], references: [reference], reading: { dialect } }));
    expect([fault.code, fault.place.expression, fault.hint]).toEqual(['record/term', reference, hint]);
  });

  test('that no record has a node for is reported after the scan, and null is a node', async () => {
    const references = ['a', 'b', 'c[*]', 'd', "['x'].y"];
    const scan = await openJson(
      chunks(Buffer.from('[{"a":null,"c":[]},{"b":1}]'), () => 5),
      [
        { iterator: '$[*]', references, origin: '' },
        { iterator: '$.none', references: ['a'], origin: '' },
      ],
      READING,
    );
    const readers = references.map((reference) => scan.accessor(0, reference));
    scan.accessor(1, 'a');
    for await (const batch of scan.batches(new AbortController().signal))
      for (const record of batch.records) for (const reader of readers) reader(record);
    expect(scan.unmatched(0)).toEqual(['c[*]', 'd', "['x'].y"]);
    expect(scan.unmatched(1)).toEqual([]);
  });

  test('to one of the null values is no value, as read or as written', async () => {
    const reading = { nulls: ['', 'N/A', '-99', '1.50', 'é'] };
    const document = '[{"v":["","N/A",-99,1.50,"é","x",1.5]}]';
    expect(showAll(await read({ document, iterators: ['$[*]'], references: ['v[*]'], reading }))).toEqual([[['x', '1.5E0^^double']]]);
    expect(showAll(await read({ document, iterators: ['$[*]'], references: ['v[2]', 'v[0]'], reading }))).toEqual([[[null, null]]]);
    expect(showAll(await read({ document, iterators: ['$[*]'], references: ['v'], reading: { ...reading, dialect: 'legacy' } }))).toEqual([
      [['x', '1.5']],
    ]);
  });
});

describe('a text', () => {
  test.each<[written: string, expected: string]>([
    ['\\u00e9', 'é'],
    ['\\\\u00e9', '\\u00e9'],
    ['\\\\\\u00e9', '\\é'],
    ['\\ud83d\\ude00', '😀'],
    ['\\uD83D\\uDE00\\u20ac', '😀€'],
    ['\\u0022\\u005c\\u000a\\u0000', '"\\\n\u0000'],
    ['\\u005cu00e9', '\\u00e9'],
    ['é\\u00e9\\u007f\\u0080', 'éé\u007f\u0080'],
  ])('%s is read as bytes, beside any number and in a name', async (written, expected) => {
    for (const number of ['1', '1.0']) {
      const document = `[{"a":"${written}","n":${number},"${written}":"${written}"}]`;
      const references = ['a', `$[${JSON.stringify(expected)}]`];
      for (const chunk of [1 << 20, 1]) {
        expect(showAll(await read({ document, iterators: ['$[*]'], references, chunk }))).toEqual([[[expected, expected]]]);
      }
    }
  });
});

describe('a text with half of a surrogate pair', () => {
  test.each<[written: string, escape: string, shown: string]>([
    ['\\ud800', '\\ud800', '"\\ud800"'],
    ['a\\uDFFFé', '\\udfff', '"a\\udfffé"'],
    ['\\ud83d\\ud83d\\ude00', '\\ud83d', '"\\ud83d😀"'],
    ['\\ude00\\ud83d', '\\ude00', '"\\ude00\\ud83d"'],
    ['\\ud83dx', '\\ud83d', '"\\ud83dx"'],
    ['\\ud83d\\n', '\\ud83d', '"\\ud83d\\n"'],
    ['\\ud83d\\\\ude00', '\\ud83d', '"\\ud83d\\ude00"'],
    [`\\ud83d😀${'ü'.repeat(200)}`, '\\ud83d', `"\\ud83d😀${'ü'.repeat(22)}"`],
    [`${'ü'.repeat(200)}\\udc00`, '\\udc00', `"${'ü'.repeat(30)}\\udc00"`],
  ])('%s is refused with its escape where it is asked for, and only there', async (written, escape, value) => {
    for (const [document, reference] of [
      [`[{"a":"x","b":1},{"a":"${written}","b":2.0}]`, 'a'],
      [`[{"a":"x","b":1},{"a":["y","${written}"],"b":2.0}]`, 'a[*]'],
    ] as const) {
      for (const dialect of ['rml', 'legacy'] as const) {
        for (const chunk of [1 << 20, 1]) {
          const fault = await faultOf(read({ document, iterators: ['$[*]'], references: [reference], reading: { dialect }, chunk }));
          expect(fault).toMatchObject({ code: 'record/term', place: { input: 'input.json', expression: reference, value } });
          expect(fault.message).toContain(`the escape ${escape}, half of a surrogate pair`);
          const rest = await read({ document, iterators: ['$[*].b'], references: ['$'], reading: { dialect }, chunk });
          expect(showAll(rest)).toEqual([dialect === 'rml' ? ['1^^integer', '2.0E0^^double'] : ['1', '2.0']]);
        }
      }
    }
  });

  test('is no text for a filter, and as a name it is the name that no reference asks for', async () => {
    const document = '[{"a":"\\ud800","\\ud800":1,"\\ufffd":2,"\\ud801":3},{"a":"\ufffd"}]';
    const all = (iterator: string, reference: string) => read({ document, iterators: [iterator], references: [reference] }).then(showAll);
    expect(await all('$[?@.a == "\ufffd"]', 'a')).toEqual([['\ufffd']]);
    expect(await all('$[?length(@.a) == 1]', 'a')).toEqual([['\ufffd']]);
    expect(await all('$[?@.a]', '$["\ufffd"]')).toEqual([['2^^integer', null]]);
    expect(await all('$[0]["\ufffd"]', '$')).toEqual([['2^^integer']]);
  });
});

describe('a number', () => {
  test.each<[written: string, natural: string]>([
    ['10', '10^^integer'],
    ['-7', '-7^^integer'],
    ['0', '0^^integer'],
    ['-0', '0^^integer'],
    ['999999999999999', '999999999999999^^integer'],
    ['9007199254740993', '9007199254740993^^integer'],
    ['12345678901234567890', '12345678901234567890^^integer'],
    ['-12345678901234567890123', '-12345678901234567890123^^integer'],
    ['30.5', '3.05E1^^double'],
    ['655.56', '6.5556E2^^double'],
    ['-655.56', '-6.5556E2^^double'],
    ['0.5', '5.0E-1^^double'],
    ['30.0', '3.0E1^^double'],
    ['100.0', '1.0E2^^double'],
    ['12.50', '1.25E1^^double'],
    ['0.0', '0.0E0^^double'],
    ['-0.0', '-0.0E0^^double'],
    ['1e3', '1.0E3^^double'],
    ['1E-7', '1.0E-7^^double'],
    ['0.0000001', '1.0E-7^^double'],
    ['123456789.123456789', '1.2345678912345679E8^^double'],
    ['1234567890123456.7', '1.2345678901234568E15^^double'],
    ['1e400', 'INF^^double'],
    ['-1e400', '-INF^^double'],
    ['5e-324', '5.0E-324^^double'],
    ['1e-400', '0.0E0^^double'],
    ['-1e-400', '-0.0E0^^double'],
    // What JSON.stringify makes of numbers of 1e21 and more, and its neighbours.
    ['1e+21', '1.0E21^^double'],
    ['-1e+21', '-1.0E21^^double'],
    ['1.5e+300', '1.5E300^^double'],
    ['1.7976931348623157e+308', '1.7976931348623157E308^^double'],
    ['1e+20', '1.0E20^^double'],
    ['1e-7', '1.0E-7^^double'],
    ['1.5e-10', '1.5E-10^^double'],
    ['100000000000000000000', '100000000000000000000^^integer'],
    ['1000000000000000000000', '1000000000000000000000^^integer'],
    ['-1000000000000000000001', '-1000000000000000000001^^integer'],
    ['9007199254740992', '9007199254740992^^integer'],
    ['-9007199254740991', '-9007199254740991^^integer'],
    ['1E5', '1.0E5^^double'],
    ['1e0', '1.0E0^^double'],
    ['0e0', '0.0E0^^double'],
    ['-0E+7', '-0.0E0^^double'],
    ['1.0', '1.0E0^^double'],
    ['10.00e-1', '1.0E0^^double'],
    ['0.1e-7', '1.0E-8^^double'],
    ['0.000001', '1.0E-6^^double'],
    ['9007199254740993.0', '9.007199254740992E15^^double'],
    ['0.1000000000000000055511151231257827', '1.0E-1^^double'],
  ])('%s is %s, and as written in the legacy dialect, wherever it stands', async (written, natural) => {
    const documents = [
      `[{"n":${written}}]`,
      `[ {"a":[1,2,3],\n "b":"x",\n\t"n" : ${written} ,"z":"1e3"}]`,
      `[{"s":"\\u00e9 \\"30.0\\"","n":${written}\n}]`,
      `[${' '.repeat(57)}{"n":${written}}]`,
    ];
    for (const document of documents) {
      for (const chunk of [1 << 20, 1, 4, 64]) {
        const [[[value]]] = (await read({ document, iterators: ['$[*]'], references: ['n'], chunk })) as [[[TypedValue]]];
        expect([chunk, `${value.text}^^${value.datatype.slice(XSD.length)}`, value.written]).toEqual([chunk, natural, written]);
        expect(await read({ document, iterators: ['$[*]'], references: ['n'], reading: { dialect: 'legacy' }, chunk })).toEqual([
          [[written]],
        ]);
        expect(await read({ document, iterators: ['$[*].n'], references: ['$'], reading: { dialect: 'legacy' }, chunk })).toEqual([
          [[written]],
        ]);
      }
    }
  });

  test('of any spelling is an integer with all its digits, or the shortest canonical double of its value', async () => {
    const random = new Random(3);
    const below = (n: number): number => random.between(0, n - 1);
    const digits = (most: number): string => Array.from({ length: 1 + below(most) }, () => below(10)).join('');
    const spelled = (): string => {
      const whole = below(3) === 0 ? '0' : digits(below(4) === 0 ? 40 : 17).replace(/^0+(?=.)/, '');
      const fraction = below(2) === 0 ? '' : `.${below(3) === 0 ? '0'.repeat(below(12)) : ''}${digits(below(4) === 0 ? 40 : 12)}`;
      const exponent = below(2) === 0 ? '' : `${below(2) === 0 ? 'e' : 'E'}${['', '+', '-'][below(3)]}${below(below(3) === 0 ? 350 : 30)}`;
      return `${below(3) === 0 ? '-' : ''}${whole}${fraction}${exponent}`;
    };
    const doubles = (): string => JSON.stringify((random.next() - 0.5) * 10 ** (below(616) - 307));
    const all = Array.from({ length: 4000 }, (_, i) => (i % 4 === 0 ? doubles() : spelled()));
    const [records] = await read({ document: `[${all.join(', ')}]`, iterators: ['$[*]'], references: ['$'], chunk: 977 });
    const [together] = await read({ document: `{"a":[${all.join(',')}]}`, iterators: ['$'], references: ['a[*]'] });
    expect(records?.map(([value]) => value)).toEqual((together as Values[][])[0]?.[0]);
    expect(records).toHaveLength(all.length);
    for (const [i, [value]] of (records as TypedValue[][]).entries()) {
      const written = all[i] as string;
      const { text, datatype } = value as TypedValue;
      expect((value as TypedValue).written).toBe(written);
      if (/^-?[0-9]+$/.test(written)) expect([written, text, datatype]).toEqual([written, String(BigInt(written)), `${XSD}integer`]);
      else expect([written, datatype, isCanonicalDouble(text, written)]).toEqual([written, `${XSD}double`, true]);
    }
  });

  test('with a few decimal places is written as JavaScript writes it, and canonically', async () => {
    const numbers: number[] = [];
    for (let i = 0; i < 3000; i++)
      numbers.push(1.1 + (i * 7919) / 100, 1 + (i * 104_729) / 10, 999_999_999 - (i * 31) / 1000, 2 + i / 7, i / 1000);
    const [records] = await read({ document: JSON.stringify(numbers), iterators: ['$[*]'], references: ['$'] });
    const values = (records ?? []).map(([value]) => value as TypedValue);
    expect(values).toHaveLength(numbers.length);
    for (const [i, value] of values.entries()) {
      const number = numbers[i] as number;
      expect(value.written).toBe(String(number));
      expect(value.text).toBe(Number.isInteger(number) ? String(number) : canonicalDouble(number));
    }
  });

  test('has the canonical double of XML Schema for every exponent', () => {
    for (let exponent = -320; exponent <= 307; exponent++) {
      for (const mantissa of ['1', '1.5', '9.99', '-2.25']) {
        const value = Number(`${mantissa}e${exponent}`);
        const text = canonicalDouble(value);
        expect(text).toMatch(/^-?[1-9]\.(?:0|[0-9]*[1-9])E-?[0-9]+$/);
        expect(Number(text)).toBe(value);
      }
    }
  });
});

describe('JSON Lines', () => {
  const reading = { format: 'jsonl' as const, dialect: 'legacy' as const };

  test.each<[name: string, iterator: string | undefined, reference: string, document: string, expected: unknown]>([
    ['each line is a record', '$[*]', 'a', '{"a":1}\n{"a":2}\n', [['1', '2']]],
    ['each line is a record without an iterator', undefined, 'a', '{"a":1}\r\n\n{"a":2}', [['1', '2']]],
    ['a line may be a scalar', '$[*]', '$', '1\n"x"\nnull\n30.0', [['1', 'x', null, '30.0']]],
    ['records lie within lines', '$[*].r[*]', '$', '{"r":[1,2]}\n{"r":[3]}', [['1', '2', '3']]],
    ['one line is taken by position', '$[1]', 'a', '{"a":1}\n{"a":2}', [['2']]],
    ['the last line needs all of them', '$[-1]', 'a', '{"a":1}\n{"a":2}', [['2']]],
    ['the root is all lines', '$', '[*].a', '{"a":1}\n{"a":2}', [[['1', '2']]]],
    ['no line is no record', '$[*]', '$', '', [[]]],
  ])('%s', async (_name, iterator, reference, document, expected) => {
    for (const chunk of [1 << 20, 1, 3]) {
      expect(showAll(await read({ document, iterators: [iterator], references: [reference], reading, chunk }))).toEqual(expected);
    }
  });

  test('a line that is cut off is refused', async () => {
    const fault = await faultOf(read({ document: '{"a":1}\n{"a":', iterators: ['$[*]'], reading }));
    expect([fault.code, fault.place]).toEqual(['source/malformed', { input: 'input.json', line: 2, byte: 13, record: 1 }]);
  });
});

describe('encodings', () => {
  const text = '[{"a":"é€😀"}]';
  test.each<[string, Uint8Array, string | undefined]>([
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${text}`), undefined],
    ['UTF-16 with a byte order mark', Buffer.from(`\ufeff${text}`, 'utf16le'), undefined],
    ['UTF-16 without one', Buffer.from(text, 'utf16le'), undefined],
    ['declared UTF-16', Buffer.from(`\ufeff${text}`, 'utf16le'), 'UTF-16'],
  ])('%s is read', async (_name, document, encoding) => {
    expect(showAll(await read({ document, iterators: ['$[*]'], references: ['a'], reading: { encoding }, chunk: 3 }))).toEqual([['é€😀']]);
  });
});

describe('members with the same name', () => {
  test('all count on the way, and the last within a record', async () => {
    const document = '{"r":[{"a":1}],"r":[{"a":2,"a":3}]}';
    expect(showAll(await read({ document, iterators: ['$.r[*]'], references: ['a'] }))).toEqual([['1^^integer', '3^^integer']]);
  });
});

test('an array of 300,000 elements has that many values', async () => {
  const document = `[{"a":[${'1,'.repeat(299_999)}1]}]`;
  const [[values]] = showAll(await read({ document, iterators: ['$[*]'], references: ['a'], reading: { dialect: 'legacy' } })) as [
    [string[]],
  ];
  expect(values).toHaveLength(300_000);
});
