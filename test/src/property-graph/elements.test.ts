/** Statements as nodes and relationships: names, native values, lists. */
import { describe, expect, test } from '@jest/globals';
import { toBytes } from '../../../src/core/text.ts';
import type { Statement } from '../../../src/nquads/statement.ts';
import { type EdgeElement, elementsOf, mergeNodes, type NodeElement } from '../../../src/property-graph/elements.ts';
import { namesOf } from '../../../src/property-graph/names.ts';
import { temporal } from '../../../src/property-graph/temporal.ts';
import { combine, literalOf, type Property, type PropertyValue, textOf, valuesOf } from '../../../src/property-graph/values.ts';

const XSD = 'http://www.w3.org/2001/XMLSchema#';
const TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';

const options = { prefixes: {}, keepLanguage: false };

/** Terms in characters, as N-Quads writes them; the graph may be missing. */
const statement = (subject: string, predicate: string, object: string, graph = ''): Statement => ({
  subject: toBytes(subject),
  predicate: toBytes(predicate),
  object: toBytes(object),
  graph: toBytes(graph),
  line: 0,
});

const typed = (text: string, name: string): string => `"${text}"^^<${XSD}${name}>`;
const value = (term: string): PropertyValue => literalOf(toBytes(term)).value;

describe('native values', () => {
  test.each<[string, string, PropertyValue]>([
    ['integer', '42', 42n],
    ['integer', '-0042', -42n],
    ['integer', '+9223372036854775807', 9223372036854775807n],
    ['integer', '-9223372036854775808', -9223372036854775808n],
    ['integer', '9223372036854775808', '9223372036854775808'],
    ['integer', '00000000000000000000000000000000000000007', 7n],
    ['integer', '1'.repeat(5_000), '1'.repeat(5_000)],
    ['integer', '4.0', '4.0'],
    ['unsignedByte', '7', 7n],
    ['nonPositiveInteger', '-7', -7n],
    ['decimal', '1.50', 1.5],
    ['decimal', '-.5', -0.5],
    ['decimal', '123456789012345', 123456789012345],
    ['decimal', '0.0000000000000000000001', 1e-22],
    ['decimal', '1.2345678901234567', '1.2345678901234567'],
    ['decimal', '1e3', '1e3'],
    ['double', '1e3', 1000],
    ['double', '0.12345678901234567', Number('0.12345678901234567')],
    ['double', 'INF', Number.POSITIVE_INFINITY],
    ['float', '-INF', Number.NEGATIVE_INFINITY],
    ['float', '0.1', 0.1],
    ['double', 'Infinity', 'Infinity'],
    ['double', ' 1', ' 1'],
    ['double', '', ''],
    ['boolean', 'true', true],
    ['boolean', '0', false],
    ['boolean', 'TRUE', 'TRUE'],
    ['string', 'true', 'true'],
    ['anyURI', 'http://example.org/', 'http://example.org/'],
    ['gYear', '2026', '2026'],
  ])('xsd:%s %s', (datatype, text, expected) => {
    expect(value(typed(text, datatype))).toBe(expected);
  });

  test('a double that is not a number', () => expect(value(typed('NaN', 'double'))).toBeNaN());

  test.each<[string, string, string, readonly number[], string?]>([
    ['date', '2026-01-31', 'date', [2026, 1, 31]],
    ['date', '-0044-03-15', 'date', [-44, 3, 15]],
    ['date', '12026-02-28', 'date', [12026, 2, 28]],
    ['date', '2024-02-29', 'date', [2024, 2, 29]],
    ['dateTime', '2026-01-31T23:59:59', 'localDateTime', [2026, 1, 31, 23, 59, 59, 0]],
    ['dateTime', '2026-01-31T23:59:59.1200', 'localDateTime', [2026, 1, 31, 23, 59, 59, 120_000_000], '2026-01-31T23:59:59.12'],
    ['dateTime', '2026-01-31T23:59:59Z', 'dateTime', [2026, 1, 31, 23, 59, 59, 0, 0]],
    ['dateTime', '2026-01-31T23:59:59+00:00', 'dateTime', [2026, 1, 31, 23, 59, 59, 0, 0], '2026-01-31T23:59:59Z'],
    ['dateTimeStamp', '2026-01-31T23:59:59-05:30', 'dateTime', [2026, 1, 31, 23, 59, 59, 0, -19_800]],
    ['time', '08:30:00', 'localTime', [8, 30, 0, 0]],
    ['time', '08:30:00.000000001+14:00', 'time', [8, 30, 0, 1, 50_400]],
    ['duration', 'P1Y2M3DT4H5M6.7S', 'duration', [14, 3, 14_706, 700_000_000]],
    ['duration', '-PT0.5S', 'duration', [0, 0, -1, 500_000_000]],
    ['duration', '-P1Y1DT1S', 'duration', [-12, -1, -1, 0]],
    ['dayTimeDuration', 'PT36H', 'duration', [0, 0, 129_600, 0]],
    ['yearMonthDuration', 'P18M', 'duration', [18, 0, 0, 0], 'P1Y6M'],
    ['duration', 'P0D', 'duration', [0, 0, 0, 0], 'PT0S'],
  ])('xsd:%s %s', (datatype, text, kind, fields, written = text) => {
    expect(value(typed(text, datatype))).toEqual({ kind, fields, text: written });
  });

  test.each([
    ['date', '2026-02-29'],
    ['date', '1900-02-29'],
    ['date', '2026-13-01'],
    ['date', '26-01-01'],
    ['date', '02026-01-01'],
    ['date', '2026-01-31Z'],
    ['dateTime', '2026-01-31'],
    ['dateTime', '2026-01-31T24:00:00'],
    ['dateTime', '2026-01-31T12:00'],
    ['dateTime', '2026-01-31 12:00:00'],
    ['dateTime', '2026-01-31T12:00:00.0000000001'],
    ['dateTime', '2026-01-31T12:00:00+15:00'],
    ['time', '12:60:00'],
    ['duration', 'P'],
    ['duration', 'PT'],
    ['duration', 'P1DT'],
    ['duration', '1D'],
    ['duration', 'P1S'],
    ['duration', 'P1234567890D'],
  ])('xsd:%s %s stays text', (datatype, text) => {
    expect(value(typed(text, datatype))).toBe(text);
  });

  test('escapes are undone, characters beyond ASCII decoded', () => {
    expect(value('"a\\"b\\\\n\\n\\t\\r\\b\\f\\u0001 Zürich 🚀"')).toBe('a"b\\n\n\t\r\b\f\u0001 Zürich 🚀');
  });

  test('a literal that looks like a language or a datatype is text', () => {
    expect(literalOf('"x\\"@en"')).toEqual({ value: 'x"@en', language: undefined });
    expect(literalOf('"x"@en-GB')).toEqual({ value: 'x', language: 'en-GB' });
  });
});

