/**
 * Every recorded scenario: the events of all scenarios up to it, folded over rows by key, are the tables after it.
 *
 * Texts are compared with those of the table. Each difference is named here, and each name is in use.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { SchemaRegistry } from '../../../../src/streams/debezium/avro.ts';
import { decodeMessage } from '../../../../src/streams/debezium/message.ts';
import { PayloadReader } from '../../../../src/streams/debezium/payload.ts';
import { TableStates } from '../../../../src/streams/debezium/tables.ts';
import type { Row, RowValue } from '../../../../src/streams/events.ts';
import { FoldedTables } from './fold.ts';
import { avroSchemaText, type CsvRow, messagesOf, missingStreams, scenarios, TABLES, tableAfter } from './recorded.ts';

const KEYS: Readonly<Record<string, readonly string[]>> = {
  customers: ['id'],
  products: ['sku'],
  orders: ['id'],
  order_lines: ['order_id', 'line_no'],
  stores: ['id'],
  types: ['id'],
  audit: ['what'],
};

interface Difference {
  readonly variant: string;
  /** `postgres/01-snapshot`. */
  readonly scenario: string;
  readonly table: string;
  readonly key: string;
  /** undefined: the row is there on one side only. */
  readonly column: string | undefined;
  readonly ours: string | null | undefined;
  readonly theirs: string | null | undefined;
}

const isOf =
  (variants: string, columns: string) =>
  ({ variant, column }: Difference): boolean =>
    variants.split(' ').includes(variant) && column !== undefined && columns.split(' ').includes(column);

const NO_SCHEMA = /^(?:pgr?|pgf|mar?|my)$/;

const hex = (base64: string | null | undefined): string => `\\x${Buffer.from(base64 ?? '', 'base64').toString('hex')}`;

const withoutZone = (text: string | null | undefined): string | undefined =>
  text
    ?.replace('T', ' ')
    .replaceAll(/\.?0*(?:Z|\+00)/g, '')
    .replace(/\.?0+$/, '');

/** In a snapshot such a date has lost its era. */
const isSnapshotBc = ({ ours, theirs }: Difference): boolean => (theirs ?? '').endsWith(' BC') && /^\d{4}-.*Z$/.test(ours ?? '');

