/** Side files: a model that is saved and opened again is the same, and a side file that does not fit does no harm. */
import { describe, expect } from '@jest/globals';
import { COMMANDS } from '../../../../studio/core/commands/all.ts';
import { findingsIn } from '../../../../studio/core/commands/invariants.ts';
import type { Element, Input, StudioDocument } from '../../../../studio/core/document.ts';
import { readEdited } from '../../../../studio/core/edit/edit.ts';
import { apartBy, restored, sideOf } from '../../../../studio/core/edit/side.ts';
import { NOTHING_SHOWN } from '../../../../studio/core/edit/side-file.ts';
import { recordsOf } from '../../../../studio/core/elements/records.ts';
import { print } from '../../../../studio/core/print/print.ts';
import { read } from '../../../../studio/core/read/read.ts';
import { isRefusal } from '../../../../studio/core/rules/verdict.ts';
import { share, sharedTest, test } from '../../../support/jest/extent.ts';
import { Random, soakSeeds } from '../../../support/random.ts';
import { RandomCommands } from '../support/random-command.ts';
import { randomDocument } from '../support/random-document.ts';
import { SHOP_SCHEMA, shop } from '../support/shop.ts';

const parsed = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Whether it can be saved, and its text is drawn: what random commands write may have errors. */
async function isValid(document: StudioDocument): Promise<boolean> {
  const { text } = await print(document, document.language);
  if (text === undefined) return false;
  const found = await read(text, undefined);
  const isRead = found.diagnostics.every(({ severity }) => severity !== 'error') && recordsOf(found.document, 'text').length === 0;
  return text === '' || isRead;
}

/** What the service keeps, opened. */
async function openedAgain(document: StudioDocument): Promise<StudioDocument> {
  const { text = '' } = await print(document, document.language);
  const side = parsed(sideOf(document, SHOP_SCHEMA, NOTHING_SHOWN));
  return restored((await read(text, undefined, apartBy(side))).document, side).document;
}

const places = (document: StudioDocument): unknown =>
  recordsOf(document, 'place')
    .map(({ of, x, y, pinned }) => [of, x, y, pinned])
    .sort();

const nameIn =
  ({ records }: StudioDocument) =>
  ({ id }: Element): unknown => {
    const found = records.get(id);
    return found?.kind === 'entity' || found?.kind === 'input' ? found.name : undefined;
  };

const placeIn =
  (document: StudioDocument) =>
  ({ id }: Element): unknown =>
    recordsOf(document, 'place').find(({ of }) => of === id);

async function printed(): Promise<{ readonly document: StudioDocument; readonly text: string }> {
  const document = randomDocument(new Random(5), 'rml');
  const { text } = await print(document, 'rml');
  if (text === undefined) throw new Error('it cannot be printed');
  return { document, text };
}

