/**
 * Patterns of dates as Java's `DateTimeFormatter` has them, which IDLab's functions take, and as `strptime` has them.
 *
 * A pattern becomes a regular expression for reading and a list of fields for writing. Reading is more lenient than Java's: case does not
 * matter, and names of months may end with a point or not. `Y`, Java's year of the week, is taken as `y`: people write it by mistake.
 *
 * @see https://docs.oracle.com/en/java/javase/21/docs/api/java.base/java/time/format/DateTimeFormatter.html#patterns
 */
import { excerpt } from '../../core/fault.ts';
import { DataError } from '../definition.ts';
import { checked, isLeap, localMs, MIDNIGHT, type Moment, momentAt, offsetText, readOffset, trimmed, yearText } from './moment.ts';
import { dayNames, monthNames } from './names.ts';
import { inZone } from './zone.ts';

interface Field {
  readonly letter: string;
  readonly count: number;
}
export type Part = Field | { readonly literal: string } | { readonly bracket: '[' | ']' };

interface Reader {
  readonly regex: RegExp;
  readonly fields: readonly Field[];
}

const MOST = 500;
const parsed = new Map<string, readonly Part[]>();
const readers = new Map<string, Reader>();

function kept<V>(cache: Map<string, V>, key: string, make: () => V): V {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const made = make();
  if (cache.size >= MOST) cache.clear();
  cache.set(key, made);
  return made;
}

const KNOWN = /^[yuYMLdDEaHkhKmsSXxZzVOQG]$/;

/** `%Y-%m-%d` → `yyyy-M-d`. */
const STRPTIME: Readonly<Record<string, string>> = {
  Y: 'yyyy',
  y: 'yy',
  m: 'M',
  d: 'd',
  H: 'H',
  I: 'h',
  M: 'm',
  S: 's',
  f: 'SSSSSS',
  b: 'MMM',
  B: 'MMMM',
  a: 'EEE',
  A: 'EEEE',
  p: 'a',
  j: 'DDD',
  z: 'XX',
  Z: 'z',
  '%': '%',
};

function fromStrptime(pattern: string): string {
  return pattern.replace(/%(.)|([^%]+)/gs, (_, directive: string | undefined, literal: string | undefined) => {
    if (literal !== undefined) return `'${literal.replaceAll("'", "''")}'`;
    const letters = directive === undefined ? undefined : STRPTIME[directive];
    if (letters === undefined) throw new DataError(`The pattern ${excerpt(pattern)} has %${directive}, which is not known`);
    return letters;
  });
}

/** The fields and literals of a pattern, in their order. @throws DataError */
export function partsOf(pattern: string): readonly Part[] {
  return kept(parsed, pattern, () => {
    const java = pattern.includes('%') ? fromStrptime(pattern) : pattern;
    const parts: Part[] = [];
    for (const [text, quoted, letters] of java.matchAll(/'((?:[^']|'')*)'|([A-Za-z])\2*|[^]/g)) {
      if (quoted !== undefined) parts.push({ literal: quoted === '' ? "'" : quoted.replaceAll("''", "'") });
      else if (letters !== undefined) {
        if (!KNOWN.test(letters))
          throw new DataError(`The pattern ${excerpt(pattern)} has the letter ${letters}, which is not supported`, HINT);
        parts.push({ letter: letters, count: text.length });
      } else if (text === '[' || text === ']') parts.push({ bracket: text });
      else parts.push({ literal: text });
    }
    return parts;
  });
}

const HINT = "Letters are y M d H m s S a E D X z V, as in Java; other letters stand between apostrophes, such as 'T'.";

const quote = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
const NUMERIC = /^[yuYdDHkhKmsS]$/;
const isNumeric = (part: Part | undefined): boolean =>
  part !== undefined && 'letter' in part && (NUMERIC.test(part.letter) || (/[ML]/.test(part.letter) && part.count < 3));

function alternatives(names: readonly (readonly string[])[]): string {
  const all = [...new Set(names.flat().flatMap((name) => [name, name.replace(/\.$/, '')]))].sort((a, b) => b.length - a.length);
  return all.map((name) => `${quote(name)}${name.endsWith('.') ? '' : '\\.?'}`).join('|');
}

