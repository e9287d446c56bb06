import { describe, expect, test } from '@jest/globals';
import { Fault } from '../../../src/core/fault.ts';
import { fromBytes, toBytes } from '../../../src/core/text.ts';
import { TypedValue, XSD } from '../../../src/core/value.ts';
import { openCsvTexts } from '../../../src/sources/csv/texts.ts';
import { openJsonTexts } from '../../../src/sources/json/texts.ts';
import type { CsvOptions, JsonOptions, NestedRecords, OpenTexts, XmlOptions } from '../../../src/sources/source.ts';
import { openXmlTexts } from '../../../src/sources/xml/texts.ts';

/** Each format reads its own of these. */
const READING = {
  format: 'csv',
  name: 'people.csv',
  dialect: 'rml',
  nulls: [],
  encoding: undefined,
  namespaces: {},
  maxRecordBytes: 2 ** 20,
} as const;

type Options = Partial<CsvOptions | JsonOptions | XmlOptions>;
type Texts = OpenTexts<CsvOptions> | OpenTexts<JsonOptions> | OpenTexts<XmlOptions>;

const show = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(show)
    : value instanceof TypedValue
      ? `${fromBytes(value.text)}^^${value.datatype.slice(XSD.length)}`
      : typeof value === 'string'
        ? fromBytes(value)
        : value;

const open = async (texts: Texts, iterator: string | undefined, reading: Options = {}): Promise<NestedRecords> =>
  (await (texts as OpenTexts)({ ...READING, ...reading } as XmlOptions)).records(iterator, 'items');

/** By text, by item: the values of the references. */
async function read(
  texts: Texts,
  iterator: string | undefined,
  references: readonly string[],
  documents: readonly string[],
  reading: Options = {},
) {
  const records = await open(texts, iterator, reading);
  const values = references.map((reference) => records.accessor(reference));
  return documents.map((document) => records.items(toBytes(document)).map((item) => values.map((value) => show(value(item)))));
}

async function faultOf(reading: Promise<unknown>): Promise<Fault> {
  const error = await reading.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Fault)) throw new Error(`expected a fault, got ${String(error)}`);
  return error;
}

describe('JSON texts', () => {
  test.each<[name: string, iterator: string | undefined, references: string[], text: string, expected: unknown]>([
    [
      'elements',
      '$[*]',
      ['$.type', '$.weight'],
      '[{"type":"sword","weight":1500},{"type":"Blüte 🌸"}]',
      [
        ['sword', '1500^^integer'],
        ['Blüte 🌸', null],
      ],
    ],
    ['one object', '$', ['$.a'], ' {"a": true} ', [['true^^boolean']]],
    ['without iterator', undefined, ['$[*]'], '[1, 2]', [[['1^^integer', '2^^integer']]]],
    ['a scalar', '$', ['$'], '"x"', [['x']]],
    ['nothing', '$.items[*]', ['$'], '{}', []],
    ['escapes', '$[*]', ['$'], '["\\u00e9\\ud83c\\udf38", "a\\nb"]', [['é🌸'], ['a\nb']]],
    ['a byte order mark', '$[*]', ['$'], '\ufeff["a"]', [['a']]],
    ['of members with the same name the last', '$', ['$.a'], '{"a":1,"a":2}', [['2^^integer']]],
    [
      'many texts with brackets in them',
      '$[*]',
      ['$'],
      `[${'"[{\\"[",'.repeat(2000)}"]"]`,
      [...Array.from({ length: 2000 }, () => ['[{"[']), [']']],
    ],
  ])('%s', async (_, iterator, references, text, expected) => {
    expect(await read(openJsonTexts, iterator, references, [text])).toEqual([expected]);
  });

  test.each(['1e5', '1.50', '0.0000001', '123456789012345678901', '1.2345678901234567', '-0', '-0.0', '0.5', '1E-7', '12.0'])(
    'the number %s keeps its spelling',
    async (number) => {
      const records = await open(openJsonTexts, '$[*]');
      const value = records.accessor('$');
      const [item] = records.items(`[${number}]`);
      expect((value(item) as TypedValue).written).toBe(number);
    },
  );

  test('legacy: plain text, and short expressions', async () => {
    expect(await read(openJsonTexts, 'a[*]', ['b'], ['{"a":[{"b":[1,true]}]}'], { dialect: 'legacy' })).toEqual([[[['1', 'true']]]]);
  });

  test('a natural number is a text, too', async () => {
    const records = await open(openJsonTexts, '$');
    const value = records.accessor('$');
    expect(records.items(new TypedValue('1.5E1', `${XSD}double`, '15.0')).map((item) => (value(item) as TypedValue).written)).toEqual([
      '15.0',
    ]);
  });

  test.each<[text: string, message: RegExp, shown: string]>([
    ['sword, shield', /has "s" where a value should stand/, '"sword, shield"'],
    ['[1, 2', /ends where/, '"[1, 2"'],
    ['[1] 2', /where nothing should stand/, '"[1] 2"'],
    ['[\n"é",\n}]', /on line 3 of the text/, '"[\\n\\"é\\",\\n}]"'],
    [`["${'é'.repeat(50)}", x, "${'é'.repeat(50)}"]`, /"x"/, `"…${'é'.repeat(14)}\\", x, \\"${'é'.repeat(23)}…"`],
  ])('%j rejects the record', async (text, message, shown) => {
    const fault = await faultOf(read(openJsonTexts, '$[*]', ['$'], [text]));
    expect(fault.message).toMatch(message);
    expect([fault.code, fault.place]).toEqual(['record/term', { input: 'people.csv', expression: 'items', value: shown }]);
  });

  test('a text that is nested too deeply ends the run', async () => {
    const deep = (levels: number) =>
      read(
        openJsonTexts,
        '$',
        ['$.a'],
        [`${'['.repeat(levels)}${']'.repeat(levels)}`].map((a) => `{"b":${a}}`),
      );
    expect(await deep(999)).toEqual([[[null]]]);
    expect((await faultOf(deep(1000))).code).toBe('limit/exceeded');
    expect((await faultOf(read(openJsonTexts, '$', [], ['[[[1]]]'], { maxDepth: 2 }))).limit).toBe('MAX_DEPTH');
    expect(await read(openJsonTexts, '$', [], ['[[1],[1],[1],[1]]'], { maxDepth: 2 })).toEqual([[[]]]);
  });
});

