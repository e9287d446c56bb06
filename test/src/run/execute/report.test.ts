/** What a run reports of each triples map. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { executeRun } from '../../../../src/run/run.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-report-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const write = (name: string, text: string): string => {
  writeFileSync(join(directory, name), text);
  return join(directory, name);
};

const field = (name: string, reference: string): string => `[ rml:fieldName "${name}" ; rml:reference "${reference}" ]`;
const reads = (name: string): string => `rml:predicateObjectMap [ rml:predicate ex:${name} ; rml:objectMap [ rml:reference "${name}" ] ]`;
const MAPPING = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://example.com/> .
<http://example.com/view> rml:viewOn [
    rml:source [ a rml:RelativePathSource ; rml:root rml:CurrentWorkingDirectory ; rml:path "people.json" ] ;
    rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]" ] ;
  rml:field ${field('id', '$.id')} , ${field('name', '$.name')} , ${field('tag', '$.tags[*]')} .
<http://example.com/Person> rml:logicalSource <http://example.com/view> ;
  rml:subjectMap [ rml:template "http://example.com/{id}" ] ; `;

/** Statements, and records of the triples map, over two documents: three rows with their tags, and one. */
async function recordsOf(name: string, objects: readonly string[]): Promise<readonly [quads: number, records: readonly number[]]> {
  const inputs = [
    write('a.json', '[{"id":1,"name":"Ada","tags":["x","y"]},{"id":2,"name":"Bo"}]'),
    write('b.json', '[{"id":3,"name":"Cy"}]'),
  ].map((url) => ({ name: 'people.json', url }));
  const mappings = [write(`${name}.ttl`, `${MAPPING}${objects.map(reads).join(' ; ')} .`)];
  const request = { ...RUN_DEFAULTS, runId: name, workingDirectory: directory, spillDirectory: join(directory, 'spill'), mappings, inputs };
  const sink = { write: () => undefined, commit: async () => [], abort: async () => {} };
  const { quads, triplesMaps } = await executeRun(request, sink, {});
  return [quads, triplesMaps.map(({ records }) => records)];
}

test('the records of a triples map whose rows are split count once, those of several documents each', async () => {
  expect(await recordsOf('split', ['name', 'tag'])).toEqual([5, [4]]);
  expect(await recordsOf('whole', ['tag'])).toEqual([2, [4]]);
});
