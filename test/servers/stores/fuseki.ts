/** A dedicated Apache Jena Fuseki for a test: private directory, free port, gone when stopped. Needs Java, and once Maven. */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Artifacts, discardJava, endJava, findJars, missingJars, pauseJava, startJava } from '../process/jars.ts';
import { freePort } from '../process/port.ts';

/** One shaded jar holds everything. */
const ARTIFACTS: Artifacts = {
  name: 'fuseki',
  dependencies: `<dependency><groupId>org.apache.jena</groupId><artifactId>jena-fuseki-server</artifactId><version>5.6.0</version>
    <exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>`,
};

/** `writer` may use the dataset `secret`; `stranger` is known, but may not. */
export const FUSEKI_USERS = {
  writer: { username: 'writer', password: 'writer-secret' },
  stranger: { username: 'stranger', password: 'stranger-secret' },
} as const;

export interface FusekiDatasets {
  readonly origin: string;
  /** TDB2 on disk. */
  readonly tdb: string;
  /** In memory. */
  readonly memory: string;
  /** The statements of `tdb`, to be read alone. */
  readonly readOnly: string;
  /** In memory, behind a login. */
  readonly secret: string;
}

export interface Fuseki extends FusekiDatasets {
  /** As many as were asked for; the first one is this. */
  readonly sets: readonly FusekiDatasets[];
  readonly pid: number;
  /** kill -9. */
  crash(): Promise<void>;
  /** After `crash`: on the same port, with the same TDB2. */
  restart(): Promise<void>;
  /** SIGSTOP: connections stay, nothing is answered. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

/** Why no Fuseki can be started here; undefined: one can. Fetches a jar that is not in the cache. */
export const missingFuseki = (): Promise<string | undefined> => missingJars(ARTIFACTS);

/** What starts a program of Jena with the jar of the server: `tdb2.tdbloader`. */
export const jenaProgram = async (main: string): Promise<readonly string[]> => [
  'java',
  '-Xmx512m',
  '-cp',
  join(await findJars(ARTIFACTS), '*'),
  main,
];

/** A fresh server with empty datasets. */
export async function startFuseki(
  options: { readonly heapMb?: number; readonly sets?: number } = {},
): Promise<Fuseki | { readonly skip: string }> {
  const missing = await missingFuseki();
  if (missing !== undefined) return { skip: missing };
  const directory = await mkdtemp(join(tmpdir(), 'quadmill-fuseki-'));
  try {
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    const [data, config, users] = [join(directory, 'tdb2'), join(directory, 'config.ttl'), join(directory, 'users')];
    const suffixes = Array.from({ length: options.sets ?? 1 }, (_, i) => (i === 0 ? '' : `-${i + 1}`));
    for (const suffix of suffixes) await mkdir(`${data}${suffix}`);
    await writeFile(config, `${PREFIXES}${suffixes.map((suffix) => configuration(data, suffix)).join('')}`);
    const datasets = (suffix: string): FusekiDatasets => ({
      origin,
      tdb: `${origin}/tdb${suffix}`,
      memory: `${origin}/memory${suffix}`,
      readOnly: `${origin}/read-only${suffix}`,
      secret: `${origin}/secret${suffix}`,
    });
    await writeFile(
      users,
      Object.values(FUSEKI_USERS)
        .map(({ username, password }) => `${username}: ${password}\n`)
        .join(''),
    );
    const jvm = [
      `-Xmx${options.heapMb ?? 1024}m`,
      '-XX:+UseSerialGC',
      '-XX:TieredStopAtLevel=1',
      '-cp',
      join(await findJars(ARTIFACTS), '*'),
    ];
    const login = ['--auth=basic', `--passwd=${users}`];
    const parameters = [
      ...jvm,
      'org.apache.jena.fuseki.main.cmds.FusekiMainCmd',
      '--localhost',
      `--port=${port}`,
      '--ping',
      ...login,
      `--config=${config}`,
    ];
    const launch = () => startJava(parameters, directory, () => answers(`${origin}/$/ping`));
    let running = await launch();
    return {
      ...datasets(''),
      sets: suffixes.map(datasets),
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
    await discardJava(undefined, directory);
    throw error;
  }
}

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    (answer) => answer.ok,
    () => false,
  );

const PREFIXES = `PREFIX : <#>
PREFIX fuseki: <http://jena.apache.org/fuseki#>
PREFIX ja: <http://jena.hpl.hp.com/2005/11/Assembler#>
PREFIX tdb2: <http://jena.apache.org/2016/tdb#>
`;

/** The same operations with and without a name, as Fuseki's own command line makes them. */
function configuration(data: string, suffix: string): string {
  const operation = (name: string, path?: string): string =>
    `fuseki:endpoint [ fuseki:operation fuseki:${name}${path === undefined ? '' : ` ; fuseki:name "${path}"`} ]`;
  const read = [operation('query'), operation('query', 'query')];
  const write = [...read, operation('update'), operation('update', 'update'), operation('gsp-rw'), operation('gsp-rw', 'data')];
  const service = (name: string, dataset: string, operations: readonly string[]): string =>
    `[] a fuseki:Service ; fuseki:name "${name}${suffix}" ; fuseki:dataset :${dataset}${suffix} ; ${operations.join(' ; ')} .\n`;
  return `:tdb${suffix} a tdb2:DatasetTDB2 ; tdb2:location "${data}${suffix}" .
:memory${suffix} a ja:MemoryDataset .
:hidden${suffix} a ja:MemoryDataset .
${service('tdb', 'tdb', write)}${service('memory', 'memory', write)}
${service('read-only', 'tdb', [...read, operation('gsp-r'), operation('gsp-r', 'data')])}
${service('secret', 'hidden', [`fuseki:allowedUsers "${FUSEKI_USERS.writer.username}"`, ...write])}`;
}
