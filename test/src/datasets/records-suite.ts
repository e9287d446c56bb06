/**
 * Datasets of random mappings over random CSV that is edited, made by output and by record side by side: the graphs and the changes of each version
 * are equal, and a plain run makes the same graph. Chunks are so small that each record is one, or have the size of some records.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Dataset } from '../../../src/datasets/dataset.ts';
import { openFiles } from '../../../src/datasets/files.ts';
import type { ChangesBy, FileKind } from '../../../src/datasets/manifest.ts';
import { runDataset } from '../../../src/datasets/run.ts';
import { subjectAt } from '../../../src/nquads/terms.ts';
import { openInput } from '../../../src/storage/open.ts';
import { USUAL_S3_ACCESS } from '../../../src/storage/s3-access.ts';
import { Random } from '../../support/random.ts';
import { type Changes, linesOf, requestOf } from '../run/random/engine.ts';

const COLUMNS = ['id', 'k', 'a'] as const;
type Row = readonly string[];

const PREFIXES = '@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://e/> .\n@base <http://e/m#> .\n';
const SUBJECTS = ['"http://e/{id}"', '"http://e/{k}"', '"http://e/{id}/{k}"', '"http://e/{a}"'];

function mappingOf(random: Random): string {
  const file = (): string => random.pick(['one.csv', 'one.csv', 'two.csv']);
  const object = (): string =>
    random.pick([
      'rml:reference "a"',
      'rml:reference "k"',
      'rml:template "http://e/{id}"',
      'rml:constant ex:C',
      'rml:template "{k}-{a}" ; rml:termType rml:BlankNode',
    ]);
  const maps = Array.from({ length: random.between(1, 3) }, (_, i) => {
    const subject = random.chance(0.15)
      ? 'rml:constant ex:all'
      : `rml:template ${random.pick(SUBJECTS)}${random.chance(0.15) ? ' ; rml:termType rml:BlankNode' : ''}${random.chance(0.3) ? ' ; rml:class ex:T' : ''}`;
    const graph = random.chance(0.2) ? ' ; rml:graphMap [ rml:template "http://g/{k}" ]' : '';
    const rules = Array.from(
      { length: random.between(1, 3) },
      () =>
        ` ; rml:predicateObjectMap [ ${random.chance(0.2) ? 'rml:predicateMap [ rml:template "http://p/{k}" ]' : `rml:predicate ex:${random.pick(['p', 'q'])}`} ; rml:objectMap [ ${object()} ] ]`,
    );
    return `<#M${i}> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:path "${file()}" ] ; rml:referenceFormulation rml:CSV ] ; rml:subjectMap [ ${subject}${graph} ]${rules.join('')} .\n`;
  });
  return PREFIXES + maps.join('');
}

const rowOf = (random: Random): Row => [
  String(random.between(0, 12)),
  random.pick(['x', 'y', 'z', '']),
  // The reader takes so long a row together with rows behind it.
  random.chance(0.01)
    ? 'wide '.repeat(random.between(13_000, 20_000))
    : random.pick(['1', '2', 'a,b', 'a"b', 'two\nlines', 'a\r\nb', '"', '\n', 'ü', 'long '.repeat(20), '']),
];

interface Table {
  readonly header: Row;
  readonly rows: readonly Row[];
}

function textOf(random: Random, { header, rows }: Table, style: { readonly feed: string; readonly mark: string }): string {
  const cell = (text: string): string => (/[",\r\n]/.test(text) || random.chance(0.02) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = [header, ...rows].map((row) =>
    header.map((name) => cell(row === header ? name : (row[COLUMNS.indexOf(name as 'id')] as string))).join(','),
  );
  const blank = random.chance(0.1) ? style.feed : '';
  const end = random.chance(0.7) ? style.feed : '';
  return style.mark + lines.join(style.feed + blank) + end;
}

function edited(random: Random, { header, rows }: Table): Table {
  const of = [...rows];
  const at = random.between(0, Math.max(0, of.length - 1));
  const to = random.between(0, of.length);
  switch (random.between(0, 9)) {
    case 0:
      return { header, rows: of.toSpliced(at, random.between(1, 3)) };
    case 1:
      return { header, rows: of.toSpliced(to, 0, rowOf(random), rowOf(random)) };
    case 2:
      return { header, rows: of.length === 0 ? of : of.toSpliced(to, 0, of[at] as Row) };
    case 3:
      return { header, rows: random.shuffle(of) };
    case 4:
      return random.chance(0.3) ? { header, rows: [] } : { header, rows: of };
    case 5:
      return random.chance(0.3) ? { header: random.shuffle([...header]), rows } : { header, rows };
    case 6:
      return { header, rows: of.length === 0 ? of : of.toSpliced(at, 1).toSpliced(Math.min(to, of.length - 1), 0, of[at] as Row) };
    default:
      return { header, rows: of.length === 0 ? of : of.with(at, rowOf(random)) };
  }
}

/** @param versions of each dataset */
export function datasetsByRecord(seeds: readonly number[], versions: number): void {
  describe('changes by record', () => {
    let directory: string;
    beforeAll(() => {
      directory = mkdtempSync(join(tmpdir(), 'quadmill-records-'));
    });
    afterAll(() => rmSync(directory, { recursive: true, force: true }));
    const counts = { record: 0, output: 0, changed: 0, kept: 0, damaged: 0 };

    test.each(seeds)('seed %d', async (seed) => {
      const random = new Random(seed);
      const place = join(directory, String(seed));
      mkdirSync(place);
      const style = { feed: random.pick(['\n', '\n', '\r\n']), mark: random.pick(['', '', '\ufeff']) };
      let mapping = mappingOf(random);
      const many = random.pick([5, 15, 60]);
      const tables: Record<'one' | 'two', Table> = {
        one: { header: COLUMNS, rows: Array.from({ length: random.between(0, many) }, () => rowOf(random)) },
        two: { header: COLUMNS, rows: Array.from({ length: random.between(0, 5) }, () => rowOf(random)) },
      };
      const chunks = random.chance(0.5) ? { least: 1, usual: 0, most: 1 } : { least: 20, usual: 60, most: 200 };
      const changes: Changes = { mappings: [join(place, 'mapping.ttl')], workingDirectory: place, onError: 'skip', maxRejected: 1e9 };
      const datasets = (['output', 'record'] as const).map((by) => ({ by, files: openFiles(join(place, by), place, USUAL_S3_ACCESS) }));
      const folding = { directory: join(place, 'folding'), memoryBudgetBytes: 2 ** 24 };
      for (let step = 0; step < versions; step++) {
        if (step > 0)
          for (const table of ['one', 'two'] as const)
            for (let i = random.between(0, 2); i > 0; i--) tables[table] = edited(random, tables[table]);
        if (step > 0 && random.chance(0.05)) mapping = mappingOf(random);
        writeFileSync(join(place, 'mapping.ttl'), mapping);
        for (const table of ['one', 'two'] as const) writeFileSync(join(place, `${table}.csv`), textOf(random, tables[table], style));
        const expected = await linesOf({ ...changes, dataset: 'd' });
        const isDamaged = step > 0 && random.chance(0.05) && damage(random, join(place, 'record', 'state'));
        const made: {
          readonly by: ChangesBy | undefined;
          readonly lines: Readonly<Record<FileKind, readonly string[]>>;
          graph: readonly string[];
          removed: number;
        }[] = [];
        for (const { by, files } of datasets) {
          const finding = { by: by === 'record' && random.chance(0.3) ? undefined : by, chunks };
          const request = {
            ...requestOf({ ...changes, ...(random.chance(0.3) ? { memoryBudgetBytes: 0 } : {}) }, join(place, 'spill')),
            runId: `run-${step}`,
          };
          const stateDirectory = join(place, by, 'state');
          let whole = '';
          const outputs = { of: () => ({ write: (lines: string) => void (whole += lines) }) };
          const report = await runDataset({ files, stateDirectory, name: 'd' }, request, {}, outputs, finding);
          const dataset = await Dataset.open(files);
          const plain = (text: string): readonly string[] => text.split('\n').slice(0, -1);
          let graph = '';
          for await (const lines of dataset.graph(dataset.current, undefined, folding)) graph += lines;
          expect(plain(whole).toSorted()).toEqual(plain(graph).toSorted());
          const lines = { added: [], removed: [], kept: [], base: [] } as Record<FileKind, readonly string[]>;
          if (report.manifest !== undefined)
            for (const { name, kind } of report.manifest.files) {
              let text = '';
              for await (const bytes of (await openInput(join(place, by, 'versions', name), { workingDirectory: place, reach: undefined }))
                .bytes)
                text += Buffer.from(bytes).toString('latin1');
              lines[kind] = plain(text);
            }
          made.push({ by: report.changesBy, lines, graph: plain(graph), removed: report.removed });
          expect(readdirSync(stateDirectory).filter((name) => !/^\d+-/.test(name))).toEqual([]);
        }
        const [output, record] = made as [(typeof made)[0], (typeof made)[0]];
        const nodes = (lines: readonly string[]): readonly string[] =>
          lines.map((line) => line.replace(/_:q[0-9a-f]{32}/g, '_:')).toSorted();
        if (output.by !== undefined && record.by !== undefined) counts[record.by]++;
        if (isDamaged && record.by === 'output') counts.damaged++;
        expect(record.graph.length).toBe(expected.length);
        expect(nodes(record.graph)).toEqual(nodes(output.graph));
        for (const kind of ['added', 'removed'] as const) expect(nodes(record.lines[kind])).toEqual(nodes(output.lines[kind]));
        if (record.lines.removed.length > 0) counts.changed++;
        const touched = new Set(record.lines.removed.map((line) => subjectAt(line, 0)));
        const added = new Set(record.lines.added);
        const needed = record.graph.filter((line) => touched.has(subjectAt(line, 0)) && !added.has(line));
        counts.kept += needed.length;
        const kept = new Set(record.lines.kept);
        expect(needed.filter((line) => !kept.has(line))).toEqual([]);
        const graph = new Set(record.graph);
        expect([...kept].filter((line) => !graph.has(line))).toEqual([]);
      }
    });

    test('are of all kinds', () => {
      if (seeds.length < 20) return;
      expect(counts.record).toBeGreaterThan(seeds.length);
      for (const many of [counts.output, counts.changed, counts.kept]) expect(many).toBeGreaterThan(seeds.length / 2);
      expect(counts.damaged).toBeGreaterThan(seeds.length / 50);
    });
  });
}

/** Cuts a file of the state off. */
function damage(random: Random, state: string): boolean {
  const records = readdirSync(state).map((name) => join(state, name, 'records'));
  const files = records.flatMap((path) => readdirSync(path).map((name) => join(path, name)));
  if (files.length === 0) return false;
  truncateSync(random.pick(files), 0);
  return true;
}
