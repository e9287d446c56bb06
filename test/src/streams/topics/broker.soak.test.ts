/** Topics of a real broker that a mapping names, by the command: changes, kills, joins with a table that is followed, and what is wrong. */
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Admin, Kafka, logLevel, Partitioners, type Producer } from 'kafkajs';
import pg from 'pg';
import { missingPostgres, type Postgres, startPostgres } from '../../../servers/databases/postgres.ts';
import { KAFKA_USERS, type KafkaServer, missingKafka, startKafka } from '../../../servers/queues/kafka.ts';
import { Random } from '../../../support/random.ts';
import { HEAD } from './harness.ts';

const QUADMILL = resolve('bin/quadmill.js');
const missing = (await missingKafka()) ?? (await missingPostgres());

interface Ended {
  readonly code: number;
  readonly said: string;
}

(missing === undefined ? describe : describe.skip)(`topics of a broker${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  let server: KafkaServer;
  let admin: Admin;
  let producer: Producer;
  let postgres: Postgres;
  let directory: string;

  beforeAll(async () => {
    const started = await startKafka({ secured: true });
    if ('skip' in started) throw new Error(started.skip);
    server = started;
    const kafka = new Kafka({ brokers: [server.broker], logLevel: logLevel.NOTHING, retry: { retries: 60, maxRetryTime: 1_000 } });
    admin = kafka.admin();
    producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await admin.connect();
    await producer.connect();
    postgres = (await startPostgres({ settings: ['wal_level=logical'] })) as Postgres;
    directory = mkdtempSync(join(tmpdir(), 'quadmill-topics-'));
  }, 120_000);

  afterAll(async () => {
    await admin?.disconnect();
    await producer?.disconnect();
    await server?.stop();
    await postgres?.stop();
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
  });

  const create = (...topics: readonly string[]): Promise<boolean> =>
    admin.createTopics({ topics: topics.map((topic) => ({ topic, numPartitions: 3 })), waitForLeaders: true });
  const send = (topic: string, ...messages: readonly { readonly key: string | null; readonly value: string | null }[]): Promise<unknown> =>
    producer.send({ topic, messages: messages.map((one) => ({ ...one, headers: { from: 'test' } })) });
  const source = (topic: string, broker = server.broker): string =>
    `[ a td:Thing ; td:hasForm [ hctl:hasTarget "kafka://${broker}/${topic}" ; hctl:forContentType "application/json" ] ]`;
  const simple = (topic: string, broker?: string): string =>
    `<#M> rml:logicalSource [ rml:source ${source(topic, broker)} ; qms:changes qms:Upsert ] ; rml:subjectMap [ rml:template "http://e.org/{$.id}" ] ;
      rml:predicateObjectMap [ rml:predicate ex:v ; rml:objectMap [ rml:reference "$.v" ] ] ;
      rml:predicateObjectMap [ rml:predicate ex:from ; rml:objectMap [ rml:reference "qms:header(from)" ] ] .`;
  const command = (name: string, ...more: readonly string[]): readonly string[] => [
    QUADMILL,
    'follow',
    join(directory, `${name}.ttl`),
    '--dataset',
    join(directory, name),
    ...more,
  ];
  const follow = (name: string, mapping: string, more: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<Ended> => {
    writeFileSync(join(directory, `${name}.ttl`), HEAD + mapping);
    return new Promise((done) => {
      const args = command(name, '--until-caught-up', ...more);
      execFile(process.execPath, [...args], { env: { ...process.env, ...env } }, (error, stdout, stderr) =>
        done({ code: error === null ? 0 : Number(error.code), said: stdout + stderr }),
      );
    });
  };
  const graph = async (name: string): Promise<readonly string[]> => {
    const file = join(directory, `${name}.nq`);
    const args = [QUADMILL, 'dataset', 'export', join(directory, name), '--output', file];
    await new Promise<void>((done, fail) =>
      execFile(process.execPath, args, (error, _, stderr) => (error === null ? done() : fail(new Error(stderr)))),
    );
    return readFileSync(file, 'utf8').split('\n').slice(0, -1).sort();
  };

  test('upserts and deletes reach the dataset, also when the follower is killed at random', async () => {
    await create('upserts');
    const random = new Random(5);
    const newest = new Map<string, string>();
    const change = async (): Promise<void> => {
      const messages = Array.from({ length: random.between(1, 40) }, () => {
        const key = `k${random.between(1, 30)}`;
        const value = random.chance(0.2) ? null : `{"id":"${key}","v":${random.between(1, 1000)}}`;
        if (value === null) newest.delete(key);
        else newest.set(key, value);
        return { key, value };
      });
      await send('upserts', ...messages);
    };
    await change();
    writeFileSync(join(directory, 'upserts.ttl'), HEAD + simple('upserts'));
    for (let i = 0; i < 3; i++) {
      const child = spawn(process.execPath, [...command('upserts', '--epoch-seconds', '1')], { stdio: 'ignore' });
      const ended = new Promise((done) => child.once('exit', done));
      const until = Date.now() + random.between(3_000, 6_000);
      while (Date.now() < until) {
        await change();
        await sleep(200);
      }
      child.kill('SIGKILL');
      await ended;
    }
    expect(await follow('upserts', simple('upserts'))).toMatchObject({ code: 0 });
    const expected = [...newest.values()].flatMap((text) => {
      const { id, v } = JSON.parse(text) as { readonly id: string; readonly v: number };
      return [
        `<http://e.org/${id}> <http://e.org/v> "${v}"^^<http://www.w3.org/2001/XMLSchema#integer> .`,
        `<http://e.org/${id}> <http://e.org/from> "test" .`,
      ];
    });
    expect(await graph('upserts')).toEqual(expected.sort());
    const verified = await new Promise<Ended>((done) =>
      execFile(process.execPath, [QUADMILL, 'dataset', 'verify', join(directory, 'upserts')], (error, stdout, stderr) =>
        done({ code: error === null ? 0 : Number(error.code), said: stdout + stderr }),
      ),
    );
    expect(verified).toMatchObject({ code: 0 });
  }, 90_000);

  test('a topic is joined with a table whose changes come from its database', async () => {
    await create('joined');
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    await client.query("CREATE TABLE customers (id int PRIMARY KEY, name text); INSERT INTO customers VALUES (1, 'Ada'), (2, 'Bob')");
    const mapping = `<#O> rml:logicalSource [ rml:source ${source('joined')} ] ; rml:subjectMap [ rml:template "http://e.org/o{qms:key}" ] ;
        rml:predicateObjectMap [ rml:predicate ex:by ; rml:objectMap [ rml:parentTriplesMap <#C> ; rml:joinCondition [ rml:child "$.customer" ; rml:parent "id" ] ] ] .
      <#C> rml:logicalSource [ rml:source <#DB> ; rml:referenceFormulation rml:SQL2008Table ; rml:iterator "customers" ] ; rml:subjectMap [ rml:template "http://e.org/{name}" ] .
      <#DB> a <http://www.wiwiss.fu-berlin.de/suhl/bizer/D2RQ/0.1#Database> ; <http://www.wiwiss.fu-berlin.de/suhl/bizer/D2RQ/0.1#jdbcDSN> "jdbc:postgresql://127.0.0.1:${postgres.port}/postgres?user=postgres" .`;
    await send('joined', { key: '1', value: '{"customer":1}' }, { key: '2', value: '{"customer":2}' });
    const first = await follow('joined', mapping);
    expect(first.said).toContain('version 1');
    expect(await graph('joined')).toEqual([
      '<http://e.org/o1> <http://e.org/by> <http://e.org/Ada> .',
      '<http://e.org/o2> <http://e.org/by> <http://e.org/Bob> .',
    ]);
    await client.query("UPDATE customers SET name = 'Eve' WHERE id = 2");
    await send('joined', { key: '3', value: '{"customer":2}' });
    await follow('joined', mapping);
    expect(await graph('joined')).toEqual([
      '<http://e.org/o1> <http://e.org/by> <http://e.org/Ada> .',
      '<http://e.org/o2> <http://e.org/by> <http://e.org/Eve> .',
      '<http://e.org/o3> <http://e.org/by> <http://e.org/Eve> .',
    ]);
    const removed = await new Promise<Ended>((done) =>
      execFile(
        process.execPath,
        [
          QUADMILL,
          'dataset',
          'remove',
          join(directory, 'joined'),
          '--yes',
          '--jdbc-url',
          `jdbc:postgresql://127.0.0.1:${postgres.port}/postgres?user=postgres`,
        ],
        (error, stdout, stderr) => done({ code: error === null ? 0 : Number(error.code), said: stdout + stderr }),
      ),
    );
    expect(removed).toMatchObject({ code: 0 });
    expect((await client.query('SELECT slot_name FROM pg_replication_slots')).rows).toEqual([]);
    await client.end();
  }, 60_000);

  test('a topic that matches a pattern is read when it appears', async () => {
    await create('many.one');
    await send('many.one', { key: 'a', value: '{"id":1,"v":1}' });
    writeFileSync(join(directory, 'many.ttl'), HEAD + simple('many.*'));
    const child = spawn(process.execPath, [...command('many', '--epoch-seconds', '1')], { stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = new Promise((done) => child.once('exit', done));
    let said = '';
    child.stdout.on('data', (text) => void (said += text));
    child.stderr.on('data', (text) => void (said += text));
    await sleep(5_000);
    await create('many.two');
    await send('many.two', { key: 'a', value: '{"id":2,"v":2}' });
    for (let i = 0; i < 100 && !said.includes('version 2'); i++) await sleep(200);
    child.kill('SIGTERM');
    await ended;
    expect((await graph('many')).filter((line) => line.includes('/v>'))).toEqual([
      '<http://e.org/1> <http://e.org/v> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .',
      '<http://e.org/2> <http://e.org/v> "2"^^<http://www.w3.org/2001/XMLSchema#integer> .',
    ]);
  }, 60_000);

  test('an empty topic makes a version without statements, and is reported', async () => {
    await create('empty');
    const { code, said } = await follow('empty', simple('empty'));
    expect(said).toContain('Topic empty has no messages');
    expect(code).toBe(0);
  }, 30_000);

  test('a topic that is not there, a wrong login, and a message that is no JSON are reported', async () => {
    await create('bad');
    await send('bad', { key: 'a', value: '{' }, { key: 'b', value: '{"id":1,"v":2}' });
    const { sasl } = server.secured as NonNullable<KafkaServer['secured']>;
    const login = { KAFKA_USERNAME: KAFKA_USERS.plain.username, KAFKA_SASL_MECHANISM: 'plain' };
    const [none, refused, welcome, broken] = await Promise.all([
      follow('none', simple('none')),
      follow('refused', simple('bad', sasl), [], { ...login, KAFKA_PASSWORD: 'wrong' }),
      follow('welcome', simple('bad', sasl), ['--on-error', 'quarantine'], { ...login, KAFKA_PASSWORD: KAFKA_USERS.plain.password }),
      follow('broken', simple('bad')),
    ]);
    expect(none.said).toMatch(/Kafka at \S+ has no topic none/);
    expect(refused.said).toMatch(/cannot be read: .*[aA]uthentication/);
    expect(refused.said).toMatch(/Check user and password/);
    expect(welcome.code).toBe(0);
    expect(readFileSync(join(directory, 'welcome.rejected.ndjson'), 'utf8')).toMatch(
      /"place":"bad\[\d\]@0","message":"The value cannot be read: The text is no valid JSON/,
    );
    expect(broken.said).toMatch(/bad\[\d\]@0: The value cannot be read: The text is no valid JSON/);
    expect([none.code, refused.code, broken.code]).toEqual([1, 1, 1]);
  }, 60_000);
});
