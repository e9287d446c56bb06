/** Views of a text of YARRRML: the canvas does not draw what reads them. It stays text, and drawing changes what stands beside it. */
import { beforeAll, expect } from '@jest/globals';
import { COMMANDS } from '../../../../studio/core/commands/all.ts';
import { recordsOf } from '../../../../studio/core/elements/records.ts';
import { looksLikeYarrrml } from '../../../../studio/core/read/language.ts';
import { loadPatch } from '../../../../studio/core/text/yarrrml/patch.ts';
import { test } from '../../../support/jest/extent.ts';
import { changesOf, idOf, opened, textAfter } from '../support/patching.ts';

beforeAll(loadPatch);

const VIEWS = `views:
  # lines of orders
  lines:
    source: ['orders.json~jsonpath', '$[*]']
    fields:
      order: $($.id)
      line: # each
        iterator: $.lines[*]
        fields: { sku: $($.sku), count: $($.count) }
prefixes:
  ex: https://example.org/
mappings:
  line:
    sources: lines
    s: ex:order/$(order)/$(line.sku)
    po:
      - [ex:count, $(line.count)]
`;
const BESIDE = `  person:
    sources: [[people.csv~csv]]
    s: ex:person/$(id)
    po:
      - [ex:name, $(name)]
`;

test('a mapping beside views is drawn and changed, and the views stay', async () => {
  const document = await opened(VIEWS + BESIDE);
  expect(recordsOf(document, 'entity').map(({ name }) => name)).toEqual(['person']);
  expect(recordsOf(document, 'text').map(({ reason }) => reason)).toEqual(['Kept as text: a logical view of YARRRML']);
  const edge = idOf(document, 'edge', 'name');
  const text = textAfter(document, COMMANDS['set-predicates'], { edge, predicates: ['https://example.org/label'] });
  expect(changesOf(VIEWS + BESIDE, text)).toEqual(['-       - [ex:name, $(name)]', '+       - [ex:label, $(name)]']);
});

test('a text of views alone is YARRRML, and all of it is kept', async () => {
  expect(looksLikeYarrrml(VIEWS.slice(0, VIEWS.indexOf('prefixes')))).toBe(true);
  const document = await opened(VIEWS);
  expect([document.language, recordsOf(document, 'entity')]).toEqual(['yarrrml', []]);
  expect(document.text.text).toBe(VIEWS);
});
