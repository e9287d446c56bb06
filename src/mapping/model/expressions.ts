/** Expressions of a mapping: what they refer to, what they are made of, and their text for people. */
import type { Expression, Origin, TriplesMap } from './model.ts';

/** What of a triples map refers to its records. */
export interface TermMaps extends Pick<TriplesMap, 'predicateObjects'> {
  /** undefined: it is not valid. */
  readonly subject: TriplesMap['subject'] | undefined;
}

/** Every expression over the rows of a triples map. */
export function* expressionsOf({ subject, predicateObjects }: TermMaps): Iterable<Expression> {
  const subjects = subject === undefined ? [] : [subject];
  const objects = [...subjects, ...predicateObjects.flatMap((one) => one.objects)];
  const maps = [
    ...subjects.flatMap(({ classes, graphs }) => [...classes, ...graphs]),
    ...predicateObjects.flatMap(({ predicates, graphs }) => [...predicates, ...graphs]),
    ...objects.filter((map) => map.kind === 'term'),
  ];
  for (const { expression, language, datatype } of maps) {
    yield expression;
    if (language !== undefined) yield language;
    if (datatype !== undefined) yield datatype.expression;
  }
  for (const map of objects) if (map.kind !== 'term') for (const { child } of map.conditions) yield child;
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
