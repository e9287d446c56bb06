/** Each trap of the messages of Debezium, alone. */
import { describe, expect, test } from '@jest/globals';
import { SchemaRegistry } from '../../../../src/streams/debezium/avro.ts';
import { type Decoded, decodeMessage } from '../../../../src/streams/debezium/message.ts';
import { PayloadReader } from '../../../../src/streams/debezium/payload.ts';
import { TableStates } from '../../../../src/streams/debezium/tables.ts';
import type { ChangeEvent, Row } from '../../../../src/streams/events.ts';

const MARKER = '__debezium_unavailable_value';

interface Given {
  readonly key?: unknown;
  readonly value: unknown;
  readonly headers?: Readonly<Record<string, unknown>>;
}

/** A text is taken as it is. */
const bytes = (one: unknown): Buffer | null =>
  one === null || one === undefined ? null : Buffer.from(typeof one === 'string' ? one : JSON.stringify(one));

function decode({ key, value, headers = {} }: Given, reader = new PayloadReader(undefined)): Decoded {
  const all = Object.fromEntries(Object.entries(headers).map(([name, header]) => [name, bytes(header)]));
  return decodeMessage(
    { topic: 'p.shop.t', partition: 0, offset: '7', timestamp: 5, key: bytes(key), value: bytes(value), headers: all },
    reader,
  );
}

function eventsOf(...all: readonly Given[]): readonly ChangeEvent[] {
  const states = new TableStates(undefined);
  return all.flatMap((one) => states.eventsOf('t', decode(one)));
}

const pg = (more: Readonly<Record<string, unknown>> = {}) => ({
  connector: 'postgresql',
  db: 'd',
  schema: 'shop',
  table: 't',
  snapshot: 'false',
  sequence: '["9","10"]',
  lsn: 10,
  ...more,
});
const maria = (more: Readonly<Record<string, unknown>> = {}) => ({
  connector: 'mariadb',
  db: 'shop',
  table: 't',
  snapshot: 'false',
  gtid: '0-1-57',
  file: 'binlog.000001',
  pos: 270,
  row: 2,
  ...more,
});
const change = (op: string, before: unknown, after: unknown, source: unknown = pg()) => ({ before, after, source, op });
const positioned = (first: number, ...others: readonly number[]): string =>
  [first, ...others].map((one) => String(one).padStart(20, '0')).join('');
const reasonOf = (given: Given): string => {
  const decoded = decode(given);
  return decoded.kind === 'rejected' ? decoded.reason : decoded.kind;
};

