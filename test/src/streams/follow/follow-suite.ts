/**
 * Random mappings over tables that change at random: after the follower has caught up, the graph of the newest version is what a plain run over the
 * tables makes. It is killed at times, where it writes a file of the dataset.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Fault } from '../../../../src/core/fault.ts';
import { fromBytes } from '../../../../src/core/text.ts';
import { Dataset } from '../../../../src/datasets/dataset.ts';
import { type DatasetFiles, openFiles } from '../../../../src/datasets/files.ts';
import type { ChangesBy } from '../../../../src/datasets/manifest.ts';
import { USUAL_S3_ACCESS } from '../../../../src/storage/s3-access.ts';
import { type EpochReport, follow } from '../../../../src/streams/follow/follower.ts';
import { tablesOfTopics } from '../../../../src/streams/follow/tables.ts';
import { Random } from '../../../support/random.ts';
import { plainLabels } from '../../../support/read-rdf.ts';
import * as comparable from '../../datasets/records-suite.ts';
import { mappingOf, textOf, viewOf } from '../../run/random/combined/mapping.ts';
import { type Changes, linesOf, requestOf, withoutLabels } from '../../run/random/engine.ts';
import { COLUMNS, CSV, type Format, TABLES } from '../../run/random/formats.ts';
import { MemoryLog } from './memory-feed.ts';
import { inBatches, RandomTables } from './scripts.ts';

/** A table that is followed. */
const FOLLOWED: Format = {
  name: 'followed',
  source: (table) => `[ rml:referenceFormulation rml:SQL2008Table ; rml:iterator "${table}" ]`,
  column: (name) => name,
  write: async () => undefined,
};
const MOST_LINES = 1000;

interface Scene {
  by(): ChangesBy | undefined;
  readonly columns: readonly string[];
  readonly tables: RandomTables;
  /** The mapping over tables in a format. */
  written(format: Format): string;
}

/** A mapping of any kind. */
function anyScene(random: Random, seed: number): Scene {
  const alone = random.chance(0.2);
  const view = viewOf(random, alone);
  // Members of collections have the order of the rows.
  let own = seed;
  while (mappingOf(new Random(own), view, { one: CSV, two: CSV }, alone).gathers) own += 1000;
  return {
    by: () => undefined,
    columns: COLUMNS,
    tables: new RandomTables(random, random.chance(0.7)),
    written: (format) => textOf(mappingOf(new Random(own), view, { one: format, two: format }, alone)),
  };
}

/** A mapping whose changes are found by record. */
function sceneByRecord(random: Random, seed: number): Scene {
  const keys = random.pick([4, 12]);
  const make = () => {
    const row = comparable.rowOf(random, keys);
    return Object.fromEntries(
      comparable.COLUMNS.map((name, i) => [name, row[i] === '' ? null : (row[i]?.slice(0, 100) as string)] as const),
    );
  };
  // In most of them equal rows do not count: rows of topics have no key that a catalogue knows.
  const countsRows = seed % 4 === 0;
  const written = (format: Format): string => {
    for (let at = seed; ; at += 1000) {
      const { text, nodes, promises } = comparable.mappingOf(new Random(at), { one: format, two: format });
      if (countsRows || !(nodes || promises)) return text;
    }
  };
  return {
    by: () => (random.chance(0.2) || countsRows ? undefined : 'record'),
    columns: comparable.COLUMNS,
    tables: new RandomTables(random, random.chance(0.7), make),
    written,
  };
}

/** Files, of which the n-th that is written is not. */
function killedAt(files: DatasetFiles, n: number): DatasetFiles {
  let left = n;
  const counted = <A extends readonly unknown[]>(act: (...args: A) => Promise<void>) => {
    return async (...args: A): Promise<void> => {
      if (left-- === 0) throw new Killed();
      await act(...args);
    };
  };
  const { url, directory } = files;
  return {
    url,
    directory,
    urlOf: (name) => files.urlOf(name),
    read: (name) => files.read(name),
    open: (name, signal) => files.open(name, signal),
    list: (name) => files.list(name),
    remove: (names) => files.remove(names),
    write: counted((name, text, isNew) => files.write(name, text, isNew)),
    publish: counted((name, path) => files.publish(name, path)),
  };
}

class Killed extends Error {}