describe('CSV texts', () => {
  test.each<[name: string, references: string[], text: string, expected: unknown]>([
    [
      'rows',
      ['type', 'weight'],
      'type,weight\nsword,1500\nshield,2500',
      [
        ['sword', '1500'],
        ['shield', '2500'],
      ],
    ],
    ['quotes', ['b', 'a'], 'a,b\r\n"1,""2""","x\ny"\r\n', [['x\ny', '1,"2"']]],
    ['a row that is short', ['b'], 'a,b\n1\n', [[null]]],
    ['a header only', ['a'], 'a', []],
    ['Unicode', ['größe'], 'größe\n🌸\n', [['🌸']]],
    ['a byte order mark', ['a'], '\ufeffa\n1', [['1']]],
    ['a row of one cell that is empty', ['a'], 'a,b\n,', [['']]],
  ])('%s', async (_, references, text, expected) => {
    expect(await read(openCsvTexts, undefined, references, [text])).toEqual([expected]);
  });

  test('each text has its own header', async () => {
    expect(await read(openCsvTexts, undefined, ['a', 'b'], ['a,b\n1,2', 'b,x,a\n3,4,5', 'a,b\n6,7'])).toEqual([
      [['1', '2']],
      [['5', '3']],
      [['6', '7']],
    ]);
  });

  test('items of an earlier text stay readable', async () => {
    const records = await open(openCsvTexts, undefined);
    const value = records.accessor('a');
    const [first] = records.items('a,b\n1,2');
    records.items('b,a\n3,4');
    expect(value(first)).toBe('1');
  });

  test('a dialect', async () => {
    const csv = { delimiter: ';', headerRows: 0, commentPrefix: '#', trim: 'both' } as const;
    expect(await read(openCsvTexts, undefined, ['2', '_col.1'], ['# no row\n a ; b \nc;d'], { csv })).toEqual([
      [
        ['b', 'a'],
        ['d', 'c'],
      ],
    ]);
    expect(await read(openCsvTexts, undefined, ['a'], ['x\ny\na\n1'], { csv: { skipRows: 2 } })).toEqual([[['1']]]);
  });

  test.each<[text: string, message: RegExp]>([
    ['\n\n', /no header row/],
    ['a\n"1', /A quoted cell is never closed, on line 2 of the text/],
    ['a\n"1"2', /followed by something/],
    ['b\n1', /There is no column "a", in this text/],
    ['a,a\n1,2', /names the column "a" twice, in this text/],
  ])('%j rejects the record', async (text, message) => {
    const fault = await faultOf(read(openCsvTexts, undefined, ['a'], [text]));
    expect(fault.message).toMatch(message);
    expect([fault.code, fault.place.input, fault.place.value]).toEqual(['record/term', 'people.csv', JSON.stringify(text)]);
    expect(['items', 'a']).toContain(fault.place.expression);
  });

  test('rows have no nested records', async () => {
    expect((await open(openCsvTexts, undefined)).nested).toBeUndefined();
  });
});

