/** What the threads of the embedded store say to each other. */
import type { FaultData } from '../../core/fault.ts';

/** One transaction, as the journal keeps it beside its body: carried out again on the same state, it gives the same state. */
export type Write =
  /** The body is a SPARQL update. */
  | { readonly kind: 'update' }
  /**
   * The body is a document of RDF. `graph` takes its triples: an IRI, or empty for the default graph; undefined: a document of quads
   * for the dataset. `replace`: instead of what is there.
   */
  | { readonly kind: 'load'; readonly format: string; readonly graph: string | undefined; readonly replace: boolean }
  /** A graph as a whole; no body. */
  | { readonly kind: 'drop'; readonly graph: string };

export type Read =
  /** `form` is that of the query; graphs as the SPARQL Protocol has them, both undefined where the request names none. */
  | {
      readonly kind: 'query';
      readonly text: string;
      readonly format: string;
      readonly defaultGraphs: readonly string[] | undefined;
      readonly namedGraphs: readonly string[] | undefined;
    }
  /** A graph as `Write` names it, or the dataset. */
  | { readonly kind: 'dump'; readonly format: string; readonly graph: string | undefined };

/** To the engine, which answers one after the other. */
export type ToEngine =
  /** The first message: what the store begins with. Paths of files that are there. */
  | { readonly kind: 'open'; readonly snapshot: string | undefined; readonly journal: string | undefined }
  | { readonly kind: 'read'; readonly read: Read }
  /** The body is shared memory: nobody changes it any more. */
  | { readonly kind: 'write'; readonly write: Write; readonly body: Uint8Array }
  | { readonly kind: 'snapshot'; readonly path: string };

export type FromEngine =
  | { readonly kind: 'opened'; readonly quads: number; readonly journal: JournalEnd | undefined }
  | { readonly kind: 'read'; readonly body: Uint8Array }
  /** `repeatable`: the write, carried out again on the same state, gives the same one; not so with `NOW()`. `memoryBytes`: of the thread. */
  | { readonly kind: 'written'; readonly created: boolean; readonly repeatable: boolean; readonly memoryBytes: number }
  | { readonly kind: 'saved'; readonly bytes: number }
  | { readonly kind: 'failed'; readonly reason: Reason; readonly message: string; readonly broken: boolean };

/** How far a journal can be read. */
export interface JournalEnd {
  readonly bytes: number;
  /** Behind these bytes there is a record that was never finished. */
  readonly torn: boolean;
}

/** Why a request is not answered as it wished; `http/server.ts` has the status of each. */
export const REASONS = [
  /** The request says something wrong; the message is the parser's. */
  'invalid',
  'missing',
  /** The answer, or the store, would need more memory than there is. */
  'memory',
  'time',
  /** The disk takes no more. */
  'disk',
  /** The store itself has failed. */
  'failed',
] as const;
export type Reason = (typeof REASONS)[number];
/** The reason in an answer, for programs: two have the status 507. */
export const REASON_HEADER = 'quadmill-reason';

/** What the thread begins with. */
export interface StoreThreadData {
  /** Absolute; claimed by this process. */
  readonly directory: string;
  readonly port: number;
  readonly login: { readonly username: string; readonly password: string };
  readonly limits: StoreLimits;
}

export interface StoreLimits {
  /** Of one query. */
  readonly querySeconds: number;
  /** Of one SPARQL update. */
  readonly updateSeconds: number;
  /** Of the store's thread; a write that leads beyond is undone. */
  readonly memoryBytes: number;
  /** Of one request body. */
  readonly bodyBytes: number;
  /** A journal larger than this and than the last snapshot is replaced by a snapshot. */
  readonly journalBytes: number;
}

export type FromStoreThread =
  | { readonly kind: 'listening'; readonly port: number; readonly quads: number }
  | { readonly kind: 'failed'; readonly fault: FaultData }
  | { readonly kind: 'warning'; readonly message: string };

export type ToStoreThread = { readonly kind: 'close' };
