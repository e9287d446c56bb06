/** The tables of a mapping as they are read: by what has changed, where the mapping has `qms:changedSince`, else whole. */
import { excerpt, Fault } from '../../core/fault.ts';
import { fromBytes } from '../../core/text.ts';
import { XSD } from '../../core/value.ts';
import { formatOrigin, type SqlSource } from '../../mapping/model/model.ts';
import { findColumn, parseTableName, suggestColumns } from '../../sql/catalogue/identifiers.ts';
import type { Column, Product } from '../../sql/database.ts';
import { shapeOf } from '../database/followed.ts';
import type { SnapshotTable } from '../database/snapshot.ts';
import type { Row } from '../events.ts';
import { type FollowedMapping, refused } from '../follow/mapping.ts';
import type { FollowedTable } from '../follow/session.ts';
import type { Described } from '../follow/tables.ts';
import { type Growing, growingOf, overlapOf } from './watermark.ts';

export interface PolledTable extends SnapshotTable {
  /** undefined: all of its rows are read each time. */
  readonly changes: PolledChanges | undefined;
}

export interface PolledChanges {
  /** Name of the column in the catalogue. */
  readonly column: string;
  readonly growing: Growing;
  /** Seconds, or units. */
  readonly overlap: number;
  /** Whether a row may have no value of the column: such rows are read each time. */
  readonly isNullable: boolean;
  /** Whether a row counts as deleted. @throws Fault database/query — its column has a value that does not say it */
  readonly isDeleted: (row: Row) => boolean;
  /** Digest of all that a change of which needs a whole read: the mapping, the columns, their types and the key. */
  readonly shape: string;
}

/**
 * @throws Fault mapping/invalid — sources of one table declare differently, a table has no primary key, or a column is of a type that does not fit;
 * mapping/reference — there is no such column
 */
export function polledTables(mapping: FollowedMapping, { product, tables, byParts }: Described): readonly PolledTable[] {
  const sources = new Map<FollowedTable, SqlSource[]>();
  for (const source of mapping.sources) {
    const name = source.content.kind === 'table' ? source.content.name : '';
    const table = byParts.get(JSON.stringify(parseTableName(name, product))) as FollowedTable;
    sources.set(table, [...(sources.get(table) ?? []), source]);
  }
  return tables.map((followed): PolledTable => {
    const { name, table, columns } = followed;
    const own = sources.get(followed) as [SqlSource, ...SqlSource[]];
    const changes = changesOf(own, followed, product, mapping.digest);
    return { name, table, columns: columns.map((column) => column.name), key: table.primaryKey, changes };
  });
}

function changesOf(
  sources: readonly [SqlSource, ...SqlSource[]],
  { table, columns }: FollowedTable,
  product: Product,
  mapping: string,
): PolledChanges | undefined {
  const [first] = sources;
  const said = ({ changes, references }: SqlSource) =>
    changes && {
      growing: columnOf(changes.column, changes, references, columns, product, table.name),
      deleted: changes.deleted === undefined ? undefined : columnOf(changes.deleted, changes, references, columns, product, table.name),
      overlap: changes.overlap,
    };
  const declared = said(first);
  const others = sources.filter((source) => JSON.stringify(said(source)) !== JSON.stringify(declared));
  if (others.length > 0)
    throw refused(
      others,
      `another qms:changedSince, qms:deletedWhen or qms:overlap for the table ${table.name} than at ${formatOrigin(first.content.origin)}`,
      'say the same wherever the mapping reads the table',
    );
  if (declared === undefined) return undefined;
  const { growing: column, deleted } = declared;
  if (table.primaryKey === undefined)
    throw refused(
      sources,
      `qms:changedSince for the ${table.kind} ${table.name}, which has no primary key`,
      'give the table a primary key, or leave out qms:changedSince: all rows are read then',
    );
  const growing = growingOf(column);
  if (growing === undefined)
    throw refused(
      sources,
      `qms:changedSince names the column ${column.name} of the type ${column.type}`,
      'name a column of dates, times, integers or decimals that grows with each change of a row',
    );
  const gone = deleted && deletionOf(deleted);
  if (deleted !== undefined && gone === undefined)
    throw refused(
      sources,
      `qms:deletedWhen names the column ${deleted.name} of the type ${deleted.type}`,
      'name a column of dates, times, booleans or integers: a row counts as deleted unless the value is NULL, false or 0',
    );
  return {
    column: column.name,
    growing,
    overlap: overlapOf(column, growing, product, declared.overlap),
    isNullable: table.columns.find(({ name }) => name === column.name)?.nullable !== false,
    isDeleted: (row) => gone?.(row) ?? false,
    shape: shapeOf([mapping, columns.map(({ name, type }) => [name, type]), table.primaryKey]),
  };
}

function columnOf(
  reference: string,
  { origin }: NonNullable<SqlSource['changes']>,
  references: SqlSource['references'],
  columns: readonly Column[],
  product: Product,
  table: string,
): Column {
  const column = columns[findColumn(columns, reference, references, product)];
  if (column !== undefined) return column;
  throw new Fault(
    'mapping/reference',
    `The table ${table} has no column ${excerpt(reference)}, which qms:changedSince or qms:deletedWhen names`,
    {
      place: { mapping: formatOrigin(origin), expression: reference },
      hint: suggestColumns(columns, reference, references, product),
    },
  );
}

const NO = /^(?:f|false|\x00|-?0+(?:\.0*)?)$/i;
const YES = /^(?:t|true|\x01|-?\d+(?:\.\d*)?)$/i;
const MOMENTS = [`${XSD}date`, `${XSD}dateTime`];
const FLAGS = [`${XSD}boolean`, `${XSD}integer`, `${XSD}decimal`];

/** undefined: the type of the column does not say which rows have gone. */
function deletionOf({ name, datatype = '', elements }: Column): ((row: Row) => boolean) | undefined {
  if (elements !== undefined) return undefined;
  if (MOMENTS.includes(datatype)) return (row) => row[name] != null;
  if (!FLAGS.includes(datatype)) return undefined;
  return (row) => {
    const value = row[name];
    if (value == null || NO.test(String(value))) return false;
    if (YES.test(String(value))) return true;
    const text = excerpt(fromBytes(String(value).replace(/^\0./, '')));
    throw new Fault('database/query', `${name} is ${text}, which does not say whether the row is deleted`, {
      place: { expression: name, value: text },
      hint: 'qms:deletedWhen needs NULL, false or 0 for rows that are there, and true or another number for those that are deleted',
    });
  };
}
