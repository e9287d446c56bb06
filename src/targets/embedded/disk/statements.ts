/** How many statements the document of a write has, for messages about writes that are lost. */
import type { Write } from '../messages.ts';

const LINES = new Set(['application/n-quads', 'application/n-triples']);

/** 0 where the document does not have one statement a line, and for updates. */
export function statementsOf(write: Write, body: Uint8Array): number {
  if (write.kind !== 'load' || !LINES.has(write.format)) return 0;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  let count = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) count++;
  return bytes.length > 0 && bytes[bytes.length - 1] !== 10 ? count + 1 : count;
}
