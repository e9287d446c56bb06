/** Expressions of a mapping: what they refer to, what they are made of, and their text for people. */
import {
  type AnyMap,
  type Expression,
  type Field,
  type FileSource,
  type LookUpTable,
  type Mapping,
  mapsIn,
  type Origin,
  type TermMaps,
  viewsOf,
} from './model.ts';

/** Every expression over the rows of a triples map. */
export const expressionsOf = (map: TermMaps): readonly Expression[] => mapsIn(map).flatMap(ownExpressions);

function ownExpressions(map: AnyMap): readonly Expression[] {
  if (map.kind !== 'term') return map.conditions.map(({ child }) => child);
  const { expression, language, datatype } = map;
  return [expression, ...(language === undefined ? [] : [language]), ...(datatype === undefined ? [] : [datatype.expression])];
}

/** The tables in which functions of a mapping look values up, one for each call. */
export const tablesOf = (mapping: Mapping): readonly LookUpTable[] => allExpressions(mapping).flatMap(tablesIn);

function tablesIn(expression: Expression): readonly LookUpTable[] {
  const own = expression.kind === 'call' ? expression.execution.inputs.flatMap(({ table }) => table ?? []) : [];
  return [...own, ...childExpressions(expression).flatMap(tablesIn)];
}

/** Every expression of a mapping, both sides of joins and the fields of views included. */
function allExpressions(mapping: Mapping): readonly Expression[] {
  const ofFields = (fields: readonly Field[]): readonly Expression[] =>
    fields.flatMap((field) => [...(field.kind === 'expression' ? [field.expression] : []), ...ofFields(field.fields)]);
  const maps = mapping.triplesMaps.flatMap(mapsIn);
  const joins = [...viewsOf(mapping)].flatMap((view) => view.joins);
  const conditions = [...maps.flatMap((map) => (map.kind === 'term' ? [] : map.conditions)), ...joins.flatMap((join) => join.conditions)];
  return [
    ...maps.flatMap(ownExpressions),
    ...conditions.flatMap(({ child, parent }) => [child, parent]),
    ...[...viewsOf(mapping)].flatMap(({ fields }) => ofFields(fields)),
    ...joins.flatMap(({ fields }) => fields.map(({ expression }) => expression)),
  ];
}

/** Identifies a file in the place of the argument that names it: the same path means another file in another document. */
export const fileKey = ({ origin: { document }, path, sheet }: FileSource): string => JSON.stringify([document, path, sheet]);

/** The expressions that an expression is made of. */
function childExpressions(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'call':
      return expression.execution.inputs.map(({ value }) => value);
    case 'conditional':
      return [expression.condition, expression.value];
    default:
      return [];
  }
}

export interface PlacedReference {
  readonly reference: string;
  readonly origin: Origin;
}

/** What an expression refers to, in order; what stands twice comes twice. */
export function referencesOf(expression: Expression): readonly PlacedReference[] {
  const { origin } = expression;
  switch (expression.kind) {
    case 'reference':
      return [{ reference: expression.reference, origin }];
    case 'template':
      return expression.parts.flatMap((part) => (part.kind === 'reference' ? [{ reference: part.reference, origin }] : []));
    default:
      return childExpressions(expression).flatMap(referencesOf);
  }
}

/** Whether each row has another value, even if its contents equal those of another row. */
export const isOfRow = (expression: Expression): boolean =>
  expression.kind === 'fresh' ||
  (expression.kind === 'call' && !expression.execution.deterministic) ||
  childExpressions(expression).some(isOfRow);

/** An expression as the mapping writes it, for messages. */
export function expressionText(expression: Expression): string {
  switch (expression.kind) {
    case 'constant':
      return JSON.stringify(expression.term.value);
    case 'reference':
      return expression.reference;
    case 'template':
      return expression.parts.map((part) => (part.kind === 'text' ? part.text : `{${part.reference}}`)).join('');
    case 'fresh':
      return FRESH_TEXT;
    case 'call':
      return callText(expression.execution.function, childExpressions(expression).map(expressionText));
    case 'conditional':
      return conditionalText(expressionText(expression.value), expressionText(expression.condition));
  }
}

/** Of the same parts in a plan, too. */
export const FRESH_TEXT = '(a blank node for each record)';
export const callText = (iri: string, inputs: readonly string[]): string => `${iri.replace(/^.*[/#]/, '')}(${inputs.join(', ')})`;
export const conditionalText = (value: string, condition: string): string => `${value} if ${condition}`;