describe('keys and values', () => {
  test('integers beyond 2^53 and decimals keep all digits, in keys and rows', () => {
    const value = `{"before":null,"after":{"id":9007199254740993,"price":1.10},"source":${JSON.stringify(pg())},"op":"c"}`;
    expect(eventsOf({ key: '{"id":9007199254740993}', value })).toEqual([
      {
        kind: 'row',
        table: 't',
        key: '["9007199254740993"]',
        position: positioned(9, 10),
        row: { id: { json: '9007199254740993' }, price: { json: '1.10' } },
      },
    ]);
  });

  test('a key of several columns, of texts, or of one value', () => {
    const keyOf = (key: unknown) => eventsOf({ key, value: change('d', null, null) }).map((event) => 'key' in event && event.key);
    expect(keyOf({ a: 1, b: 'x"y' })).toEqual(['["1","x\\"y"]']);
    expect(keyOf(5)).toEqual(['["5"]']);
    expect(keyOf({ schema: { type: 'struct', fields: [{ type: 'int64', field: 'id' }] }, payload: { id: 3 } })).toEqual(['["3"]']);
  });

  test('values that are no JSON, or of no known operation, are rejected with what to do', () => {
    expect(reasonOf({ value: '{"op":' })).toBe(
      'The value cannot be read: it is no JSON: it ends too early. Set key.converter and value.converter to the JsonConverter, or to Avro with a registry',
    );
    expect(reasonOf({ key: 'Struct{id=1}', value: {} })).toMatch(/^The key cannot be read: it is no JSON: unexpected text at character 0/);
    expect(reasonOf({ value: '[1]' })).toBe('the value is no JSON object');
    expect(reasonOf({ value: change('x', null, null) })).toBe('The operation "x" is not known');
    expect(reasonOf({ key: { id: 1 }, value: change('u', null, null) })).toBe('A message with the operation u has no row in "after"');
    expect(reasonOf({ value: '\u0000abc' })).toBe(
      'The value cannot be read: it is Avro, and no schema registry is given. Give the address of the registry',
    );
    const notText = decodeMessage(
      { topic: 't', partition: 0, offset: '0', timestamp: 0, key: null, value: Buffer.from([0xff, 0x22]), headers: {} },
      new PayloadReader(undefined),
    );
    expect(notText).toMatchObject({ kind: 'rejected', reason: expect.stringContaining('it is no JSON') });
    const short = decode({ value: '\u0000\u0000' }, new PayloadReader(new SchemaRegistry('http://127.0.0.1:9')));
    expect(short).toMatchObject({ kind: 'rejected', reason: 'The value cannot be read: it has fewer bytes than the id of a schema' });
  });

  test('a value that its schema does not allow is rejected by its column', () => {
    const withField = (schema: unknown, value: unknown): Given => ({
      key: { id: 1 },
      value: {
        schema: { type: 'struct', fields: [{ type: 'struct', field: 'after', fields: [{ ...(schema as object), field: 'c' }] }] },
        payload: change('c', null, { c: value }),
      },
    });
    expect(reasonOf(withField({ type: 'int32' }, 'x'))).toBe('Column c: "x" is no integer, as its schema says');
    const cellOf = (name: string, value: unknown): unknown => {
      const row = eventsOf(withField({ type: 'int64', name }, value)).find(({ kind }) => kind === 'row');
      return (row as { readonly row: Row }).row.c;
    };
    // Only a mapping that reads the column needs the value.
    expect(cellOf('io.debezium.time.MicroDuration', 37091106789000)).toBe(
      '?The interval has lost its months: it came as 37091106789000 microseconds. Set interval.handling.mode=string at the connector',
    );
    expect(cellOf('io.debezium.time.MicroTimestamp', -9223372036854775000)).toMatch(
      /^\?.*no date that the database holds\. Set time\.precision\.mode=isostring/,
    );
    expect(reasonOf(withField({ type: 'nonsense' }, 1))).toMatch(/the schema has the type "nonsense"/);
  });

  test('a decimal whose scale no database has is rejected, whatever its size', () => {
    expect(reasonOf({ key: { id: 1 }, value: change('c', null, { n: { scale: 2_000_000_000, value: 'BQ==' } }) })).toMatch(
      /^a decimal with the scale 2000000000/,
    );
    expect(reasonOf({ key: { id: 1 }, value: change('c', null, { p: { x: 1, wkb: '', y: 'z' } }) })).toMatch(/is no number/);
  });

  test('infinite dates and timestamps of PostgreSQL, also those before Christ', () => {
    const read = (name: string, type: string, value: unknown): unknown => {
      const schema = {
        type: 'struct',
        fields: [{ type: 'struct', field: 'after', fields: [{ type, name: `io.debezium.time.${name}`, field: 'c' }] }],
      };
      const decoded = decode({
        key: { id: 1 },
        value: `{"schema":${JSON.stringify(schema)},"payload":{"after":{"c":${value}},"source":${JSON.stringify(pg())},"op":"c"}}`,
      });
      return decoded.kind === 'change' && decoded.event.kind === 'row' ? decoded.event.row.c : decoded;
    };
    expect(read('Date', 'int32', -2147472692)).toBe('infinity');
    expect(read('Date', 'int32', -2147472691)).toBe('-infinity');
    expect(read('IsoDate', 'string', '"-5877611-06-21Z"')).toBe('infinity');
    expect(read('IsoDate', 'string', '"-4712-01-01Z"')).toBe('4713-01-01 BC');
    expect(read('IsoDate', 'string', '"+5874897-12-31Z"')).toBe('5874897-12-31');
    expect(read('MicroTimestamp', 'int64', '9223372036825200000')).toBe('infinity');
    expect(read('MicroTimestamp', 'int64', '-9223372036832400000')).toBe('-infinity');
    expect(read('IsoTimestamp', 'string', '"+294247-01-10T04:00:25.2Z"')).toBe('infinity');
    expect(read('MicroTime', 'int64', '86400000000')).toBe('24:00:00');
    expect(read('ZonedTimestamp', 'string', '"-infinity"')).toBe('-infinity');
  });

  test('values without a schema that tell their type', () => {
    const [event] = eventsOf({
      key: { id: 1 },
      value: change('c', null, {
        n: { scale: 1, value: 'BQ==' },
        p: { x: 1.5, y: -2, wkb: '', srid: null },
        a: ['x', null, 'b c'],
        b: true,
        j: { z: 1 },
      }),
    });
    expect(event).toMatchObject({
      row: { n: { json: '0.5' }, p: '(1.5,-2)', a: { json: '["x",null,"b c"]' }, b: { json: 'true' }, j: '{"z":1}' },
    });
  });
});