describe('a model that is saved and opened again', () => {
  sharedTest.each(share(6, soakSeeds(1, 60)))('has its places, names and incomplete elements: seed %i', async (seed) => {
    const random = new Random(seed);
    const commands = new RandomCommands(random, SHOP_SCHEMA);
    let document = randomDocument(random, random.pick(['rml', 'legacy', 'yarrrml'] as const));
    for (let i = 0; i < 15; i++) {
      const { command, argument } = commands.next(document, ['edit-text', 'set-grouping']);
      const after = command.perform(document, argument);
      if (!isRefusal(after) && (await isValid(after))) document = after;
      if (random.chance(0.4)) {
        const block = random.pick([...recordsOf(document, 'entity'), ...recordsOf(document, 'input')]);
        const moved = COMMANDS.move.perform(document, { positions: [{ of: block.id, x: i * 10, y: i }] });
        if (!isRefusal(moved)) document = moved;
      }
    }
    const again = await openedAgain(document);
    expect(findingsIn(again).filter(({ severity }) => severity === 'error')).toEqual([]);
    const kept = [...document.records.values()].filter(({ kind }) => kind === 'input' || kind === 'entity');
    expect(kept.map(nameIn(again))).toEqual(kept.map(nameIn(document)));
    expect(kept.map(placeIn(again))).toEqual(kept.map(placeIn(document)));
    const loose = recordsOf(document, 'edge').filter(
      ({ predicates, from, to }) => predicates.length === 0 && [from, to].every((id) => again.records.has(id)),
    );
    expect(loose.filter(({ id }) => !again.records.has(id))).toEqual([]);
    expect([again.expert, again.rejected ?? []]).toEqual([document.expert, document.rejected ?? []]);
  });

  test('has triples maps of one subject apart, as they were shown, also while the text is edited, until they are one again', async () => {
    const text = `@prefix rml: <http://w3id.org/rml/> .
@prefix ex: <http://example.org/> .
<#people> rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV .
<#Name> rml:logicalSource <#people> ; rml:subjectMap [ rml:template "http://example.org/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] .
<#Age> rml:logicalSource <#people> ; rml:subjectMap [ rml:template "http://example.org/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:age ; rml:objectMap [ rml:reference "age" ] ] .
`;
    const opened = async (of: string, side: unknown): Promise<StudioDocument> =>
      restored((await read(of, undefined, apartBy(side))).document, side).document;
    const saved = (document: StudioDocument): unknown => parsed(sideOf(document, new Map(), NOTHING_SHOWN));
    const partsIn = (document: StudioDocument): unknown => recordsOf(document, 'entity').map(({ id, name, parts }) => [id, name, parts]);
    const one = await opened(text, undefined);
    const [entity] = recordsOf(one, 'entity');
    const split = COMMANDS['split-part'].perform(one, { id: entity?.id as string, part: '#Age' });
    if (isRefusal(split)) throw new Error(split.sentence);
    expect(recordsOf(split, 'entity').map(({ parts }) => parts)).toEqual([['#Name'], ['#Age']]);
    const again = await opened(text, saved(split));
    expect(partsIn(again)).toEqual(partsIn(split));
    const edited = (await readEdited(again, text.replace('ex:age', 'ex:years'))).document;
    expect(partsIn(edited)).toEqual(partsIn(split));
    const merged = COMMANDS['merge-parts'].perform(edited, { ids: recordsOf(edited, 'entity').map(({ id }) => id) });
    if (isRefusal(merged)) throw new Error(merged.sentence);
    expect(recordsOf(await opened(text, saved(merged)), 'entity').map(({ parts }) => parts)).toEqual([['#Name', '#Age']]);
  });

  test('has the blocks that were not moved where the layout has put them, and what was unfolded', async () => {
    const { document, text } = await printed();
    const [first, ...others] = recordsOf(document, 'entity').map(({ id }) => id) as [string, ...string[]];
    const [input] = recordsOf(document, 'input').map(({ id }) => id) as [string];
    const shown = {
      points: new Map([...others, 'gone'].map((id, i) => [id, { x: 100 * i, y: 7 }])),
      all: new Set([input, 'gone']),
      open: new Set([`${input}:*/.lines`, 'gone:*']),
    };
    const moved = COMMANDS.move.perform(document, { positions: [{ of: first, x: 5, y: 6 }] });
    if (isRefusal(moved)) throw new Error(moved.sentence);
    const side = parsed(sideOf(moved, SHOP_SCHEMA, shown));
    const again = restored((await read(text, undefined)).document, side);
    expect(places(again.document)).toEqual([[first, 5, 6, true], ...others.map((id, i) => [id, 100 * i, 7, false])].sort());
    expect([...again.shown.all]).toEqual([input]);
    expect([...again.shown.open]).toEqual([`${input}:*/.lines`]);
  });

  test('keeps names and kinds of fields, and no values', () => {
    const document = shop();
    const text = JSON.stringify(sideOf(document, SHOP_SCHEMA, NOTHING_SHOWN));
    const examples = [...SHOP_SCHEMA.values()].flatMap((fields) => [...fields.values()].flatMap(({ sample }) => sample?.examples ?? []));
    for (const example of examples) expect(text).not.toContain(JSON.stringify(example));
    const { schema } = restored(document, parsed(JSON.parse(text)));
    for (const [id, fields] of SHOP_SCHEMA)
      expect([...(schema.get(id)?.keys() ?? [])]).toEqual(document.records.has(id) ? [...fields.keys()] : []);
  });

  test('a password stays in the text alone', async () => {
    const text = `@prefix rml: <http://w3id.org/rml/> . @prefix d2rq: <http://www.wiwiss.fu-berlin.de/suhl/bizer/D2RQ/0.1#> .
<#P> rml:logicalSource [ rml:source [ a d2rq:Database ; d2rq:jdbcDSN "jdbc:postgresql://db/x" ; d2rq:username "u" ; d2rq:password "secret-word" ] ;
  rml:referenceFormulation rml:SQL2008Table ; rml:iterator "people" ] ; rml:subjectMap [ rml:template "http://example.org/{id}" ; rml:class rml:X ] .`;
    const { document } = await read(text, undefined);
    const side = sideOf(document, new Map(), NOTHING_SHOWN);
    expect(JSON.stringify(side)).not.toContain('secret-word');
    const again = restored(document, parsed(side)).document;
    expect(recordsOf(again, 'input')[0]?.location).toMatchObject({ database: { password: 'secret-word' } });
  });
});

