/** Commands on inputs. */
import { describe, expect, test } from '@jest/globals';
import { addInput, relocateInput, removeInput, setDialect, setGrouping } from '../../../../studio/core/commands/elements/inputs.ts';
import { input, model } from '../support/model.ts';
import { perform } from '../support/perform.ts';
import { SHOP_RECORDS, shop } from '../support/shop.ts';

const FILE = { kind: 'file', path: 'more.csv' } as const;

describe('add-input', () => {
  test('adds a grouped input', () => {
    const { added, said } = perform(shop(), addInput, { name: 'more.csv', location: FILE, format: 'csv', nulls: ['-'] });
    expect(added).toMatchObject([{ kind: 'input', name: 'more.csv', format: 'csv', grouped: true, nulls: ['-'], namespaces: {} }]);
    expect(said).toBe('Added more.csv');
  });
  test.each([
    ['people.csv', 'There is an input named people.csv already.'],
    [' ', 'An input needs a name.'],
  ])('refuses the name "%s"', (name, refused) =>
    expect(perform(shop(), addInput, { name, location: FILE, format: 'csv' }).refused).toBe(refused),
  );
});

describe('remove-input', () => {
  test('removes an input that nothing reads, with its place', () => {
    const place = { kind: 'place', id: 'place', of: 'free', x: 0, y: 0, open: [], pinned: false } as const;
    const document = model([...SHOP_RECORDS, input('free', 'csv'), place]);
    expect(perform(document, removeInput, { id: 'free' })).toMatchObject({ removed: ['free', 'place'], said: 'Removed free.csv' });
  });
  test('refuses one that is read', () => {
    expect(perform(shop(), removeInput, { id: 'people' }).refused).toBe('people.csv is read by Person, city. Remove them first.');
    expect(perform(shop(), removeInput, { id: 'Order' }).refused).toBe('This element is not in the model any more.');
  });
});

describe('relocate-input', () => {
  test('reads it from elsewhere, in a format with the same paths', () => {
    const { changed } = perform(shop(), relocateInput, { id: 'people', location: FILE, name: 'all.xlsx', format: 'xlsx' });
    expect(changed).toMatchObject([{ id: 'people', location: FILE, name: 'all.xlsx', format: 'xlsx' }]);
  });
  test('forgets the delimiter of a file that is no CSV any more', () => {
    const document = model([{ ...input('free', 'csv'), dialect: { delimiter: ';' } }]);
    expect(perform(document, relocateInput, { id: 'free', location: FILE, format: 'json' }).changed[0]).not.toHaveProperty('dialect');
  });
  test('refuses a format in which its fields have no paths, and the name of another input', () => {
    expect(perform(shop(), relocateInput, { id: 'people', location: FILE, format: 'json' }).refused).toBe(
      'The fields of people.csv have no paths in the format json.',
    );
    expect(perform(shop(), relocateInput, { id: 'people', location: FILE, name: 'orders.json' }).refused).toBe(
      'There is an input named orders.json already.',
    );
  });
});

describe('set-grouping (R5)', () => {
  test('switches the view, and leaves elements as they are', () => {
    const { changed, said } = perform(shop(), setGrouping, { id: 'orders', grouped: false });
    expect(changed).toMatchObject([{ id: 'orders', grouped: false }]);
    expect(said).toBe('Grouping of orders.json is off');
    expect(perform(shop(), setGrouping, { id: 'orders', grouped: true }).changed).toEqual([]);
  });
  test.each([
    ['csv', 'flat.csv is flat: every row is one object already.'],
    ['sql', 'flat.sql is flat: every row is one object already.'],
    ['ods', 'flat.ods is flat: every row is one object already.'],
    ['parquet', 'flat.parquet is read record by record: no path leads to one record alone.'],
  ] as const)('refuses %s', (format, refused) =>
    expect(perform(model([input('flat', format)]), setGrouping, { id: 'flat', grouped: false }).refused).toBe(refused),
  );
  test.each(['json', 'jsonl', 'xml'] as const)('allows %s', (format) =>
    expect(perform(model([input('tree', format)]), setGrouping, { id: 'tree', grouped: false }).refused).toBeUndefined(),
  );
});

describe('set-dialect', () => {
  test('sets and removes it', () => {
    const set = perform(shop(), setDialect, { id: 'people', dialect: { delimiter: ';' } });
    expect(set.changed).toMatchObject([{ id: 'people', dialect: { delimiter: ';' } }]);
    expect(perform(set.document, setDialect, { id: 'people', dialect: undefined }).changed[0]).not.toHaveProperty('dialect');
  });
  test('refuses what is no CSV, and an empty delimiter', () => {
    expect(perform(shop(), setDialect, { id: 'orders', dialect: {} }).refused).toBe('orders.json is no CSV file: it has no delimiter.');
    expect(perform(shop(), setDialect, { id: 'people', dialect: { delimiter: '' } }).refused).toBe(
      'A delimiter has one character at least.',
    );
  });
});
