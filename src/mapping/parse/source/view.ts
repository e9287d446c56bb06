/**
 * Logical views: their fields and joins, with the names that references to them may use.
 *
 * @see https://kg-construct.github.io/rml-lv/spec/docs/
 */
import { didYouMean } from '../../../core/nearest.ts';
import { expressionsOf, referencesOf } from '../../model/expressions.ts';
import { nodeId, type Statement } from '../../model/graph.ts';
import type { Expression, Field, JoinCondition, LogicalSource, LogicalView, Origin, TriplesMap, ViewJoin } from '../../model/model.ts';
import { lookUp, shorten } from '../../vocabulary/namespaces.ts';
import { readCondition } from '../join-condition.ts';
import { type Context, leadsToNodeWith, literalText, type MappingNode, nameOfNode, nodeOf, only } from '../node.ts';
import { readExpressionOf } from '../term-map.ts';
import { formulationOf, readLogicalSource } from './logical-source.ts';

/** Whether a node is described as a view. */
export const isView = ({ graph }: Context, id: string | undefined): boolean =>
  graph.get(id ?? '')?.statements.some(({ property }) => lookUp('properties', property)?.name === 'viewOn') ?? false;

/** The source or view that a statement such as `rml:logicalSource` leads to. */
export function readSourceOrView(context: Context, statement: Statement): LogicalSource | LogicalView | undefined {
  const id = nodeId(statement.object);
  return isView(context, id) ? readView(context, statement, id as string) : readLogicalSource(context, statement, 'rml');
}

/** A view is read once, however many triples maps use it: they share its rows. */
function readView(context: Context, statement: Statement, id: string): LogicalView | undefined {
  const { report, views } = context;
  const known = views.get(id);
  if (known === 'reading') {
    report.error(
      'circle',
      statement.origin,
      `the logical view ${shorten(id)} is made of itself`,
      'a view joins or extends views that do not use it',
    );
    return undefined;
  }
  if (known !== undefined) return known === 'invalid' ? undefined : known;
  views.set(id, 'reading');
  const view = readNewView(context, statement, id);
  views.set(id, view ?? 'invalid');
  return view;
}

function readNewView(context: Context, statement: Statement, id: string): LogicalView | undefined {
  const { report } = context;
  const before = report.errors;
  const node = nodeOf(context, statement, 'logical view');
  if (node === undefined) return undefined;
  const base = only(context, node, 'viewOn');
  const on = base === undefined ? undefined : readSourceOrView(context, base);
  const fields = readFields(context, node, { in: on, trail: [] });
  const joins = [
    ...node.all('leftJoin').map((join) => readJoin(context, join, 'left')),
    ...node.all('innerJoin').map((join) => readJoin(context, join, 'inner')),
  ].filter((join) => join !== undefined);
  if (on === undefined || !node.valid || report.errors > before) return undefined;
  const view: LogicalView = { kind: 'view', origin: node.origin, id, name: nameOfNode(node), on, fields, joins };
  checkNames(context, view);
  if (report.errors > before) return undefined;
  const annotations = node.all('structuralAnnotation');
  if (annotations.length > 0) context.annotated.push({ view, annotations });
  return view;
}

/** What a field stands in: the source or view below, the format of a record of an iterable field, or the value of an expression field. */
interface Within {
  readonly in: LogicalSource | LogicalView | FieldFormulation | 'value' | undefined;
  /** Ids of the fields around it. */
  readonly trail: readonly string[];
}

type FieldFormulation = NonNullable<Extract<Field, { kind: 'iterable' }>['formulation']>;

function readFields(context: Context, node: MappingNode, within: Within): readonly Field[] {
  return node
    .all('field')
    .map((statement) => readField(context, statement, within))
    .filter((field) => field !== undefined);
}

function readField(context: Context, statement: Statement, within: Within): Field | undefined {
  const { report } = context;
  const before = report.errors;
  const id = nodeId(statement.object);
  if (id !== undefined && within.trail.includes(id)) {
    report.error(
      'circle',
      statement.origin,
      `the field ${shorten(id)} stands within itself`,
      'describe the inner field by a separate node',
    );
    return undefined;
  }
  const node = nodeOf(context, statement, 'field');
  if (node === undefined) return undefined;
  const trail = [...within.trail, node.id];
  const name = nameOf(context, node);
  const iterator = only(context, node, 'iterator');
  const formulation = only(context, node, 'referenceFormulation');
  const draft = iteratorOfDraft(context, node, iterator, within);
  const isIterable = iterator !== undefined || formulation !== undefined || draft !== undefined || node.classes.has('IterableField');
  const { origin } = node;
  if (isIterable) {
    const named = formulation === undefined ? undefined : formulationOf(context, formulation);
    const given = iterator ?? draft;
    const path = given === undefined ? undefined : literalText(context, given, 'an iterator in quotes');
    if (draft === undefined && node.valid && report.errors === before) checkExpressionless(context, node);
    const kind = report.errors > before ? named : formulationWithin(context, formulation, named, within);
    if (path === undefined && kind === undefined && node.valid && report.errors === before)
      report.error('missing-iterator', origin, 'an iterable field has no iterator', 'add rml:iterator "…"');
    if (formulation === undefined && isRow(within)) {
      const hint = 'put it within a field with an expression, and say with rml:referenceFormulation how its value is read';
      report.error('wrong-value', origin, 'a row has no records to iterate over', hint);
    }
    const fields = readFields(context, node, { in: kind ?? recordsOf(within), trail });
    if (name === undefined || !node.valid || report.errors > before) return undefined;
    return { kind: 'iterable', origin, name, formulation: kind, iterator: path, fields };
  }
  const expression = readExpressionOf(context, node);
  const fields = readFields(context, node, { in: 'value', trail });
  for (const nested of fields)
    if (nested.kind === 'expression' || nested.formulation === undefined)
      report.error(
        'wrong-value',
        nested.origin,
        'a field within an expression field reads its value as a document',
        'make it an rml:IterableField with rml:referenceFormulation',
      );
  if (name === undefined || expression === undefined || report.errors > before) return undefined;
  return { kind: 'expression', origin, name, expression, fields };
}

