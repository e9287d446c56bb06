/** Output in every format, read back by parsers that are not ours; `formats.soak.test.ts` has more random datasets. */
import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect } from '@jest/globals';
import { parse as parseOxigraph } from 'oxigraph';
import { toBytes } from '../../../src/core/text.ts';
import { eachStatement } from '../../../src/nquads/terms.ts';
import { FORMAT_EXTENSION, OUTPUT_FORMATS, type OutputFormat, SERIALIZATIONS } from '../../../src/sinks/sink.ts';
import { processorMs } from '../../support/fastest.ts';
import { soakTest, test } from '../../support/jest/extent.ts';
import { Random } from '../../support/random.ts';
import { randomDataset, type Statement } from '../../support/random-dataset.ts';
import { repeatedKeys } from './json-keys.ts';
import {
  asKeys,
  asTexts,
  batchesOf,
  canSay,
  convert,
  directoryOfTest,
  expectSame,
  read,
  readAgain,
  testRandomDatasets,
  WITHOUT_GRAPHS,
} from './read-back.ts';

describe.each(SERIALIZATIONS)('%s', (format) => {
  const graphs = !WITHOUT_GRAPHS.includes(format);

  testRandomDatasets(format, [0]);

  soakTest('loses nothing of a subject that comes back after more than any buffer holds', async () => {
    const random = new Random(7);
    const statements = Array.from({ length: 150 }, () => randomDataset(random, 60, graphs))
      .flat()
      .filter((one) => canSay(format, one));
    const whole = statements.map(({ line }) => line).join('');
    expect(whole.length).toBeGreaterThan(450_000);
    for (const batches of [batchesOf(random, statements), [whole]]) {
      const [text = ''] = await convert(format, batches);
      expect(asTexts(asKeys(await read(format, text)))).toEqual(asTexts(statements.map(({ keys }) => keys)));
      if (format === 'jsonld' || format === 'rdfjson') expect(repeatedKeys(text)).toEqual([]);
    }
  });

  test('makes of each part a separate document', async () => {
    for (let seed = 0; seed < 20; seed++) {
      const random = new Random(seed);
      const some = (): readonly Statement[] => randomDataset(random, 12, graphs).filter((one) => canSay(format, one));
      const halves = [some(), some()];
      const [first, second] = halves.map((half) => batchesOf(random, half)) as [string[], string[]];
      const parts = await convert(format, [...first, undefined, ...second]);
      expect(parts).toHaveLength(2);
      for (const [i, text] of parts.entries()) await expectSame(format, text, halves[i] as readonly Statement[]);
    }
    expect((await readdir(directoryOfTest())).sort()).toEqual([`out-2.${FORMAT_EXTENSION[format]}`, `out.${FORMAT_EXTENSION[format]}`]);
  });

  test('of nothing is a document without statements', async () => {
    const [text = 'no part'] = await convert(format, []);
    expect([await read(format, text), readAgain(format, text)]).toEqual([[], []]);
  });

  test('keeps the case of a language tag', async () => {
    const [text] = await convert(format, ['<http://e/a> <http://e/p> "v"@en-GB .\n']);
    const written: Partial<Record<typeof format, RegExp>> = {
      jsonld: /"@language":\s*"en-GB"/,
      rdfjson: /"lang":"en-GB"/,
      rdfxml: / xml:lang="en-GB">v</,
    };
    expect(text).toMatch(written[format] ?? /"v"@en-GB\b/);
  });

  if (format !== 'nquads') {
    test.each([
      ['a space', '<http://e/a b> <http://e/p> <http://e/o> .\n', '<http://e/a b>'],
      ['an escape of an unsafe IRI', '<http://e/a> <http://e/p> <http://e/\\u003E> .\n', 'http://e/'],
      ['a brace in a datatype', '<http://e/a> <http://e/p> "x"^^<http://e/{d}> .\n', '<http://e/{d}>'],
    ])('refuses an IRI with %s and names it', async (_, line, named) => {
      await expect(convert(format, [line])).rejects.toMatchObject({
        code: 'sink/failed',
        message: expect.stringContaining(named),
        hint: expect.stringContaining('nquads'),
      });
      expect(await readdir(directoryOfTest())).toEqual([]);
    });
  }

  if (!graphs) {
    test('refuses a named graph and says what to ask for', async () => {
      await expect(convert(format, ['<http://e/a> <http://e/p> "1 <http://e/x> ." <http://e/g> .\n'])).rejects.toMatchObject({
        code: 'mapping/invalid',
        message: expect.stringContaining('<http://e/g>'),
        hint: expect.stringContaining('nquads'),
      });
      expect(await readdir(directoryOfTest())).toEqual([]);
    });
  }
});

