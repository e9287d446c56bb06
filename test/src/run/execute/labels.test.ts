/** Labels of blank nodes: the same in every run of a mapping over an input, others for another input. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { isName } from '../../../../src/nquads/labels.ts';
import { skolemiser } from '../../../../src/nquads/skolem.ts';
import type { RunRequest } from '../../../../src/run/request.ts';
import { executeRun } from '../../../../src/run/run.ts';

const MAPPING = `@prefix rml: <http://w3id.org/rml/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix ex: <http://example.com/> .
@prefix grel: <http://users.ugent.be/~bjdmeest/function/grel.ttl#> .
<#Row> rml:logicalSource <#in> ; rml:subjectMap [ rml:termType rml:BlankNode ; rml:class ex:Row ] ;
  rml:predicateObjectMap [ rml:predicate ex:a ; rml:objectMap [ rml:reference "a" ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:fresh ; rml:objectMap [ rml:termType rml:BlankNode ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:constant ; rml:objectMap [ rml:constant "x" ; rml:termType rml:BlankNode ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:called ; rml:objectMap [ rml:termType rml:BlankNode ; rml:functionExecution [
    rml:function grel:toUpperCase ; rml:input [ rml:parameter grel:valueParam ; rml:inputValueMap [ rml:reference "b" ] ] ] ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:list ; rml:objectMap [ rml:gatherAs rdf:List ; rml:gather ( [ rml:reference "a" ] [ rml:reference "b" ] ) ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:bag ; rml:objectMap [ rml:template "bag-{k}" ; rml:termType rml:BlankNode ; rml:gatherAs rdf:Bag ;
    rml:gather ( [ rml:reference "a" ] ) ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:named ; rml:objectMap [ rml:template "http://example.com/list/{k}" ; rml:gatherAs rdf:List ;
    rml:gather ( [ rml:reference "a" ] ) ] ] .
<#Value> rml:logicalSource <#in> ; rml:subjectMap [ rml:template "v{b}" ; rml:termType rml:BlankNode ; rml:class ex:Value ] .
<#Quoted> a rml:NonAssertedTriplesMap ; rml:logicalSource <#in> ; rml:subjectMap [ rml:reference "a" ; rml:termType rml:BlankNode ] ;
  rml:predicateObjectMap [ rml:predicate ex:q ; rml:objectMap [ rml:reference "b" ] ] .
<#Quoting> rml:logicalSource <#in> ; rml:subjectMap [ rml:quotedTriplesMap <#Quoted> ] ;
  rml:predicateObjectMap [ rml:predicate ex:says ; rml:object ex:it ] .
<#in> rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "in.csv" ] ; rml:referenceFormulation rml:CSV .
`;
const ROWS = 'a,b,k\n1,x,1\n2,y,1\n3,z,2\n';

let directory: string;
const at = (name: string): string => join(directory, name);
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-labels-'));
  mkdirSync(at('other'));
  for (const name of ['in.csv', 'same.csv', 'other/in.csv']) writeFileSync(at(name), ROWS);
  for (const name of ['mapping.ttl', 'copy.ttl', 'other/mapping.ttl']) writeFileSync(at(name), MAPPING);
});
afterAll(() => rmSync(directory, { recursive: true }));

let runs = 0;
async function linesOf(changes: Partial<RunRequest> = {}): Promise<readonly string[]> {
  const parts: string[] = [];
  const sink = { write: (text: string) => void parts.push(text), commit: async () => [], abort: async () => undefined };
  const request: RunRequest = {
    ...RUN_DEFAULTS,
    runId: `run-${runs++}`,
    mappings: [at('mapping.ttl')],
    inputs: [],
    workingDirectory: directory,
    spillDirectory: at('spill'),
    rdf: '1.2',
    ...changes,
  };
  await executeRun(request, sink, {});
  return parts.join('').split('\n').slice(0, -1).sort();
}

/** Labels, without those of reifiers and triples within them if these have no blank nodes. */
const labelsIn = (lines: readonly string[]): ReadonlySet<string> =>
  new Set(lines.flatMap((line) => [...line.matchAll(/_:(\w+)/g)].map(([, label]) => label as string)));

