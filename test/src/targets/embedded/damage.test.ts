/** Damaged files of the embedded store: nothing that was acknowledged is lost without a word, and what can be read is kept when that is wanted. */
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { findGeneration } from '../../../../src/targets/embedded/disk/files.ts';
import { createJournal, openJournal } from '../../../../src/targets/embedded/disk/journal.ts';
import { writeManifest } from '../../../../src/targets/embedded/disk/manifest.ts';
import { openEmbeddedStore } from '../../../../src/targets/embedded/embedded.ts';
import { loadFiles } from '../../../../src/targets/embedded/engine/load.ts';
import { Triples } from '../../../../src/targets/embedded/engine/triples.ts';
import type { DamageReport, Write } from '../../../../src/targets/embedded/messages.ts';
import { Random } from '../../../support/random.ts';
import { linesOf } from '../../../support/service/store-client.ts';
import { fresh, quadsOf, withStore } from './disk-suite.ts';

const LOAD: Write = { kind: 'load', format: 'application/n-quads', graph: undefined, replace: false };

/** As the engine opens a store, in this thread: thousands of stores are opened. */
async function open(directory: string): Promise<{ readonly quads: readonly string[]; readonly damage: DamageReport | undefined }> {
  const { generation, manifest, isDamaged: hadManifest } = await findGeneration(directory);
  const triples = new Triples();
  try {
    const { damage } = loadFiles(triples, { directory, generation, manifest, hadManifest, list: undefined });
    return { quads: linesOf(triples.store.dump({ format: 'nq' })), damage };
  } finally {
    (triples.store as unknown as { free(): void }).free();
  }
}

/** A snapshot, and a journal of three writes behind it. */
let whole: string;
let files: ReadonlyMap<string, Buffer>;
let expected: readonly string[];
beforeAll(async () => {
  whole = fresh();
  const lines = (from: number, to: number): string =>
    Array.from({ length: to - from }, (_, i) => `<urn:s${from + i}> <urn:p> "ü ${from + i} # End: " <urn:g${i % 2}> .\n`).join('');
  await withStore(whole, { journalBytes: 1 }, (client) => client.add(lines(0, 4)));
  await withStore(whole, {}, async (client) => {
    for (let i = 0; i < 3; i++) await client.add(lines(10 + 2 * i, 12 + 2 * i));
    expected = await client.quads();
  });
  const names = ['journal-1.log', 'snapshot-1.nq', 'store.json'];
  expect((await readdir(whole)).sort()).toEqual(names);
  files = new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(whole, name))] as const)));
}, 60_000);

const random = new Random(20_261_128);
let attacked: string;
beforeAll(async () => {
  attacked = fresh();
  await cp(whole, attacked, { recursive: true });
});

/** Opens the store with one file replaced (undefined: removed): everything is there, or what is missing is reported. */
async function attack(name: string, bytes: Buffer | undefined): Promise<'whole' | 'told'> {
  if (bytes === undefined) await rm(join(attacked, name));
  else await writeFile(join(attacked, name), bytes);
  const { quads, damage } = await open(attacked);
  await writeFile(join(attacked, name), bytesOf(name));
  const lost = expected.length - quads.length;
  // Nothing is read that was not written.
  expect(quads.filter((line) => !expected.includes(line))).toEqual([]);
  if (damage === undefined) expect(lost).toBe(0);
  else expect(damage.statements).toBeGreaterThanOrEqual(lost);
  return damage === undefined ? 'whole' : 'told';
}

const bytesOf = (name: string): Buffer => files.get(name) as Buffer;
const NAMES = ['journal-1.log', 'snapshot-1.nq', 'store.json'] as const;

