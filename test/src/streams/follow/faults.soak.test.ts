/** What keeps the command from following, on real servers: each is an exit code and a text that says what to do, and leaves nothing on the server. */

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Admin, Kafka, logLevel, Partitioners, type Producer } from 'kafkajs';
import pg from 'pg';
import { missingMariadb } from '../../../servers/databases/mariadb.ts';
import { missingPostgres, type Postgres, startPostgres } from '../../../servers/databases/postgres.ts';
import { type KafkaServer, missingKafka, startKafka } from '../../../servers/queues/kafka.ts';
import { type LogServer, startLogServer } from '../database/mysql-server.ts';

const QUADMILL = resolve('bin/quadmill.js');

const mappingOf = (
  table: string,
  column: string,
): string => `@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix ex: <http://example.com/> .
<#t> rr:logicalTable [ rr:tableName "${table}" ] ; rr:subjectMap [ rr:template "http://example.com/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:name ; rr:objectMap [ rr:column "${column}" ] ] .
`;

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

class Commands {
  readonly directory = mkdtempSync(join(tmpdir(), 'quadmill-follow-faults-'));
  readonly #children = new Set<ChildProcess>();

  run(...args: readonly string[]): Promise<Ended> {
    return new Promise((done) => {
      const child = execFile(process.execPath, [QUADMILL, ...args], { cwd: this.directory }, (_, out, err) =>
        done({ code: child.exitCode, out, err }),
      );
    });
  }

  /** Until it has made a version, and then kill -9. */
  async killed(...args: readonly string[]): Promise<void> {
    const child = spawn(process.execPath, [QUADMILL, ...args], { cwd: this.directory, stdio: ['ignore', 'ignore', 'pipe'] });
    this.#children.add(child);
    let said = '';
    const ended = new Promise<void>((done) => child.once('exit', () => done()));
    child.stderr.on('data', (text) => {
      said += text;
      if (/version \d/.test(said)) child.kill('SIGKILL');
    });
    await ended;
    expect([said, child.signalCode]).toEqual([expect.stringMatching(/version \d/), 'SIGKILL']);
  }

