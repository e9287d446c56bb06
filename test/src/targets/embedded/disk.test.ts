/** Durability of the embedded store: restarts, kill -9, torn journals, full disks, snapshots, and a second process. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Parser } from 'n3';
import oxigraph from 'oxigraph';
import { isomorphic } from 'rdf-isomorphic';
import { loadSnapshot, writeSnapshot } from '../../../../src/targets/embedded/disk/snapshot.ts';
import { type EmbeddedStoreOptions, openEmbeddedStore } from '../../../../src/targets/embedded/embedded.ts';
import { built } from '../../../support/project-root.ts';
import { Random } from '../../../support/random.ts';
import { linesOf, type StoreClient, storeClient } from '../../../support/service/store-client.ts';

let base: string;
let count = 0;
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'quadmill-embedded-'));
});
afterAll(() => rm(base, { recursive: true, force: true }));
const fresh = (): string => join(base, `store-${count++}`);

/** Opens the store for as long as `work` takes. */
async function withStore<T>(directory: string, options: EmbeddedStoreOptions, work: (client: StoreClient) => Promise<T>): Promise<T> {
  const store = await openEmbeddedStore(directory, options);
  try {
    return await work(storeClient(store.endpoint));
  } finally {
    await store.close();
  }
}

const quadsOf = (directory: string, options: EmbeddedStoreOptions = {}): Promise<readonly string[]> =>
  withStore(directory, options, (client) => client.quads());

interface Member {
  readonly client: StoreClient;
  readonly process: ChildProcess;
  /** Its output, lines of JSON. */
  next(): Promise<Record<string, unknown>>;
  kill(): Promise<void>;
}

/** Another process with a store; `shell` comes before its command. */
async function startMember(
  directory: string,
  journalBytes?: number,
  shell = '',
): Promise<Member | { readonly fault: { code: string; message: string } }> {
  const script = fileURLToPath(built('test/src/targets/embedded/member.js'));
  const command = `${shell} exec "${process.execPath}" "${script}" "${directory}" ${journalBytes ?? ''}`;
  const [program, ...flags] = shell === '' ? ['sh'] : ['unshare', '-m', 'sh'];
  const child = spawn(program as string, [...flags, '-c', command], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  const next = async (): Promise<Record<string, unknown>> => JSON.parse(String((await lines.next()).value)) as Record<string, unknown>;
  const first = await next();
  if (typeof first.endpoint !== 'string') return first as unknown as { fault: { code: string; message: string } };
  const kill = async (): Promise<void> => {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  return { client: storeClient(first.endpoint), process: child, next, kill };
}

function running(member: Awaited<ReturnType<typeof startMember>>): Member {
  if ('fault' in member) throw new Error(member.fault.message);
  return member;
}

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

  test('finds 200,000 statements, by journal and by snapshot', async () => {
    const directory = fresh();
    const lines: string[] = [];
    for (let i = 0; i < 200_000; i++) {
      const graph = i % 3 === 0 ? '' : ` <urn:g${i % 3}>`;
      lines.push(`<http://example.org/resource/item/${i >> 2}> <http://example.org/vocab#p${i & 3}> "value ${i}"${graph} .`);
    }
    await withStore(directory, { journalBytes: 1_000_000_000 }, async (client) => {
      for (let i = 0; i < lines.length; i += 20_000) await client.add(`${lines.slice(i, i + 20_000).join('\n')}\n`);
      expect(await client.count()).toBe(200_000);
    });
    expect((await readdir(directory)).sort()).toEqual(['journal-0.log']);
    lines.push('<urn:last> <urn:p> "1" .');
    await withStore(directory, { journalBytes: 1000 }, (client) => client.add('<urn:last> <urn:p> "1" .\n'));
    expect((await readdir(directory)).sort()).toEqual(['journal-1.log', 'snapshot-1.nq']);
    expect(await quadsOf(directory)).toEqual(lines.sort());
  }, 120_000);
});

const graphsOf = async (client: StoreClient): Promise<readonly string[]> =>
  (await (await client.query('SELECT ?g WHERE { GRAPH ?g {} } ORDER BY ?g', 'text/csv')).text()).trim().split('\r\n').slice(1);

const sameGraph = (one: readonly string[], other: readonly string[]): boolean => {
  const [a, b] = [one, other].map((lines) => new Parser({ format: 'N-Quads' }).parse(lines.join('\n')));
  return isomorphic(a as NonNullable<typeof a>, b as NonNullable<typeof b>);
};

