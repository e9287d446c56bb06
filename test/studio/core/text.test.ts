/** The text as it is edited: what is found again, what stays that no text says, and texts that are half typed. */
import { describe, expect } from '@jest/globals';
import { COMMANDS } from '../../../studio/core/commands/all.ts';
import { move } from '../../../studio/core/commands/canvas/places.ts';
import type { Command } from '../../../studio/core/commands/command.ts';
import { addAttribute } from '../../../studio/core/commands/elements/attributes.ts';
import { findingsIn } from '../../../studio/core/commands/invariants.ts';
import type { StudioDocument } from '../../../studio/core/document.ts';
import { readEdited } from '../../../studio/core/edit/edit.ts';
import { nameOf } from '../../../studio/core/elements/names.ts';
import { recordsOf } from '../../../studio/core/elements/records.ts';
import { begin, perform, redo, type Session, undo } from '../../../studio/core/history/history.ts';
import { print } from '../../../studio/core/print/print.ts';
import { read } from '../../../studio/core/read/read.ts';
import { isRefusal } from '../../../studio/core/rules/verdict.ts';
import { soakTest, test } from '../../support/jest/extent.ts';
import { shop } from './support/shop.ts';

const TEXT = `@prefix rml: <http://w3id.org/rml/> .
@prefix ex: <http://example.org/> .

# Every person once.
<#Person> rml:logicalSource <#people> ;
  rml:subjectMap [ rml:template "http://example.org/person/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] ; # as it is written
  rml:predicateObjectMap [ rml:predicate ex:age ; rml:objectMap [ rml:reference "age" ] ] .

<#people> rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV .
`;

function done<A>(session: Session, command: Command<A>, argument: A): Session {
  const after = perform(session, command, argument, () => []);
  if (isRefusal(after)) throw new Error(after.sentence);
  return after.session;
}

const editedTo = async (session: Session, text: string): Promise<Session> =>
  done(session, COMMANDS['edit-text'], { document: (await readEdited(session.document, text)).document });

const opened = async (text: string): Promise<StudioDocument> => (await read(text, undefined)).document;
const idsOf = ({ records }: StudioDocument): readonly string[] => [...records.keys()];