/** What differs, and why it must: most of it is listed in `../shared/streams/README.md`. */
const NAMED: Readonly<Record<string, (difference: Difference) => boolean>> = {
  'without a schema a decimal is base64 whose scale is not known': isOf(
    'pg ma',
    'credit price stock a_numeric_38_10 a_money a_decimal a_numerics',
  ),
  'without a schema a date or a time is a number whose unit is not known': isOf(
    'pg ma',
    'born launched updated_at a_date a_dates a_time a_time3 a_time6 a_timestamp a_timestamp3 a_datetime a_datetime3 a_datetime6 placed_at at a_interval',
  ),
  'without a schema bytes are base64': ({ variant, ours, theirs, column }) =>
    NO_SCHEMA.test(variant) && /^(?:photo|a_bytea|a_binary|a_varbinary|a_blob)$/.test(column ?? '') && hex(ours) === (theirs || '\\x'),
  'without a schema bits are little-endian base64': isOf('pg pgr ma mar', 'a_bits a_bit12'),
  'without a schema dates, times and timestamps have a zone, and a T': ({ ours, theirs, variant }) =>
    NO_SCHEMA.test(variant) && /Z/.test(ours ?? '') && withoutZone(ours) === withoutZone(theirs),
  'without a schema dates before Christ, after the year 9999, and infinite ones are those of ISO 8601': (one) =>
    isOf('pgr', 'a_date a_timestamp')(one) && (/^[+-]\d/.test(one.ours ?? '') || isSnapshotBc(one)),
  'without a schema a number has the digits that Java writes': ({ variant, ours, theirs }) =>
    NO_SCHEMA.test(variant) && /^-?[\d.]+E-?\d+$/.test(ours ?? '') && Math.fround(Number(ours)) === Math.fround(Number(theirs)),
  'a bit is a boolean': (one) => isOf('pg pgr avro', 'a_bit')(one) && one.ours === 't' && one.theirs === '1',
  'MariaDB has empty bytes as an empty text': ({ ours, theirs }) => ours === '\\x' && theirs === '',
  'MariaDB has bytes as one-byte texts; an event has them as hexadecimal digits': (one) =>
    isOf('ma mar', 'a_bit1')(one) && one.ours === '1' && one.theirs === '\\x01',
  'the leading zeros of BIT VARYING are lost, and those of its length are written': (one) =>
    isOf('avro', 'a_bits')(one) && one.ours === '000000000101' && one.theirs === '101',
  'TIMETZ is in UTC': (one) => isOf('avro pg pgr', 'a_timetz')(one) && one.theirs === '12:00:00+02',
  'a two-dimensional array has nulls': (one) => isOf('avro pg pgr', 'a_matrix')(one) && one.ours === '{NULL,NULL}',
  'NaN of NUMERIC is null, or NAN': (one) => isOf('avro pg pgr', 'a_numeric')(one) && one.theirs === 'NaN',
  'MONEY has no currency': (one) => isOf('avro pgr', 'a_money')(one) && one.theirs === '$1,234.56',
  'the interval is ISO 8601': (one) => isOf('pgr', 'a_interval')(one) && one.ours === 'P1Y2M3DT4H5M6.789S',
  'with time.precision.mode=isostring 24:00 is 00:00': (one) => isOf('pgr', 'a_time')(one) && one.theirs === '24:00:00',
  'with binary.handling.mode=base64 bytes that are stored apart and have not changed are null': (one) =>
    isOf('pgr pgf', 'photo')(one) && one.ours === null,
  'BIGINT UNSIGNED is signed, unless bigint.unsigned.handling.mode=precise': ({ variant, theirs, ours, key, column }) =>
    /^(?:ma|mas)$/.test(variant) &&
    ((theirs === '18446744073709551615' && ours === '-1') || (column === undefined && /-1|18446744073709551615/.test(key))),
  "MariaDB's converter makes any number of TINYINT(1) a boolean": (one) => isOf('mar', 'a_bool')(one) && one.theirs === '2',
  'a TIME beyond a day is null with isostring': (one) => isOf('mar', 'a_time')(one) && one.theirs === '-838:59:59',
  'an ENUM has its commas escaped without a schema': (one) => isOf('ma mar', 'a_enum')(one) && one.theirs === 'b,c',
  'dates of zeros are null': ({ theirs, ours }) => ours === null && (theirs ?? '').startsWith('0000-00-00'),
  'the year 0000 is 1900': (one) => isOf('ma mar', 'a_year')(one) && one.ours === '1900',
  'values that a change of the type has rewritten have no event': (one) => isOf('pgr pgs mar mas', 'stock')(one) && one.theirs === '7.000',
  'a scenario between was not recorded': ({ variant, table, key }) => notRecorded.has(`${variant} ${table} ${key}`),
  'rows that no event has touched have the columns before the change of the schema': ({ ours, table, scenario }) =>
    ours === undefined && table === 'products' && scenario >= scenario.replace(/\/.*/, '/10'),
  'InnoDB makes no events for rows that ON UPDATE CASCADE and ON DELETE CASCADE change': ({ scenario, table }) =>
    /^(?:mariadb|mysql)\/(?:0[4-9]|1)/.test(scenario) && (table === 'orders' || table === 'order_lines'),
  'a change by a statement makes no event': ({ scenario, table }) => scenario === 'mariadb/14-statement-format' && table === 'products',
  'an interval that has lost its months says so': (one) =>
    isOf('avro', 'a_interval')(one) && (one.ours ?? '').startsWith('?The interval has'),
  'a timestamp outside of 64 bits of microseconds says so': (one) =>
    isOf('avro', 'a_timestamp')(one) && /^\?.* are no date that the database holds/.test(one.ours ?? ''),
};

