/** Random datasets with values that are difficult for formats, as statements and as lines of the engine. */
import { escapeLiteral, toBytes } from '../../src/core/text.ts';
import { XSD } from '../../src/core/value.ts';
import type { Random } from './random.ts';

/** A term as comparable text: `<iri>`, `_:label`, or JSON of a literal with lower-case language and datatype. */
export type Key = string;

export interface Statement {
  /** Subject, predicate, object, graph; the default graph is empty. */
  readonly keys: readonly [Key, Key, Key, Key];
  /** One-byte, with its line feed. */
  readonly line: string;
}

interface RandomTerm {
  readonly key: Key;
  readonly token: string;
}

const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';

const resource = (text: string): RandomTerm => ({ key: text, token: toBytes(text) });

export const literalKey = (value: string, language: string, datatype: string): Key =>
  JSON.stringify([value, language.toLowerCase(), language === '' ? datatype : `${RDF}langString`]);

/** Escapes that are valid in N-Quads but not written by the engine; readers of its lines must accept them. */
const ESCAPES: Readonly<Record<string, string>> = { '\t': '\\t', '\b': '\\b', '\f': '\\f', '\x7f': '\\U0000007F' };

function literal(value: string, language: string, datatype: string): RandomTerm {
  const escapes = /[\t\b\f\x7f]/.test(value) && datatype.length % 2 === 0;
  const bytes = escapeLiteral(toBytes(value));
  const text = `"${escapes ? bytes.replace(/[\t\b\f\x7f]/g, (c) => ESCAPES[c] as string) : bytes}"`;
  const end = language !== '' ? `@${language}` : datatype === `${XSD}string` ? '' : `^^<${toBytes(datatype)}>`;
  return { key: literalKey(value, language, datatype), token: text + end };
}

const NAMES = [
  ...[
    'http://e/a',
    'http://e/b',
    'http://e/a#b',
    'http://e/',
    'http://e/-x',
    'http://e/a.b',
    'http://e/a.',
    'http://e/ns/1',
    'http://e/ns/a_',
  ],
  ...[
    'http://e/a/../b',
    'http://e/./c',
    'http://e//d',
    'http://e?q=1&r=%20#%C3%A9',
    'http://é.example/ü/日本/😀',
    "http://e/it's(a),b;c=@d!$*+",
  ],
  ...[
    'urn:isbn:1',
    'mailto:a@b.example',
    'e:thing',
    'ex:a',
    'x:@type',
    'x:@graph',
    'tag:e,2026:@id',
    'HTTP://E/Upper',
    'http:relative',
    'a:',
  ],
].map((iri) => resource(`<${iri}>`));
/** The same IRI with escapes, which the engine does not write but sinks must accept. */
const ESCAPED: RandomTerm = { key: '<http://é.example/ü/日本/😀>', token: '<http://\\u00E9.example/\\u00fc/\\u65E5\\u672C/\\U0001F600>' };
const BLANKS = ['_:b1', '_:b2_20', '_:c0', '_:x3'].map(resource);
const PREDICATES = [
  ...['type', 'type', 'type', 'first', 'rest', 'value', '_1'].map((local) => resource(`<${RDF}${local}>`)),
  ...['http://e/p', 'http://e/q', 'http://e/@type', 'x:@id', 'urn:@value', 'e:graph', 'http://e/ü日本😀', 'a:'].map((iri) =>
    resource(`<${iri}>`),
  ),
];
const OBJECTS = [`<${RDF}nil>`, `<${RDF}type>`].map(resource);

const DATATYPES = [
  ...['string', 'string', 'integer', 'decimal', 'double', 'float', 'boolean', 'date', 'dateTime', 'hexBinary', 'anyURI'].map(
    (name) => XSD + name,
  ),
  ...[`${RDF}JSON`, `${RDF}HTML`, 'http://e/ns/datatype', 'e:datatype', 'http://e/ü', 'x:@json'],
];
const NUMERIC = [
  '1',
  '-0',
  '+1',
  '007',
  '1.',
  '.5',
  '-.5',
  '1.50',
  '1e5',
  '1.0E0',
  '-1.5E-10',
  '.5e3',
  '1.e3',
  'E5',
  'INF',
  'NaN',
  '12345678901234567890',
];
const FORMS = [...NUMERIC, 'true', 'false', '0', 'TRUE', '', ' 1 ', 'null', '{"a":[1]}', '2026-11-22', 'x'];
const LANGUAGES = ['en', 'en-GB', 'DE', 'zh-Hans-CN', 'sr-Latn', 'x-Private'];
const PIECES = [
  ...[
    'a',
    'é',
    '日本',
    '😀',
    '\u{10ffff}',
    '"',
    '\\',
    "'",
    '@',
    '@type',
    '@id',
    '_:b',
    '<',
    '>',
    '{',
    '}',
    '[',
    '#',
    '.',
    ' .\n',
    ', ',
    '\\u0041',
    '\\n',
  ],
  ...['\u007f', '\u0080', '\u0085', '\u00a0', '\u2028', '\u2029', '\ufeff', '\ufffd', '\ufffe', '\uffff', '"""', "'''", '""^^<x>', '-->'],
  ...Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)),
];

/** Statements with repeated subjects, predicates and graphs, in random order. @param graphs whether to use named graphs */
export function randomDataset(random: Random, size: number, graphs: boolean): readonly Statement[] {
  const some = (list: readonly RandomTerm[], count: number): RandomTerm[] => random.shuffle(list).slice(0, count);
  const subjects = [...some([...NAMES, ESCAPED], random.between(1, 5)), ...some(BLANKS, random.between(0, 2))];
  const predicates = some(PREDICATES, random.between(1, 6));
  const graphNames = [resource(''), ...some(subjects, 2), ...some(NAMES, 1), ...some(BLANKS, random.between(0, 2))];
  const text = (): string => Array.from({ length: random.between(0, 6) }, () => random.pick(PIECES)).join('');
  const object = (): RandomTerm => {
    if (random.chance(0.4)) return random.pick([...subjects, ...OBJECTS, random.pick(NAMES), random.pick(BLANKS)]);
    if (random.chance(0.3)) return literal(text(), random.pick(LANGUAGES), '');
    return literal(random.chance(0.5) ? random.pick(FORMS) : text(), '', random.pick(DATATYPES));
  };
  const statements = Array.from({ length: size }, (): Statement => {
    const graph = graphs && random.chance(0.5) ? random.pick(graphNames) : resource('');
    const terms = [random.pick(subjects), random.pick(predicates), object(), graph];
    const line = `${terms
      .map(({ token }) => token)
      .join(' ')
      .trimEnd()} .\n`;
    return { keys: terms.map(({ key }) => key) as [Key, Key, Key, Key], line };
  });
  if (random.chance(0.5)) return statements;
  // In the order of a triples map: by record.
  return statements.toSorted((a, b) => (a.keys[0] < b.keys[0] ? -1 : a.keys[0] > b.keys[0] ? 1 : 0));
}