describe('values that are stored apart and have not changed', () => {
  const row = {
    id: 1,
    text: MARKER,
    bytes: Buffer.from(MARKER).toString('base64'),
    array: [MARKER],
    ints: [...Buffer.from(MARKER)],
    other: 'x',
  };
  const names = ['text', 'bytes', 'array', 'ints'];

  test('are named in an update, in the second half of a change of a key, and left out of the row', () => {
    const [update] = eventsOf({ key: { id: 1 }, value: change('u', null, row) });
    expect(update).toMatchObject({ unavailable: names, row: { id: { json: '1' }, other: 'x' } });
    const [moved] = eventsOf({ key: { id: 2 }, value: change('c', null, row), headers: { '__debezium.oldkey': '{"id":1}' } });
    expect(moved).toMatchObject({ unavailable: names, oldKey: '["1"]' });
  });

  test('are real values in an insert, in a row of a snapshot, and where the row before has them', () => {
    for (const op of ['c', 'r']) {
      const [event] = eventsOf({ key: { id: 1 }, value: change(op, null, row) });
      expect(event).not.toHaveProperty('unavailable');
      expect(event).toMatchObject({ row: { text: MARKER } });
    }
    const [full] = eventsOf({ key: { id: 1 }, value: change('u', { ...row, other: 'y', ints: [1] }, row) });
    expect(full).toMatchObject({ row: { text: MARKER, array: { json: JSON.stringify([MARKER]) } }, unavailable: ['ints'] });
    const [mysql] = eventsOf({ key: { id: 1 }, value: change('u', null, row, maria()) });
    expect(mysql).toMatchObject({ row: { text: MARKER } });
    expect(mysql).not.toHaveProperty('unavailable');
  });
});

describe('deletes, keys and tables without one', () => {
  test('the invented values of a row before are not used', () => {
    expect(eventsOf({ key: { id: 1 }, value: change('d', { id: 1, name: '', at: '1970-01-01T00:00:00Z' }, null) })).toEqual([
      { kind: 'delete', table: 't', key: '["1"]', position: positioned(9, 10) },
    ]);
  });

  test('a change of a key says where the row goes on, and where it comes from', () => {
    expect(
      eventsOf(
        { key: { id: 1 }, value: change('d', { id: 1 }, null), headers: { '__debezium.newkey': '{"id":2}' } },
        { key: { id: 1 }, value: null, headers: { '__debezium.newkey': '{"id":2}' } },
        { key: { id: 2 }, value: change('c', null, { id: 2 }), headers: { '__debezium.oldkey': '{"id":1}' } },
      ),
    ).toEqual([
      { kind: 'delete', table: 't', key: '["1"]', newKey: '["2"]', position: positioned(9, 10) },
      { kind: 'row', table: 't', key: '["2"]', oldKey: '["1"]', position: positioned(9, 10), row: { id: { json: '2' } } },
    ]);
  });

  test('a table without a key needs the row as it was', () => {
    expect(eventsOf({ value: change('u', { a: 1 }, { a: 2 }) })).toEqual([
      { kind: 'row', table: 't', key: undefined, position: positioned(9, 10), row: { a: { json: '2' } }, before: { a: { json: '1' } } },
    ]);
    expect(eventsOf({ value: change('d', { a: 1 }, null) })).toMatchObject([
      { kind: 'delete', key: undefined, before: { a: { json: '1' } } },
    ]);
    expect(reasonOf({ value: change('u', null, { a: 2 }) })).toMatch(
      /The table has no key, .*message\.key\.columns.*REPLICA IDENTITY FULL/,
    );
  });

  test('a tombstone after a delete makes no event, also without a key; a truncate has no key', () => {
    expect(
      eventsOf({ key: { id: 1 }, value: change('d', null, null) }, { key: { id: 1 }, value: null }, { key: null, value: null }),
    ).toHaveLength(1);
    expect(eventsOf({ key: null, value: change('t', null, null) })).toEqual([
      { kind: 'truncate', table: 't', position: positioned(9, 10) },
    ]);
  });
});

