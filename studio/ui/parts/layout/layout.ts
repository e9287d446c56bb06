/** Places blocks that the user has not placed: inputs in a column at the left, the graph at its right, from left to right. */
import { Graph, layout } from '@dagrejs/dagre';
import type { Id } from '../../../core/document.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A block with its size, in pixels of the canvas at 100 %. */
export interface Box {
  readonly id: Id;
  readonly isInput: boolean;
  readonly width: number;
  readonly height: number;
}

export interface Arrangement {
  readonly boxes: readonly Box[];
  readonly lines: readonly { readonly from: Id; readonly to: Id }[];
}

const GAP = 32;
const COLUMN_GAP = 96;

export function arranged({ boxes, lines }: Arrangement): ReadonlyMap<Id, Point> {
  const inputs = boxes.filter(({ isInput }) => isInput);
  const points = new Map(column(inputs));
  const left = inputs.length === 0 ? 0 : Math.max(...inputs.map(({ width }) => width)) + COLUMN_GAP;
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'LR', nodesep: GAP, ranksep: COLUMN_GAP });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id, isInput, width, height } of boxes) if (!isInput) graph.setNode(id, { width, height });
  lines.forEach(({ from, to }, i) => {
    if (graph.hasNode(from) && graph.hasNode(to) && from !== to) graph.setEdge(from, to, {}, `${i}`);
  });
  layout(graph);
  for (const id of graph.nodes()) {
    // dagre gives centres.
    const { x, y: middle, width, height } = graph.node(id) as { x: number; y: number; width: number; height: number };
    points.set(id, { x: Math.round(left + x - width / 2), y: Math.round(middle - height / 2) });
  }
  return points;
}

/** Inputs below each other. They grow with the fields that are in use, so their column is made again each time. */
export function column(inputs: readonly Box[]): ReadonlyMap<Id, Point> {
  const points = new Map<Id, Point>();
  let y = 0;
  for (const { id, height } of inputs) {
    points.set(id, { x: 0, y });
    y += height + GAP;
  }
  return points;
}

/** Blocks that grow push those below them down, also those that were moved by hand: no block covers another. They keep their order. */
export function apart(boxes: readonly Box[], points: ReadonlyMap<Id, Point>): ReadonlyMap<Id, Point> {
  const placed = boxes.flatMap((box) => {
    const point = points.get(box.id);
    return point === undefined ? [] : [{ ...box, ...point }];
  });
  const above: typeof placed = [];
  const found = new Map(points);
  for (const box of placed.sort((a, b) => a.y - b.y)) {
    const beside = above.filter((one) => one.x < box.x + box.width && box.x < one.x + one.width).sort((a, b) => a.y - b.y);
    let y = box.y;
    for (const one of beside) if (one.y < y + box.height && y < one.y + one.height) y = one.y + one.height + GAP;
    above.push({ ...box, y });
    if (y !== box.y) found.set(box.id, { x: box.x, y });
  }
  return found;
}

/** A free place for one more block: at the right of what leads to it, below what stands there. */
export function spotFor(box: Box, { boxes, lines }: Arrangement, points: ReadonlyMap<Id, Point>): Point {
  const placed = boxes.flatMap((one) => {
    const point = points.get(one.id);
    return point === undefined ? [] : [{ ...one, ...point }];
  });
  const before = placed.filter(
    ({ id, isInput }) => !box.isInput && (isInput || lines.some(({ from, to }) => from === id && to === box.id)),
  );
  const x = before.length === 0 ? 0 : Math.max(...before.map((one) => one.x + one.width)) + COLUMN_GAP;
  const beside = placed.filter((one) => one.x < x + box.width && x < one.x + one.width);
  const y = beside.length === 0 ? 0 : Math.max(...beside.map((one) => one.y + one.height)) + GAP;
  return { x, y };
}
