/** Column types of MySQL and MariaDB: display names, natural datatypes, canonical forms. */
import { excerpt, Fault } from '../../core/fault.ts';
import { fromBytes } from '../../core/text.ts';
import type { Column } from '../database.ts';
import { canonicalDecimal, canonicalDouble, padded, withoutZeros } from '../numbers.ts';
import { type Natural, naturalColumn } from '../result/natural.ts';

/**
 * Column metadata of a result, in both products. @see
 * https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response_text_resultset_column_definition.html
 */
export interface ColumnDefinition {
  readonly name: string;
  readonly columnType: number;
  readonly characterSet: number;
  /** Maximum length in bytes. */
  readonly columnLength: number;
  readonly flags: number;
  readonly decimals: number;
  /** MariaDB: `uuid`, `inet6`, `point`. */
  readonly extendedTypeName?: string;
  /** MariaDB: `json`. */
  readonly extendedFormat?: string;
}

export interface TypeOptions {
  /** TINYINT(1) is a boolean. */
  readonly tinyInt1isBit: boolean;
}

const BINARY_CHARSET = 63;
const UNSIGNED = 32;
const ZEROFILL = 64;
const ENUM = 256;
const SET = 2048;
/** `decimals` of a number without fixed scale. */
const NO_SCALE = 31;
/** utf8mb4, in which all texts are sent. */
const BYTES_PER_CHARACTER = 4;

const INTEGERS: Readonly<Record<number, string>> = { 1: 'tinyint', 2: 'smallint', 3: 'int', 8: 'bigint', 9: 'mediumint' };

/** `exact`: absent for the types whose texts are. */
interface MysqlType extends Omit<Natural, 'exact'> {
  readonly type: string;
  readonly exact?: false;
}

export function columnOf(definition: ColumnDefinition, options: TypeOptions): Column {
  const natural = naturalOf(definition, options);
  return naturalColumn(definition.name, natural.type, { exact: true, ...natural });
}

function naturalOf(definition: ColumnDefinition, options: TypeOptions): MysqlType {
  const { name, columnType, columnLength: length, decimals, flags } = definition;
  const unsigned = (flags & UNSIGNED) === 0 ? '' : ' unsigned';
  const fraction = decimals === 0 ? '' : `(${decimals})`;
  switch (columnType) {
    case 1:
      if (length === 1 && unsigned === '' && options.tinyInt1isBit)
        return { type: 'tinyint(1)', family: 'boolean', datatype: 'boolean', canonical: readTinyInt(name), partial: true };
      return integer('tinyint', unsigned, flags);
    case 2:
    case 3:
    case 8:
    case 9:
      return integer(INTEGERS[columnType] as string, unsigned, flags);
    case 0:
    case 246: {
      const precision = length - (unsigned === '' ? 1 : 0) - (decimals === 0 ? 0 : 1);
      return { type: `decimal(${precision},${decimals})${unsigned}`, family: 'number', datatype: 'decimal', canonical: canonicalDecimal };
    }
    case 4: // six digits are shown of what is compared
      return { type: `float${unsigned}`, family: 'other', datatype: 'double', canonical: double, exact: false };
    case 5: {
      const type = `double${decimals === NO_SCALE ? '' : `(${length},${decimals})`}${unsigned}`;
      const natural = { type, family: 'number', datatype: 'double', canonical: double } as const;
      return decimals === NO_SCALE ? natural : { ...natural, family: 'other', exact: false };
    }
    case 7: // in the hour that a time zone has twice, a text is two instants
      return {
        type: `timestamp${fraction}`,
        family: 'timestamp',
        datatype: 'dateTime',
        canonical: readDateTime(name),
        exact: false,
        partial: true,
      };
    case 10:
    case 14:
      return { type: 'date', family: 'date', datatype: 'date', canonical: readDate(name), partial: true };
    case 11:
      return { type: `time${fraction}`, family: 'time', datatype: 'time', canonical: readTime(name), partial: true };
    case 12:
      return { type: `datetime${fraction}`, family: 'timestamp', datatype: 'dateTime', canonical: readDateTime(name), partial: true };
    case 13:
      return { type: 'year', family: 'other', datatype: 'gYear' };
    case 16:
      if (length === 1)
        return { type: 'bit(1)', family: 'boolean', datatype: 'boolean', canonical: (text) => (text === '\x01' ? 'true' : 'false') };
      return { type: `bit(${length})`, family: 'binary', datatype: 'hexBinary', canonical: hexBinary };
    case 6:
      return { type: 'null', family: 'other' };
    case 242:
      return { type: 'vector', family: 'other', datatype: 'hexBinary', canonical: hexBinary };
    case 245:
      return { type: 'json', family: 'other' };
    case 255:
      return { type: definition.extendedTypeName ?? 'geometry', family: 'other', datatype: 'hexBinary', canonical: hexBinary };
    default:
      return characters(definition);
  }
}

