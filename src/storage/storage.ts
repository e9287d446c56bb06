/**
 * Where bytes come from and go to: `file:` URLs, bare paths, `http(s):` URLs, behind read, list and write.
 *
 * Nothing else in the project opens a user's file by its URL.
 */

export interface OpenedInput {
  /** Chunks in order, as fast as they are asked for; ending the iteration closes the input. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Bytes of the input where known (for progress). */
  readonly sizeBytes: number | undefined;
  /** Media type of an HTTP response, without parameters. */
  readonly mediaType: string | undefined;
}
