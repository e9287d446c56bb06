/** Several commands as one step. */
import { expect, test } from '@jest/globals';
import { connect } from '../../../../studio/core/commands/edges/connect.ts';
import { call, together } from '../../../../studio/core/commands/together.ts';
import { begin, perform as performIn, undo } from '../../../../studio/core/history/history.ts';
import { isRefusal } from '../../../../studio/core/rules/verdict.ts';
import { element, field } from '../support/model.ts';
import { perform } from '../support/perform.ts';
import { SHOP_SCHEMA, shop } from '../support/shop.ts';

const drag = (...fields: readonly string[]) =>
  together(
    'Connect fields to Order',
    'Connected fields to Order',
    fields.map((one) => call(connect, { schema: SHOP_SCHEMA, from: field(one), to: element('Order') })),
  );

test('two fields that are dragged onto an entity are two attributes and one step', () => {
  const session = begin(shop());
  const done = performIn(session, drag('orders:[*].id', 'orders:[*].customerId'), undefined, () => []);
  if (isRefusal(done)) throw new Error(done.sentence);
  expect(done.said).toBe('Connected fields to Order');
  expect(done.session.document.records.size).toBe(session.document.records.size + 4);
  expect(done.session.done.map(({ label }) => label)).toEqual(['Connect fields to Order']);
  expect(undo(done.session).document).toEqual(session.document);
});

test('one that is refused refuses all', () => {
  const outcome = perform(shop(), drag('orders:[*].id', 'people:name'), undefined);
  expect(outcome.refused).toMatch(/^name is in people\.csv/);
  expect(outcome.document.records.size).toBe(shop().records.size);
});
