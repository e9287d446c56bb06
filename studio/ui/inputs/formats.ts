/** What a file is read as, by its name. */
import { formatOfPath } from '../../../src/core/input/formats.ts';
import type { Format } from '../../core/document.ts';
import { formatOfInput } from '../../core/read/inputs.ts';

export const FORMATS: readonly (readonly [format: Format, name: string])[] = [
  ['csv', 'CSV'],
  ['json', 'JSON'],
  ['jsonl', 'JSON Lines'],
  ['xml', 'XML'],
  ['xlsx', 'XLSX'],
  ['ods', 'ODS'],
  ['parquet', 'Parquet'],
];

export interface ReadAs {
  readonly format: Format;
  readonly delimiter?: string;
}

/** undefined: the ending says nothing. */
export function readAs(name: string): ReadAs | undefined {
  const named = formatOfPath(name);
  return named && { format: formatOfInput(named), ...(named === 'tsv' && { delimiter: '\t' }) };
}

/** The last segment of an address, as the name of an input. */
export const nameOfAddress = (address: string): string => {
  const last = address
    .replace(/[?#].*$/, '')
    .split(/[/\\]/)
    .findLast((segment) => segment !== '');
  try {
    return decodeURIComponent(last ?? address);
  } catch {
    return last ?? address;
  }
};

/** The first table that a query names; entities are named after it. */
export const nameOfQuery = (query: string): string => /\bfrom\s+(?:[^\s(,]+\.)?["`[]?(\w+)/i.exec(query)?.[1] ?? 'query';

/** `orders.json`, `orders-2.json` where that is taken. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  const [, stem = name, ending = ''] = /^(.*?)(\.[^.]+)?$/.exec(name) ?? [];
  for (let number = 2; ; number++) {
    const next = `${stem}-${number}${ending}`;
    if (!taken.has(next)) return next;
  }
}
