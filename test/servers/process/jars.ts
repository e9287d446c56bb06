/** Servers that are written in Java: what they need, fetched once for all checkouts, and how their processes begin and end. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { guard } from './guard.ts';

const OLDEST_JAVA = 17;
const START_LIMIT_MS = 120_000;
const STOP_LIMIT_MS = 10_000;
const CACHE = process.env.QUADMILL_TEST_CACHE ?? join(homedir(), '.cache', 'quadmill-test-servers');

/** What Maven is to fetch. */
export interface Artifacts {
  /** Of the directory in the cache. */
  readonly name: string;
  /** `<dependency>` elements. */
  readonly dependencies: string;
}

/** Why a server cannot be started here; undefined: it can. `find` fetches what is not in the cache. */
export async function missingJars(
  artifacts: Artifacts,
  find: () => Promise<unknown> = () => findJars(artifacts),
): Promise<string | undefined> {
  const version = await promisify(execFile)('java', ['-version']).then(
    ({ stderr, stdout }) => Number(/version "(\d+)/.exec(`${stderr}${stdout}`)?.[1]),
    () => undefined,
  );
  if (version === undefined) return 'there is no java on the PATH';
  if (!(version >= OLDEST_JAVA)) return `the java on the PATH is version ${version}, ${artifacts.name} needs ${OLDEST_JAVA}`;
  try {
    await find();
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
      ? 'there is no mvn on the PATH'
      : `mvn cannot fetch ${artifacts.name}: ${error}`;
  }
}

/** The directory of the jars. */
export async function findJars(artifacts: Artifacts): Promise<string> {
  const made = await findInCache(artifacts.name, artifacts.dependencies, (own) => fetchJars(artifacts, join(own, 'jars')));
  return join(made, 'jars');
}

/** A directory of the cache. Each process fills it beside its place; the first one to end renames its copy. */
export async function findInCache(name: string, of: string, fill: (directory: string) => Promise<void>): Promise<string> {
  const place = join(CACHE, `${name}-${createHash('sha256').update(`${name} ${of}`).digest('hex').slice(0, 12)}`);
  if (existsSync(place)) return place;
  await mkdir(CACHE, { recursive: true });
  const own = await mkdtemp(join(CACHE, 'fetching-'));
  try {
    await fill(own);
    await rename(own, place).catch((error) => {
      if (!existsSync(place)) throw error;
    });
    return place;
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

/** Has Maven copy the artifacts and what they need into a directory. */
export async function fetchJars({ name, dependencies }: Artifacts, jars: string): Promise<void> {
  const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>quadmill.test</groupId><artifactId>${name}</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>${dependencies}</dependencies>
  <build><plugins><plugin>
    <groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId><version>3.6.1</version>
    <configuration><includeScope>runtime</includeScope></configuration>
  </plugin></plugins></build>
</project>
`;
  await writeFile(`${jars}.pom`, pom);
  const goal = ['-q', '-B', '-f', `${jars}.pom`, 'dependency:copy-dependencies', `-DoutputDirectory=${jars}`];
  await promisify(execFile)('mvn', goal, { maxBuffer: 2 ** 24 });
}

/** A process of java that is there once `isReady`; its words go to `directory/log`. With `pipe` it may wait for the end of this one. */
export async function startJava(
  parameters: readonly string[],
  directory: string,
  isReady: (said: string) => boolean | Promise<boolean>,
  stdin: 'ignore' | 'pipe' = 'ignore',
  variables: Readonly<Record<string, string>> = {},
): Promise<ChildProcess> {
  const log = join(directory, 'log');
  const output = await open(log, 'w');
  const env = { ...process.env, ...variables };
  const server = spawn('java', parameters, { cwd: directory, env, stdio: [stdin, output.fd, output.fd] });
  guard(server, directory);
  await output.close();
  const deadline = performance.now() + START_LIMIT_MS;
  for (;;) {
    const said = await readFile(log, 'utf8');
    if (await isReady(said)) return server;
    if (hasEnded(server) || performance.now() > deadline) {
      await endJava(server, 'SIGKILL');
      throw new Error(`The server did not start:\n${said.slice(-4_000)}`);
    }
    await sleep(50);
  }
}

const hasEnded = (server: ChildProcess): boolean => server.exitCode !== null || server.signalCode !== null;

export async function endJava(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (hasEnded(server)) return;
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  server.kill(signal);
  // A stopped process hears nothing else.
  server.kill('SIGCONT');
  const late = setTimeout(() => server.kill('SIGKILL'), STOP_LIMIT_MS);
  await ended;
  clearTimeout(late);
}

/** SIGSTOP, and the process stands still afterwards: on a busy machine its threads would go on for a while. */
export function pauseJava(server: ChildProcess): void {
  server.kill('SIGSTOP');
  const tasks = `/proc/${server.pid}/task`;
  if (!existsSync(tasks)) return;
  // The state is the letter after the name, which stands in parentheses.
  const goesOn = (task: string): boolean => !/\) [tTZX] /.test(readIfThere(join(tasks, task, 'stat')) ?? ') T ');
  while (readdirSync(tasks).some(goesOn)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
}

/** A thread may have ended meanwhile. */
function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Nothing of it is needed any more, so it is not asked to leave in order. */
export async function discardJava(server: ChildProcess | undefined, directory: string): Promise<void> {
  if (server !== undefined) await endJava(server, 'SIGKILL');
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
}
