/**
 * Datasets of random mappings over random tables that are edited: after each version its graph is what a plain run makes, its changes are those
 * between the two graphs, and nothing else. Versions are made by output and by record, in memory, without memory, in threads, and after runs that were killed.
 *
 * RANDOM_SEEDS, VERSIONS and TELL ask for other datasets, for so many versions of each, and for their count.
 */
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Fault } from '../../../src/core/fault.ts';
import { fromBytes } from '../../../src/core/text.ts';
import type { ChangedLines, Folding } from '../../../src/datasets/changes.ts';
import { Dataset } from '../../../src/datasets/dataset.ts';
import { openFiles } from '../../../src/datasets/files.ts';
import { manifestName } from '../../../src/datasets/manifest.ts';
import { removeVersions } from '../../../src/datasets/retention.ts';
import { type DatasetHooks, type DatasetPlace, type DatasetReport, type Finding, runDataset } from '../../../src/datasets/run.ts';
import { isQuoted, splitLine, subjectAt, termsOfQuoted } from '../../../src/nquads/terms.ts';
import type { RunRequest } from '../../../src/run/request.ts';
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

/** How a version is made, and how often. Threads take long to start. */
const WAYS = {
  'in memory': [4, {}],
  'without memory': [4, { memoryBudgetBytes: 0, keyBytes: 0 }],
  'in 2 threads': [1, { threads: 2, threadBytes: 300, keyBytes: 0 }],
  'in 3 threads, without memory': [1, { threads: 3, threadBytes: 200, keyBytes: 0, memoryBudgetBytes: 0 }],
} as const satisfies Readonly<Record<string, readonly [weight: number, changes: Partial<Changes>]>>;
type Way = keyof typeof WAYS;
const WEIGHTS = Object.fromEntries(Object.entries(WAYS).map(([way, [weight]]) => [way, weight])) as Record<Way, number>;

/** Prints, where TELL asks for it, how many versions there are so far. */
export function told(byOutput: number, byRecord: number): void {
  if (process.env.TELL) process.stderr.write(`${byOutput + byRecord} versions are right: ${byOutput} by output, ${byRecord} by record\n`);
}

