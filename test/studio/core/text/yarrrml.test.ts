/** Drawn changes as edits of a text of YARRRML: comments, order, short forms and all that has not changed stay. */
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { beforeAll, describe, expect } from '@jest/globals';
import { convertMapping } from '../../../../src/mapping/convert/convert.ts';
import { COMMANDS } from '../../../../studio/core/commands/all.ts';
import type { Id } from '../../../../studio/core/document.ts';
import { baseOf } from '../../../../studio/core/elements/base.ts';
import { recordsOf } from '../../../../studio/core/elements/records.ts';
import { print } from '../../../../studio/core/print/print.ts';
import { read } from '../../../../studio/core/read/read.ts';
import { loadPatch } from '../../../../studio/core/text/yarrrml/patch.ts';
import { share, sharedTest, soakTest, test } from '../../../support/jest/extent.ts';
import { Random, soakSeeds } from '../../../support/random.ts';
import { path } from '../support/model.ts';
import { changesOf, files, folder, follow, idOf, opened, schemaOf, textAfter } from '../support/patching.ts';
import { randomDocument } from '../support/random-document.ts';

beforeAll(loadPatch);

const SHOP = `# Orders of the shop
prefixes:
  ex: https://example.org/ # ours

sources:
  orders: ['orders.json~jsonpath', '$[*]'] # nightly

mappings:
  # one an order
  order:
    sources: orders
    s: ex:order/$(id)
    po:
      - [a, ex:Order] # the class
      # the sum, with tax
      - [ex:total, $(total), xsd:decimal]
      - p: ex:note # free text
        o:
          value: "$(note)"
          language: en
      - predicates: [ex:by, ex:buyer]
        objects:
          - ex:customer/$(customer.id)~iri
          - value: ex:person/$(customer.id) # the same person
            type: iri

  people:
    source:
      - access: people.csv
        referenceFormulation: csv
        delimiter: ;
    subject: ex:person/$(id)
    predicateobjects:
      - predicates: foaf:knows
        objects:
          - mapping: order # by key
            condition: {function: equal, parameters: [[str1, $(order), s], [str2, $(id), o]]}
      - [[ex:$(kind), ex:kind], kept]
# The end
`;

const iri = (name: string): string => `https://example.org/${name}`;