const MAPPING = `@prefix rml: <http://w3id.org/rml/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix e: <http://e/> .
@prefix urn: <http://wrong/> .
e:things rml:logicalSource [ rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]" ;
    rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "things.json" ] ] ;
  rml:subjectMap [ rml:template "http://e/{$.id}" ; rml:class e:Thing#GRAPH# ] ;
  rml:predicateObjectMap [ rml:predicate rdf:type, e:name ; rml:objectMap [ rml:reference "$.name" ] ] ;
  rml:predicateObjectMap [ rml:predicate e:value ; rml:objectMap [ rml:reference "$.values[*]" ], [ rml:reference "$.name" ; rml:language "en-GB" ] ] ;
  rml:predicateObjectMap [ rml:predicate e:ref ; rml:objectMap [ rml:reference "$.ref" ; rml:termType rml:IRI ], [ rml:template "{$.id}" ; rml:termType rml:BlankNode ] ] .
`;
const THINGS = Array.from({ length: 700 }, (_, i) => ({
  id: (i * 7) % 40,
  name: `"\\\n\t\u0001\u007f é日本😀 @type {${i % 90}}`,
  values: [i, i / 8, i % 2 === 0, 1e21, 'x'],
  ref: `urn:thing:${i % 50}`,
}));

describe('quadmill run', () => {
  const quadmill = (...args: readonly string[]): Promise<{ readonly code: number | null; readonly err: string }> =>
    new Promise((done) => {
      const child = execFile(process.execPath, [resolve('bin/quadmill.js'), ...args], { cwd: directoryOfTest() }, (_, _out, err) =>
        done({ code: child.exitCode, err }),
      );
    });

  soakTest('gives the same dataset in every format, and named graphs to those that have them', async () => {
    await writeFile(join(directoryOfTest(), 'things.json'), JSON.stringify(THINGS));
    await writeFile(join(directoryOfTest(), 'plain.ttl'), MAPPING.replace('#GRAPH#', ''));
    await writeFile(
      join(directoryOfTest(), 'graphs.ttl'),
      MAPPING.replace('#GRAPH#', ' ; rml:graph rml:defaultGraph ; rml:graphMap [ rml:template "http://e/{$.id}" ]'),
    );
    const run = async (mapping: string, format: OutputFormat): Promise<readonly string[]> => {
      const file = `${mapping}-out.${FORMAT_EXTENSION[format]}`;
      expect([mapping, format, await quadmill('run', `${mapping}.ttl`, '-o', file)]).toEqual([mapping, format, { code: 0, err: '' }]);
      const text = await readFile(join(directoryOfTest(), file), 'utf8');
      if (format === 'jsonld') expect(repeatedKeys(text)).toEqual([]);
      return asTexts(asKeys(await read(format, text)));
    };
    const [plain, graphs] = [await run('plain', 'nquads'), await run('graphs', 'nquads')];
    expect([plain.length > 1000, graphs.length]).toEqual([true, plain.length * 2]);
    for (const format of OUTPUT_FORMATS.slice(1)) {
      expect(await run('plain', format)).toEqual(plain);
      if (!WITHOUT_GRAPHS.includes(format)) expect(await run('graphs', format)).toEqual(graphs);
      else expect((await quadmill('run', 'graphs.ttl', '-f', format)).err).toContain('has no graphs');
    }
  });
});

test('turtle abbreviates names, types and numbers, and groups what is said of a subject', async () => {
  const [text] = await convert('turtle', [
    toBytes(`<http://e/a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/Person> .
<http://e/a> <http://e/age> "7"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://e/a> <http://e/age> "x"^^<http://e/ns/d> .
_:b <http://e/p> <e:thing> .
`),
  ]);
  expect(text?.slice(text.indexOf('\n\n') + 2)).toBe('e:a a e:Person ;\n    e:age 7, "x"^^ex:d .\n_:b e:p <e:thing> .\n');
});

