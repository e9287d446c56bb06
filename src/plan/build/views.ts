/**
 * The rows that references name: records of a source, and rows of logical views.
 *
 * A view is the chain of its fields: each field with several values, and each iterator within a record, multiplies the rows; fields beside
 * each other multiply as well. What a reader does not read is left out of his rows, unless he counts them: leaving it out makes fewer equal
 * rows, and statements are a set.
 */
import { FORMULATIONS } from '../../core/input/formats.ts';
import type {
  Dialect,
  Field,
  LogicalSource,
  LogicalView,
  Expression as MappedExpression,
  Origin,
  TriplesMap,
} from '../../mapping/model/model.ts';
import { formatOrigin, hasSeparators } from '../../mapping/model/model.ts';
import type { Column, Expression, Formulation, Join, Operator, Project, Scan } from '../algebra.ts';
import { type Leaf, replaceLeaves, stepsOf } from '../expressions.ts';
import type { Builder } from './operators.ts';
import { expressionOf, type LeafOf, type RowIdentity } from './terms.ts';
import { needsOf, type Uses, usesOfMaps } from './view-uses.ts';

export interface NamedRows {
  readonly rows: Operator;
  readonly leaf: LeafOf;
}

export class ViewBuilder {
  readonly #builder: Builder;
  readonly #uses: ReadonlyMap<TriplesMap, Uses>;
  readonly #views = new Map<LogicalView, Map<string, NamedRows>>();

  constructor(triplesMaps: readonly TriplesMap[], builder: Builder) {
    this.#builder = builder;
    this.#uses = this.#shared(usesOfMaps(triplesMaps));
  }