describe('an edited text', () => {
  test('gives a class to its entity and changes nothing else', async () => {
    const before = await opened(TEXT);
    const { document, diagnostics } = await readEdited(before, TEXT.replace('{id}" ]', '{id}" ; rml:class ex:Person ]'));
    expect(diagnostics).toEqual([]);
    const [person] = recordsOf(document, 'entity');
    expect(person?.classes).toEqual(['http://example.org/Person']);
    expect(idsOf(document)).toEqual(idsOf(before));
    for (const [id, record] of document.records) if (id !== person?.id) expect(record).toBe(before.records.get(id));
    expect(findingsIn(document)).toEqual([]);
  });

  test('that is the same gives the same records and text', async () => {
    const before = await opened(TEXT);
    const { document } = await readEdited(before, TEXT);
    expect(document.text).toBe(before.text);
    for (const [id, record] of document.records) expect(record).toBe(before.records.get(id));
  });

  test('keeps ids where a rule before them is new, a predicate is another, or a triples map is renamed', async () => {
    const before = await opened(TEXT);
    const age = recordsOf(before, 'edge')[1];
    const more = TEXT.replace(
      'rml:predicateObjectMap [ rml:predicate ex:name',
      'rml:predicateObjectMap [ rml:predicate ex:mail ; rml:objectMap [ rml:reference "mail" ] ] ;\n  rml:predicateObjectMap [ rml:predicate ex:name',
    );
    const first = (await readEdited(before, more)).document;
    expect(first.records.get(age?.id as string)).toBe(age);
    expect(idsOf(first).slice(0, before.records.size)).toEqual(idsOf(before));
    expect(first.records.size).toBe(before.records.size + 2);
    const other = (await readEdited(first, more.replace('ex:age', 'ex:years').replaceAll('#Person', '#Human'))).document;
    expect(idsOf(other)).toEqual(idsOf(first));
    expect(other.records.get(age?.id as string)).toMatchObject({ predicates: ['http://example.org/years'], to: age?.to, part: '#Human' });
    expect(recordsOf(other, 'entity').map(({ name }) => name)).toEqual(['Human']);
    expect(findingsIn(other)).toEqual([]);
  });

  test('is undone and redone to the byte, between drawn steps', async () => {
    let session = begin(await opened(TEXT));
    const person = recordsOf(session.document, 'entity')[0]?.id as string;
    session = done(session, move, { positions: [{ of: person, x: 40, y: 50 }] });
    const seen = [session.document];
    for (const text of [
      TEXT.replace('# as it is written', '# edited'),
      TEXT.replace(/ {2}rml:predicateObjectMap \[ rml:predicate ex:age.*/, '  .'),
      '',
    ]) {
      session = await editedTo(session, text);
      expect(session.document.text.text).toBe(text);
      seen.push(session.document);
    }
    for (const one of seen.toReversed().slice(1)) {
      session = undo(session);
      expect(session.document).toEqual(one);
      expect(idsOf(session.document)).toEqual(idsOf(one));
    }
    for (const one of seen.slice(1)) {
      session = redo(session);
      expect(session.document).toEqual(one);
    }
  });

  test('keeps places, and what is drawn and in no text', async () => {
    let session = begin(await opened(TEXT));
    const [input] = recordsOf(session.document, 'input');
    const [person] = recordsOf(session.document, 'entity');
    session = done(session, addAttribute, { value: { kind: 'field', ref: { input: input?.id as string, path: [{ name: 'city' }] } } });
    session = done(session, move, { positions: [{ of: person?.id as string, x: 7, y: 9 }] });
    session = done(session, COMMANDS['add-input'], {
      name: 'more.csv',
      location: { kind: 'upload', url: '/uploads/more.csv' },
      format: 'csv',
    });
    const before = session.document;
    const { document } = await readEdited(before, TEXT.replace('ex:name', 'ex:label'));
    expect(recordsOf(document, 'attribute').map(({ id }) => nameOf(document, id))).toEqual(['name', 'age', 'city']);
    expect(recordsOf(document, 'place')).toEqual(recordsOf(before, 'place'));
    expect(recordsOf(document, 'input').map(({ name }) => name)).toEqual(['people.csv', 'more.csv']);
    expect(findingsIn(document)).toEqual([]);
  });

  test('of a drawn model finds all of it again', async () => {
    // Views cannot be printed. An attribute stays without an edge.
    const { document: before } = done(begin(shop()), COMMANDS.remove, { ids: ['has-sku', 'Line', 'FirstLine', 'SecondLine'] });
    const { text } = await print(before, 'rml');
    expect(text).toContain('logicalSource');
    const { document } = await readEdited(before, `# mine\n${text}`);
    expect(recordsOf(document, 'entity').map(({ id }) => id)).toEqual(recordsOf(before, 'entity').map(({ id }) => id));
    expect(recordsOf(document, 'edge').map(({ id }) => id)).toEqual(recordsOf(before, 'edge').map(({ id }) => id));
    expect(recordsOf(document, 'attribute').map(({ id }) => id)).toEqual(recordsOf(before, 'attribute').map(({ id }) => id));
    expect(findingsIn(document).filter(({ severity }) => severity === 'error')).toEqual([]);
  });
});

const expectPrefixes = async (text: string, step: number): Promise<void> => {
  const before = await opened(text);
  for (let length = 0; length < text.length; length += step) {
    const { document } = await readEdited(before, text.slice(0, length));
    expect(document.text.text).toHaveLength(length);
    expect(findingsIn(document).filter(({ severity }) => severity === 'error')).toEqual([]);
  }
};

const YARRRML = `prefixes:
  ex: http://example.org/
mappings:
  person:
    sources:
      - ['people.csv~csv']
    s: ex:person/$(id)
    po:
      - [a, ex:Person]
      - [ex:name, $(name)]
`;

describe('the beginning of a text never throws', () => {
  test('in Turtle', () => expectPrefixes(TEXT, 17));
  test('in YARRRML', () => expectPrefixes(YARRRML, 11));
  soakTest('in Turtle, at each character', () => expectPrefixes(TEXT, 1));
  soakTest('in YARRRML, at each character', () => expectPrefixes(YARRRML, 1));
});
