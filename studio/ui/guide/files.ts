/** The files of the guided example. */
const ORDERS = [
  {
    id: 1001,
    date: '2026-01-12',
    total: 31.5,
    customer: 1,
    lines: [
      { sku: 'A7', qty: 2, price: 9.5 },
      { sku: 'B2', qty: 1, price: 12.5 },
    ],
  },
  { id: 1002, date: '2026-01-13', total: 9.5, customer: 2, lines: [{ sku: 'A7', qty: 1, price: 9.5 }] },
  {
    id: 1003,
    date: '2026-01-15',
    total: 37.5,
    customer: 1,
    lines: [
      { sku: 'B2', qty: 1, price: 12.5 },
      { sku: 'C4', qty: 5, price: 5 },
    ],
  },
];

const PEOPLE = 'id,name,city\n1,Ada,Zürich\n2,Grace,New York\n';

export interface ExampleFile {
  readonly name: string;
  readonly format: 'json' | 'csv';
  readonly content: string;
}

export const EXAMPLE_FILES: readonly ExampleFile[] = [
  { name: 'example-orders.json', format: 'json', content: `${JSON.stringify(ORDERS, undefined, 2)}\n` },
  { name: 'example-people.csv', format: 'csv', content: PEOPLE },
];
