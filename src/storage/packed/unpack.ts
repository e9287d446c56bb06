/** Undoes the compression of an input on the way. */
import type { Compression } from '../compression.ts';
import type { Chunks } from './byte-reader.ts';
import { gunzipWhenGzip } from './gzip.ts';

/**
 * The content of the file, or of the one file of the archive, that `chunks` hold.
 *
 * @param must the mapping says so; otherwise what does not begin as gzip passes through
 * @param ratio see `RunLimits.inflationRatio`
 * @throws Fault source/malformed, source/refused, limit/exceeded — all while reading
 */
export async function* unpack(chunks: Chunks, compression: Compression, name: string, must: boolean, ratio: number): Chunks {
  switch (compression) {
    case 'none':
      return yield* chunks;
    case 'gzip':
      return yield* gunzipWhenGzip(chunks, name, must, ratio);
    case 'zip':
      return yield* heldBack((await import('./zip.ts')).unzip(chunks, name, ratio));
    case 'targz':
      // A server may have undone gzip already.
      return yield* heldBack((await import('./tar.ts')).untar(gunzipWhenGzip(chunks, name, false, ratio), name));
    case 'tarxz':
      return yield* heldBack((await import('./tar.ts')).untar((await import('./xz.ts')).unxz(chunks, name, ratio), name));
  }
}

const HELD_BYTES = 1 << 20;

/** The beginning waits: an archive of several files is refused before a reader finds a fault in the first of them, if that is small. */
async function* heldBack(chunks: Chunks): Chunks {
  let held: Uint8Array[] | undefined = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    if (held === undefined) {
      yield chunk;
      continue;
    }
    held.push(chunk);
    bytes += chunk.length;
    if (bytes < HELD_BYTES) continue;
    yield* held;
    held = undefined;
  }
  yield* held ?? [];
}
