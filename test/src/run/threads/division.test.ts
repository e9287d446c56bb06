/** How a run is divided among threads, and that its report, faults and warnings are those of one thread. */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import type { Fault } from '../../../../src/core/fault.ts';
import { prepareRun } from '../../../../src/run/prepare/prepare.ts';
import type { RunReport, RunRequest } from '../../../../src/run/request.ts';
import { executeRun } from '../../../../src/run/run.ts';
import { divide } from '../../../../src/run/threads/units.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-division-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

const never = new AbortController().signal;
const PREFIXES =
  '@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://e/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @base <http://e/> .\n';

const source = (path: string, formulation = 'CSV', iterator?: string): string =>
  `rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "${path}" ] ;
    rml:referenceFormulation rml:${formulation} ${iterator === undefined ? '' : `; rml:iterator "${iterator}"`} ]`;
const subject = (template: string): string => `rml:subjectMap [ rml:template "http://e/${template}" ]`;
const value = (predicate: string, object: string): string =>
  `rml:predicateObjectMap [ rml:predicate ex:${predicate} ; rml:objectMap [ ${object} ] ]`;
const reference = (name: string): string => value(name.replaceAll(/\W/g, ''), `rml:reference "${name}"`);
const parent = (map: string, child = 'p', key = 'id'): string =>
  value('parent', `rml:parentTriplesMap <#${map}> ; rml:joinCondition [ rml:child "${child}" ; rml:parent "${key}" ]`);

const rows = (count: number): string => `id,p,v\n${Array.from({ length: count }, (_, i) => `${i},${i >> 1},v${i % 5}`).join('\n')}\n`;
const records = (count: number): unknown[] => Array.from({ length: count }, (_, id) => ({ id, p: id >> 1, v: `v${id % 5}` }));
const elements = (count: number): string =>
  `<r>${Array.from({ length: count }, (_, i) => `<x id="${i}"><p>${i >> 1}</p></x>\n`).join('')}</r>`;

const FILES = {
  'a.csv': rows(100),
  'b.csv': rows(80),
  'a.json': JSON.stringify({ list: records(60) }),
  'a.jsonl': records(60)
    .map((one) => JSON.stringify(one))
    .join('\n'),
  'a.xml': elements(60),
};

const requestOf = (mapping: string, changes: Partial<RunRequest> = {}): RunRequest => {
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(directory, name), text);
  writeFileSync(join(directory, 'mapping.ttl'), PREFIXES + mapping);
  return {
    ...RUN_DEFAULTS,
    runId: 'division',
    mappings: [join(directory, 'mapping.ttl')],
    inputs: [],
    workingDirectory: directory,
    spillDirectory: join(directory, 'spill'),
    threads: 3,
    threadBytes: 400,
    ...changes,
  };
};

const A = `<#A> ${source('a.csv')} ; ${subject('a/{id}')} ; ${reference('v')} .\n`;
const B = `<#B> ${source('b.csv')} ; ${subject('b/{id}')} ; ${reference('v')} .\n`;
const SELF = `<#S> ${source('a.csv')} ; ${subject('a/{id}')} ; ${reference('v')} ; ${parent('S')} .\n`;
const OTHER = `<#A> ${source('a.csv')} ; ${subject('a/{id}')} ; ${parent('B')} .\n${B}`;
const VIEWS = `<#V> rml:viewOn [ ${source('a.csv').replace(/^rml:logicalSource \[|\]$/g, '')} ] ; rml:field [ rml:fieldName "id" ; rml:reference "id" ] ;
  rml:leftJoin [ rml:parentLogicalView <#W> ; rml:joinCondition [ rml:child "id" ; rml:parent "p" ] ; rml:field [ rml:fieldName "v" ; rml:reference "v" ] ] .
<#W> rml:viewOn [ ${source('b.csv').replace(/^rml:logicalSource \[|\]$/g, '')} ] ; rml:field [ rml:fieldName "p" ; rml:reference "p" ] , [ rml:fieldName "v" ; rml:reference "v" ] .
<#A> rml:logicalSource <#V> ; ${subject('{id}')} ; ${reference('v')} .\n`;
const MEMBERS = `<#A> ${source('a.csv')} ; ${subject('a/{id}')} ; ${value('l', 'rml:gather ( [ rml:parentTriplesMap <#B> ; rml:joinCondition [ rml:child "p" ; rml:parent "id" ] ] ) ; rml:gatherAs rdf:List')} .\n${B}`;
const QUOTED = `${A}<#Q> ${source('a.csv')} ; rml:subjectMap [ rml:quotedTriplesMap <#A> ] ; ${reference('v')} .\n`;

/** Groups as numbers of units; `+n`: after n documents were read for join indexes. */
async function divided(request: RunRequest): Promise<string> {
  const prepared = await prepareRun(request, undefined);
  try {
    const division = await divide(prepared, request, never);
    if (division === undefined) return 'one thread';
    const texts: string[] = [];
    for (const { group, units } of division.groups) {
      let count = 0;
      for await (const _ of units) count++;
      texts.push(`${count}${group?.builds.length ? `+${group.builds.length}` : ''}`);
    }
    await division.close();
    return texts.join(' ');
  } finally {
    await prepared.close();
  }
}

