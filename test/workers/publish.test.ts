/** The output of a run whose workers are killed, or suspended and resumed late. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { settingsOf } from '../../queues/requests/transform.ts';
import { openRuns, runIdOfKey } from '../../queues/runs/runs.ts';
import { DEFAULTS, type OptionValues } from '../../src/config/options/options.ts';
import { RUN_DEFAULTS } from '../../src/config/run-defaults.ts';
import { openConfig } from '../../src/config/store.ts';
import { quietLogger } from '../../src/core/telemetry/observe.ts';
import type { RunReport } from '../../src/run/request.ts';
import { type FileSink, openFileSink } from '../../src/sinks/file.ts';
import { startWorkers } from '../../workers/host.ts';
import { removeEarlier } from '../../workers/output/output.ts';
import { publish } from '../../workers/output/publish.ts';
import type { Task } from '../../workers/task.ts';
import { closeAfterEach } from '../support/closing.ts';
import { openQueue, uniquePrefix } from '../support/queues/backends.ts';

const { closes, directory: directoryForTest } = closeAfterEach();

const REPORT: RunReport = {
  records: 1,
  quads: 1,
  rejected: 0,
  bytesRead: 1,
  bytesWritten: 1,
  seconds: 1,
  triplesMaps: [],
  warnings: [],
  mappings: [],
};

interface Attempt {
  readonly task: Task;
  readonly sink: FileSink;
}

/** An attempt that has mapped: its parts are complete under temporary names. */
async function mapped(directory: string, attempt: string, parts: number): Promise<Attempt> {
  const output = { directory, name: 'S-r1', format: 'nquads', attempt, service: 'S' } as const;
  const request = { ...RUN_DEFAULTS, runId: 'r1', mappings: [], inputs: [], workingDirectory: directory, spillDirectory: directory };
  const sink = await openFileSink({ directory, name: 'S-r1.nq', format: 'nquads', attempt });
  for (let i = 0; i < parts; i++) {
    await sink.write(`<a:attempt> <a:is> "${attempt}" .\n`);
    await sink.rollOver();
  }
  return { task: { request, slices: { rows: 0, bytes: 0 }, output }, sink };
}

const finish = async ({ sink }: Attempt) => ({ parts: await sink.finish(), rejections: undefined });

const confirm = async (): Promise<void> => undefined;

describe('a late attempt', () => {
  test.each([1, 3])('leaves what the one after it has published as it is, %i parts', async (count) => {
    const directory = await directoryForTest();
    const late = await mapped(directory, '1', count);
    const publishing = publish(
      late.task,
      REPORT,
      [],
      async () => {
        // Its worker is suspended here, after it was allowed to commit; another attempt takes over and completes the run.
        const finished = await finish(late);
        await removeEarlier({ directory }, 'S-r1', '2');
        const next = await mapped(directory, '2', count);
        const { report } = await publish(next.task, REPORT, [], () => finish(next), confirm);
        expect(report.bytesWritten).toBe(count * '<a:attempt> <a:is> "2" .\n'.length);
        return finished;
      },
      confirm,
    );
    await expect(publishing).rejects.toMatchObject({ code: 'sink/failed', retriable: true });
    const names = ['S-r1.nq', 'S-r1-2.nq', 'S-r1-3.nq'].slice(0, count);
    expect((await readdir(directory)).sort()).toEqual([...names, 'S-r1.manifest.json'].sort());
    for (const name of names) expect(await readFile(join(directory, name), 'utf8')).toBe('<a:attempt> <a:is> "2" .\n');
    expect(JSON.parse(await readFile(join(directory, 'S-r1.manifest.json'), 'utf8')).parts).toHaveLength(count);
  });

  test('publishes nothing while the one after it is still mapping', async () => {
    const directory = await directoryForTest();
    const late = await mapped(directory, '1', 2);
    const publishing = publish(
      late.task,
      REPORT,
      [],
      async () => {
        const finished = await finish(late);
        await removeEarlier({ directory }, 'S-r1', '2');
        await mapped(directory, '2', 1);
        return finished;
      },
      confirm,
    );
    await expect(publishing).rejects.toMatchObject({ code: 'sink/failed' });
    expect(await readdir(directory)).toEqual(['.S-r1.nq.2.part']);
  });
});

describe('of a run that has not completed', () => {
  test('nothing is left, also when a worker was killed after it had published', async () => {
    const directory = await directoryForTest();
    const backend = await openQueue('embedded:', directory, uniquePrefix());
    closes(() => backend.close());
    const options: OptionValues = { DATA_DIR: directory, WORKER_CONCURRENCY: 1 };
    const config = await openConfig(options, backend.settings);
    const runs = await openRuns(backend);
    closes(async () => {
      config.close();
      await runs.close();
    });

    const [output, spill] = [join(directory, 'output'), join(directory, 'spill')];
    const service = 'semi-structured-transformer';
    const keys = ['fails', 'cancelled'] as const;
    for (const key of keys) {
      const name = `Semi-Structured-Transformer-${runIdOfKey(service, key)}`;
      await mkdir(join(spill, `${name}.1`), { recursive: true });
      await mkdir(output, { recursive: true });
      for (const file of [`${name}.nq`, `${name}.manifest.json`, `.${name}.nq.1.part`]) await writeFile(join(output, file), '');
    }
    const submit = (key: string) =>
      runs.submit(
        {
          service,
          inputs: [{ name: undefined, url: join(directory, 'missing.csv') }],
          mappings: [join(directory, 'missing.ttl')],
          ...settingsOf({ ...DEFAULTS, DATA_DIR: directory }, directory),
        },
        { idempotencyKey: key },
      );
    const [failing, cancelled] = [await submit('fails'), await submit('cancelled')];
    await runs.cancel(cancelled.id);
    const workers = await startWorkers(backend, config, quietLogger(), { workingDirectory: directory });
    closes(() => workers.drain(0));
    expect(await runs.outcome(failing.id, 20_000)).toMatchObject({ state: 'failed' });
    expect(await runs.outcome(cancelled.id, 20_000)).toMatchObject({ state: 'cancelled' });
    expect(await readdir(output)).toEqual([]);
    expect(await readdir(spill)).toEqual([]);
  }, 60_000);
});
