/** Rows whose columns are keys, or nearly so, as Parquet and as CSV: each statement once, whether keys are looked for or not. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../../src/config/run-defaults.ts';
import { uniqueRules } from '../../../../../src/plan/physical/keys.ts';
import { findKeys, withKeys } from '../../../../../src/run/execute/key-finder.ts';
import { prepareRun } from '../../../../../src/run/prepare/prepare.ts';
import type { RunRequest } from '../../../../../src/run/request.ts';
import { executeRun, sliceRun } from '../../../../../src/run/run.ts';
import { Random } from '../../../../support/random.ts';
import { type Column, parquet } from '../../../sources/parquet/writing.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-keys-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

interface Row {
  readonly id: number | null;
  readonly name: string | null;
  readonly group: number;
}

/** What needs quotes, what is written with several bytes, and nothing: numbers. */
const LEADS = ['n', '', 'a,"b" ', 'x\ny', 'é€', '-'];
/** Ascending by their characters, by their length, by neither, and by both up to the tenth. */
const NUMBERS: readonly ((i: number) => string)[] = [
  (i) => String(i).padStart(3, '0'),
  String,
  (i) => String((i * 7) % 40),
  (i) => (i < 10 ? `00${i}` : `0${49 - i}`),
];

function rowsOf(random: Random): readonly Row[] {
  const count = random.between(1, 40);
  const repeats = random.chance(0.5);
  const lead = random.pick(LEADS);
  const number = random.pick(NUMBERS);
  const rows = Array.from({ length: count }, (_, i) => ({
    id: random.chance(0.1) ? null : repeats && random.chance(0.15) ? random.between(0, i) : i * 3 - 5,
    name: random.chance(0.1) ? null : repeats && random.chance(0.1) ? `${lead}1` : lead + number(i),
    group: random.between(0, 3),
  }));
  return random.chance(0.2) ? rows.reverse() : rows;
}

