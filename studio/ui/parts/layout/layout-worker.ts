/** The layout beside the page, which stays fluid meanwhile. */
import { type Arrangement, arranged } from './layout.ts';

export interface LayoutRequest {
  readonly number: number;
  readonly arrangement: Arrangement;
}

self.onmessage = ({ data: { number, arrangement } }: MessageEvent<LayoutRequest>): void => {
  self.postMessage({ number, points: arranged(arrangement) });
};