describe('a text that was written by hand', () => {
  const changed = async (act: (document: Awaited<ReturnType<typeof opened>>) => ReturnType<typeof textAfter>): Promise<readonly string[]> =>
    changesOf(SHOP, act(await opened(SHOP)));

  test('keeps everything but the predicate that is changed', async () => {
    expect(
      await changed((document) =>
        textAfter(document, COMMANDS['set-predicates'], { edge: idOf(document, 'edge', 'note'), predicates: [iri('remark')] }),
      ),
    ).toEqual(['-       - p: ex:note # free text', '+       - p: ex:remark # free text']);
  });

  test('gets another datatype, and none', async () => {
    const total = (datatype: string | undefined) => (document: Awaited<ReturnType<typeof opened>>) =>
      textAfter(document, COMMANDS['set-datatype'], { id: idOf(document, 'attribute', 'total'), datatype });
    expect(await changed(total(iri('euro')))).toEqual([
      '-       - [ex:total, $(total), xsd:decimal]',
      '+       - [ex:total, $(total), ex:euro]',
    ]);
    expect(await changed(total(undefined))).toEqual(['-       - [ex:total, $(total), xsd:decimal]', '+       - [ex:total, $(total)]']);
  });

  test('gets another identifier, and classes beside the one that it has', async () => {
    expect(
      await changed((document) =>
        textAfter(document, COMMANDS['set-identifier'], {
          id: idOf(document, 'entity', 'order'),
          identifier: {
            kind: 'template',
            parts: [iri('sale/'), { input: recordsOf(document, 'input')[0]?.id as Id, path: path('[*].id') }],
          },
        }),
      ),
    ).toEqual(['-     s: ex:order/$(id)', '+     s: ex:sale/$($.id)']);
    expect(
      await changed((document) =>
        textAfter(document, COMMANDS['add-class'], { id: idOf(document, 'entity', 'order'), classes: [iri('Sale')] }),
      ),
    ).toEqual(['-       - [a, ex:Order] # the class', '+       - [a, [ex:Order, ex:Sale]] # the class']);
  });

  test('loses an edge with the comment on its line, and no other comment', async () => {
    expect(await changed((document) => textAfter(document, COMMANDS.remove, { ids: [idOf(document, 'edge', 'total')] }))).toEqual([
      '-       - [ex:total, $(total), xsd:decimal]',
    ]);
  });

  test('gets a new edge behind the others, in their list', async () => {
    expect(
      await changed((document) => {
        const { input } = recordsOf(document, 'entity')[0] as { input: Id };
        const from = { kind: 'element' as const, id: idOf(document, 'entity', 'order') };
        const to = { kind: 'field' as const, ref: { input, path: path('[*].date') } };
        return textAfter(document, COMMANDS.connect, { schema: new Map(), from, to, options: { predicates: [iri('date')] } });
      }),
    ).toEqual(['+       - [ex:date, $($.date)]']);
  });

  test('gets a mapping in its writing, and loses one', async () => {
    const document = await opened(SHOP);
    const id = idOf(document, 'entity', 'order');
    const grown = textAfter(document, COMMANDS.duplicate, { ids: [id] });
    expect(typeof grown).toBe('string');
    expect(changesOf(SHOP, grown).every((line) => line.startsWith('+ '))).toBe(true);
    expect(grown).toContain('    sources: [orders]\n    s: ex:order/$($.id)\n');
    const people = textAfter(document, COMMANDS.remove, { ids: [idOf(document, 'entity', 'people')] });
    expect(people).toMatchObject({ sentence: 'people has parts that are kept as text. Remove it in the text.' });
  });

  test('gets a prefix, and another name of one, wherever it is used', async () => {
    expect(await changed((document) => textAfter(document, COMMANDS['add-prefix'], { name: 's', iri: 'https://schema.org/' }))).toEqual([
      '+   s: https://schema.org/',
    ]);
    const document = await opened(SHOP);
    const id = idOf(document, 'prefix', 'ex');
    expect(textAfter(document, COMMANDS['rename-prefix'], { id, name: 'shop' })).toBe(SHOP.replaceAll('ex:', 'shop:'));
    expect(textAfter(document, COMMANDS['remove-prefix'], { id })).toMatchObject({ sentence: 'The prefix ex is used in the text.' });
  });

  test('is left alone where blocks are moved', async () => {
    const document = await opened(SHOP);
    expect(textAfter(document, COMMANDS.move, { positions: [{ of: idOf(document, 'entity', 'order'), x: 5, y: 5 }] })).toBe(SHOP);
  });

  test('changes a source where it is named, for all who name it', async () => {
    expect(
      await changed((document) =>
        textAfter(document, COMMANDS['relocate-input'], {
          id: recordsOf(document, 'input')[0]?.id as Id,
          location: { kind: 'file', path: 'orders-2026.json' },
        }),
      ),
    ).toEqual(["-   orders: ['orders.json~jsonpath', '$[*]'] # nightly", "+   orders: ['orders-2026.json~jsonpath', '$[*]'] # nightly"]);
  });

  test('is not changed where a value is used twice', async () => {
    const text = `mappings:
  a: &rules
    sources: [['people.csv~csv']]
    s: http://e/$(id)
    po:
      - [http://e/name, $(name)]
  b:
    <<: *rules
    s: http://f/$(id)
`;
    const document = await opened(text);
    const [edge] = recordsOf(document, 'edge');
    expect(textAfter(document, COMMANDS['set-predicates'], { edge: edge?.id as Id, predicates: [iri('label')] })).toMatchObject({
      sentence: expect.stringMatching(/^The text says this together with something else, such as a value that is used twice\./),
    });
  });
});

const SEVERAL = `prefixes:
  ex: https://example.org/
mappings:
  # people of two towns
  person:
    sources:
      - [basel.csv~csv]
      - [bern.csv~csv]
    s: [ex:person/$(id), ex:member/$(id)]
    po:
      - [ex:name, $(name)] # as they say it
      - [ex:age, $(age), xsd:integer]
`;

describe('a mapping with several sources and subjects', () => {
  const edges = (document: Awaited<ReturnType<typeof opened>>, name: string): readonly Id[] =>
    recordsOf(document, 'edge').flatMap(({ id, predicates }) => (predicates.includes(iri(name)) ? [id] : []));

  test('loses a rule that all of them lose', async () => {
    const document = await opened(SEVERAL);
    const ids = edges(document, 'age');
    expect(ids).toHaveLength(4);
    expect(changesOf(SEVERAL, textAfter(document, COMMANDS.remove, { ids }))).toEqual(['-       - [ex:age, $(age), xsd:integer]']);
  });

  test('gets another place of one source, for both subjects', async () => {
    const document = await opened(SEVERAL);
    const [, { id }] = recordsOf(document, 'input') as unknown as [unknown, { id: Id }];
    const moved = textAfter(document, COMMANDS['relocate-input'], { id, location: { kind: 'file', path: 'berne.csv' } });
    expect(changesOf(SEVERAL, moved)).toEqual(['-       - [bern.csv~csv]', '+       - [berne.csv~csv]']);
  });

  test('gets another subject where it has one source', async () => {
    const text = SEVERAL.replace('      - [bern.csv~csv]\n', '');
    const document = await opened(text);
    const [, second] = recordsOf(document, 'entity');
    const { id, input } = second as { id: Id; input: Id };
    const identifier = { kind: 'template' as const, parts: [iri('guest/'), { input, path: path('id') }] };
    expect(changesOf(text, textAfter(document, COMMANDS['set-identifier'], { id, identifier }))).toEqual([
      '-     s: [ex:person/$(id), ex:member/$(id)]',
      '+     s: [ex:person/$(id), ex:guest/$(id)]',
    ]);
  });

  test('keeps its text where one of them is to change, and its writing out is offered', async () => {
    const document = await opened(SEVERAL);
    const [edge] = edges(document, 'name') as [Id];
    const [entity] = recordsOf(document, 'entity') as unknown as [{ id: Id }];
    const refusal = {
      ok: false,
      sentence: 'The rules of the mapping person are those of all its sources and subjects, and this would change only some of them.',
      instead: { command: 'write-out' },
    };
    expect(textAfter(document, COMMANDS['set-predicates'], { edge, predicates: [iri('label')] })).toMatchObject(refusal);
    expect(textAfter(document, COMMANDS.remove, { ids: [entity.id] })).toMatchObject(refusal);
  });
});