/** The format of the records that a field stands in, if they have one. */
const recordsOf = ({ in: around }: Within): FieldFormulation | undefined => {
  if (around === 'value' || around === undefined) return undefined;
  if (typeof around === 'string') return around;
  return around.kind === 'file' ? around.formulation : undefined;
};

/** Whether a field stands in rows of CSV or of a database. Views are checked with their names. */
const isRow = ({ in: around }: Within): boolean =>
  typeof around === 'object' ? around.kind !== 'view' && (around.kind !== 'file' || around.formulation === 'csv') : around === 'csv';

/** Formats whose records have records within. */
const hasRecordsWithin = (formulation: FieldFormulation | undefined): boolean => formulation !== undefined && formulation !== 'csv';

/**
 * The format of the document that an iterable field reads: undefined, if it iterates within the record around it.
 *
 * Naming the format of that record again changes nothing. Another format needs a value that holds the document.
 */
function formulationWithin(
  { report }: Context,
  statement: Statement | undefined,
  named: FieldFormulation | undefined,
  within: Within,
): FieldFormulation | undefined {
  if (statement === undefined || named === undefined || within.in === 'value' || within.in === undefined) return named;
  const around = recordsOf(within);
  if (named === around && hasRecordsWithin(around)) return undefined;
  report.error(
    'wrong-value',
    statement.origin,
    `${shorten((statement.object as { value: string }).value)} reads a document within a value, and this field stands in no value`,
    'put it within a field with an expression, whose value is the document',
  );
  return undefined;
}

/**
 * The reference of a field with nested fields over the same records: drafts of RML-LV had one kind of field, whose reference also iterated.
 */
function iteratorOfDraft(context: Context, node: MappingNode, iterator: Statement | undefined, within: Within): Statement | undefined {
  const [reference] = node.all('reference');
  if (reference === undefined || iterator !== undefined || !hasRecordsWithin(recordsOf(within))) return undefined;
  const isDocument = node.all('field').every((field) => leadsToNodeWith(context, field, 'referenceFormulation'));
  if (isDocument && !node.classes.has('IterableField')) return undefined;
  context.report.warning(
    'older-term',
    reference.propertyOrigin,
    'rml:reference on a field with nested fields is not current: read as rml:iterator',
    'write rml:iterator',
  );
  return reference;
}

/** Reports an expression of an iterable field: it would say nothing. */
function checkExpressionless({ report }: Context, node: MappingNode): void {
  for (const property of ['reference', 'template', 'constant', 'functionExecution'] as const)
    for (const { propertyOrigin } of node.all(property))
      report.error(
        'wrong-value',
        propertyOrigin,
        `an iterable field takes an rml:iterator, not rml:${property}`,
        'write a field with the expression, and within it an rml:IterableField with rml:referenceFormulation',
      );
}

function nameOf(context: Context, node: MappingNode): string | undefined {
  const statement = only(context, node, 'fieldName');
  if (statement === undefined) {
    if (node.valid) context.report.error('missing-field-name', node.origin, 'a field has no name', 'add rml:fieldName "…"');
    return undefined;
  }
  const name = literalText(context, statement, 'a name in quotes');
  if (name === undefined) return undefined;
  if (name !== '' && name !== '#' && name !== '<it>' && !name.split('.').includes('#')) return name;
  const message = `${JSON.stringify(name)} is no name of a field`;
  context.report.error('wrong-value', statement.origin, message, 'a name is not empty; # and <it> are reserved');
  return undefined;
}

