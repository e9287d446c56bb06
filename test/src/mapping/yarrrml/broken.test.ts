/**
 * What is said of documents that are not valid: `broken.txt` holds each document and its messages. `UPDATE_GOLDEN=1` rewrites it.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { formatDiagnostic, Report } from '../../../../src/mapping/model/diagnostics.ts';
import { readMapping } from '../../../../src/mapping/parse/read.ts';
import { readYarrrml } from '../../../../src/mapping/yarrrml/read.ts';
import { parseYaml } from '../../../../src/mapping/yarrrml/tree.ts';
import { readMappingDocuments } from '../../../../src/run/prepare/load.ts';

/** A mapping with further keys. */
const mapping = (keys: string): string => `prefixes:
  ex: http://example.org/
  grel: http://users.ugent.be/~bjdmeest/function/grel.ttl#
mappings:
  m:
    sources: [[a.csv~csv]]
    s: ex:$(id)
${keys.replace(/^/gm, '    ')}
`;
const pair = (items: string): string => mapping(`po:\n  - [ex:p, ${items}]`);
const object = (map: string): string => mapping(`po:\n  - p: ex:p\n    o: ${map}`);
const source = (text: string): string => mapping('po: []').replace('[[a.csv~csv]]', text);
const view = (keys: string): string => `views:\n  v:\n${keys.replace(/^/gm, '    ')}\n${source('v')}`;
const field = (text: string): string => view(`source: a.csv~csv\nfields: { id: ${text} }`);
const viewJoin = (keys: string): string => view(`source: a.csv~csv\nfields: { id: $(id) }\njoins: [{ ${keys} }]`);
const annotation = (keys: string): string => view(`source: a.csv~csv\nfields: { id: $(id) }\nannotations: [{ ${keys} }]`);
const joined = (parameters: string, name = 'm'): string =>
  object(`{ mapping: ${name}, condition: { function: equal, parameters: ${parameters} } }`);

