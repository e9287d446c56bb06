/** Prefixes of ontologies that are declared with the first use of a term. */
import { describe, expect, test } from '@jest/globals';
import { COMMANDS } from '../../../../studio/core/commands/all.ts';
import { withFirstUse } from '../../../../studio/core/commands/elements/first-use.ts';
import type { Id } from '../../../../studio/core/document.ts';
import { recordsOf } from '../../../../studio/core/elements/records.ts';
import { begin, perform, undo } from '../../../../studio/core/history/history.ts';
import { isRefusal } from '../../../../studio/core/rules/verdict.ts';
import { patch } from '../../../../studio/core/text/turtle/patch.ts';
import { ref } from '../support/model.ts';
import { changesOf, idOf, opened } from '../support/patching.ts';

const TEXT = `@prefix rml: <http://w3id.org/rml/> .
@prefix ex: <https://example.org/> .
<#Person> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "https://example.org/person/{id}" ] .
`;
const SHOP = 'https://terms.example/shop#';

/** The text after a class is added to its entity, where ontologies have these prefixes. */
async function withClass(iri: string, ...prefixes: readonly (readonly [string, string, string?])[]): Promise<string> {
  const document = await opened(TEXT);
  const command = withFirstUse(COMMANDS['add-class'], () => ({ prefixes, namespaces: new Map() }));
  const done = perform(begin(document), command, { id: idOf(document, 'entity', 'Person'), classes: [iri] }, patch);
  if (isRefusal(done)) throw new Error(done.sentence);
  expect(done.session.done).toHaveLength(1);
  expect(undo(done.session).document.text.text).toBe(TEXT);
  return done.session.document.text.text;
}

describe('a term of an ontology', () => {
  const short = TEXT.replace('<https://example.org/> .', `<https://example.org/> .\n@prefix shop: <${SHOP}> .`).replace(
    'person/{id}" ]',
    'person/{id}" ; rml:class shop:Member ]',
  );
  const whole = (iri: string): string => TEXT.replace('person/{id}" ]', `person/{id}" ; rml:class ${iri} ]`);

  test.each<[string, string, readonly (readonly [string, string])[], string]>([
    ['is written with its prefix', `${SHOP}Member`, [['shop', SHOP]], short],
    [
      'with the first that fits',
      `${SHOP}Member`,
      [
        ['other', 'https://other.example/'],
        ['shop', SHOP],
        ['s', SHOP],
      ],
      short,
    ],
    ['stays whole where the prefix means something else here', `${SHOP}Member`, [['ex', SHOP]], whole(`<${SHOP}Member>`)],
    ['stays whole where the prefix means something else to everybody', `${SHOP}Member`, [['foaf', SHOP]], whole(`<${SHOP}Member>`)],
    ['stays whole where no prefix fits', `${SHOP}a/Member`, [['shop', SHOP]], whole(`<${SHOP}a/Member>`)],
    ['takes a prefix that the mapping has', 'https://example.org/Member', [['e', 'https://example.org/']], whole('ex:Member')],
  ])('%s', async (_, iri, prefixes, expected) => {
    expect(await withClass(iri, ...prefixes)).toBe(expected);
  });

  test.each<[string, string, string, readonly (readonly [string, string])[]]>([
    ['its file', 'Shop.v2.ttl', 'shop', []],
    ['its file, without spaces', 'My shop_terms.ttl', 'my-shop-terms', []],
    ['a number, where the name of the file means something else here', 'ex.ttl', 'ns1', []],
    ['a number, where it means something else to everybody', 'foaf.ttl', 'ns1', []],
    ['a number, where the ontology has the name of its address', 'http://terms.example/shop/', 'ns1', []],
    ['a number, where the name is no prefix', '2026.ttl', 'ns1', []],
    ['another ontology that names it', 'shop.ttl', 's', [['s', SHOP]]],
  ])('whose prefix is empty is declared with the name of %s', async (_, ontology, name, others) => {
    const expected = TEXT.replace('<https://example.org/> .', `<https://example.org/> .\n@prefix ${name}: <${SHOP}> .`).replace(
      'person/{id}" ]',
      `person/{id}" ; rml:class ${name}:Member ]`,
    );
    expect(await withClass(`${SHOP}Member`, ['', SHOP, ontology], ...others)).toBe(expected);
  });

  test('takes another prefix of its ontology where the first one is taken', async () => {
    expect(await withClass(`${SHOP}Member`, ['ex', SHOP], ['shop', SHOP])).toBe(short);
  });

  test('declares nothing for what is used already, and nothing where something else changes', async () => {
    const document = await opened(TEXT.replace('person/{id}" ]', `person/{id}" ; rml:class <${SHOP}Member> ]`));
    const command = withFirstUse(COMMANDS.rename, () => ({ prefixes: [['shop', SHOP]], namespaces: new Map() }));
    const after = command.perform(document, { id: idOf(document, 'entity', 'Person'), name: 'Human' });
    if (isRefusal(after)) throw new Error(after.sentence);
    expect(recordsOf(after, 'prefix').map(({ name }) => name)).toEqual(['ex']);
  });
});

