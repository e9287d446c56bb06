/**
 * A canary in every place that takes a secret, then good and failing runs of all services, and nothing that leaves the process may contain
 * one: log, standard error, crash message, answers, metrics, jobs, topics, output files, provenance and backups.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { createLicence } from '../../../src/config/licence.ts';
import { OPTION_NAMES, type OptionName, optionRow } from '../../../src/config/options/options.ts';
import { writeSqlite } from '../../servers/databases/sqlite.ts';
import { KAFKA_USERS } from '../../servers/queues/kafka.ts';
import { type Redis as RedisServer, startRedis } from '../../servers/queues/redis.ts';
import { SHARED_START_MS, type SharedKafka, sharedKafka } from '../../servers/shared/shared.ts';
import { type Answering, startAnswering } from '../../src/sources/web/running.ts';
import { built, PROJECT_ROOT } from '../../support/project-root.ts';
import { temporaryDirectory, uniquePrefix } from '../../support/queues/backends.ts';
import { PEOPLE, peopleMapping } from '../../support/service/inputs.ts';
import { type KafkaClient, openKafkaClient } from '../../support/service/kafka-client.ts';
import { type Answer, ask, type ServiceProcess, spawnService, startService } from '../../support/service/process.ts';

const canary = (name: string): string => `canary${name}${randomBytes(6).toString('hex')}`;

/** Beside those of the options. */
const IN = {
  queueUrl: canary('QueueUrl'),
  jdbcUrl: canary('JdbcUrl'),
  jdbcUrlSet: canary('JdbcUrlSet'),
  jdbcRequest: canary('JdbcRequest'),
  jdbcPassword: canary('JdbcPassword'),
  mapping: canary('Mapping'),
  endpoint: canary('Endpoint'),
  passwordSet: canary('PasswordSet'),
  basic: canary('Basic'),
  parameter: canary('Parameter'),
  oauth: canary('Oauth'),
  sentinel: canary('Sentinel'),
  token: canary('Token'),
  viewer: canary('Viewer'),
  wrongToken: canary('WrongToken'),
} as const;

const licensor = generateKeyPairSync('ed25519');
const licence = createLicence(
  { name: 'Ann', company: 'Mill', email: 'ann@mill.example', notBefore: '2020-01-01', expires: '2099-12-31' },
  licensor.privateKey,
);

/** The mapping of people with a database that refuses its login. */
const mappingWithLogin = (port: number): string => `@prefix rml: <http://w3id.org/rml/> .
@prefix d2rq: <http://www.wiwiss.fu-berlin.de/suhl/bizer/D2RQ/0.1#> .
<http://example.com/M> a rml:TriplesMap ; rml:logicalSource [ rml:source <http://example.com/DB> ; rml:referenceFormulation rml:SQL2008Table ; rml:iterator "people" ] ;
  rml:subjectMap [ rml:template "http://example.com/{id}" ] .
<http://example.com/DB> a d2rq:Database ; d2rq:jdbcDSN "jdbc:postgresql://127.0.0.1:${port}/shop?sslmode=disable" ;
  d2rq:username "ann" ; d2rq:password "${IN.mapping}" .
`;

interface Refusing {
  readonly port: number;
  /** What clients have sent. */
  received(): string;
  close(): void;
}

/** Asks for a password in clear text, and refuses it, as PostgreSQL does. */
async function refusingPostgres(): Promise<Refusing> {
  let received = '';
  const sockets = new Set<Socket>();
  const message = (type: string, body: Buffer): Buffer => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(body.length + 4);
    return Buffer.concat([Buffer.from(type), length, body]);
  };
  const refusal = Buffer.from('SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed for user "ann"\0\0');
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    let asked = false;
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
      if (asked) socket.end(message('E', refusal));
      else socket.write(message('R', Buffer.from([0, 0, 0, 3])));
      asked = true;
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    port: (server.address() as { readonly port: number }).port,
    received: () => received,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Ends the process by an error that holds the whole configuration, when the signal comes. */
