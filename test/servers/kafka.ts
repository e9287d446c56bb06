/** An Apache Kafka of its own for a test: one node (KRaft), private directory, free ports, gone when stopped. Needs Java, and once Maven. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from './port.ts';

const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 10_000;
const OLDEST_JAVA = 17;
/** Jars of brokers, fetched once for all checkouts. */
const CACHE = process.env.QUADMILL_TEST_CACHE ?? join(homedir(), '.cache', 'quadmill-test-servers');

/** slf4j-simple fits the slf4j-api that the broker brings; without it the broker never says that it has started. */
const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>quadmill.test</groupId><artifactId>kafka-broker</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>4.3.1</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
  </dependencies>
  <build><plugins><plugin>
    <groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId><version>3.6.1</version>
    <configuration><includeScope>runtime</includeScope></configuration>
  </plugin></plugins></build>
</project>
`;

/** What a secured broker takes. */
export const KAFKA_USERS = {
  plain: { username: 'alice', password: 'alice-secret' },
  scram: { username: 'bob', password: 'bob-secret' },
} as const;

export interface KafkaServer {
  /** `host:port`, neither login nor TLS. */
  readonly broker: string;
  /** Undefined unless asked for. */
  readonly secured: Secured | undefined;
  readonly pid: number;
  /** kill -9. */
  crash(): Promise<void>;
  /** After `crash`: on the same ports, with the same data. */
  restart(): Promise<void>;
  /** SIGSTOP: connections stay, nothing is answered. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

export interface Secured {
  /** Login by PLAIN or SCRAM-SHA-512. */
  readonly sasl: string;
  /** The same over TLS. */
  readonly saslTls: string;
  /** TLS without login. */
  readonly tls: string;
  /** File of the certificate that signs the broker's. */
  readonly ca: string;
}

/** Why no Kafka can be started here; undefined: one can. Fetches its jars, where nobody has before. */
export async function missingKafka(): Promise<string | undefined> {
  const version = await promisify(execFile)('java', ['-version']).then(
    ({ stderr, stdout }) => Number(/version "(\d+)/.exec(`${stderr}${stdout}`)?.[1]),
    () => undefined,
  );
  if (version === undefined) return 'there is no java on the PATH';
  if (!(version >= OLDEST_JAVA)) return `the java on the PATH is version ${version}, Kafka needs ${OLDEST_JAVA}`;
  const openssl = await promisify(execFile)('openssl', ['version']).catch(() => undefined);
  if (openssl === undefined) return 'there is no openssl on the PATH';
  try {
    await findJars();
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no mvn on the PATH' : `mvn cannot fetch Kafka: ${error}`;
  }
}

/** The directory of the jars. Whoever fetches them does so beside it, and the first one to be done puts his there. */
async function findJars(): Promise<string> {
  const jars = join(CACHE, `kafka-${createHash('sha256').update(POM).digest('hex').slice(0, 12)}`);
  if (existsSync(jars)) return jars;
  await mkdir(CACHE, { recursive: true });
  const own = await mkdtemp(join(CACHE, 'fetching-'));
  try {
    await writeFile(join(own, 'pom.xml'), POM);
    const goal = ['-q', '-B', '-f', join(own, 'pom.xml'), 'dependency:copy-dependencies', `-DoutputDirectory=${join(own, 'jars')}`];
    await promisify(execFile)('mvn', goal, { maxBuffer: 2 ** 24 });
    await rename(join(own, 'jars'), jars).catch((error) => {
      if (!existsSync(jars)) throw error;
    });
    return jars;
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

/** A fresh broker without topics; it makes none by itself. */
export async function startKafka(options: { readonly secured?: boolean } = {}): Promise<KafkaServer | { readonly skip: string }> {
  const missing = await missingKafka();
  if (missing !== undefined) return { skip: missing };
  const java = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-cp', join(await findJars(), '*')];
  const directory = await mkdtemp(join(tmpdir(), 'quadmill-kafka-'));
  let server: ChildProcess | undefined;
  try {
    const ports = { plain: await freePort(), controller: await freePort(), sasl: 0, saslTls: 0, tls: 0 };
    if (options.secured === true) {
      for (const name of ['sasl', 'saslTls', 'tls'] as const) ports[name] = await freePort();
      await makeCertificate(directory);
    }
    const properties = join(directory, 'server.properties');
    const settings = { ...common(ports, directory), ...(options.secured === true ? secured(ports, directory) : {}) };
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    await writeFile(properties, lines.join(''));
    const { username, password } = KAFKA_USERS.scram;
    const user = options.secured === true ? ['--add-scram', `SCRAM-SHA-512=[name=${username},password=${password}]`] : [];
    const id = randomBytes(16).toString('base64url');
    await promisify(execFile)('java', [...java, 'kafka.tools.StorageTool', 'format', '-t', id, '-c', properties, ...user]);

    const log = join(directory, 'log');
    const launch = async (): Promise<ChildProcess> => {
      const output = await open(log, 'w');
      server = spawn('java', [...java, 'kafka.Kafka', properties], { cwd: directory, stdio: ['ignore', output.fd, output.fd] });
      await output.close();
      await untilReady(server, log);
      return server;
    };
    let running = await launch();
    return {
      broker: `127.0.0.1:${ports.plain}`,
      secured:
        options.secured === true
          ? {
              sasl: `127.0.0.1:${ports.sasl}`,
              saslTls: `localhost:${ports.saslTls}`,
              tls: `localhost:${ports.tls}`,
              ca: join(directory, 'broker.pem'),
            }
          : undefined,
      get pid() {
        return running.pid as number;
      },
      crash: () => end(running, 'SIGKILL'),
      async restart() {
        running = await launch();
      },
      pause: () => void running.kill('SIGSTOP'),
      resume: () => void running.kill('SIGCONT'),
      stop: () => stop(running, directory),
    };
  } catch (error) {
    await (server === undefined ? rm(directory, { recursive: true, force: true }) : stop(server, directory));
    throw error;
  }
}

type Ports = Readonly<Record<'plain' | 'controller' | 'sasl' | 'saslTls' | 'tls', number>>;

function common({ plain, controller }: Ports, directory: string): Readonly<Record<string, string | number | boolean>> {
  return {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@127.0.0.1:${controller}`,
    listeners: `PLAINTEXT://127.0.0.1:${plain},CONTROLLER://127.0.0.1:${controller}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${plain}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'log.dirs': join(directory, 'data'),
    'auto.create.topics.enable': false,
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'transaction.state.log.num.partitions': 1,
    'group.initial.rebalance.delay.ms': 0,
    'group.min.session.timeout.ms': 1_000,
    // By default half of the heap.
    'log.cleaner.dedupe.buffer.size': 4 * 2 ** 20,
    // Else a restart after kill -9 waits for the session of the broker before.
    'broker.heartbeat.interval.ms': 250,
    'broker.session.timeout.ms': 2_000,
  };
}

function secured({ plain, controller, sasl, saslTls, tls }: Ports, directory: string): Readonly<Record<string, string>> {
  const more = `SASL://127.0.0.1:${sasl},SASLSSL://localhost:${saslTls},SSL://localhost:${tls}`;
  const { username, password } = KAFKA_USERS.plain;
  const plainLogin = `org.apache.kafka.common.security.plain.PlainLoginModule required user_${username}="${password}";`;
  const scramLogin = 'org.apache.kafka.common.security.scram.ScramLoginModule required;';
  const logins = ['sasl', 'saslssl'].flatMap((listener) => [
    [`listener.name.${listener}.plain.sasl.jaas.config`, plainLogin],
    [`listener.name.${listener}.scram-sha-512.sasl.jaas.config`, scramLogin],
  ]);
  return {
    listeners: `PLAINTEXT://127.0.0.1:${plain},CONTROLLER://127.0.0.1:${controller},${more}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${plain},${more}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_PLAINTEXT,SASLSSL:SASL_SSL,SSL:SSL',
    'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-512',
    ...Object.fromEntries(logins),
    'ssl.keystore.type': 'PKCS12',
    'ssl.keystore.location': join(directory, 'broker.p12'),
    'ssl.keystore.password': STORE_PASSWORD,
    'ssl.key.password': STORE_PASSWORD,
  };
}

const STORE_PASSWORD = 'changeit';

/** `broker.pem` signs itself; `broker.p12` has it with its key. */
async function makeCertificate(directory: string): Promise<void> {
  const openssl = (...args: string[]) => promisify(execFile)('openssl', args, { cwd: directory });
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  await openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', 'broker.key', '-out', 'broker.pem', ...names);
  const key = ['-inkey', 'broker.key', '-in', 'broker.pem', '-out', 'broker.p12'];
  await openssl('pkcs12', '-export', ...key, '-passout', `pass:${STORE_PASSWORD}`);
}

const hasEnded = (server: ChildProcess): boolean => server.exitCode !== null || server.signalCode !== null;

async function untilReady(server: ChildProcess, log: string): Promise<void> {
  const deadline = performance.now() + START_LIMIT_MS;
  for (;;) {
    const said = await readFile(log, 'utf8');
    if (said.includes('Kafka Server started')) return;
    if (hasEnded(server) || performance.now() > deadline) throw new Error(`Kafka did not start:\n${said.slice(-4_000)}`);
    await sleep(50);
  }
}

async function end(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (hasEnded(server)) return;
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  server.kill(signal);
  // A stopped process hears nothing else.
  server.kill('SIGCONT');
  const late = setTimeout(() => server.kill('SIGKILL'), STOP_LIMIT_MS);
  await ended;
  clearTimeout(late);
}

/** Nothing of it is needed any more, so it is not asked to leave in order. */
async function stop(server: ChildProcess, directory: string): Promise<void> {
  await end(server, 'SIGKILL');
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
}
