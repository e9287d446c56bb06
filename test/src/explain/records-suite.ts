/**
 * Records of random mappings: every statement of a run is found in some record, and taking away the only record that makes it takes the
 * statement away.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../src/config/run-defaults.ts';
import { type FoundRows, findRecords } from '../../../src/explain/find-records.ts';
import { readStatements } from '../../../src/nquads/read.ts';
import type { Statement } from '../../../src/nquads/statement.ts';
import type { RunRequest } from '../../../src/run/request.ts';
import { executeRun } from '../../../src/run/run.ts';
import { Random } from '../../support/random.ts';
import { document, fileName, invent, type RandomMapping, turtle } from '../run/random/mapping.ts';

/** Statements of a mapping that are looked for, and of those the ones whose record is taken away. */
const WANTED = 40;
const REMOVED = 6;

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-records-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

function requestOf(mapping: RandomMapping): RunRequest {
  writeFileSync(join(directory, 'mapping.ttl'), turtle(mapping));
  const files = mapping.sources.map((source, i) => ({ name: fileName(source, i), text: document(source) }));
  for (const { name, text } of files) writeFileSync(join(directory, name), text);
  return {
    ...RUN_DEFAULTS,
    runId: 'records',
    mappings: [join(directory, 'mapping.ttl')],
    inputs: files.filter(({ name }) => turtle(mapping).includes(`"${name}"`)).map(({ name }) => ({ name, url: name })),
    workingDirectory: directory,
    spillDirectory: join(directory, 'spill'),
    base: mapping.base,
  };
}

/** The statements that a reader of N-Quads accepts: not those with unsafe IRIs. */
async function statementsOf(request: RunRequest): Promise<readonly Statement[]> {
  const parts: Buffer[] = [];
  const sink = { write: (lines: string) => void parts.push(Buffer.from(lines, 'latin1')), commit: async () => [], abort: async () => {} };
  await executeRun(request, sink, {});
  const bytes = async function* (): AsyncGenerator<Uint8Array> {
    yield* parts;
  };
  const statements: Statement[] = [];
  for await (const block of readStatements(bytes(), { input: 'run', skolem: undefined })) statements.push(...block.statements);
  return statements;
}

const keyOf = ({ subject, predicate, object, graph }: Statement): string => [subject, predicate, object, graph].join(' ');

/** By row, the records that it is made of, as path and position: that of a join has two. */
const recordsOf = ({ rows }: FoundRows): readonly (readonly string[])[] =>
  rows.map(({ record, parent }) =>
    [record, ...(parent === undefined ? [] : [parent])].flatMap(({ places }) =>
      places.map((place) => `${place.scan.source.kind === 'file' ? place.scan.source.path : ''} ${place.record}`),
    ),
  );

function without(mapping: RandomMapping, record: string): RandomMapping {
  const [path, position] = record.split(' ') as [string, string];
  const sources = mapping.sources.map((source, i) =>
    fileName(source, i) === path ? { ...source, records: source.records.filter((_, at) => at !== Number(position)) } : source,
  );
  return { ...mapping, sources };
}

export function randomRecords(seeds: readonly number[]): void {
  describe('records of random mappings', () => {
    test.each(seeds)('%d', async (seed) => {
      const random = new Random(seed);
      const mapping = invent(seed, 12);
      const request = requestOf(mapping);
      const all = await statementsOf(request);
      const wanted = Array.from({ length: Math.min(all.length, WANTED) }, () => random.pick(all));
      const found = await findRecords(request, wanted, {});
      expect(wanted.filter((_, i) => found[i]?.count === 0).map(keyOf)).toEqual([]);
      const removable = wanted.flatMap((statement, i) => {
        const { rows, count } = found[i] as FoundRows;
        // A blank node of a record is labelled by its position, which changes when another record goes.
        return rows.length < count || keyOf(statement).includes('_:f') ? [] : [{ statement, records: recordsOf(found[i] as FoundRows) }];
      });
      for (const { statement, records } of removable.slice(0, REMOVED)) {
        const removed = records[0]?.[0] as string;
        const left = await statementsOf(requestOf(without(mapping, removed)));
        const isLeft = records.some((row) => !row.includes(removed));
        expect([keyOf(statement), left.map(keyOf).includes(keyOf(statement))]).toEqual([keyOf(statement), isLeft]);
      }
    });
  });
}
