/** Documents as text: what is written, and that it is read as the same document in each language (P1). */
import { readFileSync, writeFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { describe, expect } from '@jest/globals';
import { readMapping } from '../../../../src/mapping/parse/read.ts';
import { findingsIn } from '../../../../studio/core/commands/invariants.ts';
import type { Language } from '../../../../studio/core/document.ts';
import { baseOf } from '../../../../studio/core/elements/base.ts';
import { print } from '../../../../studio/core/print/print.ts';
import { read } from '../../../../studio/core/read/read.ts';
import { patternsOf } from '../../../../studio/core/text/patterns.ts';
import { share, sharedTest, test } from '../../../support/jest/extent.ts';
import { Random, soakSeeds } from '../../../support/random.ts';
import { canonical } from '../support/canonical.ts';
import { attribute, edge, entity, input, join, model, reads, template } from '../support/model.ts';
import { randomDocument } from '../support/random-document.ts';

const LANGUAGES = ['rml', 'legacy', 'r2rml', 'yarrrml'] as const satisfies readonly Language[];

/** `UPDATE_GOLDEN=1` rewrites its files. */
const GOLDEN = joinPath(import.meta.dirname, 'golden');

const SHOP = model([
  { kind: 'prefix', id: 'ex', name: 'ex', iri: 'https://example.org/' },
  input('orders', 'json'),
  input('people', 'csv'),
  { ...entity('Order', 'orders', template('https://example.org/order/', 'orders:[*].id')), classes: ['https://example.org/Order'] },
  entity('Product', 'orders', template('https://example.org/product/', 'orders:[*].lines[*].sku')),
  entity('Person', 'people', template('https://example.org/person/', 'people:id')),
  attribute('total', reads('orders:[*].total'), { datatype: 'http://www.w3.org/2001/XMLSchema#decimal' }),
  attribute('loose', reads('orders:[*].id')),
  edge('has-total', 'Order', 'total', 'same', ['https://example.org/total']),
  edge('contains', 'Order', 'Product', 'down', ['https://example.org/contains']),
  edge('customer', 'Order', 'Person', 'join', ['https://example.org/customer']),
  join('by-id', 'customer', ['orders:[*].customerId', 'people:id']),
  edge('incomplete', 'Order', 'loose', 'same', []),
]);

describe('a model of a shop', () => {
  test.each(['rml', 'legacy', 'yarrrml'] as const)('is written as %s', async (language) => {
    const { text, diagnostics } = await print({ ...SHOP, language }, language);
    expect(diagnostics).toEqual([]);
    const file = joinPath(GOLDEN, `shop-${language}.${language === 'yarrrml' ? 'yml' : 'ttl'}`);
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(file, text ?? '');
    expect(text).toBe(readFileSync(file, 'utf8'));
  });

  test('cannot be R2RML, which reads tables alone', async () => {
    const { text, diagnostics } = await print(SHOP, 'r2rml');
    expect(text).toBeUndefined();
    expect(diagnostics.map(({ code }) => code)).toContain('not-supported');
  });

  const pair = attribute('pair', template('a', 'orders:[*].lines[*].sku', 'orders:[*].lines[*].qty'));
  const wide = model([...SHOP.records.values(), pair, edge('pairs', 'Order', 'pair', 'view')]);

  test('has a logical view where several fields of one list are read together', async () => {
    const { text, diagnostics } = await print(wide, 'rml');
    expect(diagnostics).toEqual([]);
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(joinPath(GOLDEN, 'shop-view.ttl'), text ?? '');
    expect(text).toBe(readFileSync(joinPath(GOLDEN, 'shop-view.ttl'), 'utf8'));
  });

  test.each(['legacy', 'yarrrml'] as const)('says where %s has no logical view', async (language) => {
    for (const document of [wide, { ...wide, language }]) {
      const { text, diagnostics } = await print(document, language);
      expect(text).toBeUndefined();
      expect(diagnostics.map(({ message }) => message)).toEqual([
        'pairs cannot be written: it reads several fields of one list together, which a mapping says by a logical view, and only today’s RML has these: save the model as that, or use one field of the list',
      ]);
    }
  });

  test('cannot have blank nodes for each record beside a logical view', async () => {
    const nodes = model([
      input('orders', 'json'),
      entity('Order', 'orders', { kind: 'fresh' }, '[*]'),
      pair,
      edge('pairs', 'Order', 'pair', 'view'),
    ]);
    const { text, diagnostics } = await print(nodes, 'rml');
    expect(text).toBeUndefined();
    expect(diagnostics.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^Order cannot be written: it is new for each record/),
    ]);
  });

  test.each([
    ['rml', /rml:template "https:\/\/example\.org\/line\/\{id\}-\{lines\.sku\}"/],
    ['legacy', /rr:template "https:\/\/example\.org\/line\/\{\$\^\^\.id\}-\{\$\.sku\}"/],
    ['yarrrml', /https:\/\/example\.org\/line\/\$\(\$\^\^\.id\)-\$\(\$?\.?sku\)/],
  ] as const)('identifies lines by a field of their order: %s', async (language, written) => {
    const line = entity('Line', 'orders', template('https://example.org/line/', 'orders:[*].id', '-', 'orders:[*].lines[*].sku'));
    const { text, diagnostics } = await print(model([input('orders', 'json'), line], { language }), language);
    expect(diagnostics).toEqual([]);
    expect(text).toMatch(written);
  });
});

describe.each(LANGUAGES)('random documents in %s', (language) => {
  sharedTest.each(share(15, soakSeeds(1, 300)))('are read as they were written: seed %i', async (seed) => {
    const document = randomDocument(new Random(seed), language);
    expect(findingsIn(document)).toEqual([]);
    const { text = '', diagnostics } = await print(document, language);
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    const again = await read(text, language);
    expect(again.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(canonical(again.document)).toEqual(canonical(document));
    expect(again.document.text.text).toBe(text);
  });
});

describe('documents of legacy RML', () => {
  sharedTest.each(share(10, soakSeeds(1, 200)))('say the same in YARRRML (P10): seed %i', async (seed) => {
    const document = randomDocument(new Random(seed), 'legacy');
    const texts = await Promise.all([print(document, 'legacy'), print(document, 'yarrrml')]);
    const [legacy, yarrrml] = await Promise.all(
      texts.map(({ text = '' }, i) =>
        readMapping([{ name: ['a.ttl', 'a.yml'][i] as string, text }], { baseIri: baseOf('legacy', undefined) }),
      ),
    );
    expect(patternsOf((yarrrml as NonNullable<typeof yarrrml>).mapping)).toEqual(
      patternsOf((legacy as NonNullable<typeof legacy>).mapping),
    );
  });
});
