/**
 * Values of a binlog as the texts that a SELECT gives.
 *
 * @see https://dev.mysql.com/doc/dev/mysql-server/latest/field__types_8h.html and https://mariadb.com/kb/en/rows_event_v1v2-rows_compressed_event_v1/
 */

/** A column of a table, as the catalogue has it. */
export interface CatalogueColumn {
  readonly name: string;
  /** `decimal(10,2) unsigned` */
  readonly type: string;
  /** null: binary, or no text. */
  readonly charset: string | null;
}

/** How the library is to read a column. Its own decoders lose digits, zones and characters, so it is set to give bytes. */
export interface WireColumn {
  readonly type: number;
  readonly charset: null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** By which the library tells types apart that share a code. */
  readonly columnType: string;
}

/** The text of what the library has read. @param offsetSeconds of the session's time zone at an instant, in seconds since 1970 */
export type ReadText = (value: unknown, offsetSeconds: (seconds: number) => number) => string | null;

export interface Decoder {
  readonly wire: WireColumn;
  readonly text: ReadText;
  /** The instant of a value whose text depends on the time zone. */
  readonly instant?: (value: unknown) => number;
}

export interface DecodeOptions {
  /** 0000-00-00 is null. */
  readonly zeroDatesAreNull: boolean;
}

const TYPE = {
  TINY: 1,
  SHORT: 2,
  LONG: 3,
  FLOAT: 4,
  DOUBLE: 5,
  TIMESTAMP: 7,
  LONGLONG: 8,
  INT24: 9,
  DATE: 10,
  TIME: 11,
  DATETIME: 12,
  YEAR: 13,
  NEWDATE: 14,
  VARCHAR: 15,
  BIT: 16,
  TIMESTAMP2: 17,
  DATETIME2: 18,
  TIME2: 19,
  BLOB_COMPRESSED: 140,
  VARCHAR_COMPRESSED: 141,
  VECTOR: 242,
  JSON: 245,
  NEWDECIMAL: 246,
  ENUM: 247,
  SET: 248,
  TINY_BLOB: 249,
  MEDIUM_BLOB: 250,
  LONG_BLOB: 251,
  BLOB: 252,
  VAR_STRING: 253,
  STRING: 254,
  GEOMETRY: 255,
} as const;

const INTEGER_BYTES: Readonly<Record<number, number>> = {
  [TYPE.TINY]: 1,
  [TYPE.SHORT]: 2,
  [TYPE.INT24]: 3,
  [TYPE.LONG]: 4,
  [TYPE.LONGLONG]: 8,
};

