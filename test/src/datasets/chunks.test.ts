/** Chunks of random documents that are edited: what units have of the records of two versions. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ChunkUnits } from '../../../src/datasets/records/chunks/chunk-units.ts';
import { chunksOf } from '../../../src/datasets/records/chunks/chunks.ts';
import type { NumberedChunk, RecordInput } from '../../../src/datasets/records/chunks/input.ts';
import { RecordDraft, RecordState, type RecordsInfo } from '../../../src/datasets/records/chunks/state.ts';
import { ChunkTable, hashChunk } from '../../../src/datasets/records/chunks/texts.ts';
import { bitsOf } from '../../../src/datasets/records/unit-index.ts';
import { NotByRecord, type Unit } from '../../../src/datasets/records/units.ts';
import { openCsvBorders } from '../../../src/sources/csv/borders.ts';
import { Random, seeds } from '../../support/random.ts';

const SEED = 7;
const HEAD = Buffer.from('id,a\n');
const SIZES = [
  { least: 1, usual: 0, most: 1 },
  { least: 8, usual: 16, most: 64 },
  { least: 32, usual: 32, most: 256 },
];

/** Text of random rows; few values, so that rows are repeated. The last row may lack its end, and be within quotes. */
const rowsOf = (random: Random, count: number): string[] =>
  Array.from({ length: count }, () =>
    random.pick([
      `${random.between(0, 20)},x\n`,
      `${'1'.repeat(random.between(1, 4))},x\n`,
      `${random.between(0, 999)},"a\nb ""c"""\n`,
      `"${random.between(0, 9)}\n",${'y'.repeat(random.between(0, 30))}\n`,
    ]),
  );

function edited(random: Random, before: readonly string[]): string[] {
  const rows = [...before];
  for (let edits = random.between(0, 4); edits > 0; edits--) {
    const at = random.between(0, rows.length);
    const count = random.pick([0, 1, 1, 2, 30]);
    const put = random.chance(0.3)
      ? before.slice(random.between(0, before.length), random.between(0, before.length))
      : rowsOf(random, count);
    rows.splice(at, random.pick([0, 1, 1, 2, 30]), ...put);
  }
  return rows;
}

/** Of a document whose pieces have any sizes. */
async function inputOf(random: Random, rows: readonly string[], isCut: boolean): Promise<RecordInput & { given: Map<Unit, Buffer> }> {
  const whole = Buffer.from(rows.join(''), 'latin1');
  const text = Buffer.concat([HEAD, isCut ? whole.subarray(0, Math.max(0, whole.length - random.between(1, 6))) : whole]);
  const document = {
    sizeBytes: text.length,
    read: async (from: number, to: number) => text.subarray(from, to),
    async *bytes(from: number) {
      for (let at = from; at < text.length; ) yield text.subarray(at, (at += random.pick([1, 10, 100, 1000])));
    },
  };
  const options = {
    format: 'csv',
    name: 'a.csv',
    dialect: 'rml',
    nulls: [],
    maxRecordBytes: 1000,
    encoding: undefined,
  } as const;
  const borders = await openCsvBorders(document, [], options);
  if (borders === undefined) throw new Error('the borders of records are not known');
  const given = new Map<Unit, Buffer>();
  return {
    name: 'a.csv',
    head: HEAD,
    sizeBytes: text.length,
    chunks: (sizes, expected) => chunksOf(document.bytes(borders.head), borders, sizes, 10_000, expected),
    recordsOf(part) {
      const records: Buffer[] = [];
      for (let at = 0; at < part.length; ) {
        const found = borders.endOf(part, at, 0);
        const end = found < 0 ? part.length : found;
        records.push(part.subarray(at, end));
        at = end;
      }
      return records;
    },
    replayed(chunks: Iterable<NumberedChunk>) {
      for (const [unit, part] of chunks) given.set(unit, part);
      return {};
    },
    recorded: () => ({}),
    given,
  };
}

/** Rows that differ in the end of the document alone are equal. */
const recordsIn = (input: RecordInput, text: Buffer): string[] =>
  input.recordsOf(text).map((record) => record.toString('latin1').replace(/\n$/, ''));

async function textOf(input: RecordInput): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const chunk of input.chunks(SIZES[0] as (typeof SIZES)[0], { length: () => 0, take: () => false }))
    all.push(Buffer.from(chunk));
  return Buffer.concat(all);
}

