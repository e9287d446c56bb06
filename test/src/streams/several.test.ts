/** Several feeds as one. */
import { describe, expect, test } from '@jest/globals';
import type { ChangeBatch, ChangeEvent, FeedPosition } from '../../../src/streams/events.ts';
import { joinedFeed, positionOf, withPosition } from '../../../src/streams/several.ts';
import { MemoryLog } from './follow/memory-feed.ts';

const row = (table: string, id: number): ChangeEvent => ({
  kind: 'row',
  table,
  key: `[${id}]`,
  position: undefined,
  row: { id: String(id) },
});
const begin = (transaction: string): ChangeEvent => ({ kind: 'begin', transaction });
const commit = (transaction: string): ChangeEvent => ({ kind: 'commit', transaction });

async function readAll(logs: Readonly<Record<string, MemoryLog>>, from: FeedPosition | undefined): Promise<readonly ChangeBatch[]> {
  const feed = joinedFeed(new Map(Object.entries(logs).map(([name, log]) => [name, log.feed()])));
  const reached = await feed.end(undefined);
  const stop = new AbortController();
  const all: ChangeBatch[] = [];
  if (!reached(from ?? {}))
    for await (const batch of feed.batches(from, stop.signal)) {
      all.push(batch);
      if (reached(batch.position)) break;
    }
  await feed.close();
  return all;
}

describe('several feeds', () => {
  test('each is read from its position', async () => {
    const [a, b] = [new MemoryLog(), new MemoryLog()];
    a.append([row('a', 1)], [row('a', 2)]);
    b.append([row('b', 1)]);
    const first = await readAll({ a, b }, undefined);
    expect(first.flatMap(({ events }) => events)).toHaveLength(3);
    const position = first.at(-1)?.position as FeedPosition;
    expect([positionOf(position, 'a'), positionOf(position, 'b'), positionOf(position, 'c')]).toEqual([
      { offset: '2' },
      { offset: '1' },
      undefined,
    ]);
    b.append([row('b', 2)]);
    expect((await readAll({ a, b }, position)).flatMap(({ events }) => events)).toEqual([row('b', 2)]);
    const again = await readAll({ a, b }, withPosition(position, 'a', undefined));
    expect(again.flatMap(({ events }) => events)).toHaveLength(3);
  });

  test('transactions of two feeds never overlap', async () => {
    const [a, b] = [new MemoryLog(), new MemoryLog()];
    for (let i = 0; i < 20; i++) {
      a.append([begin(`a${i}`), row('a', i)], [row('a', i)], [commit(`a${i}`)]);
      b.append([begin(`b${i}`)], [row('b', i), commit(`b${i}`), begin(`c${i}`)], [commit(`c${i}`)]);
    }
    let open: string | undefined;
    for (const event of (await readAll({ a, b }, undefined)).flatMap(({ events }) => events)) {
      if (event.kind === 'begin') {
        expect(open).toBeUndefined();
        open = event.transaction;
      } else if (event.kind === 'commit') {
        expect(event.transaction).toBe(open);
        open = undefined;
      } else if (event.kind === 'row') expect(open?.startsWith(event.table) || open?.startsWith('c')).toBe(true);
    }
  });

  test('where one is lost, all are', async () => {
    const [a, b] = [new MemoryLog(), new MemoryLog()];
    a.append([row('a', 1)], [row('a', 2)]);
    a.losses = [1];
    await expect(readAll({ a, b }, undefined)).rejects.toMatchObject({ code: 'source/unreadable' });
  });
});
