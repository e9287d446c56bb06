import { expect, test } from '@jest/globals';
import { flameGraph, framesOf, type Profile, sharesOf } from './flame.ts';

const frame = (id: number, functionName: string, url: string, ...children: number[]) => ({
  id,
  callFrame: { functionName, url },
  children,
});

const PROFILE: Profile = {
  nodes: [
    frame(1, '(root)', '', 2, 5, 6, 7),
    frame(2, 'run', 'file:///p/dist/src/run/execute/execute.js', 3, 4),
    frame(3, 'scan<T>', 'file:///p/dist/src/sources/csv/scanner.js'),
    frame(4, '', 'node:buffer'),
    frame(5, '(garbage collector)', ''),
    frame(6, '(idle)', ''),
    frame(7, 'run', 'file:///p/dist/src/run/execute/execute.js', 8),
    frame(8, 'parse', 'file:///p/node_modules/@scope/lib/index.js'),
  ],
  samples: [2, 3, 3, 4, 5, 6, 7, 8],
  timeDeltas: [100, 200, 300, 100, 100, 9_000, 100, 100],
};

test('calls of one way are one frame, and waiting is left out', () => {
  const root = framesOf(PROFILE);
  expect(root.total).toBe(1_000);
  const [run, collector] = [...root.children.values()];
  expect(run).toMatchObject({ name: 'run', room: 'src/run/execute', total: 900, self: 200 });
  expect([...(run?.children.values() ?? [])].map(({ name, room, total }) => [name, room, total])).toEqual([
    ['scan<T>', 'src/sources/csv', 500],
    ['(unnamed)', 'node', 100],
    ['parse', '@scope/lib', 100],
  ]);
  expect(collector).toMatchObject({ room: 'garbage collector', total: 100 });
});

test('the shares of rooms are of what their own functions take, and add up', () => {
  const shares = sharesOf(framesOf(PROFILE));
  expect(shares.slice(0, 2)).toEqual([
    ['src/sources/csv', 0.5],
    ['src/run/execute', 0.2],
  ]);
  expect(shares.reduce((sum, [, share]) => sum + share, 0)).toBeCloseTo(1);
});

test('the picture has every frame that is wide enough, with names as text', () => {
  const picture = flameGraph(framesOf(PROFILE), 'a < b');
  expect(picture).toContain('>a &lt; b</text>');
  expect(picture.match(/<title>[^<]*<\/title>/g)).toEqual([
    '<title>a &lt; b</title>',
    '<title>all: 100.0 %</title>',
    '<title>run, src/run/execute: 90.0 %</title>',
    '<title>scan&lt;T&gt;, src/sources/csv: 50.0 %</title>',
    '<title>(unnamed), node: 10.0 %</title>',
    '<title>parse, @scope/lib: 10.0 %</title>',
    '<title>(garbage collector), garbage collector: 10.0 %</title>',
  ]);
  expect(picture).not.toMatch(/NaN|undefined/);
});
