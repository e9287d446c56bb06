/** Durability of the embedded store: what `disk.test.ts` and `disk.soak.test.ts` have in common. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type EmbeddedStoreOptions, openEmbeddedStore } from '../../../../src/targets/embedded/embedded.ts';
import { built } from '../../../support/project-root.ts';
import { type StoreClient, storeClient } from '../../../support/service/store-client.ts';

let base: string;
let count = 0;
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'quadmill-embedded-'));
});
afterAll(() => rm(base, { recursive: true, force: true }));
export const fresh = (): string => join(base, `store-${count++}`);

/** Opens the store for as long as `work` takes. */
export async function withStore<T>(
  directory: string,
  options: EmbeddedStoreOptions,
  work: (client: StoreClient) => Promise<T>,
): Promise<T> {
  const store = await openEmbeddedStore(directory, options);
  try {
    return await work(storeClient(store.endpoint));
  } finally {
    await store.close();
  }
}

export const quadsOf = (directory: string, options: EmbeddedStoreOptions = {}): Promise<readonly string[]> =>
  withStore(directory, options, (client) => client.quads());

export interface Member {
  readonly client: StoreClient;
  readonly process: ChildProcess;
  /** Its output, lines of JSON. */
  next(): Promise<Record<string, unknown>>;
  kill(): Promise<void>;
}

/** Another process with a store; `shell` comes before its command. */
export async function startMember(
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

export function running(member: Awaited<ReturnType<typeof startMember>>): Member {
  if ('fault' in member) throw new Error(member.fault.message);
  return member;
}

/** A journal of three records, and the manifest after each. */
async function threeWrites(): Promise<{
  readonly directory: string;
  readonly sizes: readonly number[];
  readonly manifests: readonly Buffer[];
}> {
  const directory = fresh();
  const sizes: number[] = [];
  const manifests: Buffer[] = [];
  await withStore(directory, {}, async (client) => {
    for (let i = 0; i < 3; i++) {
      await client.add(`<urn:s${i}> <urn:p> "${i}" .\n<urn:s${i}> <urn:q> "${i}" .\n`);
      sizes.push((await stat(join(directory, 'journal-0.log'))).size);
      manifests.push(await readFile(join(directory, 'store.json')));
    }
  });
  return { directory, sizes, manifests };
}

export function testTornJournals(extent: 'some' | 'all'): void {
  test('whose last write was never acknowledged is read up to the write before, wherever it was cut', async () => {
    const { directory: whole, sizes, manifests } = await threeWrites();
    const [first, second, third] = sizes as [number, number, number];
    const some = [first, first + 5, third - 1];
    for (const at of extent === 'some' ? some : [...some, first + 33, first + 60, second - 1, second, second + 1, third]) {
      const directory = fresh();
      await cp(whole, directory, { recursive: true });
      await truncate(join(directory, 'journal-0.log'), at);
      const records = sizes.filter((size) => size <= at).length;
      await writeFile(join(directory, 'store.json'), manifests[records - 1] as Buffer);
      const warnings: string[] = [];
      expect(await quadsOf(directory, { warn: (message) => warnings.push(message) })).toHaveLength(2 * records);
      expect(warnings).toEqual(sizes.includes(at) ? [] : [expect.stringContaining('interrupted before it was acknowledged')]);
      await withStore(directory, {}, async (client) => {
        await client.add('<urn:new> <urn:p> "1" .\n');
        expect(await client.quads()).toHaveLength(2 * records + 1);
      });
      expect(await quadsOf(directory)).toHaveLength(2 * records + 1);
    }
  }, 120_000);

  test('whose last write was acknowledged is refused', async () => {
    const { directory: whole, sizes } = await threeWrites();
    const [first, , third] = sizes as [number, number, number];
    for (const at of extent === 'some' ? [first, third - 1] : [0, 31, first, first + 5, third - 1]) {
      const directory = fresh();
      await cp(whole, directory, { recursive: true });
      await truncate(join(directory, 'journal-0.log'), at);
      await expect(openEmbeddedStore(directory)).rejects.toMatchObject({
        code: 'store/damaged',
        message: expect.stringMatching(
          /[123] of 3 acknowledged writes since the last snapshot, with at least [246] statements cannot be read/,
        ),
      });
    }
  }, 120_000);
}

export function testKills(rounds: number): void {
  test('kill -9 during writes and snapshots loses no acknowledged write, and leaves none half done', async () => {
    const directory = fresh();
    const acknowledged = new Set<number>();
    const statements = (id: number): string[] => [1, 2, 3].map((n) => `<urn:w${id}> <urn:p${n}> "${'x'.repeat(200)}" <urn:g> .`);
    let id = 0;
    for (let round = 0; round < rounds; round++) {
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
    expect(acknowledged.size).toBeGreaterThanOrEqual(30 * rounds);
  }, 240_000);
}
