/**
 * What samples show of the inputs: their fields, and what is in them. It is no part of the document: a person cannot change it, and it has
 * no history.
 */
import type { Kind } from '../../../src/infer/kinds.ts';
import type { FieldRef, Id, Path } from '../document.ts';
import { pathKey, shapeOf, viewOf } from '../levels.ts';

/** What stands at a path. A list is at its own path, its items at the path with the step `each` behind. */
export type Holds = 'value' | 'list' | 'object';

/** What was read of a field that holds values. */
export interface FieldSample {
  /** The narrowest kind that all values have. */
  readonly kind: Kind;
  /** Objects of its level that were read. */
  readonly objects: number;
  readonly values: number;
  /** Objects without a value, or with null. */
  readonly missing: number;
  /** Different values; `isDistinctCut`: at least so many. */
  readonly distinct: number;
  readonly isDistinctCut: boolean;
  /** A few of the values. */
  readonly examples: readonly string[];
  /** Values of single items, by their positions in the lists on the way: `0.2`. Absent: not read. */
  readonly items?: ReadonlyMap<string, string>;
}

export interface SchemaField {
  readonly path: Path;
  readonly holds: Holds;
  readonly sample?: FieldSample;
  /** Of a field whose input was read at another time; then there is no sample. */
  readonly kind?: Kind;
}

/** By input; then by the key of the path. Paths have `each` in place of an index. */
export type Schema = ReadonlyMap<Id, ReadonlyMap<string, SchemaField>>;

/** Fields of one input, by the keys of their paths. */
export const fieldsByPath = (fields: readonly SchemaField[]): ReadonlyMap<string, SchemaField> =>
  new Map(fields.map((field) => [pathKey(shapeOf(field.path)), field]));

/** What is known of a field. undefined: samples have not shown it, or are not there yet. */
export const fieldOf = (schema: Schema, { input, path }: FieldRef): SchemaField | undefined =>
  schema.get(input)?.get(pathKey(shapeOf(path)));

/** A value that samples show of a field; of one object, its own. undefined: they show none. */
export function sampledValue(schema: Schema, ref: FieldRef): string | undefined {
  const sample = fieldOf(schema, ref)?.sample;
  return viewOf(ref.path) === 'ungrouped' ? sample?.items?.get(positionsIn(ref.path)) : sample?.examples[0];
}

/** The key of `FieldSample.items` for a path with indices. */
export const positionsIn = (path: Path): string => path.flatMap((step) => ('index' in step ? [step.index] : [])).join('.');

/** What stands at a path; what samples have not shown is taken for a value. */
export const holds = (schema: Schema, ref: FieldRef): Holds => fieldOf(schema, ref)?.holds ?? 'value';

/** The values that a list holds; another field itself. */
export function valuesOf(schema: Schema, ref: FieldRef): FieldRef {
  const items = { ...ref, path: [...ref.path, { each: true as const }] };
  return holds(schema, ref) === 'list' && fieldOf(schema, items)?.holds === 'value' ? items : ref;
}

/** The levels of an input below its records: what carries ▸ in the tree of its fields. */
export const levelsOf = (schema: Schema, input: Id): readonly SchemaField[] =>
  [...(schema.get(input)?.values() ?? [])].filter((field) => field.holds !== 'value');
