/** Rejected records name the line on which they begin, in every format that has lines. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import type { RunRequest } from '../../../../src/run/request.ts';
import { executeRun } from '../../../../src/run/run.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-lines-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

type Found = [id: string | undefined, line: number | undefined];

const idIn = (text: string): string | undefined => /a \d+|z \d+/.exec(text)?.[0];

/** The lines that rejected records name, by what they are rejected for. */
async function linesIn(name: string, text: string, formulation: string, iterators: readonly string[], id: string): Promise<Found[]> {
  const maps = iterators.map(
    (
      iterator,
      i,
    ) => `<#M${i}> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "${name}" ] ;
  rml:referenceFormulation rml:${formulation} ${iterator === '' ? '' : `; rml:iterator "${iterator}"`} ] ;
  rml:subjectMap [ rml:reference "${id}" ; rml:termType rml:IRI ; rml:class <http://e/C> ] .`,
  );
  writeFileSync(join(directory, 'mapping.ttl'), `@prefix rml: <http://w3id.org/rml/> .\n${maps.join('\n')}\n`);
  writeFileSync(join(directory, name), text);
  const found: Found[] = [];
  const request: RunRequest = {
    ...RUN_DEFAULTS,
    runId: 'lines',
    mappings: [join(directory, 'mapping.ttl')],
    inputs: [],
    workingDirectory: directory,
    spillDirectory: join(directory, 'spill'),
    onError: 'skip',
    maxRejected: 1e9,
  };
  const sink = { write: () => undefined, commit: async () => [], abort: async () => undefined };
  await executeRun(request, sink, {
    reject: ({ fault: { place } }) => void found.push([idIn(String(place.value)), place.line]),
  });
  return found;
}

/** The document, and for each place marked by `@` before a record `http://e/a <n>`: its line. */
function marked(text: string): { readonly document: string; readonly expected: Found[] } {
  const parts = text.split('@');
  let before = parts[0] as string;
  const expected = parts.slice(1).map((part): Found => {
    const line = before.split('\n').length;
    before += part;
    return [idIn(part), line];
  });
  return { document: parts.join(''), expected };
}

const COUNT = 2500;
const records = (record: (i: number) => string, between: string): string =>
  Array.from({ length: COUNT }, (_, i) => record(i)).join(between);
const pretty = (i: number): string =>
  i % 3 === 0 ? `@{"id": "http://e/a ${i}"}` : `@{\n  "x": [1,\n 2],${' '.repeat(i % 90)}\n  "id": "http://e/a ${i}"}`;
const element = (i: number): string => (i % 3 === 0 ? `@<x\n i='http://e/a ${i}'/>` : `@<x i="http://e/a ${i}">\n<y>${i}</y>\n\n</x>`);
const items = (i: number): string => `{"k":\n${i},\n"b": [@{"id": "http://e/a ${i}"},\n\n @{"id":"http://e/a ${i}1"}]}`;

describe.each([
  ['LF', '\n'],
  ['CRLF', '\r\n'],
])('the line of a record, with %s,', (_, end) => {
  test.each<[name: string, file: string, text: string, formulation: string, iterator: string, id: string]>([
    [
      'CSV with cells of several lines',
      'in.csv',
      `id,b\n${records((i) => `@http://e/a ${i},"${'x\n'.repeat(i % 4)}"`, '\n')}`,
      'CSV',
      '',
      'id',
    ],
    ['a JSON array', 'in.json', `\n[ ${records(pretty, ',\n\n')}]`, 'JSONPath', '$[*]', '$.id'],
    ['JSON records on one line', 'in.json', `\n\n[${records((i) => `@{"id": "http://e/a ${i}"}`, ', ')}\n]`, 'JSONPath', '$[*]', '$.id'],
    ['JSON within elements', 'in.json', `{"a":\n [${records(items, ',\n')}]}`, 'JSONPath', '$.a[*].b[*]', '$.id'],
    ['JSON that passes a filter', 'in.json', `[${records(pretty, ',')}]`, 'JSONPath', '$[?@.id]', '$.id'],
    ['JSON Lines', 'in.jsonl', records((i) => `@{"id": "http://e/a ${i}"}`, '\n'), 'JSONPath', '$[*]', '$.id'],
    ['JSON Lines with values of several lines', 'in.jsonl', records(pretty, '\n\n'), 'JSONPath', '$[*]', '$.id'],
    ['items of JSON Lines', 'in.jsonl', records((i) => `{"b": [@{"id": "http://e/a ${i}"}]}`, '\n'), 'JSONPath', '$[*].b[*]', '$.id'],
    ['XML', 'in.xml', `<?xml version="1.0"?>\n<r\n>${records(element, '\n')}</r>`, 'XPath', '/r/x', '@i'],
    ['XML that is no stream of slots', 'in.xml', `<r>\n<!-- \n -->${records(element, '\n')}</r>`, 'XPath', '//x[@i]', '@i'],
    ['XML that waits for its parent', 'in.xml', `<r>\n<g>${records(element, '\n')}<k>1</k></g></r>`, 'XPath', '/r/g/x[../k = 1]', '@i'],
  ])('of %s', async (_, file, text, formulation, iterator, id) => {
    const { document, expected } = marked(text.replaceAll('\n', end));
    const isKnown = !iterator.includes('../');
    const found = await linesIn(file, document, formulation, [iterator], id);
    // A record that the whole document is read for has no line.
    const all = isKnown ? expected : expected.map(([value]): Found => [value, undefined]);
    expect(found.length).toBe(all.length);
    const wrong = found.findIndex((one, i) => one.join() !== all[i]?.join());
    expect([wrong, found[wrong]]).toEqual([-1, all[wrong]]);
  });
});

test('a record within a value that another triples map takes as a whole has the line of it, or none if there are several', async () => {
  const text = `{"id": "http://e/z 1", "b": [{"id": "http://e/a 1"}]}\n{"id": "http://e/z 2",\n"b": [{"id": "http://e/a 2"}]}\n`;
  expect((await linesIn('in.jsonl', text, 'JSONPath', ['$[*]', '$[*].b[*]'], '$.id')).toSorted()).toEqual([
    ['a 1', 1],
    ['a 2', undefined],
    ['z 1', 1],
    ['z 2', 2],
  ]);
});

test('an element of an entity has the line of its reference, and records behind it have their own', async () => {
  const type = `<!DOCTYPE r [<!ENTITY e "<x i='http://e/a 1'/>\n\n<x i='http://e/a 2'/>">]>`;
  expect(await linesIn('in.xml', `${type}\n<r>\n&e;\n<x i="http://e/a 3"/></r>`, 'XPath', ['/r/x'], '@i')).toEqual([
    ['a 1', 5],
    ['a 2', 5],
    ['a 3', 6],
  ]);
});

test('the root has the line of its tag', async () => {
  expect(await linesIn('in.xml', `<?xml version="1.0"?>\n\n<r\n i="http://e/a 1"\n/>`, 'XPath', [''], '@i')).toEqual([['a 1', 3]]);
});