describe('a run is divided into', () => {
  test.each<[what: string, mapping: string, changes: Partial<RunRequest>, expected: string]>([
    ['slices of CSV', A, {}, '3'],
    ['slices of two independent files', A + B, {}, '3 2'],
    ['slices of files whose statements may be equal, in one group', A + B.replace('b/{id}', 'a/{id}'), {}, '5'],
    ['slices of a file that joins itself', SELF, {}, '3+1'],
    ['nothing: the sides of joins are large', OTHER, { memoryBudgetBytes: 1000 }, 'one thread'],
    ['slices of two files that are joined', OTHER, {}, '5+1'],
    ['slices of views that are joined', VIEWS, {}, '5+1'],
    ['slices of a file whose lists get their members from another', MEMBERS, {}, '5+1'],
    ['nothing: fields of joined views may be rejected', VIEWS, { onError: 'skip' }, 'one thread'],
    ['slices of a JSON array', `<#J> ${source('a.json', 'JSONPath', '$.list[*]')} ; ${subject('{id}')} ; ${reference('v')} .`, {}, '4'],
    ['slices of JSON Lines', `<#J> ${source('a.jsonl', 'JSONPath', '$[*]')} ; ${subject('{id}')} ; ${reference('v')} .`, {}, '4'],
    ['slices of XML', `<#X> ${source('a.xml', 'XPath', '/r/x')} ; ${subject('{@id}')} ; ${reference('p')} .`, {}, '4'],
    ['a whole and slices', `${A}<#X> ${source('a.xml', 'XPath', '//x')} ; ${subject('x/{@id}')} ; ${reference('p')} .`, {}, '1 3'],
    ['nothing: the files are small', A + B, { threadBytes: 1e6 }, 'one thread'],
    ['nothing: by default, files of a few bytes are', A + B, { threadBytes: undefined }, 'one thread'],
    [
      'nothing: a position leads out of the slice',
      `<#X> ${source('a.xml', 'XPath', '/r/x[7]')} ; ${subject('{@id}')} ; ${reference('p')} .`,
      {},
      'one thread',
    ],
    ['nothing: parents may be rejected', OTHER, { onError: 'skip' }, 'one thread'],
    [
      'nothing: parents have a blank node for each record',
      OTHER.replace('rml:template "http://e/b/{id}"', 'rml:termType rml:BlankNode'),
      {},
      'one thread',
    ],
    ['slices, in RDF 1.2 without quoted triples', A, { rdf: '1.2' }, '3'],
    ['nothing: reifiers of RDF 1.2 are of the whole run', QUOTED, { rdf: '1.2' }, 'one thread'],
  ])('%s', async (_, mapping, changes, expected) => {
    expect(await divided(requestOf(mapping, changes))).toBe(expected);
  });
});

test('a large array of JSON is cut for three threads, and not for two, which would take longer than one', async () => {
  const one = `{"id":"${'x'.repeat(60_000)}"}`;
  writeFileSync(join(directory, 'large.json'), `[${Array.from({ length: 1200 }, () => one).join(',')}]`);
  const mapping = `<#J> ${source('large.json', 'JSONPath', '$[*]')} ; ${subject('{id}')} ; ${value('p', 'rml:constant "c"')} .`;
  expect(await divided(requestOf(mapping, { threads: 2, threadBytes: undefined }))).toBe('one thread');
  expect(await divided(requestOf(mapping, { threads: 3, threadBytes: undefined }))).toBe('35');
});

test('slices come while the document is cut, and cutting ends when it is closed', async () => {
  writeFileSync(join(directory, 'long.csv'), rows(400_000));
  const prepared = await prepareRun(requestOf(A.replace('a.csv', 'long.csv'), { threadBytes: 1_000_000 }), undefined);
  const division = await divide(prepared, requestOf(A, { threadBytes: 1_000_000 }), never);
  const [first] = division?.groups ?? [];
  const ranges = [];
  const cut = async (): Promise<void> => {
    for await (const unit of first?.units ?? []) {
      ranges.push(unit.scans[0]?.range);
      if (ranges.length === 2) await division?.close();
    }
  };
  await cut().catch((error: Fault) => expect(error.code).toBe('run/cancelled'));
  expect(ranges.length).toBe(2);
  await prepared.close();
});

interface Ran {
  readonly lines: readonly string[];
  readonly report: RunReport;
}

async function run(request: RunRequest): Promise<Ran> {
  let text = '';
  const sink = {
    write(lines: string): void {
      text += lines;
    },
    commit: async () => [],
    abort: async () => undefined,
  };
  const report = await executeRun(request, sink, {});
  return { lines: text.split('\n').slice(0, -1).sort(), report };
}