test.each(SERIALIZATIONS)('%s does not hang at an IRI of 400,000 characters', async (format) => {
  const long = `<http://e/${'x'.repeat(400_000)}/>`;
  const took = await processorMs(async () => {
    const [text = ''] = await convert(format, [`${long} <http://e/p> ${long} .\n`]);
    expect(text.length).toBeGreaterThan(800_000);
  });
  expect(took).toBeLessThan(2_000);
});

test.each(['turtle', 'trig', 'n3'] as const)(
  '%s uses a prefix whose namespace ends within a segment, the longest that fits',
  async (format) => {
    const names = ['http://e/ns/ab1', 'http://e/ns/b', 'http://e/ns/a', 'http://e/nx', 'http://e/ns/a-b', 'http://e/n', 'http://e/nx/y'];
    const lines = names.map((name) => `<${name}> <http://e/p> "1" .\n`).join('');
    const [text = ''] = await convert(format, [lines]);
    const subjects = [...text.matchAll(/^(\S+) e:p/gm)].map(([, subject]) => subject);
    // Neither an empty local name nor one that begins with a hyphen is written.
    expect(subjects).toEqual(['longer:b1', 'ex:b', 'ex:a', 'half:x', 'ex:a-b', 'e:n', '<http://e/nx/y>']);
  },
);

test('RDF/XML declares the prefixes of the mapping at the root and other namespaces at the element', async () => {
  const [text = ''] = await convert('rdfxml', [
    toBytes(
      `<http://e/a&b> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/Person> .
<http://e/a&b> <http://e/name> "A & B < C\\r\\n"@en .
<http://e/a&b> <http://other/7-b> "7"^^<http://www.w3.org/2001/XMLSchema#integer> .
_:0x <http://other/ü> _:b .
`.replaceAll('\\\\', '\\'),
    ),
  ]);
  expect(text.slice(text.indexOf('  <rdf:Description'))).toBe(`  <rdf:Description rdf:about="http://e/a&amp;b">
    <rdf:type rdf:resource="http://e/Person"/>
    <e:name xml:lang="en">A &amp; B &lt; C&#13;
</e:name>
    <ns:b xmlns:ns="http://other/7-" rdf:datatype="http://www.w3.org/2001/XMLSchema#integer">7</ns:b>
  </rdf:Description>
  <rdf:Description rdf:nodeID="_0x">
    <ns:ü xmlns:ns="http://other/" rdf:nodeID="b"/>
  </rdf:Description>
</rdf:RDF>
`);
  expect(text).toContain('xmlns:e="http://e/"');
});

const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';
test.each([
  ['a predicate without a local name', '<http://e/s> <http://e/p/7> "x"', 'http://e/p/7'],
  ['a predicate of one word', '<http://e/s> <a:> "x"', '<a:>'],
  ['a name of the syntax', `<http://e/s> <${RDF}li> "x"`, `${RDF}li`],
  ['another name of the syntax', `<http://e/s> <${RDF}Description> "x"`, `${RDF}Description`],
  ['a namespace that no prefix may have', '<http://e/s> <http://www.w3.org/2000/xmlns/e> "x"', 'xmlns/e'],
  ['a control character', '<http://e/s> <http://e/p> "a\\u0001b"', 'U+0001'],
  ['a character that is none', toBytes('<http://e/s> <http://e/p> "a\ufffeb"'), 'U+FFFE'],
])('RDF/XML refuses %s and names it', async (_, statement, named) => {
  await expect(convert('rdfxml', [`${statement} .\n`])).rejects.toMatchObject({
    code: 'mapping/invalid',
    message: expect.stringContaining(named),
    hint: expect.stringContaining('Turtle'),
  });
  expect(await readdir(directoryOfTest())).toEqual([]);
});