/** Rows that differ already before a scenario, since one before it is not here. */
const notRecorded = new Set<string>();

/** Variants of which some scenarios alone were recorded: rows are compared that have events in the scenario. */
const PARTIAL: ReadonlySet<string> = new Set(['pgs', 'mas', 'pgf']);

/** As PostgreSQL writes an item of an array. */
const itemText = (item: unknown): string => {
  const text = String(item);
  return item === null ? 'NULL' : text === '' || /[{}",\\\s]/.test(text) ? JSON.stringify(text) : text;
};

const textOf = (value: RowValue | undefined, database: string): string | null | undefined => {
  if (typeof value !== 'object' || value === null) return value;
  const [yes, no] = database === 'postgres' ? ['t', 'f'] : ['1', '0'];
  if (value.json.startsWith('[')) return `{${JSON.parse(value.json).map(itemText).join(',')}}`;
  return value.json === 'true' ? yes : value.json === 'false' ? no : value.json;
};

/** MySQL and MariaDB write all digits of a fraction; how many the column has is not in a message. */
const withoutZeros = (text: string | null | undefined): string | null | undefined =>
  text?.replace(/^(\d{4}-\d\d-\d\d [\d:]+)(?:\.0*|(\.\d*?)0*)$/, '$1$2') ?? text;

function compare(
  where: Pick<Difference, 'variant' | 'scenario' | 'table'>,
  rows: readonly Row[],
  csv: readonly CsvRow[],
): readonly Difference[] {
  const database = where.scenario.split('/')[0] as string;
  const key = KEYS[where.table] as readonly string[];
  /** Equal rows of a table without a key are numbered. */
  const byKey = <T extends Readonly<Record<string, RowValue | undefined>>>(all: readonly T[]): ReadonlyMap<string, T> => {
    const found = new Map<string, T>();
    for (const row of all) {
      const id = JSON.stringify(key.map((name) => textOf(row[name], database)));
      found.set(where.table === 'audit' ? `${id} ${[...found.keys()].filter((other) => other.startsWith(id)).length}` : id, row);
    }
    return found;
  };
  const [ours, theirs] = [byKey(rows), byKey(csv)];
  return [...new Set([...ours.keys(), ...theirs.keys()])].flatMap((one): Difference[] => {
    const [our, their] = [ours.get(one), theirs.get(one)];
    if (our === undefined || their === undefined)
      return [{ ...where, key: one, column: undefined, ours: our && 'a row', theirs: their && 'a row' }];
    return Object.entries(their).flatMap(([column, cell]) => {
      const [left, right] = [withoutZeros(textOf(our[column], database)), withoutZeros(cell)];
      return left === right ? [] : [{ ...where, key: one, column, ours: left, theirs: right }];
    });
  });
}

/** Names that differences have had. */
const used = new Set<string>();

function unnamed(differences: readonly Difference[]): readonly Difference[] {
  return differences.filter((difference) => {
    const names = Object.entries(NAMED).filter(([, holds]) => holds(difference));
    for (const [name] of names) used.add(name);
    return names.length === 0;
  });
}

const shown = (one: Difference): string => JSON.stringify(one).slice(0, 400);

(missingStreams === undefined ? describe : describe.skip)(
  `recorded scenarios${missingStreams === undefined ? '' : ` (skipped: ${missingStreams})`}`,
  () => {
    const variants = [
      ['postgres', 'pg'],
      ['postgres', 'pgr'],
      ['postgres', 'pgs'],
      ['postgres', 'pgf'],
      ['mariadb', 'ma'],
      ['mariadb', 'mar'],
      ['mariadb', 'mas'],
      ...(scenarios('mysql').length > 0 ? [['mysql', 'my'] as const] : []),
    ] as const;
    test.each(variants)('%s: the messages of %s make its tables', (database, variant) => {
      const folded = new FoldedTables();
      const states = new TableStates(undefined);
      const reader = new PayloadReader(undefined);
      let compared = 0;
      for (const name of scenarios(database)) {
        const scenario = `${database}/${name}`;
        if (database === 'mariadb' && name.startsWith('07') && !scenarios(database).some((one) => one.startsWith('06')))
          for (const table of TABLES) {
            const before = compare({ variant, scenario, table }, folded.rows(table), tableAfter(scenario, table, 'before') ?? []);
            for (const one of unnamed(before)) notRecorded.add(`${variant} ${table} ${one.key}`);
          }
        const rejected: string[] = [];
        const touched = new Set<string>();
        for (const [topic, messages] of messagesOf(scenario, variant)) {
          const table = topic.split('.')[2];
          if (table === undefined || !(TABLES as readonly string[]).includes(table)) continue;
          for (const message of messages) {
            const decoded = decodeMessage(message, reader);
            if (decoded.kind === 'rejected') rejected.push(decoded.reason);
            for (const event of states.eventsOf(table, decoded)) {
              if ('key' in event) touched.add(`${table} ${event.key}`);
              folded.take(event);
            }
          }
        }
        expect(rejected).toEqual([]);
        for (const table of TABLES) {
          const after = tableAfter(scenario, table);
          if (after === undefined) continue;
          const differences = compare({ variant, scenario, table }, folded.rows(table), after);
          const ofEvents = differences.filter(({ key }) => !PARTIAL.has(variant) || touched.has(`${table} ${key}`));
          compared += touched.size;
          expect(unnamed(ofEvents).map(shown)).toEqual([]);
        }
      }
      expect(compared).toBeGreaterThan(4);
      expect(folded.unknown).toEqual([]);
    });

    test('Avro with a registry makes the tables of its scenarios', async () => {
      const asked: string[] = [];
      const server = createServer((request, response) => {
        asked.push(`${request.url}`);
        response.end(JSON.stringify({ schema: avroSchemaText(/(\d+)$/.exec(`${request.url}`)?.[1] as string) }));
      });
      await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
      const registry = new SchemaRegistry(`http://127.0.0.1:${(server.address() as AddressInfo).port}/apis/ccompat/v7`);
      const reader = new PayloadReader(registry);
      const states = new TableStates(undefined);
      const folded = new FoldedTables();
      const rejected: string[] = [];
      try {
        for (const [topic, messages] of messagesOf('avro', 'pga')) {
          const table = topic.split('.')[2];
          for (const message of messages) {
            await reader.prepare(message.key, new AbortController().signal);
            await reader.prepare(message.value, new AbortController().signal);
            const decoded = decodeMessage(message, reader);
            if (table === undefined) expect(decoded.kind).toBe('boundary');
            else if (decoded.kind === 'rejected') rejected.push(decoded.reason);
            else for (const event of states.eventsOf(table, decoded)) folded.take(event);
          }
        }
      } finally {
        await registry.close();
        server.close();
      }
      expect(new Set(asked).size).toBe(asked.length);
      expect(rejected).toEqual([]);
      for (const table of ['types', 'stores'] as const) {
        const scenario = 'postgres/11-types';
        const differences = compare(
          { variant: 'avro', scenario, table },
          folded.rows(table),
          tableAfter(scenario, table) as readonly CsvRow[],
        );
        expect(unnamed(differences).map(shown)).toEqual([]);
      }
      expect(folded.rows('types')).toHaveLength(5);
    });

    // Another recording may have more scenarios.
    (process.env.DEBEZIUM_STREAMS === undefined ? test : test.skip)('the names of differences are all in use', () =>
      expect(Object.keys(NAMED).filter((name) => !used.has(name))).toEqual([]),
    );
  },
);
