/** SQL identifiers: how each product quotes, folds and matches them. */
import { excerpt, Fault } from '../../core/fault.ts';
import { didYouMean, withoutBrackets } from '../../core/nearest.ts';
import type { Column, Product } from '../database.ts';
import { DIALECTS } from '../dialects/dialects.ts';

/** Maximum number of column names that a message lists if none is similar. */
const LISTED = 10;

/** How references name columns, see `findColumn`. */
export type ColumnNaming = 'identifiers' | 'labels' | 'either';

/** A name as the server stores it. */
interface Identifier {
  readonly name: string;
  readonly quoted: boolean;
}

/**
 * `"Name"` or `` `Name` ``, with quotes inside doubled.
 *
 * @throws Fault mapping/invalid — an empty name, or one with a NUL, which no product allows and which would end the SQL text early
 */
export function quote(name: string, product: Product): string {
  if (name === '' || name.includes('\0')) throw new Fault('mapping/invalid', `${excerpt(name)} cannot be the name of a table or column`);
  const { mark } = DIALECTS[product].names;
  return mark + name.replaceAll(mark, mark + mark) + mark;
}

/**
 * The parts of a table identifier as the mapping writes it (`student`, `"Student"`, `"my schema".student`, `` `a`.b ``), without quotes;
 * unquoted parts are folded by the rules of the product (PostgreSQL to lower case, MySQL not at all). The last part is the table.
 *
 * Double quotes are accepted for every product, backticks for MySQL and MariaDB.
 *
 * @throws Fault mapping/invalid — not an identifier
 */
export function parseTableName(text: string, product: Product): readonly string[] {
  const parts = readIdentifiers(text, product);
  const { mark, tableParts, tableForm } = DIALECTS[product].names;
  if (parts === undefined || parts.length > tableParts) {
    throw new Fault('mapping/invalid', `${excerpt(text)} is not the name of a table`, {
      hint: `Write ${tableForm}; a name with other characters than letters, digits and _ stands between ${mark} and ${mark}, as in ${mark}Country Info${mark}`,
    });
  }
  return parts.map(({ name }) => name);
}

/**
 * The names of a list such as PostgreSQL's search path: `public, "My Schema"`. undefined: not such a list.
 *
 * `$user`, with or without quotes, is kept: PostgreSQL replaces it by the user's name.
 */
export function parseNameList(text: string, product: Product): readonly string[] | undefined {
  const part = /\s*("(?:[^"]|"")*"|[^\s",]+)\s*(,|$)/y;
  const names: string[] = [];
  for (;;) {
    const found = part.exec(text);
    const name = found?.[1] === '$user' ? '$user' : found && readIdentifier(found[1] as string, product)?.name;
    if (found === null || name === undefined || name === null) return undefined;
    names.push(name);
    if (found[2] === '') return names;
  }
}

/**
 * The index of the column that a reference means; -1: none.
 *
 * `identifiers`: the rules of R2RML. Quoted: exactly that name (in MySQL, column names ignore case). Unquoted: folded first. A text that is
 * not an identifier (`Country Code`) is compared as it is. `labels`: exactly that name including quotes, else the only one that differs in
 * case. `either`, for the columns of an R2RML view: an identifier, else the label that its author has written.
 *
 * @throws Fault mapping/reference — several columns have that name
 */
export function findColumn(columns: readonly Pick<Column, 'name'>[], reference: string, how: ColumnNaming, product: Product): number {
  const name = how === 'labels' ? reference : (singleIdentifier(reference, product)?.name ?? reference);
  const position = only(
    positions(columns, (column) => column === name),
    reference,
    columns,
  );
  if (position !== -1) return position;
  if (how === 'either') return findColumn(columns, reference, 'labels', product);
  if (how === 'identifiers' && DIALECTS[product].names.hasCase) return -1;
  const lower = name.toLowerCase();
  return only(
    positions(columns, (column) => column.toLowerCase() === lower),
    reference,
    columns,
  );
}

