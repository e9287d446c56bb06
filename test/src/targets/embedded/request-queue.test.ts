/** The order in which the embedded store carries requests out. */
import { expect, test } from '@jest/globals';
import { RequestQueue } from '../../../../src/targets/embedded/request-queue.ts';

interface Read {
  readonly caller: string;
  readonly name: string;
}
const queue = (): RequestQueue<Read, string> => new RequestQueue();
const names = (items: readonly (Read | string | undefined)[]): readonly (string | undefined)[] =>
  items.map((item) => (typeof item === 'object' ? item.name : item));

test('writes go first, and callers of queries take turns', () => {
  const one = queue();
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) one.addRead({ caller: name.slice(0, 1), name });
  one.addWrite('w1');
  one.addWrite('w2');
  expect(names(Array.from({ length: 9 }, () => one.next()))).toEqual(['w1', 'w2', 'a1', 'b1', 'c1', 'a2', 'c2', 'a3', undefined]);
});

test('queries get a tenth of the time while writes wait', () => {
  const one = queue();
  const took: Record<'read' | 'write', number> = { read: 0, write: 0 };
  for (let i = 0; i < 1_000; i++) {
    one.addWrite('w');
    one.addRead({ caller: 'a', name: 'r' });
    const item = one.next();
    const [kind, milliseconds] = typeof item === 'object' ? (['read', 100] as const) : (['write', 10] as const);
    one.took(kind, milliseconds);
    took[kind] += milliseconds;
  }
  expect(took.read / (took.read + took.write)).toBeCloseTo(0.1, 2);
});

test('a read that is taken out does not come', () => {
  const one = queue();
  const reads = ['a1', 'a2', 'b1'].map((name) => ({ caller: name.slice(0, 1), name }));
  for (const read of reads) one.addRead(read);
  for (const read of [reads[0], reads[2]]) one.remove(read as Read);
  expect([one.waitingReads('a'), one.waitingReads('b')]).toEqual([1, 0]);
  expect(names([one.next(), one.next()])).toEqual(['a2', undefined]);
});
