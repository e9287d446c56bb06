/** What views promise of their rows → checks of rows. */
import { type Annotation, type FieldName, type LogicalView, type Mapping, viewsOf } from '../../mapping/model/model.ts';
import type { Check, Column, Expression, Join, Operator } from '../algebra.ts';
import { scanOf } from '../expressions.ts';
import type { Builder } from './operators.ts';
import type { Uses } from './view-uses.ts';
import type { NamedRows, ViewBuilder } from './views.ts';

/** The checks of all views from which triples maps read, and of those that these name as targets. */
export function buildChecks(mapping: Mapping, views: ViewBuilder, builder: Builder): readonly Check[] {
  const read = viewsOf(mapping);
  return mapping.annotations.filter(({ view }) => read.has(view)).map((annotation) => checkOf(annotation, views, builder));
}

function checkOf(annotation: Annotation, views: ViewBuilder, builder: Builder): Check {
  const { kind, origin, name, view, fields, target } = annotation;
  const named = rowsOf(view, fields, kind === 'unique' ? 'level' : 'set', views);
  const { index } = scanOf(named.rows);
  const common = { kind, origin, name, view: view.name, position: index };
  const own = valuesOf(named, fields);
  if (target === undefined) return { ...common, rows: named.rows, fields: own, target: undefined };
  const { rows, cells } = withCells(named.rows, own, builder);
  const parent = rowsOf(target.view, target.fields, 'set', views);
  const right = builder.side(
    parent.rows,
    valuesOf(parent, target.fields).map(({ value }) => value),
    [],
    false,
  );
  const found = builder.column('found');
  const join: Join = {
    kind: 'join',
    origin,
    type: 'left',
    left: rows,
    right,
    columns: [],
    on: cells.map(({ value }, i) => ({ left: value, right: (right.keys[i] as { readonly column: Column }).column })),
    ordinal: found,
  };
  return { ...common, rows: join, fields: cells, target: { view: target.view.name, fields: target.fields.map((one) => one.name), found } };
}

const rowsOf = (view: LogicalView, fields: readonly FieldName[], rows: Uses['rows'], views: ViewBuilder): NamedRows =>
  views.rowsOf(view, 'rml', { used: new Set(fields.map(({ name }) => name)), rows });

const valuesOf = ({ leaf }: NamedRows, fields: readonly FieldName[]): Check['fields'] =>
  fields.map(({ name, origin }) => ({ name, value: leaf(name, origin) }));

/** A row that is joined keeps cells alone. */
function withCells(
  rows: Operator,
  fields: Check['fields'],
  builder: Builder,
): { readonly rows: Operator; readonly cells: Check['fields'] } {
  const columns = fields.map(({ name, value }) => ({ column: builder.column(name), value }));
  const cells = fields.map(({ name, value }, i) => {
    const cell: Expression = { kind: 'cell', origin: value.origin, column: (columns[i] as { readonly column: Column }).column };
    return { name, value: cell };
  });
  return { rows: { kind: 'extend', input: rows, columns }, cells };
}
