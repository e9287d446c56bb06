/** Where blocks of the canvas stand that the user has not placed. */
import { describe, expect, test } from '@jest/globals';
import { type Arrangement, apart, arranged, type Box, column, spotFor } from '../../../studio/ui/parts/layout/layout.ts';

const box = (id: string, isInput: boolean, height = 100): Box => ({ id, isInput, width: 240, height });

/** Pairs of boxes that share a place. */
function overlaps(boxes: readonly Box[], points: ReturnType<typeof arranged>): readonly string[] {
  const placed = boxes.map((one) => ({ ...one, ...(points.get(one.id) as { x: number; y: number }) }));
  return placed.flatMap((a, i) =>
    placed
      .slice(i + 1)
      .filter((b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height)
      .map((b) => `${a.id} ${b.id}`),
  );
}

const boxes = [
  box('orders', true, 300),
  box('people', true),
  ...Array.from({ length: 30 }, (_, i) => box(`entity${i}`, false, 60 + 20 * (i % 5))),
];
const lines = Array.from({ length: 29 }, (_, i) => ({ from: `entity${Math.floor(i / 2)}`, to: `entity${i + 1}` }));
const arrangement: Arrangement = { boxes, lines: [...lines, { from: 'entity3', to: 'entity3' }, { from: 'entity5', to: 'gone' }] };

describe('the layout', () => {
  test('no block is above another one, and inputs stand at the left of the graph', () => {
    const points = arranged(arrangement);
    expect(points.size).toBe(boxes.length);
    expect(overlaps(boxes, points)).toEqual([]);
    for (const { id, isInput } of boxes) expect(points.get(id)?.x).toBeGreaterThanOrEqual(isInput ? 0 : 240);
  });

  test('an edge leads to the right', () => {
    const points = arranged(arrangement);
    for (const { from, to } of lines) expect(points.get(from)?.x).toBeLessThan(points.get(to)?.x as number);
  });

  test('one more block gets a place that is free, at the right of what leads to it', () => {
    const points = arranged(arrangement);
    const more = box('more', false);
    const grown = { boxes: [...boxes, more], lines: [...lines, { from: 'entity0', to: 'more' }] };
    const spot = spotFor(more, grown, points);
    expect(overlaps(grown.boxes, new Map([...points, ['more', spot]]))).toEqual([]);
    expect(spot.x).toBeGreaterThan(points.get('entity0')?.x as number);
    const input = box('towns', true);
    const place = spotFor(input, { boxes: [...boxes, input], lines }, points);
    expect(place).toEqual({ x: 0, y: 300 + 32 + 100 + 32 });
  });

  test('inputs that grow push those below them down', () => {
    expect([...column([box('a', true, 50), box('b', true, 70), box('c', true)]).values()].map(({ y }) => y)).toEqual([0, 82, 184]);
  });
});

describe('blocks that grow', () => {
  const box = (id: string, height: number): Box => ({ id, isInput: false, width: 240, height });
  const at = new Map([
    ['a', { x: 0, y: 0 }],
    ['b', { x: 10, y: 100 }],
    ['c', { x: 0, y: 190 }],
    ['aside', { x: 400, y: 50 }],
  ]);
  const boxes = [box('c', 60), box('a', 150), box('b', 60), box('aside', 60)];

  test('push those below them down, and leave the others', () => {
    const points = apart(boxes, at);
    expect(Object.fromEntries(points)).toEqual({ a: { x: 0, y: 0 }, b: { x: 10, y: 182 }, c: { x: 0, y: 274 }, aside: { x: 400, y: 50 } });
  });

  test('until none covers another, and go back when they shrink', () => {
    for (let height = 10; height < 400; height += 30) {
      const grown = [box('a', height), box('b', 60), box('c', height), box('aside', 60)];
      const points = apart(grown, at);
      expect(overlaps(grown, points)).toEqual([]);
      expect(points.get('a')).toEqual({ x: 0, y: 0 });
    }
    expect(apart([box('a', 10), box('b', 10), box('c', 10)], at)).toEqual(at);
  });

  test('nothing moves where nothing overlaps', () => {
    const free = new Map(boxes.map(({ id }, i) => [id, { x: 0, y: 200 * i }]));
    expect(apart(boxes, free)).toEqual(free);
  });
});
