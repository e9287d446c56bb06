/** Memory does not grow with the rows of a database: whole processes, of which the larger run reads four times as many rows. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Faulty } from '../../../servers/databases/faulty.ts';
import { smallHeap } from '../../../support/node/small-heap.ts';
import { describeDatabases } from '../../../support/service/describe.ts';
import { makeWorkspace, mappingOf, query, runCommand, table, type Workspace } from '../../../support/service/sql-runs.ts';

const LIMIT_MS = 120_000;
const ROWS = 300_000;
const HEAP_MB = 256;
const COLUMNS = ['name', 'town'];

export const boundedSqlMemory = (only: Faulty['product']): void => describeDatabases(suite, only);

function suite(product: Faulty['product'], start: () => Promise<Faulty>): void {
  let database: Faulty;
  let room: Workspace;

  beforeAll(async () => {
    [database, room] = await Promise.all([start(), makeWorkspace()]);
    for (const [name, rows] of [
      ['few', ROWS],
      ['many', 4 * ROWS],
    ] as const) {
      await database.execute(`CREATE TABLE ${name} (id integer PRIMARY KEY, name varchar(40), town varchar(40))`);
      const numbers = product === 'postgresql' ? `generate_series(1, ${rows}) AS s(seq)` : `seq_1_to_${rows}`;
      await database.execute(`INSERT INTO ${name} SELECT seq, concat('name ', seq), concat('town ', seq % 1000) FROM ${numbers}`);
    }
  }, LIMIT_MS);
  afterAll(async () => {
    await database?.stop();
    await room?.remove();
  });

  const peak = async (mapping: string, rows: number): Promise<number> => {
    await room.write(mapping);
    const options = { nodeArgs: smallHeap(HEAP_MB), args: ['-o', 'out/graph.nq', '--memory-mb', '4', '--stats'] };
    const { code, err } = await runCommand(room, database.jdbcUrl, options);
    expect([code, err]).toEqual([0, expect.stringMatching(/^\{.*\}\n$/)]);
    const { peakMemoryBytes, ...stats } = JSON.parse(err);
    expect(stats).toMatchObject({ records: rows, quads: rows * COLUMNS.length });
    return peakMemoryBytes;
  };

  test.each([
    ['with a key (no look-up of statements)', table],
    ['without a key (look-up and spilling)', (name: string) => query(`SELECT id, name, town FROM ${name}`)],
  ])(
    'rows %s',
    async (_, content) => {
      const small = await peak(mappingOf(content('few'), COLUMNS), ROWS);
      const large = await peak(mappingOf(content('many'), COLUMNS), 4 * ROWS);
      // Garbage collection varies between runs; holding the additional rows would take three times as much.
      expect(large).toBeLessThan(1.2 * small + 16 * 2 ** 20);
    },
    LIMIT_MS,
  );
}
