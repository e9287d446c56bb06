/** Runs over a database by the command line and by the SQL transformer, each in a directory that shows what is left. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Faulty, PASSWORD } from '../../servers/databases/faulty.ts';
import { guard } from '../../servers/process/guard.ts';
import { PROJECT_ROOT } from '../project-root.ts';
import { temporaryDirectory } from '../queues/backends.ts';
import { type Answer, ask, type ServiceProcess, startService } from './process.ts';

const PREFIXES = '@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix ex: <http://example.com/> . @base <http://example.com/base/> .\n';

/** R2RML over one logical table: a subject from the column `id`, and one statement for each of `columns`, with its name as predicate. */
export const mappingOf = (table: string, columns: readonly string[] = ['name'], rest = ''): string => `${PREFIXES}
<#Map> rr:logicalTable [ ${table} ] ;
  rr:subjectMap [ rr:template "http://example.com/{id}" ] ;
${columns.map((name) => `  rr:predicateObjectMap [ rr:predicate ex:${name} ; rr:objectMap [ rr:column "${name}" ] ] ${rest}`).join(';\n')} .
`;

export const table = (name: string): string => `rr:tableName "${name}"`;
export const query = (sql: string): string => `rr:sqlQuery """${sql}"""`;

/** Waits until a condition holds; resolves to the milliseconds it took. @throws after `limitMs` */
export async function until(holds: () => boolean | Promise<boolean>, limitMs = 15_000, what = 'it'): Promise<number> {
  const begun = performance.now();
  while (!(await holds())) {
    if (performance.now() - begun > limitMs) throw new Error(`${what} is not so within ${limitMs} ms`);
    await sleep(20);
  }
  return performance.now() - begun;
}

export interface Workspace {
  readonly path: string;
  /** Writes the mapping for both. */
  write(mapping: string): Promise<void>;
  /** Files left by runs so far: output, temporary and spill files, without the mapping and the service's queue. */
  files(): Promise<readonly string[]>;
  /** Whether a temporary output file has content and a spill file exists. */
  readonly isHalfWay: () => Promise<boolean>;
  /** Removes those files. */
  empty(): Promise<void>;
  remove(): Promise<void>;
}

export async function makeWorkspace(): Promise<Workspace> {
  const directory = await temporaryDirectory();
  const { path } = directory;
  const places = ['out', 'tmp', 'data/output', 'data/spill'];
  for (const place of [...places, 'mappings']) await mkdir(join(path, place), { recursive: true });
  const files = async (): Promise<readonly string[]> => {
    const found = await Promise.all(places.map(async (place) => (await readdir(join(path, place))).map((name) => `${place}/${name}`)));
    return found.flat();
  };
  return {
    path,
    write: (mapping) => writeFile(join(path, 'mappings', 'mapping.ttl'), mapping),
    files,
    async isHalfWay() {
      const names = await files();
      if (!names.some((name) => /^(?:tmp|data\/spill)\//.test(name))) return false;
      const parts = names.filter((name) => name.endsWith('.part'));
      const sizes = await Promise.all(parts.map(async (name) => (await stat(join(path, name)).catch(() => undefined))?.size ?? 0));
      return sizes.some((size) => size > 0);
    },
    async empty() {
      for (const name of await files()) await rm(join(path, name), { recursive: true, force: true });
    },
    remove: () => directory.remove(),
  };
}

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface CommandLine {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

export interface CommandOptions {
  readonly args?: readonly string[];
  readonly nodeArgs?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** `quadmill run` as ann, in the workspace; writes to `out/graph.nq` by default. */
export function startCommand(
  room: Workspace,
  jdbcUrl: string,
  { args = ['-o', 'out/graph.nq'], nodeArgs = [], env }: CommandOptions = {},
): CommandLine {
  const program = [...nodeArgs, join(PROJECT_ROOT, 'bin', 'quadmill.js'), 'run', 'mappings/mapping.ttl', ...args];
  const login = { JDBC_URL: jdbcUrl, DB_USER: 'ann', DB_PASSWORD: PASSWORD };
  const child = spawn(process.execPath, program, {
    cwd: room.path,
    env: { PATH: process.env.PATH, TMPDIR: join(room.path, 'tmp'), ...login, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  guard(child, undefined);
  let [out, err] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  return { child, ended: new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err }))) };
}

export const runCommand = (room: Workspace, jdbcUrl: string, options?: CommandOptions): Promise<Ended> =>
  startCommand(room, jdbcUrl, options).ended;

export interface SqlService {
  readonly process: ServiceProcess;
  /** `GET /process`: the answer when the run has ended. */
  run(): Promise<Answer>;
  /** Sets options by `/updateConfig`. */
  configure(options: Readonly<Record<string, string>>): Promise<void>;
  /** Codes of the faults after which runs were retried, since the last call. */
  retries(): readonly unknown[];
}

export async function startSqlService(
  room: Workspace,
  { jdbcUrl }: Faulty,
  env: Readonly<Record<string, string>> = {},
): Promise<SqlService> {
  const service = await startService({
    cwd: room.path,
    env: {
      SERVICE: 'sql-transformer',
      MAPPINGS_DIR_URL: join(room.path, 'mappings'),
      JDBC_URL: jdbcUrl,
      DB_USER: 'ann',
      DB_PASSWORD: PASSWORD,
      RUN_ATTEMPTS: '2',
      RETRY_SECONDS: '0',
      ...env,
    },
  });
  let seen = 0;
  return {
    process: service,
    run: () => ask(`${service.url}/process`),
    async configure(options) {
      for (const [configEntry, configValue] of Object.entries(options)) {
        const { status, body } = await ask(`${service.url}/updateConfig?${new URLSearchParams({ configEntry, configValue })}`, {
          method: 'PUT',
        });
        if (status !== 200) throw new Error(`${configEntry}: ${JSON.stringify(body)}`);
      }
    },
    retries() {
      const codes = service.log.filter(({ msg }) => msg === 'run retried').map(({ code }) => code);
      const since = codes.slice(seen);
      seen = codes.length;
      return since;
    },
  };
}
