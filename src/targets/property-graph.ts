/** What stores offer that hold property graphs themselves. */

import type { Elements } from '../property-graph/elements.ts';
import type { GraphTarget } from './target.ts';

export interface PropertyGraphTarget extends GraphTarget {
  /**
   * Adds what is not there, as `insert` adds statements: in one transaction, and twice is once. Throws as the methods of `GraphTarget` do.
   */
  insertElements(elements: Elements, signal: AbortSignal): Promise<void>;
}

export const isPropertyGraphTarget = (target: GraphTarget): target is PropertyGraphTarget => 'insertElements' in target;