describe('threads', () => {
  const triplesMaps = (report: RunReport) => report.triplesMaps.toSorted((a, b) => (a.id < b.id ? -1 : 1));

  test.each([
    ['slices', A + B],
    ['a self-join', SELF],
    ['a join', OTHER],
    ['equal statements of two files', A + B.replace('b/{id}', 'a/{id}')],
    [
      'a reference that no record has',
      `<#J> ${source('a.json', 'JSONPath', '$.list[*]')} ; ${subject('{id}')} ; ${reference('v')} ; ${reference('missing')} .`,
    ],
    ['an iterator without records', `${A}<#J> ${source('a.json', 'JSONPath', '$.other[*]')} ; ${subject('{id}')} ; ${reference('v')} .`],
  ])('report what one thread reports: %s', async (_, mapping) => {
    const one = await run(requestOf(mapping, { threads: 1 }));
    for (const memoryBudgetBytes of [RUN_DEFAULTS.memoryBudgetBytes, 100_000]) {
      const three = await run(requestOf(mapping, { memoryBudgetBytes }));
      expect(three.lines).toEqual(one.lines);
      const { records, quads, rejected } = one.report;
      expect(three.report).toMatchObject({ records, quads, rejected, warnings: one.report.warnings });
      if (memoryBudgetBytes > 0 && !mapping.includes('b/{id}" ] .'))
        expect(triplesMaps(three.report).map(({ id, records }) => ({ id, records }))).toEqual(
          triplesMaps(one.report).map(({ id, records }) => ({ id, records })),
        );
    }
  });

  test('with --on-error strict, a reference that no record has is a fault', async () => {
    const mapping = `<#J> ${source('a.json', 'JSONPath', '$.list[*]')} ; ${subject('{id}')} ; ${reference('missing')} .`;
    const [one, three] = await Promise.all(
      [1, 3].map((threads) => run(requestOf(mapping, { threads, onError: 'strict' })).catch((error: Fault) => error.toJSON())),
    );
    expect(one).toMatchObject({ code: 'mapping/reference' });
    expect(three).toEqual(one);
  });

  test('that are ended in the middle leave no files', async () => {
    // One group cannot be cut and spills all its subjects; the last slice of the other one has a fault.
    const whole = B.replaceAll('b.csv', 'b.csv.gz');
    const request = requestOf(whole + A, { memoryBudgetBytes: 0, threadBytes: 200_000 });
    writeFileSync(join(directory, 'b.csv.gz'), gzipSync(rows(600_000)));
    writeFileSync(join(directory, 'a.csv'), `${rows(300_000)}"1"x,2,3\n`);
    let spilled: readonly string[] = [];
    const watch = setInterval(() => {
      const found = existsSync(request.spillDirectory) ? readdirSync(request.spillDirectory) : [];
      if (!spilled.some((name) => !name.includes('undecided'))) spilled = found;
    }, 20);
    await expect(run(request)).rejects.toMatchObject({ code: 'source/malformed' });
    clearInterval(watch);
    expect(spilled).toContainEqual(expect.not.stringContaining('undecided'));
    expect(readdirSync(request.spillDirectory)).toEqual([]);
  });

  test('what functions take for the present is the same for all', async () => {
    const mapping = `@prefix grel: <http://users.ugent.be/~bjdmeest/function/grel.ttl#> .
      <#A> ${source('a.csv')} ; ${subject('a/{id}')} ; ${value('at', 'rml:functionExecution [ rml:function grel:date_now ]')} .`;
    const { lines } = await run(requestOf(mapping));
    expect(new Set(lines.map((line) => line.split(' ')[2])).size).toBe(1);
    expect(lines.length).toBe(100);
  });

  describe('say where a fault is as one thread does', () => {
    const broken = (name: string, text: string): void => writeFileSync(join(directory, name), text);
    test.each<[what: string, mapping: string, name: string, text: string]>([
      [
        'JSON with a record that is no JSON',
        `<#J> ${source('broken.json', 'JSONPath', '$.list[*]')} ; ${subject('{id}')} ; ${reference('v')} .`,
        'broken.json',
        JSON.stringify({ list: records(60) }, undefined, 1).replace('"id": 41,', '"id": 41;'),
      ],
      [
        'XML with a wrong end tag',
        `<#X> ${source('broken.xml', 'XPath', '/r/x')} ; ${subject('{@id}')} ; ${reference('p')} .`,
        'broken.xml',
        elements(60).replace('<p>20</p></x>\n<x id="42">', '<p>20</q></x>\n<x id="42">'),
      ],
      [
        'CSV with an open quote',
        `<#C> ${source('broken.csv')} ; ${subject('{id}')} ; ${reference('v')} .`,
        'broken.csv',
        rows(100).replace('90,45,', '90,"45'),
      ],
    ])('%s', async (_, mapping, name, text) => {
      const places = [];
      for (const threads of [1, 3]) {
        const request = requestOf(mapping, { threads });
        broken(name, text);
        const fault = await run(request).then(
          () => undefined,
          (error: Fault) => error,
        );
        expect(fault).toMatchObject({ code: 'source/malformed' });
        const { line, column, byte } = fault?.place ?? {};
        places.push({ line, column, byte, message: fault?.message });
      }
      expect(places[1]).toEqual(places[0]);
    });
  });
});
