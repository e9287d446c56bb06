/** Lines of a spill file. */
import type { PartitionedFile } from '../storage/local/partitioned-file.ts';

/** Lines of a partition, including their line feeds, in batches. */
export async function* readLines(file: PartitionedFile, partition: number): AsyncIterable<readonly string[]> {
  let rest = '';
  for await (const piece of file.read(partition)) {
    const end = piece.lastIndexOf('\n') + 1;
    if (end > 0) yield linesOf(rest + piece.slice(0, end));
    rest = end === 0 ? rest + piece : piece.slice(end);
  }
}

/** Lines, including their line feeds. */
export function linesOf(text: string): string[] {
  const lines: string[] = [];
  for (let from = 0; from < text.length; ) {
    const to = text.indexOf('\n', from) + 1;
    lines.push(text.slice(from, to));
    from = to;
  }
  return lines;
}