  end(): void {
    for (const child of this.#children) child.kill('SIGKILL');
    rmSync(this.directory, { recursive: true, force: true });
  }
}

const skipped = (missing: string | undefined): string => (missing === undefined ? '' : ` (skipped: ${missing})`);

const noPostgres = await missingPostgres();
(noPostgres === undefined ? describe : describe.skip)(`PostgreSQL${skipped(noPostgres)}`, () => {
  let commands: Commands;
  let server: Postgres;
  let client: pg.Client;
  let jdbcUrl: string;
  const left = async (): Promise<readonly unknown[]> =>
    (await client.query('SELECT slot_name FROM pg_replication_slots UNION ALL SELECT pubname FROM pg_publication')).rows;

  beforeAll(async () => {
    commands = new Commands();
    server = (await startPostgres({ settings: ['wal_level=logical'] })) as Postgres;
    client = new pg.Client({ connectionString: server.url });
    client.on('error', () => undefined);
    await client.connect();
    await client.query(`CREATE TABLE t (id int PRIMARY KEY, name text); INSERT INTO t VALUES (1, 'a');
      CREATE TABLE bare (id int, name text); CREATE VIEW seen AS SELECT * FROM t;
      CREATE ROLE reader LOGIN; GRANT SELECT ON t TO reader; CREATE ROLE follower LOGIN REPLICATION; GRANT SELECT ON t TO follower;
      CREATE ROLE owner LOGIN; GRANT CREATE ON DATABASE postgres TO owner; CREATE TABLE owned (LIKE t INCLUDING ALL); ALTER TABLE owned OWNER TO owner`);
    jdbcUrl = `jdbc:postgresql://127.0.0.1:${server.port}/postgres`;
  }, 60_000);
  afterAll(async () => {
    await client?.end().catch(() => undefined);
    await server?.stop();
    commands?.end();
  });

  test.each([
    ['a wrong column', 't', 'nome', 'postgres', 2, /The table t has no column nome.*\bname\b/s],
    ['a table that is missing', 'u', 'name', 'postgres', 2, /has no table or view u/],
    ['a table of a missing schema', 'elsewhere.t', 'name', 'postgres', 2, /has no table or view elsewhere\.t/],
    ['a view', 'seen', 'name', 'postgres', 2, /a view cannot be followed/],
    ['a table without a key and REPLICA IDENTITY FULL', 'bare', 'name', 'postgres', 1, /REPLICA IDENTITY FULL/],
    ['a login without REPLICATION', 't', 'name', 'reader', 1, /ALTER ROLE "reader" REPLICATION/],
    ['a login that owns the table, without REPLICATION', 'owned', 'name', 'owner', 1, /ALTER ROLE "owner" REPLICATION/],
    ['a login that does not own the table', 't', 'name', 'follower', 1, /CREATE on the database and the ownership of the tables/],
  ])('%s', async (what, table, column, user, code, said) => {
    const name = what.replaceAll(/\W/g, '-');
    writeFileSync(join(commands.directory, `${name}.ttl`), mappingOf(table, column));
    const ended = await commands.run(
      'follow',
      `${name}.ttl`,
      '--dataset',
      name,
      '--jdbc-url',
      jdbcUrl,
      '--db-user',
      user,
      '--until-caught-up',
    );
    expect([ended.code, ended.err]).toEqual([code, expect.stringMatching(said)]);
    expect(await left()).toEqual([]);
  });

  test('remove drops slot and publication of a follower that was killed, and says what to do where the server is down', async () => {
    writeFileSync(join(commands.directory, 't.ttl'), mappingOf('t', 'name'));
    const login = ['--jdbc-url', jdbcUrl, '--db-user', 'postgres'];
    await commands.killed('follow', 't.ttl', '--dataset', 'killed', ...login);
    expect((await left()).length).toBe(2);
    await server.crash();
    const down = await commands.run('dataset', 'remove', 'killed', '--yes', ...login);
    expect([down.code, down.err]).toEqual([
      1,
      expect.stringMatching(/pg_drop_replication_slot.*If the server is gone for good, remove the directory/s),
    ]);
    await server.restart();
    client = new pg.Client({ connectionString: server.url });
    client.on('error', () => undefined);
    await client.connect();
    expect(await commands.run('dataset', 'remove', 'killed', '--yes', ...login)).toMatchObject({ code: 0 });
    expect([await left(), existsSync(join(commands.directory, 'killed'))]).toEqual([[], false]);
  }, 60_000);

  test('a table that is dropped while it is followed ends the follower', async () => {
    await client.query("CREATE TABLE gone (id int PRIMARY KEY, name text); INSERT INTO gone VALUES (1, 'a')");
    writeFileSync(join(commands.directory, 'gone.ttl'), mappingOf('gone', 'name'));
    const follow = ['follow', 'gone.ttl', '--dataset', 'gone', '--jdbc-url', jdbcUrl, '--db-user', 'postgres', '--until-caught-up'];
    expect(await commands.run(...follow)).toMatchObject({ code: 0 });
    await client.query('DROP TABLE gone');
    const ended = await commands.run(...follow);
    expect([ended.code, ended.err]).toEqual([2, expect.stringMatching(/has no table or view gone/)]);
    expect(await commands.run('dataset', 'remove', 'gone', '--yes', '--jdbc-url', jdbcUrl, '--db-user', 'postgres')).toMatchObject({
      code: 0,
    });
    expect(await left()).toEqual([]);
  }, 60_000);

  test('wal_level that is not logical', async () => {
    const plain = (await startPostgres()) as Postgres;
    try {
      const other = new pg.Client({ connectionString: plain.url });
      await other.connect();
      await other.query('CREATE TABLE t (id int PRIMARY KEY, name text)');
      await other.end();
      writeFileSync(join(commands.directory, 'wal.ttl'), mappingOf('t', 'name'));
      const url = `jdbc:postgresql://127.0.0.1:${plain.port}/postgres`;
      const ended = await commands.run(
        'follow',
        'wal.ttl',
        '--dataset',
        'wal',
        '--jdbc-url',
        url,
        '--db-user',
        'postgres',
        '--until-caught-up',
      );
      expect([ended.code, ended.err]).toEqual([1, expect.stringMatching(/wal_level is replica.*ALTER SYSTEM SET wal_level = logical/s)]);
    } finally {
      await plain.stop();
    }
  }, 60_000);
});

const noMariadb = await missingMariadb();
(noMariadb === undefined ? describe : describe.skip)(`MariaDB${skipped(noMariadb)}`, () => {
  let commands: Commands;
  let server: LogServer;
  beforeAll(async () => {
    commands = new Commands();
    server = await startLogServer();
    await server.admin.query('CREATE TABLE t (id int PRIMARY KEY, name text)');
    await server.admin.query("CREATE USER reader IDENTIFIED BY ''; GRANT SELECT ON test.* TO reader");
    writeFileSync(join(commands.directory, 't.ttl'), mappingOf('t', 'name'));
    writeFileSync(join(commands.directory, 'wrong.ttl'), mappingOf('t', 'nome'));
  }, 60_000);
  afterAll(async () => {
    await server?.stop();
    commands?.end();
  });
  const follow = (mapping: string, user: string, port = server.port): Promise<Ended> =>
    commands.run(
      ...[
        'follow',
        mapping,
        '--dataset',
        'd',
        '--jdbc-url',
        `jdbc:mariadb://127.0.0.1:${port}/test`,
        '--db-user',
        user,
        '--until-caught-up',
      ],
    );

  test.each([
    ['binlog_format', 'STATEMENT', 'ROW', /binlog_format is STATEMENT.*SET GLOBAL binlog_format = 'ROW'/s],
    ['binlog_row_image', 'MINIMAL', 'FULL', /binlog_row_image is MINIMAL.*SET GLOBAL binlog_row_image = 'FULL'/s],
  ])('%s that is %s', async (name, value, usual, said) => {
    await server.admin.query(`SET GLOBAL ${name} = '${value}'`);
    const ended = await follow('t.ttl', 'root');
    await server.admin.query(`SET GLOBAL ${name} = '${usual}'`);
    expect([ended.code, ended.err]).toEqual([1, expect.stringMatching(said)]);
  });

  test('a wrong column, and a login without rights', async () => {
    const wrong = await follow('wrong.ttl', 'root');
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringMatching(/The table t has no column nome/)]);
    const reader = await follow('t.ttl', 'reader');
    expect([reader.code, reader.err]).toEqual([1, expect.stringMatching(/BINLOG MONITOR|REPLICATION SLAVE/)]);
  });