test('RDF/XML keeps blank nodes apart whose labels are no names of XML', async () => {
  const labels = ['0', '_0', '__0', 'a.b', 'a_2eb', '_a', 'é', '1-2', '1_2d2'];
  const [text = ''] = await convert('rdfxml', [toBytes(labels.map((label) => `_:${label} <http://e/p> "${label}" .\n`).join(''))]);
  const quads = await read('rdfxml', text);
  expect(quads.map(({ object }) => object.value)).toEqual(labels);
  expect(new Set(quads.map(({ subject }) => subject.value)).size).toBe(labels.length);
  expect(readAgain('rdfxml', text)).toHaveLength(labels.length);
});

test('RDF/JSON unites what is said of a subject, each statement once', async () => {
  const about = (object: string): string => `<http://e/a> <http://e/p> ${object} .\n`;
  const [text = ''] = await convert('rdfjson', [about('"1"'), '<http://e/b> <http://e/p> _:x .\n', about('"3"@en'), about('"1"')]);
  expect(JSON.parse(text)).toEqual({
    'http://e/a': {
      'http://e/p': [
        { type: 'literal', value: '1' },
        { type: 'literal', value: '3', lang: 'en' },
      ],
    },
    'http://e/b': { 'http://e/p': [{ type: 'bnode', value: '_:x' }] },
  });
});

test('JSON-LD unites what is said of a subject, and opens a new object where the window has ended', async () => {
  const about = (object: string): string => `<http://e/a> <http://e/p> ${object} .\n`;
  const [text = ''] = await convert('jsonld', [about('"1"'), '<http://e/b> <http://e/p> "2" <http://e/a> .\n', about('"3"')]);
  expect(JSON.parse(text)).toEqual([
    { '@id': 'http://e/a', 'http://e/p': [{ '@value': '1' }, { '@value': '3' }] },
    { '@id': 'http://e/a', '@graph': [{ '@id': 'http://e/b', 'http://e/p': [{ '@value': '2' }] }] },
  ]);
  const [far = ''] = await convert('jsonld', [about('"1"'), about(`"${'x'.repeat(300_000)}"`), about('"3"')]);
  expect((JSON.parse(far) as unknown[]).map((node) => (node as Record<string, unknown[]>)['http://e/p']?.length)).toEqual([2, 1]);
});

test.each([
  ['<s> <p> <o> .\n', ['<s>', '<p>', '<o>', '']],
  ['<s> <p> <o> <g> .\n', ['<s>', '<p>', '<o>', '<g>']],
  ['_:s <p> _:o .\n', ['_:s', '<p>', '_:o', '']],
  ['_:s <p> _:o _:g .\n', ['_:s', '<p>', '_:o', '_:g']],
  ['<s> <p> "a . <g> .\\" <x> " .\n', ['<s>', '<p>', '"a . <g> .\\" <x> "', '']],
  ['<s> <p> "a\\\\" <g> .\n', ['<s>', '<p>', '"a\\\\"', '<g>']],
  ['<s> <p> "a"@en .\n', ['<s>', '<p>', '"a"@en', '']],
  ['<s> <p> "a"@en <g> .\n', ['<s>', '<p>', '"a"@en', '<g>']],
  ['<s> <p> "a"^^<d> .\n', ['<s>', '<p>', '"a"^^<d>', '']],
  ['<s> <p> "a"^^<d> <g> .\n', ['<s>', '<p>', '"a"^^<d>', '<g>']],
  ['\n', undefined],
])('the terms of %j are %j', (line, terms) => {
  const found: string[][] = [];
  eachStatement(`<a> <b> <c> <d> .\n${line}<e> <f> <g> <h> .\n`, (...given) => found.push(given));
  expect(found).toEqual([['<a>', '<b>', '<c>', '<d>'], ...(terms === undefined ? [] : [terms]), ['<e>', '<f>', '<g>', '<h>']]);
});

test.each(['<s> <p> "x .\n', '<s> <p> .\n', '<s>\n', 'x\n'])('%j is no statement, and told', (line) => {
  expect(() => eachStatement(`${line}<e> <f> <g> <h> .\n`, () => undefined)).toThrow('is no statement');
});

