/** Names of months and days, by language, as the platform's locales (CLDR) have them. */
import { excerpt } from '../../core/fault.ts';
import { DataError } from '../definition.ts';

type Names = readonly (readonly string[])[];

const months = new Map<string, Names>();
const days = new Map<string, Names>();

function inLanguage(language: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat(`${language.trim().replaceAll('_', '-')}-u-ca-gregory-nu-latn`, { timeZone: 'UTC', ...options });
  } catch {
    throw new DataError(`${excerpt(language)} is not a language`, 'Expected a BCP 47 tag such as "en" or "nl-BE".');
  }
}

function part(format: Intl.DateTimeFormat, type: 'month' | 'weekday', ms: number): string {
  return format.formatToParts(ms).find((one) => one.type === type)?.value ?? '';
}

/** For each month: long, short, and both as they stand alone. @throws DataError — no such language */
export function monthNames(language: string): Names {
  const known = months.get(language);
  if (known !== undefined) return known;
  const within = inLanguage(language, { day: 'numeric', month: 'long' });
  const short = inLanguage(language, { day: 'numeric', month: 'short' });
  const alone = inLanguage(language, { month: 'long' });
  const shortAlone = inLanguage(language, { month: 'short' });
  const names = Array.from({ length: 12 }, (_, month) => {
    const ms = Date.UTC(2023, month, 15);
    return [part(within, 'month', ms), part(short, 'month', ms), part(alone, 'month', ms), part(shortAlone, 'month', ms)];
  });
  months.set(language, names);
  return names;
}

/** For each day of the week, from Sunday on: long and short. @throws DataError — no such language */
export function dayNames(language: string): Names {
  const known = days.get(language);
  if (known !== undefined) return known;
  const long = inLanguage(language, { weekday: 'long' });
  const short = inLanguage(language, { weekday: 'short' });
  // 2023-01-01 was a Sunday.
  const names = Array.from({ length: 7 }, (_, day) => [
    part(long, 'weekday', Date.UTC(2023, 0, 1 + day)),
    part(short, 'weekday', Date.UTC(2023, 0, 1 + day)),
  ]);
  days.set(language, names);
  return names;
}
