/**
 * The command follows a PostgreSQL and a MariaDB while transactions change four tables, and is killed at random. At rest the graph is that of
 * a plain run over the tables, and `dataset verify` finds no difference.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { missingMariadb } from '../../../servers/databases/mariadb.ts';
import { missingPostgres, type Postgres, startPostgres } from '../../../servers/databases/postgres.ts';
import { Random } from '../../../support/random.ts';
import { type LogServer, startLogServer } from '../database/mysql-server.ts';

const QUADMILL = resolve('bin/quadmill.js');
const MAPPING = `@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix ex: <http://example.com/> .
<#Customer> rr:logicalTable [ rr:tableName "customers" ] ; rr:subjectMap [ rr:template "http://example.com/customer/{id}" ; rr:class ex:Customer ] ;
  rr:predicateObjectMap [ rr:predicate ex:name ; rr:objectMap [ rr:column "name" ] ] ;
  rr:predicateObjectMap [ rr:predicate ex:born ; rr:objectMap [ rr:column "born" ] ] ;
  rr:predicateObjectMap [ rr:predicate ex:photo ; rr:objectMap [ rr:column "photo" ] ] .
<#Order> rr:logicalTable [ rr:tableName "orders" ] ; rr:subjectMap [ rr:template "http://example.com/order/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:total ; rr:objectMap [ rr:column "total" ] ] ;
  rr:predicateObjectMap [ rr:predicate ex:at ; rr:objectMap [ rr:column "at" ] ] ;
  rr:predicateObjectMap [ rr:predicate ex:weight ; rr:objectMap [ rr:column "weight" ] ] ;
  rr:predicateObjectMap [ rr:predicate ex:by ; rr:objectMap [ rr:parentTriplesMap <#Customer> ;
    rr:joinCondition [ rr:child "customer" ; rr:parent "id" ] ] ] .
<#Line> rr:logicalTable [ rr:tableName "order_lines" ] ; rr:subjectMap [ rr:template "http://example.com/order/{order_id}/{line}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:text ; rr:objectMap [ rr:column "text" ] ] ;
  rr:predicateObjectMap [ rr:predicate ex:of ; rr:objectMap [ rr:parentTriplesMap <#Order> ; rr:joinCondition [ rr:child "order_id" ; rr:parent "id" ] ] ] .
<#Audit> rr:logicalTable [ rr:tableName "audit" ] ; rr:subjectMap [ rr:template "http://example.com/audit/{what}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:number ; rr:objectMap [ rr:column "number" ] ] .
`;
/** Without REPLICA IDENTITY FULL a table without a key cannot be followed. */
const SCHEMA = (isPostgres: boolean): string => `
CREATE TABLE customers (id int PRIMARY KEY, name varchar(100), born date, photo ${isPostgres ? 'bytea' : 'varbinary(100)'});
CREATE TABLE orders (id bigint PRIMARY KEY, customer int, total decimal(12,2), at timestamp${isPostgres ? '' : ' NULL'}, weight double precision);
CREATE TABLE order_lines (order_id bigint, line int, text varchar(100), PRIMARY KEY (order_id, line));
CREATE TABLE audit (what varchar(20), number int);
${isPostgres ? 'ALTER TABLE audit REPLICA IDENTITY FULL;' : ''}`;

interface Database {
  readonly jdbcUrl: string;
  query(sql: string): Promise<unknown>;
  stop(): Promise<void>;
}

async function postgres(): Promise<Database> {
  const server = (await startPostgres({ settings: ['wal_level=logical'] })) as Postgres;
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  return {
    jdbcUrl: `jdbc:postgresql://127.0.0.1:${server.port}/postgres?user=postgres`,
    query: (sql) => client.query(sql),
    async stop() {
      await client.end();
      await server.stop();
    },
  };
}

async function mariadb(): Promise<Database> {
  const server: LogServer = await startLogServer();
  return {
    jdbcUrl: `jdbc:mariadb://127.0.0.1:${server.port}/test?user=root`,
    query: (sql) => server.admin.query(sql),
    stop: () => server.stop(),
  };
}

const servers = [
  ['PostgreSQL', await missingPostgres(), postgres, true],
  ['MariaDB', await missingMariadb(), mariadb, false],
] as const;

