/** Expressions of a mapping: what they refer to, what they are made of, and their text for people. */
import { type AnyMap, type Expression, mapsIn, type Origin, type TermMaps, withMembers } from './model.ts';

/** Every expression over the rows of a triples map. */
export const expressionsOf = (map: TermMaps): readonly Expression[] => mapsIn(map).flatMap(ownExpressions);

/** Every expression of a term map, and of the members that it gathers. */
export const expressionsOfMap = (map: AnyMap): readonly Expression[] => withMembers(map).flatMap(ownExpressions);

function ownExpressions(map: AnyMap): readonly Expression[] {
  if (map.kind !== 'term') return map.conditions.map(({ child }) => child);
  const { expression, language, datatype } = map;
  return [expression, ...(language === undefined ? [] : [language]), ...(datatype === undefined ? [] : [datatype.expression])];
}

/** The expressions that an expression is made of. */
export function partsOf(expression: Expression): readonly Expression[] {
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
      return partsOf(expression).flatMap(referencesOf);
  }
}

/** Whether each row has a value of its own, also beside a row with the same contents. */
export const isOfRow = (expression: Expression): boolean =>
  expression.kind === 'fresh' || (expression.kind === 'call' && !expression.execution.deterministic) || partsOf(expression).some(isOfRow);

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
      return callText(expression.execution.function, partsOf(expression).map(expressionText));
    case 'conditional':
      return conditionalText(expressionText(expression.value), expressionText(expression.condition));
  }
}

/** Of the same parts in a plan, too. */
export const FRESH_TEXT = '(a blank node for each record)';
export const callText = (iri: string, inputs: readonly string[]): string => `${iri.replace(/^.*[/#]/, '')}(${inputs.join(', ')})`;
export const conditionalText = (value: string, condition: string): string => `${value} if ${condition}`;
