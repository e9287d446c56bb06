/** Columns of DuckDB: natural datatypes, and the canonical forms of the texts that DuckDB makes of values. */
import { excerpt, Fault } from '../../../core/fault.ts';
import { fromBytes } from '../../../core/text.ts';
import type { Column } from '../../database.ts';
import { canonicalDecimal, canonicalDouble } from '../../numbers.ts';
import { readDate, readInterval, readTimestamp, readTimestamptz, readTimetz } from '../../postgresql/values.ts';
import { type Natural, naturalColumn, partly, plain, typed } from '../../result/natural.ts';
import type { EngineColumn } from '../engine.ts';
import { type Kind, kindOf } from './kinds.ts';

/**
 * Types that `=` converts before it compares them have no family, as the conversion may fail or lose digits: integers of more than 64 bits,
 * times of other units than microseconds. Floats have none because -0 equals 0.
 */
const NATURAL: Readonly<Record<Kind, Natural>> = {
  varchar: plain('text', true),
  integer: typed('number', 'integer', true),
  hugeint: typed('other', 'integer', true),
  decimal: typed('number', 'decimal', true, canonicalDecimal),
  double: typed('other', 'double', false, doubleOf),
  boolean: typed('boolean', 'boolean', true),
  date: partly('date', 'date', true, (text) => readDate(withEra(text))),
  time: typed('time', 'time', true),
  timetz: partly('other', 'time', false, readTimetz),
  timestamp: partly('timestamp', 'dateTime', true, (text) => readTimestamp(withEra(text))),
  timestampOther: partly('other', 'dateTime', true, (text) => readTimestamp(withEra(text))),
  timestamptz: partly('timestamp with time zone', 'dateTime', true, (text) => readTimestamptz(withEra(text))),
  interval: partly('other', 'duration', false, intervalOf),
  uuid: plain('uuid', true),
  blob: typed('binary', 'hexBinary', true),
  name: plain('other', true),
  json: plain('other', false),
  text: plain('other', false),
};

/** @see https://www.w3.org/TR/r2rml/#natural-mapping */
export function columnOf({ name, type = '' }: EngineColumn): Column {
  const kind = kindOf(type);
  const natural = NATURAL[kind];
  return naturalColumn(name, type, kind === 'decimal' && !isCompared(type) ? { ...natural, family: 'other' } : natural);
}

/** 20 digits of an integer and all decimals of the column fit into the 38 digits of the type to which `=` converts both. */
function isCompared(type: string): boolean {
  const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(type) ?? [];
  return Number(precision) <= 18 && Number(scale) <= 18;
}

function doubleOf(text: string): string {
  if (text === 'inf' || text === '-inf') return text === 'inf' ? 'INF' : '-INF';
  return text === 'nan' || text === '-nan' ? 'NaN' : (canonicalDouble(text) ?? text);
}

/** `0044-03-15 (BC) 12:00:00` → `0044-03-15 12:00:00 BC`, as PostgreSQL writes it. */
const withEra = (text: string): string => (text.includes(' (BC)') ? `${text.replace(' (BC)', '')} BC` : text);

const INTERVAL = /^(?:(-?\d+) years? ?)?(?:(-?\d+) months? ?)?(?:(-?\d+) days? ?)?(?:(-?)(\d+):(\d\d):(\d\d(?:\.\d+)?))?$/;

/** `1 year 3 days -01:02:03.5` → an xsd:duration, by way of `P1Y3DT-1H-2M-3.5S`. */
function intervalOf(text: string): string {
  const found = INTERVAL.exec(text);
  if (found === null)
    throw new Fault('record/term', `${excerpt(fromBytes(text))} is no xsd:duration`, { place: { value: excerpt(fromBytes(text)) } });
  const [, years = 0, months = 0, days = 0, sign = '', hours = 0, minutes = 0, seconds = 0] = found;
  return readInterval(`P${years}Y${months}M${days}DT${sign}${hours}H${sign}${minutes}M${sign}${seconds}S`);
}
