/** The contract between the HTTP server of the embedded store and what carries its requests out. */
import type { Read, Reason, Write } from './messages.ts';

/** Why a request failed. The store is as if the request had never been made. */
export class StoreFailure extends Error {
  readonly reason: Reason;
  /** What to do, for a store that cannot be opened. */
  readonly hint: string | undefined;

  constructor(reason: Reason, message: string, hint?: string) {
    super(message);
    this.reason = reason;
    this.hint = hint;
  }
}

/** Who asks. */
export interface Reader {
  /** Queries of several callers take turns. */
  readonly caller: string;
  /** Aborted when the client has left: the query is not begun, or ended. */
  readonly signal: AbortSignal;
}

export interface StoreSupervisor {
  /** Statements when the store was opened. */
  readonly quads: number;
  /** The answer as UTF-8; it shows nothing that is not on disk. @throws StoreFailure */
  read(read: Read, reader: Reader): Promise<Uint8Array>;
  /** Resolves when the write is on disk; `created`: it made a new graph. @throws StoreFailure */
  write(write: Write, body: Uint8Array): Promise<{ readonly created: boolean }>;
  /** Requests that have not started fail. */
  close(): Promise<void>;
}