/** @returns undefined: values of such a column cannot be read, or the catalogue shows another type than the log */
export function decoderOf(
  code: number,
  metadata: Readonly<Record<string, number>>,
  column: CatalogueColumn,
  { zeroDatesAreNull }: DecodeOptions,
): Decoder | undefined {
  const { type } = column;
  const base = /^[a-z0-9]+/.exec(type)?.[0] ?? '';
  const zeroDate = (text: string): string | null => (zeroDatesAreNull && text.startsWith('0000-00-00') ? null : text);
  const decimals = metadata.decimals ?? 0;
  switch (code) {
    case TYPE.TINY:
    case TYPE.SHORT:
    case TYPE.INT24:
    case TYPE.LONG:
    case TYPE.LONGLONG: {
      if (!base.endsWith('int')) return undefined;
      const size = INTEGER_BYTES[code] as number;
      const isUnsigned = / unsigned/.test(type);
      const width = widthOf(type);
      return fixed(size, (bytes) => padded(String(isUnsigned ? uint(bytes) : BigInt.asIntN(8 * size, uint(bytes))), width));
    }
    case TYPE.FLOAT:
    case TYPE.DOUBLE: {
      if (base !== 'float' && base !== 'double') return undefined;
      const scale = /\(\d+,(\d+)\)/.exec(type)?.[1];
      const isDouble = code === TYPE.DOUBLE;
      const width = widthOf(type) ?? (/ zerofill/.test(type) ? (isDouble ? 22 : 12) : undefined);
      return fixed(isDouble ? 8 : 4, (bytes) => {
        const number = isDouble ? bytes.readDoubleLE() : bytes.readFloatLE();
        return padded(scale === undefined ? floatText(number, isDouble) : number.toFixed(Number(scale)), width);
      });
    }
    case TYPE.NEWDECIMAL: {
      if (base !== 'decimal') return undefined;
      const { precision = 0 } = metadata;
      const width = / zerofill/.test(type) ? precision + (decimals > 0 ? 1 : 0) : undefined;
      return fixed(decimalBytes(precision - decimals) + decimalBytes(decimals), (bytes) =>
        padded(decimalText(bytes, precision, decimals), width),
      );
    }
    case TYPE.YEAR:
      return base === 'year' ? fixed(1, (bytes) => (bytes[0] === 0 ? '0000' : String(1900 + (bytes[0] as number)))) : undefined;
    case TYPE.DATE:
    case TYPE.NEWDATE:
      if (base !== 'date') return undefined;
      return fixed(3, (bytes) => {
        const date = bytes.readUIntLE(0, 3);
        return zeroDate(`${digits(date >> 9, 4)}-${digits((date >> 5) & 15, 2)}-${digits(date & 31, 2)}`);
      });
    case TYPE.TIME2:
      return base === 'time' ? fixed(3 + fractionBytes(decimals), (bytes) => timeText(bytes, decimals)) : undefined;
    case TYPE.DATETIME2:
      return base === 'datetime' ? fixed(5 + fractionBytes(decimals), (bytes) => zeroDate(datetimeText(bytes, decimals))) : undefined;
    case TYPE.TIMESTAMP2: {
      if (base !== 'timestamp') return undefined;
      const { wire } = fixed(4 + fractionBytes(decimals), () => null);
      return {
        wire,
        instant: (value) => (value as Buffer).readUInt32BE(),
        text: (value, offset) => zeroDate(timestampText(value as Buffer, decimals, offset)),
      };
    }
    // Before MySQL 5.6, and in tables that MariaDB makes without mysql56_temporal_format. Those with fractions have other sizes, which the log does not say.
    case TYPE.TIME:
      return type === 'time' ? fixed(3, oldTimeText) : undefined;
    case TYPE.DATETIME:
      return type === 'datetime' ? fixed(8, (bytes) => zeroDate(oldDatetimeText(bytes))) : undefined;
    case TYPE.TIMESTAMP: {
      if (type !== 'timestamp') return undefined;
      const instant = (value: unknown): number => (value as Buffer).readUInt32LE();
      return { ...fixed(4, () => null), instant, text: (value, offset) => zeroDate(instantText(instant(value), offset)) };
    }
    case TYPE.BIT:
      return base === 'bit' ? fixed((((metadata.bits ?? 0) + 7) / 8) | 0, latin1) : undefined;
    case TYPE.ENUM: {
      const values = valuesOf(type);
      return base === 'enum' ? fixed(metadata.size ?? 1, (bytes) => values[Number(uint(bytes)) - 1] ?? '') : undefined;
    }
    case TYPE.SET: {
      const values = valuesOf(type);
      if (base !== 'set') return undefined;
      return fixed(metadata.size ?? 1, (bytes) => {
        const set = uint(bytes);
        return values.filter((_, i) => ((set >> BigInt(i)) & 1n) === 1n).join(',');
      });
    }
    case TYPE.JSON:
      return { wire: { type: code, charset: null, metadata, columnType: type }, text: (value) => (value === null ? null : String(value)) };
    case TYPE.STRING:
    case TYPE.VARCHAR:
    case TYPE.VAR_STRING:
      // The library pads their bytes and writes them as the server does.
      if (base === 'uuid' || base === 'inet4' || base === 'inet6')
        return { wire: { type: code, charset: null, metadata, columnType: base }, text: String };
      return characters(TYPE.BLOB, (metadata.max_length ?? 0) > 255 ? 2 : 1, column, base);
    case TYPE.VARCHAR_COMPRESSED:
      return characters(TYPE.BLOB_COMPRESSED, (metadata.max_length ?? 0) > 255 ? 2 : 1, column, base);
    case TYPE.BLOB_COMPRESSED:
      return characters(TYPE.BLOB_COMPRESSED, metadata.length_size ?? 4, column, base);
    case TYPE.TINY_BLOB:
    case TYPE.MEDIUM_BLOB:
    case TYPE.LONG_BLOB:
    case TYPE.BLOB:
    case TYPE.GEOMETRY:
    case TYPE.VECTOR:
      return characters(TYPE.BLOB, metadata.length_size ?? 4, column, base);
    default:
      return undefined;
  }
}

const latin1 = (bytes: Buffer): string => bytes.toString('latin1');

/** Bytes of a fixed number: for the library a BIT of so many. */
const fixed = (size: number, text: (bytes: Buffer) => string | null): Decoder => ({
  wire: { type: TYPE.BIT, charset: null, metadata: { bits: 8 * size }, columnType: '' },
  text: (value) => text(value as Buffer),
});