  /** Triples maps whose rows are multiplied by the same fields and joins share their rows. */
  #shared(uses: ReadonlyMap<TriplesMap, Uses>): ReadonlyMap<TriplesMap, Uses> {
    const shared = new Map<string, Set<string>>();
    const keys = new Map<TriplesMap, string>();
    for (const [map, own] of uses) {
      const steps = stepsOf(this.rowsOf(map.source, map.dialect, own).rows).map((step) => [step.kind, nameOfStep(step)]);
      const key = JSON.stringify([map.source.kind === 'view' ? map.source.id : map.id, map.dialect, own.rows === 'bag' ? 'all' : steps]);
      keys.set(map, key);
      const used = shared.get(key) ?? new Set<string>();
      for (const name of own.used) used.add(name);
      shared.set(key, used);
    }
    return new Map([...uses].map(([map, { rows }]) => [map, { used: shared.get(keys.get(map) as string) as Set<string>, rows }]));
  }

  /** The rows of a triples map: only what it reads of a view multiplies them. */
  rowsOfMap(map: TriplesMap): NamedRows {
    return this.rowsOf(map.source, map.dialect, this.#uses.get(map) as Uses);
  }

  rowsOf(source: LogicalSource | LogicalView, dialect: Dialect, uses: Uses): NamedRows {
    if (source.kind !== 'view') {
      const rows = this.#builder.scan(source, dialect);
      const [record] = rows.records as [Column];
      return { rows, leaf: (reference, origin) => ({ kind: 'read', origin, record, reference }) };
    }
    const known = this.#views.get(source) ?? new Map<string, NamedRows>();
    this.#views.set(source, known);
    const key = JSON.stringify([dialect, uses.rows, [...uses.used].sort()]);
    const rows = known.get(key) ?? this.#build(source, dialect, uses);
    known.set(key, rows);
    return rows;
  }

  #build(view: LogicalView, dialect: Dialect, uses: Uses): NamedRows {
    const { isWanted, used, joins, ofBase } = needsOf(view, uses);
    const base = this.rowsOf(view.on, dialect, ofBase);
    const leaves = new Map<string, Leaf>();
    const cell = (column: Column, origin: Origin): Leaf => ({ kind: 'cell', origin, column });
    let { rows } = base;
    if (rows.kind === 'scan') leaves.set('#', cell(rows.index, view.origin));
    else if (used.has('#')) {
      const column = this.#builder.column('#');
      rows = { kind: 'number', input: rows, column };
      leaves.set('#', cell(column, view.origin));
    }
    /** Records of which a reference gives one value at most, with their formulations. */
    const records = new Map<Column, Formulation>();
    if (base.rows.kind === 'scan' && base.rows.source.kind === 'file' && base.rows.dialect === 'rml' && !hasSeparators(base.rows.source))
      records.set(base.rows.records[0] as Column, base.rows.source.formulation);
    /** Whether an expression is one reference with at most one value: it needs no separate cell. */
    const isSingle = (expression: Expression): boolean =>
      expression.kind === 'cell' || (expression.kind === 'read' && isSingular(expression.reference, records.get(expression.record)));

    const addFields = (fields: readonly Field[], prefix: string, record: Column | undefined, leaf: LeafOf): void => {
      for (const field of fields) {
        const name = prefix + field.name;
        if (!isWanted(name)) continue;
        const { origin } = field;
        if (field.kind === 'expression') {
          const expression = expressionOf(field.expression, leaf, ofView(view));
          if (field.fields.length === 0 && !used.has(`${name}.#`) && isSingle(expression)) {
            leaves.set(name, expression as Leaf);
            continue;
          }
          const [item, index] = [this.#builder.column(name), this.#builder.column(`${name}.#`)];
          rows = { kind: 'unnest', input: rows, origin, item, index, items: { of: 'values', expression } };
          leaves.set(name, cell(item, origin));
          leaves.set(`${name}.#`, cell(index, origin));
          addFields(field.fields, `${name}.`, item, leaf);
          continue;
        }
        if (record === undefined) throw new Error(`the field ${name} iterates over no record`);
        const [item, index] = [this.#builder.column(name), this.#builder.column(`${name}.#`)];
        const { formulation, iterator } = field;
        rows = { kind: 'unnest', input: rows, origin, item, index, items: { of: 'records', within: record, formulation, iterator } };
        leaves.set(`${name}.#`, cell(index, origin));
        const kind = formulation ?? records.get(record);
        if (kind !== undefined) records.set(item, kind);
        addFields(field.fields, `${name}.`, item, (reference, at) => ({ kind: 'read', origin: at, record: item, reference }));
      }
    };
    addFields(view.fields, '', base.rows.kind === 'scan' ? base.rows.records[0] : undefined, base.leaf);

    /** What is read of a record remembers its field: that is where a missing column is to be mended. */
    const own: LeafOf = (reference, origin) => {
      const leaf = leaves.get(reference) as Leaf;
      return leaf.kind === 'read' ? { ...leaf, origin, field: leaf.field ?? leaf.origin } : { ...leaf, origin };
    };
    for (const { join: of, fields, counts, ofParent } of joins) {
      const { kind: type, origin, parent, conditions } = of;
      const { rows: input, leaf: parentLeaf } = this.rowsOf(parent, dialect, ofParent);
      const ofRow = (expression: MappedExpression): Expression => expressionOf(expression, parentLeaf, ofView(parent));
      const right = this.#builder.side(
        input,
        conditions.map((condition) => ofRow(condition.parent)),
        fields.map(({ name, expression }) => ({ name, value: ofRow(expression) })),
        counts,
      );
      const columns = fields.map(({ name }) => this.#builder.column(name));
      const ordinal = counts ? this.#builder.column('ordinal') : undefined;
      const join: Join = {
        kind: 'join',
        origin,
        type,
        left: rows,
        right,
        columns,
        on: conditions.map((condition, i) => ({
          left: expressionOf(condition.child, own, ofView(view)),
          right: (right.keys[i] as Project['keys'][number]).column,
        })),
        ordinal,
        views: { left: view.name, right: parent.name },
      };
      rows = join;
      for (const [i, { name }] of fields.entries()) {
        leaves.set(name, cell(columns[i] as Column, origin));
        if (ordinal !== undefined) leaves.set(`${name}.#`, cell(ordinal, origin));
      }
    }
    return { rows: withCells(rows, leaves, this.#builder), leaf: own };
  }
}

/**
 * Joined rows do not keep their record: what is read of it becomes a cell before the first join. The leaves change with it.
 */
function withCells(rows: Operator, leaves: Map<string, Leaf>, builder: Builder): Operator {
  const first = firstJoin(rows);
  if (first === undefined) return rows;
  const reads = new Map<string, { readonly column: Column; readonly value: Expression }>();
  const toCell = (leaf: Leaf): Leaf => {
    if (leaf.kind === 'cell') return leaf;
    const key = `${leaf.record.id} ${leaf.reference}`;
    const known = reads.get(key) ?? { column: builder.column(leaf.reference), value: leaf };
    reads.set(key, known);
    return { kind: 'cell', origin: leaf.origin, column: known.column };
  };
  for (const [name, leaf] of leaves) leaves.set(name, toCell(leaf));
  const replaced = (operator: Operator): Operator => {
    if (operator.kind !== 'join') return operator;
    const on = operator.on.map(({ left, right }) => ({ left: replaceLeaves(left, toCell), right }));
    return { ...operator, on, left: operator === first ? operator.left : replaced(operator.left) };
  };
  const changed = replaced(rows);
  const columns = [...reads.values()];
  return columns.length === 0 ? changed : extendedBelow(changed, columns);
}

function extendedBelow(rows: Operator, columns: readonly { readonly column: Column; readonly value: Expression }[]): Operator {
  if (rows.kind !== 'join') return { kind: 'extend', input: rows, columns };
  return { ...rows, left: extendedBelow(rows.left, columns) };
}

function firstJoin(rows: Operator): Join | undefined {
  if (rows.kind !== 'join') return undefined;
  return firstJoin(rows.left) ?? rows;
}

/** Fields have values, and no blank nodes. */
const ofView = ({ id }: LogicalView): RowIdentity => ({ map: id, columns: [] });

/** Equal for steps that multiply the rows of a view alike. */
function nameOfStep(step: Exclude<Operator, Scan>): string {
  switch (step.kind) {
    case 'unnest':
      return step.item.name;
    case 'join':
      return formatOrigin(step.origin);
    default:
      return '';
  }
}

/** Whether a reference finds one node at most: a column, or a path of names. */
const isSingular = (reference: string, formulation: Formulation | undefined): boolean =>
  formulation !== undefined && FORMULATIONS[formulation].isSingle(reference, false);
