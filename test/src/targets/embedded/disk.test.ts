/**
 * Durability of the embedded store: restarts, kill -9, torn journals, full disks, snapshots, and a second process; `disk.soak.test.ts` has
 * larger ones.
 */
import { spawnSync } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Parser } from 'n3';
import { isomorphic } from 'rdf-isomorphic';
import { pageOf } from '../../../../src/targets/embedded/disk/snapshot.ts';
import { openEmbeddedStore } from '../../../../src/targets/embedded/embedded.ts';
import { Random } from '../../../support/random.ts';
import { linesOf, type StoreClient } from '../../../support/service/store-client.ts';
import { fresh, quadsOf, running, startMember, testKills, testTornJournals, withStore } from './disk-suite.ts';

describe('a restart', () => {
  test('brings everything back: graphs, empty ones too, blank nodes and values of their moment', async () => {
    const directory = fresh();
    const [before, graphs] = await withStore(directory, {}, async (client) => {
      await client.add('_:a <urn:p> _:b <urn:g> .\n_:b <urn:p> "x"@en-GB .\n<urn:s> <urn:p> "line\\nbreak \\" \\\\ ü😀" .\n');
      await client.update('CREATE GRAPH <urn:empty>; INSERT DATA { <urn:s> <urn:q> 01, 1.50, "tab\\t"^^<urn:t> }');
      await client.update('INSERT { <urn:s> <urn:at> ?now ; <urn:id> ?id } WHERE { BIND(NOW() AS ?now) BIND(STRUUID() AS ?id) }');
      await client.add('<urn:s> <urn:p> "later" .\n');
      return [await client.quads(), await graphsOf(client)];
    });
    expect(before).toHaveLength(9);
    expect(graphs).toEqual(['urn:empty', 'urn:g']);
    await withStore(directory, {}, async (client) => {
      expect(await graphsOf(client)).toEqual(graphs);
      expect(sameGraph(await client.quads(), before)).toBe(true);
    });
  });
});

const graphsOf = async (client: StoreClient): Promise<readonly string[]> =>
  (await (await client.query('SELECT ?g WHERE { GRAPH ?g {} } ORDER BY ?g', 'text/csv')).text()).trim().split('\r\n').slice(1);

const sameGraph = (one: readonly string[], other: readonly string[]): boolean => {
  const [a, b] = [one, other].map((lines) => new Parser({ format: 'N-Quads' }).parse(lines.join('\n')));
  return isomorphic(a as NonNullable<typeof a>, b as NonNullable<typeof b>);
};

