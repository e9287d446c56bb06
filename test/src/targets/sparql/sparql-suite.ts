/** SPARQL targets on real servers: what is in the store after each call. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Parser } from 'n3';
import type { Statement } from '../../../../src/nquads/statement.ts';
import { sparqlTarget } from '../../../../src/targets/sparql/sparql.ts';
import type { GraphTarget } from '../../../../src/targets/target.ts';
import { writeTo } from '../../../../src/write/write.ts';
import { listening, type Workspace, workspace } from '../../write/writing.ts';
import { type Place, type Stores, sorted, startStores, statements } from './stores.ts';

const never = new AbortController().signal;
const BEFORE = `
  <urn:a> <urn:p> "1" .
  <urn:a> <urn:q> "2" .
  <urn:a> <urn:p> "1" <urn:g> .
  <urn:a> <urn:p> "3" <urn:g> .
  <urn:a> <urn:q> "4" <urn:g> .
  <urn:a> <urn:p> "5" <urn:h> .
  <urn:b> <urn:p> "6" .
  <urn:b> <urn:p> "7" <urn:g> .
`;

/** Canonical N-Quads that a parser of SPARQL may stumble over. Stores write some of them in another way, which means the same. */
const AWKWARD = [
  String.raw`"\\u0022 \\U00000022 \\\\u005C"`,
  String.raw`"\t\b\n\r\f\"\\"`,
  String.raw`"\u0000\u0001\u0007\u000B\u001F\u007F"`,
  '"\u0085\u00a0\u2028\u2029\ufeff\ufffe\uffff"',
  '"\u{1f600}\u{10ffff}e\u0301 \u00e9"',
  `"it's ''' { } ; # . <a> ?x $y @en ^^ //"`,
  '""',
  '" "@en',
  '"x"@de-Latn-1996',
  '"abc"^^<http://www.w3.org/2001/XMLSchema#integer>',
  '"<a/>"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral>',
  `"${'y'.repeat(100_000)}"`,
  '<http://example.org/\u00e4\u20ac\u{1f600}?a=b&c=%20#f>',
  "<urn:x:'()*+,;=!$@~>",
  '<HTTP://Example.ORG:80//a//>',
  '<mailto:a@example.org>',
] as const;

/** All cases on each of these places. */
export function sparqlSuite(places: readonly Place[]): void {
  let stores: Stores;

  beforeAll(async () => {
    stores = await startStores(places.map(({ server }) => server));
  }, 180_000);

  afterAll(async () => {
    await stores?.stop();
  });

  describe.each(
    places.map((place) => [`${place.name}${place.missing === undefined ? '' : ` (not tested: ${place.missing})`}`, place] as const),
  )('%s', (_, place) => casesOf(place));
}

