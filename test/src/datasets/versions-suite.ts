/**
 * Datasets of random mappings over random tables that are edited: after each version its graph is what a plain run makes, its changes are those
 * between the two graphs, and nothing else. Versions are made in memory, without memory and in threads.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Fault } from '../../../src/core/fault.ts';
import { fromBytes } from '../../../src/core/text.ts';
import type { ChangedLines } from '../../../src/datasets/changes.ts';
import { Dataset } from '../../../src/datasets/dataset.ts';
import { type DatasetFiles, openFiles } from '../../../src/datasets/files.ts';
import { removeVersions } from '../../../src/datasets/retention.ts';
import { type DatasetReport, runDataset } from '../../../src/datasets/run.ts';
import { isQuoted, splitLine, subjectAt, termsOfQuoted } from '../../../src/nquads/terms.ts';
import { USUAL_S3_ACCESS } from '../../../src/storage/s3-access.ts';
import { Random } from '../../support/random.ts';
import { plainLabels } from '../../support/read-rdf.ts';
import { mappingOf, textOf, viewOf } from '../run/random/combined/mapping.ts';
import { type Changes, linesOf, requestOf, withoutLabels } from '../run/random/engine.ts';
import {
  COLUMNS,
  changesOf,
  type Databases,
  FORMATS,
  openDatabases,
  type Row,
  rowsOf,
  TABLES,
  type Tables,
} from '../run/random/formats.ts';

const MOST_LINES = 1000;

/** How a version is made. */
const WAYS: readonly Partial<Changes>[] = [
  {},
  { memoryBudgetBytes: 0, keyBytes: 0 },
  { threads: 2, threadBytes: 300, keyBytes: 0 },
  { threads: 3, threadBytes: 200, keyBytes: 0, memoryBudgetBytes: 0 },
];

/**
 * @param versions of each dataset
 * @param follow for each seed: what is done with the dataset after a version
 */
