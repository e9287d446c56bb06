/** The tables and queries of a run, and the columns that references name. */
import { Fault } from '../../core/fault.ts';
import { formatOrigin, type SqlSource } from '../../mapping/model/model.ts';
import type { DatabaseRows, SqlPairs } from '../../plan/algebra.ts';
import { sqlKey } from '../../plan/build/operators.ts';
import { findColumn, suggestColumns } from '../../sql/catalogue/identifiers.ts';
import type { Column } from '../../sql/database.ts';
import type { Relation, Side } from '../../sql/select.ts';
import { isKeyOf, keysOf } from './keys.ts';

/** @param relation what `source` reads. @throws Fault mapping/reference — there is no such column */
export function positionIn({ columns, label, naming, session }: Relation, { content }: SqlSource, reference: string): number {
  const position = findColumn(columns, reference, naming, session.product);
  if (position >= 0) return position;
  throw new Fault('mapping/reference', `${label} has no column ${reference}`, {
    place: { input: session.address.name, expression: reference, mapping: formatOrigin(content.origin) },
    hint: suggestColumns(columns, reference, naming, session.product),
  });
}

export class Relations {
  /** By `sqlKey`. */
  readonly #byKey: ReadonlyMap<string, Relation>;

  constructor(byKey: ReadonlyMap<string, Relation>) {
    this.#byKey = byKey;
  }

  /** @param source a table or query that the run has described */
  of(source: SqlSource): Relation {
    return this.#byKey.get(sqlKey(source)) as Relation;
  }

  /** Index of the column that a reference names in a table or query. @throws Fault mapping/reference — there is no such column */
  position(source: SqlSource, reference: string): number {
    return positionIn(this.of(source), source, reference);
  }

  /** Indexes of the columns of a key that tells the rows of a table apart by its texts; none: it has no such key, or is a query. */
  keyOf(source: SqlSource): readonly number[] {
    const { table, columns } = this.of(source);
    const exact = new Map(columns.flatMap((column, index) => (column.exact ? [[column.name, index]] : [])));
    const key = table === undefined ? undefined : keysOf(table).find((names) => names.every((name) => exact.has(name)));
    return (key ?? []).map((name) => exact.get(name) as number);
  }

  /** The column that a reference names in a table, query or join. undefined: there is none, which opening the scan reports. */
  column(source: DatabaseRows, reference: string): Column | undefined {
    if (source.kind === 'sql-pairs') {
      const [side, name] = sideOf(reference);
      return this.column(source[side], name);
    }
    const { columns, naming, session } = this.of(source);
    return columns[findColumn(columns, reference, naming, session.product)];
  }

  /**
   * The columns that a join reads of its child and its parent.
   *
   * @param references of the scan, each with the prefix of its side
   * @throws Fault mapping/reference — there is no such column
   */
  sides({ child, parent, conditions }: SqlPairs, references: readonly string[]): readonly [child: Side, parent: Side] {
    const read = (side: SqlSource, name: 'child' | 'parent'): Side => {
      const own = references.filter((reference) => reference.startsWith(`${name} `)).map((reference) => reference.slice(name.length + 1));
      const relation = this.of(side);
      const read = ascending(own.map((reference) => this.position(side, reference)));
      const keys = conditions.map((condition) => this.position(side, condition[name]));
      return {
        relation,
        read,
        keys,
        distinct: isKeyOf(
          relation,
          read.map((column) => relation.columns[column]),
        ),
      };
    };
    return [read(child, 'child'), read(parent, 'parent')];
  }
}

/** Splits a reference over a join, `child Name` or `parent Name`. */
export function sideOf(reference: string): readonly [side: 'child' | 'parent', reference: string] {
  const space = reference.indexOf(' ');
  return [reference.slice(0, space) as 'child' | 'parent', reference.slice(space + 1)];
}

/** Column indexes in ascending order, each once. */
export const ascending = (positions: readonly number[]): readonly number[] => [...new Set(positions)].sort((a, b) => a - b);
