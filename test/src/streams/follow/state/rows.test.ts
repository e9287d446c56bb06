import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { open } from 'lmdb';
import { fromBytes } from '../../../../../src/core/text.ts';
import type { ChangeEvent, Row } from '../../../../../src/streams/events.ts';
import { rowOf } from '../../../../../src/streams/follow/state/packing.ts';
import { KeptRows } from '../../../../../src/streams/follow/state/rows.ts';
import { Random, seeds } from '../../../../support/random.ts';

describe('kept rows', () => {
  let directory: string;
  let rows: KeptRows;
  const rejected: string[] = [];
  const begun = { dataset: 'one', feed: 'memory:' };
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'quadmill-rows-'));
    rows = await KeptRows.open(directory, begun);
    rejected.length = 0;
  });
  afterEach(async () => {
    await rows.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const apply = (...events: readonly ChangeEvent[]): number =>
    rows.apply(events, {}, (place, reason) => void rejected.push(`${place}: ${reason}`));
  const reopen = async (): Promise<void> => {
    await rows.close();
    rows = await KeptRows.open(directory, begun);
  };
  const kept = async (table = 't'): Promise<readonly Row[]> => {
    const found: Row[] = [];
    for await (const chunk of rows.read(table))
      for (const { bytes, at, layout, count } of chunk) for (let n = 0; n < count; n++) found.push(rowOf(bytes, at, layout));
    return found;
  };
  const put = (key: string, position: string | undefined, row: Row, more = {}): ChangeEvent =>
    ({ kind: 'row', table: 't', key, position, row, ...more }) as ChangeEvent;
  const drop = (key: string, position: string | undefined): ChangeEvent => ({ kind: 'delete', table: 't', key, position });
  const bag = (row: Row, position: string | undefined, before?: Row): ChangeEvent =>
    ({ kind: 'row', table: 'b', key: undefined, position, row, ...(before && { before }) }) as ChangeEvent;

  test('keep texts, NULLs, tokens of JSON and missing columns, also after a restart', async () => {
    const row: Row = { a: 'ü😀', b: null, c: { json: '9007199254740993' }, d: '' };
    expect(apply(put('[1]', '1', row), put('[2]', '2', { a: 'x' }))).toBe(2);
    await reopen();
    expect(await kept()).toEqual([row, { a: 'x' }]);
    expect(rows.table('t')?.names).toEqual(['a', 'b', 'c', 'd']);
  });

  test('keep the rows of different keys apart, and find them again', async () => {
    const random = new Random(1);
    const part = (): string =>
      random.pick(['', '0', '1', '00', '01', '10', '9'.repeat(14), '9'.repeat(15), '1'.repeat(300), '-1', ' 1', '\u0001', 'ü']);
    const lists = Array.from({ length: 2000 }, () => Array.from({ length: random.between(0, 4) }, part));
    const keys = new Set(
      lists.flatMap((list) => [JSON.stringify(list), JSON.stringify(list.map(Number)), `[${list.join()}]`, list.join('","')]),
    );
    for (const key of ['[', '[]', '[1', '1]', '["1]', '[1"]', '["1"', '[1,]', '[,1]', '[1"2"]', '["1""2"]', '["1",2]']) keys.add(key);
    apply(...[...keys].map((key) => put(key, '1', { key })));
    expect((await kept()).map(({ key }) => key).sort()).toEqual([...keys].sort());
    apply(...[...keys].map((key) => drop(key, '2')));
    expect(await kept()).toEqual([]);
  });

  test('keep the order of positions of any form', () => {
    const ascending = [
      '',
      '0',
      '00',
      '0'.repeat(40),
      `${'0'.repeat(39)}1`,
      `${'0'.repeat(14)}${'9'.repeat(26)}`,
      '1',
      '10',
      '9'.repeat(43),
      's0001 02',
      'ü',
    ];
    for (const [at, position] of ascending.entries()) {
      const key = `[${at}]`;
      apply(put(key, position, { a: 'x' }));
      for (const older of ascending.slice(0, at + 1)) expect(apply(put(key, older, { a: 'y' }))).toBe(0);
      for (const newer of ascending.slice(at + 1, at + 2)) expect(apply(put(key, newer, { a: 'y' }))).toBe(1);
    }
  });

  test('do not go back: an event that is not newer is skipped, also of a row that was deleted', async () => {
    apply(put('[1]', '1', { a: 'x' }), put('[1]', '3', { a: 'y' }), put('[2]', '2', { a: 'x' }), drop('[2]', '4'));
    expect(apply(put('[1]', '1', { a: 'x' }), put('[2]', '2', { a: 'x' }))).toBe(0);
    expect(await kept()).toEqual([{ a: 'y' }]);
    expect(apply(put('[2]', '5', { a: 'z' }))).toBe(1);
    expect(await kept()).toEqual([{ a: 'y' }, { a: 'z' }]);
  });

  test('an update that says the same changes nothing', () => {
    apply(put('[1]', '1', { a: 'x', b: 'y' }));
    expect(apply(put('[1]', '2', { b: 'y', a: 'x' }), drop('[7]', '3'))).toBe(0);
  });

  test('a value that an event does not have is that of the row; without one the event is rejected by name', async () => {
    apply(put('[1]', '1', { a: 'x', b: 'long' }));
    apply(put('[1]', '2', { a: 'y' }, { unavailable: ['b'] }), put('[2]', '3', { a: 'y' }, { unavailable: ['b'] }));
    expect(await kept()).toEqual([{ a: 'y', b: 'long' }]);
    expect(rejected).toEqual(['t [2], position 3: the column b is not in the event, and no row is kept that has the value']);
  });

  test('a row that goes on under another key keeps the values that its event does not have', async () => {
    apply(put('[1]', '1', { a: 'x', b: 'long' }));
    apply({ kind: 'delete', table: 't', key: '[1]', position: '2', newKey: '[2]' });
    expect(await kept()).toEqual([]);
    await reopen();
    apply(put('[2]', '2', { a: 'x' }, { unavailable: ['b'], oldKey: '[1]' }));
    expect(await kept()).toEqual([{ a: 'x', b: 'long' }]);
    expect(apply(put('[1]', '1', { a: 'x', b: 'long' }))).toBe(0);
    expect(rejected).toEqual([]);
  });

  test('a truncate removes rows, and older events do not bring them back', async () => {
    apply(put('[1]', '1', { a: 'x' }), { kind: 'truncate', table: 't', position: '2' }, put('[2]', '3', { a: 'y' }));
    apply(put('[1]', '1', { a: 'x' }), { kind: 'truncate', table: 't', position: '2' });
    expect(await kept()).toEqual([{ a: 'y' }]);
    await rows.removeOld();
    expect(await kept()).toEqual([{ a: 'y' }]);
  });

  test('a second snapshot removes what it does not have, takes rows of any position, and keeps what events made meanwhile', async () => {
    apply(put('[1]', '5', { a: 'x' }), put('[2]', '6', { a: 'x' }), { kind: 'snapshot', table: 't', state: 'begin' });
    apply(put('[1]', '1', { a: 'older' }, { isSnapshot: true }), put('[3]', '7', { a: 'new' }));
    expect(await kept()).toHaveLength(3);
    await reopen();
    apply({ kind: 'snapshot', table: 't', state: 'end' }, put('[1]', '2', { a: 'then' }));
    expect(await kept()).toEqual([{ a: 'then' }, { a: 'new' }]);
    await rows.removeOld();
    await reopen();
    expect(await kept()).toEqual([{ a: 'then' }, { a: 'new' }]);
    expect(rows.table('t')?.hasOld).toBe(false);
  });

  test('a replay removes what it does not tell, also if it is begun a second time, and takes positions as those of a first reading', async () => {
    apply(put('[1]', '5', { a: 'x' }), put('[2]', '6', { a: 'x' }), put('[3]', '7', { a: 'x' }), drop('[4]', '8'));
    const replay = (state: 'begin' | 'end'): ChangeEvent => ({ kind: 'replay', table: 't', state });
    apply(replay('begin'), put('[3]', '7', { a: 'x' }));
    await reopen();
    apply(
      replay('begin'),
      put('[1]', '4', { a: 'older' }),
      put('[1]', '5', { a: 'y' }),
      put('[1]', '4', { a: 'older' }),
      drop('[5]', undefined),
    );
    expect(await kept()).toHaveLength(3);
    apply(replay('end'));
    expect(await kept()).toEqual([{ a: 'y' }]);
    apply(put('[2]', '6', { a: 'z' }), put('[1]', '5', { a: 'z' }), replay('end'));
    expect(await kept()).toEqual([{ a: 'y' }, { a: 'z' }]);
    await rows.removeOld();
    await reopen();
    expect(await kept()).toEqual([{ a: 'y' }, { a: 'z' }]);
  });

  test('a delete without a position removes a row, and leaves what was deleted at one', async () => {
    apply(put('[1]', '1', { a: 'x' }), drop('[2]', '4'), drop('[1]', undefined), drop('[2]', undefined));
    expect(apply(put('[2]', '3', { a: 'x' }), put('[1]', '1', { a: 'y' }))).toBe(1);
    expect(await kept()).toEqual([{ a: 'y' }]);
  });

  test.each(seeds(1, 20))('the replay of a compacted log makes what the whole log makes: seed %d', async (seed) => {
    const random = new Random(seed);
    const log = Array.from({ length: 200 }, (_, at): ChangeEvent => {
      const key = `["${random.between(1, 30)}"]`;
      const position = String(at).padStart(6, '0');
      return random.chance(0.35) ? drop(key, position) : put(key, position, { a: `${at}` });
    });
    const keyOf = (event: ChangeEvent): unknown => (event as { readonly key: string }).key;
    const read = random.between(0, 200);
    // The newest of each key up to a place, without deletes up to another one; what follows is whole.
    const [clean, dropped] = [random.between(read, 200), random.between(read, 200)];
    const compacted = log.filter(
      (event, at) =>
        (at >= clean || !log.slice(at + 1, clean).some((later) => keyOf(later) === keyOf(event))) &&
        !(event.kind === 'delete' && at < Math.min(dropped, clean)),
    );
    apply(...log.slice(0, read));
    apply({ kind: 'replay', table: 't', state: 'begin' }, ...compacted, { kind: 'replay', table: 't', state: 'end' });
    const replayed = (await kept()).map(({ a }) => a);
    const newest = new Map(log.map((event) => [keyOf(event), event]));
    const whole = [...newest.values()].flatMap((event) => (event.kind === 'row' ? [event.row.a] : []));
    expect(replayed.sort()).toEqual(whole.sort());
  });

  test('equal rows of a table without a key are counted', async () => {
    apply(bag({ a: 'x' }, '1'), bag({ a: 'x' }, '2'), bag({ a: 'y' }, '3'), bag({ a: 'z' }, '4', { a: 'x' }));
    apply(bag({ a: 'x' }, '2'), bag({ a: 'z' }, '4', { a: 'x' }));
    expect((await kept('b')).map(({ a }) => a).sort()).toEqual(['x', 'y', 'z']);
    apply(
      { kind: 'delete', table: 'b', key: undefined, position: '5', before: { a: 'q' } },
      { kind: 'delete', table: 'b', key: undefined, position: '6' },
    );
    expect(rejected).toEqual([
      'b, position 5: the table has no key, and no row is kept that is equal to the one that has gone',
      'b, position 6: the table has no key, and the event does not say which row has gone',
    ]);
  });

  test('equal rows of a snapshot are counted apart from those before it', async () => {
    const read = (a: string): ChangeEvent => ({ ...bag({ a }, undefined), isSnapshot: true }) as ChangeEvent;
    apply(bag({ a: 'x' }, '1'), bag({ a: 'x' }, '2'), { kind: 'snapshot', table: 'b', state: 'begin' }, read('x'));
    expect(await kept('b')).toHaveLength(3);
    // A snapshot that was interrupted begins again.
    apply({ kind: 'snapshot', table: 'b', state: 'begin' }, read('x'), read('y'), { kind: 'snapshot', table: 'b', state: 'end' });
    expect((await kept('b')).map(({ a }) => a).sort()).toEqual(['x', 'y']);
    apply({ kind: 'delete', table: 'b', key: undefined, position: '3', before: { a: 'x' } });
    expect(await kept('b')).toEqual([{ a: 'y' }]);
  });

  test('nothing of a transaction stays where a change ends the follower', async () => {
    apply(put('[1]', '1', { a: 'x' }));
    const end = (): never => {
      throw new Error('strict');
    };
    const events = [put('[2]', '2', { n: 'x' }), put('[3]', '3', { a: 'y' }, { unavailable: ['b'] })];
    expect(() => rows.apply(events, { position: { offset: '2' } }, end)).toThrow('strict');
    expect(rows.state.position).toBeUndefined();
    expect(rows.table('t')?.names).toEqual(['a']);
    expect(await kept()).toEqual([{ a: 'x' }]);
    apply(put('[2]', '2', { m: 'x' }));
    expect(await kept()).toEqual([{ a: 'x' }, { m: 'x' }]);
  });

  test('are empty for another dataset or feed', async () => {
    apply(put('[1]', '1', { a: fromBytes('x') }));
    await rows.close();
    rows = await KeptRows.open(directory, { ...begun, feed: 'memory:other' });
    expect(await kept()).toEqual([]);
    expect(rows.state).toMatchObject({ isWhole: false, isDirty: true, version: 0 });
  });

  test.each([
    [': it has no first page', (file: string) => writeFileSync(file, Buffer.alloc(20_000, 7))],
    [' is cut off', (file: string) => truncateSync(file, 1000)],
    [' is cut off', (file: string) => truncateSync(file, 8192)],
  ])('a file that was changed is a fault that says what to do: data.mdb%s', async (what, damage) => {
    for (let n = 0; n < 20; n++) apply(put(`["${n}"]`, undefined, { a: 'x'.repeat(2000) }));
    await rows.close();
    damage(join(directory, 'data.mdb'));
    const opening = KeptRows.open(directory, begun);
    await expect(opening).rejects.toMatchObject({
      code: 'source/refused',
      message: expect.stringContaining(`data.mdb${what}`),
      hint: expect.stringContaining('Remove that directory'),
    });
    rmSync(directory, { recursive: true });
    rows = await KeptRows.open(directory, begun);
  });

  /** Changes one record of the environment. @param damage @returns what takes its place */
  const damageOne = (name: string, random: Random, damage: (key: Buffer, value: Buffer) => readonly [Buffer, Buffer]): void => {
    const root = open({ path: directory, maxDbs: 6, overlappingSync: false, noSubdir: false });
    const database = root.openDB<Buffer, Buffer>({ name, encoding: 'binary', keyEncoding: 'binary' });
    const keys = [...database.getKeys()];
    const key = random.pick(keys);
    const [otherKey, value] = damage(key, database.get(key) as Buffer);
    root.transactionSync(() => {
      database.removeSync(key);
      database.putSync(otherKey, value);
    });
    root.close();
  };
  const flipped = (bytes: Buffer, random: Random): Buffer => {
    const other = Buffer.from(bytes);
    const at = random.between(0, other.length - 1);
    other[at] = (other[at] as number) ^ (1 << random.between(0, 7));
    return other;
  };
  const readAll = async (): Promise<void> => {
    await reopen();
    await kept();
    for (const key of rows.index.keys()) rows.findOld(key);
    for (let unit = 1; unit <= 30; unit++) rows.index.keyOf(unit);
  };

  test.each(['state', 'rows', 'before', 'units'].flatMap((name) => seeds(1, 3).map((seed) => [name, seed] as const)))(
    'a record of %s that is damaged, or under another key, is a fault that says what to do: seed %d',
    async (name, seed) => {
      for (let n = 1; n <= 30; n++) apply(put(`["${n}"]`, undefined, { a: `x${n}` }));
      rows.save(() => {
        for (let unit = 1; unit <= 30; unit++) rows.index.note(unit * 7, unit);
        rows.index.write((unit) => Buffer.of(unit));
        return { index: { version: 1, runId: 'run', seed: 1, madeBy: 'mapping' } };
      });
      for (let n = 1; n <= 10; n++) apply(put(`["${n}"]`, undefined, { a: `y${n}` }));
      await readAll();
      const random = new Random(seed);
      await rows.close();
      damageOne(name, random, (key, value) =>
        random.chance(0.5)
          ? [key, flipped(value, random)]
          : [Buffer.concat([key.subarray(0, -1), flipped(key.subarray(-1), random)]), value],
      );
      const fault = await readAll().then(
        () => undefined,
        (error: unknown) => error,
      );
      // Without its format the state is one of another version: it is made from the beginning.
      const isEmpty = fault === undefined && name === 'state' && (await kept()).length === 0 && rows.state.version === 0;
      rmSync(directory, { recursive: true });
      rows = await KeptRows.open(directory, begun);
      if (isEmpty) return;
      expect(fault).toMatchObject({
        code: 'source/refused',
        message: expect.stringContaining('are damaged'),
        hint: expect.stringContaining('Remove that directory'),
      });
    },
  );

  test('an environment that has other records than were written is a fault', async () => {
    apply(put('["1"]', undefined, { a: 'x' }), put('["2"]', undefined, { a: 'y' }));
    await rows.close();
    const root = open({ path: directory, maxDbs: 6, overlappingSync: false, noSubdir: false });
    root.openDB<Buffer, Buffer>({ name: 'rows', encoding: 'binary', keyEncoding: 'binary' }).clearSync();
    root.close();
    await expect(KeptRows.open(directory, begun)).rejects.toMatchObject({ message: expect.stringContaining('not as many records') });
    rmSync(directory, { recursive: true });
    rows = await KeptRows.open(directory, begun);
  });
});
