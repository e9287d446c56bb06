/** Rows as Debezium writes them, from the texts of their server: written from its documentation, and not from the code that reads them. */
import type { ColumnKind } from '../../../../src/streams/events.ts';
import type { Random } from '../../../support/random.ts';

export interface EncodedColumn {
  readonly kind: ColumnKind;
  readonly isArray?: true;
  /** Schema of Kafka Connect, without `optional` and `field`. */
  readonly schema: {
    readonly type: string;
    readonly name?: string;
    readonly parameters?: Readonly<Record<string, string>>;
    readonly items?: unknown;
  };
  /** A text of the server, and how it is written: JSON text for the JSON converter. */
  readonly value: (random: Random) => { readonly text: string; readonly json: string };
}

const DAY_MS = 86_400_000;
const quoted = (text: string): string => JSON.stringify(text);

/** Two's complement, big-endian, as short as it can be. */
function unscaled(value: bigint): string {
  let length = 1;
  while (value < -(1n << BigInt(8 * length - 1)) || value >= 1n << BigInt(8 * length - 1)) length++;
  return Buffer.from(
    BigInt.asUintN(8 * length, value)
      .toString(16)
      .padStart(2 * length, '0'),
    'hex',
  ).toString('base64');
}

function digits(random: Random, most: number): bigint {
  const length = random.between(1, most);
  const text = Array.from({ length }, () => random.between(0, 9)).join('');
  return BigInt(text) * (random.chance(0.5) ? -1n : 1n);
}

function decimalText(value: bigint, scale: number): string {
  const [sign, all] = value < 0n ? ['-', String(-value)] : ['', String(value)];
  if (scale === 0) return sign + all;
  const filled = all.padStart(scale + 1, '0');
  return `${sign}${filled.slice(0, filled.length - scale)}.${filled.slice(filled.length - scale)}`;
}

/** A day of the years 1 to 9999. */
function day(random: Random): { readonly days: number; readonly text: string } {
  const days = random.between(-719_162, 2_932_896);
  return { days, text: new Date(days * DAY_MS).toISOString().slice(0, 10) };
}

/** Microseconds of a day, and their text without zeros at the end. */
function clock(random: Random, precision: 3 | 6): { readonly micros: number; readonly text: string } {
  const unit = 10 ** (6 - precision);
  const micros = random.chance(0.3) ? random.between(0, 86_399) * 1e6 : random.between(0, 86_400 * 10 ** precision - 1) * unit;
  const seconds = Math.floor(micros / 1e6);
  const two = (part: number): string => String(part).padStart(2, '0');
  const fraction = String(micros % 1e6)
    .padStart(6, '0')
    .replace(/0+$/, '');
  const text = [seconds / 3600, (seconds / 60) % 60, seconds % 60].map((part) => two(Math.floor(part))).join(':');
  return { micros, text: fraction === '' ? text : `${text}.${fraction}` };
}

const ALPHABET = [...'abc XYZ019"\\\'{},;:\n\téß大🐘\u0001NULL'];
const characters = (random: Random): string => Array.from({ length: random.between(0, 12) }, () => random.pick(ALPHABET)).join('');

const bytes = (random: Random, length = random.between(0, 20)): Buffer => Buffer.from(Array.from({ length }, () => random.between(0, 255)));

const integer = (type: string, bits: number): EncodedColumn => ({
  kind: 'integer',
  schema: { type },
  value: (random) => {
    const most = 2n ** BigInt(bits - 1);
    const value = random.chance(0.2) ? random.pick([most - 1n, -most, 0n]) : BigInt.asIntN(bits, digits(random, 19));
    return { text: `${value}`, json: `${value}` };
  },
});

const timestamp = (name: string, precision: 3 | 6, perMicro: (micros: bigint) => bigint): EncodedColumn => ({
  kind: 'timestamp',
  schema: { type: 'int64', name: `io.debezium.time.${name}` },
  value: (random) => {
    const [date, time] = [day(random), clock(random, precision)];
    return { text: `${date.text} ${time.text}`, json: String(perMicro(BigInt(date.days) * 86_400_000_000n + BigInt(time.micros))) };
  },
});

