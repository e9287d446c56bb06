/** Property values in the driver's types. */
import neo4j from 'neo4j-driver';
import { type Temporal, temporal } from '../../property-graph/temporal.ts';
import { type Property, type PropertyValue, textOf, valuesOf } from '../../property-graph/values.ts';

/** For a parameter of a statement: the driver sends a bigint as an integer and a number as a float. */
export function toBolt(property: Property): unknown {
  return Array.isArray(property) ? property.map(valueToBolt) : valueToBolt(property as PropertyValue);
}

const valueToBolt = (value: PropertyValue): unknown => (typeof value === 'object' ? temporalToBolt(value) : value);

function temporalToBolt({ kind, fields }: Temporal): unknown {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = fields;
  switch (kind) {
    case 'date':
      return new neo4j.types.Date(a, b, c);
    case 'localDateTime':
      return new neo4j.types.LocalDateTime(a, b, c, d, e, f, g);
    case 'dateTime':
      return new neo4j.types.DateTime(a, b, c, d, e, f, g, h);
    case 'localTime':
      return new neo4j.types.LocalTime(a, b, c, d);
    case 'time':
      return new neo4j.types.Time(a, b, c, d, e);
    case 'duration':
      return new neo4j.types.Duration(a, b, c, d);
  }
}

/** The values of a property from the server. Types that we do not write, such as points, are returned as text. */
export function fromBolt(stored: unknown): readonly PropertyValue[] {
  return (Array.isArray(stored) ? stored : [stored]).map(valueFromBolt);
}

function valueFromBolt(stored: unknown): PropertyValue {
  if (typeof stored === 'string' || typeof stored === 'bigint' || typeof stored === 'number' || typeof stored === 'boolean') return stored;
  if (neo4j.isDate(stored as object)) return fields('date', stored, ['year', 'month', 'day']);
  if (neo4j.isLocalDateTime(stored as object)) return fields('localDateTime', stored, DATE_TIME);
  if (neo4j.isDateTime(stored as object)) {
    const { timeZoneOffsetSeconds, timeZoneId } = stored as { timeZoneOffsetSeconds?: bigint; timeZoneId?: string };
    // Values written by us have no zone names.
    if (timeZoneOffsetSeconds === undefined || timeZoneId !== undefined) return String(stored);
    return fields('dateTime', stored, [...DATE_TIME, 'timeZoneOffsetSeconds']);
  }
  if (neo4j.isLocalTime(stored as object)) return fields('localTime', stored, TIME);
  if (neo4j.isTime(stored as object)) return fields('time', stored, [...TIME, 'timeZoneOffsetSeconds']);
  if (neo4j.isDuration(stored as object)) return fields('duration', stored, ['months', 'days', 'seconds', 'nanoseconds']);
  return String(stored);
}

const TIME = ['hour', 'minute', 'second', 'nanosecond'] as const;
const DATE_TIME = ['year', 'month', 'day', ...TIME] as const;

const fields = (kind: Temporal['kind'], stored: unknown, names: readonly string[]): Temporal =>
  temporal(
    kind,
    names.map((name) => Number((stored as Readonly<Record<string, unknown>>)[name])),
  );

/** Whether both have the same values of the same types, in any order. */
export function isSame(a: Property, stored: unknown): boolean {
  const [left, right] = [valuesOf(a), fromBolt(stored)];
  if (left.length !== right.length || Array.isArray(a) !== Array.isArray(stored)) return false;
  const known = new Set(right.map(identity));
  return left.every((value) => known.has(identity(value)));
}

const identity = (value: PropertyValue): string => `${typeof value === 'object' ? value.kind : typeof value} ${textOf(value)}`;
