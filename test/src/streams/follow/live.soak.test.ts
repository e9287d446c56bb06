/**
 * PostgreSQL, MariaDB, Debezium and Kafka as they are, with random transactions, while kill -9 hits a follower, Connect, the broker and the databases. At
 * rest the graph of each follower is that of a plain run over the tables: of Debezium's topics with the recommended settings, with schemas, and of
 * replication. LIVE_SECONDS makes it longer; LIVE_SEED has another course.
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
import {
  type ConnectServer,
  mariadbConnector,
  missingConnect,
  postgresConnector,
  RECOMMENDED,
  startConnect,
  WITH_SCHEMAS,
} from '../../../servers/queues/connect.ts';
import { type KafkaServer, missingKafka, startKafka } from '../../../servers/queues/kafka.ts';
import { Random } from '../../../support/random.ts';
import { type LogServer, startLogServer } from '../database/mysql-server.ts';

const SECONDS = Number(process.env.LIVE_SECONDS ?? 8);
const SEED = Number(process.env.LIVE_SEED ?? 1);
const QUADMILL = resolve('bin/quadmill.js');
const missing = (await missingPostgres()) ?? (await missingMariadb()) ?? (await missingKafka()) ?? (await missingConnect());

const schema = (isPostgres: boolean): string => {
  const [boolean, time] = isPostgres ? ['boolean', 'timestamptz'] : ['tinyint(1)', 'datetime(6)'];
  return `
CREATE TABLE customers (id bigint PRIMARY KEY, name varchar(100), vip ${boolean} NOT NULL, credit decimal(12,2), born date, at ${time}, story text);
CREATE TABLE products (sku varchar(20) PRIMARY KEY, name varchar(100), weight double precision);
CREATE TABLE orders (id bigint PRIMARY KEY, customer_id bigint, status varchar(20) NOT NULL);
CREATE TABLE order_lines (order_id bigint, line_no int, sku varchar(20), quantity int, PRIMARY KEY (order_id, line_no));
CREATE TABLE audit (what varchar(20), number int)
${isPostgres ? '; ALTER TABLE customers ALTER story SET STORAGE EXTERNAL; ALTER TABLE audit REPLICA IDENTITY FULL' : ''}`;
};

const column = (name: string, more = ''): string =>
  `rr:predicateObjectMap [ rr:predicate ex:${name} ; rr:objectMap [ rr:column "${name}" ${more} ] ]`;
const parent = (name: string, child: string, key: string, more = ''): string =>
  `rr:predicateObjectMap [ rr:predicate ex:${name} ; ${more} rr:objectMap [ rr:parentTriplesMap <#${name}> ; rr:joinCondition [ rr:child "${child}" ; rr:parent "${key}" ] ] ]`;
const map = (name: string, table: string, subject: string, ...rest: readonly string[]): string =>
  `<#${name}> rr:logicalTable [ rr:tableName "${table}" __ZONE__ ] ; ${[`rr:subjectMap [ rr:template "http://example.com/${subject}" ]`, ...rest].join(' ;\n  ')} .`;
/** A class of products and orders, a subject and its graph, and joins: statements that several rows and tables make. */
const MAPPING = `@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix ex: <http://example.com/> .
@prefix qms: <http://w3id.org/quadmill/source#> .
${[
  `<#customer> rr:logicalTable [ rr:tableName "customers" __ZONE__ ] ;
  rr:subjectMap [ rr:template "http://example.com/customer/{id}" ; rr:class ex:Customer ; rr:graphMap [ rr:template "http://example.com/graph/{vip}" ] ] ;
  ${[column('name', '; rr:language "en"'), column('credit', '; rr:datatype xsd:decimal'), column('born', '; rr:datatype xsd:date'), column('at', '; rr:datatype xsd:dateTime'), column('story')].join(' ;\n  ')} .`,
  map('product', 'products', 'product/{sku}', column('name'), column('weight')),
  map('order', 'orders', 'order/{id}', column('status'), parent('customer', 'customer_id', 'id', 'rr:graph ex:links ;')),
  `<#status> rr:logicalTable [ rr:tableName "orders" ] ; rr:subjectMap [ rr:template "http://example.com/word/{status}" ; rr:class ex:Word ] .`,
  map(
    'line',
    'order_lines',
    'order/{order_id}/{line_no}',
    column('quantity'),
    parent('order', 'order_id', 'id'),
    parent('product', 'sku', 'sku'),
  ),
  `<#ordered> rr:logicalTable [ rr:tableName "order_lines" ] ; rr:subjectMap [ rr:template "http://example.com/product/{sku}" ; rr:class ex:Ordered ] .`,
  `<#audit> rr:logicalTable [ rr:tableName "audit" ] ; rr:subjectMap [ rr:template "http://example.com/word/{what}" ; rr:class ex:Word ] ; ${column('number')} .`,
].join('\n')}
`;

interface Database {
  readonly jdbcUrl: string;
  readonly isPostgres: boolean;
  query(sql: string): Promise<unknown>;
  crash(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

(missing === undefined ? describe : describe.skip)(
  `followers of what is alive${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    let directory: string;
    let kafka: KafkaServer;
    let connect: ConnectServer;
    let databases: readonly Database[];
    const children = new Set<ChildProcess>();
    const stops: (() => Promise<unknown>)[] = [];

    async function startDatabases(): Promise<readonly [Postgres, LogServer]> {
      const [server, log] = await Promise.all([
        startPostgres({ settings: ['wal_level=logical', 'wal_sender_timeout=5s'] }) as Promise<Postgres>,
        startLogServer(['--binlog-row-metadata=FULL']),
      ]);
      const connected = async (): Promise<pg.Client> => {
        const client = new pg.Client({ connectionString: server.url });
        client.on('error', () => undefined);
        await client.connect();
        return client;
      };
      let client = await connected();
      let { admin } = log;
      databases = [
        {
          jdbcUrl: `jdbc:postgresql://127.0.0.1:${server.port}/postgres?user=postgres`,
          isPostgres: true,
          query: (sql) => client.query(sql),
          crash: () => server.crash(),
          async restart() {
            await server.restart();
            client = await connected();
          },
          async stop() {
            await client.end().catch(() => undefined);
            await server.stop();
          },
        },
        {
          jdbcUrl: `jdbc:mariadb://127.0.0.1:${log.port}/test?user=root`,
          isPostgres: false,
          query: (sql) => admin.query(sql),
          crash: () => log.crash(),
          async restart() {
            await log.restart();
            admin = await log.connect();
          },
          async stop() {
            admin.destroy();
            await log.stop();
          },
        },
      ];
      stops.push(...databases.map((one) => () => one.stop()));
      return [server, log];
    }

    beforeAll(async () => {
      directory = mkdtempSync(join(tmpdir(), 'quadmill-live-'));
      const [[server, log]] = await Promise.all([
        startDatabases(),
        (async () => {
          kafka = (await startKafka()) as KafkaServer;
          stops.push(() => kafka.stop());
          connect = await startConnect(kafka.broker, 2000);
          stops.push(() => connect.stop());
        })(),
      ]);
      for (const database of databases) {
        const zone = database.isPostgres ? '' : '; qms:zone "none"';
        writeFileSync(join(directory, database.isPostgres ? 'postgres.ttl' : 'mariadb.ttl'), MAPPING.replaceAll('__ZONE__', zone));
        for (const statement of schema(database.isPostgres).split(';')) await database.query(statement);
        const random = new Random(SEED);
        for (let n = 0; n < 30; n++) await change(database, random);
      }
      await Promise.all([
        connect.put('pgr', postgresConnector('pgr', server.port, 'public', RECOMMENDED)),
        connect.put('pgs', postgresConnector('pgs', server.port, 'public', WITH_SCHEMAS)),
        connect.put('mar', mariadbConnector('mar', log.port, 101, 'test', kafka.broker, RECOMMENDED)),
        connect.put('mas', mariadbConnector('mas', log.port, 102, 'test', kafka.broker, WITH_SCHEMAS)),
      ]);
      // Debezium makes the topics with its first snapshot.
      for (const { name, args } of followed().slice(0, 2))
        for (const deadline = performance.now() + 60_000; ; await sleep(500)) {
          const { code, err } = await run(...args, '--until-caught-up');
          if (code === 0) break;
          if (performance.now() > deadline) throw new Error(`${name}: ${err}`);
        }
    }, 180_000);
    afterAll(async () => {
      for (const child of children) child.kill('SIGKILL');
      for (const stop of stops.toReversed()) await stop().catch(() => undefined);
      rmSync(directory, { recursive: true, force: true });
    }, 60_000);

    const run = (...args: readonly string[]): Promise<{ readonly code: number | null; readonly err: string }> =>
      new Promise((done) => {
        const child = execFile(process.execPath, [QUADMILL, ...args], { cwd: directory }, (_error, _out, err) =>
          done({ code: child.exitCode, err }),
        );
      });

    interface Followed {
      readonly name: string;
      readonly database: Database;
      readonly mapping: string;
      readonly args: readonly string[];
    }
    const followed = (): readonly Followed[] => {
      const [postgres, mariadb] = databases as readonly [Database, Database];
      const of = (name: string, database: Database, ...feed: readonly string[]): Followed => {
        const mapping = database.isPostgres ? 'postgres.ttl' : 'mariadb.ttl';
        return { name, database, mapping, args: ['follow', mapping, '--dataset', name, '--epoch-seconds', '1', ...feed] };
      };
      const topics = (prefix: string) => ['--changes', `kafka://${kafka.broker}/${prefix}.{table}`];
      return [
        of('pgr', postgres, ...topics('pgr.public')),
        of('mar', mariadb, ...topics('mar.test')),
        of('replication-of-postgres', postgres, '--jdbc-url', postgres.jdbcUrl),
        of('replication-of-mariadb', mariadb, '--jdbc-url', mariadb.jdbcUrl),
        of('pgs', postgres, ...topics('pgs.public')),
        of('mas', mariadb, ...topics('mas.test')),
      ];
    };

    test(
      'random transactions and kills',
      async () => {
        const random = new Random(SEED);
        let isOver = false;
        /** How often something was down: a follower that starts then ends with an error. */
        let outages = 0;
        let down = 0;
        const faults: string[] = [];
        const running = new Map<string, ChildProcess>();

        const keep = async ({ name, args }: Followed): Promise<void> => {
          while (!isOver) {
            const before = outages;
            const wasDown = down > 0;
            const child = spawn(process.execPath, [QUADMILL, ...args], { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] });
            children.add(child);
            running.set(name, child);
            let told = '';
            child.stderr.on('data', (text) => {
              told += text;
            });
            const code = await new Promise<number | null>((done) => child.on('exit', (one) => done(one)));
            children.delete(child);
            running.delete(name);
            if (code !== null && !isOver && !wasDown && before === outages) faults.push(`${name} has ended with ${code}: ${told}`);
            if (code !== null) await sleep(500);
          }
        };
        const outage = async (stop: () => Promise<void>, start: () => Promise<void>): Promise<void> => {
          outages++;
          down++;
          await stop();
          await sleep(random.between(0, 1500));
          await start();
          down--;
        };
        const end = performance.now() + SECONDS * 1000;
        const write = async (database: Database, own: Random): Promise<void> => {
          while (performance.now() < end) {
            // A crash in the middle of a transaction: it is rolled back, or was committed.
            await change(database, own).catch(() => sleep(300));
            await sleep(own.between(0, 60));
          }
        };
        const kill = async (): Promise<void> => {
          for (let n = 0; performance.now() < end; n++) {
            await sleep(random.between(500, 2000));
            const [postgres, mariadb] = databases as readonly [Database, Database];
            const name = random.pick([...running.keys(), undefined]);
            if (name !== undefined) running.get(name)?.kill('SIGKILL');
            const targets = [
              async () => connect.crash().then(() => connect.restart()),
              () => outage(kafka.crash, kafka.restart),
              () => outage(postgres.crash, postgres.restart),
              () => outage(mariadb.crash, mariadb.restart),
            ] as const;
            await (targets[n % targets.length] as () => Promise<void>)();
          }
        };
        const [pgr, mar, ofPostgres, ofMariadb] = followed();
        const following = [pgr, mar, ofPostgres, ofMariadb].map((one) => keep(one as Followed));
        await Promise.all([...databases.map((database, i) => write(database, new Random(SEED + i + 1))), kill()]);
        isOver = true;
        for (const child of running.values()) child.kill('SIGKILL');
        await Promise.all(following);
        expect(faults).toEqual([]);

        // A connector whose database or broker was gone may have given up.
        await connect.crash();
        await connect.restart();
        const lines = (name: string): readonly string[] => readFileSync(join(directory, name), 'utf8').split('\n').sort();
        for (const mapping of ['postgres.ttl', 'mariadb.ttl']) {
          const { jdbcUrl } = databases[mapping === 'postgres.ttl' ? 0 : 1] as Database;
          expect(await run('run', mapping, '--jdbc-url', jdbcUrl, '-o', `${mapping}.nq`)).toMatchObject({ code: 0 });
          expect(lines(`${mapping}.nq`).length).toBeGreaterThan(30);
        }
        for (const { name, mapping, args } of followed()) {
          // Debezium needs some time for what it has not read.
          for (const deadline = performance.now() + 30_000; ; ) {
            const { code, err } = await run(...args, '--until-caught-up');
            expect([name, code, err]).toEqual([name, 0, expect.any(String)]);
            expect(await run('dataset', 'export', name, '-o', `${name}.nq`)).toMatchObject({ code: 0 });
            const isEqual = JSON.stringify(lines(`${name}.nq`)) === JSON.stringify(lines(`${mapping}.nq`));
            if (isEqual) break;
            if (performance.now() > deadline) expect([name, err, lines(`${name}.nq`)]).toEqual([name, err, lines(`${mapping}.nq`)]);
            await sleep(500);
          }
        }
      },
      120_000 + SECONDS * 3000,
    );
  },
);

