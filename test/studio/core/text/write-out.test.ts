/** Texts of Turtle whose form hinders a change: they are written out on demand, and the change is made then. */
import { describe, expect } from '@jest/globals';
import { COMMANDS } from '../../../../studio/core/commands/all.ts';
import type { Command } from '../../../../studio/core/commands/command.ts';
import { editText } from '../../../../studio/core/commands/edit-text.ts';
import type { Id, StudioDocument } from '../../../../studio/core/document.ts';
import { readEdited } from '../../../../studio/core/edit/edit.ts';
import { recordsOf } from '../../../../studio/core/elements/records.ts';
import { begin, perform, type Session, undo } from '../../../../studio/core/history/history.ts';
import { isRefusal, type Refusal } from '../../../../studio/core/rules/verdict.ts';
import { patch } from '../../../../studio/core/text/turtle/patch.ts';
import { writeOut } from '../../../../studio/core/text/turtle/write-out.ts';
import { share, sharedTest, test } from '../../../support/jest/extent.ts';
import { Random, soakSeeds } from '../../../support/random.ts';
import { path } from '../support/model.ts';
import { changesOf, idOf, opened, schemaOf, textAfter } from '../support/patching.ts';
import { RandomCommands } from '../support/random-command.ts';

const HEAD = `@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix rml: <http://semweb.mmlab.be/ns/rml#> .
@prefix ql: <http://semweb.mmlab.be/ns/ql#> .
@prefix ex: <https://example.org/> .

`;
const PEOPLE = 'rml:logicalSource [ rml:source "people.csv" ; rml:referenceFormulation ql:CSV ]';

/** Two objects of one map, of which the canvas draws the first one. */
const MIXED = `${HEAD}# Everybody
<#Person> ${PEOPLE} ; # by night
  rr:subjectMap [ rr:template "https://example.org/{id}" ] ;
  # names
  rr:predicateObjectMap [
    rr:predicate ex:name, # as called
      ex:label ;
    rr:objectMap [ rml:reference "name" ], # plain
      # with a language
      [ rml:reference "name" ; rml:languageMap [ rml:reference "tongue" ] ] # of the person
  ] .
# The end
`;

const NAMED = `${HEAD}<#Person> ${PEOPLE} ; rr:subject ex:all ; rr:predicateObjectMap <#Name> .
<#Other> ${PEOPLE} ; rr:subject ex:others ; rr:predicateObjectMap <#Name> .
<#Name> rr:predicate ex:name ; # shared
  rr:object "kept"@en ; rr:objectMap [ rml:reference "name" ], [ rml:reference "a" ; rml:languageMap [ rml:reference "b" ] ] .
`;

/** The parent stands in the triples map that refers to it. */
const NESTED = `${HEAD}<#Person> ${PEOPLE} ; rr:subjectMap [ rr:template "https://example.org/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:town ; rr:objectMap [
    rr:parentTriplesMap [ # towns
      ${PEOPLE} ; rr:subjectMap [ rr:template "https://example.org/town/{town}" ] # one each
    ] ; rr:joinCondition [ rr:child "town" ; rr:parent "town" ] ] ] .
`;

const VIEW = `@prefix rml: <http://w3id.org/rml/> .
@prefix ex: <https://example.org/> .

# lines of orders
<#orders> a rml:LogicalView ; rml:viewOn [
    rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "orders.json" ] ;
    rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]" ] ;
  rml:field [ rml:fieldName "number" ; rml:reference "$.id" ] ; # unique
  rml:field [ rml:fieldName "line" ; rml:iterator "$.lines[*]" ; rml:field [ rml:fieldName "article" ; rml:reference "$.sku" ] ] .
<#Line> rml:logicalSource <#orders> ;
  rml:subjectMap [ rml:template "https://example.org/line/{number}-{line.article}" ] ; # for each
  rml:predicateObjectMap [ rml:predicate ex:sku ; rml:objectMap [ rml:reference "line.article" # the article
  ] ] .
`;

const TEXTS = { MIXED, NAMED, NESTED, VIEW };