/** So many versions of each dataset. */
export const versionsOf = (usual: number): number => Number(process.env.VERSIONS ?? usual);

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

    const counts = { versions: 0, byRecord: 0, same: 0, killed: 0, added: 0, removed: 0, kept: 0, faults: 0, targets: 0, reordered: 0 };
    const ways = Object.fromEntries(Object.keys(WAYS).map((way) => [way, 0])) as Record<Way, number>;

    test.each(seeds)(
      'seed %d',
      async (seed) => {
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
        const [usual, byRecord] = [new Watched(place, 'dataset', random), new Watched(place, 'by-record', random)];
        /** Whether the mapping cannot be made by record. */
        let isByOutput = false;
        let isFault = false;
        /** Whether the dataset has the tables and the mapping of the last step. */
        let isSettled = false;
        for (let step = 0; step < versions; step++) {
          // Where no value is a position, rows in another order make the same graph.
          const isReordered = isSettled && random.chance(0.1);
          isSettled = false;
          if (isReordered) tables = { one: random.shuffle(tables.one), two: random.shuffle(tables.two) };
          else if (step > 0) for (let i = random.between(1, 3); i > 0; i--) tables = edited(random, tables);
          const isChanged = isFault || (step > 0 && !isReordered && random.chance(0.15));
          isFault = false;
          if (isChanged) mapping = mappingOf(random, viewOf(random, alone), formats, alone);
          if (isChanged) isByOutput = false;
          for (const table of TABLES) await formats[table].write(place, table, COLUMNS, tables[table]);
          writeFileSync(join(place, 'mapping.ttl'), textOf(mapping));
          const expected = await linesOf(changes).catch((error: unknown) => error as Error);
          if (!(expected instanceof Error) && expected.length > MOST_LINES) {
            // Its joins multiply rows.
            tables = { one: rowsOf(random, 0, 5), two: rowsOf(random, 0, 5) };
            mapping = mappingOf(random, viewOf(random, alone), formats, alone);
            isByOutput = false;
            continue;
          }
          const request = (): readonly [way: Way, request: RunRequest] => {
            const way = random.weighted(WEIGHTS);
            return [way, { ...requestOf({ ...changes, ...WAYS[way][1] }, join(place, 'spill')), runId: `run-${step}` }];
          };
          const [way, requested] = request();
          if (expected instanceof Error) {
            counts.faults++;
            isFault = true;
            if (!(expected instanceof Fault)) throw expected;
            await expect(usual.run(requested)).rejects.toMatchObject({ code: expected.code });
            continue;
          }
          const isKilled = random.chance(0.15);
          if (isKilled) counts.killed += Number(await usual.runKilled(requested));
          const made = await usual.run(requested);
          const found = await usual.expectVersion(made, expected);
          isSettled = true;
          if (isReordered && !mapping.counts && !mapping.gathers) {
            counts.reordered++;
            expect([found?.added ?? 0, found?.removed ?? 0]).toEqual([0, 0]);
          }
          if (found === undefined) counts.same++;
          else {
            counts.versions++;
            ways[way]++;
            for (const count of ['added', 'removed', 'kept', 'targets'] as const) counts[count] += found[count];
            await followed?.(usual.dataset);
          }
          // Versions that were written somewhere need those that follow.
          if (followed === undefined && random.chance(0.1)) await usual.expectFolded();
          if (isByOutput) continue;
          // Each record is a chunk.
          const finding = { by: 'record', chunks: { least: 1, usual: 0, most: 1 } } as const;
          const [wayByRecord, requestedByRecord] = request();
          const twin = await byRecord.run(requestedByRecord, finding).catch((error: unknown) => {
            if (!(error instanceof Fault && error.message.includes('cannot be found by record'))) throw error;
            isByOutput = true;
          });
          if (twin === undefined || (await byRecord.expectVersion(twin, expected)) === undefined || twin.changesBy !== 'record') continue;
          counts.byRecord++;
          ways[wayByRecord]++;
        }
        for (const one of [usual, byRecord]) {
          await one.expectGraph();
          await one.expectFolded();
        }
        told(counts.versions, counts.byRecord);
      },
      3_600_000,
    );

    test('are of all kinds', () => {
      if (process.env.TELL) console.log({ ...counts, ...ways });
      if (seeds.length < 20) return;
      const { same, added, removed, kept, targets, reordered, killed } = counts;
      expect(counts.versions).toBeGreaterThan(seeds.length);
      for (const many of [same, targets, reordered, killed, counts.byRecord, ...Object.values(ways)])
        expect(many).toBeGreaterThan(seeds.length / 20);
      for (const many of [added, removed, kept]) expect(many).toBeGreaterThan(seeds.length * 5);
    });
  });
}

/** A dataset, and what it must be: the graphs of its versions. */
class Watched {
  readonly #place: string;
  readonly #random: Random;
  readonly #at: DatasetPlace & { readonly directory: string };
  readonly #folding: Folding;
  readonly #graphs: (readonly string[])[] = [[]];
  #last = 0;
  #dataset: Dataset | undefined;
  /** What a run published before it was killed. */
  #published: DatasetReport | undefined;

  constructor(place: string, name: string, random: Random) {
    this.#place = place;
    this.#random = random;
    const directory = join(place, name);
    const files = openFiles(directory, place, USUAL_S3_ACCESS);
    this.#at = { directory, files, stateDirectory: join(directory, 'state'), isLocked: true };
    this.#folding = { directory: join(place, `${name}-folding`), memoryBudgetBytes: random.chance(0.5) ? 0 : 2 ** 24 };
  }

  get dataset(): Dataset {
    return this.#dataset as Dataset;
  }

