/** Ways by the arrow keys. */
import type { Id } from '../../../core/document.ts';
import type { Point } from './layout.ts';

/** By key. */
export const DIRECTIONS: Readonly<Record<string, Point>> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

/** The block that is nearest in a direction: what is aside counts twice. */
export function nearest(from: Id, { x: dx, y: dy }: Point, points: ReadonlyMap<Id, Point>): Id | undefined {
  const start = points.get(from);
  if (start === undefined) return undefined;
  let best: { readonly id: Id; readonly far: number } | undefined;
  for (const [id, { x, y }] of points) {
    const along = (x - start.x) * dx + (y - start.y) * dy;
    const aside = Math.abs((x - start.x) * dy) + Math.abs((y - start.y) * dx);
    if (id === from || along <= 0) continue;
    const far = along + 2 * aside;
    if (best === undefined || far < best.far) best = { id, far };
  }
  return best?.id;
}
