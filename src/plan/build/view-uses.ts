/** Which fields of views somebody reads, and of which views somebody counts the rows. */
import { expressionsOf, isOfRow, referencesOf } from '../../mapping/model/expressions.ts';
import { type Expression, type LogicalSource, type LogicalView, mapsIn, referredBy, type TriplesMap } from '../../mapping/model/model.ts';

interface Uses {
  /** Names of fields and of their positions. */
  readonly used: ReadonlySet<string>;
  /** Whether the number of rows matters: for blank nodes of each row, for random values, and for positions in a view on it or that joins it. */
  readonly counted: boolean;
}

export interface ViewUses {
  of(view: LogicalView): Uses;
}

export function usesOfViews(triplesMaps: readonly TriplesMap[]): ViewUses {
  const uses = new Map<LogicalView, { used: Set<string>; counted: boolean }>();
  const of = (view: LogicalView) => {
    const known = uses.get(view) ?? { used: new Set<string>(), counted: false };
    uses.set(view, known);
    return known;
  };
  const note = (source: LogicalSource | LogicalView, expressions: readonly Expression[]): void => {
    if (source.kind !== 'view') return;
    const uses = of(source);
    for (const { reference } of expressions.flatMap(referencesOf)) uses.used.add(reference);
    if (expressions.some(isOfRow)) uses.counted = true;
  };
  // What a parent or a quoted triples map without conditions reads, it reads of the same view.
  for (const map of triplesMaps) note(map.source, [...expressionsOf(map)]);
  const byId = new Map(triplesMaps.map((map) => [map.id, map]));
  for (const map of triplesMaps) {
    const maps = mapsIn(map);
    const members = new Set(maps.flatMap((one) => (one.kind === 'term' ? (one.gather?.members ?? []) : [])));
    // Each row adds its members, also beside a row with the same contents.
    if (members.size > 0 && map.source.kind === 'view') of(map.source).counted = true;
    for (const reference of maps) {
      if (reference.kind === 'term') continue;
      const parent = byId.get(referredBy(reference));
      if (parent === undefined) continue;
      if (reference.kind === 'referencing' && members.has(reference) && parent.source.kind === 'view') of(parent.source).counted = true;
      note(
        parent.source,
        reference.conditions.map((condition) => condition.parent),
      );
    }
  }
  // Views use what they are made of; those that are used come before those that they use.
  for (const view of inOrder(triplesMaps)) {
    const { used, counted } = of(view);
    note(view.on, expressionsOfFields(view));
    if (view.on.kind === 'view' && (counted || used.has('#'))) of(view.on).counted = true;
    for (const { parent, conditions, fields } of view.joins) {
      note(
        view,
        conditions.map(({ child }) => child),
      );
      note(parent, [...conditions.map((condition) => condition.parent), ...fields.map(({ expression }) => expression)]);
      if (counted || fields.some(({ name }) => used.has(`${name}.#`))) of(parent).counted = true;
    }
  }
  return { of };
}

/** All views, each before those that it is made of. */
function inOrder(triplesMaps: readonly TriplesMap[]): readonly LogicalView[] {
  const ordered: LogicalView[] = [];
  const seen = new Set<LogicalView>();
  const visit = (source: LogicalSource | LogicalView): void => {
    if (source.kind !== 'view' || seen.has(source)) return;
    seen.add(source);
    visit(source.on);
    for (const { parent } of source.joins) visit(parent);
    ordered.push(source);
  };
  for (const { source } of triplesMaps) visit(source);
  return ordered.reverse();
}

const expressionsOfFields = ({ fields }: LogicalView): readonly Expression[] =>
  fields.flatMap((field) => (field.kind === 'expression' ? [field.expression] : []));