const BROKEN: Readonly<Record<string, string>> = {
  'lines of a list in different columns': 'mappings:\n  m:\n    sources:\n      - [a.csv~csv]\n     - [b.csv~csv]\n',
  'a tab as indentation': 'mappings:\n\tm:\n\t\tsources: x\n',
  'a bracket that is not closed': 'mappings:\n  m:\n    sources: [[a.csv~csv]\n    s: ex:1\n',
  'a quote that is not closed': 'mappings:\n  m:\n    s: "ex:1\n',
  'two documents in one file': 'mappings: {}\n---\nmappings: {}\n',
  'a colon and a space in a text': 'mappings:\n  m:\n    s: note: this\n',
  'an anchor that is not there': 'mappings:\n  m: *other\n',
  'an alias within what it refers to': 'mappings: &all\n  m: *all\n',
  'aliases that expand to billions of values': `a0: &a0 [x, x, x, x, x, x, x, x, x, x]
${Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(10).fill(`*a${i}`).join(', ')}]`).join('\n')}
mappings: *a9
`,
  'brackets within brackets': `mappings: ${'['.repeat(120)}${']'.repeat(120)}\n`,
  'a merge of a text': 'mappings:\n  m:\n    <<: other\n    s: x\n',
  'a key that is a list': 'mappings:\n  ? [a, b]\n  : {}\n',
  'a list in place of a map': '- a\n- b\n',
  'an empty document': '',
  'no mappings': 'prefixes:\n  ex: http://example.org/\n',
  'a key that is there twice': mapping('po:\n  - [ex:p, $(a)]\npo:\n  - [ex:q, $(b)]'),
  'a key and its short form': mapping('subjects: ex:2'),
  'a misspelt key of a mapping': mapping('predicatobjects:\n  - [ex:p, $(a)]'),
  'a misspelt key of the document': 'mapings:\n  m: {}\n',
  'a key in the wrong place': mapping('iterator: $.a'),
  'a key that resembles none': mapping('zzz: 1'),
  'a key of an extension': mapping('changeDetection: {}'),
  'an undeclared prefix': mapping('po:\n  - [exa:p, $(a)]'),
  'an undeclared prefix that is usual': pair('$(a), idlab-fn:x'),
  'a name of a source where there is none': source('people'),
  'a misspelt name of a source': `sources:\n  people: [a.csv~csv]\n${source('peopel')}`,
  'a source without a format': source('[[a.csv]]'),
  'an unknown reference formulation': source('[[a.csv~cvs]]'),
  'an unknown type of a source': source('{access: a.csv, type: locale, referenceFormulation: csv}'),
  'a mapping without a source': mapping('po: []').replace('    sources: [[a.csv~csv]]\n', ''),
  'a mapping that is not there': joined('[[str1, $(a), s], [str2, $(b), o]]', 'other'),
  'a join by another function': object(
    '{ mapping: m, condition: { function: grel:toUpperCase, parameters: [[grel:valueParameter, $(a)]] } }',
  ),
  'a join of one side': joined('[[str1, $(a), s], [str2, $(b), s]]'),
  'a side that is none': joined('[[str1, $(a), x], [str2, $(b), o]]'),
  'a function that is not there': object('{ function: grel:toUperCase, parameters: [[grel:valueParameter, $(a)]] }'),
  'a parameter that the function does not have': object('{ function: grel:toUpperCase, parameters: [[grel:valueParam3, $(a)]] }'),
  'a function without its parameter': object('{ function: grel:toUpperCase }'),
  'parameters without a function': object('{ parameters: [[grel:valueParameter, $(a)]] }'),
  'a parameter without a value': object('{ function: grel:toUpperCase, parameters: [[grel:valueParameter]] }'),
  'a list as the value of a parameter': object('{ function: grel:toUpperCase, parameters: [[grel:valueParameter, [a, b]]] }'),
  'a function without a prefix': object('{ function: toUpperCase, parameters: [[grel:valueParameter, $(a)]] }'),
  'a reference that is not closed': pair('"$(a"'),
  'a reference without a name': pair('"x$()"'),
  'a brace of RML': pair('"ex:{id}~iri"'),
  'a space in an IRI': pair('"ex:a b~iri"'),
  'a language that is none': pair('$(a), "not a language~lang"'),
  'a datatype that is no IRI': pair('$(a), integer'),
  'a language and a datatype': object('{ value: $(a), language: en, datatype: xsd:string }'),
  'a type that is none': object('{ value: $(a), type: uri }'),
  'a pair of four items': pair('$(a), xsd:string, more'),
  'a pair without an object': mapping('po:\n  - p: ex:p'),
  'a condition without a function': object('{ value: $(a), condition: { parameters: [] } }'),
  'a JSONPath that is none': pair('"$($.a[)"').replace('[[a.csv~csv]]', '[[a.json~jsonpath, "$.x[*]"]]'),
  'a target that is not there': mapping('targets: dump'),
  'an unknown serialization': mapping('targets: { access: dump.x, type: localfile, serialization: turtel }'),
  'an external value within another': `external:\n  a: $(_b)\n  b: x\n${pair('$(_a)')}`,
  'a view without a source': view('fields: { id: $(id) }'),
  'a view of two sources': view('source: [[a.csv~csv], [b.csv~csv]]\nfields: { id: $(id) }'),
  'a view without fields': view('source: a.csv~csv'),
  'a view of a source that is not there': view('source: b\nfields: { id: $(id) }'),
  'a view of itself': view('source: v\nfields: { id: $(id) }'),
  'a view and a source of one name': `sources:\n  v: a.csv~csv\n${view('source: a.csv~csv\nfields: { id: $(id) }')}`,
  'a misspelt key of a view': view('source: a.csv~csv\nfelds: { id: $(id) }'),
  'fields in a list': view('source: a.csv~csv\nfields: [id]'),
  'a field of a key that RML has': field('{ reference: id }'),
  'a field without a value': field('{ fields: { x: $(x) } }'),
  'a field with a value and an iterator': field('{ value: $(id), iterator: $.x }'),
  'a field in a list with its datatype': field('[$(id), xsd:integer]'),
  'a field whose template is not closed': field('"$(id"'),
  'a field by a function that is not there': field('{ function: grel:toUperCase, parameters: [[grel:valueParameter, $(id)]] }'),
  'an iterator in rows': field('{ iterator: $.x, fields: { y: $(y) } }'),
  'a document within a value, in a format that is none': field(
    '{ value: $(id), fields: { x: { referenceFormulation: jsn, iterator: $ } } }',
  ),
  'a field that the view does not have': view('source: a.csv~csv\nfields: { ident: $(id) }'),
  'a join without anything': viewJoin(''),
  'a join of a view that is not there': viewJoin(
    'view: w, type: left, condition: { function: equal, parameters: [[str1, $(id), s], [str2, $(id), o]] }',
  ),
  'a join of a type that is none': viewJoin(
    'view: v, type: outer, condition: { function: equal, parameters: [[str1, $(id), s], [str2, $(id), o]] }',
  ),
  'a join of one side of a view': viewJoin(
    'view: v, type: left, condition: { function: equal, parameters: [[str1, $(id), s], [str2, x, s]] }',
  ),
  'an annotation without a type': annotation('fields: id'),
  'an annotation of a type that is none': annotation('type: primarykay, fields: id'),
  'an annotation of a field that is not there': annotation('type: unique, fields: [id, name]'),
  'an annotation of no field': annotation('type: unique, fields: []'),
  'a foreign key without a target': annotation('type: foreignkey, fields: id'),
  'a foreign key to a view that is not there': annotation('type: foreignkey, fields: id, targetView: w, targetFields: id'),
  'an external value within itself': `external:\n  a: $(_a)\n${pair('$(_a)')}`,
};

const GOLDEN = join(import.meta.dirname, 'broken.txt');

/** Documents that are longer than this are not shown whole. */
const SHOWN = 600;

test('each broken document gets messages with line, column and key', async () => {
  const parts: string[] = [];
  for (const [name, text] of Object.entries(BROKEN)) {
    const { diagnostics } = await readMapping([{ name: 'm.yml', text }], { baseIri: 'http://base/' });
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    if (errors.length === 0) throw new Error(`${name}: no error`);
    for (const { origin, code } of errors) {
      const lines = text.split('\n');
      expect([name, origin.line <= lines.length, origin.column <= (lines[origin.line - 1] ?? '').length + 1]).toEqual([name, true, true]);
      // What is not YAML has no keys, and neither has the document itself.
      if (code !== 'syntax' && origin.line + origin.column > 2) expect([name, origin.key]).toEqual([name, expect.any(String)]);
    }
    const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}…\n` : text;
    parts.push(`# ${name}\n\n${shown.replace(/^(?=.)/gm, '    ')}\n${diagnostics.map(formatDiagnostic).join('\n')}\n`);
  }
  const actual = parts.join('\n');
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(GOLDEN, actual);
  expect(actual).toBe(readFileSync(GOLDEN, 'utf8'));
});

