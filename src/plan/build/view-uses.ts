/** What is read of the rows of views: by each triples map, and by a view of those that it is made of. */
import { expressionsOf, isOfRow, referencesOf } from '../../mapping/model/expressions.ts';
import {
  type Expression,
  type Field,
  type LogicalView,
  mapsIn,
  type ReferencingObjectMap,
  referredBy,
  type StarMap,
  type TriplesMap,
  type ViewJoin,
} from '../../mapping/model/model.ts';

/** How a view is used: what is read of its rows, and whether equal rows matter. */
export interface Uses {
  /** Names of fields and of their positions. */
  readonly used: ReadonlySet<string>;
  /**
   * `set`: equal rows are one. `bag`: each row counts, for blank nodes of each row, for random values, and for positions in a view on it or
   * that joins it. `level`: the rows before the fields that are not used, and left joins, multiply them.
   */
  readonly rows: 'set' | 'bag' | 'level';
}

/** What each triples map reads of its rows, as child and as parent of joins. */
export function usesOfMaps(triplesMaps: readonly TriplesMap[]): ReadonlyMap<TriplesMap, Uses> {
  const byId = new Map(triplesMaps.map((map) => [map.id, map]));
  const counted = new Set<TriplesMap>();
  const read = new Map<TriplesMap, Expression[]>();
  for (const map of triplesMaps) {
    const within = [...mapsWithin(map, byId)];
    read.set(
      map,
      within.flatMap(({ expressions }) => expressions),
    );
    // Each row adds its members, also beside a row with the same contents.
    if (within.some(({ map: other }) => membersOf(other).length > 0)) counted.add(map);
  }
  for (const map of triplesMaps) {
    const members = new Set<unknown>(membersOf(map));
    for (const reference of referencesIn(map)) {
      const parent = byId.get(referredBy(reference));
      if (parent === undefined) continue;
      read.get(parent)?.push(...reference.conditions.map((condition) => condition.parent));
      if (members.has(reference)) counted.add(parent);
    }
  }
  return new Map(
    [...read].map(([map, expressions]) => [
      map,
      { used: namesIn(expressions), rows: counted.has(map) || expressions.some(isOfRow) ? 'bag' : 'set' },
    ]),
  );
}

const membersOf = (map: TriplesMap): readonly unknown[] =>
  mapsIn(map).flatMap((one) => (one.kind === 'term' ? (one.gather?.members ?? []) : []));

/** The parents and quoted triples maps of a triples map. */
const referencesIn = (map: TriplesMap): readonly (ReferencingObjectMap | StarMap)[] => mapsIn(map).filter((one) => one.kind !== 'term');

/** The triples map, and those to which it refers without a condition: these read the same row, so it reads what they read. */
function* mapsWithin(
  map: TriplesMap,
  byId: ReadonlyMap<string, TriplesMap>,
  seen = new Set<TriplesMap>(),
): Iterable<{ readonly map: TriplesMap; readonly expressions: readonly Expression[] }> {
  if (seen.has(map)) return;
  seen.add(map);
  yield { map, expressions: [...expressionsOf(map)] };
  for (const reference of referencesIn(map)) {
    const other = byId.get(referredBy(reference));
    if (other === undefined || reference.conditions.length > 0) continue;
    const { subject } = other;
    // Of a parent nothing but its subject.
    if (reference.kind === 'referencing' && subject.kind === 'term' && subject.gather === undefined)
      yield { map, expressions: [subject.expression] };
    else yield* mapsWithin(other, byId, seen);
  }
}

/** What a view needs for its uses: the fields and joins that are made, and what these read. */
export interface ViewNeeds {
  /** Whether a field is made: it, its position or one of its nested fields is used. */
  readonly isWanted: (name: string) => boolean;
  /** Whether the number of rows matters. */
  readonly counted: boolean;
  readonly used: ReadonlySet<string>;
  readonly joins: readonly NeededJoin[];
  /** Of the source or view below. */
  readonly ofBase: Uses;
}

export interface NeededJoin {
  readonly join: ViewJoin;
  readonly fields: ViewJoin['fields'];
  /** Whether equal rows of the parent are kept apart. */
  readonly counts: boolean;
  readonly ofParent: Uses;
}

export function needsOf(view: LogicalView, { used: wanted, rows }: Uses): ViewNeeds {
  const counted = rows === 'bag';
  const isIn = (names: ReadonlySet<string>, name: string): boolean => [...names].some((one) => one === name || one.startsWith(`${name}.`));
  const joins = view.joins.flatMap((join): NeededJoin[] => {
    const fields = join.fields.filter(({ name }) => counted || isIn(wanted, name));
    // An inner join without fields still takes rows away.
    if (join.kind === 'left' && fields.length === 0 && !counted) return [];
    const counts = counted || fields.some(({ name }) => wanted.has(`${name}.#`)) || (rows === 'level' && fields.length > 0);
    const read = [...join.conditions.map(({ parent }) => parent), ...fields.map(({ expression }) => expression)];
    return [{ join, fields, counts, ofParent: { used: namesIn(read), rows: counts ? 'bag' : 'set' } }];
  });
  const used = new Set([...wanted, ...namesIn(joins.flatMap(({ join }) => join.conditions.map(({ child }) => child)))]);
  const isWanted = (name: string): boolean => counted || isIn(used, name);
  const read = view.fields
    .filter(({ name }) => isWanted(name))
    .flatMap((field: Field) => (field.kind === 'expression' ? [field.expression] : []));
  const ofBase: Uses = { used: namesIn(read), rows: rows !== 'set' || used.has('#') ? 'bag' : 'set' };
  return { isWanted, counted, used, joins, ofBase };
}

const namesIn = (expressions: readonly Expression[]): ReadonlySet<string> =>
  new Set(expressions.flatMap(referencesOf).map(({ reference }) => reference));
