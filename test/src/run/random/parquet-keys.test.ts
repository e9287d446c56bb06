/** Rows of Parquet whose columns are keys, or nearly so, against the same rows as CSV: each statement once, whatever is known beforehand. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { findKeyedMaps } from '../../../../src/run/execute/file-keys.ts';
import { prepareRun } from '../../../../src/run/prepare/prepare.ts';
import type { RunRequest } from '../../../../src/run/request.ts';
import { executeRun } from '../../../../src/run/run.ts';
import { Random } from '../../../support/random.ts';
import { type Column, parquet } from '../../sources/parquet/writing.ts';

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

function rowsOf(random: Random): readonly Row[] {
  const count = random.between(1, 40);
  const repeats = random.chance(0.5);
  const rows = Array.from({ length: count }, (_, i) => ({
    id: random.chance(0.1) ? null : repeats && random.chance(0.15) ? random.between(0, i) : i * 3 - 5,
    name: random.chance(0.1) ? null : repeats && random.chance(0.1) ? 'n1' : `n${String(i).padStart(3, '0')}`,
    group: random.between(0, 3),
  }));
  return random.chance(0.4) ? rows.reverse() : rows;
}

const SUBJECTS = ['{id}', '{name}', '{group}', '{group}-{id}', '{name}/{group}', '{id}{name}', '{id}/{id}'];

/** Two triples maps, which may make statements of each other. */
const mapping = (subjects: readonly string[], extension: string): string =>
  `@prefix rml: <http://w3id.org/rml/> .\n@prefix ex: <http://example.com/> .\n@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n${subjects
    .map(
      (subject, i) =>
        `<http://example.com/map/${i}> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:CurrentWorkingDirectory ; rml:path "rows.${extension}" ${extension === 'csv' ? '; rml:null ""' : ''} ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://example.com/${subject}" ; rml:class ex:Row ] ;
  rml:predicateObjectMap [ rml:predicate ex:group ; rml:objectMap [ rml:reference "group" ; rml:datatype xsd:integer ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:p${i} ; rml:objectMap [ rml:template "{name} {group}" ; rml:termType rml:Literal ] ] .`,
    )
    .join('\n')}\n`;

async function linesOf(request: RunRequest): Promise<readonly string[]> {
  const parts: string[] = [];
  await executeRun(request, { write: (lines) => void parts.push(lines), commit: async () => [], abort: async () => {} }, {});
  return parts.join('').split('\n').slice(0, -1).sort();
}

test('the same statements as of CSV, each once, with and without keys', async () => {
  const random = new Random(610);
  let keyed = 0;
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
      `id,name,group\n${rows.map((row) => `${row.id ?? ''},${row.name ?? ''},${row.group}\n`).join('')}`,
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
    const request = requestOf('parquet');
    const expected = await linesOf(requestOf('csv'));
    expect(await linesOf(request)).toEqual(expected);
    expect(new Set(expected).size).toBe(expected.length);
    // Threads are told which triples maps have a key.
    if (i % 20 === 0) expect(await linesOf({ ...request, threads: 3, threadBytes: 100 })).toEqual(expected);
    const prepared = await prepareRun(request, undefined);
    keyed += (await findKeyedMaps(prepared, request, new AbortController().signal)).maps.length;
    await prepared.close();
  }
  // About half of the triples maps have a key: otherwise this would try nothing.
  expect(keyed).toBeGreaterThan(50);
  expect(keyed).toBeLessThan(200);
}, 120_000);

describe('a file that another one replaces between the look for keys and the run', () => {
  const rows = (ids: readonly number[]): Buffer =>
    parquet([
      { name: 'id', type: 'INT32', data: ids },
      { name: 'name', type: 'STRING', data: ids.map((id) => `n${id}`) },
      { name: 'group', type: 'INT32', data: ids.map((_, i) => i) },
    ]);
  const path = (): string => join(directory, 'rows.parquet');
  const replace = (ids: readonly number[]): void => {
    writeFileSync(join(directory, 'new.parquet'), rows(ids));
    renameSync(join(directory, 'new.parquet'), path());
  };
  const run = async (before: readonly number[], threads: number): Promise<readonly string[]> => {
    writeFileSync(path(), rows(before));
    writeFileSync(join(directory, 'replaced.ttl'), mapping(['{id}'], 'parquet'));
    const request = {
      ...RUN_DEFAULTS,
      runId: 'replaced',
      mappings: [join(directory, 'replaced.ttl')],
      inputs: [],
      workingDirectory: directory,
      spillDirectory: join(directory, 'spill'),
      threads,
      threadBytes: 10,
    };
    const parts: string[] = [];
    // Called after the look for keys.
    const located = async (): Promise<void> => replace([7, 7, 7]);
    await executeRun(request, { write: (lines) => void parts.push(lines), commit: async () => [], abort: async () => {} }, { located });
    return parts.join('').split('\n').slice(0, -1).sort();
  };

  test.each([1, 3])('is a fault if a key was found: %i threads', async (threads) => {
    await expect(run([1, 2, 3], threads)).rejects.toMatchObject({
      code: 'run/lost',
      message: `${path()} has changed since the run began to read it`,
      place: { input: path() },
    });
  });

  test('is read if none was found', async () => {
    const lines = await run([1, 1, 1], 1);
    expect(new Set(lines).size).toBe(lines.length);
    expect(lines).toHaveLength(7);
  });
});
