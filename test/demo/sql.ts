/** `npm run demo -- sql`: a PostgreSQL with a lending library becomes a graph, by way of the SQL transformer's routes. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DataFactory, Parser, Store } from 'n3';
import pg from 'pg';
import { startPostgres } from '../servers/databases/postgres.ts';
import { PROJECT_ROOT } from '../support/project-root.ts';
import { startService } from './service.ts';
import { ask, expectStatus, indented, say, title } from './telling.ts';

const DATA = join(PROJECT_ROOT, 'test', 'demo', 'sql');
const SHOWN_LINES = 6;
const BASE = '/sql-transformer';

export async function demoSql(): Promise<void> {
  const began = performance.now();
  title('1  A PostgreSQL with a lending library');
  const server = await startPostgres();
  if ('skip' in server) throw new Error(server.skip);
  const stopping: (() => Promise<void>)[] = [() => server.stop()];
  const stop = async (): Promise<void> => {
    for (const one of stopping.splice(0).reverse()) await one();
  };
  const stopOnInterrupt = (): void => void stop().finally(() => process.exit(130));
  process.once('SIGINT', stopOnInterrupt);
  try {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    const { rows } = await client.query('SELECT version()');
    await client.query(await readFile(join(DATA, 'create.sql'), 'utf8'));
    await client.end();
    const jdbcUrl = `jdbc:postgresql://127.0.0.1:${server.port}/postgres`;
    say(`${String(rows[0]?.version).split(',')[0]}, started for this demo: ${jdbcUrl}`);
    say('Four tables with keys, references, nulls, dates and exact numbers: test/demo/sql/create.sql.');

    title('2  The service, told where the database is');
    const service = await startService({ JDBC_URL: jdbcUrl, DB_USER: 'postgres' });
    stopping.push(() => service.stop());
    say(`It listens on ${service.url}. Can it reach the database?\n`);
    const login = new URLSearchParams({ url: jdbcUrl, user: 'postgres' });
    expectStatus(await ask(service.url, { method: 'GET', path: `${BASE}/testDBConnection?${login}` }), 200);
    say('\nWhat is in there?\n');
    const query = new URLSearchParams({
      url: jdbcUrl,
      user: 'postgres',
      query: 'SELECT title, price, published FROM book',
      returnCSV: 'true',
    });
    expectStatus(await ask(service.url, { method: 'GET', path: `${BASE}/queryDatabase?${query}` }), 200);

    title('3  The master mapping');
    say('An R2RML mapping (test/demo/sql/mapping.ttl) says what the tables mean:\n');
    const mapping = await readFile(join(DATA, 'mapping.ttl'), 'utf8');
    const shown = 'Content-Type: text/turtle\n…';
    expectStatus(await ask(service.url, { method: 'PUT', path: `${BASE}/rml`, body: mapping, type: 'text/turtle', shown }), 200);

    title('4  The database becomes a graph');
    const { status, body } = await ask(service.url, { method: 'GET', path: `${BASE}/process` });
    if (status !== 200) throw new Error('the mapping failed');
    const report = body as { outputFileLocations: string[]; records: number; quads: number; processingTime: number };
    const quads = await readFile(fileURLToPath(report.outputFileLocations[0] as string), 'utf8');
    say('\nThe first lines of the file that it made:\n');
    say(indented(quads.split('\n').slice(0, SHOWN_LINES)));
    say('\nWho has a book of whom at home?\n');
    say(indented(openLoans(quads)));

    title('5  What a failure looks like');
    say('A mapping that names a column which is not there is a failure of the run, which says where and what to do:\n');
    const wrong = mapping.replace('rr:column "title"', 'rr:column "titel"');
    expectStatus(await ask(service.url, { method: 'PUT', path: `${BASE}/rml`, body: wrong, type: 'text/turtle', shown }), 200);
    expectStatus(await ask(service.url, { method: 'GET', path: `${BASE}/process` }), 400);

    title('6  That was it');
    await stop();
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    say(`${report.records} rows became ${report.quads} statements in ${report.processingTime} ms; the whole demo took ${seconds} s.`);
    say('Service and database have stopped, and their directories are gone.');
  } finally {
    process.off('SIGINT', stopOnInterrupt);
    await stop();
  }
}

const { namedNode } = DataFactory;

/** Reader → book → author: references of tables that are links of the graph now. */
function openLoans(quads: string): readonly string[] {
  const graph = new Store(new Parser({ format: 'N-Quads' }).parse(quads));
  const nameOf = (subject: Parameters<Store['getObjects']>[0]): string =>
    graph.getObjects(subject, namedNode('https://schema.org/name'), null)[0]?.value ?? 'an unknown person';
  return graph.getQuads(null, namedNode('https://library.example/ns#hasAtHome'), null, null).map(({ subject, object }) => {
    const author = graph.getObjects(object, namedNode('https://schema.org/author'), null)[0];
    return `${nameOf(subject)} has “${nameOf(object)}” by ${author === undefined ? 'an unknown author' : nameOf(author)}`;
  });
}