function casesOf(place: Place): void {
  const run = place.missing === undefined ? test : test.skip;
  let target: GraphTarget;

  beforeEach(async () => {
    if (place.missing !== undefined) return;
    await place.reset(BEFORE);
    target = await sparqlTarget(place.address());
  });

  afterEach(async () => {
    await target?.close();
  });

  const there = async (): Promise<string[]> => sorted(await place.contents());

  run('tells what it is', async () => {
    const { product, milliseconds } = await target.probe(never);
    expect(product).toMatch(/\w/);
    expect(milliseconds).toBeGreaterThanOrEqual(0);
    expect(await there()).toEqual(sorted(BEFORE));
  });

  run('adds statements, and adding them again changes nothing', async () => {
    const more = `<urn:c> <urn:p> "8" .\n<urn:c> <urn:p> "8" <urn:g> .\n<urn:a> <urn:p> "1" .\n<urn:c> <urn:p> <urn:d> <urn:i> .\n`;
    await target.insert(statements(more), never);
    await target.insert(statements(more), never);
    expect(await there()).toEqual(sorted(`${BEFORE}${more.replace('<urn:a> <urn:p> "1" .\n', '')}`));
  });

  run('replaces the objects of subject and predicate in their graph', async () => {
    const next = statements('<urn:a> <urn:p> "new" .\n<urn:a> <urn:p> "3" <urn:g> .\n<urn:a> <urn:p> "9" <urn:g> .\n');
    for (let time = 0; time < 2; time++) await target.replace(next, 'property', never);
    expect(await there()).toEqual(
      sorted(`
          <urn:a> <urn:p> "new" .
          <urn:a> <urn:q> "2" .
          <urn:a> <urn:p> "3" <urn:g> .
          <urn:a> <urn:p> "9" <urn:g> .
          <urn:a> <urn:q> "4" <urn:g> .
          <urn:a> <urn:p> "5" <urn:h> .
          <urn:b> <urn:p> "6" .
          <urn:b> <urn:p> "7" <urn:g> .`),
    );
  });

  run('replaces the objects in the default graph alone', async () => {
    await target.replace(statements('<urn:a> <urn:p> "new" .'), 'property', never);
    expect(await there()).toEqual(sorted(BEFORE.replace('<urn:a> <urn:p> "1" .', '<urn:a> <urn:p> "new" .')));
  });

  run('replaces all of a subject in its graph', async () => {
    const next = statements('<urn:a> <urn:r> "new" .\n<urn:a> <urn:r> "new" <urn:g> .\n');
    for (let time = 0; time < 2; time++) await target.replace(next, 'subject', never);
    expect(await there()).toEqual(
      sorted(`
          <urn:a> <urn:r> "new" .
          <urn:a> <urn:r> "new" <urn:g> .
          <urn:a> <urn:p> "5" <urn:h> .
          <urn:b> <urn:p> "6" .
          <urn:b> <urn:p> "7" <urn:g> .`),
    );
  });

  const graphs = [
    ['a named graph', '<urn:g>'],
    ['the default graph', ''],
    ['a graph that is not there yet', '<urn:new>'],
  ] as const;

  /** `BEFORE` with other contents of one graph. */
  const exchanged = (graph: string, lines: readonly Statement[]): string[] =>
    sorted(text([...statements(BEFORE).filter((each) => each.graph !== graph), ...lines.map((line) => ({ ...line, graph }))]));

  run.each(graphs)('replaces %s', async (_name, graph) => {
    const next = statements('<urn:x> <urn:p> "1" .\n<urn:y> <urn:p> "2" .\n').map((each) => ({ ...each, graph }));
    const replacement = await target.replaceGraph(graph, 'run-1-0', never);
    await replacement.insert(next.slice(0, 1), never);
    await replacement.insert(next.slice(1), never);
    await replacement.commit(never);
    expect(await there()).toEqual(exchanged(graph, next));
    // The answer may have been lost: committing again is harmless.
    await replacement.commit(never);
    expect(await there()).toEqual(exchanged(graph, next));
  });

  run.each(graphs)('begins the replacement of %s again after an interruption', async (_name, graph) => {
    const [old, next] = ['<urn:old> <urn:p> "1" .', '<urn:x> <urn:p> "1" .'].map(statements) as [Statement[], Statement[]];
    const interrupted = await target.replaceGraph(graph, 'run/1 ä', never);
    await interrupted.insert(old, never);
    const again = await target.replaceGraph(graph, 'run/1 ä', never);
    await again.insert(next, never);
    await again.commit(never);
    expect(await there()).toEqual(exchanged(graph, next));
  });

  run.each(graphs)('leaves %s alone when the replacement is given up', async (_name, graph) => {
    const replacement = await target.replaceGraph(graph, 'run-1', never);
    await replacement.insert(statements('<urn:x> <urn:p> "1" .'), never);
    await replacement.abort();
    expect(await there()).toEqual(sorted(BEFORE));
  });

  run.each(graphs)('empties %s when there is nothing to put there', async (_name, graph) => {
    const replacement = await target.replaceGraph(graph, 'run-1', never);
    await replacement.commit(never);
    expect(await there()).toEqual(exchanged(graph, []));
  });

  describe('an update of graphs that are named', () => {
    let space: Workspace;
    beforeEach(() => {
      space = workspace();
    });
    afterEach(() => space.remove());

    run.each<[what: string, lines: string, graphs: readonly string[], emptied: readonly string[]]>([
      ['a graph of which the file has nothing', '<urn:x> <urn:p> "new" <urn:g> .\n', ['urn:g', 'urn:h'], ['<urn:g>', '<urn:h>']],
      ['a file without statements', '', ['urn:h'], ['<urn:h>']],
      ['the default graph', '<urn:x> <urn:p> "new" <urn:new> .\n', ['default'], ['']],
      ['a graph that the store does not have', '', ['urn:h', 'urn:unknown'], ['<urn:h>']],
    ])('empties them, and others stay: %s', async (_name, lines, named, emptied) => {
      const request = space.request([space.file('named.nq', lines)], { mode: 'update', scope: 'graph', graphs: named });
      const stay = text(statements(BEFORE).filter(({ graph }) => !emptied.includes(graph)));
      for (const runId of ['first', 'again']) {
        await writeTo(target, { ...request, runId }, listening());
        expect(await there()).toEqual(sorted(`${stay}${lines}`));
      }
    });
  });

  const awkward = AWKWARD.filter((object) => place.changes?.test(object) !== true)
    .map((object, index) => `<urn:s${index}> <urn:p> ${object} <urn:g\u00e4> .\n<urn:s${index}> <urn:p> ${object} .\n`)
    .join('');

  run('stores awkward terms as they are, added or replaced', async () => {
    await place.reset('');
    await target.insert(statements(awkward), never);
    expect(await there()).toEqual(sorted(awkward));
    await target.replace(statements(awkward.replaceAll('urn:p', 'urn:q')), 'subject', never);
    expect(await there()).toEqual(sorted(awkward.replaceAll('urn:p', 'urn:q')));
  });

  run('stores triple terms as they are, added or replaced, or takes none', async () => {
    if (target.takesTripleTerms !== true) return;
    const triple = (object: string): string => `<<( <urn:a> <urn:p> <<( <urn:b> <urn:p> ${object} )>> )>>`;
    const some = (object: string): readonly Statement[] => [
      { subject: '<urn:s>', predicate: '<urn:p>', object: triple(object), graph: '<urn:g>', line: 1 },
      { subject: '<urn:s>', predicate: '<urn:p>', object: triple('"a )>> b"@en'), graph: '', line: 2 },
    ];
    const text = (all: readonly Statement[]): string =>
      all
        .map(({ subject, predicate, object, graph }) => `${subject} ${predicate} ${object} ${graph}${graph === '' ? '' : ' '}.\n`)
        .join('');
    await place.reset('');
    await target.insert(some('"1"'), never);
    expect(await there()).toEqual(sorted(text(some('"1"'))));
    await target.replace(some('"2"'), 'subject', never);
    expect(await there()).toEqual(sorted(text(some('"2"'))));
    await target.replace(some('"3"'), 'property', never);
    expect(await there()).toEqual(sorted(text(some('"3"'))));
  });

  run('keeps blank nodes together within a call, and apart between calls', async () => {
    const blank = statements('<urn:s> <urn:p> _:a:b.c <urn:g> .\n_:a:b.c <urn:q> "1" <urn:g> .\n_:0 <urn:q> _:a:b.c .\n');
    await place.reset('');
    if (!target.takesBlankNodes) {
      await expect(target.insert(blank, never)).rejects.toMatchObject({ code: 'target/refused' });
      return;
    }
    await target.insert(blank, never);
    await target.replace(blank.slice(0, 2), 'property', never);
    const quads = new Parser({ format: 'N-Quads' }).parse(await place.contents());
    const objects = quads.filter(({ predicate }) => predicate.value === 'urn:p').map(({ object }) => object.id);
    expect(objects).toHaveLength(1);
    expect(quads.filter(({ subject }) => subject.id === objects[0])).toHaveLength(1);
    // Three of them: two of the first call, one of the second.
    expect(quads.filter(({ predicate }) => predicate.value === 'urn:q')).toHaveLength(3);
  });

  if (place.update !== undefined)
    run('takes all operations of a request or none', async () => {
      const update = 'INSERT DATA { <urn:first> <urn:p> "1" } ; DELETE WHERE { <urn:a> ?p ?o } ; LOAD <http://127.0.0.1:1/nothing>';
      await expect(place.update?.(update)).rejects.toThrow();
      expect(await there()).toEqual(sorted(BEFORE));
    });

  run.each(['property', 'subject', 'graph'] as const)(
    'equals an oracle after random changes of scope %s',
    async (scope) => {
      const random = randomNumbers(scope.length);
      const some = (count: number): Statement[] => {
        const subject = () => `<urn:s${random(count / 8)}> <urn:p${random(4)}> "${random(3)}"`;
        const texts = Array.from({ length: count }, () => `${subject()}${['', ' <urn:g>', ' <urn:h>'][random(3)]} .\n`);
        return statements([...new Set(texts)].join(''));
      };
      const keyOf = ({ graph, subject, predicate }: Statement): string =>
        scope === 'graph' ? graph : scope === 'subject' ? `${graph} ${subject}` : `${graph} ${subject} ${predicate}`;
      let oracle = some(6_000);
      await place.reset('');
      await target.insert(oracle, never);
      for (let round = 0; round < 3; round++) {
        const next = some(4_000).filter(({ graph }) => scope !== 'graph' || graph !== '<urn:h>');
        if (scope !== 'graph') await target.replace(next, scope, never);
        else {
          for (const graph of ['', '<urn:g>']) {
            const replacement = await target.replaceGraph(graph, `run-${round}`, never);
            const lines = next.filter((each) => each.graph === graph);
            await replacement.insert(lines, never);
            await replacement.commit(never);
          }
        }
        const replaced = new Set(next.map(keyOf));
        oracle = [...oracle.filter((each) => !replaced.has(keyOf(each))), ...next];
        expect(await there()).toEqual(sorted(text(oracle)));
      }
    },
    120_000,
  );
}

function text(those: readonly Statement[]): string {
  return those.map(({ subject, predicate, object, graph }) => `${subject} ${predicate} ${object} ${graph} .\n`).join('');
}

/** The same ones each time. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
