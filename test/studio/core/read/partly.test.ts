/** A text with errors opens as what can be drawn of it: never as an empty model. */
import { describe, expect, test } from '@jest/globals';
import { findingsIn } from '../../../../studio/core/commands/invariants.ts';
import { opened } from '../../../../studio/core/read/opened.ts';
import { readPartly } from '../../../../studio/core/read/partly.ts';
import { read } from '../../../../studio/core/read/read.ts';
import { canonical } from '../support/canonical.ts';

const HEAD = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://e.org/> .
<#s> rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "p.csv" ] ; rml:referenceFormulation rml:CSV .
`;
const map = (name: string): string => `
<#${name}> rml:logicalSource <#s> ;
  rml:subjectMap [ rml:template "http://e.org/${name}/{id}" ; rml:class ex:C ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:town ; rml:objectMap [ rml:reference "town" ] ] .
`;
const BOTH = HEAD + map('a') + map('b');
const [A_ONLY, B_ONLY] = [HEAD + map('a'), HEAD + map('b')];
const RULES = /rml:predicateObjectMap \[ rml:predicate ex:name[^\n]*\n {2}rml:predicateObjectMap \[ rml:predicate ex:town[^\n]*/;

const YAML = (first: string): string => `prefixes: {ex: "http://e.org/"}
mappings:
  # the first one
  a:
    sources: [[p.csv~csv]]
${first}
  b:
    sources: [[p.csv~csv]]
    s: ex:b/$(id)
    po:
      - [ex:name, $(name)]
`;
const YAML_A = `    s: ex:a/$(id)
    po:
      - [ex:name, $(name)]
      - [ex:town, $(town)]`;

/** What is drawn: entities with their edges, and what is kept as text, with the name of the entity that shows it. */
async function drawn(text: string): Promise<readonly string[]> {
  const { document } = await readPartly(text);
  expect(document.text.text).toBe(text);
  expect(findingsIn(document).filter(({ severity }) => severity === 'error')).toEqual([]);
  const records = [...document.records.values()];
  const nameOf = (id: string | undefined): string => {
    const record = records.find((one) => one.id === id);
    return record !== undefined && 'name' in record && typeof record.name === 'string' ? record.name : '';
  };
  return records.flatMap((record) => {
    if (record.kind === 'entity') {
      const own = records.flatMap((one) => (one.kind === 'edge' && one.from === record.id ? one.predicates : []));
      return [`${record.name}: ${own.map((iri) => iri.replace(/.*\//, '')).join(' ')}`.trim()];
    }
    return record.kind === 'text' ? [`text ${nameOf(record.of)}`.trim()] : [];
  });
}

const [ALL_A, ALL_B] = ['a: name town', 'b: name town'];

describe('one error', () => {
  test.each<[name: string, text: string, drawn: readonly string[]]>([
    ['none at all', BOTH, [ALL_A, ALL_B]],
    ['of a rule', BOTH.replace('rml:reference "name"', 'rml:referense "name"'), ['a: town', ALL_B, 'text a']],
    ['of a rule, in the only triples map', A_ONLY.replace('rml:reference "town"', 'rml:template "{town"'), ['a: name', 'text a']],
    [
      'of one of two rules with one predicate',
      A_ONLY.replace(RULES, (rules) =>
        rules
          .replace(/ ;\n *rml:predicateObjectMap/, ' ,')
          .replace('"name"', '"$.x["')
          .replace('rml:reference', 'rml:referense'),
      ),
      ['a: town', 'text a'],
    ],
    [
      'of the last of them',
      A_ONLY.replace(RULES, (rules) =>
        rules.replace(/ ;\n *rml:predicateObjectMap/, ' ,').replace(/rml:reference "town"/, 'rml:referense "town"'),
      ),
      ['a: name', 'text a'],
    ],
    ['of a subject', BOTH.replace('/a/{id}', '/a/{id'), [ALL_B, 'text']],
    ['of a subject that is not there', BOTH.replace(/rml:subjectMap [^\n]*\n/, '\n'), [ALL_B, 'text']],
    ['a missing separator', BOTH.replace('ex:C ] ;', 'ex:C ]'), [ALL_B, 'text']],
    ['a missing separator further down', A_ONLY + map('b').replace('ex:C ] ;', 'ex:C ]'), [ALL_A, 'text']],
    ['a missing full stop', BOTH.replace(/\.\n\n<#b>/, '\n\n<#b>'), [ALL_B, 'text']],
    ['a prefix that is not declared', BOTH.replace('ex:name', 'exx:name'), [ALL_B, 'text']],
    ['a bracket that is not closed', BOTH.replace('"name" ] ]', '"name" ]'), [ALL_B, 'text']],
    ['a quote that is not closed', BOTH.replace('"name"', '"name'), [ALL_B, 'text']],
    ['an end that is cut off', `${BOTH}\n<#c> rml:logicalSource [ rml:source`, [ALL_A, ALL_B, 'text']],
    ['of the source that all read', BOTH.replace('rml:path', 'rml:pat'), ['text', 'text', 'text']],
    ['YARRRML: none', YAML(YAML_A), [ALL_A, 'b: name']],
    ['YARRRML: of a rule', YAML(YAML_A.replace('$(name)', '$(name')), ['a: town', 'b: name', 'text a']],
    ['YARRRML: of a subject', YAML(YAML_A.replace('$(id)', '$(id')), ['b: name', 'text']],
    ['YARRRML: a key', YAML(YAML_A.replace('po:', 'poo:')), ['b: name', 'text']],
    ['YARRRML: a bracket that is not closed', YAML(YAML_A.replace('$(town)]', '$(town)')), ['a: name', 'b: name', 'text']],
  ])('%s', async (_, text, expected) => {
    expect([...(await drawn(text))].sort()).toEqual([...expected].sort());
  });
});

test('what has no error is drawn as if it stood alone', async () => {
  const { document } = await readPartly(BOTH.replace('/a/{id}', '/a/{id'));
  const alone = (await read(B_ONLY, undefined)).document;
  const withoutText = new Map([...document.records].filter(([, { kind }]) => kind !== 'text'));
  expect(canonical({ ...document, records: withoutText })).toEqual(canonical(alone));
});

test('the errors are those of the whole text, and a text that is opened tells whether it has some', async () => {
  const wrong = BOTH.replace('ex:name', 'exx:name');
  expect((await readPartly(wrong)).diagnostics).toEqual((await read(wrong, undefined)).diagnostics);
  expect((await opened(wrong)).hasErrors).toBe(true);
  expect((await opened(BOTH)).hasErrors).toBe(false);
});

test('each statement of a text, cut or doubled anywhere, never throws, and never loses the other triples map', async () => {
  const first = HEAD.length;
  for (let at = first; at < A_ONLY.length - 1; at += 7) {
    const cut = `${BOTH.slice(0, at)}${BOTH.slice(at + 3)}`;
    const found = await drawn(cut);
    expect({ at, found: found.length > 0 && found.join().includes('b: name town') }).toEqual({ at, found: true });
  }
});

test('a text with many errors ends', async () => {
  const many = HEAD + Array.from({ length: 80 }, (_, i) => map(`m${i}`).replace('ex:name', `x${i}:name`)).join('');
  const { document } = await readPartly(many);
  expect(document.text.text).toBe(many);
  expect(document.records.size).toBeGreaterThan(0);
});
