/** Messages between a mapping thread and its relay. */
import type { MessagePort } from 'node:worker_threads';

export type ToRelay =
  | { readonly kind: 'start' }
  /** A message to the process, with its length. */
  | { readonly kind: 'ask'; readonly bytes: Uint8Array }
  | { readonly kind: 'kill' };

export type FromRelay =
  /** Without its length. */
  | { readonly kind: 'answer'; readonly bytes: Uint8Array }
  /** *outOfMemory*: Java ended it, because its heap was full. */
  | { readonly kind: 'ended'; readonly outOfMemory: boolean; readonly reason: string };

export interface RelayData {
  readonly port: MessagePort;
  /** Counts the messages of the relay: the mapping thread waits for its next number. */
  readonly signal: Int32Array;
  readonly command: string;
  readonly args: readonly string[];
  readonly directory: string;
  /** The first message to the process. */
  readonly greeting: Uint8Array;
}
