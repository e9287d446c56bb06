/** The first bytes of a document. */

/** Chunks up to `limitBytes`, and whether they are the whole document. Ends the iteration. */
export async function beginningOf(
  chunks: AsyncIterable<Uint8Array>,
  limitBytes: number,
): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    size += chunk.length;
    if (size > limitBytes) return { bytes: Buffer.concat(parts), isWhole: false };
  }
  return { bytes: Buffer.concat(parts), isWhole: true };
}
