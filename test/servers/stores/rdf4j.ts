/** A dedicated Eclipse RDF4J server for a test: private directory, free port, gone when stopped. Needs Java, and once Maven. */
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Artifacts, discardJava, endJava, findJars, missingJars, startJava } from '../process/jars.ts';
import { freePort } from '../process/port.ts';

const ARTIFACTS: Artifacts = {
  name: 'rdf4j',
  dependencies: `<dependency><groupId>org.eclipse.rdf4j</groupId><artifactId>rdf4j-http-server</artifactId><version>4.1.3</version><type>war</type>
    <exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>
    <dependency><groupId>org.eclipse.jetty</groupId><artifactId>jetty-runner</artifactId><version>9.4.57.v20241219</version>
    <exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>`,
};

export interface Repositories {
  /** A repository in memory. */
  readonly memory: string;
  /** One on disk. */
  readonly native: string;
  /** One in memory that takes integers alone as objects of `<urn:age>` (SHACL). */
  readonly validated: string;
}

export interface Rdf4j extends Repositories {
  /** `…/rdf4j-server` */
  readonly server: string;
  /** More empty ones, whose names end so. */
  create(suffix: string): Promise<Repositories>;
  readonly pid: number;
  /** kill -9. */
  crash(): Promise<void>;
  /** After `crash`: on the same port, with the same native store. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Why no RDF4J can be started here; undefined: one can. Fetches jars that are not in the cache. */
export const missingRdf4j = (): Promise<string | undefined> => missingJars(ARTIFACTS);

/** A fresh server with two empty repositories. */
export async function startRdf4j(): Promise<Rdf4j | { readonly skip: string }> {
  const missing = await missingRdf4j();
  if (missing !== undefined) return { skip: missing };
  const directory = await mkdtemp(join(tmpdir(), 'quadmill-rdf4j-'));
  let running: ChildProcess | undefined;
  try {
    const port = await freePort();
    const server = `http://127.0.0.1:${port}/rdf4j-server`;
    const jars = await findJars(ARTIFACTS);
    const file = async (beginning: string): Promise<string> =>
      join(jars, (await readdir(jars)).find((name) => name.startsWith(beginning)) as string);
    const jvm = [
      '-Xmx512m',
      '-XX:+UseSerialGC',
      '-XX:TieredStopAtLevel=1',
      `-Djava.io.tmpdir=${directory}`,
      `-Dorg.eclipse.rdf4j.appdata.basedir=${join(directory, 'data')}`,
    ];
    const runner = ['-cp', await file('jetty-runner'), 'org.eclipse.jetty.runner.Runner', '--host', '127.0.0.1', '--port', String(port)];
    const parameters = [...jvm, ...runner, '--path', '/rdf4j-server', await file('rdf4j-http-server')];
    const launch = () => startJava(parameters, directory, () => answers(`${server}/protocol`));
    running = await launch();
    return {
      server,
      ...(await createRepositories(server, '')),
      create: (suffix) => createRepositories(server, suffix),
      get pid() {
        return running?.pid as number;
      },
      crash: () => endJava(running as ChildProcess, 'SIGKILL'),
      async restart() {
        running = await launch();
      },
      stop: () => discardJava(running, directory),
    };
  } catch (error) {
    await discardJava(running, directory);
    throw error;
  }
}

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    (answer) => answer.ok,
    () => false,
  );

const MEMORY = 'sail:sailType "openrdf:MemoryStore"';

async function createRepositories(server: string, suffix: string): Promise<Repositories> {
  const memory = await create(server, `memory${suffix}`, MEMORY);
  const native = await create(server, `native${suffix}`, 'sail:sailType "openrdf:NativeStore"');
  const validated = await create(server, `validated${suffix}`, `sail:sailType "rdf4j:ShaclSail" ; sail:delegate [ ${MEMORY} ]`);
  await addShape(validated);
  return { memory, native, validated };
}

export async function removeRepositories({ memory, native, validated }: Repositories): Promise<void> {
  for (const url of [memory, native, validated]) {
    const answer = await fetch(url, { method: 'DELETE' });
    if (!answer.ok) throw new Error(`RDF4J answers ${answer.status} to DELETE ${url}: ${await answer.text()}`);
  }
}

/** `sail` is Turtle. */
async function create(server: string, id: string, sail: string): Promise<string> {
  const url = `${server}/repositories/${id}`;
  const body = `@prefix rep: <http://www.openrdf.org/config/repository#> .
@prefix sr: <http://www.openrdf.org/config/repository/sail#> .
@prefix sail: <http://www.openrdf.org/config/sail#> .
[] a rep:Repository ; rep:repositoryID "${id}" ;
  rep:repositoryImpl [ rep:repositoryType "openrdf:SailRepository" ; sr:sailImpl [ ${sail} ] ] .`;
  await send(url, 'PUT', body);
  return url;
}

function addShape(url: string): Promise<void> {
  const shape = `@prefix sh: <http://www.w3.org/ns/shacl#> .
<urn:shape> a sh:NodeShape ; sh:targetSubjectsOf <urn:age> ;
  sh:property [ sh:path <urn:age> ; sh:datatype <http://www.w3.org/2001/XMLSchema#integer> ] .`;
  return send(`${url}/rdf-graphs/service?graph=${encodeURIComponent('http://rdf4j.org/schema/rdf4j#SHACLShapeGraph')}`, 'POST', shape);
}

async function send(url: string, method: string, body: string): Promise<void> {
  const answer = await fetch(url, { method, headers: { 'content-type': 'text/turtle' }, body });
  if (!answer.ok) throw new Error(`RDF4J answers ${answer.status} to ${method} ${url}: ${await answer.text()}`);
}
