/** The contract between the engine and what takes statements. */

/**
 * Takes N-Quads text. Opened and ended by the same caller: exactly one of `commit` and `abort` ends it.
 *
 * `write` takes whole lines, as a one-byte string of UTF-8 (see `text.ts`); a promise means: wait before the next write.
 */
export interface QuadSink {
  write(lines: string): void | Promise<void>;
  /** What is written from now on goes to a further part, where the sink can have several; without it, everything is one part. */
  rollOver?(): Promise<void>;
  /** Nothing is visible under its final name before this. */
  commit(): Promise<readonly PartFile[]>;
  /** Leaves nothing behind. May be called at any time, also after a failed `commit`. */
  abort(): Promise<void>;
}

/** One finished output file. */
export interface PartFile {
  readonly url: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** A part that is complete, under its temporary name. */
export interface FinishedPart {
  /** Temporary name in the output directory, without path. */
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
  /** No statement is in it. Only the first part can be; it may have bytes all the same (JSON-LD's brackets). */
  readonly empty: boolean;
}

export const OUTPUT_FORMATS = ['nquads', 'ntriples', 'turtle', 'trig', 'jsonld'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** Whose header lines the files of nodes and edges carry. */
export const GRAPH_HEADERS = ['default', 'neo4j', 'neptune', 'tigergraph'] as const;
export type GraphHeader = (typeof GRAPH_HEADERS)[number];

/** File name extension by format. */
export const FORMAT_EXTENSION: Readonly<Record<OutputFormat, string>> = {
  nquads: 'nq',
  ntriples: 'nt',
  turtle: 'ttl',
  trig: 'trig',
  jsonld: 'jsonld',
};