export function followsTables(seeds: readonly number[], steps: number, seedsByRecord: readonly number[], stepsByRecord: number): void {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'quadmill-follow-'));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  for (const [title, of, count, sceneOf] of [
    ['follows random changes', seeds, steps, anyScene],
    ['follows random changes by record', seedsByRecord, stepsByRecord, sceneByRecord],
  ] as const) {
    describe(title, () => {
      const counts = { versions: 0, added: 0, removed: 0, faults: 0, output: 0, record: 0, killed: 0 };
      const reasons = new Map<string | undefined, number>();
      test.each(of)('seed %d', async (seed) => {
        const place = join(directory, `${title.length}-${seed}`);
        mkdirSync(place);
        const random = new Random(seed);
        const { by, columns, tables, written } = sceneOf(random, seed);
        writeFileSync(join(place, 'mapping.ttl'), written(FOLLOWED));
        writeFileSync(join(place, 'plain.ttl'), written(CSV));
        const common: Changes = { onError: 'skip', maxRejected: 1e9, mappings: [], workingDirectory: place };
        const log = new MemoryLog();
        const files = openFiles(join(place, 'dataset'), place, USUAL_S3_ACCESS);
        const folding = { directory: join(place, 'folding'), memoryBudgetBytes: 2 ** 24 };
        for (let step = 0; step < count; step++) {
          log.append(...inBatches(random, step === 0 && random.chance(0.7) ? tables.snapshot() : tables.changes(step === 0 ? 100 : 15)));
          for (const table of TABLES) await CSV.write(place, table, columns, tables.tables[table]);
          const expected = await linesOf({ ...common, mappings: [join(place, 'plain.ttl')] }).catch((error: unknown) => error as Error);
          if (!(expected instanceof Error) && expected.length > MOST_LINES) return;
          if (random.chance(0.3)) log.losses.push(random.between(0, 5));
          if (random.chance(0.05)) rmSync(join(place, 'dataset', 'state'), { recursive: true, force: true });
          const epochRecords = random.pick([1, 5, 1000]);
          const changesBy = by();
          const indexEntries = random.pick([2, 20, 1000]);
          const epochs: EpochReport[] = [];
          const caughtUp = (to: DatasetFiles): Promise<void> =>
            follow(
              {
                place: { files: to, stateDirectory: join(place, 'dataset', 'state') },
                request: requestOf({ ...common, mappings: [join(place, 'mapping.ttl')] }, join(place, 'spill')),
                source: {
                  tables: async (mapping, request) => tablesOfTopics(mapping, request, 'memory:log'),
                  open: async () => log.feed(),
                },
                epochSeconds: 5,
                epochRecords,
                untilCaughtUp: true,
                changesBy,
                indexEntries,
                retain: 0,
                firstWaitMs: 1,
              },
              {
                stop: new AbortController().signal,
                epoch: (report) => void epochs.push(report),
                rejected: ({ place: where, reason }) => {
                  throw new Error(`${where}: ${reason}`);
                },
              },
            );
          if (expected instanceof Error) {
            counts.faults++;
            if (!(expected instanceof Fault)) throw expected;
            await expect(caughtUp(files)).rejects.toMatchObject({ code: expected.code });
            continue;
          }
          if (random.chance(0.5))
            await caughtUp(killedAt(files, random.between(0, 6))).catch((error: unknown) => {
              if (!(error instanceof Killed)) throw error;
              counts.killed++;
            });
          await caughtUp(files);
          const dataset = await Dataset.open(files);
          const { targets = {}, feed } = await dataset.manifest(dataset.current);
          expect(feed?.name).toBe('memory:log');
          const graph: string[] = [];
          for (const target of [undefined, ...Object.keys(targets)])
            for await (const lines of dataset.graph(dataset.current, target, folding))
              for (const line of lines.split('\n').slice(0, -1))
                graph.push(`${target === undefined ? '' : `${target} `}${plainLabels(fromBytes(line))}`);
          expect(withoutLabels(graph)).toEqual(withoutLabels(expected));
          expect(log.confirmed.at(-1)).toEqual({ offset: String(log.batches.length) });
          for (const { made } of epochs) {
            if (made.changesBy !== undefined) counts[made.changesBy]++;
            if (made.changesBy === 'output') reasons.set(made.reason, (reasons.get(made.reason) ?? 0) + 1);
            if (made.version === made.previousVersion) continue;
            counts.versions++;
            counts.added += made.added;
            counts.removed += made.removed;
          }
        }
        expect(readdirSync(join(place, 'dataset', 'state')).filter((name) => !/^\d+-|^rows$/.test(name))).toEqual([]);
      });

      test('are of all kinds', () => {
        if (process.env.TELL) console.log(counts, reasons);
        if (of.length < 10) return;
        expect(counts.versions).toBeGreaterThan(of.length);
        for (const many of [counts.added, counts.removed]) expect(many).toBeGreaterThan(of.length);
        expect(counts.killed).toBeGreaterThan(of.length / 5);
        // A first version, and one behind a state that was removed, are made by output in any case.
        const inAnyCase = (reasons.get('it is the first version') ?? 0) + (reasons.get('the rows of the last version are not known') ?? 0);
        if (sceneOf === sceneByRecord) expect(counts.record).toBeGreaterThan(counts.output - inAnyCase);
      });
    });
  }
}
