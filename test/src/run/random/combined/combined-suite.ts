/**
 * Views, joins, functions, collections, quoted triples, graphs and logical targets in one mapping, over CSV, JSON, JSON Lines, XML and tables:
 * the statements are those of the same mapping over the rows of its views as CSV, in memory, without memory, in threads and in slices. A broken
 * promise of a view is a fault.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Fault } from '../../../../../src/core/fault.ts';
import { Random } from '../../../../support/random.ts';
import { type Changes, linesOf, linesOfSlices, requestOf, withoutLabels } from '../engine.ts';
import { expectSameIn, formatOf } from '../equalities/written.ts';
import { COLUMNS, CSV, changesOf, type Databases, FORMATS, openDatabases, type Row, rowsOf, TABLES, type Tables } from '../formats.ts';
import { isBroken, mappingOf, rowsOfView, textOf, viewColumns, viewOf } from './mapping.ts';

const MOST_LINES = 1000;

/** @param threaded of the seeds: those whose runs are also made in threads */
export function combinedModules(seeds: readonly number[], threaded: (seed: number) => boolean): void {
  describe('mappings that combine everything', () => {
    let directory: string;
    let databases: Databases;
    beforeAll(async () => {
      directory = mkdtempSync(join(tmpdir(), 'quadmill-combined-'));
      mkdirSync(join(directory, 'rows'));
      databases = await openDatabases();
    }, 120_000);
    afterAll(async () => {
      await databases?.close();
      rmSync(directory, { recursive: true, force: true });
    });

    const counts = { statements: 0, faults: 0, refused: 0, sliced: 0, gathers: 0, quoted: 0, threaded: 0, large: 0, written: 0 };

    test.each(seeds)('seed %d', async (seed) => {
      const random = new Random(seed);
      const tables: Tables = { one: rowsOf(random, 1, 14), two: rowsOf(random, 1, 14) };
      const alone = random.chance(0.2);
      const view = viewOf(random, alone);
      // Some of the cases have a table of a database.
      const database = databases.formats[seed % databases.formats.length];
      const choices = database === undefined ? FORMATS : [...FORMATS, ...FORMATS, database, database];
      const cut = FORMATS.filter(({ isCut }) => isCut);
      const formats = { one: random.pick(alone ? cut : choices), two: random.pick(choices) };
      const numbers = random.between(0, 1e9);
      const mapping = mappingOf(new Random(numbers), view, formats, alone);
      const judge = mappingOf(new Random(numbers), view, undefined, alone);

      const rows = join(directory, 'rows');
      for (const table of TABLES) await CSV.write(rows, table, COLUMNS, tables[table]);
      await CSV.write(rows, 'view', viewColumns(view), rowsOfView(view, tables));
      writeFileSync(join(rows, 'mapping.ttl'), textOf(judge));
      const common = { onError: 'skip' as const, maxRejected: 1e9 };
      const expected = await linesOf({ ...common, mappings: [join(rows, 'mapping.ttl')], workingDirectory: rows }).then(
        (lines) => lines,
        (error: unknown) => error as Error,
      );
      const changes: Changes = {
        ...common,
        mappings: [join(directory, 'mapping.ttl')],
        workingDirectory: directory,
        ...changesOf(Object.values(formats)),
      };
      const prepare = async (given: Tables, isReversed = false): Promise<void> => {
        for (const table of TABLES) await formats[table].write(directory, table, COLUMNS, given[table]);
        writeFileSync(join(directory, 'mapping.ttl'), textOf(mapping, isReversed));
      };
      await prepare(tables);
      if (expected instanceof Error) {
        if (!(expected instanceof Fault) || expected.code !== 'mapping/invalid') throw expected;
        counts.refused++;
        await expect(linesOf(changes)).rejects.toMatchObject({ code: expected.code });
        return;
      }
      const readsView = mapping.maps.some(({ rows: kind }) => kind === 'view' || kind === 'again');
      if (readsView && isBroken(view, tables)) {
        counts.faults++;
        for (const memoryBudgetBytes of [2 ** 26, 0])
          await expect(linesOf({ ...changes, memoryBudgetBytes })).rejects.toMatchObject({ code: 'record/promise' });
        return;
      }
      // Telling blank nodes apart takes long for the pairs of many rows.
      if (expected.length > MOST_LINES) {
        counts.large++;
        return;
      }
      const plain = withoutLabels(expected);
      counts.statements += plain.length;
      if (mapping.gathers) counts.gathers++;
      if (plain.some((line) => line.includes('<< '))) counts.quoted++;
      const check = async (what: string, more: Partial<Changes>): Promise<readonly string[]> => {
        const lines = await linesOf({ ...changes, ...more });
        expect([what, withoutLabels(more.distinct === false ? [...new Set(lines)] : lines)]).toEqual([what, plain]);
        return lines;
      };
      const labelled = (await check('in memory', {})).toSorted();
      // However the run is divided, its labels are the same.
      const checkLabels = async (what: string, more: Partial<Changes>): Promise<void> => {
        const lines = await linesOf({ ...changes, ...more });
        expect([what, (more.distinct === false ? [...new Set(lines)] : lines).toSorted()]).toEqual([what, labelled]);
      };
      await checkLabels('without memory', { memoryBudgetBytes: 0, keyBytes: 0 });
      if (!mapping.gathers) await checkLabels('not distinct', { distinct: false });
      if (threaded(seed)) {
        await checkLabels('in threads', { threads: 3, threadBytes: 300, keyBytes: 0 });
        counts.threaded++;
      }
      for (const rdf of ['star', '1.2'] as const) {
        const written = await expectSameIn(formatOf(seed), { ...requestOf(changes, join(directory, 'spill')), threads: 1, rdf });
        if (written) counts.written++;
        if (threaded(seed))
          await expectSameIn('trig', { ...requestOf(changes, join(directory, 'spill')), threads: 3, threadBytes: 300, rdf });
      }
      const slices = await linesOfSlices(changes, { rows: 7, bytes: 200 });
      if (slices !== undefined) {
        counts.sliced++;
        expect(slices.toSorted()).toEqual(labelled);
      }
      await prepare(tables, true);
      await check('in another order', {});
      await check('in another order, without memory', { memoryBudgetBytes: 0 });
      if (mapping.gathers) return;
      const shuffled = (of: readonly Row[]): readonly Row[] =>
        random.shuffle(mapping.counts || view.promises.length > 0 ? of : [...of, ...of.filter(() => random.chance(0.2))]);
      await prepare({ one: shuffled(tables.one), two: shuffled(tables.two) });
      await check('of permuted sources', {});
    });

    test('are of all kinds', () => {
      if (seeds.length < 20) return;
      const { statements, faults, refused, sliced, gathers, quoted, large, written } = counts;
      expect(statements).toBeGreaterThan(10 * seeds.length);
      expect(large).toBeLessThan(seeds.length / 8);
      expect(refused).toBeLessThan(seeds.length / 4);
      for (const many of [faults, gathers, quoted, sliced, written]) expect(many).toBeGreaterThan(seeds.length / 50);
    });
  });
}
