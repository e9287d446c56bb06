/** Makes each scan of a plan one SELECT. */
import { formatOrigin } from '../../mapping/model/model.ts';
import type { DatabaseRows } from '../../plan/algebra.ts';
import type { ScanPlan } from '../../plan/plan.ts';
import type { OpenedScan, Scan } from '../../sources/source.ts';
import { openSql } from '../../sources/sql/sql.ts';
import { joinQuery, selectQuery } from '../../sql/select.ts';
import type { KeyRange } from '../request.ts';
import { inMapping } from './faults.ts';
import { ascending, type Relations, sideOf } from './relations.ts';

/**
 * Opens a scan over a table, a query or a join. The SELECT reads only the columns that the references name, and a key where blank nodes are named
 * by rows; a query is run as it is written.
 *
 * @param rows the most rows that are of interest: the LIMIT of a table or a join. A query has all of its rows
 * @param range reads only the rows of the table (for a join, of the child's table) whose key is in this range
 * @throws Fault mapping/reference — there is no such column
 */
export function openDatabaseScan(
  relations: Relations,
  { iterations }: ScanPlan,
  source: DatabaseRows,
  range: KeyRange | undefined,
  rows: number | undefined,
): OpenedScan {
  const references = iterations.flatMap((iteration) => iteration.references);
  const close = async (): Promise<void> => undefined;
  if (source.kind === 'sql-pairs') {
    const origin = formatOrigin(source.origin);
    const [child, parent] = relations.sides(source, references);
    const query = joinQuery(child, parent, range, rows);
    const position = (reference: string): number => {
      const [side, name] = sideOf(reference);
      const column = relations.position(source[side], name);
      return side === 'child' ? child.read.indexOf(column) : child.read.length + parent.read.indexOf(column);
    };
    const { session } = child.relation;
    const scan = openSql({ session, ...query, position, nulls: [], origin });
    return { scan: placed(scan, origin), name: session.address.name, typed: true, close };
  }
  const origin = formatOrigin(source.content.origin);
  const relation = relations.of(source);
  const { session } = relation;
  const key = iterations.some(({ namesRows }) => namesRows) ? relations.keyOf(source) : [];
  const read = ascending([...references.map((reference) => relations.position(source, reference)), ...key]);
  const query = selectQuery(relation, read, range, rows);
  const position = (reference: string): number => {
    const column = relations.position(source, reference);
    return relation.query === undefined ? read.indexOf(column) : column;
  };
  const scan = openSql({ session, ...query, position, key: key.map((column) => read.indexOf(column)), nulls: source.nulls, origin });
  return { scan: placed(scan, origin), name: session.address.name, typed: true, close };
}

/** The scan, with faults that name the table or query of the mapping: a mapping may have many. */
function placed(scan: Scan, mapping: string): Scan {
  return {
    ...scan,
    async *batches(signal) {
      try {
        yield* scan.batches(signal);
      } catch (error) {
        throw inMapping(error, mapping);
      }
    },
  };
}
