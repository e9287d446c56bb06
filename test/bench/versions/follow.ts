/**
 * What a follower does of a feed in memory: the rows at the beginning, then changes of them, by record. The events are made when they are read; reading them
 * alone is the bound. This process is measured, so each workload has its own: `follow.ts NAME` is what `npm run bench` starts.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RUN_DEFAULTS } from '../../../src/config/run-defaults.ts';
import { openFiles } from '../../../src/datasets/files.ts';
import { USUAL_S3_ACCESS } from '../../../src/storage/s3-access.ts';
import type { ChangeEvent, ChangeFeed, Row } from '../../../src/streams/events.ts';
import { type EpochReport, follow, ROWS } from '../../../src/streams/follow/follower.ts';
import { tablesOfTopics } from '../../../src/streams/follow/tables.ts';
import { table } from '../../conformance/summary.ts';

interface Following {
  readonly rows: number;
  readonly changes: number;
  readonly joins: boolean;
  /** Changes a second that are to be reached, of processor time. */
  readonly least: number;
}

export const FOLLOWING: Readonly<Record<string, Following>> = {
  'follow-flat': { rows: 1_000_000, changes: 200_000, joins: false, least: 20_000 },
  'follow-joins': { rows: 300_000, changes: 50_000, joins: true, least: 3000 },
};

const PREFIXES =
  '@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix ex: <http://example.com/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n';
const column = (name: string): string => ` ; rr:predicateObjectMap [ rr:predicate ex:${name} ; rr:objectMap [ rr:column "${name}" ] ]`;
const parent = (name: string, of: string): string =>
  ` ; rr:predicateObjectMap [ rr:predicate ex:${name} ; rr:objectMap [ rr:parentTriplesMap <#${of}> ; rr:joinCondition [ rr:child "${name}" ; rr:parent "id" ] ] ]`;
const map = (name: string, rules: string): string =>
  `<#${name}> rr:logicalTable [ rr:tableName "${name}" ] ; rr:subjectMap [ rr:template "http://example.com/${name}/{id}" ; rr:class ex:${name} ]${rules} .\n`;

const mappingOf = ({ joins }: Following): string =>
  PREFIXES +
  map(
    'orders',
    ['name', 'city', 'score'].map(column).join('') + (joins ? parent('customer', 'customers') + parent('product', 'products') : ''),
  ) +
  (joins ? map('customers', column('name')) + map('products', column('name')) : '');

/** Parents have so many children. */
const CHILDREN = 10;
const BATCH = 1000;

class Events {
  readonly #of: Following;
  #random = 1;
  #changes = 0;

  constructor(of: Following) {
    this.#of = of;
  }

