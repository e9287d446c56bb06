/** What the service reads of the beginning of an input. */
import type { CsvDialect, Format, Location } from '../core/document.ts';
import type { SchemaField } from '../core/elements/schema.ts';

export interface SampleRequest {
  readonly location: Location;
  readonly format?: Format;
  readonly dialect?: CsvDialect;
  /** Reads more of the input. */
  readonly deeper?: boolean;
}

export interface Sample {
  readonly fields: readonly SchemaField[];
  readonly records: number;
  readonly bytesRead: number;
  /** Of the whole input, where that is known. */
  readonly ofBytes?: number;
  /** Everything was read. */
  readonly complete: boolean;
  readonly warnings: readonly string[];
}
