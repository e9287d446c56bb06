/**
 * Which sheet and which cells of a workbook are read: what follows `#` in `people.xlsx#Sheet name`.
 *
 * It is the name of a sheet; a range (`Sheet1!B3:F20`, `Sheet1!B3`, or `B3:F20` of the first sheet); a named range; or the number of a
 * sheet, from 1. A name comes before a number, and a sheet before a range.
 */
import { Fault } from '../../../core/fault.ts';
import { nearest } from '../../../core/nearest.ts';
import type { WorkbookOptions } from '../../source.ts';

/** 0-based and inclusive. */
export interface Area {
  readonly top: number;
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
}

export const MAX_ROWS = 1_048_576;
export const MAX_COLUMNS = 16_384;

export const WHOLE: Area = { top: 0, left: 0, bottom: MAX_ROWS - 1, right: MAX_COLUMNS - 1 };

export interface Sheet {
  readonly name: string;
  readonly hidden: boolean;
}

/** A name of the workbook for a range. */
export interface NamedRange {
  readonly name: string;
  /** `Sheet1!$A$1:$C$5`, or another name. */
  readonly refersTo: string;
}

export interface Choice<S extends Sheet> {
  readonly sheet: S;
  readonly area: Area;
}

/** The sheet and the cells that `options` want, of those that a workbook has. @throws Fault as `choose` */
export function choiceOf<S extends Sheet>(
  { sheet, onSheets, name }: Pick<WorkbookOptions, 'sheet' | 'onSheets' | 'name'>,
  sheets: readonly S[],
  names: readonly NamedRange[],
): Choice<S> {
  onSheets?.(sheets.map((one) => one.name));
  return choose(sheet, sheets, names, name);
}

/**
 * @param wanted undefined: all of the first sheet that is not hidden
 * @throws Fault source/missing — there is no such sheet, range or name; source/malformed — names refer to each other in a circle
 */
export function choose<S extends Sheet>(
  wanted: string | undefined,
  sheets: readonly S[],
  names: readonly NamedRange[],
  input: string,
  seen: readonly string[] = [],
): Choice<S> {
  const place = { input };
  const first = sheets.find(({ hidden }) => !hidden) ?? sheets[0];
  if (first === undefined) throw new Fault('source/malformed', 'The workbook has no sheet with cells', { place });
  if (wanted === undefined) return { sheet: first, area: WHOLE };
  const sheet = named(sheets, wanted);
  if (sheet !== undefined) return { sheet, area: WHOLE };
  const { sheet: sheetName, cells } = split(wanted);
  const area = areaOf(cells);
  if (area !== undefined) {
    const owner = sheetName === undefined ? first : named(sheets, sheetName);
    if (owner !== undefined) return { sheet: owner, area };
  }
  const range = named(names, wanted);
  if (range !== undefined) {
    const chain = [...seen, range.name];
    if (seen.includes(range.name))
      throw new Fault('source/malformed', `The names ${chain.join(' → ')} of the workbook refer to each other in a circle`, { place });
    if (
      !/^[^()]*$/.test(range.refersTo) ||
      (areaOf(split(range.refersTo).cells) === undefined && named(names, range.refersTo) === undefined)
    )
      throw new Fault('source/missing', `The name ${range.name} of the workbook is no range: it refers to ${range.refersTo}`, {
        place,
        hint: 'Name the range itself, for example file.xlsx#Sheet1!A1:C20',
      });
    return choose(range.refersTo, sheets, names, input, chain);
  }
  const numbered = /^[1-9]\d*$/.test(wanted) ? sheets[Number(wanted) - 1] : undefined;
  if (numbered !== undefined) return { sheet: numbered, area: WHOLE };
  const decoded = named(sheets, withoutEscapes(wanted));
  if (decoded !== undefined)
    throw new Fault('source/missing', `The workbook has no sheet, range or name ${JSON.stringify(wanted)}`, {
      place,
      hint: `In a path, the name of a sheet stands as it is: #${decoded.name}. It is percent-encoded in a URL alone`,
    });
  const near = /^\d+$/.test(wanted)
    ? []
    : nearest(
        sheetName ?? wanted,
        [...sheets, ...names].map(({ name }) => name),
      );
  const known = sheets.map(({ name, hidden }) => `${name}${hidden ? ' (hidden)' : ''}`).join(', ');
  throw new Fault('source/missing', `The workbook has no sheet, range or name ${JSON.stringify(wanted)}`, {
    place,
    hint: `${near.length > 0 ? `Did you mean ${near.join(' or ')}? ` : ''}Its sheets are ${known}`,
  });
}

/** By the exact name, else by the name in other letters, as spreadsheet programs do. */
const named = <T extends { readonly name: string }>(all: readonly T[], name: string): T | undefined =>
  all.find((one) => one.name === name) ?? all.find((one) => one.name.toLowerCase() === name.toLowerCase());

function withoutEscapes(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** `'Bob''s sheet'!A1:B2` or `Bob's sheet!A1:B2`, and `$Sheet1.$A$1:.$B$2` as ODS writes it. */
function split(text: string): { readonly sheet: string | undefined; readonly cells: string } {
  const [, quoted, plain, cells] = /^\$?(?:'((?:[^']|'')+)'|([^'!][^!]*?))[!.](?=\$?[A-Za-z]|\$?\d)(.*)$/s.exec(text) ?? [];
  const sheet = quoted === undefined ? plain : quoted.replaceAll("''", "'");
  return { sheet, cells: (cells ?? text).replace(/:.*[!.](?=[$A-Za-z\d]+$)/s, ':').replaceAll('$', '') };
}

/** `B3:F20`; `B3`, from there on; `B:F`, whole columns; `3:20`, whole rows. undefined: no range. */
function areaOf(cells: string): Area | undefined {
  const [, fromColumn = '', fromRow = '', colon, toColumn = '', toRow = ''] =
    /^([A-Za-z]{0,3})(\d{0,7})(?:(:)([A-Za-z]{0,3})(\d{0,7}))?$/.exec(cells) ?? [];
  const isCell = fromColumn !== '' && fromRow !== '';
  if (colon === undefined ? !isCell : (fromColumn === '') !== (toColumn === '') || (fromRow === '') !== (toRow === '')) return undefined;
  if (fromColumn === '' && fromRow === '') return undefined;
  const columns = [fromColumn === '' ? 0 : columnNumber(fromColumn), toColumn === '' ? WHOLE.right : columnNumber(toColumn)] as const;
  const rows = [fromRow === '' ? 0 : Number(fromRow) - 1, toRow === '' ? WHOLE.bottom : Number(toRow) - 1] as const;
  const area = { top: Math.min(...rows), left: Math.min(...columns), bottom: Math.max(...rows), right: Math.max(...columns) };
  return area.top >= 0 && area.bottom <= WHOLE.bottom && area.right <= WHOLE.right ? area : undefined;
}

/** 0-based: `A` is 0, `AA` 26. */
function columnNumber(letters: string): number {
  let number = 0;
  for (const letter of letters.toUpperCase()) number = number * 26 + letter.charCodeAt(0) - 64;
  return number - 1;
}

export function columnLetters(column: number): string {
  let letters = '';
  for (let rest = column + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  return letters;
}

/** `Sheet1!C17` @param row 0-based @param column 0-based */
export const cellName = (sheet: string, row: number, column: number): string => `${sheet}!${columnLetters(column)}${row + 1}`;
