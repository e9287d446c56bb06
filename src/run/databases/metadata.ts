/** Answers the questions of the planner from the columns and keys of the tables and queries. */
import type { SqlSource } from '../../mapping/model/model.ts';
import type { DatabaseRows, SqlPairs } from '../../plan/algebra.ts';
import type { CatalogueMetadata } from '../../plan/catalogue-metadata.ts';
import { DIALECTS } from '../../sql/dialects/dialects.ts';
import { canBeDistinct, type Relation } from '../../sql/select.ts';
import { isKeyOf, keysOf } from './keys.ts';
import type { Relations } from './relations.ts';

/** Of all that the answers depend on, beside the mapping. */
export const versionOf = (relations: ReadonlyMap<string, Relation>): string =>
  JSON.stringify(
    [...relations].map(([key, { session, table, columns }]) => [
      key,
      session.product,
      table && keysOf(table),
      columns.map(({ name, family, exact, partial, elements }) => [name, family, exact, partial, elements !== undefined]),
    ]),
  );

export const metadataOf = (relations: Relations): CatalogueMetadata => ({
  isKey: (source, references) => isKey(relations, source, references),
  identifiesRow: (source, references) => identifiesRow(relations, source, references),
  areDistinct: (pairs, references) => areDistinct(relations, pairs, references),
  isSingle: (source, reference) => relations.column(source, reference)?.elements === undefined,
  isAlwaysValid: (source, reference) => relations.column(source, reference)?.partial !== true,
  canJoin: (child, childReference, parent, parentReference) => canJoin(relations, child, childReference, parent, parentReference),
});

function identifiesRow(relations: Relations, source: DatabaseRows, references: readonly string[]): boolean {
  if (source.kind === 'sql-pairs') return relations.sides(source, references)[0].distinct;
  return isKeyOf(
    relations.of(source),
    references.map((reference) => relations.column(source, reference)),
  );
}

function isKey(relations: Relations, source: DatabaseRows, references: readonly string[]): boolean {
  if (!identifiesRow(relations, source, references)) return false;
  if (source.kind === 'sql') return true;
  // Then each row of the child has at most one matching row of the parent.
  const [, { relation, keys }] = relations.sides(source, references);
  return isKeyOf(
    relation,
    keys.map((column) => relation.columns[column]),
  );
}

function areDistinct(relations: Relations, pairs: SqlPairs, references: readonly string[]): boolean {
  if (!references.every((reference) => relations.column(pairs, reference)?.exact === true)) return false;
  return relations.sides(pairs, references).every((side) => side.distinct || canBeDistinct(side));
}

function canJoin(relations: Relations, child: SqlSource, childReference: string, parent: SqlSource, parentReference: string): boolean {
  if (relations.of(child).session !== relations.of(parent).session) return false;
  const [left, right] = [relations.column(child, childReference), relations.column(parent, parentReference)];
  if (left === undefined || right === undefined) return false;
  // SQL accepts a subquery only if its column names are distinct.
  if (![child, parent].every((side) => canBeDerived(relations.of(side)))) return false;
  return left.family !== 'other' && left.family === right.family && left.elements === undefined && right.elements === undefined;
}

/** SQL Server has columns without names, and queries that cannot stand in parentheses. */
const canBeDerived = ({ columns, query, session }: Relation): boolean =>
  new Set(columns.map(({ name }) => name.toLowerCase())).size === columns.length &&
  columns.every(({ name }) => name !== '') &&
  (query === undefined || DIALECTS[session.product].derived(query) !== undefined);