describe('XML texts', () => {
  const TEXT = '<order id="1"><line n="é">a</line><line n="2"><b>b</b>c</line></order>';

  test.each<[name: string, iterator: string | undefined, references: string[], text: string, expected: unknown]>([
    [
      'elements',
      '/order/line',
      ['@n', '.', 'b', '../@id'],
      TEXT,
      [
        ['é', 'a', null, '1'],
        ['2', 'bc', 'b', '1'],
      ],
    ],
    ['anywhere', '//line', ['@n'], TEXT, [['é'], ['2']]],
    ['without iterator, the root', undefined, ['line', 'order/@id', 'count(line)'], TEXT, [[['a', 'bc'], '1', '2']]],
    ['the document', '/', ['order/@id'], TEXT, [['1']]],
    ['XPath', '/order/line[last()]', ['@n', 'concat(@n, b)', 'preceding-sibling::line'], TEXT, [['2', '2b', 'a']]],
    [
      'the whole document',
      '/order/line',
      ['../line[1]/@n', '/order/@id'],
      TEXT,
      [
        ['é', '1'],
        ['é', '1'],
      ],
    ],
    ['attributes', '//@n', ['.'], TEXT, [['é'], ['2']]],
    ['nothing', '/x/y', ['.'], TEXT, []],
    ['an empty root', '/x', ['.', '@a'], '<x a="1"/>', [['', '1']]],
    ['a declaration of another encoding', '/x', ['.'], '<?xml version="1.0" encoding="ISO-8859-1"?><x>🌸</x>', [['🌸']]],
    ['a byte order mark', '/x', ['.'], '\ufeff<x>a</x>', [['a']]],
    ['CDATA and references', '/x', ['.'], '<x>a<![CDATA[<b>]]>&amp;&#233;</x>', [['a<b>&é']]],
  ])('%s', async (_, iterator, references, text, expected) => {
    expect(await read(openXmlTexts, iterator, references, [text, text])).toEqual([expected, expected]);
  });

  test('nested iterators, plain and not', async () => {
    const text = '<r><a k="1"><b>x</b><b>y</b></a><a k="2"/></r>';
    for (const iterator of ['b', 'b[true()]', 'b[../@k = //a/@k]']) {
      const records = await open(openXmlTexts, '/r/a');
      const inner = records.nested?.(iterator) as NestedRecords;
      const values = [inner.accessor('.'), inner.accessor('../@k')];
      const leaf = inner.nested?.('.') as NestedRecords;
      const name = leaf.accessor('.');
      const found = records
        .items(text)
        .map((item) => inner.items(item).map((b) => [...values.map((value) => show(value(b))), ...leaf.items(b).map(name)]));
      expect([iterator, found]).toEqual([
        iterator,
        [
          [
            ['x', '1', 'x'],
            ['y', '1', 'y'],
          ],
          [],
        ],
      ]);
      expect(records.nested?.(iterator)).toBe(inner);
    }
  });

  test('prefixes are those of each text, or of the mapping', async () => {
    const texts = ['<r xmlns:p="urn:1"><p:a>1</p:a></r>', '<r xmlns:p="urn:2" xmlns:q="urn:1"><p:a>2</p:a><q:a>3</q:a></r>'];
    expect(await read(openXmlTexts, '/r', ['p:a', 'string(p:a)'], texts)).toEqual([[['1', '1']], [['2', '2']]]);
    expect(await read(openXmlTexts, '/r/m:a', ['.'], texts, { namespaces: { m: 'urn:1' } })).toEqual([[['1']], [['3']]]);
    const fault = await faultOf(read(openXmlTexts, '/r', ['p:a'], [...texts, '<r/>']));
    expect([fault.code, fault.message, fault.place]).toEqual([
      'record/term',
      'The prefix "p" is not declared, in this text',
      { input: 'people.csv', expression: 'p:a' },
    ]);
    expect((await faultOf(read(openXmlTexts, '/r/p:a', ['.'], ['<r/>']))).code).toBe('record/term');
  });

  test('texts with many names and roots', async () => {
    const texts = Array.from({ length: 200 }, (_, i) => {
      const children = Array.from({ length: 100 }, (_, k) => `<n${i * 100 + k}/>`).join('');
      return `<r xmlns:p="urn:${i}"><p:a>${i}</p:a>${children}</r>`;
    });
    expect(await read(openXmlTexts, '/r', ['p:a', 'count(*)'], texts)).toEqual(texts.map((_, i) => [[String(i), '101']]));
  });

  test.each<[text: string, message: RegExp]>([
    ['sword', /text before the root element/],
    ['<a><b></a>', /There is "<\/a>" where <\/b> was expected/],
    ['<a/><b/>', /second root element/],
    ['<a>&nbsp;</a>', /nbsp/],
    ['<a>\n<b', /on line 2 of the text/],
  ])('%j rejects the record', async (text, message) => {
    const fault = await faultOf(read(openXmlTexts, '/a', ['.'], [text]));
    expect(fault.message).toMatch(message);
    expect([fault.code, fault.place]).toEqual(['record/term', { input: 'people.csv', expression: 'items', value: JSON.stringify(text) }]);
  });

  test('an XPath that fails rejects the record', async () => {
    const fault = await faultOf(read(openXmlTexts, '/a', ['xs:integer(.)'], ['<a>1</a>', '<a>x</a>']));
    expect([fault.code, fault.place.expression]).toEqual(['record/term', 'xs:integer(.)']);
  });

  test('a text that is nested too deeply ends the run', async () => {
    expect((await faultOf(read(openXmlTexts, '/a', ['.'], ['<a><b><c/></b></a>'], { maxDepth: 2 }))).limit).toBe('MAX_DEPTH');
  });
});

