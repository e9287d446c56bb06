/** How operators give on rows of which much comes: `src/run/nodes/operator.ts`. */
import { expect, test } from '@jest/globals';
import { guarded, pushEach } from '../../../../src/run/nodes/operator.ts';

test('rows behind one that is not made at once are pushed while the rest is consumed', () => {
  const pushed: number[] = [];
  const made = pushEach(5, (i) => {
    pushed.push(i);
    return i === 1 || i === 3 ? ['', ''] : undefined;
  });
  expect(pushed).toEqual([0, 1]);
  const seen: (number | undefined)[] = [];
  for (const _ of made ?? []) seen.push(pushed.at(-1));
  expect(seen).toEqual([1, 1, 3, 3]);
  expect(pushed).toEqual([0, 1, 2, 3, 4]);
});

test('rows within rows are consumed piece by piece, whatever the depth', () => {
  let rows = 0;
  const push = (depth: number): Iterable<''> | undefined => {
    if (depth === 0) return ++rows % 100 === 0 ? [''] : undefined;
    return pushEach(30, () => push(depth - 1));
  };
  let most = 0;
  let before = 0;
  for (const _ of push(4) ?? []) {
    most = Math.max(most, rows - before);
    before = rows;
  }
  expect({ rows, most }).toEqual({ rows: 30 ** 4, most: 100 });
});

test('what is made at once makes no pieces', () => {
  expect(pushEach(3, () => undefined)).toBeUndefined();
});

test('a fault behind the first piece is for the owner of the row', () => {
  const faults: unknown[] = [];
  const made = pushEach(3, (i) => {
    if (i === 2) throw new Error('third');
    return [''];
  });
  expect([...guarded(made ?? [], (error) => faults.push(error))]).toEqual(['', '']);
  expect(faults).toEqual([new Error('third')]);
});
