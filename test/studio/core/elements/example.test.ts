import { describe, expect, test } from '@jest/globals';
import type { Expression, FieldRef, TermType } from '../../../../studio/core/document.ts';
import { exampleOf } from '../../../../studio/core/elements/example.ts';
import { fieldsByPath, type Schema } from '../../../../studio/core/elements/schema.ts';

const ref = (name: string): FieldRef => ({ input: 'i', path: [{ each: true }, { name }] });
const sample = (examples: readonly string[]) =>
  ({ kind: 'text', objects: 2, values: 2, missing: 0, distinct: 2, isDistinctCut: false, examples }) as const;
const schema: Schema = new Map([
  [
    'i',
    fieldsByPath([
      { path: ref('id').path, holds: 'value', sample: { ...sample(['1001', '1002']), items: new Map([['1', '1002']]) } },
      { path: ref('name').path, holds: 'value', sample: sample(['Zoë & co/1']) },
      { path: ref('empty').path, holds: 'value', sample: sample([]) },
      { path: ref('long').path, holds: 'value', sample: sample(['x'.repeat(500)]) },
    ]),
  ],
]);
const template = (...parts: readonly (string | FieldRef)[]): Expression => ({ kind: 'template', parts });

describe('the live example of an expression', () => {
  test.each<readonly [string, Expression, TermType, string | undefined]>([
    ['a field', { kind: 'field', ref: ref('id') }, 'literal', '1001'],
    ['a constant', { kind: 'constant', value: 'x' }, 'literal', 'x'],
    ['a template of an IRI encodes', template('https://e.org/', ref('name')), 'iri', 'https://e.org/Zoë%20%26%20co%2F1'],
    ['a template of a URI has ASCII alone', template('https://e.org/', ref('name')), 'uri', 'https://e.org/Zo%C3%AB%20%26%20co%2F1'],
    ['a template of a literal is plain', template(ref('id'), ': ', ref('name')), 'literal', '1001: Zoë & co/1'],
    ['a field of one object', { kind: 'field', ref: { input: 'i', path: [{ index: 1 }, { name: 'id' }] } }, 'literal', '1002'],
    ['one that was not read', { kind: 'field', ref: { input: 'i', path: [{ index: 7 }, { name: 'id' }] } }, 'literal', undefined],
    ['a field without samples', { kind: 'field', ref: ref('unknown') }, 'literal', undefined],
    ['a template with an empty field', template('a', ref('empty')), 'iri', undefined],
    ['a function', { kind: 'call', function: 'https://e.org/f', arguments: [] }, 'literal', undefined],
    ['a blank node', { kind: 'fresh' }, 'blank', undefined],
  ])('%s', (_, expression, termType, expected) => {
    expect(exampleOf(schema, expression, termType)).toBe(expected);
  });

  test('a long value is cut', () => {
    expect(exampleOf(schema, { kind: 'field', ref: ref('long') }, 'literal')).toBe(`${'x'.repeat(200)}…`);
  });
});
