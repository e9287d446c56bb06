/** `quadmill explain --statement`: the examples of the documents, and statements of joins, views, functions and graphs. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { labelOfMap } from '../../src/run/prepare/labels.ts';
import { PROJECT_ROOT } from '../support/project-root.ts';
import { plainLabels } from '../support/read-rdf.ts';
import { type Files, withFiles } from './faults/trial.ts';
import { quadmillHere } from './messages/in-process.ts';

/** Blocks of code of a document, without their marks. */
const blocksOf = (path: string): readonly string[] =>
  [...readFileSync(join(PROJECT_ROOT, path), 'utf8').matchAll(/^```\w*\n(.*?)^```$/gms)].map(([, text]) => text as string);

function documentedFiles(): Files {
  const blocks = blocksOf('README.md');
  const csv = blocks.find((block) => block.startsWith('id,name,city'));
  const mapping = blocks.find((block) => block.includes('rml:path "people.csv"'));
  if (csv === undefined || mapping === undefined) throw new Error('README.md has no example');
  return { 'people.csv': csv, 'people.ttl': mapping };
}

/** The words of a command line; a word may stand in single quotes. */
const wordsOf = (command: string): readonly string[] => [...command.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word);

describe('docs/command-line.md', () => {
  const blocks = blocksOf('docs/command-line.md');
  const commands = blocks.flatMap((block, i) =>
    /^npx quadmill explain .*--statement/.test(block) ? [[block, blocks[i + 1] as string]] : [],
  );

  test('has examples of statements', () => expect(commands.length).toBeGreaterThanOrEqual(2));

  test.each(commands)('%s', async (command, expected) => {
    const [, , ...args] = wordsOf(command as string);
    const { out, err } = await withFiles(documentedFiles(), (directory) => quadmillHere(directory, ...args));
    expect([out, err]).toEqual([expected, '']);
  });
});

const PREFIXES = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://example.com/> .
@prefix grel: <http://users.ugent.be/~bjdmeest/function/grel.ttl#> .
`;

const JOINED: Files = {
  'mapping.ttl': `${PREFIXES}
<#Person> rml:logicalSource <#people> ; rml:subjectMap [ rml:template "http://example.com/{id}" ; rml:graphMap [ rml:template "http://example.com/{city}" ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:in ; rml:objectMap [
    rml:parentTriplesMap <#City> ; rml:joinCondition [ rml:child "city" ; rml:parent "name" ] , [ rml:child "land" ; rml:parent "land" ] ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:boss ; rml:objectMap [ rml:parentTriplesMap <#Person> ; rml:joinCondition [ rml:child "boss" ; rml:parent "id" ] ] ] .
<#City> rml:logicalSource <#cities> ; rml:subjectMap [ rml:template "{code}" ; rml:termType rml:BlankNode ] .
<#people> rml:source [ a rml:RelativePathSource ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV .
<#cities> rml:source [ a rml:RelativePathSource ; rml:path "cities.csv" ] ; rml:referenceFormulation rml:CSV .
`,
  'people.csv': 'id,city,land,boss\n1,London,UK,\n2,Paris,FR,1\n3,London,CA,1\n3,London,UK,1\n',
  'cities.csv': 'code,name,land\nl 1,London,UK\nl2,London,CA\np,Paris,FR\nl 1,London,CA\n',
};

const VIEW: Files = {
  'mapping.ttl': `${PREFIXES}
<#People> rml:source [ a rml:RelativePathSource ; rml:path "people.json" ] ; rml:referenceFormulation rml:JSONPath ; rml:iterator "$.people[*]" .
<#view> rml:viewOn <#People> ;
  rml:field [ rml:fieldName "name" ; rml:reference "$.name" ] , [ rml:fieldName "friend" ; rml:reference "$.friend" ] ,
    [ a rml:IterableField ; rml:fieldName "item" ; rml:iterator "$.items[*]" ; rml:field [ rml:fieldName "type" ; rml:reference "$.type" ] ] ;
  rml:leftJoin [ rml:parentLogicalView <#ages> ; rml:joinCondition [ rml:child "friend" ; rml:parent "name" ] ;
    rml:field [ rml:fieldName "age" ; rml:reference "age" ] ] .
