/** Time zones: offsets such as `+02:00`, and names of the IANA database such as `Europe/Brussels`. */
import { excerpt } from '../../core/fault.ts';
import { DataError } from '../definition.ts';
import { epochMs, localMs, type Moment, momentAt, readOffset } from './moment.ts';

const clocks = new Map<string, Intl.DateTimeFormat>();

/** @throws DataError — no such zone */
function clockOf(zone: string): Intl.DateTimeFormat {
  const known = clocks.get(zone);
  if (known !== undefined) return known;
  try {
    const fields = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' } as const;
    const made = new Intl.DateTimeFormat('en-u-ca-iso8601', { timeZone: zone, hourCycle: 'h23', era: 'short', ...fields });
    clocks.set(zone, made);
    return made;
  } catch {
    throw new DataError(`${excerpt(zone)} is not a time zone`, 'Expected an offset such as +02:00, Z, or a name such as Europe/Brussels.');
  }
}

const FIXED = /^(?:Z|UTC|GMT)$|^(?:UTC|GMT)?([+-]\d\d?(?::?\d\d)?)$/i;

/** Minutes east of UTC that the zone has at an instant. @throws DataError */
export function offsetAt(zone: string, ms: number): number {
  const fixed = FIXED.exec(zone.trim());
  if (fixed !== null) return fixed[1] === undefined ? 0 : readOffset(fixed[1]);
  const parts: Record<string, number> = {};
  let isBefore = false;
  for (const { type, value } of clockOf(zone.trim()).formatToParts(ms)) {
    if (type === 'era') isBefore = value.startsWith('B');
    else parts[type] = Number(value);
  }
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  const shown = { year: isBefore ? 1 - year : year, month, day, hour, minute, second, fraction: '', offset: undefined, hasTime: true };
  return Math.round((localMs(shown) - Math.floor(ms / 1000) * 1000) / 60_000);
}

/** The same local time with the offset that the zone has then. In a gap or an overlap: the offset before the change. */
export function inZone(moment: Moment, zone: string): Moment {
  const local = localMs(moment);
  const first = offsetAt(zone, local - offsetAt(zone, local) * 60_000);
  const before = offsetAt(zone, local - first * 60_000 - 3_600_000 * 3);
  const offset = offsetAt(zone, local - before * 60_000) === before ? before : first;
  return { ...moment, offset };
}

/** The same instant, as clocks of the zone show it. A moment without offset counts as UTC. */
export function toZone(moment: Moment, zone: string): Moment {
  const ms = epochMs(moment);
  const moved = momentAt(ms, offsetAt(zone, ms));
  return { ...moved, fraction: moment.fraction };
}
