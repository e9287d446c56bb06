/** The first bytes of a document. */

/** So much of JSON and XML is looked at. */
export const SAMPLE_BYTES = 2 ** 20;

/** Chunks up to the bound, and whether they are the whole document. Ends the iteration. */
export async function beginningOf(chunks: AsyncIterable<Uint8Array>): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    size += chunk.length;
    if (size > SAMPLE_BYTES) return { bytes: Buffer.concat(parts), isWhole: false };
  }
  return { bytes: Buffer.concat(parts), isWhole: true };
}