/** Bytes with their length before them: for the library a BLOB. */
function characters(type: number, lengthSize: number, { type: columnType, charset }: CatalogueColumn, base: string): Decoder | undefined {
  const wire = { type, charset: null, metadata: { length_size: lengthSize }, columnType: '' };
  if (charset === null) {
    const length = base === 'binary' ? Number(/\((\d+)\)/.exec(columnType)?.[1] ?? 1) : 0;
    return { wire, text: (value) => latin1(value as Buffer).padEnd(length, '\0') };
  }
  const decode = charsetDecoder(charset);
  return decode === undefined ? undefined : { wire, text: (value) => decode(value as Buffer) };
}

/** By MySQL's name; undefined: the name is not known. */
export function charsetDecoder(charset: string): ((bytes: Buffer) => string) | undefined {
  switch (charset) {
    case 'utf8mb4':
    case 'utf8mb3':
    case 'utf8':
    case 'ascii':
      return (bytes) => bytes.toString('utf8');
    case 'utf32':
      return (bytes) => String.fromCodePoint(...Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readUInt32BE(4 * i)));
    case 'utf16le':
      return (bytes) => bytes.toString('utf16le');
    case 'ucs2':
    case 'utf16':
      return (bytes) => Buffer.from(bytes).swap16().toString('utf16le');
    case 'latin1':
      return (bytes) => bytes.toString('latin1').replace(/[\x80-\x9f]/g, (c) => WINDOWS[c.charCodeAt(0) - 0x80] ?? c);
    default: {
      const label = LABELS[charset];
      if (label === undefined) return undefined;
      const decoder = new TextDecoder(label);
      return (bytes) => decoder.decode(bytes);
    }
  }
}

/** What latin1 has from 0x80 on; a space: the control character. The decoder of Node 20 has control characters alone. */
const WINDOWS = [...'€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ'].map((c) => (c === ' ' ? undefined : c));

/** MySQL's character sets that the Encoding Standard has under another name. @see https://encoding.spec.whatwg.org/ */
const LABELS: Readonly<Record<string, string>> = {
  latin2: 'iso-8859-2',
  latin5: 'windows-1254',
  latin7: 'iso-8859-13',
  greek: 'iso-8859-7',
  hebrew: 'iso-8859-8',
  cp1250: 'windows-1250',
  cp1251: 'windows-1251',
  cp1256: 'windows-1256',
  cp1257: 'windows-1257',
  cp866: 'ibm866',
  koi8r: 'koi8-r',
  koi8u: 'koi8-u',
  tis620: 'windows-874',
  macroman: 'macintosh',
  sjis: 'shift_jis',
  cp932: 'shift_jis',
  ujis: 'euc-jp',
  eucjpms: 'euc-jp',
  euckr: 'euc-kr',
  big5: 'big5',
  gb2312: 'gbk',
  gbk: 'gbk',
  gb18030: 'gb18030',
};

/** `enum('a','b''c')` → its values. */
export function valuesOf(type: string): readonly string[] {
  return [...type.matchAll(/'((?:[^']|'')*)'/g)].map(([, value]) => (value as string).replaceAll("''", "'"));
}

const uint = (bytes: Buffer): bigint => (bytes.length <= 6 ? BigInt(bytes.readUIntLE(0, bytes.length)) : bytes.readBigUInt64LE());

const digits = (number: number, count: number): string => String(number).padStart(count, '0');