describe('snapshots', () => {
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
    expect(files).toEqual([expect.stringMatching(/^journal-\d+\.log$/), expect.stringMatching(/^snapshot-\d+\.nq$/)]);
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
      while (!/^journal-(\d+)\.log snapshot-\1\.nq$/.test(await files())) await new Promise((resolve) => setTimeout(resolve, 50));
      const before = Number(/\d+/.exec(await files())?.[0]);
      await client.add(`<urn:b> <urn:p> "${'y'.repeat(20_000)}" .\n`);
      expect(await client.count()).toBe(9);
      expect(await files()).toBe(`journal-${before + 1}.log snapshot-${before + 1}.nq`);
    });
  });

  test('hold predicates of several pages, and texts too long for pages', () => {
    const lines: string[] = [];
    for (let i = 0; i < 150_000; i++) lines.push(`<http://example.org/resource/item/${i}> <urn:many> "value ${i}" <urn:g> .`);
    for (let i = 0; i < 3; i++) lines.push(`<urn:s${i}> <urn:long> "${'ü'.repeat(1_000_000)}${i}"@en <urn:g> .`);
    const path = `${fresh()}.nq`;
    const [store, loaded] = [new oxigraph.Store(), new oxigraph.Store()];
    store.load(`${lines.join('\n')}\n`, { format: 'nq' });
    writeSnapshot(store, path);
    loadSnapshot(loaded, path);
    expect(loaded.size).toBe(lines.length);
    expect(linesOf(loaded.dump({ format: 'nq' })).join('\n') === [...lines].sort().join('\n')).toBe(true);
  }, 120_000);

  test('the remains of an interrupted snapshot are removed', async () => {
    const directory = fresh();
    await withStore(directory, { journalBytes: 10 }, (client) => client.add('<urn:a> <urn:p> "1" .\n'));
    await writeFile(join(directory, 'snapshot-2.nq.tmp'), '<urn:a> <urn:p>');
    await writeFile(join(directory, 'journal-0.log'), 'old');
    expect(await quadsOf(directory)).toEqual(['<urn:a> <urn:p> "1" .']);
    expect((await readdir(directory)).sort()).toEqual(['journal-1.log', 'snapshot-1.nq']);
  });

  test('a damaged snapshot is reported', async () => {
    const directory = fresh();
    await withStore(directory, { journalBytes: 10 }, (client) => client.add('<urn:a> <urn:p> "1" .\n'));
    await appendFile(join(directory, 'snapshot-1.nq'), '<urn:b> <urn:p> "cut');
    await expect(openEmbeddedStore(directory)).rejects.toMatchObject({
      code: 'store/damaged',
      message: expect.stringContaining(directory),
    });
  });
});

describe('a torn journal', () => {
  test('is read up to its last whole record, wherever it was cut', async () => {
    const whole = fresh();
    const sizes: number[] = [];
    const path = join(whole, 'journal-0.log');
    await withStore(whole, {}, async (client) => {
      for (let i = 0; i < 3; i++) {
        await client.add(`<urn:s${i}> <urn:p> "${i}" .\n<urn:s${i}> <urn:q> "${i}" .\n`);
        sizes.push((await stat(path)).size);
      }
    });
    const length = sizes[2] as number;
    for (const at of [
      0,
      1,
      31,
      33,
      sizes[0] as number,
      (sizes[0] as number) + 5,
      (sizes[1] as number) - 1,
      sizes[1] as number,
      length - 1,
      length,
    ]) {
      const directory = fresh();
      await cp(whole, directory, { recursive: true });
      await truncate(join(directory, 'journal-0.log'), at);
      const warnings: string[] = [];
      const records = sizes.filter((size) => size <= at).length;
      const isTorn = at !== 0 && !sizes.includes(at);
      expect(await quadsOf(directory, { warn: (message) => warnings.push(message) })).toHaveLength(2 * records);
      expect(warnings).toHaveLength(isTorn ? 1 : 0);
      await withStore(directory, {}, async (client) => {
        await client.add('<urn:new> <urn:p> "1" .\n');
        expect(await client.quads()).toHaveLength(2 * records + 1);
      });
      expect(await quadsOf(directory)).toHaveLength(2 * records + 1);
    }
  }, 120_000);

  test('a record with wrong bytes is dropped, and the file is kept', async () => {
    const directory = fresh();
    const path = join(directory, 'journal-0.log');
    await withStore(directory, {}, async (client) => {
      await client.add('<urn:a> <urn:p> "1" .\n');
      await client.add('<urn:b> <urn:p> "2" .\n');
    });
    const bytes = await readFile(path);
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 5) ^ 1, bytes.length - 5);
    await writeFile(path, bytes);
    const warnings: string[] = [];
    expect(await quadsOf(directory, { warn: (message) => warnings.push(message) })).toEqual(['<urn:a> <urn:p> "1" .']);
    expect(warnings).toEqual([expect.stringContaining(`${path}.torn`)]);
    expect(await readFile(`${path}.torn`)).toEqual(bytes);
  });
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

describe('kill -9', () => {
  test('during writes and snapshots loses no acknowledged write, and leaves none half done', async () => {
    const directory = fresh();
    const acknowledged = new Set<number>();
    const statements = (id: number): string[] => [1, 2, 3].map((n) => `<urn:w${id}> <urn:p${n}> "${'x'.repeat(200)}" <urn:g> .`);
    let id = 0;
    for (let round = 0; round < 6; round++) {
      const member = running(await startMember(directory, 4_000));
      let alive = true;
      const writer = async (): Promise<void> => {
        while (alive) {
          const mine = id++;
          const half = mine % 2 === 0;
          const body = statements(mine).join('\n');
          const sent = half
            ? member.client.add(`${body}\n`)
            : member.client.update(`INSERT DATA { GRAPH <urn:g> { ${body.replaceAll(' <urn:g> .', ' .')} } }`);
          if (
            await sent.then(
              () => true,
              () => false,
            )
          )
            acknowledged.add(mine);
        }
      };
      const writers = Array.from({ length: 4 }, writer);
      const goal = acknowledged.size + 30 + round * 7;
      while (acknowledged.size < goal) await new Promise((resolve) => setTimeout(resolve, 5));
      await member.kill();
      alive = false;
      await Promise.all(writers);
      const found = new Set(await quadsOf(directory, { warn: () => undefined }));
      const lost = [...acknowledged].filter((one) => !statements(one).every((line) => found.has(line)));
      const halves = Array.from({ length: id }, (_, one) => statements(one).filter((line) => found.has(line)).length).filter(
        (n) => n !== 0 && n !== 3,
      );
      expect([lost, halves]).toEqual([[], []]);
    }
    expect(acknowledged.size).toBeGreaterThan(200);
  }, 240_000);
});

const tmpfs =
  process.platform === 'linux'
    ? spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', '-o', 'size=1m', 'none', '/mnt'], { encoding: 'utf8' })
    : undefined;
const why = tmpfs?.status === 0 ? '' : ' (not tested: no tmpfs can be mounted in a namespace of its own)';

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