  async run(request: RunRequest, finding?: Finding, hooks: DatasetHooks = {}): Promise<DatasetReport> {
    mkdirSync(this.#at.stateDirectory, { recursive: true });
    const made = await runDataset(this.#at, request, hooks, undefined, finding);
    const published = this.#published;
    this.#published = undefined;
    if (published === undefined) return made;
    expect([made.version, made.previousVersion, made.added, made.removed]).toEqual([published.version, published.version, 0, 0]);
    return published;
  }

  /**
   * Leaves all files as they are at a moment of a run, as a kill does.
   *
   * @returns whether there was such a moment
   */
  async runKilled(request: RunRequest): Promise<boolean> {
    const { directory } = this.#at;
    const aside = join(this.#place, 'killed');
    rmSync(aside, { recursive: true, force: true });
    const killed = new Fault('run/cancelled', 'killed');
    const moment = this.#random.pick(['read', 'files', 'manifest', 'description'] as const);
    const isFirst = this.#random.chance(0.5);
    const copy = (): void => cpSync(directory, aside, { recursive: true });
    let confirmed = 0;
    const at = (reached: boolean) => async (): Promise<void> => {
      if (!reached) return;
      copy();
      throw killed;
    };
    const hooks: DatasetHooks = {
      located: at(moment === 'read'),
      confirm: () => at(moment === 'files' && ++confirmed === (isFirst ? 1 : 2))(),
      pending: async () => {
        if (moment === 'description') copy();
        else await at(moment === 'manifest')();
      },
    };
    const published = await this.run(request, undefined, hooks).catch((error: unknown) => {
      if (error !== killed) throw error;
    });
    if (published !== undefined) {
      // The version exists when its manifest does.
      if (published.version > published.previousVersion) this.#published = published;
      if (!existsSync(aside)) return false;
      const manifest = manifestName(published.version);
      // An empty graph has no files.
      mkdirSync(dirname(join(aside, manifest)), { recursive: true });
      copyFileSync(join(directory, manifest), join(aside, manifest));
    }
    rmSync(directory, { recursive: true });
    renameSync(aside, directory);
    return true;
  }

  /** @param expected what a plain run makes @returns undefined: nothing has changed */
  async expectVersion(made: DatasetReport, expected: readonly string[]) {
    const [last, folding] = [this.#last, this.#folding];
    const dataset = await Dataset.open(this.#at.files);
    this.#dataset = dataset;
    expect([made.previousVersion, dataset.current, dataset.description.currentVersion]).toEqual([last, made.version, made.version]);
    // A target that the mapping has no more still has what was removed.
    const outputs = await this.#known([last, made.version].filter((version) => version > 0));
    const before = this.#graphs[last] as readonly string[];
    const [added, removed] = made.version === last ? [[], []] : await changedIn(dataset, last, outputs, folding);
    const [old, gone] = [new Set(before), new Set(removed)];
    const graph = [...before.filter((line) => !gone.has(line)), ...added];
    expect(withoutLabels(graph)).toEqual(withoutLabels(expected));
    expect([added.filter((line) => old.has(line)), removed.filter((line) => !old.has(line))]).toEqual([[], []]);
    expect([new Set(added).size, gone.size]).toEqual([added.length, removed.length]);
    // What is temporary is gone.
    expect(readdirSync(this.#at.stateDirectory).filter((name) => !/^\d+-/.test(name))).toEqual([]);
    if (made.version === last) return undefined;
    expect([made.version, made.statements]).toEqual([last + 1, graph.filter((line) => markOf(line) === '').length]);
    expect(added.length + removed.length).toBeGreaterThan(last === 0 ? -1 : 0);
    this.#last = made.version;
    this.#graphs[made.version] = graph;
    const kept = await marked(outputs, (target) => textsOf(dataset.lines(made.version, 'kept', target)));
    expectKept(before, graph, kept);
    if (this.#random.chance(0.1)) await this.expectGraph();
    return { added: added.length, removed: removed.length, kept: kept.length, targets: Number(outputs.size > 1) };
  }

  /** The export of the newest version, and the changes since any other. */
  async expectGraph(): Promise<void> {
    const [dataset, last, folding] = [this.#dataset, this.#last, this.#folding];
    if (dataset === undefined || last === 0) return;
    const since = this.#random.pick([0, ...dataset.versions]);
    const outputs = await this.#known(since === 0 ? [last] : [since, last]);
    const graph = await marked(outputs, (target) => textsOf(dataset.graph(last, target, folding)));
    const expected = this.#graphs[last] as readonly string[];
    expect(graph.toSorted()).toEqual(expected.toSorted());
    const [added, removed] = await changedIn(dataset, since, outputs, folding);
    expectChanges(this.#graphs[since] as readonly string[], expected, added, removed);
  }

  /** The outputs that some versions have. */
  async #known(versions: readonly number[]): Promise<ReadonlySet<string | undefined>> {
    const manifests = await Promise.all(versions.map((version) => this.dataset.manifest(version)));
    return new Set([undefined, ...manifests.flatMap(({ targets = {} }) => Object.keys(targets))]);
  }

  /** Removes all versions but two, which stay as they are. */
  async expectFolded(): Promise<void> {
    const last = this.#last;
    if (this.#dataset === undefined || this.#dataset.versions.length < 3) return;
    const { base } = await removeVersions(this.#at, 2, this.#folding);
    const dataset = await Dataset.open(this.#at.files);
    expect(dataset.versions).toEqual([last - 1, last]);
    this.#dataset = dataset;
    const graph = await marked(await this.#known([base]), (target) => textsOf(dataset.graph(base, target, this.#folding)));
    expect(graph.toSorted()).toEqual((this.#graphs[base] as readonly string[]).toSorted());
    await this.expectGraph();
  }
}

function expectChanges(before: readonly string[], after: readonly string[], added: readonly string[], removed: readonly string[]): void {
  const [old, fresh] = [new Set(before), new Set(after)];
  expect(added.toSorted()).toEqual(after.filter((line) => !old.has(line)).toSorted());
  expect(removed.toSorted()).toEqual(before.filter((line) => !fresh.has(line)).toSorted());
}

/**
 * Statements that stay and have the subject of a removed one, in the same output, or one of its triples, are kept. Some others may be.
 *
 * @returns their number
 */
export function expectKept(before: readonly string[], after: readonly string[], kept: readonly string[]): number {
  const fresh = new Set(after);
  const gone = before.filter((line) => !fresh.has(line));
  const subjects = new Set(gone.map(subjectIn));
  const triples = new Set(gone.flatMap(triplesIn));
  const known = new Set(kept);
  const stays = before.filter((line) => fresh.has(line));
  const needed = after.filter((line) => triplesIn(line).some((triple) => triples.has(triple)));
  const wanted = [...stays.filter((line) => subjects.has(subjectIn(line))), ...needed];
  expect(wanted.filter((line) => !known.has(line))).toEqual([]);
  expect(kept.filter((line) => !fresh.has(line))).toEqual([]);
  return wanted.length;
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

/** Changes, deletes, inserts, duplicates and reorders rows, empties a table, swaps both. */
export function edited(random: Random, tables: Tables): Tables {
  const edit = (rows: readonly Row[]): readonly Row[] => {
    const at = rows.length === 0 ? 0 : random.between(0, rows.length - 1);
    if (rows.length === 0) return random.chance(0.5) ? rowsOf(random, 1, 8) : rows;
    switch (random.between(0, 9)) {
      case 0:
      case 1:
        return rows.toSpliced(at, 1);
      case 2:
      case 3:
        return rows.toSpliced(at, 0, ...rowsOf(random, 1, 3));
      case 4:
        return [...rows, rows[at] as Row];
      case 5:
        return random.shuffle(rows);
      case 6:
        return random.chance(0.2) ? [] : rows;
      default:
        return rows.with(at, rowsOf(random, 1, 1)[0] as Row);
    }
  };
  if (random.chance(0.05)) return { one: tables.two, two: tables.one };
  const [isFirst, isSecond] = random.pick([
    [true, false],
    [false, true],
    [true, true],
    [true, true],
  ] as const);
  return { one: isFirst ? edit(tables.one) : tables.one, two: isSecond ? edit(tables.two) : tables.two };
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