describe.each([
  [
    'quoted triple',
    [
      '<< <http://e/s> <http://e/p> "5"^^<http://www.w3.org/2001/XMLSchema#integer> >> <http://e/p> "x" .\n',
      '<http://e/s> <http://e/p> << << _:b <http://e/p> <http://e/o> >> <http://e/p> "a \\" >> b"@en >> .\n',
    ],
    ['<< e:s e:p 5 >> e:p "x" .\n', 'e:s e:p << << _:b e:p e:o >> e:p "a \\" >> b"@en >> .\n'],
  ],
  [
    'triple term',
    [
      '_:t <http://e/p> <<( <http://e/s> <http://e/p> "5"^^<http://www.w3.org/2001/XMLSchema#integer> )>> .\n',
      '<http://e/s> <http://e/p> <<( _:t <http://e/p> <<( <http://e/s> <http://e/p> "a \\" )>> b"@en )>> )>> .\n',
    ],
    ['_:t e:p <<( e:s e:p 5 )>> .\n', 'e:s e:p <<( _:t e:p <<( e:s e:p "a \\" )>> b"@en )>> )>> .\n'],
  ],
])('a %s', (name, LINES, pieces) => {
  const TURTLE = pieces.join('');

  test.each([
    ['nquads', LINES.join('')],
    ['ntriples', LINES.join('')],
    ['turtle', TURTLE],
    ['trig', TURTLE],
  ] as const)('stands in %s', async (format, expected) => {
    const [text = ''] = await convert(format, [LINES.join('')]);
    // Without the prefixes.
    expect(text.slice(text.includes('\n\n') ? text.indexOf('\n\n') + 2 : 0)).toBe(expected);
  });

  test.each(['jsonld', 'n3', 'rdfjson'] as const)('is refused in %s', async (format) => {
    for (const line of LINES) {
      await expect(convert(format, [line])).rejects.toMatchObject({
        code: 'mapping/invalid',
        message: expect.stringMatching(`${name}, and (JSON-LD|N3|RDF/JSON) has none`),
        place: { value: expect.stringContaining('<http://e/p>') },
      });
    }
  });
});

test('RDF/XML refuses quoted triples of RDF-star, and says that RDF 1.2 has a way', async () => {
  for (const line of [
    '<< <http://e/s> <http://e/p> "5" >> <http://e/p> "x" .\n',
    '<http://e/s> <http://e/p> << _:b <http://e/p> "5" >> .\n',
  ])
    await expect(convert('rdfxml', [line])).rejects.toMatchObject({
      code: 'mapping/invalid',
      message: expect.stringContaining('quoted triple, and RDF/XML has triples as terms in RDF 1.2 alone'),
      hint: expect.stringContaining('--rdf 1.2'),
      place: { value: expect.stringContaining('<http://e/p>') },
    });
});

test('RDF/XML has triple terms, also within each other, and what stands beside them', async () => {
  const XSD = 'http://www.w3.org/2001/XMLSchema#';
  const lines = [
    '<http://e/a/s> <http://e/a/p> "before" .',
    `<http://e/a/s> <http://e/a/p> <<( <http://e/x> <http://e/ns/q> "5"^^<${XSD}integer> )>> .`,
    '<http://e/a/s> <http://e/a/p> "a & b"@en .',
    '_:t1 <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> <<( _:b <http://other/p> <<( <http://e/x> <http://e/ns/q> "< \\" )>> é"@de )>> )>> .',
    '_:t1 <http://e/ns/says> _:b .',
    '<http://e/a/s> <http://e/a/p> <<( _:b <http://e/ns/q> <http://e/?a&b> )>> .',
  ];
  const [text = ''] = await convert('rdfxml', [toBytes(`${lines.join('\n')}\n`)]);
  // The only reader of triple terms in RDF/XML that is at hand.
  const found = parseOxigraph(text, { format: 'application/rdf+xml' });
  expect(found.map((quad) => `${quad} .`).toSorted()).toEqual(lines.toSorted());
  expect(text.match(/rdf:version="1\.2"/g)).toHaveLength(3);
});

test('RDF/XML without triple terms names no version', async () => {
  const [text = ''] = await convert('rdfxml', ['<http://e/a/s> <http://e/a/p> "x" .\n']);
  expect(text).not.toContain('rdf:version');
});