describe.each(NAMES)('%s', (name) => {
  /** Whether statements stand in the file: then damage is reported. */
  const told = name === 'store.json' ? ['whole'] : ['told'];

  test('with any one byte changed', async () => {
    const outcomes = new Set<string>();
    for (let at = 0; at < bytesOf(name).length; at++) {
      const bytes = Buffer.from(bytesOf(name));
      bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << random.between(0, 7)), at);
      outcomes.add(await attack(name, bytes));
    }
    expect([...outcomes]).toEqual(told);
  }, 120_000);

  test('cut at any length, emptied, and removed', async () => {
    const outcomes = new Set<string>();
    for (let length = 0; length < bytesOf(name).length; length++) outcomes.add(await attack(name, bytesOf(name).subarray(0, length)));
    outcomes.add(await attack(name, undefined));
    expect([...outcomes]).toEqual(told);
  }, 120_000);

  test('with a range of zeros, of other bytes, or of bytes of the file itself', async () => {
    const outcomes = new Set<string>();
    for (let i = 0; i < 200; i++) {
      const bytes = Buffer.from(bytesOf(name));
      const from = random.between(0, bytes.length - 1);
      const to = random.between(from + 1, bytes.length);
      const kind = random.pick(['zeros', 'noise', 'copy', 'gap', 'twice'] as const);
      const part = bytes.subarray(from, to);
      let changed: Buffer;
      if (kind === 'zeros') changed = Buffer.concat([bytes.subarray(0, from), Buffer.alloc(part.length), bytes.subarray(to)]);
      else if (kind === 'noise') changed = Buffer.from(bytes.map((byte, at) => (at >= from && at < to ? random.between(0, 255) : byte)));
      else if (kind === 'gap') changed = Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
      else if (kind === 'twice') changed = Buffer.concat([bytes.subarray(0, to), part, bytes.subarray(to)]);
      else {
        changed = Buffer.from(bytes);
        bytes.copy(changed, random.between(0, bytes.length - part.length), from, to);
      }
      if (!changed.equals(bytes)) outcomes.add(await attack(name, changed));
    }
    // What stands behind the last acknowledged write was never acknowledged: a copy of bytes there is cut off.
    expect(told.every((one) => outcomes.has(one))).toBe(true);
    if (name === 'snapshot-1.nq') expect([...outcomes]).toEqual(told);
  }, 120_000);
});

describe('what a crash leaves', () => {
  const quad = (i: number): string => `<urn:s${i}> <urn:p> "${i}" .`;
  /** Writes are flushed together; the manifest is of the moment before, as a power cut may leave it. */
  async function afterPowerCut(batches: readonly number[]): Promise<{ directory: string; path: string; sizes: readonly number[] }> {
    const directory = fresh();
    await mkdir(directory);
    const path = join(directory, 'journal-0.log');
    const extent = await createJournal(path);
    const journal = await openJournal(
      path,
      extent,
      await writeManifest(directory, { generation: 0, snapshot: undefined, journal: extent }),
    );
    const manifest = await readFile(join(directory, 'store.json'));
    const sizes: number[] = [];
    let i = 0;
    for (const count of batches) {
      await Promise.all(Array.from({ length: count }, () => journal.append(LOAD, Buffer.from(`${quad(i++)}\n`))));
      sizes.push((await readFile(path)).length);
    }
    await journal.close();
    await writeFile(join(directory, 'store.json'), manifest);
    return { directory, path, sizes };
  }

  test('writes that the manifest does not know yet are read', async () => {
    const { directory } = await afterPowerCut([1, 2]);
    expect(await open(directory)).toEqual({ quads: [quad(0), quad(1), quad(2)], damage: undefined });
  });

  test('writes that were never acknowledged are undone together, also where the disk has the second of them', async () => {
    const { directory, path, sizes } = await afterPowerCut([1, 2]);
    const bytes = await readFile(path);
    bytes.fill(0, (sizes[0] as number) + 20, (sizes[0] as number) + 60);
    await writeFile(path, bytes);
    expect(await open(directory)).toEqual({ quads: [quad(0)], damage: undefined });
  });

  test('a write before one that was written later had been acknowledged, whatever the manifest says', async () => {
    const { directory, path, sizes } = await afterPowerCut([1, 1, 1]);
    const bytes = await readFile(path);
    bytes.fill(0, (sizes[0] as number) + 20, (sizes[0] as number) + 60);
    await writeFile(path, bytes);
    expect(await open(directory)).toMatchObject({ quads: [quad(0), quad(2)], damage: { records: 1, statements: 1 } });
  });
});

