/** The memory of `npm start` without a redis-server: of an idle process, and of a store that loads all output. */
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { peopleMapping } from '../../support/service/inputs.ts';
import { ask, poll, postJson, type ServiceProcess, startService } from '../../support/service/process.ts';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: ServiceProcess | undefined;
const at = (name: string): string => join(directory.path, name);

beforeEach(async () => {
  directory = await temporaryDirectory();
  service = undefined;
});
afterEach(async () => {
  await service?.stop();
  await directory.remove();
});

/** A PATH with only Node. */
async function start(env: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> {
  await mkdir(at('bin'), { recursive: true });
  await symlink(process.execPath, at('bin/node')).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  service = await startService({ cwd: directory.path, env: { PATH: at('bin'), ...env } });
  return service;
}

/** Memory of a process and its children, in megabytes. */
async function residentMb(root: number): Promise<number> {
  const processes = new Map<number, { parent: number; kilobytes: number }>();
  for (const name of (await readdir('/proc')).filter((each) => /^\d+$/.test(each))) {
    const text = await readFile(`/proc/${name}/status`, 'utf8').catch(() => '');
    const field = (key: string): number => Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);
    processes.set(Number(name), { parent: field('PPid'), kilobytes: field('VmRSS') });
  }
  const within = (pid: number): boolean => pid === root || (processes.has(pid) && within(processes.get(pid)?.parent ?? 0));
  return [...processes].reduce((sum, [pid, { kilobytes }]) => sum + (pid !== 0 && within(pid) ? kilobytes : 0), 0) / 1024;
}

const onLinux = process.platform === 'linux' ? test : test.skip;

/** @param settleMs since when a process counts as idle @param lookMs from one look at its memory to the next */
export function idleMemory({ settleMs, lookMs }: { readonly settleMs: number; readonly lookMs: number }): void {
  onLinux(
    `an idle process without a redis-server holds at most 300 MB after ${settleMs} ms, when it has made its queue and when it finds one`,
    async () => {
      for (const found of [false, true]) {
        const one = await start();
        const opened = await one.waitForLog('queue opened');
        expect([found, opened.kind]).toEqual([found, 'embedded']);
        await sleep(settleMs);
        // The median: a garbage collection may be due at any one look.
        const looks: number[] = [];
        for (let i = 0; i < 9; i++, await sleep(lookMs)) looks.push(await residentMb(one.pid));
        expect(looks.sort((a, b) => a - b)[4]).toBeLessThan(300);
        await one.stop();
      }
    },
    120_000,
  );
}

/** @param rows of the file whose output does not fit */
export function loadedMemory(rows: number): void {
  onLinux(
    'output that is loaded by itself stops at EMBEDDED_MEMORY_MB, and the message names the option and the file',
    async () => {
      const people = createWriteStream(at('people.csv'));
      people.write('id,name\n');
      for (let i = 0; i < rows; i++) people.write(`${i},"${'some name that is no other one '.repeat(4)}${i}"\n`);
      await new Promise<void>((resolve) => people.end(() => resolve()));
      await writeFile(at('people.ttl'), peopleMapping('csv', 'people.csv'));
      await writeFile(at('few.csv'), 'id,name\na,Ann\n');
      const one = await start({ EMBEDDED_MEMORY_MB: '64' });
      const before = await residentMb(one.pid);
      const { body: report } = await postJson(`${one.url}/semi-structured-transformer/process`, {
        inputFileURL: at('people.csv'),
        mappingURL: at('people.ttl'),
      });
      expect(report).toMatchObject({ quads: rows });
      const failed = await one.waitForLog('run failed');
      expect(failed).toMatchObject({ service: 'graph-writer', code: 'store/full' });
      expect(failed.reason).toContain('EMBEDDED_MEMORY_MB');
      expect(failed.reason).toContain(report.outputFileLocations[0]);
      const { body: view } = await ask(`${one.url}/graph-writer/runs/${failed.run}`);
      expect(view).toMatchObject({ state: 'failed', attempts: 1 });
      // Threads are kept for the next run.
      expect((await residentMb(one.pid)) - before).toBeLessThan(64 + 250);
      // What fits is accepted.
      const { body: small } = await postJson(`${one.url}/semi-structured-transformer/process`, {
        inputFileURL: at('few.csv'),
        mappingURL: at('people.ttl'),
      });
      expect(small.quads).toBe(1);
      const query = `${one.url}/sparql?query=${encodeURIComponent('ASK { <http://example.com/a> ?p ?o }')}`;
      await poll(query, ({ body }) => body.boolean === true, 200_000);
    },
    300_000,
  );
}
