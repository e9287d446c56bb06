/** The tables and queries of a run, and the columns that references name in them. */
import { Fault } from '../../core/fault.ts';
import { formatOrigin, type SqlContent, type SqlSource } from '../../mapping/model/model.ts';
import { sqlKey } from '../../plan/scans.ts';
import { findColumn, suggestColumns } from '../../sql/catalogue/identifiers.ts';
import type { Column } from '../../sql/database.ts';
import type { Relation, Side } from '../../sql/select.ts';
import { isKeyOf } from './keys.ts';

export type JoinContent = Extract<SqlContent, { kind: 'join' }>;

export class Relations {
  /** By `sqlKey`: tables and queries. */
  readonly #byKey: ReadonlyMap<string, Relation>;

  constructor(byKey: ReadonlyMap<string, Relation>) {
    this.#byKey = byKey;
  }

  of(source: SqlSource): Relation {
    return this.#byKey.get(sqlKey(source)) as Relation;
  }

  /** @throws Fault mapping/reference */
  position(source: SqlSource, reference: string): number {
    const relation = this.of(source);
    const position = findColumn(relation.columns, reference, relation.naming, relation.session.product);
    if (position >= 0) return position;
    throw new Fault('mapping/reference', `${relation.label} has no column ${reference}`, {
      place: { input: relation.session.address.name, expression: reference, mapping: formatOrigin(source.content.origin) },
      hint: suggestColumns(relation.columns, reference, relation.naming, relation.session.product),
    });
  }

  /** undefined where there is no such column: opening the scan says so. */
  column(source: SqlSource, reference: string): Column | undefined {
    if (source.content.kind === 'join') {
      const [side, name] = sideOf(reference);
      return this.column(source.content[side], name);
    }
    const { columns, naming, session } = this.of(source);
    return columns[findColumn(columns, reference, naming, session.product)];
  }

  /** What a join reads of each side, for the references of a scan. */
  sides({ child, parent, conditions }: JoinContent, references: readonly string[]): readonly [child: Side, parent: Side] {
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

/** A reference over a join: `child Name`. */
export function sideOf(reference: string): readonly [side: 'child' | 'parent', reference: string] {
  const space = reference.indexOf(' ');
  return [reference.slice(0, space) as 'child' | 'parent', reference.slice(space + 1)];
}

export const ascending = (positions: readonly number[]): readonly number[] => [...new Set(positions)].sort((a, b) => a - b);