describe('snapshots', () => {
  test.each<[count: number, longest: number, page: number | undefined]>([
    [1_000, 40, 17_476],
    // Not in more than 16 pages.
    [1_000_000, 40, 62_500],
    [3_000_000, 40, 139_810],
    // Fewer characters at once would make pages too short.
    [1_000, 1_000, 10_000],
    [1_000_000, 3_000, 10_485],
    [1_000, 4_000, undefined],
  ])('have pages for %d statements of up to %d characters: %p', (count, longest, page) => {
    expect(pageOf(count, longest)).toBe(page);
  });

  test('replace the journal repeatedly, and the state stays the same', async () => {
    const directory = fresh();
    const random = new Random(4711);
    const expected = new Set<string>();
    for (let round = 0; round < 3; round++) {
      await withStore(directory, { journalBytes: 600 }, async (client) => {
        for (let i = 0; i < 40; i++) {
          const subject = `<urn:s${random.between(0, 19)}>`;
          const graph = random.chance(0.5) ? '' : ` <urn:g${random.between(0, 2)}>`;
          const line = `${subject} <urn:p> "${round} ${i}"${graph} .`;
          const drop = random.chance(0.2);
          if (drop) {
            await client.update(`DELETE WHERE { ${subject} ?p ?o }`);
            for (const one of expected) if (one.startsWith(`${subject} `) && !one.endsWith('> .')) expected.delete(one);
          } else {
            await client.add(`${line}\n`);
            expected.add(line);
          }
        }
        expect(await client.quads()).toEqual([...expected].sort());
      });
    }
    const files = (await readdir(directory)).sort();
    expect(files).toEqual([expect.stringMatching(/^journal-\d+\.log$/), expect.stringMatching(/^snapshot-\d+\.nq$/), 'store.json']);
    expect(Number(/\d+/.exec(files[1] as string)?.[0])).toBeGreaterThan(2);
    expect(await quadsOf(directory)).toEqual([...expected].sort());
  });

  test('are made in a quiet moment, or at once when the journal has grown too large', async () => {
    const directory = fresh();
    const files = async (): Promise<string> =>
      (await readdir(directory))
        .filter((name) => !name.startsWith('owner'))
        .sort()
        .join(' ');
    await withStore(directory, { journalBytes: 1_000 }, async (client) => {
      for (let i = 0; i < 8; i++) await client.add(`<urn:a> <urn:p> "${'x'.repeat(200)}${i}" .\n`);
      while (!/^journal-(\d+)\.log snapshot-\1\.nq store\.json$/.test(await files()))
        await new Promise((resolve) => setTimeout(resolve, 50));
      const before = Number(/\d+/.exec(await files())?.[0]);
      await client.add(`<urn:b> <urn:p> "${'y'.repeat(20_000)}" .\n`);
      expect(await client.count()).toBe(9);
      expect(await files()).toBe(`journal-${before + 1}.log snapshot-${before + 1}.nq store.json`);
    });
  });

  test('the remains of an interrupted snapshot are removed', async () => {
    const directory = fresh();
    await withStore(directory, { journalBytes: 10 }, (client) => client.add('<urn:a> <urn:p> "1" .\n'));
    await writeFile(join(directory, 'snapshot-2.nq.tmp'), '<urn:a> <urn:p>');
    await writeFile(join(directory, 'journal-0.log'), 'old');
    expect(await quadsOf(directory)).toEqual(['<urn:a> <urn:p> "1" .']);
    expect((await readdir(directory)).sort()).toEqual(['journal-1.log', 'snapshot-1.nq', 'store.json']);
  });
});

describe('a torn journal', () => {
  testTornJournals('some');
});

describe('two processes', () => {
  test('never open one directory; when the first is killed, the second may', async () => {
    const directory = fresh();
    const first = running(await startMember(directory));
    try {
      const second = await startMember(directory);
      expect(second).toMatchObject({
        fault: { code: 'service/unavailable', message: expect.stringContaining(`in use by process ${first.process.pid}`) },
      });
      await expect(openEmbeddedStore(directory)).rejects.toMatchObject({ code: 'service/unavailable' });
      await first.client.add('<urn:a> <urn:p> "1" .\n');
    } finally {
      await first.kill();
    }
    expect(await quadsOf(directory)).toEqual(['<urn:a> <urn:p> "1" .']);
  });
});

testKills(2);

const tmpfs =
  process.platform === 'linux'
    ? spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', '-o', 'size=1m', 'none', '/mnt'], { encoding: 'utf8' })
    : undefined;
const why = tmpfs?.status === 0 ? '' : ' (not tested: no tmpfs can be mounted in a separate namespace)';

(why === '' ? test : test.skip).each([
  ['', undefined],
  [', also where snapshots do not fit', 50_000],
])(`a full disk%s: the write fails and is undone; writes are accepted again when there is room${why}`, async (_, journalBytes) => {
  const directory = fresh();
  await mkdir(directory);
  const disk = `mount -t tmpfs -o size=3m none "${directory}" && head -c 1500000 /dev/zero > "${directory}/ballast" &&`;
  const { client, process: child, next, kill } = running(await startMember(directory, journalBytes, disk));
  try {
    const lines: string[] = [];
    const big = (i: number): string => `<urn:s${i}> <urn:p> "${'y'.repeat(100_000)}${i}" .`;
    let refused: unknown;
    for (let i = 0; i < 60 && refused === undefined; i++) {
      await client.add(`${big(i)}\n`).then(
        () => lines.push(big(i)),
        (error) => {
          refused = error;
        },
      );
    }
    expect(String(refused)).toMatch(/507 .*disk/);
    expect(lines.length).toBeGreaterThan(3);
    expect(await client.quads()).toEqual(linesOf(lines.join('\n')));
    child.kill('SIGUSR2');
    expect(await next()).toEqual({ freed: true });
    await client.add(`${big(99)}\n`);
    expect(await client.quads()).toEqual(linesOf([...lines, big(99)].join('\n')));
  } finally {
    await kill();
  }
});
