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
import { listRecords } from '../../../src/explain/list-records.ts';
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

/** By triples map and record, the statements that a run makes of it. Those of joins stand in no row, or in the child's. */
async function statementsByRecord(
  request: RunRequest,
): Promise<{ readonly rows: ReadonlyMap<string, number>; readonly maps: ReadonlySet<string> }> {
  const rows = new Map<string, number>();
  const maps = new Set<string>();
  await executeRun(
    { ...request, distinct: false, threads: 1, onError: 'skip', maxRejected: Number.MAX_SAFE_INTEGER },
    { write: () => undefined, commit: async () => [], abort: async () => undefined },
    {
      row: ({ id }, lines, input, record) => {
        maps.add(id);
        const key = `${id} ${input} ${record}`;
        const count = [...lines].join('').split('\n').length - 1;
        rows.set(key, (rows.get(key) ?? 0) + count);
      },
    },
  );
  return { rows, maps };
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
        return rows.length < count || /_:q\w{32}[rs]/.test(keyOf(statement))
          ? []
          : [{ statement, records: recordsOf(found[i] as FoundRows) }];
      });
      for (const { statement, records } of removable.slice(0, REMOVED)) {
        const removed = records[0]?.[0] as string;
        const left = await statementsOf(requestOf(without(mapping, removed)));
        const isLeft = records.some((row) => !row.includes(removed));
        expect([keyOf(statement), left.map(keyOf).includes(keyOf(statement))]).toEqual([keyOf(statement), isLeft]);
      }
    });

    test.each(seeds)('%d: each record once, with what a run makes of it', async (seed) => {
      const mapping = invent(seed, 12);
      const request = requestOf(mapping);
      const { rows, maps } = await statementsByRecord(request);
      const hasJoins = turtle(mapping).includes('rml:parentTriplesMap');
      for (const id of maps) {
        const { records, more } = await listRecords(request, id, {});
        expect(more).toBe(false);
        const listed = new Map(
          records.map(({ record: { places }, statements }) => [`${id} ${places[0]?.input} ${places[0]?.record}`, statements]),
        );
        const ofRun = [...rows].filter(([key]) => key.startsWith(`${id} `));
        // A record that is rejected has no row in a run.
        expect(ofRun.filter(([key]) => !listed.has(key))).toEqual([]);
        expect(listed.size).toBe(records.length);
        for (const [key, count] of ofRun) {
          if (hasJoins) expect(listed.get(key)).toBeLessThanOrEqual(count);
          else expect([key, listed.get(key)]).toEqual([key, count]);
        }
      }
    });
  });
}
