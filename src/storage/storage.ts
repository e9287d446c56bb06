/**
 * The contract between those who read and write by URL and the schemes (`file:`, `http:`, `https:`, `s3:`, standard input).
 *
 * Implementations import this file; `open.ts` puts them together.
 */
import { Fault } from '../core/fault.ts';
import type { RunLimits } from '../core/limits.ts';
import type { Reach } from '../core/reach/reach.ts';
import type { Compression } from './compression.ts';
import type { WebAccess } from './logins.ts';
import type { S3Access } from './s3-access.ts';

export interface OpenedInput {
  /** Chunks in order, read on demand; ending the iteration closes the input. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Size of the input in bytes if known (for progress). */
  readonly sizeBytes: number | undefined;
  /** Media type of an HTTP response, without parameters. */
  readonly mediaType: string | undefined;
  /** The encoding that a server says, as it writes it. */
  readonly charset?: string | undefined;
  /** Of the answer of an HTTP server that is being read. */
  readonly web?: WebAnswer | undefined;
  /** Of an archive: the name of its file, where its directory was read. */
  readonly member?: string | undefined;
  /** For a caller that may never start to iterate, or stops halfway. May be called repeatedly. */
  close(): Promise<void>;
}

/** The bytes of a scheme before decompression. Ended by the iteration, or by `close` if it never began. */
export interface RawInput {
  readonly chunks: AsyncGenerator<Uint8Array, void, undefined>;
  readonly close: () => Promise<void>;
  readonly sizeBytes: number | undefined;
  /** Number of bytes that were received so far over the network for `chunks`, if the protocol itself decompresses. */
  readonly packedBytes?: () => number;
  readonly mediaType: string | undefined;
  /** The encoding that a server says, as it writes it. */
  readonly charset?: string | undefined;
  /** What the bytes are compressed with, whatever the name implies. undefined: not told. */
  readonly compression?: Compression;
  readonly web?: WebAnswer;
}

/** An answer of an HTTP server. Another one takes its place when the connection breaks. */
export interface WebAnswer {
  /** Behind all redirects; without a login. */
  readonly address: string;
  /** Its header `Link`. */
  readonly link: string | undefined;
}

export interface WebAsk {
  /** By name, in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** A SPARQL query, for the endpoint at the address. */
  readonly query?: string | undefined;
  /** Chunks are passed on as they come, for a reader that has little time; else a short document is passed on when it is complete. */
  readonly promptly?: boolean;
}

export interface OpenOptions {
  /** Base of relative paths. */
  readonly workingDirectory: string;
  /** Undefined: what the user of the command or an option names, which may be anything. */
  readonly reach: Reach | undefined;
  readonly signal?: AbortSignal;
  /** As declared in the mapping; if none, the name may imply one. */
  readonly compression?: Compression;
  /** The document is an archive itself (a workbook): the media type of an answer names no compression of it. */
  readonly isArchive?: boolean;
  /** undefined: none. */
  readonly limits?: Pick<RunLimits, 'inputBytes' | 'inflationRatio'>;
  /** Only these bytes of an input that `probeInput` has found. */
  readonly range?: ByteRange;
  /** Logins and time limits for HTTP; undefined: no logins, and the usual limit. */
  readonly web?: WebAccess | undefined;
  /** For objects; undefined: the credentials and the region that the SDK finds, and nothing is repeated. */
  readonly s3?: S3Access | undefined;
  /** What a server is asked for. Without effect for files. */
  readonly ask?: WebAsk | undefined;
  /** Read standard input, which is possible only once; the URL is for messages. */
  readonly standardInput?: boolean;
}

/** Metadata of an input that may be read in ranges. */
export interface InputState {
  readonly sizeBytes: number;
  /** Changes when the content changes: size, time and inode of a file, size and ETag (or date) of a resource. */
  readonly version: string;
}

/** The bytes [from, to) of an input, as long as it has this version. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
  readonly version: string;
}

export const changedFault = (name: string): Fault =>
  new Fault('run/lost', `${name} has changed since the run began to read it`, {
    place: { input: name },
    hint: 'Run again, with a file that is not written to meanwhile; a service with SLICE_BYTES=0 cuts no file',
  });