<#ages> rml:viewOn <#People> ; rml:field [ rml:fieldName "name" ; rml:reference "$.name" ] , [ rml:fieldName "age" ; rml:reference "$.age" ] .
<#Item> rml:logicalSource <#view> ; rml:subjectMap [ rml:template "http://example.com/{name}/{item.type}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:age ; rml:objectMap [ rml:reference "age" ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:label ; rml:objectMap [
    rml:functionExecution [ rml:function grel:toUpperCase ; rml:input [ rml:parameter grel:valueParam ; rml:inputValueMap [ rml:reference "item.type" ] ] ] ] ] .
`,
  'people.json': JSON.stringify({
    people: [
      { name: 'alice', age: 31, friend: 'bob', items: [{ type: 'sword' }, { type: 'shield' }] },
      { name: 'bob', age: 30, items: [{ type: 'flower' }] },
    ],
  }),
};

const QUOTING: Files = {
  'mapping.ttl': `${PREFIXES}
<#Said> a rml:NonAssertedTriplesMap ; rml:logicalSource <#people> ; rml:subjectMap [ rml:template "http://example.com/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:age ; rml:objectMap [ rml:reference "age" ] ] .
<#By> rml:logicalSource <#people> ; rml:subjectMap [ rml:quotedTriplesMap <#Said> ] ;
  rml:predicateObjectMap [ rml:predicate ex:by ; rml:objectMap [ rml:reference "who" ] ] .
<#Other> rml:logicalSource <#sources> ; rml:subjectMap [ rml:template "http://example.com/source/{name}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:says ; rml:objectMap [
    rml:quotedTriplesMap <#Said> ; rml:joinCondition [ rml:child "name" ; rml:parent "who" ] ] ] .
<#people> rml:source [ a rml:RelativePathSource ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV .
<#sources> rml:source [ a rml:RelativePathSource ; rml:path "sources.csv" ] ; rml:referenceFormulation rml:CSV .
`,
  'people.csv': 'id,age,who\n1,30,bob\n2,31,eve\n',
  'sources.csv': 'name\neve\nbob\n',
};

/** The triple of the second person within that of another source; a subject that is joined. */
const NESTED: Files = {
  ...QUOTING,
  'mapping.ttl': `${QUOTING['mapping.ttl']}
<#Telling> rml:logicalSource <#sources> ; rml:subjectMap [ rml:template "http://example.com/source/{name}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:tells ; rml:objectMap [
    rml:quotedTriplesMap <#By> ; rml:joinCondition [ rml:child "name" ; rml:parent "who" ] ] ] .
<#Told> rml:logicalSource <#sources> ; rml:subjectMap [ rml:quotedTriplesMap <#Said> ; rml:joinCondition [ rml:child "name" ; rml:parent "who" ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:toldBy ; rml:objectMap [ rml:reference "name" ] ] .
`,
};
const EVES = '<<( <http://example.com/2> <http://example.com/age> "31" )>>';
const REIFIES = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies>';
const reifier = (triple: string): string => `_:t${createHash('sha256').update(triple).digest('hex').slice(0, 32)}`;

const GATHERING: Files = {
  'mapping.ttl': `${PREFIXES} @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
<#P> rml:logicalSource <#people> ; rml:subjectMap [ rml:template "http://example.com/{$.id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:tags ; rml:objectMap [ rml:gather ( [ rml:reference "$.tags[*]" ] ) ; rml:gatherAs <http://www.w3.org/1999/02/22-rdf-syntax-ns#List> ] ] ,
    [ rml:predicate ex:all ; rml:objectMap [
      rml:template "http://example.com/{$.team}" ; rml:gather ( [ rml:reference "$.id" ] ) ; rml:gatherAs rdf:Bag ] ] .