function readJoin(context: Context, statement: Statement, kind: ViewJoin['kind']): ViewJoin | undefined {
  const { report } = context;
  const before = report.errors;
  const node = nodeOf(context, statement, 'view join');
  if (node === undefined) return undefined;
  const named = only(context, node, 'parentLogicalView');
  if (named === undefined && node.valid)
    report.error('missing-parent-view', node.origin, 'a join of views names no parent', 'add rml:parentLogicalView <…>');
  const parent = named === undefined ? undefined : readSourceOrView(context, named);
  if (parent !== undefined && parent.kind !== 'view')
    report.error(
      'wrong-value',
      (named as Statement).origin,
      'rml:parentLogicalView leads to a logical source',
      'make a view of it: rml:viewOn',
    );
  const conditions = node.all('joinCondition').map((condition) => readCondition(context, condition));
  if (conditions.length === 0 && node.valid)
    report.error(
      'incomplete-join',
      node.origin,
      'a join of views has no condition',
      'add rml:joinCondition [ rml:child "…" ; rml:parent "…" ]',
    );
  const fields = node.all('field').map((field) => readJoinedField(context, field));
  if (parent?.kind !== 'view' || !node.valid || report.errors > before) return undefined;
  return {
    kind,
    origin: node.origin,
    parent,
    conditions: conditions.filter((condition) => condition !== undefined),
    fields: fields.filter((field) => field !== undefined),
  };
}

function readJoinedField(context: Context, statement: Statement): ViewJoin['fields'][number] | undefined {
  const field = readField(context, statement, { in: 'value', trail: [] });
  if (field === undefined) return undefined;
  const { name, origin } = field;
  if (field.kind === 'expression' && field.fields.length === 0) return { name, origin, expression: field.expression };
  context.report.error(
    'wrong-value',
    origin,
    'a field of a join takes an expression over the parent view',
    'add further fields to the parent view',
  );
  return undefined;
}

// ---------------------------------------------------------------- names

/** What references may name in the rows of a view, and what has a name but no value. */
export interface Names {
  readonly values: ReadonlySet<string>;
  readonly records: ReadonlySet<string>;
}

export function namesOf(view: LogicalView): Names {
  const values = new Set<string>(['#']);
  const records = new Set<string>(['<it>']);
  const add = (fields: readonly Field[], prefix: string): void => {
    for (const field of fields) {
      const name = prefix + field.name;
      (field.kind === 'expression' ? values : records).add(name);
      values.add(`${name}.#`);
      add(field.fields, `${name}.`);
    }
  };
  add(view.fields, '');
  for (const { fields } of view.joins) {
    for (const { name } of fields) {
      values.add(name);
      values.add(`${name}.#`);
    }
  }
  return { values, records };
}

/** Reports names that stand twice, and references of a view to what its base or a parent does not have. */
function checkNames(context: Context, view: LogicalView): void {
  const { report } = context;
  const taken = new Map<string, Origin>();
  const take = (name: string, origin: Origin): void => {
    const other = taken.get(name);
    if (other === undefined) taken.set(name, origin);
    else report.error('name-collision', origin, `the view has two fields ${JSON.stringify(name)}`, `the other is on line ${other.line}`);
  };
  const takeAll = (fields: readonly Field[], prefix: string): void => {
    for (const { name, origin, fields: nested } of fields) {
      take(prefix + name, origin);
      takeAll(nested, `${prefix}${name}.`);
    }
  };
  takeAll(view.fields, '');
  for (const { fields } of view.joins) for (const { name, origin } of fields) take(name, origin);

  if (view.on.kind === 'view') {
    const names = namesOf(view.on);
    for (const field of view.fields) {
      if (field.kind === 'expression') checkExpression(context, field.expression, names);
      else if (field.formulation === undefined)
        report.error(
          'wrong-value',
          field.origin,
          'a view has no records to iterate over',
          'iterate in the view that it is on, or over a field',
        );
    }
  }
  const own = namesOf({ ...view, joins: [] });
  for (const { conditions, fields, parent } of view.joins) {
    const names = namesOf(parent);
    for (const { child } of conditions) checkExpression(context, child, own);
    for (const { parent: key } of conditions) checkExpression(context, key, names);
    for (const { expression } of fields) checkExpression(context, expression, names);
  }
}

/** Reports references of a triples map to fields that its view does not have. */
export function checkReferences(context: Context, map: TriplesMap): void {
  if (map.source.kind !== 'view') return;
  const names = namesOf(map.source);
  for (const expression of expressionsOf(map)) checkExpression(context, expression, names);
}

/** Reports join conditions whose parent is over a view that lacks a field. */
export function checkParentKeys(context: Context, parent: TriplesMap, conditions: readonly JoinCondition[]): void {
  if (parent.source.kind !== 'view') return;
  const names = namesOf(parent.source);
  for (const { parent: key } of conditions) checkExpression(context, key, names);
}

function checkExpression(context: Context, expression: Expression, names: Names): void {
  for (const { reference, origin } of referencesOf(expression)) checkName(context, reference, origin, names);
}

/** Reports a name that is no field of a view, or a field without a value. */
export function checkName({ report }: Context, name: string, origin: Origin, { values, records }: Names): void {
  if (values.has(name)) return;
  if (records.has(name)) {
    report.error('unknown-field', origin, `${JSON.stringify(name)} is a record, which has no value`, 'refer to one of its fields');
    return;
  }
  const near = didYouMean(name, [...values], (other) => other);
  report.error('unknown-field', origin, `the view has no field ${JSON.stringify(name)}`, near ?? `it has ${[...values].join(', ')}`);
}
