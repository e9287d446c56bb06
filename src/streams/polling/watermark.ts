/** The largest value of a column that grows with each change, and from where the next read begins. Pure text. */
import { excerpt, Fault } from '../../core/fault.ts';
import { XSD } from '../../core/value.ts';
import type { Column, Product } from '../../sql/database.ts';

/** What the values of such a column are. */
export type Growing = 'number' | 'date' | 'time';

const KINDS: Readonly<Record<string, Growing>> = {
  [`${XSD}integer`]: 'number',
  [`${XSD}decimal`]: 'number',
  [`${XSD}date`]: 'date',
  [`${XSD}dateTime`]: 'time',
};

/** undefined: its values do not grow in an order that the text of a value tells without loss. */
export const growingOf = ({ datatype, elements }: Column): Growing | undefined =>
  datatype === undefined || elements !== undefined ? undefined : KINDS[datatype];

/** Seconds by which transactions may commit late, where the mapping does not say it. A number has no unit that would say it. */
const USUAL_OVERLAP = { number: 0, date: 60, time: 60 } as const;
/** MySQL's TIMESTAMP shows a text for two instants in the hour that a time zone has twice. */
const TWICE_SECONDS = 3600;

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?$/;
const DATE = /^(\d{4}-\d\d-\d\d)$/;
const TIME = /^(\d{4}-\d\d-\d\d)([ T])(\d\d:\d\d)(:\d\d)?(\.\d+)?(Z|[+-]\d\d(?::?\d\d){0,2})?$/;

/** @param overlap what the mapping says, in seconds or units */
export function overlapOf({ exact }: Column, growing: Growing, product: Product, overlap: number | undefined): number {
  const isTwice = growing === 'time' && !exact && (product === 'mysql' || product === 'mariadb');
  return (overlap ?? USUAL_OVERLAP[growing]) + (isTwice ? TWICE_SECONDS : 0);
}

/**
 * The value that is `overlap` below the largest one, in the form of the server.
 *
 * @param largest the server's text
 * @returns undefined: it would be in a year below 1, so all rows are read
 * @throws Fault database/query — `largest` is no value from which a read can begin: it is infinite, or of another type
 */
export function beginOf(largest: string, growing: Growing, overlap: number, column: string): string | undefined {
  if (growing === 'number') {
    const [, sign = '', whole, fraction = ''] = NUMBER.exec(largest) ?? [];
    if (whole === undefined) throw notGrowing(largest, column, 'a number');
    const scale = 10n ** BigInt(fraction.length);
    const value = BigInt(`${sign}${whole}${fraction}`) - BigInt(overlap) * scale;
    const digits = String(value < 0n ? -value : value).padStart(fraction.length + 1, '0');
    const point = digits.length - fraction.length;
    return `${value < 0n ? '-' : ''}${digits.slice(0, point)}${fraction === '' ? '' : `.${digits.slice(point)}`}`;
  }
  const [, day, between = '', minutes = '00:00', seconds = '', fraction = '', zone = ''] =
    (growing === 'date' ? DATE : TIME).exec(largest) ?? [];
  const at = day === undefined ? Number.NaN : Date.parse(`${day}T${minutes}${seconds || ':00'}Z`);
  if (Number.isNaN(at)) throw notGrowing(largest, column, growing === 'date' ? 'a date' : 'a date and time');
  const text = new Date(at - overlap * 1000).toISOString();
  if (!/^(?!0000)\d/.test(text)) return undefined;
  const date = text.slice(0, 10);
  // Without seconds, a minute that has begun is one earlier: texts of SQLite are compared as texts.
  return growing === 'date' ? date : `${date}${between}${text.slice(11, seconds === '' ? 16 : 19)}${fraction}${zone}`;
}

function notGrowing(text: string, column: string, what: string): Fault {
  const value = excerpt(text.replace(/^\0./, ''));
  return new Fault('database/query', `The largest value of ${column} is ${value}, which is not ${what} from which a read can begin`, {
    place: { expression: column, value },
    hint: 'qms:changedSince needs a column of dates, times or numbers that grows with each change of a row: correct the row, or name another column',
  });
}