test.each(seeds(1, 20))('units have the records of both versions, seed %d', async (seed) => {
  const random = new Random(seed);
  const directory = mkdtempSync(join(tmpdir(), 'quadmill-chunks-'));
  const sizes = random.pick(SIZES);
  try {
    let rows = rowsOf(random, random.between(0, 80));
    let input = await inputOf(random, rows, random.chance(0.3));
    const first = new RecordDraft(join(directory, '0'), SEED);
    for await (const text of input.chunks(sizes, { length: () => 0, take: () => false })) {
      const { chunk } = first.add(0, text);
      for (const record of recordsIn(input, text)) first.subjects.add(bitsOf(record, SEED), chunk);
    }
    (await first.finishTexts()).close();
    let info: RecordsInfo = await first.finish([HEAD], [sizes]);
    for (let version = 1; version < 5; version++) {
      const before = recordsIn(input, await textOf(input));
      rows = edited(random, rows);
      input = await inputOf(random, rows, random.chance(0.3));
      const now = recordsIn(input, await textOf(input));
      const old = new RecordState(join(directory, String(version - 1)), info, SEED);
      const draft = new RecordDraft(join(directory, String(version)), SEED, old);
      const memory = random.pick([0, 2000, 1e6]);
      const known = { memoryBytes: memory, counted: [random.chance(0.3)] };
      const units = await ChunkUnits.read([input], old, draft, Number.POSITIVE_INFINITY, known, undefined).catch((error: unknown) => {
        if (!(error instanceof NotByRecord)) throw error;
      });
      if (units === undefined) {
        // Equal chunks have equal records.
        expect(new Set(now).size).toBeLessThan(now.length);
        await draft.abort();
        old.close();
        return;
      }
      const makers = new Map<string, readonly Unit[]>();
      for (const record of before) units.makers([bitsOf(record, SEED)], (found) => makers.set(record, found));
      const stay = new Set([...makers.values()].flat().filter((unit) => units.stays(unit)));
      units.reading([...new Set([...units.removed, ...units.added, ...[...makers.values()].flat()])], () => undefined);
      const recordsOf = (of: Iterable<Unit>): string[] => [...of].flatMap((unit) => recordsIn(input, input.given.get(unit) as Buffer));
      expect(new Set(recordsOf([...units.removed, ...stay]))).toEqual(new Set(before));
      expect(new Set(recordsOf([...units.added, ...stay]))).toEqual(new Set(now));
      for (const record of before) expect(recordsOf(makers.get(record) ?? [])).toContain(record);
      for (const unit of units.added) for (const record of recordsOf([unit])) units.addMaker(bitsOf(record, SEED), unit);
      info = await units.finish();
      units.close();
      old.close();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

test('a table of chunks has those of its base and others, and is the same when it is loaded again', () => {
  const directory = mkdtempSync(join(tmpdir(), 'quadmill-chunks-'));
  try {
    const random = new Random(1);
    let base: ChunkTable | undefined;
    let before: number[][] = [];
    const valuesOf = (table: ChunkTable): number[][] =>
      Array.from({ length: table.count }, (_, chunk) => {
        const { file, position, packed, offset } = table.place(chunk);
        return [table.hash(chunk), table.scan(chunk), table.length(chunk), file, position, packed, offset];
      });
    for (let version = 0; version < 6; version++) {
      const table = new ChunkTable(random.pick([0, 1, 3]), base);
      const made: number[][] = [];
      const place = (chunk: number): void => {
        const put = [random.between(0, 9), random.between(0, 2 ** 40), random.between(0, 999), random.between(0, 999)] as const;
        table.put(chunk, ...put);
        made[chunk] = [...(made[chunk] as number[]).slice(0, 3), ...put];
      };
      for (let i = 0; i < 300; i++) {
        if (before.length > 0 && random.chance(0.6)) {
          const chunk = random.between(0, before.length - 1);
          made[table.keep(chunk)] = before[chunk] as number[];
        } else {
          hashChunk(Buffer.from(`${version} ${i}`), 0, SEED);
          const [scan, length] = [random.between(0, 3), random.between(0, 2 ** 20)];
          const chunk = table.add(scan, length);
          expect(table.isHashed(chunk)).toBe(true);
          made[chunk] = [table.hash(chunk), scan, length];
          place(chunk);
        }
        if (random.chance(0.1)) place(random.between(0, table.count - 1));
      }
      expect(valuesOf(table)).toEqual(made);
      const path = join(directory, String(version));
      base = ChunkTable.load(path, table.save(path));
      expect(valuesOf(base)).toEqual(made);
      before = made;
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