test.each([
  ['a value', pair('$.a.b'), ['m.yml:9:16: warning: mappings.m.po[0][1]: $.a.b is a text, the same for every record']],
  ['a field', field('"$[0].id"'), ['m.yml:4:19: warning: views.v.fields.id: $[0].id is a text, the same for every record']],
  ['a reference', pair('$($.a)'), []],
  ['a price', pair('$.50'), []],
])('a text that has the form of a JSONPath is warned of: %s', async (_, text, expected) => {
  const { diagnostics } = await readMapping([{ name: 'm.yml', text }], { baseIri: 'http://base/' });
  const found = diagnostics.filter(({ code }) => code === 'text-for-reference');
  expect(found.map((one) => formatDiagnostic(one).split('\n')[0])).toEqual(expected);
});

const list = (count: number, item: (i: number) => string): string => `[${Array.from({ length: count }, (_, i) => item(i)).join(', ')}]`;
const many = (sources: number, subjects: number, pairs = '[[ex:p, $(v)]]'): string =>
  `mappings:\n  m:\n    sources: ${list(sources, (i) => `[d${i}.csv~csv]`)}\n    s: ${list(subjects, (i) => `http://ex/${i}`)}\n    po: ${pairs}\n`;
const TOO_LARGE: readonly (readonly [name: string, text: string, message: RegExp])[] = [
  [
    'sources × subjects',
    many(300, 300),
    /^m.yml:2:3: error: mappings.m: with the mapping "m" the document means more than 2\d{5} statements of RML: each pair of its 300 sources and 300 subjects is a triples map\n {4}use several documents/,
  ],
  ['more pairs than memory takes', many(3_000, 3_000), /its 3000 sources and 3000 subjects/],
  ['parents × children', many(80, 80, '[{ p: ex:p, o: { mapping: m } }]'), /its 80 sources and 80 subjects/],
  [
    'a source that is named everywhere, and subjects that aliases repeat',
    `sources:\n  a: { access: a.json, type: localfile, referenceFormulation: jsonpath, iterator: $ }\nmappings:\n${Array.from(
      { length: 300 },
      (_, i) => `  m${i}: { sources: a, s: ${i === 0 ? `&s ${list(500, (j) => `http://ex/${j}`)}` : '*s'} }\n`,
    ).join('')}`,
    /with the mapping "m\d+" the document means more than 2\d{5} statements of RML: each pair of its 1 sources and 500 subjects/,
  ],
  [
    'a condition of many objects',
    mapping(
      `po:\n  - p: ex:p\n    condition: { function: grel:boolean_and, parameters: ${list(200, () => '[grel:bool_b, $(a)]')} }\n    o: ${list(2000, (i) => `o${i}`)}`,
    ),
    /with the mapping "m" the document means more than \d+ statements of RML\n {4}use several documents; named sources, targets and conditions are repeated/,
  ],
];

test.each(TOO_LARGE)('a document that means far more than it says is refused: %s', async (_, text, message) => {
  const { diagnostics } = await readMapping([{ name: 'm.yml', text }], { baseIri: 'http://base/' });
  const errors = diagnostics.filter(({ code }) => code === 'too-large');
  expect(errors.map(formatDiagnostic)).toEqual([expect.stringMatching(message)]);
});

test.each([
  ['pairs', '[[ex:p, $(v)]]'],
  ['languages, datatypes and graphs', '[{ p: ex:p, o: [[$(v), en~lang], [$(w), xsd:integer]], graphs: [ex:g$(v)] }]'],
  ['functions', '[{ p: ex:p, o: { function: grel:toUpperCase, parameters: [[grel:valueParameter, $(v)]] } }]'],
  ['joins', '[{ p: ex:p, o: { mapping: m, condition: { function: equal, parameters: [[str1, $(v), s], [str2, $(w), o]] } } }]'],
  ['inverse predicates', '[{ p: ex:p, o: { value: $(v), type: iri }, inversepredicates: ex:q }]'],
])('a document that repeats nothing means far fewer statements than it may: %s', (_, pairs) => {
  const text = mapping(`po: ${pairs}`);
  const report = new Report();
  const [statements = []] = readYarrrml([{ name: 'm.yml', text, scope: '' }], report);
  expect([report.errors, statements.length > 0, statements.length < 5 * (parseYaml(text, 'm.yml', report)?.written ?? 0)]).toEqual([
    0,
    true,
    true,
  ]);
});

test('bytes that are no text are reported by line and character', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'quadmill-broken-'));
  try {
    const file = join(directory, 'm.yml');
    writeFileSync(file, Buffer.concat([Buffer.from('mappings:\n  "\ufffdü": "'), Buffer.from([0xe4]), Buffer.from('"\n')]));
    await expect(readMappingDocuments([file], { reach: undefined, workingDirectory: directory })).rejects.toThrow(
      /is not UTF-8: byte 0xe4 at line 2, character 10/,
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
});
