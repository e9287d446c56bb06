/** Whether an empty text of an input is a value: by what the mapping says of the input, or by what its language says of all cells. */
import type { Input, Language } from './document.ts';

type Read = Pick<Input, 'format' | 'location'>;

const isTable = ({ format }: Pick<Input, 'format'>): boolean => format === 'csv' || format === 'xlsx' || format === 'ods';

/** Whether a mapping in the language can say of an input that an empty text is no value. */
export function saysEmpty(language: Language, input: Read): boolean {
  const { location } = input;
  if (language === 'legacy') return isTable(input);
  const isOfRun = (location.kind === 'table' || location.kind === 'query') && location.database === undefined;
  return language === 'rml' && !isOfRun;
}

/** Whether the language itself says that an empty cell is no value, unless it stands in quotes. */
export const isEmptyWithoutQuotes = (language: Language, input: Read): boolean =>
  isTable(input) && (language === 'legacy' || language === 'yarrrml');

/** Whether an empty text is no value. */
export const emptyIsNone = (language: Language, input: Read & Pick<Input, 'nulls'>): boolean =>
  input.nulls.includes('') || isEmptyWithoutQuotes(language, input);

/** Why the switch of an input cannot be used; undefined: it can. */
export function whyNoSwitch(language: Language, input: Read): string | undefined {
  if (saysEmpty(language, input)) return undefined;
  if (isEmptyWithoutQuotes(language, input))
    return `${LANGUAGE_NAMES[language]} has no value for an empty cell, unless it stands in quotes.`;
  if (input.format === 'sql' && language !== 'yarrrml')
    return "NULL alone is no value in a database of the run. Write a query that gives NULL: NULLIF(name, '').";
  return `${LANGUAGE_NAMES[language]} cannot say that an empty text is no value: today’s RML can.`;
}

export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = {
  rml: 'RML',
  legacy: 'RML (older vocabulary)',
  r2rml: 'R2RML',
  yarrrml: 'YARRRML',
};
