/** Several Redis servers that belong together, for a test: a cluster, or a master with a replica and sentinels. */
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { guard } from '../process/guard.ts';
import { freePort, listens } from '../process/port.ts';

const START_LIMIT_MS = 30_000;

export interface RedisGroup {
  /** Without a login. */
  readonly ports: readonly number[];
  /** Kills the server at a port. */
  kill(port: number): Promise<void>;
  stop(): Promise<void>;
}

export interface SentinelGroup extends RedisGroup {
  readonly master: number;
  readonly replica: number;
  /** Ports of the sentinels, which watch the master under the name `queue`. */
  readonly sentinels: readonly number[];
}

interface Server {
  readonly port: number;
  stop(): Promise<void>;
}

/** Paths of PEM files, for servers that speak TLS alone, also among themselves. */
export interface RedisTls {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

const listenOn = (port: number, tls: RedisTls | undefined): readonly (readonly [option: string, value: string])[] =>
  tls === undefined
    ? [['port', String(port)]]
    : [
        ['port', '0'],
        ['tls-port', String(port)],
        ['tls-cert-file', tls.cert],
        ['tls-key-file', tls.key],
        ['tls-ca-cert-file', tls.ca],
        ['tls-replication', 'yes'],
      ];

const tlsOfCli = (tls: RedisTls | undefined): readonly string[] =>
  tls === undefined ? [] : ['--tls', '--cacert', tls.ca, '--cert', tls.cert, '--key', tls.key];

const cli = (port: number, ...words: readonly string[]) => promisify(execFile)('redis-cli', ['-p', String(port), ...words]);

async function until(what: string, done: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + START_LIMIT_MS;
  while (!(await done().catch(() => false))) {
    if (performance.now() > deadline) throw new Error(`${what} did not come about in time`);
    await sleep(50);
  }
}

async function startServer(program: readonly string[], port: number, directory: string): Promise<Server> {
  const server = spawn('redis-server', program, { stdio: 'ignore', cwd: directory });
  guard(server, directory);
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  await until(`redis-server on port ${port}`, () => listens(port));
  return {
    port,
    async stop() {
      server.kill('SIGKILL');
      await ended;
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

const privateDirectory = (): Promise<string> => mkdtemp(join(tmpdir(), 'quadmill-redis-'));

async function startMember(options: readonly string[], tls: RedisTls | undefined): Promise<Server> {
  const [port, directory] = await Promise.all([freePort(), privateDirectory()]);
  const address = listenOn(port, tls).flatMap(([option, value]) => [`--${option}`, value]);
  return startServer([...address, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...options], port, directory);
}

const groupOf = (servers: readonly Server[]): RedisGroup => ({
  ports: servers.map(({ port }) => port),
  kill: async (port) => servers.find((one) => one.port === port)?.stop(),
  stop: async () => {
    await Promise.all(servers.map((one) => one.stop()));
  },
});

/** Three masters, each with a third of the slots. */
export async function startCluster(tls?: RedisTls): Promise<RedisGroup> {
  const encrypted = tls === undefined ? [] : ['--tls-cluster', 'yes'];
  const options = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000', ...encrypted];
  const servers = await Promise.all([1, 2, 3].map(() => startMember(options, tls)));
  const group = groupOf(servers);
  try {
    const addresses = group.ports.map((port) => `127.0.0.1:${port}`);
    await promisify(execFile)('redis-cli', [
      ...tlsOfCli(tls),
      '--cluster',
      'create',
      ...addresses,
      '--cluster-replicas',
      '0',
      '--cluster-yes',
    ]);
    const isUp = async (port: number): Promise<boolean> =>
      (await cli(port, ...tlsOfCli(tls), 'cluster', 'info')).stdout.includes('cluster_state:ok');
    await until('the cluster', async () => (await Promise.all(group.ports.map(isUp))).every(Boolean));
    return group;
  } catch (error) {
    await group.stop();
    throw error;
  }
}

/**
 * A master with one replica, and three sentinels, of which two must agree that it is gone.
 *
 * @param password of the sentinels; undefined: they want none
 */
export async function startSentinels(password?: string, tls?: RedisTls): Promise<SentinelGroup> {
  const master = await startMember([], tls);
  const replica = await startMember(['--replicaof', '127.0.0.1', String(master.port)], tls);
  const sentinels: Server[] = [];
  for (let i = 0; i < 3; i++) {
    const [port, directory] = await Promise.all([freePort(), privateDirectory()]);
    const lines = [
      ...listenOn(port, tls).map(([option, value]) => `${option} ${value}`),
      'bind 127.0.0.1',
      `sentinel monitor queue 127.0.0.1 ${master.port} 2`,
      'sentinel down-after-milliseconds queue 1000',
      'sentinel failover-timeout queue 5000',
      ...(password === undefined ? [] : [`requirepass ${password}`, `sentinel sentinel-pass ${password}`]),
    ];
    // Sentinels write what they find out into their file.
    const file = join(directory, 'sentinel.conf');
    await writeFile(file, `${lines.join('\n')}\n`);
    sentinels.push(await startServer([file, '--sentinel'], port, directory));
  }
  const group = groupOf([master, replica, ...sentinels]);
  const login = password === undefined ? [] : ['--no-auth-warning', '-a', password];
  const knows = async ({ port }: Server): Promise<boolean> => {
    const { stdout } = await cli(port, ...tlsOfCli(tls), ...login, 'sentinel', 'master', 'queue');
    return /num-slaves\n1\nnum-other-sentinels\n2/.test(stdout);
  };
  try {
    await until('the sentinels', async () => (await Promise.all(sentinels.map(knows))).every(Boolean));
    return { ...group, master: master.port, replica: replica.port, sentinels: sentinels.map(({ port }) => port) };
  } catch (error) {
    await group.stop();
    throw error;
  }
}