describe.each(servers)('%s', (_, missing, start, isPostgres) => {
  if (missing !== undefined) {
    test.skip(`is not tested: ${missing}`, () => undefined);
    return;
  }
  let directory: string;
  let database: Database;
  const children = new Set<ChildProcess>();
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'quadmill-follow-database-'));
    writeFileSync(join(directory, 'shop.ttl'), MAPPING);
    database = await start();
    for (const statement of SCHEMA(isPostgres).split(';')) if (statement.trim() !== '') await database.query(statement);
  });
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await database?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const run = (...args: readonly string[]): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> =>
    new Promise((done) => {
      const child = execFile(process.execPath, [QUADMILL, ...args], { cwd: directory, maxBuffer: 2 ** 28 }, (_error, out, err) =>
        done({ code: child.exitCode, out, err }),
      );
    });
  const FOLLOW = ['follow', 'shop.ttl', '--dataset', 'shop', '--epoch-seconds', '1', '--jdbc-url'];

  const changes = async (random: Random): Promise<void> => {
    const value = (text: string | null): string => (text === null ? 'NULL' : `'${text.replaceAll("'", "''")}'`);
    const id = (): number => random.between(1, 40);
    const binary = isPostgres ? "'\\x00ff41'" : "x'00ff41'";
    const name = (): string | null => random.pick([null, '', 'Zoë', "O'Hara", '😀', 'x'.repeat(random.between(1, 90))]);
    const statements: (() => string)[] = [
      () => `DELETE FROM customers WHERE id = ${id()}`,
      () => `UPDATE customers SET name = ${value(name())} WHERE id % 7 = ${random.between(0, 6)}`,
      () => `UPDATE orders SET customer = ${random.pick([null, id()])} WHERE id = ${id()}`,
      () =>
        `UPDATE orders SET total = ${random.between(0, 99999)} / 100.0, weight = ${random.pick(['1e21', '0.1', '-0', '30.5'])} WHERE id = ${id()}`,
      () => `DELETE FROM orders WHERE id = ${id()}`,
      () => `DELETE FROM order_lines WHERE order_id = ${id()}`,
      () =>
        `UPDATE order_lines SET line = line + 100 WHERE order_id = ${id()} AND line < 100 AND NOT (SELECT max(line) >= 100 FROM (SELECT line FROM order_lines) q)`,
      () => `INSERT INTO audit VALUES (${value(random.pick(['a', 'b', 'c']))}, ${random.between(1, 3)})`,
      () => `UPDATE audit SET number = number + 1 WHERE number = ${random.between(1, 3)}`,
      () => `DELETE FROM audit WHERE number > 4`,
      ...(random.chance(0.1) ? [() => 'TRUNCATE TABLE audit'] : []),
    ];
    await database.query('BEGIN');
    for (let n = random.between(1, 6); n > 0; n--) {
      const [customer, order] = [id(), id()];
      await database.query(`DELETE FROM customers WHERE id = ${customer}`);
      await database.query(
        `INSERT INTO customers VALUES (${customer}, ${value(name())}, ${random.pick(['NULL', "'1970-01-01'", "'2024-02-29'"])}, ${random.pick(['NULL', binary])})`,
      );
      await database.query(`DELETE FROM orders WHERE id = ${order}`);
      await database.query(
        `INSERT INTO orders VALUES (${order}, ${id()}, ${random.between(0, 9999)} / 100.0, ${random.pick(['NULL', "'2024-02-29 12:34:56'"])}, 0.5)`,
      );
      await database.query(`DELETE FROM order_lines WHERE order_id = ${order}`);
      await database.query(`INSERT INTO order_lines VALUES (${order}, 1, ${value(name())}), (${order}, 2, 'y')`);
      await database.query(random.pick(statements)());
    }
    await database.query(random.chance(0.9) ? 'COMMIT' : 'ROLLBACK');
  };

  test('random transactions, and a follower that is killed', async () => {
    const random = new Random(7);
    for (let n = 0; n < 20; n++) await changes(random);
    let isOver = false;
    const following = (async () => {
      while (!isOver) {
        const child = spawn(process.execPath, [QUADMILL, ...FOLLOW, database.jdbcUrl], {
          cwd: directory,
          stdio: ['ignore', 'ignore', 'pipe'],
        });
        children.add(child);
        let told = '';
        child.stderr.on('data', (text) => {
          told += text;
        });
        const ended = new Promise<number | null>((done) => child.on('exit', (code) => done(code)));
        const code = await Promise.race([ended, sleep(random.between(500, 6000)).then(() => undefined)]);
        if (code !== undefined) throw new Error(`the follower has ended with ${code}: ${told}`);
        child.kill('SIGKILL');
        await ended;
        children.delete(child);
      }
    })();
    const end = performance.now() + 8_000;
    const writing = (async () => {
      while (performance.now() < end) {
        await changes(random);
        await sleep(random.between(0, 40));
      }
      isOver = true;
    })();
    await Promise.all([following, writing]);
    const last = await run(...FOLLOW, database.jdbcUrl, '--until-caught-up', '--stats');
    expect([last.code, last.err]).toEqual([0, expect.any(String)]);
    expect(await run('dataset', 'export', 'shop', '-o', 'followed.nq')).toMatchObject({ code: 0 });
    expect(await run('run', 'shop.ttl', '--jdbc-url', database.jdbcUrl, '-o', 'plain.nq')).toMatchObject({ code: 0 });
    const lines = (name: string): readonly string[] => readFileSync(join(directory, name), 'utf8').split('\n').sort();
    expect(lines('followed.nq')).toEqual(lines('plain.nq'));
    expect(lines('plain.nq').length).toBeGreaterThan(100);
    // Each version adds what was not there, and removes what was: nothing is made twice.
    const { out } = await run('dataset', 'log', 'shop', '--format', 'json');
    let statements = 0;
    for (const line of out.trim().split('\n')) {
      const { added, removed, statements: whole } = JSON.parse(line);
      statements += added - removed;
      expect(whole).toBe(statements);
    }
    expect(statements).toBe(lines('plain.nq').length - 1);
    const verified = await run('dataset', 'verify', 'shop', '--jdbc-url', database.jdbcUrl);
    expect([verified.code, verified.out]).toEqual([0, '']);
  }, 120_000);

  test('a column that is renamed is a fault, as in a run; of one that gets another type, the values are those of a run', async () => {
    const follower = (): { readonly child: ChildProcess; readonly ended: Promise<number | null>; told(): string } => {
      const child = spawn(process.execPath, [QUADMILL, ...FOLLOW, database.jdbcUrl, '--stats'], { cwd: directory });
      children.add(child);
      let told = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (text) => {
          told += text;
        });
      return { child, ended: new Promise((done) => child.on('exit', (code) => done(code))), told: () => told };
    };
    const until = async (isSo: () => boolean): Promise<void> => {
      for (const deadline = performance.now() + 20_000; !isSo() && performance.now() < deadline; ) await sleep(100);
    };
    const retyped = follower();
    await sleep(3000);
    await database.query(`ALTER TABLE orders ${isPostgres ? 'ALTER weight TYPE text' : 'MODIFY weight varchar(30)'}`);
    await database.query("UPDATE orders SET weight = '01' WHERE id = (SELECT id FROM (SELECT min(id) AS id FROM orders) q)");
    await until(() => /"version"/.test(retyped.told()));
    await sleep(1500);
    retyped.child.kill('SIGTERM');
    expect([await retyped.ended, retyped.told()]).toEqual([0, expect.any(String)]);
    expect(await run('dataset', 'export', 'shop', '-o', 'followed.nq')).toMatchObject({ code: 0 });
    expect(await run('run', 'shop.ttl', '--jdbc-url', database.jdbcUrl, '-o', 'plain.nq')).toMatchObject({ code: 0 });
    const lines = (name: string): readonly string[] => readFileSync(join(directory, name), 'utf8').split('\n').sort();
    expect(lines('followed.nq')).toEqual(lines('plain.nq'));

    const renamed = follower();
    await sleep(3000);
    await database.query(`ALTER TABLE orders ${isPostgres ? 'RENAME weight TO mass' : 'CHANGE weight mass varchar(30)'}`);
    await database.query("UPDATE orders SET mass = '02' WHERE id = (SELECT id FROM (SELECT min(id) AS id FROM orders) q)");
    await until(() => renamed.child.exitCode !== null);
    renamed.child.kill('SIGTERM');
    expect([await renamed.ended, renamed.told()]).toEqual([2, expect.stringContaining('has no column weight')]);
    await database.query(`ALTER TABLE orders ${isPostgres ? 'RENAME mass TO weight' : 'CHANGE mass weight varchar(30)'}`);
  }, 120_000);

  test('SIGTERM ends it with 0, and remove takes the slot with it', async () => {
    const child = spawn(process.execPath, [QUADMILL, ...FOLLOW, database.jdbcUrl], { cwd: directory, stdio: 'ignore' });
    children.add(child);
    const ended = new Promise<number | null>((done) => child.on('exit', (code) => done(code)));
    await sleep(3000);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    children.delete(child);
    const removed = await run('dataset', 'remove', 'shop', '--yes', '--jdbc-url', database.jdbcUrl);
    expect([removed.code, removed.err]).toEqual([0, expect.stringMatching(/^dataset shop was removed, with its \d+ versions\n$/)]);
    if (!isPostgres) return;
    const { rows } = (await database.query('SELECT slot_name FROM pg_replication_slots UNION ALL SELECT pubname FROM pg_publication')) as {
      readonly rows: readonly unknown[];
    };
    expect(rows).toEqual([]);
  }, 60_000);
});
