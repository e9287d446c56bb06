/** The additional contract of targets that store property graphs. */

import type { Elements } from '../property-graph/elements.ts';
import type { GraphTarget } from './target.ts';

export interface PropertyGraphTarget extends GraphTarget {
  /** Adds what is missing, as `insert` adds statements: in one transaction, idempotently. Throws like the methods of `GraphTarget`. */
  insertElements(elements: Elements, signal: AbortSignal): Promise<void>;
}

export const isPropertyGraphTarget = (target: GraphTarget): target is PropertyGraphTarget => 'insertElements' in target;