<#people> rml:source [ a rml:RelativePathSource ; rml:path "people.json" ] ; rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]" .
`,
  'people.json': '[{"id":"1","team":"t","tags":["a","b"]},{"id":"2","team":"t","tags":["c"]}]',
};

async function explain(files: Files, statement: string, ...args: readonly string[]): Promise<readonly [code: number, text: string]> {
  const { code, out, err } = await withFiles(files, async (directory) =>
    quadmillHere(directory, 'explain', 'mapping.ttl', '--statement', await withLabels(statement, directory), ...args),
  );
  return [code, err + out];
}

/** The statement with the labels that a run in this directory gives. */
async function withLabels(statement: string, directory: string): Promise<string> {
  if (!/_:[bf]/.test(statement)) return statement;
  await quadmillHere(directory, 'run', 'mapping.ttl', '-o', 'out.nq');
  const out = readFileSync(join(directory, 'out.nq'), 'utf8');
  const labels = new Map([...out.matchAll(/_:q\w+/g)].map(([label]) => [plainLabels(label), label]));
  return statement.replace(/_:[bf]\w*/g, (plain) => labels.get(plain) ?? plain);
}

/** The lines about records. */
const recordsIn = (text: string): readonly string[] =>
  text
    .slice(text.search(/^ {2}(\d+|no) record/m))
    .trimEnd()
    .split('\n');

describe('the records of', () => {
  test.each([
    [
      'a join with two conditions, into a blank node and a graph of the data',
      JOINED,
      '<http://example.com/3> <http://example.com/in> _:bl_201 <http://example.com/London> .',
      [
        '  2 records make it',
        '    people.csv, record 2: id = "3", city = "London", land = "CA"',
        '      with cities.csv, record 3: code = "l 1", land = "CA", name = "London"',
        '    people.csv, record 3: id = "3", city = "London", land = "UK"',
        '      with cities.csv, record 0: code = "l 1", land = "UK", name = "London"',
      ],
    ],
    [
      'a join of a file with itself',
      JOINED,
      '<http://example.com/2> <http://example.com/boss> <http://example.com/1> <http://example.com/Paris> .',
      [
        '  1 record makes it',
        '    people.csv, record 1: id = "2", city = "Paris", boss = "1"',
        '      with people.csv, record 0: id = "1"',
      ],
    ],
    [
      'a join that does not meet',
      JOINED,
      '<http://example.com/1> <http://example.com/in> _:bp <http://example.com/London> .',
      ['  no record makes it'],
    ],
    [
      'an item of a view, through a function',
      VIEW,
      '<http://example.com/alice/shield> <http://example.com/label> "SHIELD"',
      ['  1 record makes it', '    people.json, record 0, item 1; people.json, record 1: $.name = "alice", $.type = "shield"'],
    ],
    [
      'a view that is joined at the end, with its own source',
      VIEW,
      '<http://example.com/alice/sword> <http://example.com/age> "30"^^<http://www.w3.org/2001/XMLSchema#integer>',
      ['  1 record makes it', '    people.json, record 0, item 0; people.json, record 1: $.name = "alice", $.type = "sword", age = "30"'],
    ],
    [
      'a quoted triple as a subject',
      QUOTING,
      '<< <http://example.com/2> <http://example.com/age> "31" >> <http://example.com/by> "eve" .',
      ['  1 record makes it', '    people.csv, record 1: id = "2", age = "31", who = "eve"'],
    ],
    [
      'a statement about a reifier of RDF 1.2',
      QUOTING,
      `${reifier(EVES)} <http://example.com/by> "eve" .`,
      ['  1 record makes it', '    people.csv, record 1: id = "2", age = "31", who = "eve"'],
    ],
    [
      'the statement of a reifier, as a subject and within the triple of another source',
      NESTED,
      `${reifier(EVES)} ${REIFIES} ${EVES} .`,
      [
        '  3 records make it',
        '    people.csv, record 1: id = "2", age = "31", who = "eve"',
        '    sources.csv, record 0; people.csv, record 1',
        '    sources.csv, record 0: name = "eve"',
        '      with people.csv, record 1: id = "2", age = "31", who = "eve"',
      ],
    ],
    [
      'a triple term of RDF 1.2 with a reifier in it',
      NESTED,
      `<http://example.com/source/eve> <http://example.com/tells> <<( ${reifier(EVES)} <http://example.com/by> "eve" )>> .`,
      [
        '  1 record makes it',
        '    sources.csv, record 0: name = "eve"',
        '      with people.csv, record 1: id = "2", age = "31", who = "eve"',
      ],
    ],
    [
      'a reifier of a triple that nothing makes',
      QUOTING,
      `${reifier(EVES.replace('31', '32'))} ${REIFIES} ${EVES.replace('31', '32')} .`,
      ['  no record makes it'],
    ],
    [
      'a member of a list of a record',
      GATHERING,
      `_:f${labelOfMap('http://example.com/base/#P').slice(1)}r0g0m1 <http://www.w3.org/1999/02/22-rdf-syntax-ns#first> "b" .`,
      ['  1 record makes it', '    people.json, record 0: $.id = "1", $.tags[*] = "a" and "b", $.team = "t"'],
    ],
    [
      'a member of a bag of several records',
      GATHERING,
      '<http://example.com/t> <http://www.w3.org/1999/02/22-rdf-syntax-ns#_2> "2" .',
      ['  1 record makes it', '    people.json, record 1: $.id = "2", $.tags[*] = "c", $.team = "t"'],
    ],
    [
      'a quoted triple of another source',
      QUOTING,
      '<http://example.com/source/bob> <http://example.com/says> << <http://example.com/1> <http://example.com/age> "30" >> .',
      [
        '  1 record makes it',
        '    sources.csv, record 1: name = "bob"',
        '      with people.csv, record 0: id = "1", age = "30", who = "bob"',
      ],
    ],
  ])('%s', async (_, files, statement, expected) => {
    const [code, text] = await explain(files, statement, '--records');
    expect(recordsIn(text)).toEqual(expected);
    expect(code).toBe(expected.length > 1 ? 0 : 1);
  });

  test('the statement of another reifier: which one the triple has', async () => {
    const [code, text] = await explain(NESTED, `${reifier('')} ${REIFIES} ${EVES} .`);
    expect(code).toBe(1);
    expect(text).toContain(`the reifier of this triple is ${reifier(EVES)}`);
    expect(text).not.toContain('no such predicate');
    const [found, rules] = await explain(NESTED, `${reifier(EVES)} ${REIFIES} ${EVES} .`);
    expect(found).toBe(0);
    expect(rules.match(/can make it/g)).toHaveLength(3);
    expect(rules).toMatch(/object +<< .* >> +mapping\.ttl:\d+:\d+ +id = "2", age = "31", of By/);
  });

  test('a statement whose record is rejected: nothing, and why', async () => {
    const mapping = `${PREFIXES}<#P> rml:logicalSource [ rml:source [ rml:path "people.csv" ] ] ; rml:subjectMap [ rml:template "http://example.com/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] ,
    [ rml:predicate ex:home ; rml:objectMap [ rml:reference "home" ; rml:termType rml:IRI ] ] .`;
    const files = { 'mapping.ttl': mapping, 'people.csv': 'id,name,home\n1,Ada,http://e/a b\n' };
    const [code, text] = await explain(files, '<http://example.com/1> <http://example.com/name> "Ada"', '--records');
    expect([code, recordsIn(text)]).toEqual([1, ['  no record makes it']]);
    expect(text).toMatch(
      /^1 record was rejected\n {2}An IRI may not hold the character " " \(input \S*people\.csv, line 2, record 0, expression home/,
    );
  });

  test('more statements than are shown: how many there are', async () => {
    const rows = Array.from({ length: 30 }, () => 'a').join('\n');
    const mapping = `${PREFIXES}<#P> rml:logicalSource [ rml:source [ rml:path "a.csv" ] ] ; rml:subjectMap [ rml:template "http://example.com/{id}" ; rml:class ex:P ] .`;
    const [, text] = await explain(
      { 'mapping.ttl': mapping, 'a.csv': `id\n${rows}\n` },
      '<http://example.com/a> a <http://example.com/P>'.replace(' a ', ' <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> '),
      '--records',
    );
    const lines = recordsIn(text);
    expect([lines[0], lines.length, lines.at(-1)]).toEqual(['  30 records make it', 22, '    … and 10 more']);
  });
});

