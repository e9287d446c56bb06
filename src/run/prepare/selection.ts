/** Selects the part of a mapping directory that concerns the inputs of a request. */
import type { FileSource, LogicalSource, Mapping, TriplesMap } from '../../mapping/model/model.ts';
import { formatOrigin, mapsIn, referredBy, sourcesOf } from '../../mapping/model/model.ts';

export interface Selection {
  readonly mapping: Mapping;
  readonly leftOut: readonly TriplesMap[];
}

/**
 * The triples maps whose sources are `bound`, or joined to a bound one over any number of joins in either direction. A join includes the
 * source of its parent.
 */
export function selectBound(mapping: Mapping, bound: ReadonlySet<FileSource>): Selection {
  const byId = new Map(mapping.triplesMaps.map((map) => [map.id, map]));
  const keys = new Map(mapping.triplesMaps.map((map) => [map, sourceKey(sourcesOf(map.source)[0] as LogicalSource)]));
  const joined = new Map<string, Set<string>>();
  const link = (a: string, b: string): void => void joined.set(a, (joined.get(a) ?? new Set()).add(b));
  for (const map of mapping.triplesMaps) {
    // The sources of a view belong together.
    for (const source of sourcesOf(map.source)) {
      link(keys.get(map) as string, sourceKey(source));
      link(sourceKey(source), keys.get(map) as string);
    }
    for (const parent of parentsOf(map, byId)) {
      link(keys.get(map) as string, keys.get(parent) as string);
      link(keys.get(parent) as string, keys.get(map) as string);
    }
  }
  // So do those that an annotation compares.
  for (const { view, target } of mapping.annotations) {
    for (const other of target === undefined ? [] : sourcesOf(target.view)) {
      const own = sourceKey(sourcesOf(view)[0] as LogicalSource);
      link(own, sourceKey(other));
      link(sourceKey(other), own);
    }
  }
  const wanted = new Set([...bound].map(sourceKey));
  // Grows during iteration: the joined sources of each source are appended.
  for (const key of wanted) for (const other of joined.get(key) ?? []) wanted.add(other);
  const isWanted = (map: TriplesMap): boolean => wanted.has(keys.get(map) as string);
  return {
    mapping: { ...mapping, triplesMaps: mapping.triplesMaps.filter(isWanted) },
    leftOut: mapping.triplesMaps.filter((map) => !isWanted(map)),
  };
}

function parentsOf(map: TriplesMap, byId: ReadonlyMap<string, TriplesMap>): readonly TriplesMap[] {
  return mapsIn(map).flatMap((one) => (one.kind === 'term' ? [] : [byId.get(referredBy(one)) ?? []].flat()));
}

/** Equal for sources with the same document or rows. Files are compared by name alone, since inputs are bound by name. */
function sourceKey(source: LogicalSource): string {
  if (source.kind === 'file') return `file ${source.path}`;
  const { connection, content } = source;
  const what = content.kind === 'table' ? content.name : content.sql;
  return JSON.stringify(['sql', connection?.jdbcUrl ?? null, content.kind, what]);
}

/** For the report of a run; undefined: nothing was left out. */
export function leftOutText(leftOut: readonly TriplesMap[]): string | undefined {
  if (leftOut.length === 0) return undefined;
  const names = leftOut.map(({ name, origin }) => `${name} (${formatOrigin(origin)})`);
  const what =
    names.length === 1
      ? '1 triples map was left out, since the request binds neither its source'
      : `${names.length} triples maps were left out, since the request binds neither their sources`;
  return `${what} nor one that is joined to ${names.length === 1 ? 'it' : 'them'}: ${names.join(', ')}`;
}