/** As the editor does it: the text is written out as one step, and the command is the next one. */
async function afterWritingOut<A>(document: StudioDocument, command: Command<A>, argument: A): Promise<Session | Refusal> {
  expect(textAfter(document, command, argument)).toMatchObject({ ok: false, rule: 'I9', instead: { command: 'write-out' } });
  const out = await writeOut(document);
  const edited = await readEdited(document, out as string);
  expect(edited.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  const written = perform(begin(document), editText, { document: edited.document }, patch);
  if (isRefusal(written)) return written;
  const done = perform(written.session, command, argument, patch);
  if (isRefusal(done)) return done;
  expect(undo(undo(done.session)).document.text.text).toBe(document.text.text);
  return done.session;
}

const textOf = (done: Session | Refusal): string | Refusal => (isRefusal(done) ? done : done.document.text.text);
const commentsOf = (text: string): readonly string[] => (text.match(/(?<=^|\s)#(?!\w*>).*$/gm) ?? []).map((one) => one.trimEnd()).sort();

describe('a text of Turtle is written out', () => {
  test('where an object that is kept as text would get the predicate of the one that is drawn', async () => {
    const document = await opened(MIXED);
    const edge = idOf(document, 'edge', 'name, label');
    const done = await afterWritingOut(document, COMMANDS['set-predicates'], { edge, predicates: ['https://example.org/called'] });
    expect(changesOf(MIXED, textOf(done))).toEqual([
      '-     rr:predicate ex:name, # as called',
      '-       ex:label ;',
      '-     rr:objectMap [ rml:reference "name" ], # plain',
      '+     rr:predicate # as called',
      '+     ex:called ;',
      '+     rr:objectMap [ rml:reference "name" ] # plain',
      '+   ],',
      '+   [ rr:predicate ex:name,',
      '+       ex:label ;',
      '+     rr:objectMap',
    ]);
  });

  test('with the comments of a property that goes as a whole, and of its neighbours', async () => {
    const text = `${HEAD}<#Person> ${PEOPLE} ; rr:subject ex:all ; rr:predicateObjectMap [
    rr:predicate ex:name ; # called
    # what stays
    rr:objectMap [ rml:reference "name" ] ; # plain
    # what goes
    rr:object "kept"@en ; # in English
    # a language for each
    rr:objectMap [ rml:reference "a" ; rml:languageMap [ rml:reference "b" ] ] ; # both
    # the last one
    a rr:PredicateObjectMap # typed
  ] .
`;
    const out = (await writeOut(await opened(text))) as string;
    expect(out.slice(out.indexOf('rr:predicateObjectMap'))).toBe(`rr:predicateObjectMap [
    rr:predicate ex:name ; # called
    # what stays
    rr:objectMap [ rml:reference "name" ] ; # plain
    # what goes
    rr:object "kept"@en ; # in English
    # the last one
    a rr:PredicateObjectMap # typed
  ],
[ rr:predicate ex:name ;
  # a language for each
  rr:objectMap [ rml:reference "a" ; rml:languageMap [ rml:reference "b" ] ] ; # both
  a rr:PredicateObjectMap ] .
`);
  });

  sharedTest.each(share(10, soakSeeds(1, 400)))('and each comment stays with its object: seed %i', async (seed) => {
    const random = new Random(seed);
    const count = random.between(2, 6);
    const isKept = Array.from({ length: count }, (_, i) => (i === 0 ? true : i === 1 ? false : random.chance(0.5)));
    const order = isKept.map((_, i) => i).sort(() => random.between(-1, 1));
    const objectOf = (i: number): string =>
      isKept[i] ? `[ rml:reference "o${i}" ; rml:languageMap [ rml:reference "b" ] ]` : `[ rml:reference "o${i}" ]`;
    let list = '';
    order.forEach((i, at) => {
      const isLast = at === count - 1;
      const above = Array.from({ length: random.between(0, 2) }, (_, k) => `\n   # above-${i}-${k}`).join('');
      const separator = isLast ? random.pick(['', ' ;']) : random.pick([',', ' ,']);
      const behind = random.chance(0.5) ? `${separator}${' '}# behind-${i}\n` : `${separator}${random.pick(['\n  ', ' '])}`;
      list += `${above}${above === '' ? ' ' : '\n    '}${objectOf(i)}${behind}`;
    });
    const text = `${HEAD}<#P> ${PEOPLE} ; rr:subject ex:all ; rr:predicateObjectMap [ rr:predicate ex:p ; rr:objectMap${list}] .\n`;
    const out = (await writeOut(await opened(text))) as string;
    expect(commentsOf(out)).toEqual(commentsOf(text));
    for (const i of order) {
      const at = out.indexOf(objectOf(i));
      const [, before = ''] = /((?:\s*#(?!\w*>)[^\n]*)*)\s*$/.exec(out.slice(0, at)) ?? [];
      const wanted = [...text.matchAll(new RegExp(`# above-${i}-\\d`, 'g'))].map(([one]) => one);
      expect(before.match(/# above-\S+/g) ?? []).toEqual(wanted);
      const line = out.slice(at + objectOf(i).length).split('\n')[0] as string;
      expect(/^[ ,;]*# (\S+)/.exec(line)?.[1]).toBe(text.includes(`# behind-${i}\n`) ? `behind-${i}` : undefined);
    }
  });

  test('where a named predicate object map holds what is kept as text, and others use it', async () => {
    const document = await opened(NAMED);
    const [, edge] = recordsOf(document, 'edge').filter(({ predicates }) => predicates.length === 1);
    const done = await afterWritingOut(document, COMMANDS['set-predicates'], {
      edge: edge?.id as Id,
      predicates: ['https://example.org/called'],
    });
    expect(changesOf(NAMED, textOf(done))).toEqual([
      `- <#Person> ${PEOPLE} ; rr:subject ex:all ; rr:predicateObjectMap <#Name> .`,
      `- <#Other> ${PEOPLE} ; rr:subject ex:others ; rr:predicateObjectMap <#Name> .`,
      '- <#Name> rr:predicate ex:name ; # shared',
      '-   rr:object "kept"@en ; rr:objectMap [ rml:reference "name" ], [ rml:reference "a" ; rml:languageMap [ rml:reference "b" ] ] .',
      `+ <#Person> ${PEOPLE} ; rr:subject ex:all ; rr:predicateObjectMap [ rr:predicate ex:name ; rr:objectMap [ rml:reference "name" ] ],`,
      '+ [ rr:predicate ex:called ; rr:object "kept"@en ],',
      '+ [ rr:predicate ex:name ;',
      '+   rr:objectMap [ rml:reference "a" ; rml:languageMap [ rml:reference "b" ] ] ] .',
      `+ <#Other> ${PEOPLE} ; rr:subject ex:others ; rr:predicateObjectMap <#Name>,`,
      '+ [ rr:predicate ex:name ;',
      '+   rr:objectMap [ rml:reference "a" ; rml:languageMap [ rml:reference "b" ] ] ] .',
      '+ <#Name> rr:predicate ex:name ; # shared',
      '+   rr:object "kept"@en ; rr:objectMap [ rml:reference "name" ] .',
    ]);
  });

  test('where a triples map stands in brackets, and both change', async () => {
    const document = await opened(NESTED);
    const [{ id }] = recordsOf(document, 'input') as unknown as [{ id: Id }];
    const location = { kind: 'file' as const, path: 'all.csv' };
    expect(changesOf(NESTED, textOf(await afterWritingOut(document, COMMANDS['relocate-input'], { id, location })))).toEqual([
      `- <#Person> ${PEOPLE} ; rr:subjectMap [ rr:template "https://example.org/{id}" ] ;`,
      '-   rr:predicateObjectMap [ rr:predicate ex:town ; rr:objectMap [',
      '-     rr:parentTriplesMap [ # towns',
      `-       ${PEOPLE} ; rr:subjectMap [ rr:template "https://example.org/town/{town}" ] # one each`,
      '-     ] ; rr:joinCondition [ rr:child "town" ; rr:parent "town" ] ] ] .',
      `+ <#Person> ${PEOPLE.replace('people', 'all')} ; rr:subjectMap [ rr:template "https://example.org/{id}" ] ;`,
      '+   rr:predicateObjectMap [ rr:predicate ex:town ; rr:objectMap [',
      '+     rr:parentTriplesMap <#Parent1> ; rr:joinCondition [ rr:child "town" ; rr:parent "town" ] ] ] .',
      '+ ',
      '+ <#Parent1> # towns',
      `+       ${PEOPLE.replace('people', 'all')} ; rr:subjectMap [ rr:template "https://example.org/town/{town}" ] # one each`,
      '+ .',
    ]);
  });

  test('where a logical view has its own names, and another field is to be read', async () => {
    const document = await opened(VIEW);
    const { input } = recordsOf(document, 'entity')[0] as { input: Id };
    const from = { kind: 'element' as const, id: idOf(document, 'entity', 'Line') };
    const to = { kind: 'field' as const, ref: { input, path: path('[*].lines[*].qty') } };
    const options = { predicates: ['https://example.org/qty'] };
    const done = await afterWritingOut(document, COMMANDS.connect, { schema: new Map(), from, to, options });
    expect(changesOf(VIEW, textOf(done))).toEqual([
      '- <#Line> rml:logicalSource <#orders> ;',
      '-   rml:subjectMap [ rml:template "https://example.org/line/{number}-{line.article}" ] ; # for each',
      '-   rml:predicateObjectMap [ rml:predicate ex:sku ; rml:objectMap [ rml:reference "line.article" # the article',
      '-   ] ] .',
      '+ <#Line> rml:logicalSource [',
      '+   a rml:LogicalView ;',
      '+   rml:viewOn [',
      '+     rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "orders.json" ] ;',
      '+     rml:referenceFormulation rml:JSONPath ;',
      '+     rml:iterator "$[*]"',
      '+   ] ;',
      '+   rml:field [ a rml:ExpressionField ; rml:fieldName "id" ; rml:reference "$.id" ] ;',
      '+   rml:field [',
      '+     a rml:IterableField ;',
      '+     rml:fieldName "lines" ;',
      '+     rml:iterator "$.lines[*]" ;',
      '+     rml:field [ a rml:ExpressionField ; rml:fieldName "sku" ; rml:reference "$.sku" ] ;',
      '+     rml:field [ a rml:ExpressionField ; rml:fieldName "qty" ; rml:reference "$.qty" ]',
      '+   ]',
      '+ ] ;',
      '+   rml:subjectMap [ rml:template "https://example.org/line/{id}-{lines.sku}" ] ; # for each',
      '+   rml:predicateObjectMap # the article',
      '+   [ rml:predicate ex:sku ; rml:objectMap [ rml:reference "lines.sku" ] ] ;',
      '+   rml:predicateObjectMap [ rml:predicate ex:qty ; rml:objectMap [ rml:reference "lines.qty" ] ] .',
    ]);
  });

  test('and not offered where that would not help', async () => {
    const document = await opened(MIXED);
    const gone = textAfter(document, COMMANDS['remove-prefix'], { id: idOf(document, 'prefix', 'ex') });
    expect(gone).toMatchObject({ sentence: 'The prefix ex is used in the text.' });
    expect(gone).not.toHaveProperty('instead');
    expect(await writeOut(await opened(MIXED.replace(/, # plain\n.*\n.*$/m, '')))).toBeUndefined();
  });

  sharedTest.each(share(3, soakSeeds(1, 40)))(
    'once for each form, whatever is asked for, and keeps all comments: seed %i',
    async (seed) => {
      let offered = 0;
      for (const [i, text] of Object.values(TEXTS).entries()) {
        const document = await opened(text);
        const commands = new RandomCommands(new Random(seed * 10 + i), schemaOf(document));
        for (let j = 0; j < 60; j++) {
          const { command, argument } = commands.next(document, ['fold', 'set-expert']);
          const done = perform(begin(document), command, argument, patch);
          if (!isRefusal(done) || done.instead?.command !== 'write-out') continue;
          offered++;
          const written = await afterWritingOut(document, command, argument);
          // The command may have another reason.
          if (isRefusal(written)) expect(written.instead?.command).not.toBe('write-out');
          expect(commentsOf((await writeOut(document)) as string)).toEqual(commentsOf(text));
        }
      }
      expect(offered).toBeGreaterThan(0);
    },
  );
});
