/** What stores offer that hold property graphs themselves. */
import type { GraphTarget } from '../targets/target.ts';
import type { Elements } from './elements.ts';

export interface PropertyGraphTarget extends GraphTarget {
  /**
   * Adds what is not there, as `insert` adds statements: in one transaction, and twice is once. Throws as the methods of `GraphTarget` do.
   */
  insertElements(elements: Elements, signal: AbortSignal): Promise<void>;
}

export const isPropertyGraphTarget = (target: GraphTarget): target is PropertyGraphTarget => 'insertElements' in target;