const CRASH = `import { readEnvironment } from ${JSON.stringify(built('src/config/parse.js').href)};
process.on('SIGUSR2', () => {
  const options = readEnvironment(process.env).values;
  throw Object.assign(new Error('crashed with ' + options.JDBC_URL + ' and ' + options.DB_PASSWORD, { cause: options }), { options });
});
`;

/** One test after another, on one process. @param withKafka on a broker, with a login */
export function hidesSecrets(withKafka: boolean): void {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let redis: RedisServer;
  let service: ServiceProcess;
  let web: Answering;
  let postgres: Refusing;
  let kafka: SharedKafka | undefined;
  let client: KafkaClient | undefined;
  let topics: Readonly<Record<'source' | 'success' | 'dead', string>>;
  const answers: Answer[] = [];
  const at = (...parts: readonly string[]): string => join(directory.path, ...parts);

  /** One for every secret option: a new one fails the first test until it has a canary. */
  const ofOptions = (): Readonly<Partial<Record<OptionName, { readonly value: string; readonly canaries: readonly string[] }>>> => options;
  const one = (value: string) => ({ value, canaries: [value] });
  const options: Record<string, { value: string; canaries: readonly string[] }> = {
    API_TOKENS: { value: `ada:admin:${IN.token},vic:viewer:${IN.viewer}`, canaries: [IN.token, IN.viewer] },
    SECRETS_KEY: one(randomBytes(32).toString('base64')),
    LICENSE: one(licence),
    DB_PASSWORD: one(canary('DbPassword')),
    TRIPLESTORE_PASSWORD: one(canary('Triplestore')),
    KAFKA_PASSWORD: one(withKafka ? KAFKA_USERS.plain.password : canary('Kafka')),
    AWS_ACCESS_KEY: one(canary('AwsAccess')),
    AWS_SECRET_KEY: one(canary('AwsSecret')),
    // A process without sentinels refuses it: the one that has it is started below.
    QUEUE_SENTINEL_PASSWORD: { value: '', canaries: [IN.sentinel] },
    SOURCE_LOGINS: { value: '', canaries: [IN.basic, IN.parameter, IN.oauth] },
  };
  const canaries = (): readonly string[] => {
    const { token, viewer, basic, parameter, oauth, sentinel, ...rest } = IN;
    const plain = [...Object.values(ofOptions()).flatMap((option) => option?.canaries ?? []), ...Object.values(rest)];
    const encoded = plain.flatMap((text) => [Buffer.from(text).toString('base64').replace(/=+$/, ''), `Basic ${text}`]);
    return [...plain, ...encoded];
  };
  /** Names of the canaries in a text: a failure says what is wrong, not the secret. */
  const found = (text: string): readonly string[] => canaries().filter((one) => text.includes(one));

  const call = async (path: string, init: RequestInit & { readonly token?: string } = {}): Promise<Answer> => {
    const { token = IN.token, ...rest } = init;
    const answer = await ask(`${service.url}/${path}`, { ...rest, headers: { authorization: `Bearer ${token}`, ...rest.headers } });
    answers.push(answer);
    return answer;
  };
  const set = async (option: string, value: string, of = 'semi-structured-transformer'): Promise<void> => {
    const answer = await call(`${of}/updateConfig?${new URLSearchParams({ configEntry: option, configValue: value })}`, { method: 'PUT' });
    expect([option, answer.status]).toEqual([option, 200]);
  };
  const transform = (body: unknown): Promise<Answer> =>
    call('semi-structured-transformer/process', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  beforeAll(async () => {
    directory = await temporaryDirectory();
    redis = (await startRedis({ appendOnly: directory.path })) as RedisServer;
    const admin = new Redis(redis.url);
    await admin.config('SET', 'requirepass', IN.queueUrl);
    admin.disconnect();
    web = await startAnswering();
    web.answer = ({ url = '', headers }, response) => {
      if (url.startsWith('/token'))
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ access_token: 't0ken' }));
      else if (url.startsWith('/store'))
        response.writeHead(headers.authorization === undefined ? 401 : url.includes('broken') ? 500 : 204).end();
      else if (url.startsWith('/good')) response.writeHead(200, { 'content-type': 'text/csv' }).end(PEOPLE.csv);
      // A server that repeats what it was sent.
      else response.writeHead(403, JSON.stringify(headers).replace(/[^\x20-\x7e]/g, '')).end(JSON.stringify([url, headers]));
    };
    postgres = await refusingPostgres();
    options.SOURCE_LOGINS = {
      value: [
        `${web.origin.replace('//', `//ann:${IN.basic}@`)}/good/basic`,
        `${web.origin.replace('//', `//ann:${IN.basic}@`)}/bad/basic`,
        `${web.origin}/good/key ?key=${IN.parameter}`,
        `${web.origin}/bad/key ?key=${IN.parameter}`,
        `${web.origin}/bad/oauth OAuth2 ${web.origin.replace('//', `//id:${IN.oauth}@`)}/token`,
      ].join(','),
      canaries: [IN.basic, IN.parameter, IN.oauth],
    };
    await writeFile(at('people.csv'), PEOPLE.csv);
    await writeFile(at('crash.mjs'), CRASH);
    await writeFile(at('people.ttl'), peopleMapping('csv', 'people.csv'));
    await writeFile(at('login.ttl'), mappingWithLogin(postgres.port));
    await writeFile(
      at('master.ttl'),
      mappingWithLogin(postgres.port)
        .replace(/rml:source <[^>]*> ;/, '')
        .replace(/<[^>]*DB>[^]*$/, ''),
    );
    await writeFile(at('some.nq'), '<http://e.org/s> <http://e.org/p> "o" .\n');
    await writeSqlite(at('people.db'), 'CREATE TABLE people (id INTEGER PRIMARY KEY); INSERT INTO people VALUES (1), (2);');
    if (withKafka) {
      kafka = await sharedKafka();
      const topic = `${kafka.prefix}${uniquePrefix()}`;
      topics = { source: `${topic}.source`, success: `${topic}.success`, dead: `${topic}.dead` };
      client = await openKafkaClient(kafka.broker, { [topics.source]: 1, [topics.success]: 1, [topics.dead]: 1 }, [
        topics.success,
        topics.dead,
      ]);
    }
    const brokers: Record<string, string> =
      kafka === undefined
        ? {}
        : {
            KAFKA_BROKERS: kafka.secured.sasl,
            KAFKA_SASL_MECHANISM: 'plain',
            KAFKA_USERNAME: KAFKA_USERS.plain.username,
            KAFKA_TOPIC_NAME_SOURCE: topics.source,
            KAFKA_TOPIC_NAME_SUCCESS: topics.success,
            KAFKA_TOPIC_NAME_DLQ: topics.dead,
            KAFKA_GROUP_ID: uniquePrefix(),
          };
    service = await startService({
      cwd: directory.path,
      command: [process.execPath, '--import', at('crash.mjs'), join(PROJECT_ROOT, 'bin', 'quadmill.js'), 'serve'],
      env: {
        QUEUE_URL: redis.url.replace('//', `//:${IN.queueUrl}@`),
        LOG_LEVEL: 'trace',
        LICENSE_PUBLIC_KEY: licensor.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
        JDBC_URL: `jdbc:sqlite:${at('people.db')}?password=${IN.jdbcUrl}`,
        DB_USER: 'ann',
        TRIPLESTORE_TYPE: 'sparql',
        TRIPLESTORE_ENDPOINT: `${web.origin.replace('//', `//writer:${IN.endpoint}@`)}/store`,
        TRIPLESTORE_USERNAME: 'writer',
        TRIPLESTORE_PATIENCE_SECONDS: '0',
        RECORD_PROVO: 'true',
        SOURCE_RETRIES: '0',
        RUN_ATTEMPTS: '1',
        MASTER_MAPPING_FILE: 'master.ttl',
        SQL_TRANSFORMER_MAPPINGS_DIR_URL: directory.path,
        ...brokers,
        ...Object.fromEntries(Object.entries(options).map(([name, { value }]) => [name, value])),
      },
    });
  }, SHARED_START_MS);

  afterAll(async () => {
    service?.kill('SIGKILL');
    await service?.exited;
    await client?.close();
    await kafka?.stop();
    await web?.stop();
    postgres?.close();
    await redis?.stop();
    await directory?.remove();
  }, 60_000);

  test('every secret option has a canary', () => {
    expect(Object.keys(options).sort()).toEqual(OPTION_NAMES.filter((name) => optionRow(name).secret === true).sort());
    expect(canaries().length).toBeGreaterThan(40);
  });

  test('the semi-structured transformer, with logins of servers', async () => {
    const mappingURL = at('people.ttl');
    expect((await transform({ inputFileURL: at('people.csv'), mappingURL })).status).toBe(200);
    for (const [path, status] of Object.entries({
      'good/basic': 200,
      'good/key': 200,
      'bad/basic': 400,
      'bad/key': 400,
      'bad/oauth': 400,
    })) {
      expect([path, (await transform({ inputFileURL: `${web.origin}/${path}/people.csv`, mappingURL })).status]).toEqual([path, status]);
    }
    const sent = JSON.stringify(web.seen);
    for (const text of [`ann:${IN.basic}`, `id:${IN.oauth}`]) expect(sent).toContain(Buffer.from(text).toString('base64'));
    expect(sent).toContain(IN.parameter);
    expect((await transform({ inputFileURL: at('none.csv'), mappingURL })).status).toBe(400);
  });

  test('the SQL transformer, with logins in the options, in a URL and in requests', async () => {
    expect((await call('sql-transformer/process')).status).toBe(200);
    await set('MASTER_MAPPING_FILE', 'login.ttl', 'sql-transformer');
    expect((await call('sql-transformer/process')).status).toBe(400);
    expect(postgres.received()).toContain(IN.mapping);
    await set('MASTER_MAPPING_FILE', 'master.ttl', 'sql-transformer');
    await set('JDBC_URL', `jdbc:postgresql://ann:${IN.jdbcUrlSet}@127.0.0.1:${postgres.port}/shop?sslmode=disable`, 'sql-transformer');
    expect((await call('sql-transformer/process')).status).toBe(400);
    expect(postgres.received()).toContain(options.DB_PASSWORD?.value);
    await set('DB_PASSWORD', '', 'sql-transformer');
    expect((await call('sql-transformer/process')).status).toBe(400);
    expect(postgres.received()).toContain(IN.jdbcUrlSet);
    await set('DB_PASSWORD', IN.passwordSet, 'sql-transformer');
    const request = {
      url: `jdbc:postgresql://127.0.0.1:${postgres.port}/shop?sslmode=disable&user=ann`,
      password: Buffer.from(IN.jdbcPassword).toString('base64'),
      query: 'SELECT 1',
    };
    for (const path of ['testDBConnection', 'queryDatabase']) {
      expect((await call(`sql-transformer/${path}?${new URLSearchParams(request)}`)).status).toBe(400);
      for (const more of ['', '&sslmode=wrong', '&nonsense=1', '&port=x@y']) {
        const url = `${request.url}&password=${IN.jdbcRequest}${more}`;
        const answer = await call(`sql-transformer/${path}?${new URLSearchParams({ url, query: request.query })}`);
        expect([more, answer.status]).toEqual([more, 400]);
      }
    }
    expect(postgres.received()).toContain(IN.jdbcPassword);
    expect(postgres.received()).toContain(IN.jdbcRequest);
  });

  test('the graph writer, with the login of its target', async () => {
    const write = (file: string): Promise<Answer> => call(`graph-writer/process?inputRdfURL=${encodeURIComponent(at(file))}`);
    expect((await write('some.nq')).status).toBe(200);
    await call('graph-writer/checkConnection');
    const basic = Buffer.from(`writer:${options.TRIPLESTORE_PASSWORD?.value}`).toString('base64');
    expect(JSON.stringify(web.seen)).toContain(basic);
    await set('TRIPLESTORE_ENDPOINT', `${web.origin.replace('//', `//writer:${IN.endpoint}@`)}/store/broken`, 'graph-writer');
    expect((await write('some.nq')).status).toBe(400);
    await set('TRIPLESTORE_ENDPOINT', `${web.origin.replace('//', `//writer:${IN.endpoint}@`)}/elsewhere`, 'graph-writer');
    expect((await write('some.nq')).status).toBe(400);
  });

  if (withKafka) {
    test('messages', async () => {
      const kafkaClient = client as KafkaClient;
      await kafkaClient.send(topics.source, [at('people.csv'), at('gone.csv'), `${web.origin}/bad/basic/people.csv`, 'no request']);
      await kafkaClient.hear(
        (heard) => heard.filter(({ topic, headers }) => topic === topics.dead && 'source-topic' in headers).length >= 3,
        60_000,
      );
      await kafkaClient.hear((heard) => heard.some(({ topic }) => topic === topics.success), 60_000);
      expect(found(JSON.stringify(kafkaClient.heard))).toEqual([]);
    });
  }

  test('no answer has one: runs, options, history, licence, dashboard, metrics, refusals', async () => {
    expect((await call('semi-structured-transformer/config', { token: IN.wrongToken })).status).toBe(401);
    expect((await call('semi-structured-transformer/updateConfig?configEntry=DISTINCT', { token: IN.viewer, method: 'PUT' })).status).toBe(
      403,
    );
    for (const prefix of ['semi-structured-transformer', 'sql-transformer', 'graph-writer']) {
      for (const path of ['config', 'config/history', 'license', 'runs']) expect((await call(`${prefix}/${path}`)).status).toBe(200);
      const { body } = await call(`${prefix}/runs`);
      for (const { id } of body.runs as { readonly id: string }[]) expect((await call(`${prefix}/runs/${id}`)).status).toBe(200);
      expect((await call(`${prefix}/uploadConfigBackup`, { method: 'PUT' })).status).toBe(200);
    }
    for (const path of [
      'metrics',
      'openapi.json',
      'health/ready',
      'queues/',
      'queues/api/queues?status=completed',
      'queues/api/queues?status=failed',
    ])
      expect((await call(path)).status).toBe(200);
    expect(answers.length).toBeGreaterThan(40);
    expect(found(JSON.stringify(answers.map(({ headers, body }) => [[...headers], body])))).toEqual([]);
  });

  test('no file has one: output, provenance, backup; nor any job or setting of the queue', async () => {
    const texts: string[] = [];
    for (const file of (await readdir(at('data'), { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())) {
      const text = await readFile(join(file.parentPath, file.name), 'latin1');
      texts.push(text);
      expect([file.name, found(text)]).toEqual([file.name, []]);
    }
    expect(texts.join('')).toContain('quadmill-configuration');
    // Redis has appended every command.
    const log = (await readdir(at('appendonlydir'))).filter((name) => name.endsWith('.incr.aof'));
    const commands = (await Promise.all(log.map((name) => readFile(at('appendonlydir', name), 'latin1')))).join('');
    expect(commands).toContain('people.csv');
    expect(found(commands)).toEqual([]);
  });

  test('neither the log nor a crash has one', async () => {
    service.kill('SIGUSR2');
    expect((await service.exited).code).toBe(1);
    for (const deadline = Date.now() + 10_000; !service.log.some(({ msg }) => msg === 'crashed') && Date.now() < deadline; )
      await sleep(10);
    expect(service.log.find(({ msg }) => msg === 'crashed')).toMatchObject({
      level: 'fatal',
      error: { message: expect.stringContaining('password=****** and ******') },
    });
    const lonely = spawnService({
      cwd: directory.path,
      env: { QUEUE_URL: `redis+sentinel://queue:${IN.queueUrl}@127.0.0.1:1/main`, QUEUE_SENTINEL_PASSWORD: IN.sentinel },
    });
    expect((await lonely.exited).code).not.toBe(0);
    expect(lonely.stderr()).toContain('redis+sentinel://queue:******@127.0.0.1:1/main');
    expect(found(lonely.stderr() + lonely.log.map((line) => JSON.stringify(line)).join('\n'))).toEqual([]);
    expect(service.log.length).toBeGreaterThan(30);
    expect(found(service.log.map((line) => JSON.stringify(line)).join('\n') + service.stderr())).toEqual([]);
  });
}
