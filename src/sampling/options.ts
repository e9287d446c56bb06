/** How the beginning of an input is read. */
import type { InputFormat } from '../core/input/formats.ts';
import type { RunLimits } from '../core/limits.ts';
import type { Reach } from '../core/reach/reach.ts';
import type { FileOptions, ReadOptions } from '../sources/source.ts';
import type { WebAccess } from '../storage/logins.ts';

export interface SampleOptions {
  readonly workingDirectory: string;
  /** What may be read; undefined: everything. */
  readonly reach: Reach | undefined;
  readonly signal: AbortSignal | undefined;
  readonly web: WebAccess;
  readonly limits: RunLimits;
  /** Records of a table, and items of an array or elements of one name beside each other, that are looked at. */
  readonly records: number;
  /** undefined: by the name of the input, else by the media type of the answer. */
  readonly format: InputFormat | undefined;
  /** Of CSV. undefined: a comma or a tab by the name, or what the first rows show. */
  readonly delimiter: string | undefined;
  /** Of CSV. null: none. undefined: by the delimiter, or what a header in quotes shows. */
  readonly quote: string | null | undefined;
  /** Of text. */
  readonly encoding: string | undefined;
  /** Of JSON and XML: bytes that are looked at. */
  readonly bytes: number;
  readonly maxRecordBytes: number;
  /** How the mapping will be read. In legacy RML an empty cell is null unless it stands in quotes, and no prefix of XPath is declared. */
  readonly dialect: ReadOptions['dialect'];
  /** Of tables: texts that mean null. undefined: in today's RML, which can say so, the empty text. */
  readonly nulls?: readonly string[] | undefined;
  /** What stands before a fault is a sample, too, with that fault. Otherwise it is thrown. */
  readonly untilFault: boolean;
  /** For workbooks, which are read from their end. */
  readonly files: FileOptions;
}
