/** A model of a shop: nested JSON and XML, grouped and not, and flat files. */
import type { Element, StudioDocument } from '../../../../studio/core/document.ts';
import { attribute, constant, edge, entity, input, model, reads, schema, template } from './model.ts';

export const SHOP_SCHEMA = schema({
  orders: [
    '[*].id',
    '[*].total',
    '[*].customerId',
    '[*].customer{}',
    '[*].customer.name',
    '[*].customer.city',
    '[*].lines[]',
    '[*].lines[*]{}',
    '[*].lines[*].sku',
    '[*].lines[*].qty',
    '[*].lines[*].taxes[]',
    '[*].lines[*].taxes[*].rate',
    '[*].payments[]',
    '[*].payments[*].amount',
    '[*].tags[]',
    '[*].tags[*]',
  ],
  people: ['id', 'name', 'city'],
  parts: ['parts.part[]', 'parts.part[*].@id', 'parts.part[*].bolt[]', 'parts.part[*].bolt[*].@size'],
});

export const SHOP_RECORDS: readonly Element[] = [
  input('orders', 'json'),
  input('people', 'csv'),
  input('parts', 'xml'),
  // Grouped.
  entity('Order', 'orders', template('https://example.org/order/', 'orders:[*].id')),
  entity('Invoice', 'orders', template('https://example.org/invoice/', 'orders:[*].id')),
  entity('Customer', 'orders', template('https://example.org/customer/', 'orders:[*].customer.name')),
  entity('Line', 'orders', template('https://example.org/line/', 'orders:[*].id', '-', 'orders:[*].lines[*].sku')),
  entity('Payment', 'orders', template('https://example.org/payment/', 'orders:[*].payments[*].amount')),
  entity('Shop', 'orders', constant('https://example.org/shop')),
  entity('Person', 'people', template('https://example.org/person/', 'people:id')),
  entity('Part', 'parts', template('https://example.org/part/', 'parts:parts.part[*].@id')),
  entity('Bolt', 'parts', template('https://example.org/bolt/', 'parts:parts.part[*].bolt[*].@size')),
  // Ungrouped.
  entity('First', 'orders', template('https://example.org/order/', 'orders:[0].id')),
  entity('Third', 'orders', template('https://example.org/order/', 'orders:[2].id')),
  entity('FirstLine', 'orders', template('https://example.org/line/', 'orders:[0].lines[0].sku')),
  entity('SecondLine', 'orders', template('https://example.org/line/', 'orders:[0].lines[1].sku')),
  entity('FirstPayment', 'orders', template('https://example.org/payment/', 'orders:[0].payments[0].amount')),
  // Attributes.
  attribute('total', reads('orders:[*].total')),
  attribute('sku', reads('orders:[*].lines[*].sku')),
  attribute('amount', reads('orders:[*].payments[*].amount')),
  attribute('city', reads('people:city')),
  attribute('firstTotal', reads('orders:[0].total')),
  attribute('thirdTotal', reads('orders:[2].total')),
  attribute('link', template('https://example.org/', 'orders:[*].id'), { termType: 'iri' }),
  attribute('currency', constant('EUR')),
  edge('has-total', 'Order', 'total'),
  edge('has-sku', 'Line', 'sku', 'view'),
  edge('has-city', 'Person', 'city'),
];

export const shop = (more: Partial<StudioDocument> = {}): StudioDocument => model(SHOP_RECORDS, more);