test('a statement that is none, and --records alone, are errors of the command line', async () => {
  const [code, text] = await explain(JOINED, '<http://example.com/1> "name" "Ada"');
  expect([code, text]).toEqual([2, expect.stringContaining('--statement is no statement of N-Quads')]);
  const alone = await withFiles(JOINED, (directory) => quadmillHere(directory, 'explain', 'mapping.ttl', '--records'));
  expect([alone.code, alone.err]).toEqual([2, expect.stringContaining('add --statement')]);
});

describe('explain says what is read besides one record after the other', () => {
  const kept = async (path: string, formulation: string, iterator: string, reference: string): Promise<readonly string[]> => {
    const source = `rml:source [ a rml:RelativePathSource ; rml:path "${path}" ] ; rml:referenceFormulation rml:${formulation} ; rml:iterator "${iterator}"`;
    const files = {
      'mapping.ttl': `${PREFIXES}<#M> rml:logicalSource [ ${source} ] ; rml:subjectMap [ rml:template "http://e/{${reference}}" ; rml:class ex:A ] .\n`,
    };
    const { out, err } = await withFiles(files, (directory) => quadmillHere(directory, 'explain', 'mapping.ttl'));
    expect(err).toBe('');
    return out.split('\n').flatMap((line) => / {4}1 (keeps .*|has one .*)/.exec(line)?.[1] ?? []);
  };

  test.each<[path: string, formulation: string, iterator: string, reference: string, kept: readonly string[]]>([
    ['a.json', 'JSONPath', '$[*]', 'id', []],
    ['a.json', 'JSONPath', '$.a[?@.b == 1]', 'id', []],
    ['a.json', 'JSONPath', '$', 'id', ['has one record, which is the document']],
    ['a.jsonl', 'JSONPath', '$[*]', 'id', []],
    ['a.json', 'JSONPath', '$..a', 'id', ['keeps values around its records: the iterator $..a needs them']],
    ['a.json', 'JSONPath', '$.a[*]', '$^.id', ['keeps values around its records: the reference $^.id of the iterator $.a[*] needs them']],
    ['a.xml', 'XPath', '/r/a', '@id', []],
    ['a.xml', 'XPath', '/r/a', '../@id', []],
    ['a.xml', 'XPath', '/', 'r/@id', ['has one record, which is the document']],
    ['a.xml', 'XPath', '/r/a[last()]', '@id', ['keeps the whole document: the iterator /r/a[last()] needs it']],
    ['a.xml', 'XPath', '/r/a', '/r/@id', ['keeps the whole document: the reference /r/@id of the iterator /r/a needs it']],
    ['a.csv', 'CSV', '', 'id', []],
  ])('%s, %s, each %s, %s', async (path, formulation, iterator, reference, expected) => {
    expect(await kept(path, formulation, iterator, reference)).toEqual(expected);
  });
});