describe('several values', () => {
  const date = temporal('date', [2026, 1, 31]);
  test.each<[string, readonly PropertyValue[], Property]>([
    ['one stays alone', ['a'], 'a'],
    ['equal ones are one', ['a', 'a'], 'a'],
    ['integers', [1n, 2n, 1n], [1n, 2n]],
    ['integers and floats are floats', [1n, 1.5], [1, 1.5]],
    ['an integer and the same float are one', [1n, 1], 1],
    ['an integer that is no float, and a float, are text', [9007199254740993n, 0.5], ['9007199254740993', '0.5']],
    ['other mixtures are text', [1n, true, date, 'x', 0.5], ['1', 'true', '2026-01-31', 'x', '0.5']],
    ['times of different kinds are text', [date, temporal('localTime', [1, 2, 3, 0])], ['2026-01-31', '01:02:03']],
    ['times of one kind stay', [date, temporal('date', [2026, 2, 1])], [date, temporal('date', [2026, 2, 1])]],
    ['numbers that are not numbers', [Number.NaN, Number.NaN], Number.NaN],
  ])('%s', (_, values, expected) => expect(combine(values)).toEqual(expected));

  test('in steps or at once, in any order, the same comes out', () => {
    const pool: readonly PropertyValue[] = [1n, 1, 1.5, 2n, 9007199254740993n, 9007199254740992, 'a', '1', true, date, -0, 0n, Number.NaN];
    let seed = 7;
    const random = (below: number): number => (seed = (seed * 48271) % 2147483647) % below;
    const texts = (property: Property): readonly string[] =>
      valuesOf(property)
        .map((one) => `${typeof one} ${textOf(one)}`)
        .sort();
    for (let round = 0; round < 3_000; round++) {
      const values = Array.from({ length: 2 + random(4) }, () => pool[random(pool.length)] as PropertyValue);
      const cut = 1 + random(values.length - 1);
      const steps = combine([...valuesOf(combine(values.slice(cut))), ...valuesOf(combine(values.slice(0, cut)))]);
      // Zero and minus zero as integers are one.
      if (values.some((one) => Object.is(one, -0)) && values.some((one) => one === 0n)) continue;
      expect([values, texts(steps)]).toEqual([values, texts(combine(values))]);
    }
  });
});