describe('a damaged store', () => {
  async function damaged(change: (directory: string) => Promise<void>): Promise<string> {
    const directory = fresh();
    await cp(whole, directory, { recursive: true });
    await change(directory);
    return directory;
  }
  const flip = async (path: string, text: string): Promise<void> => {
    const bytes = await readFile(path);
    const at = bytes.indexOf(text);
    expect(at).toBeGreaterThan(0);
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    await writeFile(path, bytes);
  };

  test('is refused with the number of writes, the place and the way on; nothing of it is changed', async () => {
    const directory = await damaged((path) => flip(join(path, 'journal-1.log'), 'urn:s13'));
    const before = await readFile(join(directory, 'journal-1.log'));
    for (let i = 0; i < 2; i++) {
      await expect(openEmbeddedStore(directory)).rejects.toMatchObject({
        code: 'store/damaged',
        message: expect.stringMatching(
          /^The store in .* cannot be opened: 1 of 3 acknowledged writes since the last snapshot, with at least 2 statements cannot be read; 8 statements can be read\. journal-1\.log, bytes \d+ to \d+: write 2 does not have the bytes that were written$/,
        ),
        hint: expect.stringContaining('--salvage'),
      });
    }
    expect((await readdir(directory)).sort()).toEqual([...NAMES]);
    expect(await readFile(join(directory, 'journal-1.log'))).toEqual(before);
  });

  test('is opened with what can be read when that is wanted; the list and the damaged files stay beside', async () => {
    const directory = await damaged(async (path) => {
      await flip(join(path, 'journal-1.log'), 'urn:s13');
      await flip(join(path, 'snapshot-1.nq'), 'urn:s3>');
    });
    const [journal, snapshot] = await Promise.all(NAMES.slice(0, 2).map((name) => readFile(join(directory, name))));
    const warnings: string[] = [];
    const left = expected.filter((line) => !/urn:s(12|13|3)>/.test(line));
    expect(await quadsOf(directory, { salvage: true, warn: (message) => warnings.push(message) })).toEqual(left);
    expect(warnings).toEqual([expect.stringContaining('at least 3 statements cannot be read')]);
    const [kept] = (await readdir(directory)).filter((name) => name.startsWith('damaged-'));
    expect((await readdir(directory)).sort()).toEqual([kept, 'journal-2.log', 'snapshot-2.nq', 'store.json']);
    expect(await readFile(join(directory, String(kept), 'journal-1.log'))).toEqual(journal);
    expect(await readFile(join(directory, String(kept), 'snapshot-1.nq'))).toEqual(snapshot);
    const list = linesOf(await readFile(join(directory, String(kept), 'unreadable.ndjson'), 'utf8')).map(
      (line) => JSON.parse(line) as unknown,
    );
    expect(list).toContainEqual(expect.objectContaining({ file: 'journal-1.log', records: 1, statements: 2 }));
    expect(list).toContainEqual(expect.objectContaining({ file: 'snapshot-1.nq', text: expect.stringContaining('"ü 3 ') }));
    // From then on it is a store like any other.
    expect(await quadsOf(directory)).toEqual(left);
  });

  test('is opened although a later write needs the one that is lost', async () => {
    const directory = fresh();
    await withStore(directory, {}, async (client) => {
      await client.ask('?graph=urn:g', { method: 'PUT', headers: { 'content-type': 'text/turtle' }, body: '<urn:lost> <urn:p> 1 .' });
      await client.ask('?graph=urn:g', { method: 'DELETE' });
      await client.add('<urn:kept> <urn:p> "1" .\n');
    });
    await flip(join(directory, 'journal-0.log'), 'urn:lost');
    await expect(openEmbeddedStore(directory)).rejects.toThrow('2 of 3 acknowledged writes');
    expect(await quadsOf(directory, { salvage: true, warn: () => undefined })).toEqual(['<urn:kept> <urn:p> "1" .']);
  });

  test.each([
    ['without its journal', (path: string) => rm(join(path, 'journal-1.log')), /3 of 3 acknowledged .*journal-1\.log: the file is missing/],
    [
      'without its snapshot',
      (path: string) => rm(join(path, 'snapshot-1.nq')),
      /at least 4 statements .*snapshot-1\.nq: the file is missing/,
    ],
    ['with an empty snapshot', (path: string) => truncate(join(path, 'snapshot-1.nq')), /at least 4 statements/],
    [
      'with the journal of another store',
      async (path: string) => {
        const other = fresh();
        await withStore(other, {}, (client) => client.add('<urn:other> <urn:p> "1" .\n'));
        await cp(join(other, 'journal-0.log'), join(path, 'journal-1.log'));
      },
      /3 of 3 acknowledged .*not the journal that the manifest names/,
    ],
    [
      'with the files of an earlier copy',
      async (path: string) => {
        const bytes = await readFile(join(path, 'journal-1.log'));
        await writeFile(join(path, 'journal-1.log'), bytes.subarray(0, bytes.lastIndexOf('QMJ2')));
      },
      /1 of 3 acknowledged .*write 3 is missing/,
    ],
    [
      'with neither manifest nor journal, both emptied,',
      async (path: string) => {
        await truncate(join(path, 'store.json'));
        await truncate(join(path, 'journal-1.log'));
      },
      /how many acknowledged writes are missing cannot be told.*journal-1\.log: it has lost its records/,
    ],
    [
      'with an emptied journal, and without its manifest',
      async (path: string) => {
        await rm(join(path, 'store.json'));
        await truncate(join(path, 'journal-1.log'));
      },
      /how many acknowledged writes are missing cannot be told.*journal-1\.log: it has lost its records/,
    ],
    [
      'without its manifest and its snapshot',
      async (path: string) => {
        await rm(join(path, 'store.json'));
        await rm(join(path, 'snapshot-1.nq'));
      },
      /how many acknowledged writes are missing cannot be told.*snapshot-1\.nq: the file is missing/,
    ],
    [
      'of a later version',
      (path: string) => writeFile(join(path, 'store.json'), manifestOfVersion(3)),
      /version 3 of the format; this Quadmill reads up to 2/,
    ],
  ])('%s is refused', async (_, change, words) => {
    const directory = await damaged(change);
    await expect(openEmbeddedStore(directory)).rejects.toMatchObject({ code: 'store/damaged', message: expect.stringMatching(words) });
  });

  test('without its manifest alone is opened, with a warning, and has one again', async () => {
    const directory = await damaged((path) => rm(join(path, 'store.json')));
    const warnings: string[] = [];
    expect(await quadsOf(directory, { warn: (message) => warnings.push(message) })).toEqual(expected);
    expect(warnings).toEqual([expect.stringContaining('store.json was missing or damaged')]);
    expect(await quadsOf(directory, { warn: (message) => warnings.push(message) })).toEqual(expected);
    expect(warnings).toHaveLength(1);
  });
});