test('no comment is lost when a text is written out', async () => {
  const text = `# first\n\n# of prefixes\nprefixes: # here\n  ex: http://example.org/\n\n# alone\n\n${SEVERAL.slice(SEVERAL.indexOf('mappings:')).trimEnd()}
    # at the end of a mapping\n\n# last\n`;
  const { text: out } = await convertMapping([{ name: 'm.yml', text }], 'yarrrml', { baseIri: baseOf('yarrrml', undefined) });
  for (const comment of text.match(/# .*$/gm) ?? []) expect(out).toContain(comment);
});

const TEXTS: Readonly<Record<string, string>> = {
  'several sources and subjects': SEVERAL,
  shop: SHOP,
  'in brackets': `prefixes: {ex: "http://example.org/"}
mappings: {person: {sources: [['people.csv~csv']], s: "ex:$(id)", po: [[a, ex:Person], [ex:name, $(name), en~lang]]}}
`,
  'one rule': `mappings:
  person:
    sources: [['people.csv~csv']]
    s: http://example.org/$(id)
    po: [foaf:name, $(name)]
  town:
    sources: [['people.csv~csv']]
    s: http://example.org/town/$(city)
    po:
      p: foaf:name # of the town
      o: $(city)
`,
  'lines that end as on Windows': SHOP.replaceAll('\n', '\r\n'),
  'no line at the end': SHOP.replace('# The end\n', '').trimEnd(),
  'functions, graphs and quotes': `prefixes:
  ex: http://example.org/
  grel: http://users.ugent.be/~bjdmeest/function/grel.ttl#
mappings:
  person:
    sources:
      - ['people.csv~csv']
    s: 'ex:$(id)'
    g: ex:people
    po:
      - p: 'ex:name'   # in capitals
        o:
          f: grel:toUpperCase
          pms: [[grel:valueParameter, "$(name)"]]
      - p: ex:city
        o: $(city)
        graphs: [ex:cities]
      # kept
      - p: ex:other
        o: $(other)
        condition: {function: grel:string_contains, parameters: [[grel:valueParameter, $(other)], [grel:string_sub, x]]}
  absent:
    sources:
      - ['people.csv~csv']
    po:
    - [a, ex:Absent]
    - [ex:name, $(name)]
`,
};

describe('after random commands a text says what is drawn', () => {
  for (const [name, text] of Object.entries(TEXTS))
    sharedTest.each(share(5, soakSeeds(1, 60)))(`${name}: seed %i`, async (seed) => {
      const document = await opened(text, 'yarrrml');
      await follow(document, new Random(seed), schemaOf(document), 15);
    });

  sharedTest.each(share(10, soakSeeds(1, 150)))('a model that was converted: seed %i', async (seed) => {
    const random = new Random(seed);
    const original = randomDocument(random, random.pick(['legacy', 'r2rml'] as const));
    const { text } = await print({ ...original, language: 'yarrrml' }, 'yarrrml');
    if (text === undefined || text === '') return;
    const document = await opened(text, 'yarrrml');
    await follow(document, random, schemaOf(document), 20);
  });
});

const suites = folder === undefined ? soakTest.skip : soakTest;

describe('the mappings of public suites, as YARRRML (skipped where CONFORMANCE_CASES names no folder)', () => {
  suites('say what is drawn after random commands', async () => {
    let [texts, written] = [0, 0];
    for (const [i, file] of files.entries()) {
      const given = readFileSync(join(folder as string, file), 'utf8').replaceAll('CONNECTIONDSN', 'jdbc:mysql://localhost/test');
      const isYarrrml = /^\.ya?ml$/.test(extname(file));
      const name = isYarrrml ? 'a.yml' : 'a.ttl';
      const text = isYarrrml
        ? given
        : (await convertMapping([{ name, text: given }], 'yarrrml', { baseIri: baseOf('yarrrml', undefined) })).text;
      if (text === undefined) continue;
      const { document, diagnostics } = await read(text, 'yarrrml');
      if (recordsOf(document, 'entity').length === 0 || diagnostics.some(({ severity }) => severity === 'error')) continue;
      texts++;
      try {
        written += await follow(document, new Random(i), schemaOf(document), 12);
      } catch (error) {
        throw new Error(`${file}: ${(error as Error).message}`, { cause: error });
      }
    }
    process.stdout.write(`${written} changes of ${texts} texts of YARRRML\n`);
    expect(written).toBeGreaterThan(texts);
  });
});
