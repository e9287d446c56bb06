/** Logical targets in jobs for DuckDB, against those of runs. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { transpileFiles } from '../../../bin/commands/mappings/compile.ts';
import { Random } from '../../support/random.ts';
import { awkwardText, writeMapping } from './cases.ts';
import { startDuckdb } from './duckdb.ts';
import { BASE, outputsOfRun } from './lines.ts';

const directory = mkdtempSync(join(tmpdir(), 'quadmill-targets-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const target = (path: string, more = ''): string =>
  `[ a rml:LogicalTarget ; rml:target [ a rml:FilePath ; rml:root rml:CurrentWorkingDirectory ; rml:path "${path}" ] ${more} ]`;

test('have the statements of a run, each once in each target', async () => {
  const random = new Random(5);
  const texts = Array.from({ length: 6 }, () => awkwardText(random));
  const rows = Array.from({ length: 40 }, () => [`${random.between(0, 6)}`, random.pick(texts), random.pick(texts)]);
  const { mapping, directory: own } = writeMapping(directory, 'targets', {
    'mapping.ttl': `<#A> SOURCE(v.csv,CSV) ; rml:subjectMap [ rml:template "http://e/{id}" ; rml:class e:C ; rml:logicalTarget <#One> ] ;
  rml:predicateObjectMap [ rml:predicate e:p ; rml:objectMap [ rml:reference "a" ; rml:logicalTarget <#Two> ] ] ;
  rml:predicateObjectMap [ rml:predicate e:q ; rml:objectMap [ rml:reference "b" ] ; rml:graphMap [ rml:template "http://g/{id}" ; rml:logicalTarget <#Two> ] ] .
<#B> SOURCE(v.csv,CSV) ; rml:subjectMap [ rml:template "http://e/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate e:p ; rml:objectMap [ rml:reference "b" ; rml:logicalTarget <#Two> ] ] ;
  rml:predicateObjectMap [ rml:predicateMap [ rml:constant e:j ; rml:logicalTarget <#One> ] ; rml:objectMap [ rml:parentTriplesMap <#A> ; rml:joinCondition [ rml:child "a" ; rml:parent "b" ] ] ] ;
  rml:predicateObjectMap [ rml:predicate e:r ; rml:objectMap [ rml:reference "a" ] ] .
<#One> ${target('x/out.nq', '; rml:serialization <http://www.w3.org/ns/formats/N-Quads>').replace(/^\[ |\]$/g, '')} .
<#Two> ${target('y/out.nq', '; rml:serialization <http://www.w3.org/ns/formats/N-Quads>').replace(/^\[ |\]$/g, '')} .`,
    'v.csv': `id,a,b\n${rows.map((row) => `${row.map((one) => `"${one.replaceAll('"', '""')}"`).join(',')}\n`).join('')}`,
  });
  const expected = await outputsOfRun(mapping, own);
  const job = await transpileFiles([mapping], 'duckdb', new Map(), BASE, own);
  expect(job.refusals).toEqual([]);
  expect(job.targets.map(({ name }) => name).sort()).toEqual(['2-out.nq', 'out.nq']);
  const engine = await startDuckdb();
  try {
    const found = [await engine.run(job)];
    for (const { query } of job.targets) found.push(await engine.run({ ...job, query }));
    const [main, ...targets] = found;
    const { '': ofRun, ...others } = expected as Record<string, string[]>;
    expect(main).toEqual(ofRun);
    expect(targets.sort(byFirst)).toEqual(Object.values(others).sort(byFirst));
    for (const lines of found) expect(lines.length).toBeGreaterThan(5);
  } finally {
    await engine.close();
  }
});

const byFirst = ([a = '']: readonly string[], [b = '']: readonly string[]): number => a.localeCompare(b);

test('are refused in other formats', async () => {
  const { mapping, directory: own } = writeMapping(directory, 'refused', {
    'mapping.ttl': `<#A> SOURCE(v.csv,CSV) ; rml:subjectMap [ rml:template "http://e/{id}" ; rml:class e:C ;
rml:logicalTarget ${target('out.ttl', '; rml:serialization <http://www.w3.org/ns/formats/Turtle> ; rml:compression rml:gzip')} ] .`,
    'v.csv': 'id\n1\n',
  });
  const { refusals } = await transpileFiles([mapping], 'duckdb', new Map(), BASE, own);
  expect(refusals.map(({ reason }) => reason)).toEqual([
    'the logical target "out.ttl" in another format than N-Quads: turtle',
    'the logical target "out.ttl" with the compression gzip',
  ]);
});
