/** The first bytes of a document. */

/** Thrown by chunks that come too slowly: what came before is the beginning. */
export class TimeOver extends Error {}

/** Whether a time limit has aborted it, and nobody else. */
export const isTimeOver = (signal: AbortSignal | undefined): boolean =>
  signal?.aborted === true && signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError';

/** Chunks up to `limitBytes`, and whether they are the whole document. Ends the iteration. */
export async function beginningOf(
  chunks: AsyncIterable<Uint8Array>,
  limitBytes: number,
): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of chunks) {
      parts.push(chunk);
      size += chunk.length;
      if (size > limitBytes) return { bytes: Buffer.concat(parts), isWhole: false };
    }
  } catch (error) {
    if (!(error instanceof TimeOver) || size === 0) throw error;
    return { bytes: Buffer.concat(parts), isWhole: false };
  }
  return { bytes: Buffer.concat(parts), isWhole: true };
}