describe('names', () => {
  const names = namesOf({
    prefixes: { foaf: 'http://xmlns.com/foaf/0.1/', ex: 'http://ex.org/', exv: 'http://ex.org/v/' },
    keepLanguage: false,
  });
  test.each([
    ['http://schema.org/Person', 'Person'],
    ['http://ex.com/ns#first-name', 'first-name'],
    ['urn:isbn:123', '123'],
    ['http://xmlns.com/foaf/0.1/Agent', 'foaf_Agent'],
    ['http://ex.org/v/City', 'exv_City'],
    ['http://ex.org/a/b', 'ex_a/b'],
    ['http://ex.org/', 'http://ex.org/'],
    ['http://other.org/', 'http://other.org/'],
    ['http://other.org/Stra%C3%9Fe', 'Stra%C3%9Fe'],
    ['http://other.org/Größe', 'Größe'],
    ['http://www.w3.org/2000/01/rdf-schema#Resource', 'Resource_'],
  ])('<%s> is the label %s', (iri, name) => expect(names.label(toBytes(`<${iri}>`))).toBe(name));

  test('the key and the graph are not overwritten', () => {
    expect(names.predicate('<http://ex.com/iri>')).toBe('iri_');
    expect(names.predicate('<http://ex.com/graph>')).toBe('graph_');
    expect(names.label('<http://ex.com/graph>')).toBe('graph');
  });

  test('two IRIs with one name are reported once, classes apart from predicates', () => {
    const own = namesOf(options);
    for (const iri of ['http://a.org/name', 'http://b.org/name', 'http://c.org/name', 'http://a.org/name'])
      expect(own.predicate(`<${iri}>`)).toBe('name');
    own.label('<http://d.org/name>');
    expect(own.warnings).toEqual([
      'The predicates http://a.org/name and http://b.org/name are both named name in the property graph; prefixes keep them apart',
    ]);
  });

  test('warnings have an end', () => {
    const own = namesOf(options);
    for (let i = 0; i < 100; i++) for (const host of ['a', 'b']) own.predicate(`<http://${host}.org/n${i}>`);
    expect(own.warnings).toHaveLength(20);
  });
});

describe('nodes and relationships', () => {
  const plain = (nodes: readonly NodeElement[]) =>
    nodes.map(({ iri, labels, properties, graphs }) => ({ iri, labels, properties: Object.fromEntries(properties), graphs }));
  const statements = [
    statement('<http://ex/a>', `<${TYPE}>`, '<http://ex/Person>'),
    statement('<http://ex/a>', `<${TYPE}>`, '<http://ex/Agent>', '<http://ex/g>'),
    statement('<http://ex/a>', '<http://ex/name>', '"Ann"@en'),
    statement('<http://ex/a>', '<http://ex/name>', '"Anne"@fr', '<http://ex/g>'),
    statement('<http://ex/a>', '<http://ex/age>', typed('30', 'int')),
    statement('<http://ex/a>', '<http://ex/knows>', '<http://ex/b>'),
    statement('<http://ex/a>', '<http://ex/knows>', '<http://ex/b>'),
    statement('<http://ex/a>', '<http://ex/knows>', '<http://ex/b>', '<http://ex/g>'),
    statement('<http://ex/a>', '<http://ex/knows>', '_:é'),
    statement('_:é', `<${TYPE}>`, '"text"'),
    statement('<http://ex/a>', '<http://ex/age>', typed('31', 'int')),
  ];
  const edges: readonly EdgeElement[] = [
    { from: 'http://ex/a', to: 'http://ex/b', type: 'knows', graph: '' },
    { from: 'http://ex/a', to: 'http://ex/b', type: 'knows', graph: 'http://ex/g' },
    { from: 'http://ex/a', to: '_:é', type: 'knows', graph: '' },
  ];

  test('labels, properties, lists, graphs; a relationship once in each graph', () => {
    const elements = elementsOf(statements, namesOf(options));
    const properties = { name: ['Ann', 'Anne'], age: [30n, 31n] };
    expect(plain(elements.nodes)).toEqual([
      { iri: 'http://ex/a', labels: ['Person', 'Agent'], properties, graphs: ['', 'http://ex/g'] },
      { iri: '_:é', labels: [], properties: { type: 'text' }, graphs: [''] },
    ]);
    expect(elements.edges).toEqual(edges);
  });

  test('languages are kept in the names of properties', () => {
    const { nodes } = elementsOf(statements, namesOf({ prefixes: {}, keepLanguage: true }));
    expect(plain(nodes)[0]?.properties).toEqual({ 'name@en': 'Ann', 'name@fr': 'Anne', age: [30n, 31n] });
  });

  test('what several batches say of a node is what one says', () => {
    const names = namesOf(options);
    const merged = [statements.slice(0, 3), statements.slice(3)]
      .map((part) => elementsOf(part, names).nodes[0] as NodeElement)
      .reduce(mergeNodes);
    expect(plain([merged])).toEqual(plain(elementsOf(statements, names).nodes).slice(0, 1));
  });
});
