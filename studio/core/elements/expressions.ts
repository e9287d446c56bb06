/** Expressions: the fields that they read, and what they are called. */
import type { Expression, FieldRef } from '../document.ts';
import { fieldName } from './path-text.ts';

/** The fields that an expression reads, in its order. */
export function fieldsOf(expression: Expression): readonly FieldRef[] {
  switch (expression.kind) {
    case 'field':
      return [expression.ref];
    case 'template':
      return expression.parts.filter((part) => typeof part !== 'string');
    case 'call':
      return expression.arguments.flatMap(({ value }) => fieldsOf(value));
    case 'constant':
    case 'written':
    case 'fresh':
      return [];
  }
}

/** The expression with other fields in their places. */
export function mapFields(expression: Expression, of: (ref: FieldRef) => FieldRef): Expression {
  switch (expression.kind) {
    case 'field':
      return { kind: 'field', ref: of(expression.ref) };
    case 'template':
      return { kind: 'template', parts: expression.parts.map((part) => (typeof part === 'string' ? part : of(part))) };
    case 'call': {
      const given = expression.arguments.map(({ parameter, value }) => ({ parameter, value: mapFields(value, of) }));
      return { ...expression, arguments: given };
    }
    case 'constant':
    case 'written':
    case 'fresh':
      return expression;
  }
}

/** Whether the value is the same for every record. */
export function isConstant(expression: Expression): boolean {
  switch (expression.kind) {
    case 'constant':
      return true;
    case 'template':
      return expression.parts.every((part) => typeof part === 'string');
    case 'call':
      return expression.arguments.every(({ value }) => isConstant(value));
    case 'field':
    case 'written':
    case 'fresh':
      return false;
  }
}

/** The expression as a person reads it: `total`, `order/{id}`, `toUpperCase(name)`. */
export function expressionText(expression: Expression): string {
  switch (expression.kind) {
    case 'field':
      return fieldName(expression.ref.path);
    case 'template':
      return expression.parts.map((part) => (typeof part === 'string' ? part : `{${fieldName(part.path)}}`)).join('');
    case 'constant':
      return expression.value;
    case 'call':
      return `${expression.function.replace(/^.*[/#]/, '')}(${expression.arguments.map(({ value }) => expressionText(value)).join(', ')})`;
    case 'written':
      return expression.text;
    case 'fresh':
      return 'blank node';
  }
}

/** Whether two expressions give the same value. */
export const sameExpression = (a: Expression, b: Expression): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Adds a field at the end of a template; another expression becomes a template if it is a field or a constant. */
export function appended(expression: Expression, ref: FieldRef): Expression | undefined {
  switch (expression.kind) {
    case 'template':
      return { kind: 'template', parts: [...expression.parts, ref] };
    case 'field':
      return { kind: 'template', parts: [expression.ref, ' ', ref] };
    case 'constant':
      return { kind: 'template', parts: [expression.value, ref] };
    case 'call':
    case 'written':
    case 'fresh':
      return undefined;
  }
}
