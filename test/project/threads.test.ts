/**
 * A thread may be terminated at any time, also while it loads its modules. V8 ends the whole process if that happens at the beginning of a
 * module that has an `await` outside of its functions, so no module of a thread has one: neither ours nor one of a package.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { type BuildFailure, build } from 'esbuild';
import { PROJECT_ROOT } from '../support/project-root.ts';

const AWAIT = 'Top-level await';
const IN_THREADS = ['src', 'queues', 'workers'].flatMap((top) =>
  readdirSync(join(PROJECT_ROOT, top), { recursive: true, encoding: 'utf8' })
    .map((path) => join(PROJECT_ROOT, top, path))
    .filter((path) => path.endsWith('.ts') && readFileSync(path, 'utf8').includes('parentPort')),
);

/** Where modules that the scripts import have an `await` outside of functions. A script of the format `cjs` cannot have one. */
async function awaitsIn(given: {
  readonly entryPoints?: string[];
  readonly stdin?: { contents: string; loader: 'ts' };
}): Promise<string[]> {
  try {
    await build({
      ...given,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      write: false,
      outdir: PROJECT_ROOT,
      logLevel: 'silent',
      logLimit: 0,
    });
    return [];
  } catch (error) {
    const wrong = (error as BuildFailure).errors.filter(({ text }) => text.includes(AWAIT));
    return wrong.map(({ location }) => `${location?.file}:${location?.line}`);
  }
}

test('a module of a thread waits for nothing while it is loaded', async () => {
  expect(IN_THREADS.length).toBeGreaterThan(5);
  expect(await awaitsIn({ entryPoints: IN_THREADS })).toEqual([]);
});

test('a module that waits is found', async () => {
  expect(await awaitsIn({ stdin: { contents: 'const now = 1;\nawait now;', loader: 'ts' } })).toEqual(['<stdin>:2']);
});
