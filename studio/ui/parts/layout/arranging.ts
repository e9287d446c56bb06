/** Asks the worker for layouts. It starts with the first one. */
import type { Id } from '../../../core/document.ts';
import type { Arrangement, Point } from './layout.ts';
import type { LayoutRequest } from './layout-worker.ts';

type Points = ReadonlyMap<Id, Point>;

interface Answer {
  readonly number: number;
  readonly points: Points;
}

let worker: Worker | undefined;
let last = 0;
const waiting = new Map<number, { readonly resolve: (points: Points) => void; readonly reject: (error: Error) => void }>();

export function arrange(arrangement: Arrangement): Promise<Points> {
  worker ??= started();
  const number = ++last;
  const request: LayoutRequest = { number, arrangement };
  worker.postMessage(request);
  return new Promise((resolve, reject) => waiting.set(number, { resolve, reject }));
}

function started(): Worker {
  const made = new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' });
  made.onmessage = ({ data: { number, points } }: MessageEvent<Answer>) => {
    waiting.get(number)?.resolve(points);
    waiting.delete(number);
  };
  // The next request starts another one.
  made.onerror = ({ message }) => {
    for (const { reject } of waiting.values()) reject(new Error(`the layout has failed: ${message}`));
    waiting.clear();
    made.terminate();
    worker = undefined;
  };
  return made;
}
