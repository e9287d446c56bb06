/**
 * The reference implementation as judge: what @rmlio/yarrrml-parser makes of the mappings of public suites in YARRRML means what we read of
 * them, apart from differences with a reason.
 *
 * `YARRRML_PARSER` names the folder of the package (1.12.2), and `CONFORMANCE_CASES` that of the suites.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { type Quad, Writer } from 'n3';
import { convertMapping } from '../../../../src/mapping/convert/convert.ts';
import { differences } from '../../../../src/mapping/convert/form.ts';
import type { Mapping } from '../../../../src/mapping/model/model.ts';
import { readMapping } from '../../../../src/mapping/parse/read.ts';
import { readManifest } from '../../../conformance/manifest.ts';

/** Where the parser differs from the specification, or makes what is not valid: how it shows, and what the document has. */
const REASONS: readonly (readonly [reason: string, shows: RegExp, has: RegExp])[] = [
  ['it has no key table', /names neither a table nor a query|reference formulation <[^>]*undefined>/, /\btable:/],
  ['it has no sources without an access', /reference formulation <[^>]*undefined>/, /sources: \[\{query:|- query:/],
  ['the driver is that of the type', /^the logical source$/, /driver: com\.microsoft/],
  ['an encoding is not read', /^the logical source$/, /encoding:/],
  ['a form of the Web of Things without a content type is not read', /^throws/, /type: wot/],
  ['targets of graphs are a list', /^throws: graph\.targets/, /graphs:/],
  ['an empty password is none', /^the logical source$/, /password: ""/],
  ['a query of SPARQL becomes one of a database', /rml:query takes one SELECT|undefined/, /type: sparql/],
  ['braces of the text are not escaped in templates', /has a brace inside of a reference/, /[{}]/],
  [
    'a datatype with references becomes a constant',
    /^the predicate object map$|malformed|holds/,
    /xsd:\$\(|, ex:\$\(|datatype: \$\(|\$\([^)]*\)\]$/m,
  ],
  ['a language with a function is not read', /\[object Object\]/, /language: *(?:\{|$)/m],
  ['the paths of targets become IRIs, below no directory', /^the (?:subject map|predicate object map)/, /targets/],
  ['functions within functions get the vocabulary of joins', /parentTermMap|childTermMap/, /parameters:/],
  ['conditions and functions of other terms are not read', /^throws|^the /, /condition:|function:/],
  ['texts in several lines are not read', /^throws: Unexpected/, /"/],
];

const [parser, folder] = [process.env.YARRRML_PARSER, process.env.CONFORMANCE_CASES];
const judge = parser === undefined || folder === undefined ? test.skip : test;

const byName = ({ triplesMaps, annotations }: Mapping): Mapping => {
  // Names end with numbers there, and have the kind in front.
  const nameOf = (name: string): string => name.replace(/^map_|_0*\d+$/g, '');
  return { annotations, triplesMaps: [...triplesMaps].sort((a, b) => (nameOf(a.name) < nameOf(b.name) ? -1 : 1)) };
};

async function outcomeOf(text: string, baseIri: string, convert: (text: string) => Quad[]): Promise<string> {
  const options = { baseIri };
  const ours = await readMapping([{ name: 'a.yml', text }], options);
  let turtle: string;
  try {
    turtle = new Writer().quadsToString(convert(text));
  } catch (error) {
    return `throws: ${(error as Error).message}`;
  }
  const { mapping, diagnostics } = await readMapping([{ name: 'a.ttl', text: turtle }], options);
  const wrong = diagnostics.find(({ severity }) => severity === 'error');
  if (wrong !== undefined) return wrong.message;
  const found = differences(byName(ours.mapping), byName(mapping), { withoutConnections: false });
  return found.length === 0 ? 'same' : (found[0]?.what as string);
}

judge('yarrrml-parser means the same (skipped without YARRRML_PARSER and CONFORMANCE_CASES)', async () => {
  const Generator = createRequire(join(parser as string, 'package.json'))('./lib/rml-generator.js');
  const silent = (['log', 'info', 'warn', 'error'] as const).map((name) => jest.spyOn(console, name).mockImplementation(() => undefined));
  const counts = new Map<string, number>();
  const unexplained: string[] = [];
  for (const one of readManifest(folder as string) ?? []) {
    if (one.mapping === null) continue;
    const file = join(one.dir, one.mapping);
    const given = readFileSync(join(folder as string, file), 'utf8').replaceAll('CONNECTIONDSN', 'jdbc:mysql://localhost/test');
    const { text } = await convertMapping([{ name: 'a.ttl', text: given }], 'yarrrml', { baseIri: one.baseIRI });
    if (text === undefined) continue;
    const outcome = await outcomeOf(text, one.baseIRI, (yarrrml) => new Generator({ includeMetadata: false }).convert(yarrrml));
    const reason = outcome === 'same' ? 'same' : REASONS.find(([, shows, has]) => shows.test(outcome) && has.test(text))?.[0];
    if (reason === undefined) unexplained.push(`${file}: ${outcome}\n${text}`);
    counts.set(reason ?? '', (counts.get(reason ?? '') ?? 0) + 1);
  }
  for (const spy of silent) spy.mockRestore();
  expect(unexplained).toEqual([]);
  expect(counts.get('same')).toBeGreaterThan(240);
});