const time = (name: string, type: string, precision: 3 | 6, perMicro: (micros: bigint) => bigint): EncodedColumn => ({
  kind: 'time',
  schema: { type, name: `io.debezium.time.${name}` },
  value: (random) => {
    const { micros, text } = clock(random, precision);
    return { text, json: String(perMicro(BigInt(micros))) };
  },
});

/** With a fixed scale. */
const decimal = (scale: number): EncodedColumn => ({
  kind: 'decimal',
  schema: {
    type: 'bytes',
    name: 'org.apache.kafka.connect.data.Decimal',
    parameters: { scale: `${scale}`, 'connect.decimal.precision': '38' },
  },
  value: (random) => {
    const value = digits(random, 38);
    return { text: decimalText(value, scale), json: quoted(unscaled(value)) };
  },
});

const text = (name?: string): EncodedColumn => ({
  kind: 'text',
  schema: { type: 'string', ...(name === undefined ? {} : { name }) },
  value: (random) => {
    const value = characters(random);
    return { text: value, json: quoted(value) };
  },
});

const COMMON: Readonly<Record<string, EncodedColumn>> = {
  int16: integer('int16', 16),
  int32: integer('int32', 32),
  int64: integer('int64', 64),
  decimal0: decimal(0),
  decimal2: decimal(2),
  decimal10: decimal(10),
  text: text(),
  json: text('io.debezium.data.Json'),
  uuid: text('io.debezium.data.Uuid'),
  bytes: {
    kind: 'binary',
    schema: { type: 'bytes' },
    value: (random) => {
      const value = bytes(random);
      return { text: `\\x${value.toString('hex')}`, json: quoted(value.toString('base64')) };
    },
  },
  date: {
    kind: 'date',
    schema: { type: 'int32', name: 'io.debezium.time.Date' },
    value: (random) => {
      const { days, text } = day(random);
      return { text, json: `${days}` };
    },
  },
  connectDate: {
    kind: 'date',
    schema: { type: 'int32', name: 'org.apache.kafka.connect.data.Date' },
    value: (random) => {
      const { days, text } = day(random);
      return { text, json: `${days}` };
    },
  },
  isoDate: {
    kind: 'date',
    schema: { type: 'string', name: 'io.debezium.time.IsoDate' },
    value: (random) => {
      const { text } = day(random);
      return { text, json: quoted(`${text}Z`) };
    },
  },
  time: time('Time', 'int32', 3, (micros) => micros / 1000n),
  microTime: time('MicroTime', 'int64', 6, (micros) => micros),
  nanoTime: time('NanoTime', 'int64', 6, (micros) => micros * 1000n),
  isoTime: {
    kind: 'time',
    schema: { type: 'string', name: 'io.debezium.time.IsoTime' },
    value: (random) => {
      const { text } = clock(random, 6);
      return { text, json: quoted(`${text}Z`) };
    },
  },
  timestamp: timestamp('Timestamp', 3, (micros) => micros / 1000n),
  microTimestamp: timestamp('MicroTimestamp', 6, (micros) => micros),
  isoTimestamp: {
    kind: 'timestamp',
    schema: { type: 'string', name: 'io.debezium.time.IsoTimestamp' },
    value: (random) => {
      const [date, time] = [day(random), clock(random, 6)];
      return { text: `${date.text} ${time.text}`, json: quoted(`${date.text}T${time.text}Z`) };
    },
  },
};

