/** Single items of a list, from any position on, or with a certain value. */
import type { Input, Path } from '../core/document.ts';
import type { SchemaField } from '../core/elements/schema.ts';
import { positionsIn } from '../core/elements/schema.ts';
import { pathKey, sameOrBelow, shapeOf } from '../core/levels.ts';
import { iteratorText, referenceText } from '../core/print/paths.ts';
import type { ModelOrigin } from './drafts.ts';
import { type Sample, sampleLocation } from './samples.ts';
import { openService } from './service.ts';

export interface ListItem {
  /** From 0. */
  readonly position: number;
  readonly values: readonly ItemValue[];
}

export interface ItemValue {
  /** With a step `each` for each list on the way. */
  readonly path: Path;
  readonly value: string;
}

export interface FoundItems {
  readonly items: readonly ListItem[];
  /** Behind the last item that was looked at. */
  readonly next: number;
  readonly complete: boolean;
  /** There was no time to look further. */
  readonly cut: boolean;
}

/** Values of an item that are asked for. */
const MOST_FIELDS = 100;

/**
 * At most 20 items.
 *
 * @param list path of the items, with indices for the lists above and `each` at the end
 * @param fields of the input
 * @throws ProblemError — it cannot be read
 */
export async function readItems(
  { location, format, namespaces, nulls }: Pick<Input, 'location' | 'format' | 'namespaces' | 'nulls'>,
  list: Path,
  fields: Iterable<SchemaField>,
  wanted: { readonly from: number; readonly find?: string },
  mappings: ModelOrigin['service'],
  signal: AbortSignal,
): Promise<FoundItems> {
  const own = [...fields].filter((field) => field.holds === 'value' && isOfItem(field.path, list)).slice(0, MOST_FIELDS);
  const { items, ...rest } = await openService().studio.items(
    {
      ...(sampleLocation(location) as { readonly location: string }),
      ...(location.kind === 'file' && location.directory === undefined && { mappings }),
      format: format as 'json' | 'jsonl' | 'xml',
      ...(namespaces !== undefined && { namespaces }),
      nulls,
      iterator: iteratorText(format, list) as string,
      references: own.map(({ path }) => referenceText(format, list, [...list, ...path.slice(list.length)]) as string),
      ...wanted,
    },
    { signal },
  );
  return {
    ...rest,
    items: items.map(({ position, values }) => ({
      position,
      values: values.flatMap((value, i) => (value === null ? [] : [{ path: own[i]?.path ?? [], value }])),
    })),
  };
}

/** Whether a field has one value in an item of the list. */
const isOfItem = (path: Path, list: Path): boolean =>
  sameOrBelow(list, path) &&
  !path.slice(list.length).some((step) => 'each' in step) &&
  pathKey(shapeOf(list)) === pathKey(path.slice(0, list.length));

/** An item that was looked up, and its list: a path with indices, and `each` at the end. */
export interface LookedUp {
  readonly list: Path;
  readonly item: ListItem;
}

/** A sample with the values of items that were looked up. */
export function withItems(sample: Sample, items: readonly LookedUp[]): Sample {
  if (items.length === 0) return sample;
  const values = new Map<string, [at: string, value: string][]>();
  const lookedUp = new Map<string, readonly number[]>();
  for (const { list, item } of items) {
    const at = positionsIn([...list.slice(0, -1), { index: item.position }]);
    for (const { path, value } of item.values) values.set(pathKey(path), [...(values.get(pathKey(path)) ?? []), [at, value]]);
    addPosition(lookedUp, list, item.position);
  }
  const fields = sample.fields.map((field) => {
    const own = values.get(pathKey(field.path));
    return own === undefined || field.sample === undefined
      ? field
      : { ...field, sample: { ...field.sample, items: new Map([...(field.sample.items ?? []), ...own]) } };
  });
  return { ...sample, fields, lookedUp };
}

/** @param to positions by the keys of the paths of lists, ascending */
export function addPosition(to: Map<string, readonly number[]>, list: Path, position: number): void {
  const key = pathKey(list.slice(0, -1));
  const positions = new Set([...(to.get(key) ?? []), position]);
  to.set(
    key,
    [...positions].sort((a, b) => a - b),
  );
}
