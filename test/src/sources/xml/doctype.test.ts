/** Entities and defaults of attributes that the internal subset of a document type declares. */
import { describe, expect, test } from '@jest/globals';
import type { XmlOptions } from '../../../../src/sources/source.ts';
import { openXml } from '../../../../src/sources/xml/xml.ts';

const OPTIONS: XmlOptions = {
  format: 'xml',
  name: 'input.xml',
  dialect: 'rml',
  nulls: [],
  encoding: undefined,
  namespaces: {},
  maxRecordBytes: 1e8,
};

/** Slots, trees, the XPath engine within a record, and the whole document. */
const WAYS = [
  { name: 'slots', iterator: '/r/e', reference: (path: string) => path },
  { name: 'trees', iterator: '//e', reference: (path: string) => path },
  { name: 'the XPath engine', iterator: '/r/e', reference: (path: string) => `(${path})[1]` },
  { name: 'the whole document', iterator: '/r/e[last() > 0]', reference: (path: string) => path },
] as const;

async function read(document: string, iterator: string, reference: string, piece = 1e6): Promise<readonly unknown[]> {
  const all = Buffer.from(document);
  const bytes = (async function* () {
    for (let at = 0; at < all.length; at += piece) yield all.subarray(at, at + piece);
  })();
  const scan = await openXml(bytes, [{ iterator, references: [reference], origin: '' }], OPTIONS);
  const value = scan.accessor(0, reference);
  const found: unknown[] = [];
  for await (const { records } of scan.batches(new AbortController().signal)) for (const record of records) found.push(value(record));
  return found;
}

const doctype = (declarations: string, content: string): string => `<!DOCTYPE r [\n${declarations}\n]>\n<r>${content}</r>`;

describe('entities of the internal subset', () => {
  const ROWS: readonly [name: string, declarations: string, content: string, path: string, found: readonly unknown[]][] = [
    ['in text', '<!ENTITY a "Ulm &amp; Bonn">', '<e>1 &a; 2</e>', '.', ['1 Ulm & Bonn 2']],
    [
      'in attributes',
      "<!ENTITY owl 'http://www.w3.org/2002/07/owl#'>",
      '<e a="&owl;Class"/>',
      '@a',
      ['http://www.w3.org/2002/07/owl#Class'],
    ],
    ['within entities', '<!ENTITY a "x&b;x"><!ENTITY b "&c;y">\n<!ENTITY c "z">', '<e>&a;&a;</e>', '.', ['xzyxxzyx']],
    [
      'with characters by number',
      '<!ENTITY a "&#233;&#x26;lt;">',
      '<e a="&a;">&a;</e>',
      '.',
      ['é<'].map((t) => Buffer.from(t).toString('latin1')),
    ],
    ['the first declaration counts', '<!ENTITY a "1"><!ENTITY a "2">', '<e>&a;</e>', '.', ['1']],
    ['with records', '<!ENTITY a "<e>1</e><e>2</e>">', '&a;<e>3</e>&a;', '.', ['1', '2', '3', '1', '2']],
    ['with a CDATA section and a comment', '<!ENTITY a "<![CDATA[<&]]><!-- c -->b">', '<e>&a;</e>', '.', ['<&b']],
    ['with white space in an attribute', '<!ENTITY a "1\n2&#10;3">', '<e a="&a;"/>', '@a', ['1 2 3']],
    ['that are empty', '<!ENTITY a "">', '<e>x&a;y</e>', '.', ['xy']],
    ['beside those of XML itself', '<!ENTITY lt "&#38;#60;"><!ENTITY a "A">', '<e>&lt;&a;&#33;&amp;</e>', '.', ['<A!&']],
    [
      'behind comments, instructions and other declarations',
      '<!-- <!ENTITY a "0"> --><?p ]> ?><!ELEMENT r ANY><!NOTATION n SYSTEM "]>"><!ENTITY a "1">',
      '<e>&a;</e>',
      '.',
      ['1'],
    ],
    ['of a parameter entity', `<!ENTITY % p '<!ENTITY a "1"><!ENTITY b "2">'> %p; <!ENTITY a "3">`, '<e>&a;&b;</e>', '.', ['12']],
    // XML, appendix D.
    [
      'of one within another',
      `<!ENTITY % xx '&#37;zz;'><!ENTITY % zz '&#60;!ENTITY a "error-prone" >'>%xx;`,
      '<e>&a;</e>',
      '.',
      ['error-prone'],
    ],
    ['of a parameter entity that is not used', '<!ENTITY % p SYSTEM "p"><!ENTITY a "100%">', '<e>&a;</e>', '.', ['100%']],
    [
      'in front of an external parameter entity',
      '<!ENTITY % p SYSTEM "p"><!ENTITY a "1"><!-- <!ENTITY --> %p; <!ELEMENT e ANY>',
      '<e>&a;</e>',
      '.',
      ['1'],
    ],
    ['beside an external subset', '<!ENTITY a "1">', '<e>&a;</e>', '.', ['1']],
  ];
  describe.each(WAYS)('by $name', ({ iterator, reference }) => {
    test.each(ROWS)('%s', async (name, declarations, content, path, found) => {
      const document = doctype(declarations, content).replace('[', name.includes('external subset') ? 'SYSTEM "r[.dtd" [' : '[');
      for (const piece of [1e6, 7, 1]) expect(await read(document, iterator, reference(path), piece)).toEqual(found);
    });
  });

  test('with elements are several values', async () => {
    const document = doctype('<!ENTITY a "<b>x</b><b>y</b>">', '<e>&a;</e>');
    for (const piece of [1e6, 3]) expect(await read(document, '/r/e', 'b', piece)).toEqual([['x', 'y']]);
  });
});

