/** What a number format of a spreadsheet shows: a number, a date, a time of day, both, or a duration. */

export type Shown = 'number' | 'date' | 'dateTime' | 'time' | 'duration';

/** The formats that files name by number alone. @see ECMA-376 part 1, 18.8.30 */
export function shownByBuiltIn(id: number): Shown {
  if ((id >= 14 && id <= 17) || (id >= 27 && id <= 31) || id === 36 || (id >= 50 && id <= 58)) return 'date';
  if ((id >= 18 && id <= 21) || (id >= 32 && id <= 35) || id === 45 || id === 47) return 'time';
  if (id === 22) return 'dateTime';
  return id === 46 ? 'duration' : 'number';
}

/** Texts in quotes, escaped characters, fillers, and brackets that are no elapsed time: colours, conditions, locales. */
const NOT_FIELDS = /"[^"]*"?|[\\_*].|\[(?!(?:h+|m+|s+)\])[^\]]*\]/gi;

/**
 * What a format code shows, by its first section: `yyyy-mm-dd` a date, `[h]:mm` a duration.
 *
 * @see ECMA-376 part 1, 18.8.31
 */
export function shownByCode(code: string): Shown {
  const fields = (code.replace(NOT_FIELDS, '').split(';', 1)[0] as string).toLowerCase();
  if (/\[[hms]/.test(fields)) return 'duration';
  if (/general|@/.test(fields) || /[0#?]/.test(fields.replace(/s[.,]0+/g, 's'))) return 'number';
  const isTime = /[hs]|am\/pm|a\/p/.test(fields);
  const isDate = /[ydgb]|e/.test(fields.replace(/am\/pm|a\/p/g, '')) || (!isTime && fields.includes('m'));
  if (isDate) return isTime ? 'dateTime' : 'date';
  return isTime ? 'time' : 'number';
}
