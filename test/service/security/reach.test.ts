/** What a service that listens beyond loopback reads for its callers: a server of the test that no request, mapping or message may reach. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { PEOPLE, peopleMapping } from '../../support/service/inputs.ts';
import { type Answer, ask, postJson, type ServiceProcess, startService } from '../../support/service/process.ts';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: ServiceProcess;
/** Any connection is one too many, whatever its protocol. */
let canary: Server;
let hits = 0;
let port: number;

const at = (name: string): string => join(directory.path, name);
const bearer = { authorization: 'Bearer o-long-secret' };

const API = `@prefix rml: <http://w3id.org/rml/> . @prefix td: <https://www.w3.org/2019/wot/td#> . @prefix hctl: <https://www.w3.org/2019/wot/hypermedia#> .
@prefix ex: <http://example.com/> .
<#People> rml:logicalSource [ rml:source [ a td:Thing ; td:hasPropertyAffordance [ td:hasForm [ hctl:hasTarget "URL" ; hctl:forContentType "text/csv" ] ] ] ;
  rml:referenceFormulation rml:CSV ] ; rml:subjectMap [ rml:template "http://example.com/{id}" ; rml:class ex:Person ] .`;
const DATABASE = `@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix rml: <http://semweb.mmlab.be/ns/rml#> .
@prefix d2rq: <http://www.wiwiss.fu-berlin.de/suhl/bizer/D2RQ/0.1#> .
<#Db> a d2rq:Database ; d2rq:jdbcDSN "URL" ; d2rq:username "u" ; d2rq:password "p" .
<#Map> rml:logicalSource [ rml:source <#Db> ; rr:sqlVersion rr:SQL2008 ; rr:tableName "person" ] ;
  rr:subjectMap [ rr:template "http://example.com/{id}" ] .`;

const OTHER = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://example.com/> .
<#Other> rml:logicalSource [ rml:source [ a rml:FilePath ; rml:path "PATH" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://example.com/{id}" ; rml:class ex:Person ] .`;
const BESIDE = peopleMapping('csv', 'people.csv');

beforeAll(async () => {
  directory = await temporaryDirectory();
  canary = createServer((socket) => {
    hits++;
    socket.destroy();
  });
  await new Promise<void>((done) => canary.listen(0, '127.0.0.1', done));
  ({ port } = canary.address() as AddressInfo);
  await mkdir(at('data/inputs'), { recursive: true });
  await writeFile(at('data/inputs/people.csv'), PEOPLE.csv);
  await writeFile(at('data/inputs/people.nq'), '<http://example.com/1> <http://example.com/name> "Ann" .\n');
  await writeFile(at('data/inputs/people.ttl'), peopleMapping('csv', 'people.csv'));
  await writeFile(at('data/inputs/elsewhere.ttl'), BESIDE + OTHER.replace('PATH', at('people.csv')));
  await writeFile(at('people.csv'), PEOPLE.csv);
  await writeFile(at('people.ttl'), peopleMapping('csv', 'people.csv'));
  await symlink(at('people.csv'), at('data/inputs/link.csv'));
  for (const [name, url] of Object.entries({ loopback: `http://127.0.0.1:${port}/`, localhost: `http://localhost:${port}/` }))
    await writeFile(at(`data/inputs/${name}.ttl`), BESIDE + API.replace('URL', url));
  for (const product of ['postgresql', 'mysql'])
    await writeFile(at(`data/inputs/${product}.ttl`), BESIDE + DATABASE.replace('URL', `jdbc:${product}://127.0.0.1:${port}/shop`));
  await writeFile(at('data/inputs/oracle.ttl'), BESIDE + DATABASE.replace('URL', oracleAt('127.0.0.1')));
  service = await startService({
    cwd: directory.path,
    env: { HOST: '0.0.0.0', DATA_DIR: at('data'), API_TOKENS: 'operator:o-long-secret', RUN_ATTEMPTS: '1' },
  });
});
afterAll(async () => {
  await service?.stop();
  canary.close();
  await directory.remove();
});

const url = (path: string): string => `http://127.0.0.1:${new URL(service.url).port}${path}`;
const map = (inputFileURL: string, mapping = at('data/inputs/people.ttl')): Promise<Answer> =>
  postJson(url('/semi-structured-transformer/process'), { inputFileURL, mappingURL: mapping }, bearer);
const oracleAt = (...hosts: readonly string[]): string => {
  const addresses = hosts.map((host) => `(ADDRESS=(PROTOCOL=TCP)(HOST=${host})(PORT=${port}))`);
  return `jdbc:oracle:thin:@(DESCRIPTION=${addresses.join('')}(CONNECT_DATA=(SERVICE_NAME=db)))`;
};
/** A mapping that reads the people of the request, and something else that it names itself. */
const mapBeside = (mapping: string): Promise<Answer> =>
  postJson(
    url('/semi-structured-transformer/process'),
    { inputFileURL: at('data/inputs/people.csv'), logicalSource: 'people.csv', mappingURL: at(`data/inputs/${mapping}.ttl`) },
    bearer,
  );
