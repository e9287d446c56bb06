import { describe, expect, test } from '@jest/globals';
import type { TemplatePart } from '../../../../src/mapping/model/model.ts';
import { parseValue, valueOf } from '../../../../src/mapping/yarrrml/value.ts';
import { Random } from '../../../support/random.ts';

describe('parts that are written as a value', () => {
  test('are read again, whatever characters they have', () => {
    const random = new Random(14);
    const characters = ['a', '\\', '(', ')', '$', ':', '_', '{', '}', '~', ' '];
    const text = (): string => Array.from({ length: random.between(1, 5) }, () => random.pick(characters)).join('');
    for (let i = 0; i < 5000; i++) {
      const parts: TemplatePart[] = [];
      for (let count = random.between(1, 4); count > 0; count--) {
        const isReference = random.chance(0.5) || parts.at(-1)?.kind === 'text';
        const found = text();
        if (!isReference) parts.push({ kind: 'text', text: found });
        else if (found.trim() !== '') parts.push({ kind: 'reference', reference: found });
      }
      expect(parseValue(valueOf(parts), new Map())).toEqual({ kind: 'parts', parts });
    }
  });
});

test.each<[value: string, references: readonly string[], texts: string]>([
  ['$(Name (en))', ['Name (en)'], ''],
  ['$(Name (en)) and $(id)', ['Name (en)', 'id'], ' and '],
  ['($(id))', ['id'], '()'],
  ["$(concat(a, ')', text()))", ["concat(a, ')', text())"], ''],
  ["$(driver's (name))", ["driver's (name)"], ''],
  ['$(a\\(b) and c)', ['a(b'], ' and c)'],
  ['$(a\\)b)', ['a)b'], ''],
  ['$(a(b)', ['a(b'], ''],
  ["$(a's) and $(b's)", ["a's", "b's"], ' and '],
])('%s refers to %j', (value, references, texts) => {
  const parsed = parseValue(value, new Map());
  const parts = parsed.kind === 'parts' ? parsed.parts : [];
  expect(parts.flatMap((part) => (part.kind === 'reference' ? [part.reference] : []))).toEqual(references);
  expect(parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')).toBe(texts);
});
