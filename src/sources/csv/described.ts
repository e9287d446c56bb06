/** Columns that CSVW describes: which column of the file a reference means, and which values it gives. */
import { excerpt, Fault, type FaultPlace } from '../../core/fault.ts';
import type { CsvColumn, CsvDialect } from '../../core/input/csv-dialect.ts';
import { compileFormat, type PatternFormat, type Reformat } from '../../core/input/csv-format.ts';
import { fromBytes, toBytes } from '../../core/text.ts';
import { TypedValue, type Value, type Values, XSD } from '../../core/value.ts';
import { BoundedRegExp, UnboundedRegExp } from '../../regexp/linear.ts';
import { canonicalDecimal, canonicalDouble } from '../../sql/numbers.ts';

/** The described column that has a name or a title. */
export const describedBy = (reference: string, { columns = [] }: CsvDialect): CsvColumn | undefined =>
  columns.find(({ name }) => name === reference) ?? columns.find(({ titles }) => titles.includes(reference));

/** The description of a column of the file: by the title in the header, without a header by its position. */
export function descriptionOf(column: number, header: readonly string[], dialect: CsvDialect): CsvColumn | undefined {
  const { columns = [], headerRows, skipColumns = 0 } = dialect;
  if (headerRows === 0) return columns[column - skipColumns];
  const title = fromBytes(header[column] ?? '');
  return columns.find(({ titles }) => titles.includes(title));
}

/**
 * What a cell of a described column is: its default, null, or values with the datatype of the column. A column with a separator has as many
 * values as the cell has parts; an empty cell has none.
 *
 * @param nulls of the source; a column may replace them
 * @see https://www.w3.org/TR/tabular-data-model/#parsing-cells
 */
export function valueOf(column: CsvColumn, nulls: readonly string[], place: FaultPlace): (cell: string) => Values {
  const isNull = new Set((column.nulls ?? nulls).map(toBytes));
  const fallback = column.default === undefined ? undefined : toBytes(column.default);
  const { datatype } = column;
  const { format } = column;
  const reformat = format === undefined || format.kind === 'pattern' ? undefined : compileFormat(format);
  const check = format?.kind === 'pattern' ? checkOf(format, place) : undefined;
  const withDefault = (text: string): string => (text === '' && fallback !== undefined ? fallback : text);
  const one = (cell: string): Value | null => {
    const text = withDefault(cell);
    if (isNull.has(text)) return null;
    check?.(text);
    return datatype === undefined ? text : typed(text, datatype, reformat, place);
  };
  if (column.separator === undefined) return one;
  const separator = toBytes(column.separator);
  return (cell) => {
    const text = withDefault(cell);
    if (text === '') return null;
    const values = text.split(separator).flatMap((part) => one(part) ?? []);
    return values.length === 1 ? (values[0] as Value) : values;
  };
}

/** @throws Fault record/term (from the closure) — the cell does not match, or is too long to be tried */
function checkOf({ source }: PatternFormat, place: FaultPlace): (cell: string) => void {
  const pattern = new BoundedRegExp(source, '', true);
  const matches = (text: string): boolean => {
    try {
      return pattern.for(text).test(text);
    } catch (error) {
      if (!(error instanceof UnboundedRegExp)) throw error;
      throw new Fault('record/term', `The csvw:format of a column is not tried: ${error.message}`, {
        place: { ...place, value: excerpt(text) },
        hint: 'No repetition within a repetition, and no look-around or back-reference, makes it fast',
      });
    }
  };
  return (cell) => {
    const text = fromBytes(cell);
    if (matches(text)) return;
    throw new Fault('record/term', `A cell does not match the csvw:format of its column, ${excerpt(source)}`, {
      place: { ...place, value: excerpt(text) },
      hint: 'Correct the cell, or name it with csvw:null',
    });
  };
}

const INTEGERS =
  /^(?:integer|long|int|short|byte|nonNegativeInteger|positiveInteger|nonPositiveInteger|negativeInteger|unsigned(?:Long|Int|Short|Byte))$/;
const ZONE = '(?:Z|[+-]\\d\\d:\\d\\d)?';

/** By the local name of the datatype: the canonical form of a text; undefined: the text is no such value. Others stay as they are written. */
const CANONICAL: readonly (readonly [RegExp, (text: string) => string | undefined])[] = [
  [INTEGERS, (text) => (/^[+-]?\d+$/.test(text) ? canonicalDecimal(text) : undefined)],
  [/^decimal$/, (text) => (/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/.test(text) ? canonicalDecimal(text) : undefined)],
  [/^(?:double|float)$/, (text) => (/^(?:-?INF|NaN)$/.test(text) ? text : canonicalDouble(text))],
  [/^boolean$/, (text) => (/^(?:true|1)$/.test(text) ? 'true' : /^(?:false|0)$/.test(text) ? 'false' : undefined)],
  [/^date$/, matching(`-?\\d{4,}-\\d\\d-\\d\\d${ZONE}`)],
  [/^time$/, matching(`\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?${ZONE}`)],
  [/^dateTime(?:Stamp)?$/, matching(`-?\\d{4,}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?${ZONE}`)],
  [/^gYear$/, matching(`-?\\d{4,}${ZONE}`)],
];

function matching(pattern: string): (text: string) => string | undefined {
  const whole = new RegExp(`^${pattern}$`);
  return (text) => (whole.test(text) ? text : undefined);
}

/** @throws Fault record/term — the text is no value of the datatype */
function typed(written: string, datatype: string, reformat: Reformat | undefined, place: FaultPlace): TypedValue {
  const name = datatype.startsWith(XSD) ? datatype.slice(XSD.length) : '';
  const canonical = CANONICAL.find(([pattern]) => pattern.test(name))?.[1];
  // White space around a value is no part of it, except in texts.
  const text = written.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
  if (canonical === undefined) return new TypedValue(name === '' || name === 'normalizedString' ? written : text, datatype, written);
  // Texts are one-byte UTF-8; a format compares characters.
  const lexical = reformat === undefined ? text : reformat(fromBytes(text));
  const found = lexical === undefined ? undefined : canonical(lexical);
  if (found !== undefined) return new TypedValue(found, datatype, lexical);
  const described = reformat === undefined ? 'as which csvw:datatype describes its column' : 'in the csvw:format of its column';
  throw new Fault('record/term', `A cell is no xsd:${name}, ${described}`, {
    place: { ...place, value: excerpt(fromBytes(written)) },
    hint:
      written === '' ? 'If an empty cell has no value, write csvw:null "" on the column' : 'Correct the cell, or name it with csvw:null',
  });
}