describe('explain --dataset says how changes are found', () => {
  const table = (name: string, subject: string, rest = ''): string =>
    `<#${name}> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:path "${name}" ] ; rml:referenceFormulation rml:${name.endsWith('json') ? 'JSONPath ; rml:iterator "$[*]"' : 'CSV'} ] ; rml:subjectMap [ ${subject} ] ; rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap [ ${rest === '' ? 'rml:reference "a"' : rest} ] ] .\n`;
  const iri = 'rml:template "http://e/{id}"';
  const gathered = 'rml:gather ( [ rml:reference "a" ] ) ; rml:gatherAs <http://www.w3.org/1999/02/22-rdf-syntax-ns#List>';
  const named = `rml:template "http://e/{a}" ; ${gathered}`;

  test.each<[what: string, mapping: string, said: readonly string[]]>([
    ['a table', table('a.csv', iri), ['group 1 by record']],
    ['JSON', table('a.json', iri), ['group 1 by record']],
    ['blank nodes of rows', table('a.csv', 'rml:termType rml:BlankNode'), ['group 1 by record']],
    [
      'a quoted triple',
      table('a.csv', iri) + table('b.csv', 'rml:quotedTriplesMap <#a.csv> ; rml:joinCondition [ rml:child "a" ; rml:parent "b" ]'),
      ['group 1 by record'],
    ],
    ['a list of a record', table('a.csv', gathered), ['group 1 by record']],
    ['a list of several', table('a.csv', named), ['group 1 by output: records append to collections, in their order']],
    [
      'a join',
      table('a.csv', iri, 'rml:parentTriplesMap <#b.csv> ; rml:joinCondition [ rml:child "a" ; rml:parent "b" ]') + table('b.csv', iri),
      ['group 1 by record'],
    ],
    [
      'two of them',
      table('a.csv', iri) + table('b.json', 'rml:termType rml:BlankNode', `rml:template "{a}" ; rml:termType rml:BlankNode ; ${gathered}`),
      [
        'group 1 by record',
        'group 2 by output: records append to collections, in their order',
        'all by output, since a run finds them in one way',
      ],
    ],
  ])('%s', async (_, mapping, said) => {
    const files = { 'mapping.ttl': `${PREFIXES}${mapping}` };
    const { out, err } = await withFiles(files, (directory) => quadmillHere(directory, 'explain', 'mapping.ttl', '--dataset'));
    expect(err).toBe('');
    const lines = out.split('\n');
    expect(lines.slice(lines.indexOf('a dataset finds changes') + 1, -1).map((line) => line.trim())).toEqual(said);
  });
});
