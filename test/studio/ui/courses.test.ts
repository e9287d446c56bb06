/** The sides of blocks at which lines begin and end. */
import { expect, test } from '@jest/globals';
import { courseOf, curveOf } from '../../../studio/ui/canvas/layout/courses.ts';

/** A block of 240 begins at the left of 0, so its right end is at 240. */
test.each([
  ['to the right', { x: 400, y: 50 }, ['right', 240], ['left', 400]],
  ['to the left', { x: -400, y: 50 }, ['left', 0], ['right', -160]],
  ['below', { x: 0, y: 300 }, ['right', 240], ['right', 240]],
  ['a little to the right', { x: 250, y: 300 }, ['right', 240], ['right', 490]],
  ['a little to the left', { x: -250, y: 300 }, ['right', 240], ['right', -10]],
  ['to itself', { x: 0, y: 20 }, ['right', 240], ['right', 240]],
])('%s', (_, to, from, end) => {
  const course = courseOf({ x: 240, y: 10 }, to);
  expect([course.from.side, course.from.x]).toEqual(from);
  expect([course.to.side, course.to.x]).toEqual(end);
  expect([course.from.y, course.to.y]).toEqual([10, to.y]);
});

test('a line between blocks below each other bows beside them, and its label is there', () => {
  const { path, label } = curveOf(courseOf({ x: 240, y: 10 }, { x: 0, y: 210 }));
  expect(path).toBe('M240,10 C290,10 290,210 240,210');
  expect(label).toEqual({ x: 277.5, y: 110 });
});