const XML = TEXT.replace('people.csv', 'feed.xml').replace('rml:CSV', 'rml:XPath ; rml:iterator "/feed/entry"');
const LEGACY = `@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix rml: <http://semweb.mmlab.be/ns/rml#> .
@prefix ql: <http://semweb.mmlab.be/ns/ql#> .
<#Person> rml:logicalSource [ rml:source "feed.xml" ; rml:referenceFormulation ql:XPath ; rml:iterator "/feed/entry" ] ;
  rr:subjectMap [ rr:template "https://example.org/person/{id}" ] .
`;
const FEED = 'http://feed.example/';

describe('a namespace of XML', () => {
  const add = async (text: string, at: string, found: Readonly<Record<string, string>>) => {
    const document = await opened(text);
    const [{ id: input }] = recordsOf(document, 'input') as unknown as [{ id: Id }];
    const command = withFirstUse(COMMANDS.connect, () => ({ prefixes: [], namespaces: new Map([[input, found]]) }));
    const from = { kind: 'element' as const, id: idOf(document, 'entity', 'Person') };
    const to = { kind: 'field' as const, ref: ref(`${input}:${at}`) };
    const options = { predicates: ['https://example.org/id'] };
    const done = perform(begin(document), command, { schema: new Map(), from, to, options }, patch);
    if (isRefusal(done)) throw new Error(done.sentence);
    expect(undo(done.session).document.text.text).toBe(text);
    return [changesOf(text, done.session.document.text.text), recordsOf(done.session.document, 'input')[0]?.namespaces] as const;
  };

  test('is declared with the first field that has its prefix', async () => {
    const [changes, namespaces] = await add(XML, 'feed.entry[*].f:id', { f: FEED, g: 'http://other.example/' });
    expect(namespaces).toEqual({ f: FEED });
    const text = changes.join('\n');
    expect(text).toMatch(/rml:namespacePrefix "f" ;\s+(?:\+ +)?rml:namespaceURL "http:\/\/feed.example\/"/);
    expect(text).toContain('rml:reference "f:id"');
  });

  test('is none where the language cannot say it: the document does', async () => {
    const [changes, namespaces] = await add(LEGACY, 'feed.entry[*].f:id', { f: FEED });
    expect(namespaces).toEqual({});
    expect(changes.join('\n')).toContain('rml:reference "f:id"');
    const document = await opened(LEGACY);
    const more = COMMANDS['add-input'].perform(document, {
      name: 'b.xml',
      location: { kind: 'file', path: 'b.xml' },
      format: 'xml',
      namespaces: { f: FEED },
    });
    expect(isRefusal(more) ? more : recordsOf(more, 'input').map((input) => input.namespaces)).toEqual([{}, {}]);
  });

  test('is not declared for fields without it', async () => {
    expect((await add(XML, 'feed.entry[*].id', { f: FEED }))[1]).toEqual({});
  });
});
