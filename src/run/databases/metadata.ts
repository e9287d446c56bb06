/** Catalogue metadata of the tables and queries of a run, for the planner. */
import type { SqlSource } from '../../mapping/model/model.ts';
import type { CatalogueMetadata } from '../../plan/catalogue-metadata.ts';
import { canBeDistinct, type Relation } from '../../sql/select.ts';
import { isKeyOf } from './keys.ts';
import type { Relations } from './relations.ts';

export const metadataOf = (relations: Relations): CatalogueMetadata => ({
  isKey: (source, references) => isKey(relations, source, references),
  identifiesRow: (source, references) => identifiesRow(relations, source, references),
  areDistinct: (source, references) => areDistinct(relations, source, references),
  isSingle: (source, reference) => relations.column(source, reference)?.elements === undefined,
  isAlwaysValid: (source, reference) => relations.column(source, reference)?.partial !== true,
  canJoin: (child, childReference, parent, parentReference) => canJoin(relations, child, childReference, parent, parentReference),
});

function identifiesRow(relations: Relations, source: SqlSource, references: readonly string[]): boolean {
  if (source.content.kind === 'join') return relations.sides(source.content, references)[0].distinct;
  return isKeyOf(
    relations.of(source),
    references.map((reference) => relations.column(source, reference)),
  );
}

function isKey(relations: Relations, source: SqlSource, references: readonly string[]): boolean {
  if (!identifiesRow(relations, source, references)) return false;
  if (source.content.kind !== 'join') return true;
  // A row of the child meets at most one of the parent.
  const [, { relation, keys }] = relations.sides(source.content, references);
  return isKeyOf(
    relation,
    keys.map((column) => relation.columns[column]),
  );
}

function areDistinct(relations: Relations, source: SqlSource, references: readonly string[]): boolean {
  const { content } = source;
  if (content.kind !== 'join' || !references.every((reference) => relations.column(source, reference)?.exact === true)) return false;
  return relations.sides(content, references).every((side) => side.distinct || canBeDistinct(side));
}

function canJoin(relations: Relations, child: SqlSource, childReference: string, parent: SqlSource, parentReference: string): boolean {
  if (relations.of(child).session !== relations.of(parent).session) return false;
  const [left, right] = [relations.column(child, childReference), relations.column(parent, parentReference)];
  if (left === undefined || right === undefined) return false;
  // The columns of a subquery need names of their own.
  if (![child, parent].every((side) => hasOwnNames(relations.of(side)))) return false;
  return left.family !== 'other' && left.family === right.family && left.elements === undefined && right.elements === undefined;
}

const hasOwnNames = ({ columns }: Relation): boolean => new Set(columns.map(({ name }) => name.toLowerCase())).size === columns.length;