/** The display width of a column with ZEROFILL. */
const widthOf = (type: string): number | undefined =>
  / zerofill/.test(type) ? Number(/\((\d+)/.exec(type)?.[1] ?? Number.NaN) || undefined : undefined;

const padded = (text: string, width: number | undefined): string => (width === undefined ? text : text.padStart(width, '0'));

/** Significant digits that the server shows of a FLOAT. */
const FLOAT_DIGITS = 6;
/** From this power of ten on, and below its negative, the server writes an exponent. */
const MOST_PLACES = 15;

/** As the server's `my_gcvt` writes a number. */
export function floatText(number: number, isDouble: boolean): string {
  if (number === 0) return Object.is(number, -0) ? '-0' : '0';
  const [, sign = '', first = '', rest = '', power = ''] =
    /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(isDouble ? number.toExponential() : number.toExponential(FLOAT_DIGITS - 1)) ?? [];
  const significant = (first + rest).replace(/0+$/, '');
  const point = Number(power) + 1;
  if (point > MOST_PLACES || point < 1 - MOST_PLACES) {
    const fraction = significant.slice(1);
    return `${sign}${first}${fraction === '' ? '' : `.${fraction}`}e${Number(power)}`;
  }
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${significant}`;
  if (significant.length <= point) return sign + significant.padEnd(point, '0');
  return `${sign}${significant.slice(0, point)}.${significant.slice(point)}`;
}

/** Nine digits are four bytes; fewer take as many as they need. */
const DIGIT_BYTES = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4] as const;

const decimalBytes = (count: number): number => 4 * Math.floor(count / 9) + (DIGIT_BYTES[count % 9] as number);

/** Big-endian groups of digits; the first bit is inverted, and all bits of a negative number. */
function decimalText(given: Buffer, precision: number, scale: number): string {
  const bytes = Buffer.from(given);
  const isNegative = ((bytes[0] ?? 0) & 0x80) === 0;
  bytes[0] = (bytes[0] ?? 0) ^ 0x80;
  if (isNegative) for (let i = 0; i < bytes.length; i++) bytes[i] = ~(bytes[i] as number);
  let at = 0;
  const group = (count: number): string => {
    const size = DIGIT_BYTES[count] as number;
    const number = size === 0 ? 0 : bytes.readUIntBE(at, size);
    at += size;
    return count === 0 ? '' : digits(number, count);
  };
  const integral = precision - scale;
  let whole = group(integral % 9);
  for (let i = 0; i < Math.floor(integral / 9); i++) whole += group(9);
  let fraction = '';
  for (let i = 0; i < Math.floor(scale / 9); i++) fraction += group(9);
  fraction += group(scale % 9);
  return `${isNegative ? '-' : ''}${whole.replace(/^0+(?=\d)/, '') || '0'}${scale === 0 ? '' : `.${fraction}`}`;
}

const fractionBytes = (decimals: number): number => (decimals + 1) >> 1;

/** @param value of the bytes of a fraction, which hold an even number of digits */
const fractionText = (value: number, decimals: number): string =>
  decimals === 0 ? '' : `.${digits(value, 2 * fractionBytes(decimals)).slice(0, decimals)}`;

function timeText(bytes: Buffer, decimals: number): string {
  const unit = 256 ** fractionBytes(decimals);
  const signed = bytes.readUIntBE(0, bytes.length) - 0x800000 * unit;
  const packed = Math.abs(signed);
  const time = Math.floor(packed / unit);
  const text = `${digits((time >> 12) & 0x3ff, 2)}:${digits((time >> 6) & 63, 2)}:${digits(time & 63, 2)}`;
  return `${signed < 0 ? '-' : ''}${text}${fractionText(packed % unit, decimals)}`;
}

function datetimeText(bytes: Buffer, decimals: number): string {
  const packed = bytes.readUIntBE(0, 5) - 0x8000000000;
  const date = Math.floor(packed / 2 ** 17);
  const time = packed % 2 ** 17;
  const months = Math.floor(date / 32);
  const fraction = decimals === 0 ? 0 : bytes.readUIntBE(5, fractionBytes(decimals));
  return (
    `${digits(Math.floor(months / 13), 4)}-${digits(months % 13, 2)}-${digits(date % 32, 2)} ` +
    `${digits(time >> 12, 2)}:${digits((time >> 6) & 63, 2)}:${digits(time & 63, 2)}${fractionText(fraction, decimals)}`
  );
}

function timestampText(bytes: Buffer, decimals: number, offset: (seconds: number) => number): string {
  const fraction = decimals === 0 ? 0 : bytes.readUIntBE(4, fractionBytes(decimals));
  return instantText(bytes.readUInt32BE(), offset) + fractionText(fraction, decimals);
}

function instantText(seconds: number, offset: (seconds: number) => number): string {
  if (seconds === 0) return '0000-00-00 00:00:00';
  return new Date((seconds + offset(seconds)) * 1000).toISOString().slice(0, 19).replace('T', ' ');
}

function oldTimeText(bytes: Buffer): string {
  const signed = bytes.readIntLE(0, 3);
  const time = Math.abs(signed);
  return `${signed < 0 ? '-' : ''}${digits(Math.floor(time / 10_000), 2)}:${digits(Math.floor(time / 100) % 100, 2)}:${digits(time % 100, 2)}`;
}

function oldDatetimeText(bytes: Buffer): string {
  const text = String(bytes.readBigUInt64LE()).padStart(14, '0');
  return text.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/, '$1-$2-$3 $4:$5:$6');
}