function manifestOfVersion(version: number): string {
  const rest = { version, more: 'than is known here' };
  const check = createHash('sha256').update(JSON.stringify(rest)).digest('hex').slice(0, 16);
  return `${JSON.stringify({ format: 'quadmill-store', ...rest, check }).padEnd(511)}\n`;
}

describe('files of the former format', () => {
  const record = (head: Write, body: string): Buffer => {
    const [text, bytes] = [Buffer.from(JSON.stringify(head)), Buffer.from(body)];
    const fixed = Buffer.alloc(32);
    fixed.write('QMJ1');
    fixed.writeUInt32BE(text.length, 4);
    fixed.writeUInt32BE(bytes.length, 8);
    createHash('sha256').update(fixed.subarray(4, 12)).update(text).update(bytes).digest().copy(fixed, 16, 0, 16);
    return Buffer.concat([fixed, text, bytes]);
  };
  const records = [0, 1, 2].map((i) => record(LOAD, `<urn:j${i}> <urn:p> "${i}" .\n`));
  async function former(journal: readonly Buffer[] | undefined): Promise<string> {
    const directory = fresh();
    await mkdir(directory);
    await writeFile(
      join(directory, 'snapshot-4.nq'),
      '# Graphs without statements: <urn:empty>\n<urn:s> <urn:p> _:b <urn:g> .\n_:b <urn:p> "1" <urn:g> .\n',
    );
    if (journal !== undefined) await writeFile(join(directory, 'journal-4.log'), Buffer.concat(journal));
    return directory;
  }

  test.each([
    ['with a journal', records, 5],
    ['with an empty journal', [], 2],
    ['without a journal', undefined, 2],
  ])('%s are read once, and written in the present one', async (_, journal, count) => {
    const directory = await former(journal);
    const quads = await quadsOf(directory);
    expect(quads).toHaveLength(count);
    expect((await readdir(directory)).sort()).toEqual(['journal-5.log', 'snapshot-5.nq', 'store.json']);
    expect(await quadsOf(directory)).toHaveLength(count);
    const graphs = await withStore(directory, {}, async (client) => (await client.query('ASK { GRAPH <urn:empty> {} }')).text());
    expect(graphs).toContain('true');
  });

  test('that end within a record are read up to it, and the file is kept', async () => {
    const journal = [records[0] as Buffer, (records[1] as Buffer).subarray(0, 40)];
    const directory = await former(journal);
    const warnings: string[] = [];
    expect(await quadsOf(directory, { warn: (message) => warnings.push(message) })).toHaveLength(3);
    expect(warnings).toEqual([expect.stringContaining('journal-4.log.torn')]);
    expect(await readFile(join(directory, 'journal-4.log.torn'))).toEqual(Buffer.concat(journal));
  });

  test('with whole records behind a damaged one are refused, and salvaged when that is wanted', async () => {
    const bad = Buffer.from(records[1] as Buffer);
    bad.writeUInt8(bad.readUInt8(50) ^ 1, 50);
    const directory = await former([records[0] as Buffer, bad, records[2] as Buffer]);
    await expect(openEmbeddedStore(directory)).rejects.toThrow(/1 acknowledged writes? .*journal-4\.log, bytes \d+ to \d+/);
    expect(await quadsOf(directory, { salvage: true, warn: () => undefined })).toHaveLength(4);
  });

  test('an older Quadmill refuses the present format: its first record names a format that it does not load', async () => {
    const directory = fresh();
    await withStore(directory, {}, (client) => client.add('<urn:a> <urn:p> "1" .\n'));
    const bytes = await readFile(join(directory, 'journal-0.log'));
    const headBytes = bytes.readUInt32BE(4);
    expect(bytes.subarray(0, 4).toString()).toBe('QMJ1');
    const head = JSON.parse(bytes.subarray(32, 32 + headBytes).toString()) as Write & { readonly kind: 'load' };
    expect(record(head, '')).toEqual(bytes.subarray(0, 32 + headBytes));
    expect(() => new Triples().write(head, Buffer.alloc(0))).toThrow('quadmill-journal-2');
  });
});
