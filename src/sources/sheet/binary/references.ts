/** The ranges that names of a binary workbook mean, as formulas write them: `'My sheet'!$B$2:$C$3`. */
import { cellName, MAX_COLUMNS, MAX_ROWS } from '../table/choice.ts';

/** What a formula refers to: the first and the last of some sheets, by their number among those of the workbook; negative: it names no sheet. */
export interface SheetReference {
  readonly first: number;
  readonly last: number;
}

/** A token of a formula: the cell or the area of a sheet. The two bits above say in which way its value is used. */
const CELL = 0x3a;
const AREA = 0x3b;
const CLASS_BITS = 0x60;
/** The operator `:`, behind the two cells between which it stands: so SheetJS writes an area of XLSB. */
const RANGE_OPERATOR = 0x11;

/**
 * @param rowBytes 2 in XLS, 4 in XLSB
 * @param sheets names in the order of the workbook
 * @returns "a formula" for what is no range of one sheet
 */
export function rangeText(written: Buffer, rowBytes: 2 | 4, references: readonly SheetReference[], sheets: readonly string[]): string {
  const formula = areaOfCells(written, rowBytes) ?? written;
  const kind = ((formula[0] ?? 0) & ~CLASS_BITS) | 0x20;
  const isArea = kind === AREA;
  if ((!isArea && kind !== CELL) || formula.length !== 3 + (isArea ? 2 : 1) * (rowBytes + 2)) return 'a formula';
  const { first, last } = references[formula.readUInt16LE(1)] ?? { first: -1, last: -1 };
  const sheet = sheets[first];
  if (first !== last || sheet === undefined) return 'a formula';
  const row = (at: number): number => (rowBytes === 2 ? formula.readUInt16LE(at) : formula.readUInt32LE(at));
  const column = (at: number): number => formula.readUInt16LE(at) & 0x3fff;
  const [top, bottom] = [row(3), isArea ? row(3 + rowBytes) : row(3)];
  const columns = 3 + (isArea ? 2 : 1) * rowBytes;
  const [left, right] = [column(columns), isArea ? column(columns + 2) : column(columns)];
  if (bottom >= MAX_ROWS || right >= MAX_COLUMNS) return 'a formula';
  const cell = (r: number, c: number): string => cellName('', r, c).slice(1);
  return `'${sheet.replaceAll("'", "''")}'!${cell(top, left)}:${cell(bottom, right)}`;
}

/** Two cells of one sheet with `:` between them, as an area; undefined: the formula is another one. */
function areaOfCells(formula: Buffer, rowBytes: 2 | 4): Buffer | undefined {
  const size = 5 + rowBytes;
  if (formula.length !== 2 * size + 1 || formula[2 * size] !== RANGE_OPERATOR) return undefined;
  const [from, to] = [formula.subarray(0, size), formula.subarray(size, 2 * size)];
  const isCell = (token: Buffer): boolean => (((token[0] as number) & ~CLASS_BITS) | 0x20) === CELL;
  if (!isCell(from) || !isCell(to) || from.readUInt16LE(1) !== to.readUInt16LE(1)) return undefined;
  const [row, column] = [3, 3 + rowBytes];
  const parts = [from.subarray(1, row), from.subarray(row, column), to.subarray(row, column), from.subarray(column), to.subarray(column)];
  return Buffer.concat([Buffer.from([AREA]), ...parts]);
}