export function datasetsOfVersions(
  seeds: readonly number[],
  versions: number,
  follow?: (seed: number) => (dataset: Dataset) => Promise<void>,
): void {
  describe('versions of datasets', () => {
    let directory: string;
    let databases: Databases;
    beforeAll(async () => {
      directory = mkdtempSync(join(tmpdir(), 'quadmill-datasets-'));
      databases = await openDatabases();
    }, 120_000);
    afterAll(async () => {
      await databases?.close();
      rmSync(directory, { recursive: true, force: true });
    });

    const counts = { versions: 0, same: 0, added: 0, removed: 0, kept: 0, faults: 0, targets: 0, reordered: 0, byRecord: 0 };

    test.each(seeds)('seed %d', async (seed) => {
      const random = new Random(seed);
      const followed = follow?.(seed);
      const place = join(directory, String(seed));
      mkdirSync(place);
      const database = databases.formats[seed % databases.formats.length];
      const choices = database === undefined || random.chance(0.7) ? FORMATS : [database, ...FORMATS];
      const formats = { one: random.pick(choices), two: random.pick(choices) };
      const alone = random.chance(0.3);
      let mapping = mappingOf(random, viewOf(random, alone), formats, alone);
      let tables: Tables = { one: rowsOf(random, 0, 12), two: rowsOf(random, 0, 12) };
      const changes: Changes = {
        onError: 'skip',
        maxRejected: 1e9,
        mappings: [join(place, 'mapping.ttl')],
        workingDirectory: place,
        ...changesOf(Object.values(formats)),
      };
      const files = openFiles(join(place, 'dataset'), place, USUAL_S3_ACCESS);
      const folding = { directory: join(place, 'folding'), memoryBudgetBytes: random.chance(0.5) ? 0 : 2 ** 24 };
      const graphs: (readonly string[])[] = [[]];
      let last = 0;
      const outputs = new Set<string | undefined>([undefined]);
      for (let step = 0; step < versions; step++) {
        // Where no value is a position, rows in another order make the same graph.
        const isReordered = step > 0 && random.chance(0.2);
        if (isReordered) tables = { one: random.shuffle(tables.one), two: random.shuffle(tables.two) };
        else if (step > 0) tables = edited(random, tables);
        const isChanged = step > 0 && !isReordered && random.chance(0.15);
        if (isChanged) mapping = mappingOf(random, viewOf(random, alone), formats, alone);
        for (const table of TABLES) await formats[table].write(place, table, COLUMNS, tables[table]);
        writeFileSync(join(place, 'mapping.ttl'), textOf(mapping));
        const expected = await linesOf(changes).catch((error: unknown) => error as Error);
        if (!(expected instanceof Error) && expected.length > MOST_LINES) return;
        const run = async (): Promise<DatasetReport> =>
          runDataset(
            { files, stateDirectory: join(place, 'dataset', 'state') },
            { ...requestOf({ ...changes, ...random.pick(WAYS) }, join(place, 'spill')), runId: `run-${step}` },
            {},
          );
        if (expected instanceof Error) {
          counts.faults++;
          if (!(expected instanceof Fault)) throw expected;
          await expect(run()).rejects.toMatchObject({ code: expected.code });
          continue;
        }
        const made = await run();
        counts.byRecord += Number(await isSameByRecord(place, { ...changes, ...random.pick(WAYS) }, step, files, made));
        const dataset = await Dataset.open(files);
        expect([made.previousVersion, dataset.current]).toEqual([last, made.version]);
        const targets = Object.keys(made.version === 0 ? {} : ((await dataset.manifest(made.version)).targets ?? {}));
        if (targets.length > 0) counts.targets++;
        // A target that the mapping has no more still has what was removed.
        for (const target of targets) outputs.add(target);
        const graph = await marked(outputs, (target) => textsOf(dataset.graph(made.version, target, folding)));
        expect(withoutLabels(graph)).toEqual(withoutLabels(expected));
        expect(new Set(graph).size).toBe(graph.length);
        const before = graphs[last] as readonly string[];
        if (isReordered && !mapping.counts && !mapping.gathers) {
          counts.reordered++;
          expect([made.added, made.removed]).toEqual([0, 0]);
        }
        if (made.version === last) {
          counts.same++;
          expect(graph.toSorted()).toEqual(before.toSorted());
          continue;
        }
        counts.versions++;
        expect(made.version).toBe(last + 1);
        graphs[made.version] = graph;
        const [added, removed] = await changedIn(dataset, last, outputs, folding);
        expectChanges(before, graph, added, removed);
        const kept = await marked(outputs, (target) => textsOf(dataset.lines(made.version, 'kept', target)));
        expectKept(before, graph, kept);
        counts.kept += kept.length;
        counts.added += added.length;
        counts.removed += removed.length;
        const since = random.between(0, made.version);
        const [netAdded, netRemoved] = await changedIn(dataset, since, outputs, folding);
        expectChanges(graphs[since] as readonly string[], graph, netAdded, netRemoved);
        last = made.version;
        await followed?.(dataset);
      }
      if (last > 2) {
        const { base } = await removeVersions({ files, stateDirectory: join(place, 'dataset', 'state') }, 2, folding);
        const dataset = await Dataset.open(files);
        expect(dataset.versions).toEqual([last - 1, last]);
        const targets = Object.keys((await dataset.manifest(base)).targets ?? {});
        const graph = await marked([undefined, ...targets], (target) => textsOf(dataset.graph(base, target, folding)));
        expect(graph.toSorted()).toEqual((graphs[base] as readonly string[]).toSorted());
      }
      // What is temporary is gone.
      expect(readdirSync(join(place, 'dataset', 'state')).filter((name) => !/^\d+-/.test(name))).toEqual([]);
    });

    test('are of all kinds', () => {
      if (seeds.length < 20) return;
      const { same, added, removed, kept, targets, reordered } = counts;
      expect(counts.versions).toBeGreaterThan(seeds.length);
      for (const many of [same, targets, reordered, counts.byRecord]) expect(many).toBeGreaterThan(seeds.length / 20);
      for (const many of [added, removed, kept]) expect(many).toBeGreaterThan(seeds.length * 5);
    });
  });
}

/**
 * Makes the version in another dataset by record, if the plan allows it, with each record as a chunk.
 *
 * @returns whether changes were found by record; they are those of `made`
 */
async function isSameByRecord(place: string, changes: Changes, step: number, files: DatasetFiles, made: DatasetReport): Promise<boolean> {
  const own = openFiles(join(place, 'by-record'), place, USUAL_S3_ACCESS);
  const request = { ...requestOf(changes, join(place, 'spill')), runId: `run-${step}` };
  const find = (by: 'record' | undefined): Promise<DatasetReport> =>
    runDataset({ files: own, stateDirectory: join(place, 'by-record', 'state') }, request, {}, undefined, {
      by,
      chunks: { least: 1, usual: 0, most: 1 },
    });
  const found = await find('record').catch((error: unknown) => {
    if (error instanceof Fault && error.message.includes('cannot be found by record')) return find(undefined);
    throw error;
  });
  expect([found.version, found.added, found.removed, found.statements]).toEqual([made.version, made.added, made.removed, made.statements]);
  if (found.version > found.previousVersion) {
    const folding = { directory: join(place, 'folding-by-record'), memoryBudgetBytes: 2 ** 24 };
    const of = async (dataset: Dataset): Promise<readonly (readonly string[])[]> =>
      (await changedIn(dataset, found.previousVersion, [undefined], folding)).map((lines) => withoutLabels(lines).toSorted());
    expect(await of(await Dataset.open(own))).toEqual(await of(await Dataset.open(files)));
  }
  return found.changesBy === 'record';
}

