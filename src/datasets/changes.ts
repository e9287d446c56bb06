/** What several versions change together. */
import { join } from 'node:path';
import { PartitionedFile } from '../storage/local/partitioned-file.ts';
import { type Fold, TaggedLines } from './tagged-lines.ts';

/** Complete lines, each a statement that was added or removed. */
export interface ChangedLines {
  readonly kind: 'added' | 'removed';
  readonly lines: string;
}

export interface Folding {
  /** For temporary files; created when needed, used by nothing else, and removed. */
  readonly directory: string;
  readonly memoryBudgetBytes: number;
}

const ADDED = 1;
const REMOVED = 2;

/** A statement is added and removed by turns, so two changes of it undo each other. */
const net: Fold = (state, tag) => (state === 0 ? tag : 0);

/**
 * The net effect of changes that follow one another: the removed statements, then the added ones. A statement that was added and removed again is
 * none of them.
 *
 * @throws Fault sink/failed, and those of `changes`
 */
export async function* netChanges(
  changes: AsyncIterable<ChangedLines>,
  { directory, memoryBudgetBytes }: Folding,
): AsyncGenerator<ChangedLines> {
  const lines = new TaggedLines(join(directory, 'lines'), memoryBudgetBytes);
  const added = new PartitionedFile(join(directory, 'added'), 1, () => undefined);
  try {
    for await (const { kind, lines: changed } of changes) await lines.add(changed, kind === 'added' ? ADDED : REMOVED);
    for await (const batch of lines.drain(net)) {
      let removed = '';
      for (const [line, state] of batch) {
        if (state === REMOVED) removed += line;
        else if (state === ADDED) added.add(0, line);
      }
      if (added.full) await added.flush();
      if (removed !== '') yield { kind: 'removed', lines: removed };
    }
    for await (const piece of wholeLines(added.read(0))) yield { kind: 'added', lines: piece };
  } finally {
    await lines.remove();
    await added.remove();
  }
}

/** Text in pieces of complete lines. The last line may lack its end. */
export async function* wholeLines(text: AsyncIterable<string | Uint8Array>): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of text) {
    const piece = rest + (typeof chunk === 'string' ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1'));
    const end = piece.lastIndexOf('\n') + 1;
    rest = piece.slice(end);
    if (end > 0) yield piece.slice(0, end);
  }
  if (rest !== '') yield `${rest}\n`;
}