describe('positions', () => {
  const positionOf = (source: unknown, key: unknown = { id: 1 }) => {
    const decoded = decode({ key, value: change('c', null, { id: 1 }, source) });
    return decoded.kind === 'change' ? decoded.event.position : decoded;
  };

  test('of PostgreSQL compare the last commit and the own place as numbers', () => {
    expect(positionOf(pg({ sequence: '["26674288","26673576"]' }))).toBe(positioned(26674288, 26673576));
    expect((positionOf(pg({ sequence: '["9","10"]' })) as string) < (positionOf(pg({ sequence: '["10","2"]' })) as string)).toBe(true);
    expect(positionOf(pg({ sequence: '[null,"30"]' }))).toBe(positioned(30, 30));
  });

  test('of MariaDB and MySQL are number, place and row; a snapshot is older than what follows', () => {
    expect(positionOf(maria())).toBe(positioned(57, 270, 2));
    expect(positionOf({ ...maria(), connector: 'mysql', gtid: '24bc7850-2c16-11e6-a073-0242ac110002:12' })).toBe(positioned(12, 270, 2));
    expect(positionOf({ ...maria(), connector: 'mysql', gtid: null })).toBe(positioned(1, 270, 2));
    expect(positionOf(maria({ gtid: null, snapshot: 'true', pos: 9132, row: 0 }))).toBe(positioned(0, 9132, 0));
  });

  test('of another MySQL server are newer, whatever its numbers, and stay so after a restart', () => {
    const of = (gtid: string | null, snapshot = 'false') => ({
      key: { id: 1 },
      value: change('c', null, { id: 1 }, { ...maria({ gtid, snapshot }), connector: 'mysql' }),
    });
    const states = new TableStates(undefined);
    const position = (all: TableStates, given: Given): string =>
      all.eventsOf('t', decode(given)).flatMap((event) => ('position' in event ? [event.position] : []))[0] as string;
    const snapshot = position(states, of(null, 'last'));
    const old = position(states, of('24bc7850-2c16-11e6-a073-0242ac110002:12'));
    const next = position(states, of('34bc7850-2c16-11e6-a073-0242ac110002:3'));
    const again = new TableStates(states.kept);
    expect(position(again, of('24bc7850-2c16-11e6-a073-0242ac110002:12'))).toBe(old);
    expect([next, snapshot, old].sort()).toEqual([snapshot, old, next]);
  });

  test('a flattened row has its place alone, which orders the changes of a key but not of a table', () => {
    const flat = { id: 1, __op: 'c', __deleted: 'false', __source_lsn: 77 };
    expect(eventsOf({ key: { id: 1 }, value: flat })).toMatchObject([{ position: positioned(77), row: { id: { json: '1' } } }]);
    expect(eventsOf({ value: flat })).toMatchObject([{ position: undefined }]);
  });
});

describe('snapshots', () => {
  const read = (id: number, snapshot: string, lsn = 5) => ({
    key: { id },
    value: change('r', null, { id }, pg({ snapshot, lsn, sequence: `[null,"${lsn}"]` })),
  });
  const kinds = (events: readonly ChangeEvent[]): readonly string[] =>
    events.map((event) => (event.kind === 'snapshot' ? event.state : 'key' in event ? `${event.kind} ${event.key}` : event.kind));

  test('begin with the first row and end with the last one of the table; a second one is another one', () => {
    const first = [read(1, 'first'), read(2, 'true'), read(3, 'last_in_data_collection')];
    const second = [read(1, 'first_in_data_collection', 9), read(2, 'last', 9)];
    expect(kinds(eventsOf(...first, ...second))).toEqual([
      'begin',
      'row ["1"]',
      'row ["2"]',
      'row ["3"]',
      'end',
      'begin',
      'row ["1"]',
      'row ["2"]',
      'end',
    ]);
    expect(eventsOf(read(1, 'first'))[1]).toMatchObject({ isSnapshot: true });
  });

  test('rows that come a second time are no second snapshot', () => {
    expect(kinds(eventsOf(read(1, 'first'), read(2, 'last'), read(2, 'last')))).toEqual([
      'begin',
      'row ["1"]',
      'row ["2"]',
      'end',
      'row ["2"]',
    ]);
  });

  test('of a table with one row end with the first change that follows, or with the last row of all tables', () => {
    const streamed = { key: { id: 2 }, value: change('c', null, { id: 2 }) };
    expect(kinds(eventsOf(read(1, 'first'), streamed))).toEqual(['begin', 'row ["1"]', 'end', 'row ["2"]']);
    expect(kinds(eventsOf(read(1, 'last_in_data_collection')))).toEqual(['begin', 'row ["1"]', 'end']);
    const states = new TableStates(undefined);
    states.eventsOf('a', decode(read(1, 'first')));
    expect(states.ends()).toEqual([]);
    states.eventsOf('b', decode(read(1, 'last')));
    expect(states.ends()).toEqual([{ kind: 'snapshot', table: 'a', state: 'end' }]);
    expect(states.ends()).toEqual([]);
  });

  test('go on where the reader stopped', () => {
    const states = new TableStates(undefined);
    states.eventsOf('t', decode(read(1, 'first')));
    const again = new TableStates(states.kept);
    expect(kinds(again.eventsOf('t', decode(read(2, 'last'))))).toEqual(['row ["2"]', 'end']);
    expect(kinds(new TableStates(again.kept).eventsOf('t', decode(read(2, 'last'))))).toEqual(['row ["2"]']);
  });

  test('of a table without a key that are sent a second time count once', () => {
    const row = (snapshot: string): Given => ({ value: change('r', null, { what: 'a' }, maria({ snapshot, gtid: null, row: 0 })) });
    expect(kinds(eventsOf(row('first'), row('true'), row('first'), row('true'), row('last_in_data_collection')))).toEqual([
      'begin',
      ...['row undefined', 'row undefined'],
      'begin',
      ...['row undefined', 'row undefined', 'row undefined'],
      'end',
    ]);
    expect(kinds(eventsOf(row('last'), row('last')))).toEqual(['begin', 'row undefined', 'end', 'begin', 'row undefined', 'end']);
  });

  test('end also where the process has ended between the last row of all and the end of the messages', () => {
    const states = new TableStates(undefined);
    states.eventsOf('one', decode(read(1, 'first')));
    states.eventsOf('two', decode(read(2, 'last')));
    expect(new TableStates(states.kept).ends()).toEqual([{ kind: 'snapshot', table: 'one', state: 'end' }]);
  });

  test('that are incremental have rows that count, and no begin', () => {
    const [event, ...others] = eventsOf(read(1, 'incremental'));
    expect(event).toMatchObject({ kind: 'row', isSnapshot: true });
    expect(others).toEqual([]);
  });
});

