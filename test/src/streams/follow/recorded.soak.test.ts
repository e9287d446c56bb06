/**
 * Every recorded scenario through the command line: messages of Debezium by a real broker, and the replication logs of real servers in which the
 * workloads run. After each scenario the graph is that of a plain run over the tables as they are then. What differs is named here, with its reason.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Admin, type IHeaders, Kafka, logLevel, Partitioners, type Producer } from 'kafkajs';
import pg from 'pg';
import { fromBytes } from '../../../../src/core/text.ts';
import { Dataset } from '../../../../src/datasets/dataset.ts';
import { openFiles } from '../../../../src/datasets/files.ts';
import { USUAL_S3_ACCESS } from '../../../../src/storage/s3-access.ts';
import { missingMariadb } from '../../../servers/databases/mariadb.ts';
import { missingPostgres, type Postgres, startPostgres } from '../../../servers/databases/postgres.ts';
import { type KafkaServer, missingKafka, startKafka } from '../../../servers/queues/kafka.ts';
import { reportedLines } from '../../run/random/engine.ts';
import { startLogServer } from '../database/mysql-server.ts';
import { avroSchemaText, messagesOf, missingStreams, scenarios, scriptOf, statementsOf, workloads } from '../debezium/recorded.ts';
import { type Difference, mappingOf, NAMED, OF_LATER, type Settings } from './recorded-shop.ts';

const QUADMILL = resolve('bin/quadmill.js');
const missing = missingStreams ?? (await missingKafka()) ?? (await missingPostgres()) ?? (await missingMariadb());

interface Variant {
  /** Of the topics; `log`: the replication log of the server. */
  readonly prefix: string;
  readonly settings: Settings;
}

const POSTGRES: readonly Variant[] = [
  { prefix: 'pg', settings: 'defaults' },
  { prefix: 'pgr', settings: 'recommended' },
  { prefix: 'pgf', settings: 'recommended' },
  { prefix: 'pgs', settings: 'schemas' },
  { prefix: 'log', settings: 'log' },
];
const MARIADB: readonly Variant[] = [
  { prefix: 'ma', settings: 'defaults' },
  { prefix: 'mar', settings: 'recommended' },
  { prefix: 'mas', settings: 'schemas' },
  { prefix: 'log', settings: 'log' },
];
const MYSQL: readonly Variant[] = [{ prefix: 'my', settings: 'recommended' }];

/** The first scenario that is followed; those before it have been sent by then. RECORDED_FROM=15: all at once up to 15. */
const FROM = process.env.RECORDED_FROM ?? '';

/** Messages in one request, which brokers bound to a megabyte. */
const MOST_SENT = 100;

/** Whether the recording goes on behind a second snapshot. */
const isWhole = scenarios('postgres').some((name) => name >= '16');

const AVRO = ['02-insert', '03-update', '04-key-change', '10-schema-change', '11-types'];

const INTERVALS = `@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix ex: <http://example.com/> .
<#types> rr:logicalTable [ rr:tableName "shop.types" ] ; rr:subjectMap [ rr:template "http://example.com/types/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:a_interval ; rr:objectMap [ rr:column "a_interval" ] ] .
`;

/** A server in which the workloads run. */
interface Database {
  readonly jdbcUrl: string;
  query(sql: string): Promise<unknown>;
  stop(): Promise<unknown>;
}

