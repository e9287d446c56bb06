/** What a run tells that reads the rows of tables that have changed. */
import type { DatasetReport } from '../../datasets/run.ts';

/** In front of the address of a database: positions of such reads are not those of its log. */
export const POLLED = 'poll:';
export const isPolled = (feed: string): boolean => feed.startsWith(POLLED);

export interface PolledReport extends DatasetReport {
  /** That the database gave. undefined: no table has `qms:changedSince`. */
  readonly rowsRead?: number;
}
