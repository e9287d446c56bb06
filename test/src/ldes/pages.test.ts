/**
 * Pages of random versions: for each entity the newest member has its statements, and nothing else is a member. Entities are subjects of every kind,
 * in the default graph and in others.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Dataset } from '../../../src/datasets/dataset.ts';
import { openFiles } from '../../../src/datasets/files.ts';
import { skolemising } from '../../../src/datasets/formats.ts';
import { manifestName, numberText } from '../../../src/datasets/manifest.ts';
import { removeVersions } from '../../../src/datasets/retention.ts';
import { type Pages, type PartKind, pagesOf } from '../../../src/ldes/pages.ts';
import { USUAL_S3_ACCESS } from '../../../src/storage/s3-access.ts';
import { Random } from '../../support/random.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-ldes-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const SUBJECTS = [
  '<http://e/a>',
  '<http://e/a/b>',
  '<http://e/\xc3\xa4>',
  '_:q1',
  '<http://e/s#>',
  '<< <http://e/a> <http://e/p> "# > \t <y> ." >>',
];
const OBJECTS = ['"1"', '"a \\" \t <b> ."', '"\\t"@de', '<http://e/a>', '_:q2', '"x"^^<http://e/t>'];
const GRAPHS = ['', '', '', '<http://e/g>', '_:q3'];
const convert = skolemising('http://base.invalid/', 'dataset');

function statement(random: Random, spread: number): string {
  const subject = random.pick(SUBJECTS).replace('#', String(random.between(0, spread)));
  const graph = random.pick(GRAPHS);
  return `${subject} <http://e/p${random.between(0, 2)}> ${random.pick(OBJECTS)} ${graph === '' ? '' : `${graph} `}.\n`;
}

/** Writes versions as docs describe them. */
async function written(place: string, versions: readonly ReadonlySet<string>[]): Promise<Dataset> {
  mkdirSync(join(place, 'versions'), { recursive: true });
  writeFileSync(join(place, 'dataset.json'), JSON.stringify({ format: 1, name: 'dataset', id: 'an-id', currentVersion: versions.length }));
  let before: ReadonlySet<string> = new Set();
  for (const [at, graph] of versions.entries()) {
    const version = at + 1;
    const changed = { added: [...graph].filter((line) => !before.has(line)), removed: [...before].filter((line) => !graph.has(line)) };
    const files = (['added', 'removed'] as const).flatMap((kind) => {
      const name = `${numberText(version)}.${kind}.nq.gz`;
      if (changed[kind].length === 0) return [];
      writeFileSync(join(place, 'versions', name), gzipSync(Buffer.from(changed[kind].join(''), 'latin1')));
      return [{ name, kind, bytes: 0, sha256: '' }];
    });
    const counts = { added: changed.added.length, removed: changed.removed.length, statements: graph.size };
    writeFileSync(join(place, manifestName(version)), JSON.stringify({ version, previous: at, ...counts, files }));
    before = graph;
  }
  return Dataset.open(openFiles(place, place, USUAL_S3_ACCESS));
}

interface Members {
  /** Entity → its statements; none: it went. */
  readonly of: Map<string, string[]>;
  readonly most: number;
}

async function membersOf(pages: Pages): Promise<Members> {
  const of = new Map<string, string[]>();
  let most = 0;
  let last: string[] = [];
  for (let page = 1; page <= pages.count; page++) {
    let members = 0;
    for await (const lines of pages.read(page)) {
      for (const line of lines) {
        if (line.kind === 'statement') last.push(line.line);
        else {
          const entity = `${line.subject}\t${line.graph}`;
          expect(of.has(entity)).toBe(false);
          of.set(entity, (last = []));
          if (line.kind === 'tombstone') last.push('tombstone');
          members++;
        }
      }
    }
    expect(members).toBeGreaterThan(0);
    most = Math.max(most, members);
  }
  return { of, most };
}

/** By entity, found without the code that makes pages. */
function entitiesOf(graph: Iterable<string>): Map<string, string[]> {
  const entities = new Map<string, string[]>();
  for (const line of [...graph].map(convert)) {
    const match = /^(<< .* >>|<[^>]*>) (<[^>]*>) (".*"(?:@\w+|\^\^<[^>]*>)?|<[^>]*>) (?:(<[^>]*>) )?\.\n$/.exec(line);
    const entity = `${match?.[1]}\t${match?.[4] ?? ''}`;
    entities.set(entity, [...(entities.get(entity) ?? []), line]);
  }
  return entities;
}

const sorted = (entities: ReadonlyMap<string, readonly string[]>) =>
  [...entities].map(([entity, lines]) => [entity, lines.toSorted()]).sort();

describe('pages', () => {
  test.each(Array.from({ length: 12 }, (_, seed) => seed))('seed %d', async (seed) => {
    const random = new Random(seed);
    const place = join(directory, String(seed));
    const [spread, most] = seed === 7 ? [400, 3000] : [3, 20];
    const versions: Set<string>[] = [];
    for (let at = 0; at < 5; at++) {
      const graph = new Set([...(versions.at(-1) ?? [])].filter(() => random.chance(0.8)));
      for (let n = random.between(0, most); n > 0; n--) graph.add(statement(random, spread));
      versions.push(graph);
    }
    const dataset = await written(place, versions);
    const pagesIn = (name: string, from: Dataset, kind: PartKind, version: number): Promise<Pages> =>
      pagesOf(
        from,
        { kind, version },
        { directory: join(place, name), key: `${kind}${version}`, convert, signal: new AbortController().signal },
      );
    const known = new Map<string, string[]>();
    const made: Members[] = [];
    for (const [at, graph] of versions.entries()) {
      const found = await membersOf(await pagesIn('pages', dataset, 'changes', at + 1));
      made.push(found);
      const { of, most: members } = found;
      expect(members).toBeLessThanOrEqual(250);
      const [before, after] = [entitiesOf(versions[at - 1] ?? []), entitiesOf(graph)];
      for (const [entity, lines] of of) {
        expect(lines.toSorted()).not.toEqual(before.get(entity)?.toSorted() ?? []);
        if (lines[0] === 'tombstone') expect([lines.length, known.delete(entity)]).toEqual([1, true]);
        else known.set(entity, lines);
      }
      expect(sorted(known)).toEqual(sorted(after));
    }
    const stateDirectory = join(place, 'state');
    const folding = { directory: join(place, 'folding'), memoryBudgetBytes: 0 };
    const { base } = await removeVersions({ files: dataset.files, stateDirectory }, 2, folding);
    expect(base).toBe(4);
    const shorter = await Dataset.open(dataset.files);
    const [kept, changed] = await Promise.all(
      (['base', 'changes'] as const).map(async (kind) => membersOf(await pagesIn('later', shorter, kind, 4))),
    );
    expect([...(changed as Members).of]).toEqual([...(made[3] as Members).of]);
    const graph = new Map([...(kept as Members).of, ...[...(changed as Members).of].filter(([, [first]]) => first !== 'tombstone')]);
    expect(sorted(graph)).toEqual(sorted(entitiesOf(versions[3] as Set<string>)));
    expect([...(kept as Members).of.keys()].filter((entity) => (changed as Members).of.has(entity))).toEqual([]);
    expect(readdirSync(join(place, 'pages')).sort()).toEqual([1, 2, 3, 4, 5].map((version) => `changes${version}`));
    expect(readdirSync(join(place, 'pages', 'changes1')).sort()).toEqual(['index.json', 'pages.gz']);
  });
});