const sample = (location: string): Promise<Answer> => postJson(url('/studio/samples'), { location }, bearer);
const ontology = (location: string): Promise<Answer> => postJson(url('/studio/ontologies'), { location }, bearer);
const write = (inputFileURL: string): Promise<Answer> => postJson(url('/graph-writer/process'), { inputFileURL }, bearer);
const connect = (jdbc: string): Promise<Answer> =>
  ask(url(`/sql-transformer/testDBConnection?${new URLSearchParams({ url: jdbc, user: 'u' })}`), { headers: bearer });
const query = (jdbc: string): Promise<Answer> =>
  ask(url(`/sql-transformer/queryDatabase?${new URLSearchParams({ url: jdbc, query: 'SELECT 1' })}`), { headers: bearer });

test('inputs and mappings below DATA_DIR are read', async () => {
  expect(await map(at('data/inputs/people.csv'))).toMatchObject({ status: 200, body: { records: 2 } });
});

test.each<[string, () => Promise<Answer>]>([
  ['an input outside the directories', () => map(at('people.csv'))],
  ['an input that does not exist there', () => map(at('nothing.csv'))],
  ['an input behind a link', () => map(at('data/inputs/link.csv'))],
  ['a file of the system', () => map('file:///etc/passwd')],
  ['the environment of the process', () => map('/proc/self/environ')],
  ['the key of the service', () => map(at('data/secrets.key'))],
  ['a mapping outside the directories', () => map(at('data/inputs/people.csv'), at('people.ttl'))],
  ['a directory of mappings outside', () => map(at('data/inputs/people.csv'), directory.path)],
  ['an input on this machine', () => map(`http://127.0.0.1:${port}/people.csv`)],
  ['an input on this machine, by its number', () => map(`http://2130706433:${port}/people.csv`)],
  ['a metadata service', () => map('http://169.254.169.254/latest/meta-data/')],
  ['a mapping on this machine', () => map(at('data/inputs/people.csv'), `http://[::1]:${port}/people.ttl`)],
  ['a sample outside the directories', () => sample(at('people.csv'))],
  ['a sample of the key of the service', () => sample(at('data/secrets.key'))],
  ['a sample on this machine', () => sample(`http://127.0.0.1:${port}/people.csv`)],
  ['an ontology outside the directories', () => ontology(at('people.ttl'))],
  ['an ontology on this machine', () => ontology(`http://127.0.0.1:${port}/people.ttl`)],
  ['a file to write', () => write(at('people.nq'))],
  ['a file to write on this machine', () => write(`http://127.0.0.1:${port}/people.nq`)],
  ['a database on this machine', () => connect(`jdbc:postgresql://127.0.0.1:${port}/shop`)],
  ['a database on this machine, by its name', () => connect(`jdbc:mysql://localhost:${port}/shop`)],
  ['a query to a database on this machine', () => query(`jdbc:mariadb://127.0.0.1:${port}/shop`)],
  ['an Oracle database on this machine', () => connect(`jdbc:oracle:thin:@//127.0.0.1:${port}/db`)],
  ['an Oracle database on this machine, in a description', () => connect(oracleAt('127.0.0.1'))],
  ['an Oracle database on this machine, in a description by its name', () => query(oracleAt('localhost'))],
  ['a database file', () => connect(`jdbc:sqlite:${at('people.csv')}`)],
])('%s: 403', async (_, request) => {
  const answer = await request();
  expect([answer.status, JSON.stringify(answer.body)]).toEqual([403, expect.stringMatching(/ALLOWED_|never read/)]);
  expect(hits).toBe(0);
});

test('an Oracle description that has an address on this machine behind another one is refused as a whole', async () => {
  for (const answer of [await connect(oracleAt('93.184.216.34', '127.0.0.1')), await query(oracleAt('93.184.216.34', 'localhost'))])
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([400, expect.stringContaining('The JDBC URL is not well-formed')]);
  expect(hits).toBe(0);
});

test.each<[string, () => Promise<Answer>]>([
  ['a name that leads to this machine', () => map(`http://localhost:${port}/people.csv`)],
  ['a mapping that a name on this machine has', () => map(at('data/inputs/people.csv'), `http://localhost:${port}/people.ttl`)],
  ['a Web API that the mapping names', () => mapBeside('loopback')],
  ['a Web API that the mapping names by a name', () => mapBeside('localhost')],
  ['a PostgreSQL that the mapping names', () => mapBeside('postgresql')],
  ['a MySQL that the mapping names', () => mapBeside('mysql')],
  ['an Oracle database that the mapping names', () => mapBeside('oracle')],
  ['a file that the mapping names', () => mapBeside('elsewhere')],
])('%s: the run fails', async (_, request) => {
  const answer = await request();
  expect([answer.status, JSON.stringify(answer.body)]).toEqual([400, expect.stringMatching(/may not be (?:reached|read).*ALLOWED_/)]);
  expect(hits).toBe(0);
});
