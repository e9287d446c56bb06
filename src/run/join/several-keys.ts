/**
 * Left rows of a join that have several keys, where the join is made at the end. Pairs are found key by key, so such a row meets one right row
 * by several keys, and none by another key. Sorted by left row, its matches are what a probe of the index finds: each right row once, in
 * their order, and none only if no key has one.
 */
import { LineSorter } from '../../spill/line-sorter.ts';
import type { Match, PairingMemory } from './join.ts';

/** Right rows that are handed on together. */
const BATCH_ROWS = 1024;

/** @param orderOf text that sorts right rows; without characters below U+0021 */
export async function* unitedByRow(
  matches: AsyncIterable<Match>,
  orderOf: (right: string) => string,
  { budget, space }: PairingMemory,
): AsyncIterable<Match> {
  const sorter = new LineSorter(budget, space);
  for await (const [left, rights] of matches) {
    // JSON has no line feeds, and none of these texts is the beginning of another one.
    const lead = JSON.stringify(left);
    if (rights.length === 0) sorter.add(`${lead}\n`);
    for (const right of rights) {
      sorter.add(`${lead} ${orderOf(right)} ${JSON.stringify(right)}\n`);
      if (space.due) await space.flush();
    }
    if (space.due) await space.flush();
  }
  let row: string | undefined;
  let rights: string[] = [];
  let from = 0;
  let before = '';
  const match = (): Match => {
    const found: Match = [JSON.parse(row as string), rights, from];
    from += rights.length;
    rights = [];
    return found;
  };
  for await (const lines of sorter.sorted()) {
    for (const line of lines) {
      if (line === before) continue;
      before = line;
      if (row === undefined || !line.startsWith(row)) {
        if (row !== undefined && (rights.length > 0 || from === 0)) yield match();
        row = leadOf(line);
        from = 0;
      }
      if (line.length === row.length + 1) continue;
      rights.push(JSON.parse(line.slice(line.indexOf(' ', row.length + 1) + 1)));
      if (rights.length === BATCH_ROWS) yield match();
    }
  }
  if (row !== undefined && (rights.length > 0 || from === 0)) yield match();
}

/** The JSON text that a line begins with. */
function leadOf(line: string): string {
  let end = 1;
  while (line[end] !== '"') end += line[end] === '\\' ? 2 : 1;
  return line.slice(0, end + 1);
}