describe('attributes of the internal subset', () => {
  test.each<[name: string, declarations: string, content: string, path: string, found: readonly unknown[]]>([
    ['a default', '<!ATTLIST e a CDATA "x">', '<e/><e a="y"/><e>z</e>', '@a', ['x', 'y', 'x']],
    ['a fixed value', '<!ATTLIST e b CDATA #IMPLIED a CDATA #FIXED "x">', '<e b="1"/>', '@a', ['x']],
    ['none', '<!ATTLIST e a CDATA #IMPLIED b CDATA #REQUIRED>', '<e/>', '@a', [null]],
    ['of an enumeration', "<!ATTLIST e a (x | y) 'y'>", '<e/><e a=" x "/>', '@a', ['y', 'x']],
    ['the spaces of tokens', '<!ATTLIST e a NMTOKENS #IMPLIED>', '<e a="  x   y "/>', '@a', ['x y']],
    ['the first declaration counts', '<!ATTLIST e a CDATA "1"><!ATTLIST e a CDATA "2" b CDATA "3">', '<e/>', '@a', ['1']],
    ['with an entity', '<!ENTITY v "V"><!ATTLIST e a CDATA "&v;1">', '<e/>', '@a', ['V1']],
    ['of a parameter entity', `<!ENTITY % p '<!ATTLIST e a CDATA "x">'>%p;`, '<e/>', '@a', ['x']],
    ['with a percent sign', '<!ATTLIST e a CDATA "%p; 1%">', '<e/>', '@a', ['%p; 1%']],
    ['a namespace', '<!ATTLIST e xmlns:p CDATA #FIXED "urn:p" p:a CDATA "x">', '<e/>', '@*:a', ['x']],
  ])('%s', async (_, declarations, content, path, found) => {
    for (const { iterator, reference } of WAYS)
      for (const piece of [1e6, 5]) expect(await read(doctype(declarations, content), iterator, reference(path), piece)).toEqual(found);
  });

  test('an element in a namespace that the document type gives', async () => {
    const document = '<!DOCTYPE r [<!ATTLIST r xmlns CDATA #FIXED "urn:r">]><r><e>1</e></r>';
    expect(await read(document, '/*:r/*:e', '.')).toEqual(['1']);
    expect(await read(document, '/r/e', '.')).toEqual([]);
  });
});