function source({ letter, count }: Field, isNextNumeric: boolean, language: string): string {
  switch (letter) {
    case 'y':
    case 'u':
    case 'Y':
      if (count === 2) return '\\d{2}';
      return isNextNumeric ? `\\d{${Math.max(count, 4)}}` : count < 4 ? '-?\\d{1,6}' : `[+-]?\\d{${count},6}`;
    case 'M':
    case 'L':
      return count < 3 ? digits(count) : alternatives(monthNames(language));
    case 'E':
      return alternatives(dayNames(language));
    case 'a':
      return 'a\\.?m\\.?|p\\.?m\\.?';
    case 'S':
      return count === 6 ? '\\d{1,9}' : `\\d{${count}}`;
    case 'D':
      return count === 1 ? '\\d{1,3}' : `\\d{${count}}`;
    case 'X':
    case 'x':
    case 'Z':
      return 'Z|(?:GMT|UTC)?[+-]\\d\\d?(?::?\\d\\d)?(?::?\\d\\d)?';
    case 'O':
      return 'GMT(?:[+-]\\d\\d?(?::?\\d\\d)?)?';
    case 'z':
    case 'V':
      return '(?:GMT|UTC)?[+-]\\d\\d?(?::?\\d\\d)?|[A-Za-z][A-Za-z0-9_/+-]*';
    default:
      return digits(count);
  }
}

const digits = (count: number): string => (count === 1 ? '\\d{1,2}' : `\\d{${count}}`);

function readerOf(pattern: string, language: string): Reader {
  return kept(readers, `${language} ${pattern}`, () => {
    const parts = partsOf(pattern);
    const fields: Field[] = [];
    let text = '';
    parts.forEach((part, i) => {
      if ('bracket' in part) text += part.bracket === '[' ? '(?:' : ')?';
      else if ('literal' in part) text += quote(part.literal);
      else {
        fields.push(part);
        text += `(${source(part, isNumeric(parts[i + 1]), language)})`;
      }
    });
    try {
      return { regex: new RegExp(`^${text}$`, 'i'), fields };
    } catch {
      throw new DataError(`The pattern ${excerpt(pattern)} is not well-formed`, 'Each [ needs a ].');
    }
  });
}

/** Whether dates can be read by a pattern. @throws DataError */
export const checkDatePattern = (pattern: string): unknown => readerOf(pattern, 'en');

/** Whether dates can be written by a pattern. @throws DataError */
export const checkWrittenPattern = (pattern: string): unknown => partsOf(pattern);

/**
 * Reads a date by a pattern. Fields that the pattern lacks are the first of their range: `yyyy` gives the first of January.
 *
 * @param language BCP 47, for names of months and days
 * @throws DataError
 */