describe.each<[string, Texts, iterator: string, bad: string, reference: string, text: string]>([
  ['JSON', openJsonTexts, '$[*]', '$[', '$.a', '[{"a":"-"},{"a":"x"}]'],
  ['XML', openXmlTexts, '/r/i', '/r[', 'a', '<r><i><a>-</a></i><i><a>x</a></i></r>'],
  ['CSV', openCsvTexts, '', '', 'a', 'a\n-\nx\n'],
])('%s texts', (_, texts, iterator, bad, reference, text) => {
  test('null texts have no items, and null values are none', async () => {
    const records = await open(texts, iterator, { nulls: ['-', 'none'] });
    const value = records.accessor(reference);
    expect([null, undefined, 'none', '-'].map((node) => records.items(node))).toEqual([[], [], [], []]);
    expect(records.items(text).map((item) => value(item))).toEqual([null, 'x']);
  });

  test('a text has the limit of a record', async () => {
    const fault = await faultOf(read(texts, iterator, [reference], [text], { maxRecordBytes: 4 }));
    expect([fault.code, fault.limit]).toEqual(['limit/exceeded', 'MAX_RECORD_BYTES']);
  });

  test('an expression that is not valid is a fault of the mapping', async () => {
    if (bad === '') return;
    expect((await faultOf(open(texts, bad))).code).toBe('mapping/reference');
    const records = await open(texts, iterator);
    expect((await faultOf(Promise.resolve().then(() => records.accessor(`${reference}[`)))).code).toBe('mapping/reference');
    expect((await faultOf(Promise.resolve().then(() => records.nested?.(`${reference}[`)))).code).toBe('mapping/reference');
  });

  test('unmatched: references that no item had', async () => {
    const records = await open(texts, iterator);
    const missing = _ === 'CSV' ? undefined : records.accessor(`${reference}b`);
    expect(records.unmatched()).toEqual([]);
    for (const item of records.items(text)) missing?.(item);
    expect(records.unmatched()).toEqual(missing === undefined ? [] : [`${reference}b`]);
  });
});

// A CSV cell cannot say in another way that it has no document.
test.each([
  ['JSON', openJsonTexts, '$[*]'],
  ['CSV', openCsvTexts, undefined],
  ['XML', openXmlTexts, '/a'],
] as const)('%s: an empty text has no items', async (_, format, iterator) => {
  expect(await read(format, iterator, [], ['', '\ufeff'])).toEqual([[], []]);
});
