/** A scan of the plan that was opened: what documents and databases give to the pass over them. */
import type { Batch, Scan } from './source.ts';

export interface OpenedScan {
  readonly scan: Scan;
  /** Name of the input for messages, already redacted. */
  readonly name: string;
  /** In place of those of the scan. */
  readonly batches?: () => AsyncIterable<Batch>;
  /** Whether accessors may return values with a natural datatype. */
  readonly typed: boolean;
  /** For a slice of a document: where its records begin. */
  readonly recordsFrom?: number;
  close(): Promise<void>;
}
