/** The case of letters as JavaScript has it. Engines know other versions of Unicode, and take letter by letter. */

export interface CaseTable {
  /** Letters, and the letter of each in the other case at the same place of `to`. */
  readonly from: string;
  readonly to: string;
  /** Letters as members of a class of a regular expression: those that become several, or become what the letters beside them say. */
  readonly expanding: string;
}

const known = new Map<'upper' | 'lower', CaseTable>();

/** `ß` becomes `SS`, and is in neither. */
export function caseTables(to: 'upper' | 'lower'): CaseTable {
  const table = known.get(to) ?? tableOf(to);
  known.set(to, table);
  return table;
}

/**
 * Casing is letter by letter but for the lower case of a capital sigma, which is another letter at the end of a word.
 *
 * @see https://www.unicode.org/Public/UCD/latest/ucd/SpecialCasing.txt
 */
function tableOf(to: 'upper' | 'lower'): CaseTable {
  const table = { from: '', to: '', expanding: to === 'lower' ? '\\x{3A3}' : '' };
  for (let code = 0; code <= 0x10ffff; code++) {
    if ((code >= 0xd800 && code < 0xe000) || code === 0xdf) continue;
    const letter = String.fromCodePoint(code);
    const other = to === 'upper' ? letter.toUpperCase() : letter.toLowerCase();
    if (other === letter || (to === 'lower' && code === 0x3a3)) continue;
    if (other.length === String.fromCodePoint(other.codePointAt(0) as number).length) {
      table.from += letter;
      table.to += other;
    } else table.expanding += `\\x{${code.toString(16).toUpperCase()}}`;
  }
  return table;
}
