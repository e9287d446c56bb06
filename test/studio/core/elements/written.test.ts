/** Templates as a person writes them. */
import { expect } from '@jest/globals';
import type { FieldRef, Path, StudioDocument } from '../../../../studio/core/document.ts';
import { fieldsByPath } from '../../../../studio/core/elements/schema.ts';
import { fieldNames, readTemplate, templateText } from '../../../../studio/core/elements/written.ts';
import { test } from '../../../support/jest/extent.ts';

const each = { each: true } as const;
const PATHS: readonly Path[] = [
  [each, { name: 'id' }],
  [each, { name: 'lines' }, each, { name: 'id' }],
  [each, { name: 'lines' }, each, { name: 'sku' }],
];
const schema = new Map([['i', fieldsByPath(PATHS.map((path) => ({ path, holds: 'value' as const })))]]);
const document: StudioDocument = { records: new Map(), language: 'rml', expert: false, text: { text: '', anchors: new Map() } };
const names = fieldNames(document, schema, 'i');
const ref = (index: number): FieldRef => ({ input: 'i', path: PATHS[index] as Path });

test('fields have the shortest names that tell them apart', () => {
  expect(names.names).toEqual(['id', 'lines.id', 'sku']);
  for (const [index, name] of names.names.entries()) expect(names.refOf(name)).toEqual(ref(index));
  expect(names.refOf('lines.sku')).toEqual(ref(2));
});

test('what is written is read as it was shown', () => {
  const parts = ['https://example.org/{x}\\', ref(0), '-', ref(1)];
  const text = templateText(parts, names);
  expect(text).toBe('https://example.org/\\{x\\}\\\\{id}-{lines.id}');
  expect(readTemplate(text, names)).toEqual({ kind: 'template', parts });
  expect(readTemplate('https://example.org/a', names)).toEqual({ kind: 'constant', value: 'https://example.org/a' });
});

test('unknown fields and open braces are said', () => {
  expect(readTemplate('order/{idd}', names)).toEqual({ unknown: 'idd' });
  expect(readTemplate('order/{id', names)).toEqual({ brace: true });
  expect(readTemplate('order/id}', names)).toEqual({ brace: true });
});
