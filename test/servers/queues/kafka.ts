/** A dedicated Apache Kafka for a test: one node (KRaft), private directory, free ports, gone when stopped. Needs Java, and once Maven. */
import { type ChildProcess, execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { discardJava, endJava, findJars, missingJars, pauseJava, startJava } from '../process/jars.ts';
import { freePort } from '../process/port.ts';

/** slf4j-simple fits the slf4j-api that the broker brings; without it the broker never says that it has started. */
const ARTIFACTS = {
  name: 'kafka',
  dependencies: `
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>4.3.1</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>`,
};

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
  /** TLS that takes clients by their certificates alone (`ssl.client.auth=required`). */
  readonly mutual: string;
  /** File of the certificate that signs the broker's. */
  readonly ca: string;
  /** What `mutual` takes. */
  readonly client: KeyFiles;
  /** Signed by an authority that the broker does not know. */
  readonly stranger: KeyFiles;
}

export interface KeyFiles {
  readonly certificate: string;
  readonly key: string;
}

/** Why no Kafka can be started here; undefined: one can. Fetches jars that are not in the cache. */
export async function missingKafka(): Promise<string | undefined> {
  const openssl = await promisify(execFile)('openssl', ['version']).catch(() => undefined);
  return openssl === undefined ? 'there is no openssl on the PATH' : missingJars(ARTIFACTS);
}

export interface KafkaOptions {
  readonly secured?: boolean;
  /** Of the broker, beside those that it has here. */
  readonly settings?: Readonly<Record<string, string | number>>;
}

/** A fresh broker without topics; it makes none by itself. */
export async function startKafka(options: KafkaOptions = {}): Promise<KafkaServer | { readonly skip: string }> {
  const missing = await missingKafka();
  if (missing !== undefined) return { skip: missing };
  const java = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-cp', join(await findJars(ARTIFACTS), '*')];
  const directory = await mkdtemp(join(tmpdir(), 'quadmill-kafka-'));
  let server: ChildProcess | undefined;
  try {
    const ports = { plain: await freePort(), controller: await freePort(), sasl: 0, saslTls: 0, tls: 0, mutual: 0 };
    if (options.secured === true) {
      for (const name of ['sasl', 'saslTls', 'tls', 'mutual'] as const) ports[name] = await freePort();
      await makeCertificates(directory);
    }
    const properties = join(directory, 'server.properties');
    const settings = { ...common(ports, directory), ...(options.secured === true ? secured(ports, directory) : {}), ...options.settings };
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    await writeFile(properties, lines.join(''));
    const { username, password } = KAFKA_USERS.scram;
    const user = options.secured === true ? ['--add-scram', `SCRAM-SHA-512=[name=${username},password=${password}]`] : [];
    // Its first bits are 0: an id that begins with a hyphen would be an option.
    const id = Buffer.concat([Buffer.of(0), randomBytes(15)]).toString('base64url');
    await promisify(execFile)('java', [...java, 'kafka.tools.StorageTool', 'format', '-t', id, '-c', properties, ...user]);

    const launch = async (): Promise<ChildProcess> => {
      server = await startJava([...java, 'kafka.Kafka', properties], directory, (said) => said.includes('Kafka Server started'));
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
              mutual: `localhost:${ports.mutual}`,
              ca: join(directory, 'broker.pem'),
              client: keyFiles(directory, 'client'),
              stranger: keyFiles(directory, 'stranger'),
            }
          : undefined,
      get pid() {
        return running.pid as number;
      },
      crash: () => endJava(running, 'SIGKILL'),
      async restart() {
        running = await launch();
      },
      pause: () => pauseJava(running),
      resume: () => void running.kill('SIGCONT'),
      stop: () => discardJava(running, directory),
    };
  } catch (error) {
    await discardJava(server, directory);
    throw error;
  }
}

type Ports = Readonly<Record<'plain' | 'controller' | 'sasl' | 'saslTls' | 'tls' | 'mutual', number>>;

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

function secured({ plain, controller, sasl, saslTls, tls, mutual }: Ports, directory: string): Readonly<Record<string, string>> {
  const more = `SASL://127.0.0.1:${sasl},SASLSSL://localhost:${saslTls},SSL://localhost:${tls},MUTUAL://localhost:${mutual}`;
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
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_PLAINTEXT,SASLSSL:SASL_SSL,SSL:SSL,MUTUAL:SSL',
    'listener.name.mutual.ssl.client.auth': 'required',
    'listener.name.mutual.ssl.truststore.type': 'PEM',
    'listener.name.mutual.ssl.truststore.location': join(directory, 'clients.pem'),
    'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-512',
    ...Object.fromEntries(logins),
    'ssl.keystore.type': 'PKCS12',
    'ssl.keystore.location': join(directory, 'broker.p12'),
    'ssl.keystore.password': STORE_PASSWORD,
    'ssl.key.password': STORE_PASSWORD,
  };
}

const STORE_PASSWORD = 'changeit';

const keyFiles = (directory: string, name: string): KeyFiles => ({
  certificate: join(directory, `${name}.pem`),
  key: join(directory, `${name}.key`),
});

/** `broker.pem` signs itself; `broker.p12` has it with its key. `clients.pem` signs `client.pem`, and `stranger.pem` itself. */
async function makeCertificates(directory: string): Promise<void> {
  const openssl = (...args: string[]) => promisify(execFile)('openssl', args, { cwd: directory });
  const keyOf = (name: string) => ['-newkey', 'rsa:2048', '-nodes', '-keyout', `${name}.key`];
  const selfSigned = (name: string, subject: string, ...more: string[]) =>
    openssl('req', '-x509', ...keyOf(name), '-days', '2', '-out', `${name}.pem`, '-subj', `/CN=${subject}`, ...more);
  await selfSigned('broker', 'localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1');
  const key = ['-inkey', 'broker.key', '-in', 'broker.pem', '-out', 'broker.p12'];
  await openssl('pkcs12', '-export', ...key, '-passout', `pass:${STORE_PASSWORD}`);
  await selfSigned('clients', 'authority of clients');
  await selfSigned('stranger', 'stranger');
  await openssl('req', ...keyOf('client'), '-subj', '/CN=quadmill', '-out', 'client.csr');
  const signer = ['-CA', 'clients.pem', '-CAkey', 'clients.key', '-CAcreateserial'];
  await openssl('x509', '-req', '-in', 'client.csr', ...signer, '-days', '2', '-out', 'client.pem');
}
