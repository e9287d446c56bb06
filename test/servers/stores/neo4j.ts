/** A dedicated Neo4j for a test: private directory, free port, gone when stopped. Needs Java, and once Maven. */
import { type ChildProcess, execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { discardJava, endJava, fetchJars, findInCache, missingJars, pauseJava, startJava } from '../process/jars.ts';
import { freePort } from '../process/port.ts';

/** Neo4j is licensed under GPL 3: a process of the tests, nothing that is linked or shipped. ecj compiles where there is no javac. */
const ARTIFACTS = {
  name: 'neo4j',
  dependencies: `
    <dependency><groupId>org.neo4j</groupId><artifactId>neo4j</artifactId><version>5.26.30</version></dependency>
    <dependency><groupId>org.eclipse.jdt</groupId><artifactId>ecj</artifactId><version>3.33.0</version></dependency>`,
};

/** The jars have no program to start. Neo4j's threads outlive `main`, hence the exit. */
const MAIN = `import java.nio.file.Path;
import java.util.Map;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;

public class Neo4jMain {
    public static void main(String[] args) {
        try {
            var service = new DatabaseManagementServiceBuilder(Path.of(args[0])).loadPropertiesFromFile(Path.of(args[1])).build();
            service.database("system").executeTransactionally(
                "CREATE OR REPLACE USER neo4j SET PASSWORD $password CHANGE NOT REQUIRED", Map.of("password", args[2]));
            System.out.println("Neo4j is ready");
            while (System.in.read() >= 0) { }
            Runtime.getRuntime().halt(0);
        } catch (Throwable failure) {
            failure.printStackTrace();
            System.exit(1);
        }
    }
}
`;

export const NEO4J_LOGIN = { username: 'neo4j', password: 'neo4j-secret' } as const;

export interface Neo4jServer {
  /** `bolt://127.0.0.1:port`; also over TLS where asked for. */
  readonly url: string;
  /** File of the certificate that the server signs itself; undefined unless asked for. */
  readonly ca: string | undefined;
  readonly pid: number;
  /** kill -9. */
  crash(): Promise<void>;
  /** After `crash`: on the same port, with the same data, and these settings of neo4j.conf beside the others. */
  restart(settings?: Readonly<Record<string, string>>): Promise<void>;
  /** SIGSTOP: connections stay, nothing is answered. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

export interface Neo4jOptions {
  /** Takes `bolt://`, `bolt+s://` and `bolt+ssc://`, for `localhost`. */
  readonly tls?: boolean;
  readonly heapMegabytes?: number;
  /** Of neo4j.conf. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Done before the first start: a database may be imported into its home. */
  readonly before?: (place: { readonly home: string; readonly classPath: string }) => Promise<void>;
}

/** Why no Neo4j can be started here; undefined: one can. Fetches jars that are not in the cache. */
export const missingNeo4j = (): Promise<string | undefined> => missingJars(ARTIFACTS, findProgram);

/** The class path of the program. */
async function findProgram(): Promise<string> {
  const program = await findInCache(ARTIFACTS.name, `${ARTIFACTS.dependencies} ${MAIN}`, async (own) => {
    const jars = join(own, 'jars');
    await fetchJars(ARTIFACTS, jars);
    await writeFile(join(own, 'Neo4jMain.java'), MAIN);
    const compiler = ['-cp', join(jars, '*'), 'org.eclipse.jdt.internal.compiler.batch.Main', '-17', '-proc:none', '-nowarn'];
    const all = (await readdir(jars)).map((jar) => join(jars, jar)).join(':');
    await promisify(execFile)('java', [...compiler, '-cp', all, '-d', join(own, 'classes'), join(own, 'Neo4jMain.java')]);
  });
  return `${join(program, 'classes')}:${join(program, 'jars', '*')}`;
}

/** A fresh, empty server, with the login `NEO4J_LOGIN`. */
export async function startNeo4j(options: Neo4jOptions = {}): Promise<Neo4jServer | { readonly skip: string }> {
  const missing = await missingNeo4j();
  if (missing !== undefined) return { skip: missing };
  const heap = [`-Xmx${options.heapMegabytes ?? 768}m`, '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
  const java = [...heap, '--add-opens=java.base/java.nio=ALL-UNNAMED', '-cp', await findProgram(), 'Neo4jMain'];
  const directory = await mkdtemp(join(tmpdir(), 'quadmill-neo4j-'));
  let server: ChildProcess | undefined;
  try {
    const port = await freePort();
    if (options.tls === true) await makeCertificate(directory);
    await options.before?.({ home: join(directory, 'home'), classPath: await findProgram() });
    const launch = async (more: Readonly<Record<string, string>>): Promise<ChildProcess> => {
      const settings = { ...common(port), ...(options.tls === true ? secured(directory) : {}), ...options.settings, ...more };
      const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
      const configuration = join(directory, 'neo4j.conf');
      await writeFile(configuration, lines.join(''));
      const program = [...java, join(directory, 'home'), configuration, NEO4J_LOGIN.password];
      // The pipe ends with this process, and Neo4j with the pipe.
      server = await startJava(program, directory, (said) => said.includes('Neo4j is ready'), 'pipe');
      return server;
    };
    let running = await launch({});
    return {
      url: `bolt://127.0.0.1:${port}`,
      ca: options.tls === true ? join(directory, 'certificates', 'public.crt') : undefined,
      get pid() {
        return running.pid as number;
      },
      crash: () => endJava(running, 'SIGKILL'),
      async restart(settings = {}) {
        running = await launch(settings);
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

const common = (port: number): Readonly<Record<string, string>> => ({
  'server.bolt.enabled': 'true',
  'server.bolt.listen_address': `127.0.0.1:${port}`,
  'server.bolt.advertised_address': `127.0.0.1:${port}`,
  'server.http.enabled': 'false',
  'server.memory.pagecache.size': '128m',
  'dbms.security.auth_enabled': 'true',
  'dbms.usage_report.enabled': 'false',
});

const secured = (directory: string): Readonly<Record<string, string>> => ({
  'server.bolt.tls_level': 'OPTIONAL',
  'dbms.ssl.policy.bolt.enabled': 'true',
  'dbms.ssl.policy.bolt.base_directory': join(directory, 'certificates'),
  'dbms.ssl.policy.bolt.private_key': 'private.key',
  'dbms.ssl.policy.bolt.public_certificate': 'public.crt',
  'dbms.ssl.policy.bolt.client_auth': 'NONE',
});

/** Signs itself, for `localhost` alone. */
async function makeCertificate(directory: string): Promise<void> {
  const cwd = join(directory, 'certificates');
  await mkdir(cwd);
  const key = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'private.key', '-out', 'public.crt', '-days', '2'];
  await promisify(execFile)('openssl', [...key, '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'], { cwd });
}