describe('flattened rows', () => {
  test('that say whether they were deleted', () => {
    const events = eventsOf(
      { key: { id: 1 }, value: { id: 1, __deleted: 'false' } },
      { key: { id: 1 }, value: { id: 1, name: '', __deleted: 'true' } },
      { key: { id: 1 }, value: null },
    );
    expect(events).toEqual([
      { kind: 'row', table: 't', key: '["1"]', position: undefined, row: { id: { json: '1' } } },
      { kind: 'delete', table: 't', key: '["1"]', position: undefined },
    ]);
  });

  test('that do not: a tombstone is the delete, also after a restart', () => {
    const states = new TableStates(undefined);
    expect(states.eventsOf('t', decode({ key: { id: 1 }, value: { id: 1 } }))).toHaveLength(1);
    const again = new TableStates(states.kept);
    expect(again.eventsOf('t', decode({ key: { id: 1 }, value: null }))).toEqual([
      { kind: 'delete', table: 't', key: '["1"]', position: undefined },
    ]);
  });

  test('an update of a table without a key is rejected', () => {
    expect(reasonOf({ value: { a: 1, __op: 'u', __deleted: 'false' } })).toMatch(/does not say which row it replaces/);
    expect(eventsOf({ value: { a: 1, __op: 'd', __deleted: 'true' } })).toMatchObject([{ kind: 'delete', before: { a: { json: '1' } } }]);
  });
});

test('columns are announced once for each schema, and again when they change', () => {
  const withFields = (...fields: readonly object[]): Given => ({
    key: { id: 1 },
    value: { schema: { type: 'struct', fields: [{ type: 'struct', field: 'after', fields }] }, payload: change('c', null, { id: 1 }) },
  });
  const one = withFields({ type: 'int32', field: 'id' });
  const two = withFields({ type: 'int32', field: 'id' }, { type: 'string', field: 'city' });
  expect(eventsOf(one, one, two, two).map(({ kind }) => kind)).toEqual(['columns', 'row', 'row', 'columns', 'row', 'row']);
});

test.each([
  ['a heartbeat', { key: { serverName: 'pg' }, value: { ts_ms: 1 } }],
  ['a logical message', { key: { prefix: 'app' }, value: { op: 'm', source: pg(), message: { prefix: 'app', content: '' } } }],
  [
    'a change of a schema',
    { key: { databaseName: 'shop' }, value: { source: maria(), ddl: 'CREATE TABLE t (a int)', databaseName: 'shop' } },
  ],
  ['a schema history', { value: { source: { server: 'ma' }, position: {}, ddl: 'DROP TABLE t', tableChanges: [] } }],
])('%s makes no event', (_, given) => expect(decode(given)).toEqual({ kind: 'nothing' }));
