/** What a file is read as, by its name. */
import type { Format } from '../../core/document.ts';

export const FORMATS: readonly (readonly [format: Format, name: string])[] = [
  ['csv', 'CSV'],
  ['json', 'JSON'],
  ['jsonl', 'JSON Lines'],
  ['xml', 'XML'],
  ['xlsx', 'XLSX'],
  ['ods', 'ODS'],
  ['parquet', 'Parquet'],
];

const ENDINGS: Readonly<Record<string, Format>> = {
  csv: 'csv',
  tsv: 'csv',
  json: 'json',
  geojson: 'json',
  jsonl: 'jsonl',
  ndjson: 'jsonl',
  xml: 'xml',
  xlsx: 'xlsx',
  xlsm: 'xlsx',
  ods: 'ods',
  parquet: 'parquet',
};
/** The service unpacks them by their names. */
const PACKED: ReadonlySet<string> = new Set(['gz', 'zip']);

export interface ReadAs {
  readonly format: Format;
  readonly delimiter?: string;
}

/** undefined: the ending says nothing. */
export function readAs(name: string): ReadAs | undefined {
  const endings = name
    .replace(/[?#].*$/, '')
    .toLowerCase()
    .split('.')
    .slice(1);
  const ending = endings.findLast((one) => !PACKED.has(one)) ?? '';
  const format = ENDINGS[ending];
  return format && { format, ...(ending === 'tsv' && { delimiter: '\t' }) };
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
