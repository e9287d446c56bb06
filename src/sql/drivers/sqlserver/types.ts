/** Column types of SQL Server: how their values are asked for, natural datatypes, canonical forms. */
import { excerpt, Fault } from '../../../core/fault.ts';
import { fromBytes, toBytes } from '../../../core/text.ts';
import type { Column } from '../../database.ts';
import { canonicalDecimal, canonicalDouble, shortestSingle, withoutZeros } from '../../numbers.ts';
import { type Natural, naturalColumn, partly, plain, typed } from '../../result/natural.ts';

/** A column of a query's result, as `sys.dm_exec_describe_first_result_set` describes it. */
export interface Described {
  readonly name: string;
  /** `decimal(10,2)`, `nvarchar(max)`; of a CLR type its name, `geography`. */
  readonly type: string;
  /** Schema and name of a CLR type, as SQL. */
  readonly clr: string | undefined;
}

/** What the driver gives for a value: never a number or Date that has lost something (`sentAs`). */
export type DriverValue = string | number | bigint | boolean | Date | Buffer | null;

const INTEGER = typed('number', 'integer', true);
const DECIMAL = typed('number', 'decimal', true, canonicalDecimal);
// -0 equals 0.
const DOUBLE = typed('other', 'double', false, (text) => canonicalDouble(text) ?? text);
// `=` fills the shorter one up with zeros.
const BINARY = typed('other', 'hexBinary', true);
/**
 * SQL Server's `=` and DISTINCT ignore trailing spaces under every collation, also under binary ones, and under most of them case as well. So texts are
 * of the family that is never compared there: joins on them are made by the engine, which compares what is written. A unique key of texts holds: what
 * the server distinguishes differs as text.
 */
const TEXT = plain('other', true);
// No type that a key could have.
const LARGE = plain('other', false);

/** By the name of the type without its length. @see https://www.w3.org/TR/r2rml/#natural-mapping */
const NATURAL: Readonly<Record<string, Natural>> = {
  tinyint: INTEGER,
  smallint: INTEGER,
  int: INTEGER,
  bigint: INTEGER,
  bit: typed('boolean', 'boolean', true, (text) => (text === '1' ? 'true' : 'false')),
  decimal: DECIMAL,
  numeric: DECIMAL,
  // A bigint that is compared with it may overflow.
  money: partly('other', 'decimal', true, moneyOf),
  smallmoney: typed('other', 'decimal', true, moneyOf),
  float: DOUBLE,
  real: DOUBLE,
  date: typed('date', 'date', true),
  time: typed('time', 'time', true, withoutZeros),
  // The server makes thirds of a millisecond of its values when they are compared with a datetime2.
  datetime: typed('other', 'dateTime', true, readDateTime),
  smalldatetime: typed('timestamp', 'dateTime', true, readDateTime),
  datetime2: typed('timestamp', 'dateTime', true, readDateTime),
  // One instant has a text for each offset.
  datetimeoffset: typed('other', 'dateTime', false, readDateTimeOffset),
  char: TEXT,
  varchar: TEXT,
  nchar: TEXT,
  nvarchar: TEXT,
  sysname: TEXT,
  text: LARGE,
  ntext: LARGE,
  xml: LARGE,
  uniqueidentifier: plain('uuid', true),
  binary: BINARY,
  varbinary: BINARY,
  image: typed('other', 'hexBinary', false),
  timestamp: BINARY,
  rowversion: BINARY,
};

export const columnOf = ({ name, type }: Described): Column => naturalColumn(name, type, NATURAL[baseOf(type)] ?? unreadable(name, type));

/**
 * The type as which the server sends a column. Decimals, times and 64-bit integers are sent as text, since the driver makes floats and Dates of them.
 * Characters are sent as Unicode: those of a code page depend on tables of the driver.
 *
 * The conversions are those that the server makes implicitly, without losing anything: decimals have all digits, dates and times the form of ODBC.
 *
 * @see https://learn.microsoft.com/en-us/sql/t-sql/data-types/data-type-conversion-database-engine
 */
export function sentAs({ type, clr }: Described): string {
  switch (baseOf(type)) {
    case 'tinyint':
    case 'smallint':
    case 'int':
    case 'bigint':
    case 'bit':
      return 'nvarchar(20)';
    case 'decimal':
    case 'numeric':
      return 'nvarchar(41)';
    case 'date':
    case 'time':
    case 'datetime2':
    case 'datetimeoffset':
      return 'nvarchar(34)';
    case 'uniqueidentifier':
      return 'nvarchar(36)';
    case 'char':
    case 'varchar':
    case 'nchar':
    case 'nvarchar': {
      const length = Number(/\((\d+)\)/.exec(type)?.[1] ?? Number.POSITIVE_INFINITY);
      return length <= LONGEST_NVARCHAR ? `nvarchar(${length})` : 'nvarchar(max)';
    }
    case 'sysname':
      return 'nvarchar(128)';
    case 'text':
    case 'ntext':
      return 'nvarchar(max)';
    case 'timestamp':
    case 'rowversion':
      return 'binary(8)';
    default:
      return clr ?? type;
  }
}

const LONGEST_NVARCHAR = 4000;

const baseOf = (type: string): string => /^\w+/.exec(type)?.[0].toLowerCase() ?? '';

/** The text of a value of the driver, as one-byte UTF-8. */
export function textOf(value: DriverValue, type: string): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return toBytes(value);
  if (Buffer.isBuffer(value)) return value.toString('hex').toUpperCase();
  if (value instanceof Date) return value.toISOString().replace(/Z$/, '');
  if (typeof value === 'number' && baseOf(type) === 'real') return shortestSingle(value);
  return String(value);
}

/** Beyond it, the driver's float has not all digits of a MONEY: 2^53 ten-thousandths. */
const LARGEST_MONEY = 900_719_925_474;

function moneyOf(text: string): string {
  const value = Number(text);
  if (Math.abs(value) > LARGEST_MONEY)
    throw new Fault('record/term', `${text} is a MONEY with more digits than its driver can give`, {
      place: { value: text },
      hint: 'Write CAST(… AS decimal(19, 4)) in a query to read it with all digits',
    });
  return canonicalDecimal(value.toFixed(4));
}

function readDateTime(text: string): string {
  return `${text.slice(0, 10)}T${withoutZeros(text.slice(11))}`;
}

/** `2024-05-31 12:30:00.5000000 +02:00` → `2024-05-31T12:30:00.5+02:00`. */
function readDateTimeOffset(text: string): string {
  const space = text.lastIndexOf(' ');
  const zone = text.slice(space + 1);
  return readDateTime(text.slice(0, space)) + (/^[+-]00:00$/.test(zone) ? 'Z' : zone);
}

/** Types whose texts only a query can give: CLR types, and SQL_VARIANT, of which the driver loses the type. */
function unreadable(name: string, type: string): Natural {
  const write = type === 'sql_variant' ? `CAST(${name} AS nvarchar(4000))` : `${name}.ToString()`;
  const canonical = (text: string): string => {
    const value = excerpt(fromBytes(text));
    throw new Fault('record/term', `Values of type ${type} cannot be read as text: ${value}`, {
      place: { value },
      hint: `Write ${write} in a query instead of the table`,
    });
  };
  return { family: 'other', canonical, exact: false, partial: true };
}
