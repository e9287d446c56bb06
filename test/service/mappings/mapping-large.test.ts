/** Reading large mappings must not block the event loop, which renews the locks of runs. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { inspectMapping } from '../../../queues/requests/mapping-inspection.ts';
import { readMappingSources } from '../../../queues/requests/mapping-sources.ts';
import { fastest } from '../../support/fastest.ts';
import { soakTest, test } from '../../support/jest/extent.ts';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { largeMapping, largestMapping } from '../../support/service/inputs.ts';

const LARGE = largestMapping();
/** Parsing takes seconds. On a busy machine the event loop is delayed too. */
const LONGEST_MS = 700;

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  directory = await temporaryDirectory();
});
afterAll(async () => {
  await directory.remove();
});

async function longestMs(act: () => Promise<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  await sleep(20);
  delay.enable();
  await act();
  await sleep(20);
  delay.disable();
  return delay.max / 1e6;
}

soakTest('10 MB of Turtle are understood beside the event loop', async () => {
  const measure = () =>
    longestMs(async () => {
      const { diagnostics, triplesMaps, sources } = await inspectMapping([{ name: 'large.ttl', text: LARGE }], 'http://example.com/');
      expect(diagnostics).toEqual([]);
      expect(triplesMaps).toBeGreaterThan(10_000);
      expect(sources).toEqual([{ path: 'people.csv', iris: [] }]);
    });
  expect(await fastest(LONGEST_MS, measure)).toBeLessThan(LONGEST_MS);
});

soakTest('and so are the sources that a request may name', async () => {
  const path = join(directory.path, 'large.ttl');
  await writeFile(path, largeMapping(3.5 * 2 ** 20));
  const measure = () =>
    longestMs(async () => {
      const sources = await readMappingSources([path], { reach: undefined, workingDirectory: directory.path, base: undefined });
      expect(sources).toEqual([{ path: 'people.csv', iris: [] }]);
    });
  expect(await fastest(LONGEST_MS, measure)).toBeLessThan(LONGEST_MS);
});

test('errors of a large mapping are reported as of a small one', async () => {
  const { diagnostics } = await inspectMapping([{ name: 'large.ttl', text: `${LARGE}\nex:broken ex:p ;;; "` }], 'http://example.com/');
  expect(diagnostics).toMatchObject([{ severity: 'error', code: 'syntax', origin: { document: 'large.ttl' } }]);
}, 120_000);
