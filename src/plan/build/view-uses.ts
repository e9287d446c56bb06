/** Which fields of views somebody reads, and of which views somebody counts the rows. */
import type { Expression, LogicalSource, LogicalView, TriplesMap } from '../../mapping/model/model.ts';

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
    for (const reference of expressions.flatMap(referencesOf)) uses.used.add(reference);
    if (expressions.some(isOfRow)) uses.counted = true;
  };
  const byId = new Map(triplesMaps.map((map) => [map.id, map]));
  for (const map of triplesMaps) {
    note(map.source, [...expressionsOf(map)]);
    for (const object of map.predicateObjects.flatMap(({ objects }) => objects)) {
      if (object.kind !== 'referencing') continue;
      const parent = byId.get(object.parent);
      if (parent === undefined) continue;
      if (object.conditions.length === 0) note(map.source, [parent.subject.expression]);
      note(
        parent.source,
        object.conditions.map((condition) => condition.parent),
      );
      note(
        map.source,
        object.conditions.map((condition) => condition.child),
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

function* expressionsOf({ subject, predicateObjects }: TriplesMap): Iterable<Expression> {
  const maps = [
    subject,
    ...subject.classes,
    ...subject.graphs,
    ...predicateObjects.flatMap(({ predicates, objects, graphs }) => [
      ...predicates,
      ...graphs,
      ...objects.filter((object) => object.kind === 'term'),
    ]),
  ];
  for (const { expression, language, datatype } of maps) {
    yield expression;
    if (language !== undefined) yield language;
    if (datatype !== undefined) yield datatype.expression;
  }
}

/** Whether each row has a value of its own, also beside a row with the same contents. */
function isOfRow(expression: Expression): boolean {
  switch (expression.kind) {
    case 'fresh':
      return true;
    case 'call':
      return !expression.execution.deterministic || expression.execution.inputs.some(({ value }) => isOfRow(value));
    case 'conditional':
      return isOfRow(expression.condition) || isOfRow(expression.value);
    default:
      return false;
  }
}

function referencesOf(expression: Expression): readonly string[] {
  switch (expression.kind) {
    case 'reference':
      return [expression.reference];
    case 'template':
      return expression.parts.flatMap((part) => (part.kind === 'reference' ? [part.reference] : []));
    case 'call':
      return expression.execution.inputs.flatMap(({ value }) => referencesOf(value));
    case 'conditional':
      return [...referencesOf(expression.condition), ...referencesOf(expression.value)];
    default:
      return [];
  }
}