describe('refused', () => {
  const nested = (levels: number, times: number): string =>
    ['<!ENTITY l0 "ha">', ...Array.from({ length: levels }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(times)}">`)].join('');

  test.each<[name: string, document: string, message: RegExp]>([
    ['exponential growth', doctype(nested(30, 10), '<e>&l30;</e>'), /expand without bound/],
    ['exponential growth of nothing', doctype(nested(30, 10).replace('"ha"', '""'), '<e>&l30;</e>'), /expand without bound/],
    ['exponential growth in an attribute', doctype(nested(30, 10), '<e a="&l30;"/>'), /expand without bound/],
    ['exponential growth in a default', doctype(`${nested(30, 10)}<!ATTLIST e a CDATA "&l30;">`, '<e/>'), /expand without bound/],
    ['quadratic growth', doctype(`<!ENTITY a "${'x'.repeat(100_000)}">`, `<e>${'&a;'.repeat(100_000)}</e>`), /expand without bound/],
    ['quadratic growth in records', doctype(`<!ENTITY a "${'x'.repeat(100_000)}">`, '<e>&a;</e>'.repeat(100_000)), /expand without bound/],
    ['defaults of many tags', doctype(`<!ATTLIST e a CDATA "${'x'.repeat(100_000)}">`, '<e/>'.repeat(100_000)), /expand without bound/],
    ['a circle', doctype('<!ENTITY a "&b;"><!ENTITY b "&a;">', '<e>&a;</e>'), /&a;\\?" refers to itself/],
    ['a circle in an attribute', doctype('<!ENTITY a "&a;">', '<e a="&a;"/>'), /refers to itself/],
    ['an external entity', doctype('<!ENTITY a SYSTEM "file:///etc/passwd">', '<e>&a;</e>'), /is external, and nothing outside/],
    ['an external entity in an attribute', doctype('<!ENTITY a PUBLIC "p" "http://127.0.0.1/x">', '<e a="&a;"/>'), /is external/],
    ['an external entity within another one', doctype('<!ENTITY x SYSTEM "x"><!ENTITY a "&x;">', '<e>&a;</e>'), /is external/],
    ['an entity that is not parsed', doctype('<!ENTITY a SYSTEM "a.gif" NDATA gif>', '<e>&a;</e>'), /is external/],
    ['what an external subset declares', '<!DOCTYPE r SYSTEM "r.dtd"><r><e>&a;</e></r>', /the document does not declare it/],
    [
      'what stands behind a parameter entity',
      doctype('<!ENTITY % p SYSTEM "p"> %p; <!ENTITY a "1">', '<e>&a;</e>'),
      /%p;\\?" is external, so the declarations behind it/,
    ],
    [
      'a default behind a parameter entity',
      doctype('<!ENTITY % p PUBLIC "p" "p"> %p; <!ATTLIST e a CDATA "1">', '<e/>'),
      /%p;\\?" is external, so/,
    ],
    [
      'what stands behind one that is not declared',
      doctype('%p; <!ENTITY a "1">', '<e>1</e>'),
      /%p;\\?" is not declared, so the declarations behind it/,
    ],
    ['a parameter entity within an entity', doctype('<!ENTITY % p "v"><!ENTITY a "a%p;b">', '<e>&a;</e>'), /stands within a declaration/],
    [
      'a parameter entity within an attribute list',
      doctype('<!ENTITY % p "CDATA"><!ATTLIST e a %p; "1">', '<e/>'),
      /stands within a declaration/,
    ],
    [
      'a circle of parameter entities',
      doctype(`<!ENTITY % a "&#37;b;"><!ENTITY % b "&#37;a;">%a;`, '<e>1</e>'),
      /%a;\\?" refers to itself/,
    ],
    [
      'exponential growth of parameter entities',
      doctype(
        `${nested(30, 10).replaceAll('ENTITY ', 'ENTITY % ').replaceAll('&', '&#37;').replace('"ha"', '"<!-- ha -->"')}%l30;`,
        '<e>1</e>',
      ),
      /expand without bound/,
    ],
    ['a < in an attribute', doctype('<!ENTITY a "<b/>">', '<e a="&a;"/>'), /has a < in it/],
    [
      'an element that is not closed',
      doctype('<!ENTITY a "<b>">', '<e>&a;</b></e>'),
      /&a;\\?" is not well-formed: It does not hold whole elements/,
    ],
    ['the end of an element around it', doctype('<!ENTITY a "</e><e>">', '<e>&a;</e>'), /does not hold whole elements/],
    ['a comment that goes on', doctype('<!ENTITY a "<!-- ">', '<e>&a; --></e>'), /is not well-formed/],
    ['a tag that goes on', doctype('<!ENTITY a "<b ">', '<e>&a;/></e>'), /is not well-formed/],
  ])('%s', async (_, document, message) => {
    const begin = process.cpuUsage();
    for (const { iterator, reference } of WAYS) await expect(read(document, iterator, reference('.'))).rejects.toThrow(message);
    expect(process.cpuUsage(begin).user / 1e6).toBeLessThan(20);
  });

  test('a document without much growth is not', async () => {
    const document = doctype('<!ENTITY xsd "http://www.w3.org/2001/XMLSchema#">', '<e a="&xsd;string">&xsd;int</e>'.repeat(100_000));
    expect(await read(document, '/r/e', '@a')).toHaveLength(100_000);
  });
});
