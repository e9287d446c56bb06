/** Functions around values: of identifiers, of attributes, and of the keys of joins. */
import type { Argument, Expression, Id, Join, StudioDocument } from '../../document.ts';
import { fieldsOf, sameExpression } from '../../elements/expressions.ts';
import { localName, nameOf } from '../../elements/names.ts';
import { recordOf, withRecords } from '../../elements/records.ts';
import { absolute, isRefusal, type Refusal, refuse } from '../../rules/verdict.ts';
import { type Command, changedIn, selected } from '../command.ts';
import { fitsJoin } from '../settle.ts';
import { valued } from './attributes.ts';
import { identified } from './entities.ts';

/** A value: of an entity or attribute, or one side of a condition of a join, by its position. */
export interface ValueOf {
  readonly of: Id;
  readonly condition?: { readonly index: number; readonly side: 'child' | 'parent' };
}

export interface ApplyFunction extends ValueOf {
  /** IRIs of the function and of the parameter that takes the value. */
  readonly function: string;
  readonly parameter: string;
  readonly others: readonly Argument[];
  readonly returns?: string;
}

const hasValue = selected('Select an entity, an attribute or an edge first.', ['entity', 'attribute', 'edge', 'join']);

/** Puts a function around a value. */
export const applyFunction: Command<ApplyFunction> = {
  name: 'apply-function',
  label: (_, { function: iri }) => `Add the function ${localName(iri)}`,
  role: 'operator',
  enabled: hasValue,
  perform(document, { function: iri, parameter, others, returns, ...target }) {
    const value = valueOf(document, target);
    if (isRefusal(value)) return value;
    const wrong = absolute([iri, parameter, ...others.map((one) => one.parameter), ...(returns === undefined ? [] : [returns])]);
    if (wrong !== undefined) return wrong;
    if (value.kind === 'fresh') {
      const name = nameOf(document, target.of);
      return refuse('I2', `${name} is a blank node: a function needs a value.`, [name]);
    }
    const call = [{ parameter, value }, ...others];
    return withValue(document, target, { kind: 'call', function: iri, arguments: call, ...(returns !== undefined && { returns }) });
  },
  said: saidOfFunction,
  recorded: true,
};

/** Takes a function away; what it was given stays: the argument of `parameter`, or the first that reads a field. */
export const removeFunction: Command<ValueOf & { readonly parameter?: string }> = {
  name: 'remove-function',
  label: (document, { of }) => `Remove a function of ${nameOf(document, of)}`,
  role: 'operator',
  enabled: hasValue,
  perform(document, { parameter, ...target }) {
    const value = valueOf(document, target);
    if (isRefusal(value)) return value;
    const name = nameOf(document, target.of);
    if (value.kind !== 'call') return refuse('I1', `${name} has no function.`, [name]);
    const given = value.arguments;
    const kept =
      parameter === undefined
        ? (given.find((one) => fieldsOf(one.value).length > 0) ?? given[0])
        : given.find((one) => one.parameter === parameter);
    if (kept === undefined) return refuse('I1', `The function of ${name} has no argument that could stay.`, [name]);
    return withValue(document, target, kept.value);
  },
  said: saidOfFunction,
  recorded: true,
};

function valueOf(document: StudioDocument, { of, condition }: ValueOf): Expression | Refusal {
  const record = document.records.get(of);
  if (record?.kind === 'entity') return record.identifier;
  if (record?.kind === 'attribute') return record.value;
  const found = record?.kind === 'join' && condition !== undefined ? record.conditions[condition.index]?.[condition.side] : undefined;
  return found ?? refuse('I1', 'This value is not in the model any more.', []);
}

function withValue(document: StudioDocument, { of, condition }: ValueOf, value: Expression): StudioDocument | Refusal {
  const record = document.records.get(of);
  if (record?.kind === 'entity') return identified(document, record, value);
  if (record?.kind === 'attribute') return valued(document, record, value);
  if (record?.kind !== 'join' || condition === undefined) return document;
  return withCondition(document, record, condition, value);
}

function withCondition(
  document: StudioDocument,
  join: Join,
  { index, side }: NonNullable<ValueOf['condition']>,
  value: Expression,
): StudioDocument | Refusal {
  const edge = recordOf(document, 'edge', join.edge);
  const conditions = join.conditions.map((one, i) => (i === index ? { ...one, [side]: value } : one));
  const changed = conditions[index];
  if (edge === undefined || changed === undefined) return document;
  const isTwice = conditions.some(
    (one, i) => i !== index && sameExpression(one.child, changed.child) && sameExpression(one.parent, changed.parent),
  );
  if (isTwice) {
    const name = nameOf(document, edge.id);
    return refuse('I4', `${name} has this condition already.`, [name]);
  }
  return fitsJoin(document, edge, changed) ?? withRecords(document, [{ ...join, conditions }]);
}

function saidOfFunction(before: StudioDocument, after: StudioDocument): string {
  const [record] = changedIn(before, after);
  return record === undefined ? 'Nothing changed' : `The value is now ${nameOf(after, record.id)}`;
}