/** With quotes where they are needed, and sometimes where they are not. */
const quoted = (text: string, random: Random): string =>
  /[",\n]/.test(text) || (text !== '' && random.chance(0.3)) ? `"${text.replaceAll('"', '""')}"` : text;

const SUBJECTS = ['{id}', '{name}', '{group}', '{group}-{id}', '{name}/{group}', '{id}{name}', '{id}/{id}'];

/** Two triples maps, which may make statements of each other, and have the subject of the other one as an object. */
const mapping = (subjects: readonly string[], extension: string): string =>
  `@prefix rml: <http://w3id.org/rml/> .\n@prefix ex: <http://example.com/> .\n@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n${subjects
    .map(
      (subject, i) =>
        `<http://example.com/map/${i}> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:CurrentWorkingDirectory ; rml:path "rows.${extension}" ${extension === 'csv' ? '; rml:null ""' : ''} ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://example.com/${subject}" ; rml:class ex:Row ] ;
  rml:predicateObjectMap [ rml:predicate ex:group ; rml:objectMap [ rml:reference "group" ; rml:datatype xsd:integer ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:p${i} ; rml:objectMap [ rml:template "{name} {group}" ; rml:termType rml:Literal ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:o${i} ; rml:objectMap [ rml:template "http://example.com/${subjects.at(i - 1)}" ] ] .`,
    )
    .join('\n')}\n`;

async function linesOf(request: RunRequest): Promise<readonly string[]> {
  const parts: string[] = [];
  await executeRun(request, { write: (lines) => void parts.push(lines), commit: async () => [], abort: async () => {} }, {});
  return parts.join('').split('\n').slice(0, -1).sort();
}

test('the same statements, each once, with and without keys', async () => {
  const random = new Random(610);
  const keyed = { parquet: 0, csv: 0 };
  let sliced = 0;
  for (let i = 0; i < 120; i++) {
    const rows = rowsOf(random);
    const column = (name: keyof Row, type: Column['type']): Column => ({ name, type: type as 'INT32', data: rows.map((row) => row[name]) });
    const columns = [column('id', random.chance(0.5) ? 'INT32' : 'INT64'), column('name', 'STRING'), column('group', 'INT32')];
    const data = columns.map((one) =>
      one.type === 'INT64' ? { ...one, data: one.data.map((v) => (v === null ? null : BigInt(v as number))) } : one,
    );
    writeFileSync(join(directory, 'rows.parquet'), parquet(data, { rowGroupSize: random.between(3, 50) }));
    writeFileSync(
      join(directory, 'rows.csv'),
      `id,name,group\n${rows.map((row) => `${row.id ?? ''},${quoted(row.name ?? '', random)},${row.group}\n`).join('')}`,
    );
    const subjects = [random.pick(SUBJECTS), random.pick(SUBJECTS)];
    const requestOf = (extension: string): RunRequest => {
      writeFileSync(join(directory, `${extension}.ttl`), mapping(subjects, extension));
      return {
        ...RUN_DEFAULTS,
        runId: 'keys',
        mappings: [join(directory, `${extension}.ttl`)],
        inputs: [],
        workingDirectory: directory,
        spillDirectory: join(directory, 'spill'),
        ...(random.chance(0.3) ? { memoryBudgetBytes: 0 } : {}),
      };
    };
    const unlooked = requestOf('csv');
    const expected = await linesOf(unlooked);
    expect(new Set(expected).size).toBe(expected.length);
    for (const [format, request] of [
      ['parquet', requestOf('parquet')],
      ['csv', { ...requestOf('csv'), keyBytes: 0 }],
    ] as const) {
      expect(await linesOf(request)).toEqual(expected);
      // Threads get the triples maps that have a key.
      if (i % 20 === 0) expect(await linesOf({ ...request, threads: 3, threadBytes: 100 })).toEqual(expected);
      keyed[format] += await keyedMapsOf(request);
    }
    expect(await keyedMapsOf(unlooked)).toBe(0);
    if (i % 3 === 0)
      sliced += await compareSlices({ ...requestOf('csv'), inputs: [{ name: 'rows.csv', url: 'rows.csv' }], keyBytes: 0 }, expected);
  }
  expect(sliced).toBeGreaterThan(15);
  // About half of the triples maps have a key: otherwise this would try nothing. Of Parquet, single columns are looked at.
  expect(keyed.parquet).toBeGreaterThan(50);
  expect(keyed.parquet).toBeLessThan(200);
  expect(keyed.csv).toBeGreaterThan(50);
  expect(keyed.csv).toBeLessThan(220);
}, 120_000);

/** Statements of a slice are distinct; those of two are compared elsewhere. Returns the number of triples maps with a key in a slice. */
async function compareSlices(request: RunRequest, expected: readonly string[]): Promise<number> {
  const cut = await sliceRun(request, { rows: 0, bytes: 60 }, new AbortController().signal);
  if (cut === undefined) return 0;
  const all = new Set<string>();
  let keyed = 0;
  for (const slice of cut.slices) {
    const lines = await linesOf({ ...request, slice });
    expect(new Set(lines).size).toBe(lines.length);
    for (const line of lines) all.add(line);
    keyed += await keyedMapsOf({ ...request, slice });
  }
  await cut.release();
  expect([...all].sort()).toEqual(expected);
  return keyed;
}

/** Number of triples maps that compare no subjects. */
async function keyedMapsOf(request: RunRequest): Promise<number> {
  const prepared = await prepareRun(request, undefined);
  try {
    const scans = request.slice?.scans ?? [{ position: 0, range: undefined }];
    const keys = await findKeys(prepared, scans, request, new AbortController().signal);
    expect(uniqueRules(prepared.physical).size).toBe(0);
    return uniqueRules(withKeys(prepared, keys).physical).size;
  } finally {
    await prepared.close();
  }
}

describe('a large document of CSV, of which parts are read first', () => {
  const ROWS = 40_000;
  const cells = (i: number): string => `"text of ${i}, with ""quotes""\nin ${i % 5} lines${'\n'.repeat(i % 5)}"`;
  const find = async (idOf: (i: number) => string): Promise<number> => {
    writeFileSync(
      join(directory, 'rows.csv'),
      `name,id,group\n${Array.from({ length: ROWS }, (_, i) => `${cells(i)},${idOf(i)},1\n`).join('')}`,
    );
    writeFileSync(join(directory, 'csv.ttl'), mapping(['{id}'], 'csv'));
    const mappings = [join(directory, 'csv.ttl')];
    const request = {
      ...RUN_DEFAULTS,
      runId: 'keys',
      mappings,
      inputs: [],
      workingDirectory: directory,
      spillDirectory: directory,
      keyBytes: 0,
    };
    return keyedMapsOf(request);
  };

  test.each<[string, (i: number) => string, number]>([
    ['numbers that ascend', String, 1],
    ['texts that ascend', (i) => `x${String(i).padStart(6, '0')}`, 1],
    ['the last row has a text that was there', (i) => String(i === ROWS - 1 ? 7 : i), 0],
    ['the same texts twice', (i) => String(i % (ROWS / 2)), 0],
    ['one text', () => 'x', 0],
    ['texts in no order', (i) => String((i * 7919) % ROWS), 1],
    ['texts in no order, one of them twice', (i) => String(((i === ROWS - 1 ? 7 : i) * 7919) % ROWS), 0],
  ])('%s', async (_, idOf, keys) => expect(await find(idOf)).toBe(keys));
});

type Format = 'csv' | 'parquet';

describe('a file that another one replaces between the look for keys and the run', () => {
  const rows = (format: Format, ids: readonly number[]): Buffer =>
    format === 'csv'
      ? Buffer.from(`id,name,group\n${ids.map((id, i) => `${id},n${id},${i}\n`).join('')}`)
      : parquet([
          { name: 'id', type: 'INT32', data: ids },
          { name: 'name', type: 'STRING', data: ids.map((id) => `n${id}`) },
          { name: 'group', type: 'INT32', data: ids.map((_, i) => i) },
        ]);
  const withTarget = (text: string): string =>
    text.replace(
      'rml:class ex:Row ]',
      'rml:class ex:Row ; rml:logicalTarget [ rml:target [ a rml:FilePath ; rml:path "out.nt" ] ; rml:serialization <http://www.w3.org/ns/formats/N-Triples> ] ]',
    );
  const path = (format: Format): string => join(directory, `rows.${format}`);
  const replace = (format: Format, ids: readonly number[]): void => {
    writeFileSync(join(directory, 'new'), rows(format, ids));
    renameSync(join(directory, 'new'), path(format));
  };
  const run = async (format: Format, before: readonly number[], threads: number): Promise<readonly string[]> => {
    writeFileSync(path(format), rows(format, before));
    writeFileSync(join(directory, 'replaced.ttl'), withTarget(mapping(['{id}'], format)));
    const request = {
      ...RUN_DEFAULTS,
      runId: 'replaced',
      mappings: [join(directory, 'replaced.ttl')],
      inputs: [],
      workingDirectory: directory,
      spillDirectory: join(directory, 'spill'),
      threads,
      threadBytes: 10,
      keyBytes: 0,
    };
    const parts: string[] = [];
    const write = (lines: string): void => void parts.push(lines);
    // Called between the look for keys and the reading.
    const openTarget = async (): Promise<{ write(lines: string): void }> => {
      replace(format, [7, 7, 7]);
      return { write };
    };
    await executeRun(request, { write, commit: async () => [], abort: async () => {} }, { openTarget });
    return parts.join('').split('\n').slice(0, -1).sort();
  };

  test.each([
    ['parquet', 1],
    ['parquet', 3],
    ['csv', 1],
    ['csv', 3],
  ] as const)('is a fault if a key was found: %s, %i threads', async (format, threads) => {
    await expect(run(format, [1, 2, 3], threads)).rejects.toMatchObject({
      code: 'run/lost',
      message: `${path(format)} has changed since the run began to read it`,
      place: { input: path(format) },
    });
  });

  test.each(['parquet', 'csv'] as const)('is read if none was found: %s', async (format) => {
    const lines = await run(format, [1, 1, 1], 1);
    expect(new Set(lines).size).toBe(lines.length);
    expect(lines).toHaveLength(8);
  });
});

test('a server is asked once for what is read: keys are looked for on this machine alone', async () => {
  let asked = 0;
  const server = createServer((_, response) => {
    asked++;
    response.writeHead(200, { 'content-type': 'text/csv' }).end('id,name,group\n1,a,1\n2,b,1\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    writeFileSync(join(directory, 'served.ttl'), mapping(['{id}'], 'csv'));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/rows.csv`;
    const lines = await linesOf({
      ...RUN_DEFAULTS,
      runId: 'served',
      mappings: [join(directory, 'served.ttl')],
      inputs: [{ name: 'rows.csv', url }],
      workingDirectory: directory,
      spillDirectory: join(directory, 'spill'),
      keyBytes: 0,
    });
    expect([lines.length, asked]).toEqual([8, 1]);
  } finally {
    server.close();
  }
});
