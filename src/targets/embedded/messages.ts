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
  /** The first message. */
  | { readonly kind: 'open'; readonly files: StoreFiles }
  | { readonly kind: 'read'; readonly read: Read }
  /** The body is shared memory that is not changed any more. */
  | { readonly kind: 'write'; readonly write: Write; readonly body: Uint8Array }
  | { readonly kind: 'snapshot'; readonly path: string };

export type FromEngine =
  | ({ readonly kind: 'opened'; readonly quads: number; readonly memoryBytes: number } & LoadedFiles)
  | { readonly kind: 'read'; readonly body: Uint8Array }
  /** `repeatable`: replaying the write on the same state gives the same state; not so with `NOW()`. `memoryBytes`: of the thread. */
  | { readonly kind: 'written'; readonly created: boolean; readonly repeatable: boolean; readonly memoryBytes: number }
  | { readonly kind: 'saved'; readonly extent: SnapshotExtent; readonly bytes: number }
  | { readonly kind: 'failed'; readonly reason: Reason; readonly message: string; readonly broken: boolean };

/** What a snapshot holds. */
export interface SnapshotExtent {
  readonly statements: number;
  /** Without its last line. */
  readonly bytes: number;
  readonly sha256: string;
}

/** What a journal holds. */
export interface JournalExtent {
  readonly id: string;
  readonly records: number;
  /** In the documents of its records, as far as documents with a statement a line tell. */
  readonly statements: number;
  readonly bytes: number;
  /** Of the last record; each names that of the one before. */
  readonly sha256: string;
}

/** Which files hold the state, and how much of them is acknowledged. */
export interface Manifest {
  /** Of the last snapshot; 0 before the first. */
  readonly generation: number;
  readonly snapshot: SnapshotExtent | undefined;
  readonly journal: JournalExtent;
}

/** The files to load. */
export interface StoreFiles {
  readonly directory: string;
  readonly generation: number;
  readonly manifest: Manifest | undefined;
  /** Where to list what cannot be read. */
  readonly list: string | undefined;
  /** There is a manifest, and it is damaged: the store is not of version 1. */
  readonly hadManifest: boolean;
}

export interface LoadedFiles {
  /** 1: a snapshot or a journal has the former format. */
  readonly version: 1 | 2;
  readonly snapshot: SnapshotExtent | undefined;
  /** Up to where the journal can be read; undefined: it cannot be continued. */
  readonly journal: JournalExtent | undefined;
  /** Bytes of an interrupted write behind that. */
  readonly tornBytes: number;
  readonly damage: DamageReport | undefined;
}

/** What of the acknowledged state cannot be read. */
export interface DamageReport {
  /** The first ones, as text. */
  readonly places: readonly string[];
  /** How many there are beside these. */
  readonly more: number;
  /** Writes of the journal. */
  readonly records: number;
  /** At least. */
  readonly statements: number;
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
  /** The caller has too many queries that wait. */
  'busy',
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
  /** Whether a damaged store is opened with what can be read. */
  readonly salvage: boolean;
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
