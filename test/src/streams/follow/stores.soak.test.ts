/**
 * A follower keeps a dataset, and `write --follow` writes its versions to a store, while rows change. The writer is killed in the middle. At rest the store
 * is what a fresh write of the exported graph gives.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { LAG_STORES, type LagStore, measureLag, percentile } from '../../../bench/versions/lag.ts';
import { linesOf } from '../../../support/service/store-client.ts';
import { differences, emptyStore, storedGraph } from '../../targets/bolt/oracle.ts';

const SECONDS = Number(process.env.FOLLOW_SECONDS ?? 5);
const EVENTS_PER_SECOND = Number(process.env.FOLLOW_EVENTS_PER_SECOND ?? 100);

for (const [name, { missing, start }] of Object.entries(LAG_STORES)) {
  const reason = await missing();
  (reason === undefined ? describe : describe.skip)(`${name}${reason === undefined ? '' : ` (not tested: ${reason})`}`, () => {
    test('the store has the changes soon, and at rest the graph of the dataset', async () => {
      const store = await start();
      try {
        const options = { eventsPerSecond: EVENTS_PER_SECOND, seconds: SECONDS, isKilled: true };
        const { events, lags } = await measureLag(store, options, async (directory, quadmill) => {
          await quadmill('dataset', 'export', 'shop', '-o', 'shop.nq');
          await isEqual(store, directory, () => quadmill('write', 'shop.nq', ...store.target));
        });
        console.log(`${name}: ${events} changes, lag ${percentile(lags, 0.5)} ms, of 95 % up to ${percentile(lags, 0.95)} ms`);
        expect(events).toBeGreaterThan((SECONDS * EVENTS_PER_SECOND) / 4);
      } finally {
        await store.stop();
      }
    });
  });
}

async function isEqual({ fusekiUrl, driver }: LagStore, directory: string, write: () => Promise<unknown>): Promise<void> {
  if (driver !== undefined) {
    const stored = await storedGraph(driver);
    await emptyStore(driver);
    await write();
    expect(differences(stored, await storedGraph(driver))).toEqual({ extra: [], missing: [] });
    expect(stored.nodes.size).toBeGreaterThan(10_000);
    return;
  }
  const answer = await fetch(`${fusekiUrl}?default`, { headers: { accept: 'application/n-triples' } });
  const lines = linesOf(await answer.text()).filter((line) => !line.includes('quadmill'));
  expect(lines).toEqual(linesOf(readFileSync(join(directory, 'shop.nq'), 'utf8')));
  expect(lines.length).toBeGreaterThan(30_000);
}