  *snapshot(): Generator<ChangeEvent> {
    const { rows, joins } = this.#of;
    const whole = (name: string, count: number) => Array.from({ length: count }, (_, id) => this.#row(name, id + 1, 0));
    if (joins) for (const name of ['customers', 'products']) yield* whole(name, rows / CHILDREN);
    for (let id = 1; id <= rows; id++) yield this.#row('orders', id, 0);
  }

  *changes(): Generator<ChangeEvent> {
    const { rows, changes, joins } = this.#of;
    for (let n = 0; n < changes; n++) {
      const isParent = joins && n % 100 === 0;
      const name = isParent ? (n % 200 === 0 ? 'customers' : 'products') : 'orders';
      const id = 1 + this.#next(isParent ? rows / CHILDREN : rows);
      if (!isParent && n % 20 === 0) yield { kind: 'delete', table: name, key: `["${id}"]`, position: this.#position() };
      else yield this.#row(name, id, n + 1);
    }
  }

  #row(name: string, id: number, version: number): ChangeEvent {
    const parents = Math.max(1, this.#of.rows / CHILDREN);
    const row: Row =
      name === 'orders'
        ? {
            id: String(id),
            name: `Order ${id}`,
            city: `City ${id % 1000}`,
            score: String(version),
            customer: String(1 + ((id * 7) % parents)),
            product: String(1 + ((id * 13 + version) % parents)),
          }
        : { id: String(id), name: `Name ${id} ${version}` };
    return { kind: 'row', table: name, key: `["${id}"]`, position: this.#position(), row };
  }

  /** As PostgreSQL's: the last commit and the own place. */
  #position = (): string =>
    String(++this.#changes)
      .padStart(20, '0')
      .repeat(2);

  #next(below: number): number {
    this.#random = (Math.imul(this.#random, 1664525) + 1013904223) >>> 0;
    return this.#random % below;
  }
}

function* batchesOf(events: Iterable<ChangeEvent>): Generator<readonly ChangeEvent[]> {
  let batch: ChangeEvent[] = [];
  for (const event of events) {
    batch.push(event);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** @param open how many batches there are at the start */
function feedOf(of: Following): ChangeFeed {
  const events = new Events(of);
  const before = Math.ceil((of.rows * (of.joins ? 1 + 2 / CHILDREN : 1)) / BATCH);
  return {
    name: 'memory:',
    async *batches(_, signal) {
      let offset = 0;
      for (const part of [events.snapshot(), events.changes()])
        for (const batch of batchesOf(part)) {
          offset++;
          yield { events: batch, position: { offset: String(offset) }, bytes: 100 * batch.length, changedAt: Date.now() };
        }
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
    end: async () => (position) => Number(position.offset ?? 0) >= before,
    lag: async () => ({ messages: 0, bytes: 0 }),
    confirm: async () => undefined,
    close: async () => undefined,
  };
}

const cpuSeconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/** Memory of this process, without files. */
const ownBytes = (): number => Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;

/** The figures of a workload, as JSON on one line. */
async function measureHere(of: Following): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'quadmill-bench-'));
  try {
    const alone = new Events(of);
    for (const _ of alone.snapshot());
    const readAt = cpuSeconds();
    let read = 0;
    for (const batch of batchesOf(alone.changes())) read += batch.length;
    const readSeconds = cpuSeconds() - readAt;
    writeFileSync(join(directory, 'mapping.ttl'), mappingOf(of));
    const stop = new AbortController();
    // What LMDB maps of its file is in the cache of the system, which it takes back.
    let peakBytes = 0;
    const sampling = setInterval(() => {
      peakBytes = Math.max(peakBytes, ownBytes());
    }, 50);
    const reports: EpochReport[] = [];
    const marks: number[] = [cpuSeconds()];
    let changed = 0;
    let rowsBytes = 0;
    const state = join(directory, 'dataset', 'state');
    await follow(
      {
        place: { files: openFiles(join(directory, 'dataset'), directory, USUAL_S3_ACCESS), stateDirectory: state },
        request: {
          ...RUN_DEFAULTS,
          inputs: [],
          mappings: ['mapping.ttl'],
          workingDirectory: directory,
          spillDirectory: directory,
        },
        source: { tables: async (mapping, request) => tablesOfTopics(mapping, request, 'memory:'), open: async () => feedOf(of) },
        epochSeconds: 5,
        epochRecords: 10_000,
        untilCaughtUp: false,
        retain: 0,
      },
      {
        stop: stop.signal,
        epoch: (report) => {
          marks.push(cpuSeconds());
          if (reports.push(report) === 1) rowsBytes = bytesIn(join(state, ROWS));
          else changed += report.changes;
          if (changed >= of.changes * 0.9) stop.abort();
        },
      },
    );
    clearInterval(sampling);
    const [, second] = marks as [number, number];
    const byRecord = reports.slice(1).filter(({ made }) => made.changesBy === 'record').length;
    const figures = {
      rowsPerSecond: of.rows / (second - (marks[0] as number)),
      changesPerSecond: changed / ((marks.at(-1) as number) - second),
      readPerSecond: read / readSeconds,
      peakMegabytes: peakBytes / 2 ** 20,
      diskBytesPerRow: rowsBytes / of.rows,
      epochs: reports.length - 1,
      byRecord,
      reason: reports.slice(1).find(({ made }) => made.reason !== undefined)?.made.reason,
    };
    console.log(JSON.stringify(figures));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const bytesIn = (directory: string): number => readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);

/** @returns whether the figures are reached */
export function benchFollowing(names: readonly string[]): boolean {
  const rows = names.map((name) => {
    const text = execFileSync(process.execPath, [fileURLToPath(import.meta.url), name], { encoding: 'utf8' });
    return { name, figures: JSON.parse(text) as Record<string, number> };
  });
  const columns = ['changes/s', 'first rows/s', 'feed alone/s', 'peak MB', 'disk B/row', 'epochs', 'by record'];
  const cells = ['changesPerSecond', 'rowsPerSecond', 'readPerSecond', 'peakMegabytes', 'diskBytesPerRow', 'epochs', 'byRecord'];
  console.log(
    `\nfollowing, by processor time\n${table([
      ['workload', ...columns],
      ...rows.map(({ name, figures }) => [name, ...cells.map((cell) => String(Math.round(figures[cell] as number)))]),
    ])}`,
  );
  return rows.every(({ name, figures }) => (figures.changesPerSecond as number) >= (FOLLOWING[name] as Following).least);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name = 'follow-flat', rows, changes] = process.argv.slice(2);
  const of = FOLLOWING[name] as Following;
  await measureHere({ ...of, rows: Number(rows ?? of.rows), changes: Number(changes ?? of.changes) });
}
