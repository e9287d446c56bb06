/** Regular expressions given as text. Each is compiled once. */
import { excerpt } from '../core/fault.ts';
import { BoundedRegExp, UnboundedRegExp } from '../regexp/linear.ts';
import { DataError } from './definition.ts';

const MOST = 200;
const compiled = new Map<string, BoundedRegExp>();

/**
 * The global regular expression of a source for a text, with Unicode rules. Its time is bounded: `BoundedRegExp`.
 *
 * @param flags any of `i`, `m` and `s`
 * @param decides only whether there is a match matters
 * @throws DataError
 */
export function regex(source: string, text: string, flags = '', decides = false): RegExp {
  try {
    return boundedRegExp(source, flags, decides).for(text);
  } catch (error) {
    if (error instanceof UnboundedRegExp)
      throw new DataError(`The regular expression ${excerpt(source)} is not tried: ${error.message}`, SIMPLER);
    throw error;
  }
}

const SIMPLER = 'No repetition within a repetition, and no look-around or back-reference, makes it fast.';

function boundedRegExp(source: string, flags: string, decides: boolean): BoundedRegExp {
  const key = `${decides ? 'd' : ''}${flags}/${source}`;
  const known = compiled.get(key);
  if (known !== undefined) return known;
  checkFlags(flags);
  let made: BoundedRegExp;
  try {
    made = new BoundedRegExp(source, flags, decides);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const reason = error.message.replace(/^Invalid regular expression: \/.*\/\w*: /s, '');
    throw new DataError(`${excerpt(source)} is not a regular expression: ${reason}`, 'Expected the syntax of ECMAScript.');
  }
  // Patterns that come from the data are not kept without end.
  if (compiled.size >= MOST) compiled.clear();
  compiled.set(key, made);
  return made;
}

/** @throws DataError */
export function checkFlags(flags: string): void {
  if (!/^[ims]*$/.test(flags)) throw new DataError(`${excerpt(flags)} are no flags of a regular expression`, 'Expected any of i, m and s.');
}

/** What OpenRefine writes between slashes is a regular expression. */
export const isRegex = (text: string): boolean => text.length > 2 && text.startsWith('/') && text.endsWith('/');
const inner = (text: string): string => text.slice(1, -1);

/** Splits at a text, or at a regular expression between slashes. */
export function splitBy(text: string, separator: string): readonly string[] {
  if (separator === '') return [text];
  return text.split(isRegex(separator) ? regex(inner(separator), text) : separator);
}

/** Replaces a text, or a regular expression between slashes; in the latter case `$1` means its first group. */
export function replaceAll(text: string, find: string, replacement: string): string {
  if (find === '') return text;
  if (isRegex(find)) return text.replace(regex(inner(find), text), replacement);
  // Only what replaces a regular expression names groups.
  return replacement.includes('$') ? text.replaceAll(find, () => replacement) : text.replaceAll(find, replacement);
}

/** Position and length of each occurrence of a text, or of a regular expression between slashes. */
export function findIn(text: string, fragment: string): readonly (readonly [at: number, length: number])[] {
  if (isRegex(fragment)) return [...text.matchAll(regex(inner(fragment), text))].map((match) => [match.index, match[0].length]);
  const found: [number, number][] = [];
  for (let at = text.indexOf(fragment); at >= 0 && fragment !== ''; at = text.indexOf(fragment, at + fragment.length))
    found.push([at, fragment.length]);
  return found;
}

/** The groups of a match of the whole text; undefined if it does not match. */
export function matchWhole(text: string, source: string): readonly (string | undefined)[] | undefined {
  return regex(`^(?:${source})$`, text).exec(text)?.slice(1);
}

/** The source of a pattern that may stand between slashes. */
export const sourceOf = (pattern: string): string => (isRegex(pattern) ? inner(pattern) : pattern);

/** Whether it is a regular expression that can be tried on texts of any length. @throws DataError */
export function checkPattern(pattern: string): void {
  checkSource(sourceOf(pattern));
}

/** Of what is a text, or a regular expression between slashes. @throws DataError */
export function checkTextOrPattern(text: string): void {
  if (isRegex(text)) checkSource(inner(text));
}

function checkSource(source: string): void {
  if (boundedRegExp(source, '', false).isUnbounded)
    throw new DataError(`the regular expression ${excerpt(source)} could take hours: it repeats what repeats`, SIMPLER);
}
