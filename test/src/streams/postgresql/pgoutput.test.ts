/** Messages of pgoutput, places of the log, and which transactions a snapshot has. */
import { describe, expect, test } from '@jest/globals';
import { isInSnapshot, lsnOf, lsnSorted, lsnText } from '../../../../src/streams/postgresql/lsn.ts';
import { Pgoutput } from '../../../../src/streams/postgresql/pgoutput.ts';
import { Random } from '../../../support/random.ts';

const uint16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const uint64 = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
};
const text = (value: string): Buffer => Buffer.from(`${value}\0`);
const message = (kind: string, ...parts: readonly Buffer[]): Buffer => Buffer.concat([Buffer.from(kind), ...parts]);
const tuple = (values: readonly (string | null | undefined)[]): Buffer =>
  Buffer.concat([
    uint16(values.length),
    ...values.map((value) => {
      if (value === null) return Buffer.from('n');
      return value === undefined
        ? Buffer.from('u')
        : Buffer.concat([Buffer.from('t'), uint32(Buffer.byteLength(value)), Buffer.from(value)]);
    }),
  ]);

const RELATION = message(
  'R',
  uint32(7),
  text('shop'),
  text('a'),
  Buffer.from('d'),
  uint16(2),
  Buffer.from([1]),
  text('id'),
  uint32(23),
  uint32(0xffffffff),
  Buffer.from([0]),
  text('näme'),
  uint32(25),
  uint32(9),
);
const relation = {
  id: 7,
  schema: 'shop',
  name: 'a',
  columns: [
    { name: 'id', type: 23, modifier: -1 },
    { name: 'näme', type: 25, modifier: 9 },
  ],
};

describe('pgoutput', () => {
  const plugin = new Pgoutput('db', false);

  test('describes relations, and gives rows by them', () => {
    expect(plugin.read(RELATION)).toBeUndefined();
    expect(plugin.read(message('I', uint32(7), Buffer.from('N'), tuple(['1', 'Zoë'])))).toEqual({
      kind: 'change',
      relation,
      old: undefined,
      row: ['1', 'Zoë'],
    });
    expect(plugin.read(message('U', uint32(7), Buffer.from('K'), tuple(['1', null]), Buffer.from('N'), tuple(['2', undefined])))).toEqual({
      kind: 'change',
      relation,
      old: ['1', null],
      row: ['2', undefined],
    });
    expect(plugin.read(message('D', uint32(7), Buffer.from('O'), tuple(['2', ''])))).toEqual({
      kind: 'change',
      relation,
      old: ['2', ''],
      row: undefined,
    });
    expect(plugin.read(message('T', uint32(1), Buffer.from([1]), uint32(7)))).toEqual({ kind: 'truncate', relations: [relation] });
  });

  test('gives the borders of transactions', () => {
    expect(plugin.read(message('B', uint64(16n), uint64(1_000_000n), uint32(5)))).toEqual({
      kind: 'begin',
      lsn: 16n,
      at: 946_684_801_000,
      xid: 5,
    });
    expect(plugin.read(message('C', Buffer.from([0]), uint64(16n), uint64(32n), uint64(0n)))).toEqual({ kind: 'commit', end: 32n });
    expect(plugin.read(message('O', uint64(0n), text('origin')))).toBeUndefined();
  });

  test.each([
    ['an unknown kind', message('Z'), 'begins with "Z"'],
    ['a relation that was not described', message('I', uint32(8), Buffer.from('N'), tuple([])), 'names a relation 8'],
    ['binary values', message('I', uint32(7), Buffer.from('N'), uint16(1), Buffer.from('b'), uint32(0)), 'not text'],
    ['an early end', message('B', uint32(1)), 'ends too early'],
  ])('refuses %s', (_, bytes, reason) => {
    expect(() => plugin.read(bytes)).toThrow(reason);
  });

  test('refuses bytes that are not UTF-8, of a server without an encoding', () => {
    const ascii = new Pgoutput('db', true);
    ascii.read(RELATION);
    const bytes = message('I', uint32(7), Buffer.from('N'), uint16(1), Buffer.from('t'), uint32(1), Buffer.from([0xff]));
    expect(() => ascii.read(bytes)).toThrow('Column id of shop.a has a text that is not UTF-8');
  });
});

test('places of the log are numbers, and their texts have the same order', () => {
  const random = new Random(1);
  const places = Array.from({ length: 200 }, () => BigInt(Math.floor(random.next() * 2 ** random.between(1, 52))));
  for (const place of places) expect(lsnOf(lsnText(place))).toBe(place);
  const sorted = [...places].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  expect(places.map(lsnSorted).sort()).toEqual(sorted.map(lsnSorted));
});

test('a transaction is in a snapshot as its number of 64 bits says, which the log cuts to 32', () => {
  const random = new Random(2);
  for (let i = 0; i < 2000; i++) {
    const xmax =
      BigInt(random.between(100, 2 ** 31)) +
      (random.chance(0.5) ? 0n : BigInt(random.between(1, 5)) << 32n) +
      (random.chance(0.2) ? 2n ** 31n : 0n);
    const xmin = xmax - BigInt(random.between(0, 50));
    const running = Array.from({ length: Number(xmax - xmin) }, (_, k) => xmin + BigInt(k)).filter(() => random.chance(0.3));
    const xid = xmax + BigInt(random.between(-90, 60));
    const expected = xid < xmin || (xid < xmax && !running.includes(xid));
    expect(isInSnapshot(Number(xid & 0xffffffffn), `${xmin}:${xmax}:${running.join(',')}`)).toBe(expected);
  }
});