/** An array of values, in the form of PostgreSQL. */
const arrayOf = (element: EncodedColumn): EncodedColumn => ({
  kind: element.kind,
  isArray: true,
  schema: { type: 'array', items: { ...element.schema, optional: true } },
  value: (random) => {
    const items = Array.from({ length: random.between(0, 4) }, () => (random.chance(0.2) ? undefined : element.value(random)));
    const cells = items.map((item) => {
      if (item === undefined) return 'NULL';
      const isBare = item.text !== '' && !/[{}",\\\s]/.test(item.text) && item.text.toUpperCase() !== 'NULL';
      return isBare ? item.text : `"${item.text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
    });
    return { text: `{${cells.join(',')}}`, json: `[${items.map((item) => item?.json ?? 'null').join(',')}]` };
  },
});

const SCALED = [
  { type: 'int32', field: 'scale' },
  { type: 'bytes', field: 'value' },
];

export const POSTGRESQL: Readonly<Record<string, EncodedColumn>> = {
  ...COMMON,
  boolean: {
    kind: 'boolean',
    schema: { type: 'boolean' },
    value: (random) => {
      const value = random.chance(0.5);
      return { text: value ? 't' : 'f', json: `${value}` };
    },
  },
  double: {
    kind: 'double',
    schema: { type: 'double' },
    value: (random) => random.pick(DOUBLES),
  },
  single: {
    kind: 'double',
    schema: { type: 'float' },
    value: (random) => random.pick(SINGLES),
  },
  variableDecimal: {
    kind: 'decimal',
    schema: { type: 'struct', name: 'io.debezium.data.VariableScaleDecimal', fields: SCALED } as EncodedColumn['schema'],
    value: (random) => {
      const [value, scale] = [digits(random, 40), random.between(0, 20)];
      return { text: decimalText(value, scale), json: `{"scale":${scale},"value":${quoted(unscaled(value))}}` };
    },
  },
  zonedTimestamp: {
    kind: 'timestamp with time zone',
    schema: { type: 'string', name: 'io.debezium.time.ZonedTimestamp' },
    value: (random) => {
      const [date, time] = [day(random), clock(random, 6)];
      const [whole, fraction = ''] = time.text.split('.');
      return { text: `${date.text} ${time.text}+00`, json: quoted(`${date.text}T${whole}.${fraction.padEnd(6, '0')}Z`) };
    },
  },
  zonedTime: {
    kind: 'time with time zone',
    schema: { type: 'string', name: 'io.debezium.time.ZonedTime' },
    value: (random) => {
      const { text } = clock(random, 6);
      return { text: `${text}+00`, json: quoted(`${text}Z`) };
    },
  },
  interval: {
    kind: 'interval',
    schema: { type: 'string', name: 'io.debezium.time.Interval' },
    value: (random) => {
      const parts = [...'YMDHM'].map(() => (random.chance(0.5) ? 0 : random.between(-30, 30)));
      const seconds = random.chance(0.5) ? 0 : random.between(-59_999, 59_999) / 1000;
      const [years, months, days, hours, minutes] = parts;
      const kept = (value: number | undefined, unit: string): string => (value === 0 ? '' : `${value}${unit}`);
      const date = kept(years, 'Y') + kept(months, 'M') + kept(days, 'D');
      const time = kept(hours, 'H') + kept(minutes, 'M') + kept(seconds, 'S');
      const short = `P${date}${time === '' ? '' : `T${time}`}`;
      return { text: short === 'P' ? 'PT0S' : short, json: quoted(`P${years}Y${months}M${days}DT${hours}H${minutes}M${seconds}S`) };
    },
  },
  duration: {
    kind: 'interval',
    schema: { type: 'int64', name: 'io.debezium.time.MicroDuration' },
    value: (random) => {
      const [hours, minutes, seconds] = [random.between(0, 700), random.between(0, 59), random.between(1, 59)];
      return {
        text: `PT${hours === 0 ? '' : `${hours}H`}${minutes === 0 ? '' : `${minutes}M`}${seconds}S`,
        json: `${((hours * 60 + minutes) * 60 + seconds) * 1e6}`,
      };
    },
  },
  bits: {
    kind: 'text',
    schema: { type: 'bytes', name: 'io.debezium.data.Bits', parameters: { length: '12' } },
    value: (random) => {
      const value = random.between(0, 4095);
      return { text: value.toString(2).padStart(12, '0'), json: quoted(Buffer.from([value & 255, value >> 8]).toString('base64')) };
    },
  },
  texts: arrayOf(text()),
  ints: arrayOf(integer('int32', 32)),
  decimals: arrayOf(decimal(2)),
  dates: arrayOf(COMMON.date as EncodedColumn),
};

/** PostgreSQL's text of a double or a real, and that of Java. */
const DOUBLES = [
  ['0', '0.0'],
  ['-0', '-0.0'],
  ['0.1', '0.1'],
  ['-1.5', '-1.5'],
  ['100000000000000', '1.0E14'],
  ['1e+15', '1.0E15'],
  ['0.0001', '1.0E-4'],
  ['1e-05', '1.0E-5'],
  ['1.7976931348623157e+308', '1.7976931348623157E308'],
  ['5e-324', '4.9E-324'],
  ['123456789.125', '1.23456789125E8'],
].map(([text = '', json = '']) => ({ text, json }));

const SINGLES = [
  ['0', '0.0'],
  ['1.1', '1.1'],
  ['-0.25', '-0.25'],
  ['100000', '100000.0'],
  ['1e+06', '1000000.0'],
  ['1.2345678e+07', '1.2345678E7'],
  ['3.4028235e+38', '3.4028235E38'],
  ['1e-45', '1.4E-45'],
].map(([text = '', json = '']) => ({ text, json }));

export const MARIADB: Readonly<Record<string, EncodedColumn>> = {
  ...COMMON,
  boolean: {
    kind: 'boolean',
    schema: { type: 'boolean' },
    value: (random) => {
      const value = random.chance(0.5);
      return { text: value ? '1' : '0', json: `${value}` };
    },
  },
  unsigned: {
    kind: 'integer',
    schema: { type: 'bytes', name: 'org.apache.kafka.connect.data.Decimal', parameters: { scale: '0' } },
    value: (random) => {
      const value = BigInt.asUintN(64, digits(random, 20));
      return { text: `${value}`, json: quoted(unscaled(value)) };
    },
  },
  duration: {
    kind: 'time',
    schema: { type: 'int64', name: 'io.debezium.time.MicroTime' },
    value: (random) => {
      const [hours, minutes, seconds, sign] = [
        random.between(0, 838),
        random.between(0, 59),
        random.between(1, 59),
        random.pick(['', '-']),
      ];
      const two = (part: number): string => String(part).padStart(2, '0');
      return {
        text: `${sign}${two(hours)}:${two(minutes)}:${two(seconds)}`,
        json: `${sign}${((hours * 60 + minutes) * 60 + seconds) * 1e6}`,
      };
    },
  },
  zonedTimestamp: {
    kind: 'timestamp',
    schema: { type: 'string', name: 'io.debezium.time.ZonedTimestamp' },
    value: (random) => {
      const [date, time] = [day(random), clock(random, 6)];
      return { text: `${date.text} ${time.text}`, json: quoted(`${date.text}T${time.text}Z`) };
    },
  },
  year: {
    kind: 'year',
    schema: { type: 'int32', name: 'io.debezium.time.Year' },
    value: (random) => {
      const year = random.chance(0.2) ? 0 : random.between(1901, 2155);
      return { text: String(year).padStart(4, '0'), json: `${year === 0 ? 1900 : year}` };
    },
  },
  bits: {
    kind: 'binary',
    schema: { type: 'bytes', name: 'io.debezium.data.Bits', parameters: { length: '12' } },
    value: (random) => {
      const value = random.between(0, 4095);
      return { text: `\\x${value.toString(16).padStart(4, '0')}`, json: quoted(Buffer.from([value & 255, value >> 8]).toString('base64')) };
    },
  },
  enum: {
    kind: 'text',
    schema: { type: 'string', name: 'io.debezium.data.Enum', parameters: { allowed: 'a,b\\,c' } },
    value: (random) =>
      random.pick([
        { text: 'a', json: '"a"' },
        { text: 'b,c', json: '"b\\\\,c"' },
      ]),
  },
};
