/** The course of a line: at which sides of two blocks it begins and ends, so that it is short and does not run behind them. */
import type { Point } from '../../parts/layout/layout.ts';

/** Of every block. */
export const WIDTH = 240;

export interface LineEnd extends Point {
  readonly side: 'left' | 'right';
}

export interface Course {
  readonly from: LineEnd;
  readonly to: LineEnd;
}

/** Between blocks that are nearer there is no room for a curve. */
const ROOM = 24;

/**
 * @param from the right end of the block where it begins
 * @param to the left end of the block where it ends
 */
export function courseOf(from: Point, to: Point): Course {
  const right = { ...from, side: 'right' } as const;
  if (to.x >= from.x + ROOM) return { from: right, to: { ...to, side: 'left' } };
  const end = { x: to.x + WIDTH, y: to.y, side: 'right' } as const;
  // The block is at the left: the line begins there too.
  if (end.x <= from.x - WIDTH - ROOM) return { from: { x: from.x - WIDTH, y: from.y, side: 'left' }, to: end };
  return { from: right, to: end };
}

/** How far a line leaves a block before it turns. */
const LEAST_BOW = 40;
const MOST_BOW = 160;

/** A curve from one end to the other, as the text of an SVG path, with the place of its label. */
export function curveOf({ from, to }: Course): { readonly path: string; readonly label: Point } {
  const wide = from.side === to.side ? Math.abs(to.y - from.y) / 4 : Math.abs(to.x - from.x) / 2;
  const bow = Math.max(LEAST_BOW, Math.min(MOST_BOW, wide));
  const turn = ({ x, side }: LineEnd): number => x + (side === 'right' ? bow : -bow);
  const [first, last] = [turn(from), turn(to)];
  return {
    path: `M${from.x},${from.y} C${first},${from.y} ${last},${to.y} ${to.x},${to.y}`,
    // The middle of a cubic curve.
    label: { x: (from.x + 3 * first + 3 * last + to.x) / 8, y: (from.y + to.y) / 2 },
  };
}
