/**
 * PostgreSQL's value texts → the canonical lexical forms of XML Schema. All texts are one-byte UTF-8; no digit goes through a number.
 *
 * The texts follow the session's settings: DateStyle ISO, IntervalStyle iso_8601, bytea_output hex, extra_float_digits 3.
 *
 * @see https://www.w3.org/TR/r2rml/#natural-mapping and https://www.w3.org/TR/xmlschema11-2/
 */
import { excerpt, Fault } from '../../core/fault.ts';
import { fromBytes } from '../../core/text.ts';
import { canonicalDecimal, canonicalDouble } from '../numbers.ts';

export const readBoolean = (text: string): string => (text === 't' ? 'true' : 'false');

/** `\xc3a9` → `C3A9`. */
export const readBytea = (text: string): string => text.slice(2).toUpperCase();

export function readNumeric(text: string): string {
  if (text.charCodeAt(text.length - 1) > 57) throw outside(text, 'is no xsd:decimal');
  return canonicalDecimal(text);
}

const SPECIAL: Readonly<Record<string, string>> = { NaN: 'NaN', Infinity: 'INF', '-Infinity': '-INF' };

export const readFloat = (text: string): string => canonicalDouble(text) ?? SPECIAL[text] ?? text;

/** `0044-03-15 BC` → `-0043-03-15`: XML Schema 1.1 has a year 0000, which is 1 BC. */
export function readDate(text: string): string {
  if (text.length === 10 && text.charCodeAt(4) === 45) return text;
  const [, year, rest, era] = /^(\d{4,})(-\d\d-\d\d)( BC)?$/.exec(text) ?? [];
  if (year === undefined) throw outside(text, 'is no xsd:date');
  return yearOf(year, era) + rest;
}

function yearOf(year: string, era: string | undefined): string {
  if (era === undefined) return year;
  const before = String(Number(year) - 1).padStart(4, '0');
  return before === '0000' ? before : `-${before}`;
}

export function readTimetz(text: string): string {
  const [, time, zone] = /^([\d:.]+)([+-][\d:]+)$/.exec(text) ?? [];
  if (time === undefined) throw outside(text, 'is no xsd:time');
  return time + readZone(zone as string, text);
}

const TIMESTAMP = /^(\d{4,})(-\d\d-\d\d) ([\d:.]+)([+-][\d:]+)?( BC)?$/;

export function readTimestamp(text: string): string {
  if (text.charCodeAt(4) === 45 && text.charCodeAt(10) === 32 && text.charCodeAt(text.length - 1) <= 57)
    return `${text.slice(0, 10)}T${text.slice(11)}`;
  return readLongTimestamp(text);
}

/** `2024-02-29 12:00:00+00` → `2024-02-29T12:00:00Z`. */
export function readTimestamptz(text: string): string {
  if (text.charCodeAt(4) === 45 && text.endsWith('+00')) return `${text.slice(0, 10)}T${text.slice(11, -3)}Z`;
  return readLongTimestamp(text);
}

function readLongTimestamp(text: string): string {
  const [, year, day, time, zone, era] = TIMESTAMP.exec(text) ?? [];
  if (year === undefined) throw outside(text, 'is no xsd:dateTime');
  return `${yearOf(year, era)}${day}T${time}${zone === undefined ? '' : readZone(zone, text)}`;
}

/** `+00` → `Z`, `+02` → `+02:00`. Zones before 1900 may have seconds, which XML Schema lacks. */
function readZone(zone: string, text: string): string {
  const [, sign, hours, minutes = '00', seconds = '00'] = /^([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?$/.exec(zone) ?? [];
  if (seconds !== '00' || hours === undefined || Number(hours) + Number(minutes) / 60 > 14)
    throw outside(text, 'has a time zone that XML Schema does not have', "Write AT TIME ZONE 'UTC' in a query");
  return hours === '00' && minutes === '00' ? 'Z' : `${sign}${hours}:${minutes}`;
}

const INTERVAL = /^P(?:(-?\d+)Y)?(?:(-?\d+)M)?(?:(-?\d+)D)?(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?\d+)(?:\.(\d+))?S)?)?$/;

/**
 * `P1Y13MT36H` → `P2Y1M1DT12H`: normalised to months and seconds, as in XML Schema.
 *
 * @see https://www.w3.org/TR/xmlschema11-2/#f-durationCanMap
 */
export function readInterval(text: string): string {
  const found = INTERVAL.exec(text);
  if (found === null) throw outside(text, 'is no xsd:duration');
  const signs = new Set(text.match(/-?\d+(?:\.\d+)?/g)?.map((part) => (/[1-9]/.test(part) ? part.startsWith('-') : undefined)));
  if (signs.has(true) && signs.has(false)) throw outside(text, 'has parts of both signs, and an xsd:duration has one sign');
  const size = (group: number): bigint => BigInt((found[group] ?? '0').replace('-', ''));
  const months = size(1) * 12n + size(2);
  const seconds = ((size(3) * 24n + size(4)) * 60n + size(5)) * 60n + size(6);
  return (signs.has(true) ? '-' : '') + durationOf(months, seconds, (found[7] ?? '').replace(/0+$/, ''));
}

function durationOf(months: bigint, seconds: bigint, fraction: string): string {
  const part = (value: bigint, unit: string): string => (value === 0n ? '' : `${value}${unit}`);
  const inMinute = `${seconds % 60n}${fraction === '' ? '' : `.${fraction}`}`;
  const time = part((seconds / 3600n) % 24n, 'H') + part((seconds / 60n) % 60n, 'M') + (inMinute === '0' ? '' : `${inMinute}S`);
  const day = part(months / 12n, 'Y') + part(months % 12n, 'M') + part(seconds / 86_400n, 'D');
  if (day === '' && time === '') return 'PT0S';
  return `P${day}${time === '' ? '' : `T${time}`}`;
}

function outside(text: string, what: string, hint = 'Write CAST(… AS text) in a query to keep it as text'): Fault {
  const value = excerpt(fromBytes(text));
  return new Fault('record/term', `${value} ${what}`, { place: { value }, hint });
}

/**
 * The non-null elements of an array's text, in order; nested arrays are flattened.
 *
 * `{1,NULL,"a \"b\""}`, or with unusual bounds `[0:1]={1,2}`.
 *
 * @see https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO
 */
export function readArray(text: string, delimiter: string): readonly string[] {
  const separator = delimiter.charCodeAt(0);
  const elements: string[] = [];
  let at = text.indexOf('{');
  while (at < text.length) {
    const c = text.charCodeAt(at);
    if (c === OPEN || c === CLOSE || c === separator) {
      at++;
    } else if (c === QUOTE) {
      let end = at + 1;
      while (text.charCodeAt(end) !== QUOTE) end += text.charCodeAt(end) === BACKSLASH ? 2 : 1;
      elements.push(text.slice(at + 1, end).replace(/\\(.)/gs, '$1'));
      at = end + 1;
    } else {
      let end = at;
      while (end < text.length && text.charCodeAt(end) !== CLOSE && text.charCodeAt(end) !== separator) end++;
      const element = text.slice(at, end);
      if (element !== 'NULL') elements.push(element);
      at = end;
    }
  }
  return elements;
}

const OPEN = 123;
const CLOSE = 125;
const QUOTE = 34;
const BACKSLASH = 92;
