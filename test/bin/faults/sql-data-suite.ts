/**
 * Data that a mapping does not expect, in whole runs: bytes, columns that change, very many or no rows, values invalid for their datatype.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Parser } from 'n3';
import type { Faulty } from '../../servers/databases/faulty.ts';
import { describeDatabases } from '../../support/service/describe.ts';
import {
  makeWorkspace,
  mappingOf,
  query,
  runCommand,
  type SqlService,
  startSqlService,
  table,
  until,
  type Workspace,
} from '../../support/service/sql-runs.ts';

const LIMIT_MS = 60_000;
const PLACE = 'mapping mappings/mapping.ttl:3';

export const sqlDataFaults = (only: Faulty['product']): void => describeDatabases(suite, only);

function suite(product: Faulty['product'], start: () => Promise<Faulty>): void {
  const isPostgres = product === 'postgresql';
  let database: Faulty;
  let room: Workspace;
  let service: SqlService;

  beforeAll(async () => {
    [database, room] = await Promise.all([start(), makeWorkspace()]);
    service = await startSqlService(room, database);
  }, LIMIT_MS);
  afterEach(() => room.empty());
  afterAll(async () => {
    expect(service?.process.stderr()).toBe('');
    await service?.process.stop();
    await database?.stop();
    await room?.remove();
  });

  /** Cases for only one of the products. */
  const testOver = (wanted: Faulty['product'], name: string, run: () => Promise<void>, limitMs?: number): void => {
    if (product === wanted) test(name, run, limitMs);
  };

  const output = async (name = 'out/graph.nq'): Promise<string> => readFile(join(room.path, name), 'utf8');
  /** A second triples map with another name. */
  const also = (mapping: string): string => mapping.replace('<#Map>', '<#Other>').split('\n').slice(1).join('\n');
  const input = (): string => `input ${database.jdbcUrl}`;

  testOver('postgresql', 'bytes that are not UTF-8 are reported by row and column, and the advice helps', async () => {
    const url = database.jdbcUrl.replace('shop', 'bytes');
    await database.execute("CREATE DATABASE bytes ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
    await database.execute('CREATE TABLE note (id integer, name text)', 'bytes');
    await database.execute("INSERT INTO note VALUES (1, E'Z\\303\\274rich'), (2, 'b'), (3, E'M\\374ller')", 'bytes');
    await room.write(mappingOf(table('note')));
    const { code, err } = await runCommand(room, url);
    const message = 'quadmill: Column 2 of the result has a text that is not UTF-8';
    expect([code, err.startsWith(`${message} (input ${url}, record 2, value "M\ufffdller", ${PLACE}:39)`)]).toEqual([1, true]);
    expect(await room.files()).toEqual([]);
    const advice = /convert_from\(.*'SQL_ASCII'\)/.exec(err)?.[0];
    await room.write(mappingOf(query(`SELECT id, ${advice} AS name FROM note WHERE id > 1`)));
    expect(await runCommand(room, url)).toMatchObject({ code: 0, err: '' });
    expect((await output()).split('\n').sort().at(-1)).toBe('<http://example.com/3> <http://example.com/name> "Müller" .');
  });

  testOver('mariadb', 'NUL and junk in texts give N-Quads that are well-formed', async () => {
    await database.execute(
      'CREATE TABLE junk (id varchar(9) CHARACTER SET latin1 PRIMARY KEY, name varchar(40) CHARACTER SET latin1, raw varbinary(9))',
    );
    await database.execute("INSERT INTO junk VALUES (X'00FF20', X'00FF2281805C0A0D097F', X'00FF'), ('b', CONCAT('x', CHAR(0), 'y'), NULL)");
    await room.write(mappingOf(table('junk'), ['name', 'raw']));
    expect(await runCommand(room, database.jdbcUrl)).toEqual({ code: 0, out: '', err: '' });
    const quads = new Parser({ format: 'N-Quads' }).parse(await output());
    expect(quads.map(({ subject, object }) => [subject.value, object.value]).sort()).toEqual([
      // MySQL's latin1 is Windows-1252.
      ['http://example.com/%00ÿ%20', '\0ÿ"\x81€\\\n\r\t\x7f'],
      ['http://example.com/%00ÿ%20', '00FF'],
      ['http://example.com/b', 'x\0y'],
    ]);
  });

  describe('a column that vanishes', () => {
    const COLUMN = 'ADD COLUMN age integer DEFAULT 7';
    /** Generated while they are read; with a budget of 1 MB, the table is read after spilling has started. */
    const many = isPostgres ? "SELECT generate_series(1, 300000) AS id, 'x' AS name" : "SELECT seq AS id, 'x' AS name FROM seq_1_to_300000";
    const gone = (mapping: string, columns: string): string =>
      `The table person has no column age (${input()}, expression age, mapping ${mapping}). The columns are ${columns}`;

    beforeAll(async () => {
      await service.configure({ MEMORY_BUDGET_MB: '1' });
      await database.execute('CREATE TABLE person (id integer PRIMARY KEY, name varchar(20), age integer)');
      await database.execute("INSERT INTO person VALUES (1, 'Ann', 7)");
    });

    test('between two runs is reported with those that there are', async () => {
      await room.write(mappingOf(table('person'), ['age']));
      expect((await service.run()).body).toMatchObject({ quads: 1 });
      await room.empty();
      await database.execute('ALTER TABLE person DROP COLUMN age');
      const { status, body } = await service.run();
      expect([status, body.error]).toEqual([
        400,
        `Record could not be processed due to: ${gone(`${room.path}/mappings/mapping.ttl:3:39`, 'id, name')}.`,
      ]);
      expect(service.retries()).toEqual([]);
      expect(await runCommand(room, database.jdbcUrl)).toEqual({
        code: 2,
        out: '',
        err: `quadmill: ${gone('mappings/mapping.ttl:3:39', 'id, name')}\n`,
      });
      expect(await room.files()).toEqual([]);
      await database.execute(`ALTER TABLE person ${COLUMN}`);
    });

    /** Runs the service, and alters the table after its first rows were read; returns the outcome. */
    const alter = async (change: string): Promise<readonly [altered: string, Awaited<ReturnType<SqlService['run']>>]> => {
      await room.write(mappingOf(query(many)) + also(mappingOf(table('person'), ['age'])));
      const other = await database.connect();
      await other.execute(isPostgres ? "SET lock_timeout = '100ms'" : 'SET lock_wait_timeout = 1');
      const answer = service.run();
      await until(room.isHalfWay);
      const altered = await other.execute(`ALTER TABLE person ${change}`).then(
        () => 'altered',
        ({ message }: Error) => message,
      );
      await other.end();
      return [altered, await answer];
    };

    testOver(
      'postgresql',
      'cannot vanish while a run reads',
      async () => {
        const [altered, { status, body }] = await alter('DROP COLUMN age');
        expect([altered, status, body.quads, service.retries()]).toEqual(['canceling statement due to lock timeout', 200, 300_001, []]);
      },
      LIMIT_MS,
    );

    testOver(
      'mariadb',
      'while a run reads ends that run, and leaves nothing',
      async () => {
        const [altered, { status, body }] = await alter('DROP COLUMN age');
        expect([altered, status, service.retries(), body.code]).toEqual(['altered', 400, [], 'database/query']);
        expect(body.error).toContain('age');
        expect(await room.files()).toEqual([]);
        await database.execute(`ALTER TABLE person ${COLUMN}`);
      },
      LIMIT_MS,
    );

    testOver(
      'mariadb',
      'a table that was rebuilt while a run reads is read by the next attempt',
      async () => {
        // On a busy machine the run may have read the table already.
        for (let i = 0; i < 5; i++) {
          const [altered, { status, body }] = await alter(`ADD COLUMN more${i} integer, ALGORITHM=COPY`);
          expect([altered, status, body.quads]).toEqual(['altered', 200, 300_001]);
          const retries = service.retries();
          if (retries.length > 0) return expect(retries).toEqual(['database/busy']);
        }
        throw new Error('no run was reading when its table was rebuilt');
      },
      LIMIT_MS,
    );
  });

  test('zero rows give an empty file, and a warning why', async () => {
    await database.execute('CREATE TABLE absent (id integer PRIMARY KEY, name varchar(20))');
    await room.write(mappingOf(table('absent')) + also(mappingOf(query('SELECT id, name FROM absent'))));
    const { code, err } = await runCommand(room, database.jdbcUrl);
    expect([code, await output(), err.split('\n')]).toEqual([
      0,
      '',
      [
        'mappings/mapping.ttl:3:1: Map gave no statement: table absent has no rows',
        'mappings/mapping.ttl:7:1: Other gave no statement: query SELECT id, name FROM absent has no rows',
        '',
      ],
    ]);
    const { status, body } = await service.run();
    expect({ status, ...body }).toMatchObject({ status: 200, records: 0, quads: 0 });
    expect(await readFile(fileURLToPath(body.outputFileLocations[0]), 'utf8')).toBe('');
  });

  test('as many columns as a table can have are all mapped', async () => {
    const columns = Array.from({ length: isPostgres ? 1599 : 999 }, (_, i) => `c${i}`);
    await database.execute(`CREATE TABLE wide (id integer PRIMARY KEY, ${columns.map((name) => `${name} integer`).join(', ')})`);
    await database.execute(`INSERT INTO wide VALUES (1, ${columns.map((_, i) => i).join(', ')})`);
    await room.write(mappingOf(table('wide'), columns));
    expect(await runCommand(room, database.jdbcUrl)).toEqual({ code: 0, out: '', err: '' });
    const expected = columns.map(
      (name, i) => `<http://example.com/1> <http://example.com/${name}> "${i}"^^<http://www.w3.org/2001/XMLSchema#integer> .`,
    );
    expect((await output()).split('\n').sort()).toEqual(['', ...expected].sort());
  });

  testOver('postgresql', 'a table without columns has rows', async () => {
    await database.execute('CREATE TABLE bare ()');
    await database.execute('INSERT INTO bare DEFAULT VALUES');
    await room.write(`@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix ex: <http://example.com/> .
ex:Map rr:logicalTable [ rr:tableName "bare" ] ; rr:subjectMap [ rr:constant ex:it ; rr:class ex:Thing ] .`);
    expect(await runCommand(room, database.jdbcUrl)).toMatchObject({ code: 0, err: '' });
    expect(await output()).toBe('<http://example.com/it> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.com/Thing> .\n');
  });

  describe('values that their datatype does not have', () => {
    const asText = 'Write CAST(… AS text) in a query to keep it as text';
    const zero = (column: string): string =>
      `Set zeroDateTimeBehavior=convertToNull in the JDBC URL to read 0000-00-00 as null, or write CAST(${column} AS CHAR) in a query to keep it as text`;
    const VALUES: readonly (readonly [column: string, sql: string, record: number, value: string, is: string, hint: string])[] = isPostgres
      ? [
          ['n', "'NaN', '2024-01-01', '2024-01-01'", 1, 'NaN', 'is no xsd:decimal', asText],
          ['d', "1, 'infinity', '2024-01-01'", 2, 'infinity', 'is no xsd:date', asText],
          ['t', "1, '2024-01-01', '-infinity'", 3, '-infinity', 'is no xsd:dateTime', asText],
        ]
      : [
          [
            'n',
            "5, '2024-01-01', '2024-01-01'",
            1,
            '5',
            'is neither 0 nor 1 in a TINYINT(1), which is read as a boolean',
            'Set tinyInt1isBit=false in the JDBC URL to read such columns as integers, or write n + 0 in a query',
          ],
          ['d', "1, '0000-00-00', '2024-01-01'", 2, '0000-00-00', 'is no date', zero('d')],
          ['t', "1, '2024-01-01', '0000-00-00'", 3, '0000-00-00 00:00:00', 'is no date and time', zero('t')],
        ];

    beforeAll(async () => {
      const admin = await database.connect();
      if (!isPostgres) await admin.execute("SET sql_mode = ''");
      const [number, time] = isPostgres ? ['numeric', 'timestamp'] : ['tinyint(1)', 'datetime'];
      await admin.execute(`CREATE TABLE measure (id integer PRIMARY KEY, n ${number}, d date, t ${time})`);
      const rows = ["0, 1, '2024-01-01', '2024-01-01'", ...VALUES.map(([, sql, id]) => `${id}, ${sql}`)];
      for (const row of rows) await admin.execute(`INSERT INTO measure VALUES (${row})`);
      await admin.end();
    });

    test.each(VALUES)('in column %s end a strict run', async (column, _, record, value, is, hint) => {
      await room.write(mappingOf(table('measure'), [column]));
      const { code, err } = await runCommand(room, database.jdbcUrl);
      expect(err).toMatch(new RegExp(`^quadmill: "${value}" ${is.replace(/[()]/g, '\\$&')} \\(`));
      for (const part of [
        `input ${database.jdbcUrl}`,
        `record ${record}`,
        `expression ${column}`,
        `value "${value}"`,
        `${PLACE}:39`,
        `). ${hint}`,
      ])
        expect(err).toContain(part);
      expect([code, await room.files()]).toEqual([1, []]);
    });

    test('are counted with ON_ERROR=skip, and the other statements of their rows are written', async () => {
      await room.write(
        mappingOf(
          table('measure'),
          VALUES.map(([column]) => column),
        ),
      );
      await service.configure({ ON_ERROR: 'skip' });
      const { status, body } = await service.run();
      expect({ status, ...body }).toMatchObject({ status: 200, records: 4, rejectedRecords: 3 });
      const { code, err } = await runCommand(room, database.jdbcUrl, { args: ['-o', 'out/graph.nq', '--on-error', 'skip'] });
      expect([code, err.split('\n')[0]]).toEqual([0, '3 records were rejected']);
      expect((await output()).split('\n').length - 1).toBe(body.quads);
    });

    test('are written down with ON_ERROR=quarantine', async () => {
      await room.write(
        mappingOf(
          table('measure'),
          VALUES.map(([column]) => column),
        ),
      );
      await service.configure({ ON_ERROR: 'quarantine' });
      const { body } = await service.run();
      expect(body.rejectedRecords).toBe(3);
      const told = (await output(`data/output/SQL-Transformer-${body.runId}.rejected.ndjson`)).trimEnd().split('\n');
      expect(told.map((line) => JSON.parse(line))).toMatchObject(
        VALUES.map(([expression, , record, value, is, hint]) => ({
          code: 'record/term',
          message: `"${value}" ${is}`,
          place: { expression, record, value: `"${value}"`, input: database.jdbcUrl },
          hint,
        })),
      );
    });
  });
}
