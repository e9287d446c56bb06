/** Joins of a database beside terms that can reject a record: the join is made where the record is rejected in the same way. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { writeSqlite } from '../../../servers/databases/sqlite.ts';
import { reportedLines, withoutLabels } from '../random/engine.ts';

let directory: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-guards-'));
  await writeSqlite(
    join(directory, 't.sqlite'),
    `CREATE TABLE t (id TEXT, iri TEXT, a TEXT, b TEXT); INSERT INTO t VALUES ('1', 'http://e/x', 'p', 'q'), ('2', 'no iri', 'q', 'p');`,
  );
});
afterAll(() => rmSync(directory, { recursive: true }));

test('a quoted triple with a blank node of its record keeps the join in the engine', async () => {
  const table = 'rml:logicalSource [ rml:source <#db> ; rml:referenceFormulation rml:SQL2008Table ; rml:iterator "t" ]';
  writeFileSync(
    join(directory, 'm.ttl'),
    `@prefix rml: <http://w3id.org/rml/> . @prefix d2rq: <http://www.wiwiss.fu-berlin.de/suhl/bizer/D2RQ/0.1#> . @prefix ex: <http://e/> .
@base <http://e/map/> .
<#db> a d2rq:Database ; d2rq:jdbcDSN "jdbc:sqlite:${join(directory, 't.sqlite')}" ; d2rq:jdbcDriver "org.sqlite.JDBC" .
<#quoted> a rml:NonAssertedTriplesMap ; ${table} ; rml:subjectMap [ rml:termType rml:BlankNode ] ;
  rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap [ rml:reference "iri" ; rml:termType rml:IRI ] ] .
<#M> ${table} ; rml:subjectMap [ rml:template "http://e/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:says ; rml:objectMap [ rml:quotedTriplesMap <#quoted> ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:joined ; rml:objectMap [ rml:parentTriplesMap <#M> ;
    rml:joinCondition [ rml:child "a" ; rml:parent "b" ] ] ] .`,
  );
  const { lines, report } = await reportedLines({
    mappings: [join(directory, 'm.ttl')],
    workingDirectory: directory,
    onError: 'skip',
    maxRejected: 10,
  });
  // Both triples maps reject the second record, also as a child. A parent needs its subject and keys alone.
  expect(report.rejected).toBe(2);
  expect(withoutLabels(lines)).toEqual([
    '<http://e/1> <http://e/joined> <http://e/2> .',
    '<http://e/1> <http://e/says> << _:0 <http://e/p> <http://e/x> >> .',
  ]);
});