describe('a text that was changed past the studio', () => {
  test('is drawn as it is now, with the places of what is still there', async () => {
    const { document, text } = await printed();
    const positions = recordsOf(document, 'entity').map(({ id }, i) => ({ of: id, x: 300 * i, y: 40 }));
    const moved = COMMANDS.move.perform(document, { positions });
    if (isRefusal(moved)) throw new Error(moved.sentence);
    const side = parsed(sideOf(moved, SHOP_SCHEMA, NOTHING_SHOWN));
    const name = /<[^<>]*>(?= rml:logicalSource)/.exec(text)?.[0] as string;
    const found = (await read(text.replaceAll(name, '<Other>'), undefined)).document;
    const again = restored(found, side).document;
    expect(findingsIn(again).filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(recordsOf(again, 'place').map(({ of }) => of)).toEqual(positions.map(({ of }) => of));
    expect(recordsOf(again, 'entity').flatMap(({ parts }) => parts)).toContain('Other');
  });
});

describe('a side file that does not fit says nothing', () => {
  const document = shop();
  const good = parsed(sideOf(document, SHOP_SCHEMA, NOTHING_SHOWN)) as Record<string, unknown> & { elements: Element[] };
  const [entity] = recordsOf(document, 'entity');
  const input = recordsOf(document, 'input')[0] as Input;
  test.each<[string, unknown]>([
    ['none', null],
    ['a text', 'places'],
    ['another version', { ...good, version: 2 }],
    ['another tool’s', { blocks: [] }],
    ['no elements', { ...good, elements: undefined }],
    ['an element of an unknown kind', { ...good, elements: [{ kind: 'constructor', id: 'a' }] }],
    ['an element without fields', { ...good, elements: [{ kind: 'entity', id: 'a' }] }],
    ['an entity without its input', { ...good, elements: [entity] }],
    ['a place that is no number', { ...good, points: { [entity?.id as string]: ['1', 2] } }],
    ['a step that is none', { ...good, elements: [{ ...entity, level: [{ index: -1 }] }, input] }],
    ['fields of no kind', { ...good, fields: { [input.id]: [[[], 'value', 'script']] } }],
  ])('%s', (_, side) => {
    const { document: after, schema } = restored(document, side);
    expect(after).toBe(document);
    expect(schema.size).toBe(0);
  });

  test('the good one does', () => {
    expect(restored(document, good).schema.size).toBeGreaterThan(0);
  });
});
