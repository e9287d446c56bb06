/** The rows of a query as one JSON object: `columns`, `rows` (one object per row), `rowCount`, `truncated`. */
import { toBytes } from '../../core/text.ts';
import { TypedValue } from '../../core/value.ts';
import type { Column } from '../database.ts';
import { distinctLabels, type ResultWriter, textOf, unlessOutside } from './result.ts';

/**
 * Numbers keep all digits of the database, so a reader with 64-bit floats may round them. Booleans are booleans, arrays are arrays (without
 * NULLs), everything else is its canonical text; so are numbers that JSON lacks (NaN).
 */
export function jsonResult(columns: readonly Column[]): ResultWriter {
  const labels = distinctLabels(columns);
  const described = columns.map(({ type }, i) => JSON.stringify({ name: labels[i], type }));
  const members = labels.map((label, i) => `${i === 0 ? '' : ','}${toBytes(JSON.stringify(label))}:`);
  const values = columns.map(valueWriter);
  return {
    head: toBytes(`{"columns":[${described.join(',')}],"rows":[`),
    row: (cells, first) => {
      let text = first ? '\n{' : ',\n{';
      for (let i = 0; i < members.length; i++) {
        const cell = cells[i] ?? null;
        text += (members[i] as string) + (cell === null ? 'null' : (values[i] as (cell: string) => string)(cell));
      }
      return `${text}}`;
    },
    end: ({ rowCount, truncated }) => `${rowCount === 0 ? '' : '\n'}],"rowCount":${rowCount},"truncated":${truncated}}\n`,
  };
}

/** A value's text → its JSON, both one-byte UTF-8: JSON.stringify escapes only ASCII, so bytes are kept. */
function valueWriter(column: Column): (text: string) => string {
  const { elements, value: valueOf } = column;
  const bare = bareValues(column.datatype);
  const one = (text: string): string => {
    if (valueOf !== undefined) {
      const value = unlessOutside(() => valueOf(text));
      if (value instanceof TypedValue) return bareValues(value.datatype)?.test(value.text) ? value.text : JSON.stringify(value.text);
    }
    const value = textOf(column, text);
    return bare?.test(value) ? value : JSON.stringify(value);
  };
  if (elements === undefined) return one;
  return (text) => {
    const texts = unlessOutside(() => elements(text));
    return texts === undefined ? JSON.stringify(text) : `[${texts.map(one).join(',')}]`;
  };
}

const XSD = 'http://www.w3.org/2001/XMLSchema#';
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
const BOOLEAN = /^(?:true|false)$/;

/** The texts of a datatype that need no quotes; undefined: none. */
function bareValues(datatype: string | undefined): RegExp | undefined {
  switch (datatype) {
    case `${XSD}integer`:
    case `${XSD}decimal`:
    case `${XSD}double`:
      return NUMBER;
    case `${XSD}boolean`:
      return BOOLEAN;
    default:
      return undefined;
  }
}
