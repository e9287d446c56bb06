/** The contract between the engine and receivers of statements. */

/**
 * Receives N-Quads text. The caller that opened it ends it with exactly one of `commit` and `abort`.
 *
 * `write` takes complete lines, as a one-byte string of UTF-8 (see `core/text.ts`). If it returns a promise, the caller waits before the
 * next write.
 */
export interface QuadSink {
  write(lines: string): void | Promise<void>;
  /** The same for buffers of whole lines, which the caller may reuse once it resolves. Absent: this sink takes strings only. */
  writeBytes?(buffers: readonly Uint8Array[]): Promise<void>;
  /** For callers that write statements in the format of the sink themselves, in place of `write`. Absent: the sink takes N-Quads alone. */
  readonly text?: TextSink;
  /** Continues the output in a further part, if the sink supports several; absent: everything is one part. */
  rollOver?(): Promise<void>;
  /** Before this, nothing is visible under its final name. */
  commit(): Promise<readonly PartFile[]>;
  /** Removes everything. May be called at any time, also after a failed `commit`. */
  abort(): Promise<void>;
}

/**
 * Takes statements as text of a format: pieces that stand for themselves (`formats/format.ts`), as one-byte strings of UTF-8 or in buffers.
 * It waits as `QuadSink` does.
 */
export interface TextSink extends Pick<QuadSink, 'write' | 'writeBytes'> {
  readonly form: TextForm;
}

/** How statements are written as text. */
export interface TextForm {
  readonly format: Exclude<Serialization, 'nquads' | 'rdfjson'>;
  /** Prefix → namespace IRI. */
  readonly prefixes?: Readonly<Record<string, string>>;
}

/** One finished output file. */
export interface PartFile {
  readonly url: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** A complete part, under its temporary name. */
export interface FinishedPart {
  /** Temporary name in the output directory, without path. */
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Whether it contains no statement. Only the first part can be empty; it may still have bytes (JSON-LD's brackets). */
  readonly empty: boolean;
}

export const OUTPUT_FORMATS = ['nquads', 'ntriples', 'turtle', 'trig', 'jsonld'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/**
 * How triples that are terms are written: as quoted triples of RDF-star, or as triple terms and reifiers of RDF 1.2 (`nquads/reified.ts`).
 */
export const RDF_VERSIONS = ['star', '1.2'] as const;
export type RdfVersion = (typeof RDF_VERSIONS)[number];

/** What files of logical targets may be written in. */
export const SERIALIZATIONS = [...OUTPUT_FORMATS, 'n3', 'rdfxml', 'rdfjson'] as const;
export type Serialization = (typeof SERIALIZATIONS)[number];

/** UTF-16 is little-endian, with a byte order mark. */
export const TEXT_ENCODINGS = ['utf-8', 'utf-16'] as const;
export type TextEncoding = (typeof TEXT_ENCODINGS)[number];

/** Products whose CSV header formats are supported for nodes and edges. */
export const GRAPH_HEADERS = ['default', 'neo4j', 'neptune', 'tigergraph'] as const;
export type GraphHeader = (typeof GRAPH_HEADERS)[number];

/** File name extension by format. */
export const FORMAT_EXTENSION: Readonly<Record<Serialization, string>> = {
  nquads: 'nq',
  ntriples: 'nt',
  turtle: 'ttl',
  trig: 'trig',
  jsonld: 'jsonld',
  n3: 'n3',
  rdfxml: 'rdf',
  rdfjson: 'rj',
};
