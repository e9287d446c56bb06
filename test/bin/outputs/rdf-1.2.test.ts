/** `quadmill run --rdf 1.2`: triple terms and reifiers in every format that has them, read back by a store and by our own readers. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import oxigraph from 'oxigraph';
import { openEmbeddedStore } from '../../../src/targets/embedded/embedded.ts';
import { inRdf12 } from '../../support/quoted-triples.ts';
import { storeClient } from '../../support/service/store-client.ts';

/** A statement about a triple, and one that quotes it within another triple. `%` is the graph of the second. */
const MAPPING = `@prefix rml: <http://w3id.org/rml/> .
@prefix e: <http://e/> .
<#Said> a rml:NonAssertedTriplesMap ; rml:logicalSource _:s ; rml:subjectMap [ rml:template "http://e/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate e:says ; rml:objectMap [ rml:reference "what" ] ] .
<#When> rml:logicalSource _:s ; rml:subjectMap [ rml:quotedTriplesMap <#Said> ] ;
  rml:predicateObjectMap [ rml:predicate e:when ; rml:objectMap [ rml:reference "when" ; rml:datatype e:year ] ] .
<#Who> rml:logicalSource _:s ; rml:subjectMap [ rml:reference "who" ; rml:termType rml:BlankNode ] ;
  rml:predicateObjectMap [ rml:predicate e:states ; rml:objectMap [ rml:quotedTriplesMap <#When> ] % ] .
<#Heard> rml:logicalSource _:s ; rml:subjectMap [ rml:template "http://e/who/{who}" ] ;
  rml:predicateObjectMap [ rml:predicate e:heard ; rml:objectMap [
    rml:quotedTriplesMap <#Said> ; rml:joinCondition [ rml:child "who" ; rml:parent "by" ] ] ] .
_:s rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "said.csv" ] ; rml:referenceFormulation rml:CSV .
`;

const TABLE = `id,what,when,who,by
1,"a << b >> ""c"" )>>",2020,x,y
1,"a << b >> ""c"" )>>",2021,y,x
2,ü,2021,x,x
`;

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-rdf12-'));
  await writeFile(join(directory, 'said.csv'), TABLE);
  await writeFile(join(directory, 'mapping.ttl'), MAPPING.replace('%', '; rml:graph e:g'));
  await writeFile(join(directory, 'triples.ttl'), MAPPING.replace('%', ''));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const quadmill = (...args: readonly string[]): Promise<Ended> =>
  new Promise((done) => {
    const child = execFile(process.execPath, [resolve('bin/quadmill.js'), ...args], { cwd: directory }, (_, out, err) =>
      done({ code: child.exitCode, out, err }),
    );
  });

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');

/** As canonical N-Quads, by a parser that is not ours. */
const parsed = (text: string, format: string): readonly string[] =>
  oxigraph
    .parse(text, { format })
    .map((quad) => quad.toString())
    .sort();

describe('a run in RDF 1.2', () => {
  test('is what it is in RDF-star, with a reifier for each quoted subject', async () => {
    const star = await quadmill('run', 'mapping.ttl');
    const made = await quadmill('run', 'mapping.ttl', '--rdf', '1.2', '--stats');
    expect([star.code, made.code]).toEqual([0, 0]);
    expect(linesOf(made.out).toSorted()).toEqual([...inRdf12(linesOf(star.out))].sort());
    expect(JSON.parse(made.err)).toMatchObject({ quads: linesOf(made.out).length });
    expect((await quadmill('run', 'mapping.ttl', '--rdf', 'star')).out).toBe(star.out);
  });

  test.each([
    ['ntriples', 'application/n-triples', 'triples.ttl'],
    ['turtle', 'text/turtle', 'triples.ttl'],
    ['trig', 'application/trig', 'mapping.ttl'],
  ])('says the same in %s', async (format, mediaType, mapping) => {
    const [nquads, other] = await Promise.all([
      quadmill('run', mapping, '--rdf', '1.2'),
      quadmill('run', mapping, '--rdf', '1.2', '--format', format),
    ]);
    expect(other.code).toBe(0);
    expect(parsed(other.out, mediaType)).toEqual(parsed(nquads.out, 'application/n-quads'));
    expect(parsed(other.out, mediaType)).toHaveLength(linesOf(nquads.out).length);
  });

  test('is refused where the format has no triple terms', async () => {
    const { code, out, err } = await quadmill('run', 'mapping.ttl', '--rdf', '1.2', '--format', 'jsonld', '-o', 'out.jsonld');
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/statement with a triple term, and JSON-LD has none .*Ask for the format nquads, ntriples, turtle or trig/);
  });

  test('an unknown version is named with those that there are', async () => {
    const { code, err } = await quadmill('run', 'mapping.ttl', '--rdf', '1.1');
    expect(code).toBe(2);
    expect(err).toMatch(/--rdf is '1.1', expected is .*star.*1\.2/);
  });

  test('is read back from the embedded store as it was written', async () => {
    const run = await quadmill('run', 'mapping.ttl', '--rdf', '1.2', '-o', 'graph.nq');
    expect(run.code).toBe(0);
    const lines = linesOf(await readFile(join(directory, 'graph.nq'), 'utf8'));
    for (const mode of ['insert', 'insert', 'update']) {
      const { code, err } = await quadmill('write', 'graph.nq', '--target', './store', '--mode', mode);
      expect([code, err]).toEqual([0, '']);
    }
    const store = await openEmbeddedStore(join(directory, 'store'));
    try {
      const found = await storeClient(store.endpoint).quads();
      const labels = found.map((line) => line.replace(/<[^<>]*\/genid\/(?:[^<>/]*\/)?([^<>/]*)>/g, '_:$1'));
      const canonical = (all: readonly string[]) => parsed(`${all.join('\n')}\n`, 'application/n-quads');
      // Labels that name mapping and input give the same IRIs in every write; others are of their file.
      expect(canonical([...new Set(labels)])).toEqual(canonical(lines));
    } finally {
      await store.close();
    }
  }, 240_000);
});
