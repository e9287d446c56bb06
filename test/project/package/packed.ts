/** The package as `npm publish` would send it, for tests: packed, installed into an empty folder, and tried there. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT_ROOT } from '../../support/project-root.ts';
import { ask, startService } from '../../support/service/process.ts';

const execute = promisify(execFile);
const LONG_MS = 600_000;

export interface Packed {
  readonly archive: string;
  /** Paths in the package. */
  readonly files: readonly string[];
}

/** Without scripts: `prepare` would compile into the `dist` that other tests run. */
export async function pack(directory: string): Promise<Packed> {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', directory];
  const { stdout } = await execute('npm', args, { cwd: PROJECT_ROOT, maxBuffer: 2 ** 24, timeout: LONG_MS });
  const [packed] = JSON.parse(stdout) as readonly { readonly filename: string; readonly files: readonly { readonly path: string }[] }[];
  if (packed === undefined) throw new Error(`npm pack said: ${stdout}`);
  return { archive: join(directory, packed.filename), files: packed.files.map(({ path }) => path) };
}

const MANIFEST = JSON.stringify({ name: 'consumer', private: true, type: 'module' });

/** Without a registry: the archive, with links to the packages that this project has installed for it. */
export async function unpackInto(directory: string, archive: string): Promise<void> {
  const modules = join(directory, 'node_modules');
  const own = join(modules, 'quadmill');
  await mkdir(own, { recursive: true });
  await writeFile(join(directory, 'package.json'), MANIFEST);
  await execute('tar', ['-xzf', archive, '-C', own, '--strip-components=1']);
  const { dependencies } = JSON.parse(await readFile(join(own, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
  for (const name of Object.keys(dependencies)) await link(name, modules);
}

/** As a user does, with what the registry has for it today. */
export async function installInto(directory: string, archive: string): Promise<void> {
  await writeFile(join(directory, 'package.json'), MANIFEST);
  await execute('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', archive], { cwd: directory, timeout: LONG_MS });
}

async function link(name: string, modules: string): Promise<void> {
  await mkdir(dirname(join(modules, name)), { recursive: true });
  await symlink(join(PROJECT_ROOT, 'node_modules', name), join(modules, name)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

const PEOPLE = 'id,name\n1,Ada\n2,Grace\n';
const MAPPING = `@prefix rml: <http://w3id.org/rml/> .
<#Person>
  rml:logicalSource [
    rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "people.csv" ] ;
    rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://example.com/person/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate <http://xmlns.com/foaf/0.1/name> ; rml:objectMap [ rml:reference "name" ] ] .
`;
export const STATEMENTS =
  '<http://example.com/person/1> <http://xmlns.com/foaf/0.1/name> "Ada" .\n<http://example.com/person/2> <http://xmlns.com/foaf/0.1/name> "Grace" .\n';

export interface Tried {
  readonly version: string;
  /** What `quadmill run` wrote. */
  readonly mapped: string;
  /** Status of /health/live, and with which code the service ended. */
  readonly live: number;
  readonly ended: number | null;
  /** What the example of docs/client.md said of that service. */
  readonly asked: string;
  /** What the example of docs/library.md said, and what it wrote. */
  readonly said: string;
  readonly written: string;
}

/** Tries the command, the service and the library of the package that is installed in `directory`. */
export async function tryPackage(directory: string): Promise<Tried> {
  await writeFile(join(directory, 'people.csv'), PEOPLE);
  await writeFile(join(directory, 'people.ttl'), MAPPING);
  await writeFile(join(directory, 'library.js'), exampleOf('docs/library.md'));
  await writeFile(join(directory, 'client.js'), exampleOf('docs/client.md'));
  const program = join(directory, 'node_modules/quadmill/bin/quadmill.js');
  const run = async (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> =>
    (await execute(process.execPath, args, { cwd: directory, env: { ...process.env, ...env } })).stdout;
  const version = (await run([program, '--version'])).trim();
  const mapped = await run([program, 'run', 'people.ttl']);
  const service = await startService({ program, env: { QUEUE_URL: 'embedded:', DATA_DIR: join(directory, 'data') }, cwd: directory });
  const live = (await ask(`${service.url}/health/live`)).status;
  const asked = (await run(['client.js'], { QUADMILL_URL: service.url })).trim();
  const { code } = await service.stop();
  const said = (await run(['library.js'])).trim();
  return { version, mapped, live, ended: code, asked, said, written: await readFile(join(directory, 'out/people.nq'), 'utf8') };
}

const exampleOf = (page: string): string =>
  /```js\n(.*?)```/s.exec(readFileSync(join(PROJECT_ROOT, page), 'utf8'))?.[1] ?? `throw new Error("${page} has no example")`;

/** What the compiler of TypeScript says of the examples, as modules of a program that has only the types of Node besides. */
export async function checkTypes(directory: string): Promise<string> {
  await link('@types/node', join(directory, 'node_modules'));
  await link('undici-types', join(directory, 'node_modules'));
  await writeFile(join(directory, 'library.ts'), exampleOf('docs/library.md'));
  await writeFile(join(directory, 'client.ts'), exampleOf('docs/client.md'));
  const compiler = join(PROJECT_ROOT, 'node_modules/typescript/bin/tsc');
  const options = [
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--strict',
    '--noUncheckedIndexedAccess',
    '--exactOptionalPropertyTypes',
    '--skipLibCheck',
    '--types',
    'node',
    '--noEmit',
    'library.ts',
    'client.ts',
  ];
  return execute(process.execPath, [compiler, ...options], { cwd: directory }).then(
    ({ stdout }) => stdout,
    ({ stdout }: { readonly stdout: string }) => stdout,
  );
}
