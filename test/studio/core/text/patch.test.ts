/** Drawn changes as edits of a text that the studio has not printed: what is edited, what stays, and what is refused. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { COMMANDS } from '../../../../studio/core/commands/all.ts';
import type { Id } from '../../../../studio/core/document.ts';
import { fieldsOf } from '../../../../studio/core/elements/expressions.ts';
import { nameOf } from '../../../../studio/core/elements/names.ts';
import { recordsOf } from '../../../../studio/core/elements/records.ts';
import type { Schema } from '../../../../studio/core/elements/schema.ts';
import { pathKey } from '../../../../studio/core/levels.ts';
import { print } from '../../../../studio/core/print/print.ts';
import { read } from '../../../../studio/core/read/read.ts';
import { share, sharedTest, soakTest, test } from '../../../support/jest/extent.ts';
import { Random, soakSeeds } from '../../../support/random.ts';
import { path } from '../support/model.ts';
import { changesOf, files, folder, follow, idOf, opened, schemaOf, textAfter } from '../support/patching.ts';
import { randomDocument } from '../support/random-document.ts';

const LEGACY = `# Orders of the shop
@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix rml: <http://semweb.mmlab.be/ns/rml#> .
@prefix ql: <http://semweb.mmlab.be/ns/ql#> .
@prefix ex: <https://example.org/> .   # ours

<#Order> a rr:TriplesMap ;
    rml:logicalSource [
        rml:source "orders.json" ; # nightly
        rml:referenceFormulation ql:JSONPath ;
        rml:iterator "$[*]" ] ;
    rr:subjectMap [ rr:template "https://example.org/order/{id}" ; rr:class ex:Order ] ; # one an order
    # the sum, with tax
    rr:predicateObjectMap [ rr:predicate ex:total ; # in euros
        rr:objectMap [ rml:reference "total" ] ] ;
    rr:predicateObjectMap [ rr:predicate ex:note ; rr:objectMap [ rml:reference "note" ] ] ; # free text
    rr:predicateObjectMap [ rr:predicateMap [ rr:template "https://example.org/{kind}" ] ; rr:object "kept" ] .

# People
<#Person> rml:logicalSource [ rml:source "people.csv" ; rml:referenceFormulation ql:CSV ] ;
    rr:subject ex:everybody ;
    rr:predicateObjectMap <#Name>, [ rr:predicate ex:knows, ex:likes ; rr:object ex:a, ex:b ] .
<#Name> rr:predicate ex:name ; rr:objectMap [ rml:reference "name" ] .
`;

describe('a foreign text', () => {
  test('keeps everything but the predicate that is changed', async () => {
    const document = await opened(LEGACY);
    const edge = idOf(document, 'edge', 'total');
    expect(changesOf(LEGACY, textAfter(document, COMMANDS['set-predicates'], { edge, predicates: ['https://example.org/sum'] }))).toEqual([
      '-     rr:predicateObjectMap [ rr:predicate ex:total ; # in euros',
      '+     rr:predicateObjectMap [ rr:predicate ex:sum ; # in euros',
    ]);
  });

  test('gets a datatype beside the reference', async () => {
    const document = await opened(LEGACY);
    const id = idOf(document, 'attribute', 'total');
    expect(changesOf(LEGACY, textAfter(document, COMMANDS['set-datatype'], { id, datatype: 'https://example.org/euro' }))).toEqual([
      '-         rr:objectMap [ rml:reference "total" ] ] ;',
      '+         rr:objectMap [ rml:reference "total" ; rr:datatype ex:euro ] ] ;',
    ]);
  });

  test('gets another class, and another identifier', async () => {
    const document = await opened(LEGACY);
    const id = idOf(document, 'entity', 'Order');
    expect(changesOf(LEGACY, textAfter(document, COMMANDS['add-class'], { id, classes: ['https://example.org/Sale'] }))).toEqual([
      '-     rr:subjectMap [ rr:template "https://example.org/order/{id}" ; rr:class ex:Order ] ; # one an order',
      '+     rr:subjectMap [ rr:template "https://example.org/order/{id}" ; rr:class ex:Order, ex:Sale ] ; # one an order',
    ]);
    const { input } = recordsOf(document, 'entity')[0] as { input: Id };
    const identifier = {
      kind: 'template' as const,
      parts: ['https://example.org/o/', { input, path: [{ each: true as const }, { name: 'id' }] }],
    };
    expect(changesOf(LEGACY, textAfter(document, COMMANDS['set-identifier'], { id, identifier }))).toEqual([
      '-     rr:subjectMap [ rr:template "https://example.org/order/{id}" ; rr:class ex:Order ] ; # one an order',
      '+     rr:subjectMap [ rr:template "https://example.org/o/{$.id}" ; rr:class ex:Order ] ; # one an order',
    ]);
  });

  test('loses an edge with the comment on its line, and no other comment', async () => {
    const document = await opened(LEGACY);
    expect(changesOf(LEGACY, textAfter(document, COMMANDS.remove, { ids: [idOf(document, 'edge', 'note')] }))).toEqual([
      '-     rr:predicateObjectMap [ rr:predicate ex:note ; rr:objectMap [ rml:reference "note" ] ] ; # free text',
    ]);
  });

  test('gets a new edge in the writing of its neighbours', async () => {
    const document = await opened(LEGACY);
    const { input } = recordsOf(document, 'entity')[0] as { input: Id };
    const schema: Schema = new Map();
    const from = { kind: 'element' as const, id: idOf(document, 'entity', 'Order') };
    const to = { kind: 'field' as const, ref: { input, path: [{ each: true as const }, { name: 'date' }] } };
    expect(
      changesOf(LEGACY, textAfter(document, COMMANDS.connect, { schema, from, to, options: { predicates: ['https://example.org/date'] } })),
    ).toEqual([
      '-     rr:predicateObjectMap [ rr:predicateMap [ rr:template "https://example.org/{kind}" ] ; rr:object "kept" ] .',
      '+     rr:predicateObjectMap [ rr:predicateMap [ rr:template "https://example.org/{kind}" ] ; rr:object "kept" ] ;',
      '+     rr:predicateObjectMap [ rr:predicate ex:date ; rr:objectMap [ rml:reference "$.date" ] ] .',
    ]);
  });

  test('with a separate node is edited there; a shared one stays, and what changes is written out where it is used', async () => {
    const document = await opened(LEGACY);
    const edge = idOf(document, 'edge', 'name');
    expect(changesOf(LEGACY, textAfter(document, COMMANDS['set-predicates'], { edge, predicates: ['https://example.org/label'] }))).toEqual(
      [
        '- <#Name> rr:predicate ex:name ; rr:objectMap [ rml:reference "name" ] .',
        '+ <#Name> rr:predicate ex:label ; rr:objectMap [ rml:reference "name" ] .',
      ],
    );
    const shared = `${LEGACY}<#Other> rml:logicalSource [ rml:source "people.csv" ; rml:referenceFormulation ql:CSV ] ;
    rr:subject ex:others ; rr:predicateObjectMap <#Name> .\n`;
    const twice = await opened(shared);
    const [first] = recordsOf(twice, 'edge').filter(({ id }) => nameOf(twice, id) === 'name');
    const label = { edge: first?.id as Id, predicates: ['https://example.org/label'] };
    expect(changesOf(shared, textAfter(twice, COMMANDS['set-predicates'], label))).toEqual([
      '-     rr:predicateObjectMap <#Name>, [ rr:predicate ex:knows, ex:likes ; rr:object ex:a, ex:b ] .',
      '+     rr:predicateObjectMap [ rr:predicate ex:label ; rr:objectMap [ rml:reference "name" ] ], [ rr:predicate ex:knows, ex:likes ; rr:object ex:a, ex:b ] .',
    ]);
  });

  test('gets a prefix, and another name of one', async () => {
    const document = await opened(LEGACY);
    expect(changesOf(LEGACY, textAfter(document, COMMANDS['add-prefix'], { name: 's', iri: 'https://schema.org/' }))).toEqual([
      '- @prefix ex: <https://example.org/> .   # ours',
      '+ @prefix ex: <https://example.org/> .',
      '+ @prefix s: <https://schema.org/> .   # ours',
    ]);
    const id = idOf(document, 'prefix', 'ex');
    const renamed = textAfter(document, COMMANDS['rename-prefix'], { id, name: 'shop' });
    expect(renamed).toBe(LEGACY.replaceAll('ex:', 'shop:'));
    expect(textAfter(document, COMMANDS['remove-prefix'], { id })).toMatchObject({ sentence: 'The prefix ex is used in the text.' });
  });

  test('is left alone where blocks are moved', async () => {
    const document = await opened(LEGACY);
    const of = idOf(document, 'entity', 'Order');
    expect(textAfter(document, COMMANDS.move, { positions: [{ of, x: 5, y: 5 }] })).toBe(LEGACY);
  });

  test('says so where what is kept as text would go', async () => {
    const document = await opened(LEGACY);
    const gone = textAfter(document, COMMANDS.remove, { ids: [idOf(document, 'entity', 'Order')] });
    expect(gone).toMatchObject({ sentence: 'Order has parts that are kept as text. Remove it in the text.' });
  });
});

const VIEW = `@prefix rml: <http://w3id.org/rml/> .
@prefix ex: <https://example.org/> .

# lines of orders
<#orders> a rml:LogicalView ; rml:viewOn [
    rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "orders.json" ] ;
    rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]" ] ;
  rml:field [ rml:fieldName "number" ; rml:reference "$.id" ] ; # unique
  rml:field [ rml:fieldName "line" ; rml:iterator "$.lines[*]" ; rml:field [ rml:fieldName "article" ; rml:reference "$.sku" ] ] .
<#Line> rml:logicalSource <#orders> ;
  rml:subjectMap [ rml:template "https://example.org/line/{number}-{line.article}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:sku ; rml:objectMap [ rml:reference "line.article" ] ] . # the article
`;

describe('a foreign logical view', () => {
  test('is drawn by what its names mean', async () => {
    const document = await opened(VIEW);
    expect(recordsOf(document, 'text')).toEqual([]);
    const [line] = recordsOf(document, 'entity');
    expect(line && pathKey(line.level)).toBe('*/.lines/*');
    expect(recordsOf(document, 'attribute').map(({ value }) => fieldsOf(value).map(({ path }) => pathKey(path)))).toEqual([
      ['*/.lines/*/.sku'],
    ]);
  });

  test('keeps its names while predicates, datatypes and classes change', async () => {
    const document = await opened(VIEW);
    const [edge, attribute, entity] = [idOf(document, 'edge', 'sku'), idOf(document, 'attribute', 'sku'), idOf(document, 'entity', 'Line')];
    expect(textAfter(document, COMMANDS['set-predicates'], { edge, predicates: ['https://example.org/code'] })).toBe(
      VIEW.replace('ex:sku', 'ex:code'),
    );
    expect(textAfter(document, COMMANDS['set-datatype'], { id: attribute, datatype: 'https://example.org/code' })).toBe(
      VIEW.replace('"line.article" ]', '"line.article" ; rml:datatype ex:code ]'),
    );
    expect(textAfter(document, COMMANDS['add-class'], { id: entity, classes: ['https://example.org/Line'] })).toBe(
      VIEW.replace('{line.article}" ]', '{line.article}" ; rml:class ex:Line ]'),
    );
    expect(textAfter(document, COMMANDS.remove, { ids: [edge] })).toBe(
      VIEW.replace(/ ;\n {2}rml:predicateObjectMap \[ rml:predicate ex:sku.*\n/, ' . # the article\n'),
    );
  });

  test('is not read in another way: its names are those of the text', async () => {
    const document = await opened(VIEW);
    const { input } = recordsOf(document, 'entity')[0] as { input: Id };
    const from = { kind: 'element' as const, id: idOf(document, 'entity', 'Line') };
    const to = { kind: 'field' as const, ref: { input, path: path('[*].lines[*].qty') } };
    const options = { predicates: ['https://example.org/qty'] };
    expect(textAfter(document, COMMANDS.connect, { schema: new Map(), from, to, options })).toMatchObject({
      sentence: 'This logical view was written in the text, which names its fields and its source. Change it there.',
    });
  });
});

describe('after random commands', () => {
  sharedTest.each(share(20, soakSeeds(1, 200)))('a random text says what is drawn: seed %i', async (seed) => {
    const random = new Random(seed);
    const original = randomDocument(random, random.pick(['rml', 'legacy', 'r2rml'] as const));
    const { text } = await print(original, original.language);
    if (text === undefined || text === '') return;
    const document = await opened(text);
    await follow(document, random, schemaOf(document), 25);
  });
});

const suites = folder === undefined ? soakTest.skip : soakTest;

describe('the mappings of public suites (skipped where CONFORMANCE_CASES names no folder)', () => {
  suites('say what is drawn after random commands', async () => {
    let written = 0;
    for (const [i, file] of files.entries()) {
      const text = readFileSync(join(folder as string, file), 'utf8').replaceAll('CONNECTIONDSN', 'jdbc:mysql://localhost/test');
      const { document, diagnostics } = await read(text, undefined);
      const isDrawn = recordsOf(document, 'entity').length > 0;
      if (!isDrawn || document.language === 'yarrrml' || diagnostics.some(({ severity }) => severity === 'error')) continue;
      try {
        written += await follow(document, new Random(i), schemaOf(document), 12);
      } catch (error) {
        throw new Error(`${file}: ${(error as Error).message}`, { cause: error });
      }
    }
    process.stdout.write(`${written} changes of ${files.length} texts\n`);
    expect(written).toBeGreaterThan(files.length);
  });
});