function expectChanges(before: readonly string[], after: readonly string[], added: readonly string[], removed: readonly string[]): void {
  const [old, fresh] = [new Set(before), new Set(after)];
  expect(added.toSorted()).toEqual(after.filter((line) => !old.has(line)).toSorted());
  expect(removed.toSorted()).toEqual(before.filter((line) => !fresh.has(line)).toSorted());
}

/** Statements that stay and have the subject of a removed one, in the same output, or one of its triples, are kept. Some others may be. */
export function expectKept(before: readonly string[], after: readonly string[], kept: readonly string[]): void {
  const fresh = new Set(after);
  const gone = before.filter((line) => !fresh.has(line));
  const subjects = new Set(gone.map(subjectIn));
  const triples = new Set(gone.flatMap(triplesIn));
  const known = new Set(kept);
  const stays = before.filter((line) => fresh.has(line));
  const needed = after.filter((line) => triplesIn(line).some((triple) => triples.has(triple)));
  expect([...stays.filter((line) => subjects.has(subjectIn(line))), ...needed].filter((line) => !known.has(line))).toEqual([]);
  expect(kept.filter((line) => !fresh.has(line))).toEqual([]);
}

const markOf = (line: string): string => /^(?:(?![<_])\S+ )?/.exec(line)?.[0] as string;

function subjectIn(line: string): string {
  const mark = markOf(line);
  return mark + subjectAt(line, mark.length);
}

/** Of the terms of a line, and of their terms, with the mark of the line. */
function triplesIn(line: string): readonly string[] {
  const mark = markOf(line);
  const inner = (term: string): readonly string[] => (isQuoted(term) ? [mark + term, ...termsOfQuoted(term).flatMap(inner)] : []);
  const [subject, , object] = splitLine(line.slice(mark.length));
  return [...inner(subject), ...inner(object)];
}

/** Change, delete, insert, duplicate and reorder rows, empty a table, swap both. */
export function edited(random: Random, tables: Tables): Tables {
  const edit = (rows: readonly Row[]): readonly Row[] => {
    const of = [...rows];
    const at = of.length === 0 ? 0 : random.between(0, of.length - 1);
    switch (random.between(0, 7)) {
      case 0:
        return of.toSpliced(at, 1);
      case 1:
        return of.toSpliced(at, 0, ...rowsOf(random, 1, 3));
      case 2:
        return of.length === 0 ? of : [...of, of[at] as Row];
      case 3:
        return random.shuffle(of);
      case 4:
        return of.length === 0 ? of : of.with(at, rowsOf(random, 1, 1)[0] as Row);
      case 5:
        return random.chance(0.2) ? [] : of;
      default:
        return of;
    }
  };
  if (random.chance(0.05)) return { one: tables.two, two: tables.one };
  return { one: edit(tables.one), two: edit(tables.two) };
}

export async function textsOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

/** Lines as `linesOf` gives them: those of a target have its path in front. */
async function marked(
  outputs: Iterable<string | undefined>,
  textOf: (target: string | undefined) => Promise<string>,
): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const target of outputs) {
    const mark = target === undefined ? '' : `${target} `;
    const text = await textOf(target);
    lines.push(
      ...text
        .split('\n')
        .slice(0, -1)
        .map((line) => mark + plainLabels(fromBytes(line))),
    );
  }
  return lines;
}

async function changedIn(
  dataset: Dataset,
  since: number,
  outputs: Iterable<string | undefined>,
  folding: { readonly directory: string; readonly memoryBudgetBytes: number },
): Promise<readonly [added: readonly string[], removed: readonly string[]]> {
  const of = (kind: ChangedLines['kind']) =>
    marked(outputs, async (target) => {
      let text = '';
      for await (const changed of dataset.changes(since, target, folding)) if (changed.kind === kind) text += changed.lines;
      return text;
    });
  return [await of('added'), await of('removed')];
}