  test('a server without a binlog', async () => {
    const plain = await startLogServer(['--skip-log-bin']);
    try {
      await plain.admin.query('CREATE TABLE t (id int PRIMARY KEY, name text)');
      const ended = await follow('t.ttl', 'root', plain.port);
      expect([ended.code, ended.err]).toEqual([1, expect.stringMatching(/log_bin is OFF.*Start the server with --log-bin/s)]);
    } finally {
      await plain.stop();
    }
  }, 60_000);
});

const noKafka = await missingKafka();
(noKafka === undefined ? describe : describe.skip)(`Kafka${skipped(noKafka)}`, () => {
  let commands: Commands;
  let kafka: KafkaServer;
  let admin: Admin;
  let producer: Producer;
  const TOPIC = 'p.shop.t';
  beforeAll(async () => {
    commands = new Commands();
    kafka = (await startKafka()) as KafkaServer;
    const library = new Kafka({ brokers: [kafka.broker], logLevel: logLevel.NOTHING });
    [admin, producer] = [library.admin(), library.producer({ createPartitioner: Partitioners.DefaultPartitioner })];
    await admin.connect();
    await producer.connect();
    writeFileSync(join(commands.directory, 't.ttl'), mappingOf('t', 'name'));
  }, 60_000);
  afterAll(async () => {
    await admin?.disconnect();
    await producer?.disconnect();
    await kafka?.stop();
    commands?.end();
  });

  const changes = ['--changes', 'kafka://BROKER/p.shop.{table}'];
  const follow = (dataset: string, ...more: readonly string[]): Promise<Ended> =>
    commands.run('follow', 't.ttl', '--dataset', dataset, ...withBroker(), ...more);
  const withBroker = (): readonly string[] => changes.map((one) => one.replace('BROKER', kafka.broker));
  async function send(topic: string, ...names: readonly (string | number)[]): Promise<void> {
    if (!(await admin.listTopics()).includes(topic))
      await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: false });
    const source = { connector: 'postgresql', schema: 'shop', table: 't', snapshot: 'false', ts_ms: 1 };
    const messages = names.map((name, id) => ({
      key: JSON.stringify({ id }),
      value: JSON.stringify({ before: null, after: { id, name }, source, op: 'c' }),
    }));
    await producer.send({ topic, messages });
  }

  test('a topic that was deleted and created again is an error, whether it is shorter, as long or longer', async () => {
    await send(TOPIC, 'a', 'b', 'c');
    expect(await follow('anew', '--until-caught-up')).toMatchObject({ code: 0 });
    expect(await follow('anew', '--until-caught-up')).toMatchObject({ code: 0 });
    for (const names of [['x'], ['x', 'y', 'z'], ['x', 'y', 'z', 'v', 'w']]) {
      await admin.deleteTopics({ topics: [TOPIC] });
      await sleep(500);
      await send(TOPIC, ...names);
      const ended = await follow('anew', '--until-caught-up');
      expect([names.length, ended.code, ended.err]).toEqual([names.length, 1, expect.stringMatching(/is another topic of this name/)]);
    }
  }, 60_000);

  test.each([
    ['decimal', 'HLIk', /"HLIk" is no xsd:decimal.*decimal\.handling\.mode=string.*value\.converter\.schemas\.enable=true/s],
    ['dateTime', 1709210096123456, /a number without a schema does not say what it counts.*time\.precision\.mode=isostring/s],
    ['date', -2147472692, /"-2147472692" stands for an infinite value/],
    ['date', '+10000-01-01Z', undefined],
  ])('a message without a schema whose column is an xsd:%s: %s', async (datatype, value, said) => {
    const name = `t${randomBytes(4).toString('hex')}`;
    const mapping = mappingOf(name, 'name').replace(
      'rr:column "name"',
      `rr:column "name" ; rr:datatype <http://www.w3.org/2001/XMLSchema#${datatype}>`,
    );
    writeFileSync(join(commands.directory, `${name}.ttl`), mapping);
    await send(`p.shop.${name}`, value);
    const ended = await commands.run('follow', `${name}.ttl`, '--dataset', name, ...withBroker(), '--until-caught-up');
    expect([ended.code, ended.err]).toEqual(said === undefined ? [0, expect.any(String)] : [1, expect.stringMatching(said)]);
    if (said !== undefined) return;
    expect((await commands.run('dataset', 'export', name)).out).toContain('"10000-01-01"^^');
  });

  test('remove removes the consumer group of a follower that was killed, and goes on without brokers', async () => {
    await commands.killed('follow', 't.ttl', '--dataset', 'group', ...withBroker());
    const groups = async (): Promise<readonly string[]> => (await admin.listGroups()).groups.map(({ groupId }) => groupId);
    const others = await groups();
    expect(others.length).toBeGreaterThan(0);
    expect(await follow('down', '--until-caught-up')).toMatchObject({ code: 0 });
    expect(await commands.run('dataset', 'remove', 'group', '--yes')).toMatchObject({ code: 0 });
    expect((await groups()).length).toBe(others.length);
    await kafka.crash();
    const down = await commands.run('dataset', 'remove', 'down', '--yes');
    expect([down.code, down.err]).toEqual([
      0,
      expect.stringMatching(/The consumer group quadmill-\S+ stays at .*kafka-consumer-groups --delete/),
    ]);
    expect(readdirSync(commands.directory)).not.toContain('down');
  }, 90_000);
});
