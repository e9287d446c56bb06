/** Undoes gzip on the way. */
import { Readable } from 'node:stream';
import { Fault } from '../../core/fault.ts';
import { boundOf, INFLATION_FLOOR_BYTES, inflationFault } from '../../core/limits.ts';

type Chunks = AsyncGenerator<Uint8Array, void, undefined>;

/**
 * The content of gzip `chunks`, several members in a row included. What does not begin as gzip passes through unless `must`:
 * a server may have undone the compression of a `.gz` file already.
 *
 * @param ratio see `RunLimits.inflationRatio`
 * @throws Fault source/malformed — damaged or cut off; limit/exceeded — it unpacks to too much
 */
export async function* gunzipWhenGzip(chunks: Chunks, name: string, must: boolean, ratio: number): Chunks {
  const head = await chunks.next();
  if (head.done) return;
  const isGzip = head.value[0] === 0x1f && (head.value[1] ?? 0x8b) === 0x8b;
  if (!isGzip && must) {
    await chunks.return();
    throw new Fault('source/malformed', 'The mapping says gzip, the input is not', {
      place: { input: name },
      hint: 'Remove rml:compression from the mapping, or compress the file',
    });
  }
  yield* isGzip ? gunzip(prepend(head.value, chunks), name, ratio) : prepend(head.value, chunks);
}

async function* prepend(head: Uint8Array, rest: Chunks): Chunks {
  try {
    yield head;
    yield* rest;
  } finally {
    await rest.return();
  }
}

async function* gunzip(chunks: Chunks, name: string, ratio: number): Chunks {
  const { createGunzip } = await import('node:zlib');
  const input = Readable.from(chunks, { objectMode: false, highWaterMark: 1 << 20 });
  const unpacked = createGunzip({ chunkSize: 256 * 1024 });
  input.on('error', (error) => unpacked.destroy(error));
  let bytes = 0;
  try {
    for await (const chunk of input.pipe(unpacked)) {
      bytes += chunk.length;
      // `bytesWritten`: what has been taken of the compressed input.
      if (bytes > INFLATION_FLOOR_BYTES && bytes > unpacked.bytesWritten * boundOf(ratio)) throw inflationFault(ratio, { input: name });
      yield chunk as Uint8Array;
    }
  } catch (error) {
    if (error instanceof Fault) throw error;
    const cut = (error as NodeJS.ErrnoException).code === 'Z_BUF_ERROR';
    throw new Fault('source/malformed', `The gzip input is damaged: ${cut ? 'it ends too early' : (error as Error).message}`, {
      place: { input: name, ...(cut ? { byte: unpacked.bytesWritten } : {}) },
      hint: cut ? 'The file is probably cut off; fetch or write it again' : 'Fetch or write the file again; gzip -t tests it',
      cause: error,
    });
  } finally {
    unpacked.destroy();
    input.destroy();
  }
}