/** A transaction of a few statements. */
async function change(database: Database, random: Random): Promise<void> {
  const value = (text: string | null): string => (text === null ? 'NULL' : `'${text.replaceAll("'", "''")}'`);
  const id = (): number => random.between(1, 30);
  const sku = (): string => `'P-${random.between(1, 12)}'`;
  const word = (): string => value(random.pick(['new', 'paid', 'shipped']));
  const name = (): string => value(random.pick([null, '', 'Zoë', "O'Hara", '😀', 'x'.repeat(random.between(1, 90))]));
  const story = (): string => value(random.pick([null, 'short', String(random.between(0, 9)).repeat(5000)]));
  const insert = (table: string, key: string, cells: string): readonly string[] => [
    `DELETE FROM ${table} WHERE ${key}`,
    `INSERT INTO ${table} VALUES (${cells})`,
  ];
  const statements: (() => readonly string[])[] = [
    () => {
      const own = id();
      const born = random.pick(['NULL', "'1970-01-01'", "'2024-02-29'"]);
      const at = random.pick(['NULL', "'2024-02-29 12:34:56.125'", "'1999-12-31 23:59:59'"]);
      return insert(
        'customers',
        `id = ${own}`,
        `${own}, ${name()}, ${random.pick(['true', 'false'])}, ${random.between(-999, 9999)} / 100.0, ${born}, ${at}, ${story()}`,
      );
    },
    () => {
      const own = sku();
      return insert('products', `sku = ${own}`, `${own}, ${name()}, ${random.pick(['0.5', '1e21', 'NULL', '30'])}`);
    },
    () => {
      const own = id();
      return insert('orders', `id = ${own}`, `${own}, ${random.pick(['NULL', String(id())])}, ${word()}`);
    },
    () => {
      const own = id();
      return insert('order_lines', `order_id = ${own} AND line_no = 1`, `${own}, 1, ${sku()}, ${random.between(1, 9)}`);
    },
    () => [`UPDATE customers SET vip = NOT vip WHERE id % 5 = ${random.between(0, 4)}`],
    () => [`UPDATE customers SET name = ${name()} WHERE id = ${id()}`],
    () => [`UPDATE orders SET customer_id = ${id()} WHERE id = ${id()}`],
    () => {
      const [from, to] = [id(), id()];
      return from === to ? [] : [`DELETE FROM customers WHERE id = ${to}`, `UPDATE customers SET id = ${to} WHERE id = ${from}`];
    },
    () => [`DELETE FROM customers WHERE id = ${id()}`],
    () => [`DELETE FROM orders WHERE id = ${id()}`],
    () => [`DELETE FROM order_lines WHERE order_id = ${id()}`],
    () => [`DELETE FROM products WHERE sku = ${sku()}`],
    () => [`INSERT INTO audit VALUES (${word()}, ${random.between(1, 3)})`],
    () => [`UPDATE audit SET number = number + 1 WHERE number = ${random.between(1, 4)}`],
    () => ['DELETE FROM audit WHERE number > 3'],
    () => (random.chance(0.05) ? ['TRUNCATE TABLE audit'] : []),
  ];
  await database.query('BEGIN');
  for (let n = random.between(1, 6); n > 0; n--) for (const statement of random.pick(statements)()) await database.query(statement);
  await database.query(random.chance(0.9) ? 'COMMIT' : 'ROLLBACK');
}
