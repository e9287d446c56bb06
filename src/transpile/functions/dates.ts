/** Patterns of dates whose fields are numbers → the regular expression of `src/functions/dates/pattern.ts`, and what it finds as year to second. */
import { type Part, partsOf } from '../../functions/dates/pattern.ts';
import { matches, type Sql, when } from '../sql.ts';
import { NotInSql } from './arguments.ts';

/** By field in the rewritten text: its letters, and what it is where the pattern has none of them. */
const FIELDS = [
  ['yuY', '1970'],
  ['ML', '1'],
  ['d', '1'],
  ['H', '0'],
  ['m', '0'],
  ['s', '0'],
] as const;

/**
 * The date as `Y-M-DTH:M:S`, each field in digits as it is written; null for a text that does not have the form.
 *
 * @param trimmed the text without white space at its ends
 * @throws NotInSql — the pattern has names, zones, fractions, optional parts or years in another form
 */
export function rewritten(trimmed: Sql, pattern: string): Sql {
  const parts = partsOf(pattern);
  const found = new Map<number, number>();
  const source = parts.map((part, at) => ('letter' in part ? fieldOf(part, parts[at + 1], found) : literalOf(part)));
  const made = FIELDS.map(([, none], at) => (found.has(at) ? `${yearIn(parts, at)}$${found.get(at)}` : none));
  const [year, month, day, hour, minute, second] = made;
  const whole = `^${source.join('')}\\z`;
  const replacement = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  return when(matches(trimmed, whole), { kind: 'replaced', value: trimmed, pattern: whole, replacement });
}

function fieldOf({ letter, count }: Extract<Part, { letter: string }>, next: Part | undefined, found: Map<number, number>): string {
  const at = FIELDS.findIndex(([letters]) => letters.includes(letter));
  const isYear = at === 0;
  if (at < 0 || found.has(at) || (isYear ? count !== 2 && count !== 4 : count > 2))
    throw new NotInSql(`the field ${letter.repeat(count)} of a pattern of dates`);
  found.set(at, found.size + 1);
  const isNextNumeric = next !== undefined && 'letter' in next;
  if (isYear && count === 4) return isNextNumeric ? '([0-9]{4})' : '([+-]?[0-9]{4,6})';
  return count === 1 ? '([0-9]{1,2})' : '([0-9]{2})';
}

/** Letters stand for both cases. */
function literalOf(part: Exclude<Part, { letter: string }>): string {
  if ('bracket' in part) throw new NotInSql('an optional part of a pattern of dates');
  return [...part.literal]
    .map((character) => {
      if (!/^[\x20-\x7e]$/.test(character)) throw new NotInSql('a pattern of dates with other characters than those of ASCII');
      if (/[A-Za-z]/.test(character)) return `[${character.toLowerCase()}${character.toUpperCase()}]`;
      return /[0-9 ]/.test(character) ? character : `\\${character}`;
    })
    .join('');
}

/** Years of two digits are those from 2000 on. */
const yearIn = (parts: readonly Part[], at: number): string =>
  at === 0 && parts.some((part) => 'letter' in part && 'yuY'.includes(part.letter) && part.count === 2) ? '20' : '';
