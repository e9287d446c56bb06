/** An Apache Spark for one test: a server of Spark Connect with two executors, private directory, free port. Needs Java, and once Maven. */
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseSparkAddress } from '../../../src/spark/address.ts';
import { SparkSession } from '../../../src/spark/session.ts';
import { type Artifacts, discardJava, findJars, missingJars, startJava } from '../process/jars.ts';
import { freePort } from '../process/port.ts';

const ARTIFACTS: Artifacts = {
  name: 'spark',
  dependencies:
    '<dependency><groupId>org.apache.spark</groupId><artifactId>spark-connect_2.13</artifactId><version>4.2.0</version></dependency>',
};

export interface Spark {
  readonly port: number;
  readonly pid: number;
  session(): Promise<SparkSession>;
  /** The processes of executors. */
  executors(): Promise<readonly number[]>;
  stop(): Promise<void>;
}

/** What Spark's own launcher opens for Java 17 and later. */
const OPENED = [
  ...['lang', 'lang.invoke', 'lang.reflect', 'io', 'net', 'nio', 'util', 'util.concurrent', 'util.concurrent.atomic'].map(
    (name) => `java.${name}`,
  ),
  ...['jdk.internal.ref', 'sun.nio.ch', 'sun.nio.cs', 'sun.security.action', 'sun.util.calendar'],
].map((name) => `--add-opens=java.base/${name}=ALL-UNNAMED`);

const LOG = `rootLogger.level = error
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %p %c{1}: %m%n
`;

export async function startSpark(): Promise<Spark | { readonly skip: string }> {
  const missing = await missingJars(ARTIFACTS);
  if (missing !== undefined) return { skip: missing };
  const home = await mkdtemp(join(tmpdir(), 'quadmill-spark-'));
  let server: ChildProcess | undefined;
  try {
    await symlink(await findJars(ARTIFACTS), join(home, 'jars'));
    await writeFile(join(home, 'log4j2.properties'), LOG);
    const port = await freePort();
    const settings = {
      'log4j2.configurationFile': join(home, 'log4j2.properties'),
      'spark.master': 'local-cluster[2,1,768]',
      'spark.executor.memory': '512m',
      'spark.executor.extraJavaOptions': '-XX:+UseSerialGC -XX:TieredStopAtLevel=1',
      'spark.app.name': 'test',
      'spark.ui.enabled': 'false',
      'spark.sql.warehouse.dir': join(home, 'warehouse'),
      'spark.sql.shuffle.partitions': '2',
      'spark.driver.host': '127.0.0.1',
      'spark.driver.bindAddress': '127.0.0.1',
      'spark.local.dir': home,
      'spark.connect.grpc.binding.port': String(port),
      'spark.connect.grpc.binding.address': '127.0.0.1',
    };
    const parameters = [
      '-Xmx768m',
      // Plans are gone through by recursion.
      '-Xss16m',
      '-XX:+UseSerialGC',
      '-XX:TieredStopAtLevel=1',
      '-XX:+IgnoreUnrecognizedVMOptions',
      ...OPENED,
      '-Djdk.reflect.useDirectMethodHandle=false',
      '-Dio.netty.tryReflectionSetAccessible=true',
      ...Object.entries(settings).map(([name, value]) => `-D${name}=${value}`),
      '-cp',
      join(home, 'jars', '*'),
      'org.apache.spark.sql.connect.service.SparkConnectServer',
    ];
    // Executors are started from it.
    const variables = { SPARK_HOME: home, SPARK_LOCAL_IP: '127.0.0.1', SPARK_SCALA_VERSION: '2.13' };
    const running = await startJava(parameters, home, () => isOpen(port), 'ignore', variables);
    server = running;
    const pid = running.pid as number;
    return {
      port,
      pid,
      session: () => SparkSession.open(parseSparkAddress(`sc://127.0.0.1:${port}`), new AbortController().signal),
      executors: () => childrenOf(pid),
      stop: () => discardJava(server, home),
    };
  } catch (error) {
    await discardJava(server, home);
    throw error;
  }
}

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });

/** On Linux. */
async function childrenOf(pid: number): Promise<readonly number[]> {
  const tasks = await readdir(`/proc/${pid}/task`);
  const lists = await Promise.all(tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8').catch(() => '')));
  return lists.flatMap((list) => list.split(' ').filter((one) => one !== '')).map(Number);
}