/** The hint for a reference that matches no column: what to write instead, as one sentence without full stop. */
export function suggestColumns(columns: readonly Pick<Column, 'name'>[], reference: string, how: ColumnNaming, product: Product): string {
  if (columns.length === 0) return 'There are no columns';
  const identifier = singleIdentifier(reference, product);
  const word = identifier?.quoted ? identifier.name : reference;
  if (how === 'labels' && identifier?.quoted && columns.some(({ name }) => name === word)) return `Write ${word} without quotes`;
  const lower = word.toLowerCase();
  const otherCase = columns.find(({ name }) => name.toLowerCase() === lower)?.name;
  if (DIALECTS[product].names.hasCase && otherCase !== undefined) {
    const folds = identifier?.quoted
      ? ''
      : `An unquoted name is read in ${DIALECTS[product].names.fold('a', false) === 'a' ? 'lower' : 'upper'} case: `;
    return `${folds}${folds === '' ? 'Write' : 'write'} ${quote(otherCase, product)} for the column ${otherCase}`;
  }
  const names = columns.map(({ name }) => name);
  const bare = withoutBrackets(reference, names);
  if (bare !== undefined) return bare;
  const near = didYouMean(word, names);
  if (near !== undefined) return `D${near.slice(1)}`;
  const listed = names.slice(0, LISTED).join(', ');
  return names.length > LISTED ? `The first of its ${names.length} columns are ${listed}` : `The columns are ${listed}`;
}

function positions(columns: readonly Pick<Column, 'name'>[], matches: (name: string) => boolean): number[] {
  return columns.flatMap(({ name }, position) => (matches(name) ? [position] : []));
}

function only(found: readonly number[], reference: string, columns: readonly Pick<Column, 'name'>[]): number {
  if (found.length > 1) {
    const which = found.map((position) => `${columns[position]?.name} at ${position + 1}`).join(', ');
    throw new Fault('mapping/reference', `${excerpt(reference)} could mean ${found.length} columns: ${which}`, {
      hint: 'Give them different names in the query, with AS',
    });
  }
  return found[0] ?? -1;
}

function singleIdentifier(text: string, product: Product): Identifier | undefined {
  const parts = readIdentifiers(text, product);
  return parts?.length === 1 ? parts[0] : undefined;
}

/** The parts of a dotted name; undefined: not a name. White space around parts is ignored. */
function readIdentifiers(text: string, product: Product): readonly Identifier[] | undefined {
  const { marks, brackets = false } = DIALECTS[product].names;
  const quoted = marks.map((mark) => `${mark}(?:[^${mark}]|${mark}${mark})*${mark}`);
  if (brackets) quoted.push('\\[(?:[^\\]]|\\]\\])*\\]');
  const part = new RegExp(`\\s*(${quoted.join('|')}|[^\\s.${marks.join('')}${brackets ? '\\[' : ''}]+)\\s*(\\.|$)`, 'y');
  const identifiers: Identifier[] = [];
  for (;;) {
    const found = part.exec(text);
    const identifier = found === null ? undefined : readIdentifier(found[1] as string, product);
    if (identifier === undefined) return undefined;
    identifiers.push(identifier);
    if (found?.[2] === '') return identifiers;
  }
}

function readIdentifier(text: string, product: Product): Identifier | undefined {
  const { marks, unquoted, fold, brackets = false } = DIALECTS[product].names;
  const mark = brackets && text.startsWith('[') ? ']' : (text[0] as string);
  const quoted = mark === ']' || marks.includes(mark);
  if (!quoted && !unquoted.test(text)) return undefined;
  const name = quoted ? text.slice(1, -1).replaceAll(mark + mark, mark) : text;
  if (name === '' || name.includes('\0')) return undefined;
  return { name: fold(name, quoted), quoted };
}
