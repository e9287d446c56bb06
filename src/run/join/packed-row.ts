/**
 * Rows as text: how the sides of a join are stored.
 *
 * A row is the texts of its cells, one after the other, each `<tag><length>:<text>`. Tags: `n` no value, `t` a text, `v` a value with its
 * datatype and spelling, `l` a list of values.
 */
import { TypedValue, type Value, type Values } from '../../core/value.ts';

/** Values, or encoded terms. */
export type Cell = Values;

export const packRow = (cells: readonly Cell[]): string => cells.map(packCell).join('');

function packCell(cell: Cell): string {
  if (cell === null) return 'n0:';
  if (typeof cell === 'string') return `t${cell.length}:${cell}`;
  if (Array.isArray(cell)) {
    const items = cell.map(packCell).join('');
    return `l${items.length}:${items}`;
  }
  const { text, datatype, written } = cell as TypedValue;
  const parts = packRow([text, datatype, written]);
  return `v${parts.length}:${parts}`;
}

/** @param row made by `packRow` */
export function unpackRow(row: string): Cell[] {
  const cells: Cell[] = [];
  for (let at = 0; at < row.length; ) {
    const colon = row.indexOf(':', at);
    const end = colon + 1 + Number(row.slice(at + 1, colon));
    cells.push(unpackCell(row[at] as string, row.slice(colon + 1, end)));
    at = end;
  }
  return cells;
}

function unpackCell(tag: string, text: string): Cell {
  switch (tag) {
    case 'n':
      return null;
    case 't':
      return text;
    case 'l':
      return unpackRow(text) as Value[];
    default: {
      const [value, datatype, written] = unpackRow(text) as [string, string, string];
      return new TypedValue(value, datatype, written);
    }
  }
}
