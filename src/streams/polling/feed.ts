/**
 * Reads of tables whose changes a column tells: first all rows, then those whose value is at or above the largest one that was seen, less an overlap.
 *
 * **Claim.** Under the declaration, the kept rows are those of the tables when a read is complete. The declaration: each change gives a row of the table a
 * value that is at least the largest value that a transaction had committed `overlap` earlier, or NULL; a row keeps its primary key, and leaves the table
 * only after a read that finds it deleted. **Proof.** A row that has not changed since the last read has its kept values. A row that has changed has a value
 * at or above the largest one then less the overlap, or NULL: it is read, and replaces what its key has. The largest value is asked before the rows
 * are read, so rows that come between both are read, and read again. A table of which nothing is known, or whose shape is another one, is read whole,
 * and the end of its snapshot removes all other rows.
 */
import { fromBytes } from '../../core/text.ts';
import { quote } from '../../sql/catalogue/identifiers.ts';
import type { SqlSession } from '../../sql/database.ts';
import { DIALECTS } from '../../sql/dialects/dialects.ts';
import { tableName } from '../../sql/select.ts';
import { type Followed, followedIn, positionOf } from '../database/followed.ts';
import { readSnapshot, readTable } from '../database/snapshot.ts';
import type { ChangeBatch, ChangeEvent, FeedPosition } from '../events.ts';
import type { PolledTable } from './tables.ts';
import { beginOf } from './watermark.ts';

/**
 * Reads what has changed once. The position of the last batch is behind all; that of the others is `from`, so an interrupted read begins again.
 *
 * @param from behind the last read; undefined: all rows are read
 * @throws Fault database/…; database/query — a value that the declaration does not allow
 */
export async function* readChanges(
  session: SqlSession,
  tables: readonly PolledTable[],
  from: FeedPosition | undefined,
): AsyncGenerator<ChangeBatch> {
  const before = followedIn(from ?? {});
  const after = new Map<string, Followed>();
  const whole: PolledTable[] = [];
  const parts: { readonly table: PolledTable; readonly condition: string }[] = [];
  for (const table of tables) {
    const { name, changes } = table;
    const last = changes === undefined ? undefined : before.get(name);
    const isKnown = last !== undefined && last.shape === changes?.shape;
    const condition = isKnown ? conditionOf(table, last.seen, session) : '';
    if (changes !== undefined) {
      const seen = (await largestOf(table, condition, session)) ?? (isKnown ? last.seen : undefined);
      after.set(name, { shape: changes.shape, ...(seen === undefined ? {} : { seen }) });
    }
    if (isKnown) parts.push({ table, condition });
    else whole.push(table);
  }
  const batchOf = (events: readonly ChangeEvent[], bytes: number): ChangeBatch => ({
    events,
    position: from ?? {},
    bytes,
    changedAt: undefined,
  });
  const byName = new Map(tables.map((table) => [table.name, table]));
  const reads = [
    ...(whole.length > 0 ? [readSnapshot(session, whole, undefined)] : []),
    ...parts.map(({ table, condition }) => readTable(session, table, undefined, condition)),
  ];
  for (const read of reads)
    for await (const { events, bytes } of read)
      yield batchOf(
        events.map((event): ChangeEvent => (event.kind === 'row' ? withDeletion(event, byName.get(event.table) as PolledTable) : event)),
        bytes,
      );
  yield { ...batchOf([], 0), position: positionOf({}, after) };
}

type RowEvent = Extract<ChangeEvent, { readonly kind: 'row' }>;

/** The event of a row that counts as deleted is that of its deletion. */
const withDeletion = (event: RowEvent, { changes }: PolledTable): ChangeEvent =>
  changes?.isDeleted(event.row) === true ? { kind: 'delete', table: event.table, key: event.key, position: undefined } : event;

/** '': all rows. */
function conditionOf({ changes }: PolledTable, seen: string | undefined, { product }: SqlSession): string {
  if (changes === undefined || seen === undefined) return '';
  const begin = beginOf(seen, changes.growing, changes.overlap, changes.column);
  if (begin === undefined) return '';
  const column = quote(changes.column, product);
  const bound = `${column} >= ${DIALECTS[product].literal(begin, changes.growing === 'number')}`;
  return changes.isNullable ? `(${bound} OR ${column} IS NULL)` : bound;
}

/** Of the rows of a condition. @returns undefined: they have no value */
async function largestOf({ table, changes }: PolledTable, condition: string, session: SqlSession): Promise<string | undefined> {
  if (changes === undefined) return undefined;
  const { product } = session;
  const { before, behind } = DIALECTS[product].limit(1);
  const column = quote(changes.column, product);
  const where = [`${column} IS NOT NULL`, ...(condition === '' ? [] : [condition])].join(' AND ');
  // Not MAX: SQLite would not say the type of the column.
  const sql = `SELECT ${before}${column} FROM ${tableName(table, product)} WHERE ${where} ORDER BY ${column} DESC${behind}`;
  await session.describe(sql);
  let largest: string | undefined;
  for await (const { rows } of session.rows(sql, 1)) for (const [value] of rows) largest ??= value ?? undefined;
  if (largest === undefined) return undefined;
  const text = fromBytes(largest);
  beginOf(text, changes.growing, changes.overlap, changes.column);
  return text;
}
