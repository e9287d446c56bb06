/** `npm run demo`: starts the service, has it map three small files, shows what a failure looks like, writes the graph to a store and asks it; `-- sql`: a database. */
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { PROJECT_ROOT } from '../support/project-root.ts';
import { startService } from './service.ts';
import { type Answer, ask, expectStatus, indented, say, title } from './telling.ts';

const DATA = join(PROJECT_ROOT, 'test', 'demo', 'data');
const urlOf = (name: string): string => pathToFileURL(join(DATA, name)).href;

const SOURCES = ['stations.csv', 'measurements.json', 'schools.xml'];
const PROCESS = '/semi-structured-transformer/process';
const SHOWN_LINES = 6;
const LIMIT_NO2 = 40;

/** School → station, station ← measurement of NO2 → value: two joins, made when the graph was. */
const POLLUTED_SCHOOLS = `PREFIX sosa: <http://www.w3.org/ns/sosa/>
PREFIX schema: <https://schema.org/>
PREFIX air: <https://air.example/ns#>
SELECT ?school ?pupils ?value ?station WHERE {
  ?near air:breathesAirOf ?sensor ; schema:name ?school ; air:pupils ?pupils .
  ?measured sosa:madeBySensor ?sensor ; sosa:observedProperty ?property ; sosa:hasSimpleResult ?value .
  ?sensor schema:name ?station .
  FILTER (STRENDS(STR(?property), "/NO2") && ?value > ${LIMIT_NO2})
} ORDER BY DESC(?value)`;

const NEXT: readonly (readonly [command: string, purpose: string])[] = [
  ['node bin/quadmill.js run test/demo/data/mapping.ttl --format turtle', 'map without a service'],
  ['node bin/quadmill.js check test/demo/data/mapping.ttl', 'is the mapping right?'],
  ['node bin/quadmill.js explain test/demo/data/mapping.ttl', 'how will it be carried out?'],
  ['npm run demo -- sql', 'the same from a PostgreSQL'],
  ['npm start', 'the service, on http://127.0.0.1:8080'],
];

async function demo(): Promise<void> {
  const began = performance.now();
  title('1  The service starts');
  const service = await startService();
  const stopOnInterrupt = (): void => void service.stop().finally(() => process.exit(130));
  process.once('SIGINT', stopOnInterrupt);
  try {
    say(`It listens on ${service.url}, its queue is ${service.queue}.`);

    title('2  Three files become one graph');
    say(`Air quality stations (CSV), what they measured (JSON), and schools (XML), all in ${relative(process.cwd(), DATA) || '.'}.`);
    say('mapping.ttl there says how they hang together: schools and measurements find their station by its code.\n');
    const request = { inputFileURL: SOURCES.map(urlOf), logicalSource: SOURCES, mappingURL: urlOf('mapping.ttl') };
    const { status, body } = await post(service.url, request);
    if (status !== 200) throw new Error(`the mapping failed: ${JSON.stringify(body)}`);
    const report = body as { outputFileLocations: string[]; records: number; quads: number; processingTime: number };
    const quads = await readFile(fileURLToPath(report.outputFileLocations[0] as string), 'utf8');
    say('\nThe first lines of the file that it made:\n');
    say(indented(quads.split('\n').slice(0, SHOWN_LINES)));

    title('3  What a failure looks like');
    say('The same, with measurements of the next hour; one of them has an object where the time should be:\n');
    await expectFailure(service.url, {
      ...request,
      inputFileURL: ['stations.csv', 'measurements-broken.json', 'schools.xml'].map(urlOf),
    });
    say('\nAnd an input of a type that cannot be mapped:\n');
    await expectFailure(service.url, { ...request, inputFileURL: [urlOf('photo.png')], logicalSource: ['stations.csv'] });

    title('4  The graph goes into a store');
    say('The graph writer puts the file into the store that the service brings along:\n');
    const file = { inputFileURL: report.outputFileLocations[0] };
    expectStatus(await post(service.url, file, '/graph-writer/process'), 200);

    title('5  It answers what no single file could');
    say(`Which schools stand near a station that measured more than ${LIMIT_NO2} µg/m³ of nitrogen dioxide?\n`);
    const shown = `Content-Type: application/sparql-query\nAccept: text/csv\n${POLLUTED_SCHOOLS}`;
    const query = {
      method: 'POST',
      path: '/sparql',
      body: POLLUTED_SCHOOLS,
      type: 'application/sparql-query',
      accept: 'text/csv',
      shown,
    } as const;
    expectStatus(await ask(service.url, query), 200);

    title('6  That was it');
    await service.stop();
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    say(`${report.records} records became ${report.quads} statements in ${report.processingTime} ms; the whole demo took ${seconds} s.`);
    say('The service has stopped, and its data directory is gone. What to try next:\n');
    say(indented(NEXT.map(([command, purpose]) => `${command.padEnd(70)}  ${purpose}`)));
  } finally {
    process.off('SIGINT', stopOnInterrupt);
    await service.stop();
  }
}

/** Shows the request without the directory that its URLs share. */
async function post(base: string, request: unknown, path = PROCESS): Promise<Answer> {
  const shown = JSON.stringify(request, null, 2).replaceAll(pathToFileURL(DATA).href, 'file://…');
  return ask(base, { method: 'POST', path, body: JSON.stringify(request), type: 'application/json', shown });
}

async function expectFailure(base: string, request: unknown): Promise<void> {
  expectStatus(await post(base, request), 400);
}

try {
  if (process.argv[2] === 'sql') await (await import('./sql.ts')).demoSql();
  else await demo();
} catch (error) {
  console.error(`\nThe demo went wrong: ${(error as Error).message}`);
  process.exitCode = 1;
}