export function readByPattern(text: string, pattern: string, language = 'en'): Moment {
  const { regex, fields } = readerOf(pattern, language);
  const match = regex.exec(text.trim());
  if (match === null) throw new DataError(`${excerpt(text)} does not have the form ${excerpt(pattern)}`, HINT);
  let [year, month, day] = [1970, 1, 1];
  const time: { hour: number; minute: number; second: number; fraction: string; offset: number | undefined } = { ...MIDNIGHT };
  let dayOfYear: number | undefined;
  let half: number | undefined;
  let zone: string | undefined;
  let hasTime = false;
  fields.forEach(({ letter, count }, i) => {
    const found = match[i + 1];
    if (found === undefined) return;
    const number = Number(found);
    if (/[HkhKmsSa]/.test(letter)) hasTime = true;
    switch (letter) {
      case 'y':
      case 'u':
      case 'Y':
        year = count === 2 ? 2000 + number : number;
        break;
      case 'M':
      case 'L':
        month = count < 3 ? number : indexOfName(monthNames(language), found) + 1;
        break;
      case 'd':
        day = number;
        break;
      case 'D':
        dayOfYear = number;
        break;
      case 'H':
      case 'K':
        time.hour = number;
        break;
      case 'h':
        time.hour = number === 12 ? 0 : number;
        break;
      case 'k':
        time.hour = number === 24 ? 0 : number;
        break;
      case 'a':
        half = /^p/i.test(found) ? 12 : 0;
        break;
      case 'm':
        time.minute = number;
        break;
      case 's':
        time.second = number;
        break;
      case 'S':
        time.fraction = trimmed(found);
        break;
      case 'X':
      case 'x':
      case 'Z':
      case 'O':
        time.offset = readOffset(found.replace(/^(GMT|UTC)/i, ''));
        break;
      case 'z':
      case 'V':
        zone = found;
        break;
    }
  });
  if (half !== undefined) time.hour = (time.hour % 12) + half;
  if (dayOfYear !== undefined) {
    if (dayOfYear < 1 || dayOfYear > (isLeap(year) ? 366 : 365)) throw new DataError(`${excerpt(text)} has a field out of its range`);
    const date = momentAt(localMs({ year, month: 1, day: 1, ...MIDNIGHT, hasTime }) + (dayOfYear - 1) * 86_400_000, undefined);
    month = date.month;
    day = date.day;
  }
  const moment = checked({ year, month, day, ...time, hasTime }, text);
  return zone === undefined ? moment : inZone(moment, zone);
}

const plain = (name: string): string => name.toLowerCase().replace(/\.$/, '');

function indexOfName(names: readonly (readonly string[])[], found: string): number {
  return names.findIndex((forms) => forms.some((form) => plain(form) === plain(found)));
}

/** Writes a moment by a pattern. @throws DataError */
export function writeByPattern(moment: Moment, pattern: string, language = 'en'): string {
  return partsOf(pattern)
    .map((part) => ('literal' in part ? part.literal : 'bracket' in part ? '' : field(part, moment, language)))
    .join('');
}

function field({ letter, count }: Field, moment: Moment, language: string): string {
  const { year, month, day, hour, minute, second, fraction, offset } = moment;
  const number = (value: number): string => String(value).padStart(count, '0');
  switch (letter) {
    case 'y':
    case 'u':
    case 'Y':
      return count === 2 ? String(((year % 100) + 100) % 100).padStart(2, '0') : count < 4 ? String(year) : yearText(year);
    case 'M':
    case 'L': {
      const [long = '', short = '', standalone = ''] = monthNames(language)[month - 1] ?? [];
      return count < 3 ? number(month) : count === 3 ? short : letter === 'L' ? standalone : long;
    }
    case 'Q':
      return number(Math.ceil(month / 3));
    case 'd':
      return number(day);
    case 'D':
      return number(
        Math.round((localMs({ ...moment, ...MIDNIGHT }) - localMs({ ...moment, month: 1, day: 1, ...MIDNIGHT })) / 86_400_000) + 1,
      );
    case 'E':
    case 'e': {
      const [long = '', short = ''] = dayNames(language)[new Date(localMs(moment)).getUTCDay()] ?? [];
      return count > 3 ? long : short;
    }
    case 'a':
      return hour < 12 ? 'AM' : 'PM';
    case 'H':
      return number(hour);
    case 'k':
      return number(hour === 0 ? 24 : hour);
    case 'K':
      return number(hour % 12);
    case 'h':
      return number(hour % 12 === 0 ? 12 : hour % 12);
    case 'm':
      return number(minute);
    case 's':
      return number(second);
    case 'S':
      return fraction.slice(0, count).padEnd(count, '0');
    case 'G':
      return year > 0 ? 'AD' : 'BC';
    default: {
      if (offset === undefined)
        throw new DataError(`${excerpt(yearText(year))}… has no time zone`, 'Give a date with an offset, or a zone.');
      const isLong = letter === 'X' || letter === 'x' ? count >= 3 : letter !== 'Z' || count >= 4;
      if (letter === 'X' || letter === 'z' || letter === 'V') return offsetText(offset, isLong ? ':' : '');
      return offset === 0 ? `+00${isLong ? ':' : ''}00` : offsetText(offset, isLong ? ':' : '');
    }
  }
}