function integer(name: string, unsigned: string, flags: number): MysqlType {
  const natural = { family: 'number', datatype: 'integer' } as const;
  if ((flags & ZEROFILL) === 0) return { type: name + unsigned, ...natural };
  return { type: `${name}${unsigned} zerofill`, ...natural, canonical: (text) => text.replace(/^0+(?=\d)/, '') };
}

/** CHAR, VARCHAR, TEXT, BINARY, VARBINARY, BLOB, ENUM, SET, and types that MariaDB sends as such. */
function characters(definition: ColumnDefinition): MysqlType {
  const { columnType, columnLength, characterSet, flags, extendedTypeName, extendedFormat } = definition;
  if (extendedTypeName === 'uuid') return { type: 'uuid', family: 'uuid' };
  if (extendedTypeName !== undefined) return { type: extendedTypeName, family: 'other' };
  if (extendedFormat !== undefined) return { type: extendedFormat, family: 'text' };
  if ((flags & ENUM) !== 0 || columnType === 247) return { type: 'enum', family: 'text' };
  if ((flags & SET) !== 0 || columnType === 248) return { type: 'set', family: 'text' };
  const large = columnType >= 249 && columnType <= 252;
  if (characterSet === BINARY_CHARSET) {
    const type = large ? `${sizeOf(columnLength)}blob` : `${columnType === 254 ? 'binary' : 'varbinary'}(${columnLength})`;
    return { type, family: 'binary', datatype: 'hexBinary', canonical: hexBinary };
  }
  const length = Math.floor(columnLength / BYTES_PER_CHARACTER);
  // The sql_mode PAD_CHAR_TO_FULL_LENGTH would send the padding, but would also add it to values that queries compute and compare: under a NO PAD
  // collation, `code = 'ab'` would find nothing.
  if (columnType === 254) return { type: `char(${length})`, family: 'text', canonical: (text) => padded(text, length) };
  return { type: large ? `${sizeOf(length)}text` : `varchar(${length})`, family: 'text' };
}

function sizeOf(length: number): string {
  if (length < 2 ** 8) return 'tiny';
  if (length < 2 ** 16) return '';
  return length < 2 ** 24 ? 'medium' : 'long';
}

const hexBinary = (text: string): string => Buffer.from(text, 'latin1').toString('hex').toUpperCase();

/** The server writes only numbers here. */
const double = (text: string): string => canonicalDouble(text) ?? text;

const readTinyInt =
  (name: string) =>
  (text: string): string => {
    if (text === '0') return 'false';
    if (text === '1') return 'true';
    throw outside(
      text,
      'is neither 0 nor 1 in a TINYINT(1), which is read as a boolean',
      `Set tinyInt1isBit=false in the JDBC URL to read such columns as integers, or write ${name} + 0 in a query`,
    );
  };

const DATE = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/;

const readDate =
  (name: string) =>
  (text: string): string => {
    if (DATE.test(text)) return text;
    throw outside(text, 'is no date', zeroDateHint(name));
  };

const readDateTime =
  (name: string) =>
  (text: string): string => {
    if (!DATE.test(text.slice(0, 10))) throw outside(text, 'is no date and time', zeroDateHint(name));
    return `${text.slice(0, 10)}T${withoutZeros(text.slice(11))}`;
  };

const readTime =
  (name: string) =>
  (text: string): string => {
    if (/^(?:[01]\d|2[0-3]):/.test(text)) return withoutZeros(text);
    throw outside(text, 'is no time of a day', `Write CAST(${name} AS CHAR) in a query to keep it as text`);
  };

const zeroDateHint = (name: string): string =>
  `Set zeroDateTimeBehavior=convertToNull in the JDBC URL to read 0000-00-00 as null, or write CAST(${name} AS CHAR) in a query to keep it as text`;

const outside = (text: string, what: string, hint: string): Fault => {
  const value = excerpt(fromBytes(text));
  return new Fault('record/term', `${value} ${what}`, { place: { value }, hint });
};
