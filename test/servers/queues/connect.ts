/** A Kafka Connect worker with the connectors of Debezium for a test: private directory, free port, gone when stopped. Needs Java, and once Maven. */
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { discardJava, endJava, findJars, missingJars, startJava } from '../process/jars.ts';
import { freePort } from '../process/port.ts';

const dependency = (group: string, name: string, version: string): string =>
  `<dependency><groupId>${group}</groupId><artifactId>${name}</artifactId><version>${version}</version></dependency>`;
const WORKER = {
  name: 'kafka-connect',
  dependencies: [
    dependency('org.apache.kafka', 'connect-runtime', '4.3.1'),
    dependency('org.apache.kafka', 'connect-json', '4.3.1'),
    dependency('org.slf4j', 'slf4j-simple', '1.7.36'),
  ].join(''),
};
/** Of different versions, so in separate folders. */
const PLUGINS = [
  { name: 'debezium-postgres', dependencies: dependency('io.debezium', 'debezium-connector-postgres', '3.6.1.Final') },
  { name: 'debezium-mariadb', dependencies: dependency('io.debezium', 'debezium-connector-mariadb', '3.5.0.Final') },
] as const;

export type Settings = Readonly<Record<string, string | number | boolean>>;

export interface ConnectServer {
  /** Makes or changes a connector, and waits until it runs. */
  put(name: string, settings: Settings): Promise<void>;
  /** kill -9. */
  crash(): Promise<void>;
  /** After `crash`: with the offsets that were kept, and the connectors that were put. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Why none can be started here; undefined: one can. Fetches its jars, where they are not there yet. */
export const missingConnect = (): Promise<string | undefined> =>
  missingJars(WORKER, () => Promise.all([WORKER, ...PLUGINS].map((one) => findJars(one))));

/** @param flushMs how often offsets are kept: what a crash tells a second time */
export async function startConnect(broker: string, flushMs: number): Promise<ConnectServer> {
  const plugins = await Promise.all(PLUGINS.map(async (one) => dirname(await findJars(one))));
  const jars = await findJars(WORKER);
  const directory = await mkdtemp(join(tmpdir(), 'quadmill-connect-'));
  const url = `http://127.0.0.1:${await freePort()}`;
  const file = join(directory, 'worker.properties');
  const json = 'org.apache.kafka.connect.json.JsonConverter';
  const worker: Settings = {
    'bootstrap.servers': broker,
    listeners: url,
    'plugin.path': plugins.join(','),
    'plugin.discovery': 'service_load',
    'key.converter': json,
    'key.converter.schemas.enable': false,
    'value.converter': json,
    'value.converter.schemas.enable': false,
    'offset.storage.file.filename': join(directory, 'offsets'),
    'offset.flush.interval.ms': flushMs,
  };
  await writeFile(
    file,
    Object.entries(worker)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  const ask = async (path: string, body?: Settings): Promise<unknown> => {
    const answer = await fetch(`${url}${path}`, {
      method: body === undefined ? 'GET' : 'PUT',
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  };
  const parameters = ['-Xmx384m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-cp', join(jars, '*')];
  const launch = (): Promise<ChildProcess> =>
    startJava([...parameters, 'org.apache.kafka.connect.cli.ConnectStandalone', file], directory, () =>
      ask('/connectors').then(
        () => true,
        () => false,
      ),
    );
  let running = await launch();
  const connectors = new Map<string, Settings>();
  const put = async (name: string, settings: Settings): Promise<void> => {
    connectors.set(name, settings);
    for (const deadline = performance.now() + 60_000; ; await sleep(200)) {
      const state = await ask(`/connectors/${name}/config`, settings).then(
        () => stateOf(name),
        (error: Error) => error.message,
      );
      if (state === 'RUNNING') return;
      if (performance.now() > deadline) throw new Error(`The connector ${name} does not run: ${state}`);
    }
  };
  const stateOf = async (name: string): Promise<string> => {
    for (let asked = 0; ; asked++) {
      const status = (await ask(`/connectors/${name}/status`).catch(() => ({}))) as {
        readonly tasks?: readonly { readonly state: string }[];
      };
      const state = status.tasks?.[0]?.state;
      if (state === 'RUNNING' || asked === 50) return state ?? 'it has no task';
      if (state === 'FAILED') return JSON.stringify(status);
      await sleep(100);
    }
  };
  return {
    put,
    crash: () => endJava(running, 'SIGKILL'),
    async restart() {
      running = await launch();
      await Promise.all([...connectors].map(([name, settings]) => put(name, settings)));
    },
    stop: () => discardJava(running, directory),
  };
}

const COMMON: Settings = {
  'topic.creation.default.replication.factor': 1,
  'topic.creation.default.partitions': 1,
  'provide.transaction.metadata': true,
  'skipped.operations': 'none',
  'heartbeat.interval.ms': 5000,
  'tasks.max': 1,
  'database.hostname': '127.0.0.1',
};

/** The settings of `docs/debezium.md`. */
export const RECOMMENDED: Settings = {
  'decimal.handling.mode': 'string',
  'time.precision.mode': 'isostring',
};

export const WITH_SCHEMAS: Settings = Object.fromEntries(
  ['key', 'value'].flatMap((part) => [
    [`${part}.converter`, 'org.apache.kafka.connect.json.JsonConverter'],
    [`${part}.converter.schemas.enable`, true],
  ]),
);

/** @param schema whose tables are read */
export const postgresConnector = (prefix: string, port: number, schema: string, more: Settings): Settings => ({
  ...COMMON,
  'connector.class': 'io.debezium.connector.postgresql.PostgresConnector',
  'topic.prefix': prefix,
  'database.port': port,
  'database.user': 'postgres',
  'database.password': 'none',
  'database.dbname': 'postgres',
  'plugin.name': 'pgoutput',
  'slot.name': prefix,
  'publication.name': prefix,
  'publication.autocreate.mode': 'filtered',
  'schema.include.list': schema,
  'status.update.interval.ms': 1000,
  'interval.handling.mode': 'string',
  ...more,
});

export const mariadbConnector = (
  prefix: string,
  port: number,
  serverId: number,
  database: string,
  broker: string,
  more: Settings,
): Settings => ({
  ...COMMON,
  'connector.class': 'io.debezium.connector.mariadb.MariaDbConnector',
  'topic.prefix': prefix,
  'database.port': port,
  'database.user': 'root',
  'database.password': '',
  'database.server.id': serverId,
  'database.include.list': database,
  'database.ssl.mode': 'disable',
  'schema.history.internal.kafka.topic': `${prefix}.history`,
  'schema.history.internal.kafka.bootstrap.servers': broker,
  'include.schema.changes': true,
  'bigint.unsigned.handling.mode': 'precise',
  converters: 'bool',
  'bool.type': 'io.debezium.connector.binlog.converters.TinyIntOneToBooleanConverter',
  ...more,
});