describe('labels of blank nodes', () => {
  test('are all names: rows, values, constants, functions, lists, containers and reifiers', async () => {
    const labels = [...labelsIn(await linesOf())];
    expect([...new Set(labels.map((label) => (label[0] === 't' ? 't' : label[33])))].sort()).toEqual(['b', 'l', 'r', 't']);
    expect(labels.filter((label) => !isName(label))).toEqual([]);
  });

  test.each<[string, () => Partial<RunRequest>]>([
    ['again', () => ({})],
    ['by a relative path', () => ({ mappings: ['mapping.ttl'] })],
    [
      'by URLs',
      () => ({ mappings: [pathToFileURL(at('mapping.ttl')).href], inputs: [{ name: 'in.csv', url: pathToFileURL(at('in.csv')).href }] }),
    ],
    ['from another directory', () => ({ workingDirectory: at('other') })],
    ['where nothing fits in memory', () => ({ memoryBudgetBytes: 0 })],
  ])('are the same %s', async (_, changes) => {
    expect(await linesOf(changes())).toEqual(await linesOf());
  });

  test.each<[string, () => Partial<RunRequest>]>([
    ['another input with the same rows', () => ({ inputs: [{ name: 'in.csv', url: at('same.csv') }] })],
    ['the same name in another directory', () => ({ mappings: [at('other/mapping.ttl')] })],
    ['another mapping over the same input', () => ({ mappings: [at('copy.ttl')] })],
  ])('are others for %s', async (_, changes) => {
    const own = labelsIn(await linesOf());
    const others = [...labelsIn(await linesOf(changes()))];
    expect(others.length).toBe(own.size);
    expect(others.filter((label) => own.has(label))).toEqual([]);
  });

  test('of rows stay when a row is added behind them, and when the mapping says more', async () => {
    const rows = (lines: readonly string[]): readonly string[] => lines.filter((line) => /example.com\/(a|fresh|called)>/.test(line));
    const before = rows(await linesOf());
    writeFileSync(at('in.csv'), `${ROWS}4,w,2\n`);
    writeFileSync(at('mapping.ttl'), MAPPING.replace('rml:class ex:Row', 'rml:class ex:Row, ex:Thing'));
    try {
      const after = rows(await linesOf());
      expect(after).toEqual(expect.arrayContaining([...before]));
      expect(after.length).toBe(before.length + 3);
    } finally {
      writeFileSync(at('in.csv'), ROWS);
      writeFileSync(at('mapping.ttl'), MAPPING);
    }
  });

  const NODES = (name: string, formulation: string, iterator: string, value: string): string => `@prefix rml: <http://w3id.org/rml/> .
<#Row> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "${name}" ] ;
  rml:referenceFormulation rml:${formulation} ; rml:iterator "${iterator}" ] ; rml:subjectMap [ rml:termType rml:BlankNode ] ;
  rml:predicateObjectMap [ rml:predicate <http://e/p> ; rml:objectMap [ rml:reference "${value}" ] ] .
`;

  test.each<[name: string, file: string, formulation: string, iterator: string, value: string, before: string, after: string]>([
    ['JSON', 'x.json', 'JSONPath', '$.a[*]', '$.v', '{"a":[{"v":1},{"v":2}]}', '{"b":{},\n"a":[{"v":1,"w":[1,2]},{"v":2}]}'],
    [
      'JSON within elements',
      'x.json',
      'JSONPath',
      '$.a[*].b[*]',
      '$.v',
      '{"a":[{"b":[{"v":1}]},{"b":[{"v":2},{"v":3}]}]}',
      '{"a":[{"b":[{"v":1},{"v":9}]},{"b":[{"v":2},{"v":3}]}]}',
    ],
    [
      'JSON Lines',
      'x.jsonl',
      'JSONPath',
      '$[*].b[*]',
      '$.v',
      '{"b":[{"v":1}]}\n{"b":[{"v":2}]}',
      '{"b":[{"v":1},{"v":9}]}\n{"b":[{"v":2}]}',
    ],
    [
      'XML',
      'x.xml',
      'XPath',
      '/r/x',
      'v',
      '<r><x><v>1</v></x><x><v>2</v></x></r>',
      '<r><x><w/><v>1</v><w>a</w></x>text<x><v>2</v></x></r>',
    ],
    [
      'XML within elements',
      'x.xml',
      'XPath',
      '/r/g/x',
      '.',
      '<r><g><x>1</x></g><g><x>2</x><x>3</x></g></r>',
      '<r>\n<g><x>1</x><x>9</x></g><g k="1"><x>2</x><x>3</x></g></r>',
    ],
    [
      'XML that is read as a whole',
      'x.xml',
      'XPath',
      '/r/g/x[../../@k]',
      '.',
      '<r k="1"><g><x>1</x></g><g><x>2</x></g></r>',
      '<r k="1"><g><x>1</x><x>9</x></g><g><x>2</x></g></r>',
    ],
  ])(
    'of records of %s stay when other records get longer or have more within',
    async (_, file, formulation, iterator, value, before, after) => {
      writeFileSync(at('nodes.ttl'), NODES(file, formulation, iterator, value));
      writeFileSync(at(file), before);
      const changes = { mappings: [at('nodes.ttl')] };
      const old = await linesOf(changes);
      writeFileSync(at(file), after);
      expect(await linesOf(changes)).toEqual(expect.arrayContaining([...old]));
      expect(new Set(old.map((line) => line.split(' ')[0])).size).toBe(old.length);
    },
  );

  test('of the same node that a path finds twice are two', async () => {
    writeFileSync(at('nodes.ttl'), NODES('x.json', 'JSONPath', "$['a','a'][*].b[*]", '$.v'));
    writeFileSync(at('x.json'), '{"a":[{"b":[{"v":1},{"v":1}]}]}');
    expect(labelsIn(await linesOf({ mappings: [at('nodes.ttl')] })).size).toBe(4);
  });

  test('of JSON whose array comes twice are one for each record', async () => {
    writeFileSync(at('nodes.ttl'), NODES('x.json', 'JSONPath', '$.a[*].b[*]', '$.v'));
    writeFileSync(at('x.json'), '{"a":{"k":{"b":[{"v":0}]}},"a":[{"b":[{"v":1},{"v":2}]}],"a":[],"a":[{"b":[{"v":3}]},{"b":[{"v":4}]}]}');
    const lines = await linesOf({ mappings: [at('nodes.ttl')] });
    expect([lines.length, labelsIn(lines).size]).toEqual([5, 5]);
  });

  test('of a document that is given twice are two nodes for each row', async () => {
    const inputs = [at('in.csv'), at('in.csv')].map((url) => ({ name: 'in.csv', url }));
    const count = (lines: readonly string[]): number => lines.filter((line) => line.endsWith('type> <http://example.com/Row> .')).length;
    expect([count(await linesOf()), count(await linesOf({ inputs }))]).toEqual([3, 6]);
  });
});

describe('the IRIs of blank nodes', () => {
  const [one, other] = ['a', 'b'].map((seed) => skolemiser('http://e/genid/', seed)) as [
    (label: string) => string,
    (label: string) => string,
  ];

  test('follow from a name alone, whatever file it stands in', async () => {
    for (const label of labelsIn(await linesOf()))
      expect([one(label), other(label)]).toEqual([`http://e/genid/${label}`, `http://e/genid/${label}`]);
  });

  test.each([
    'b0',
    'q',
    'q0123456789abcdef',
    `q${'0'.repeat(31)}gr1`,
    `q${'0'.repeat(32)}`,
    `q${'0'.repeat(32)}r1.x`,
    'tabc',
    `t${'A'.repeat(32)}`,
  ])('of the foreign label %s differ by file', (label) => {
    expect(isName(label)).toBe(false);
    expect(one(label)).not.toBe(other(label));
  });
});
