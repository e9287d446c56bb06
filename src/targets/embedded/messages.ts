/** The messages between the threads of the embedded store. */
import type { FaultData } from '../../core/fault.ts';

/** One transaction, as the journal stores it beside its body: replayed on the same state, it gives the same state. */
export type Write =
  /** The body is a SPARQL update. */
  | { readonly kind: 'update' }
  /**
   * The body is a document of RDF. `graph` receives its triples: an IRI, or empty for the default graph; undefined: a document of quads
   * for the dataset. `replace`: the document replaces the present statements.
   */
  | { readonly kind: 'load'; readonly format: string; readonly graph: string | undefined; readonly replace: boolean }
  /** Removes a graph; no body. */
  | { readonly kind: 'drop'; readonly graph: string };

export type Read =
  /** The dataset of the SPARQL Protocol; both lists undefined when the request names no graphs. */
  | {
      readonly kind: 'query';
      readonly text: string;
      readonly format: string;
      readonly defaultGraphs: readonly string[] | undefined;
      readonly namedGraphs: readonly string[] | undefined;
    }
  /** A graph, named as in `Write`, or the dataset. */
  | { readonly kind: 'dump'; readonly format: string; readonly graph: string | undefined };

/** To the engine, which answers one message at a time. */
export type ToEngine =
  /** The first message: paths of the files to load. */
  | { readonly kind: 'open'; readonly snapshot: string | undefined; readonly journal: string | undefined }
  | { readonly kind: 'read'; readonly read: Read }
  /** The body is shared memory that nobody changes any more. */
  | { readonly kind: 'write'; readonly write: Write; readonly body: Uint8Array }
  | { readonly kind: 'snapshot'; readonly path: string };

export type FromEngine =
  | { readonly kind: 'opened'; readonly quads: number; readonly journal: JournalEnd | undefined }
  | { readonly kind: 'read'; readonly body: Uint8Array }
  /** `repeatable`: replaying the write on the same state gives the same state; not so with `NOW()`. `memoryBytes`: of the thread. */
  | { readonly kind: 'written'; readonly created: boolean; readonly repeatable: boolean; readonly memoryBytes: number }
  | { readonly kind: 'saved'; readonly bytes: number }
  | { readonly kind: 'failed'; readonly reason: Reason; readonly message: string; readonly broken: boolean };

/** How far a journal can be read. */
export interface JournalEnd {
  readonly bytes: number;
  /** These bytes are followed by an incomplete record. */
  readonly torn: boolean;
}

/** Why a request failed; `http/server.ts` has the status of each. */
export const REASONS = [
  /** The request is wrong; the message is the parser's. */
  'invalid',
  'missing',
  /** The answer or the store would exceed the memory. */
  'memory',
  'time',
  /** The disk is full. */
  'disk',
  /** The store itself has failed. */
  'failed',
] as const;
export type Reason = (typeof REASONS)[number];

/** What the thread starts with. */
export interface StoreThreadData {
  /** Absolute; locked by this process. */
  readonly directory: string;
  readonly login: { readonly username: string; readonly password: string };
  readonly limits: StoreLimits;
}

/** Nearly all that WebAssembly can have, 4 GB; beyond that the thread ends. */
export const LARGEST_STORE_MB = 3_500;

export interface StoreLimits {
  /** Of one query; 0: none. */
  readonly querySeconds: number;
  /** Of one SPARQL update; 0: none. */
  readonly updateSeconds: number;
  /** Of the engine's thread; a write that exceeds it is undone. */
  readonly memoryBytes: number;
  /** Of one request body. */
  readonly bodyBytes: number;
  /** A journal that exceeds both this and the last snapshot is replaced by a new snapshot. */
  readonly journalBytes: number;
}

export type FromStoreThread =
  | { readonly kind: 'listening'; readonly port: number; readonly quads: number }
  | { readonly kind: 'failed'; readonly fault: FaultData }
  | { readonly kind: 'warning'; readonly message: string };

export type ToStoreThread = { readonly kind: 'close' };