(missing === undefined ? describe : describe.skip)(`recorded scenarios${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  let directory: string;
  let kafka: KafkaServer;
  let postgres: Postgres;
  let admin: Admin;
  let producer: Producer;
  let registry: Server;
  const stops: (() => Promise<unknown>)[] = [];
  const used = new Set<string>();

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'quadmill-recorded-'));
    [kafka, postgres] = (await Promise.all([
      startKafka(),
      startPostgres({ settings: ['wal_level=logical', 'max_prepared_transactions=10'] }),
    ])) as [KafkaServer, Postgres];
    const library = new Kafka({ brokers: [kafka.broker], logLevel: logLevel.NOTHING });
    [admin, producer] = [library.admin(), library.producer({ createPartitioner: Partitioners.DefaultPartitioner })];
    await admin.connect();
    await producer.connect();
    registry = createServer((request, response) => {
      response.end(JSON.stringify({ schema: avroSchemaText(/(\d+)$/.exec(`${request.url}`)?.[1] as string) }));
    });
    await new Promise<void>((done) => void registry.listen(0, '127.0.0.1', done));
  }, 120_000);
  afterAll(async () => {
    registry?.close();
    await admin?.disconnect();
    await producer?.disconnect();
    await Promise.all(stops.map((stop) => stop()));
    await postgres?.stop();
    await kafka?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const quadmill = (...args: readonly string[]): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> =>
    new Promise((done) => {
      const child = execFile(process.execPath, [QUADMILL, ...args], { cwd: directory, maxBuffer: 2 ** 28 }, (_, out, err) =>
        done({ code: child.exitCode, out, err }),
      );
    });

  async function openPostgres(name: string): Promise<Database> {
    const root = new pg.Client({ connectionString: postgres.url });
    await root.connect();
    if (name === 'shop') await root.query('CREATE ROLE debezium LOGIN');
    await root.query(`CREATE DATABASE ${name}`);
    await root.end();
    const client = new pg.Client({ connectionString: postgres.url.replace(/\w+$/, name) });
    await client.connect();
    stops.push(() => client.end());
    return {
      jdbcUrl: `jdbc:postgresql://127.0.0.1:${postgres.port}/${name}?user=postgres`,
      query: (sql) => client.query(sql),
      stop: () => client.end(),
    };
  }

  async function openMariadb(): Promise<Database> {
    const server = await startLogServer(['--binlog-row-metadata=FULL', '--default-time-zone=+00:00']);
    stops.push(() => server.stop());
    return {
      jdbcUrl: `jdbc:mariadb://127.0.0.1:${server.port}/test?user=root`,
      query: (sql) => server.admin.query(sql),
      stop: () => server.stop(),
    };
  }

  async function send(folder: string, prefix: string, topics: Set<string>): Promise<void> {
    const messages = messagesOf(folder, prefix);
    const fresh = [...messages.keys()].filter((topic) => !topics.has(topic));
    for (const topic of fresh) topics.add(topic);
    // The producer waits for leaders, and the broker may not know them for a moment.
    if (fresh.length > 0) await admin.createTopics({ topics: fresh.map((topic) => ({ topic, numPartitions: 1 })), waitForLeaders: false });
    for (const [topic, own] of messages) {
      const all = own.map(({ key, value, headers }) => ({
        key: key as Buffer | null,
        value: value as Buffer | null,
        headers: headers as IHeaders,
      }));
      for (let at = 0; at < all.length; at += MOST_SENT) await producer.send({ topic, messages: all.slice(at, at + MOST_SENT) });
    }
  }

  async function graphOf(name: string): Promise<ReadonlySet<string>> {
    const dataset = await Dataset.open(openFiles(join(directory, name), directory, USUAL_S3_ACCESS));
    let text = '';
    const folding = { directory: mkdtempSync(join(directory, 'folding-')), memoryBudgetBytes: 2 ** 24 };
    for await (const lines of dataset.graph(dataset.current, undefined, folding)) text += lines;
    return new Set(fromBytes(text).split('\n').slice(0, -1));
  }

  const plainOf = async (mapping: string, jdbcUrl: string): Promise<ReadonlySet<string>> =>
    new Set((await reportedLines({ mappings: [mapping], workingDirectory: directory, database: { jdbcUrl }, onError: 'skip' })).lines);

  function unnamed(
    where: Pick<Difference, 'variant' | 'scenario'>,
    ours: ReadonlySet<string>,
    plain: ReadonlySet<string>,
  ): readonly string[] {
    const differences: readonly Difference[] = [
      ...[...ours].filter((line) => !plain.has(line)).map((line) => ({ ...where, line, isOurs: true })),
      ...[...plain].filter((line) => !ours.has(line)).map((line) => ({ ...where, line, isOurs: false })),
    ];
    return differences
      .filter((difference) => {
        const names = Object.entries(NAMED).filter(([, holds]) => holds(difference));
        for (const [name] of names) used.add(name);
        return names.length === 0;
      })
      .map(({ line, isOurs }) => `${isOurs ? '+' : '-'} ${line.slice(0, 300)}`);
  }

  const subjectsOf = (line: string): readonly string[] =>
    line.match(/<[^>]*\/(?:customers|products|orders|order_lines|audit|stores|types)\/[^>]*>/g) ?? [];

  class Replay {
    readonly #database: string;
    readonly #variant: Variant;
    readonly #topics = new Set<string>();
    readonly name: string;
    /** Rows of which the recording lacks events. */
    #stale = new Set<string>();
    #before: ReadonlySet<string> = new Set();
    #plainBefore: ReadonlySet<string> = new Set();
    compared = 0;

    constructor(database: string, variant: Variant) {
      [this.#database, this.#variant] = [database, variant];
      this.name = `${database}-${variant.prefix}`;
    }

    async run(scenario: string, jdbcUrl: string): Promise<readonly string[]> {
      const { prefix, settings } = this.#variant;
      const folder = `${this.#database}/${scenario}`;
      const mapping = `${this.name}.ttl`;
      const isLog = prefix === 'log';
      const isRecorded = isLog || messagesOf(folder, prefix).size > 0;
      writeFileSync(join(directory, mapping), mappingOf(this.#database, settings, scenario));
      const plain = await plainOf(mapping, jdbcUrl);
      if (!isRecorded) {
        for (const line of changed(this.#plainBefore, plain)) for (const one of subjectsOf(line)) this.#stale.add(one);
        this.#plainBefore = plain;
        return [];
      }
      if (!isLog) await send(folder, prefix, this.#topics);
      if (scenario < FROM) {
        this.#plainBefore = plain;
        return [];
      }
      const from = isLog ? ['--jdbc-url', jdbcUrl] : ['--changes', `kafka://${kafka.broker}/${prefix}.shop.{table}`];
      const followed = await quadmill('follow', mapping, '--dataset', this.name, ...from, '--until-caught-up', '--on-error', 'skip');
      expect([this.name, scenario, followed.code, followed.err]).toEqual([this.name, scenario, 0, expect.any(String)]);
      const ours = await graphOf(this.name);
      // A row that now equals that of the table is not stale.
      const wrong = unnamed({ variant: this.name, scenario }, ours, plain);
      const others = wrong.filter((line) => !subjectsOf(line).some((one) => this.#stale.has(one)));
      for (const subject of this.#stale) if (!wrong.some((line) => line.includes(subject))) this.#stale.delete(subject);
      this.compared += changed(this.#before, ours).length;
      [this.#before, this.#plainBefore] = [ours, plain];
      return others.length === 0 ? [] : [`${this.name} ${scenario}`, ...others, followed.err];
    }
  }

  const changed = (before: ReadonlySet<string>, after: ReadonlySet<string>): readonly string[] => [
    ...[...after].filter((line) => !before.has(line)),
    ...[...before].filter((line) => !after.has(line)),
  ];

  async function replay(recording: string, variants: readonly Variant[], database: Database): Promise<void> {
    for (const statement of statementsOf(scriptOf(recording, 'schema.sql'))) await database.query(statement);
    const replays = variants.map((variant) => new Replay(recording, variant));
    const wrong: string[] = [];
    for (const scenario of workloads(recording)) {
      for (const statement of statementsOf(scriptOf(recording, `${scenario}/workload.sql`))) await database.query(statement);
      const waiting = [...replays];
      const work = async (): Promise<void> => {
        for (let one = waiting.shift(); one !== undefined; one = waiting.shift())
          wrong.push(...(await one.run(scenario, database.jdbcUrl)));
      };
      await Promise.all([work(), work(), work()]);
    }
    expect(wrong).toEqual([]);
    for (const { name, compared } of replays) expect([name, compared > 20 || FROM !== '']).toEqual([name, true]);
  }

  test('PostgreSQL', async () => replay('postgres', POSTGRES, await openPostgres('shop')), 600_000);

  test('MariaDB', async () => replay('mariadb', MARIADB, await openMariadb()), 600_000);

  (scenarios('mysql').length > 0 ? test : test.skip)('MySQL', async () => replay('mysql', MYSQL, await openMariadb()), 600_000);

  test('Avro with a registry', async () => {
    const database = await openPostgres('avro');
    for (const name of ['schema.sql', ...AVRO.map((scenario) => `${scenario}/workload.sql`)])
      for (const statement of statementsOf(scriptOf('postgres', name))) await database.query(statement);
    writeFileSync(join(directory, 'avro.ttl'), mappingOf('postgres', 'schemas', '11-types'));
    await send('avro', 'pga', new Set());
    const { port } = registry.address() as AddressInfo;
    const follow = (mapping: string, dataset: string, ...more: readonly string[]) =>
      quadmill(
        ...['follow', mapping, '--dataset', dataset, '--changes', `kafka://${kafka.broker}/pga.shop.{table}`, '--until-caught-up'],
        ...['--registry', `http://127.0.0.1:${port}/apis/ccompat/v7`, ...more],
      );
    const followed = await follow('avro.ttl', 'avro', '--on-error', 'skip');
    expect([followed.code, followed.err]).toEqual([0, expect.any(String)]);
    const plain = await plainOf('avro.ttl', database.jdbcUrl);
    expect(unnamed({ variant: 'avro', scenario: '11-types' }, await graphOf('avro'), plain)).toEqual([]);
    expect(await quadmill('dataset', 'export', 'avro', '-o', 'avro.nq')).toMatchObject({ code: 0 });
    expect(new Set(readFileSync(join(directory, 'avro.nq'), 'utf8').split('\n').slice(0, -1))).toEqual(await graphOf('avro'));
    writeFileSync(join(directory, 'interval.ttl'), INTERVALS);
    const interval = await follow('interval.ttl', 'interval');
    expect([interval.code, interval.err]).toEqual([
      1,
      expect.stringMatching(/The interval has lost its months.*interval\.handling\.mode=string/s),
    ]);
  }, 120_000);

  test('the names of differences are all in use', () =>
    expect(Object.keys(NAMED).filter((name) => !used.has(name) && (isWhole || !OF_LATER.has(name)) && FROM === '')).toEqual([]));
});
