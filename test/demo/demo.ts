/** `npm run demo`: starts the service, has it map three small files, shows what comes out and what a failure looks like; `-- sql`: a database. */
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { DataFactory, Parser, Store } from 'n3';
import { PROJECT_ROOT } from '../project-root.ts';
import { startService } from './service.ts';
import { type Answer, ask, expectStatus, indented, say, title } from './telling.ts';

const DATA = join(PROJECT_ROOT, 'test', 'demo', 'data');
const urlOf = (name: string): string => pathToFileURL(join(DATA, name)).href;

const SOURCES = ['stations.csv', 'measurements.json', 'schools.xml'];
const PROCESS = '/semi-structured-transformer/process';
const SHOWN_LINES = 6;
const LIMIT_NO2 = 40;

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

    title('3  The graph answers what no single file could');
    say(`Which schools stand near a station that measured more than ${LIMIT_NO2} µg/m³ of nitrogen dioxide?\n`);
    for (const line of pollutedSchools(quads)) say(`  ${line}`);

    title('4  What a failure looks like');
    say('The same, with measurements of the next hour; one of them has an object where the time should be:\n');
    await expectFailure(service.url, {
      ...request,
      inputFileURL: ['stations.csv', 'measurements-broken.json', 'schools.xml'].map(urlOf),
    });
    say('\nAnd an input of a type that nobody can map:\n');
    await expectFailure(service.url, { ...request, inputFileURL: [urlOf('photo.png')], logicalSource: ['stations.csv'] });

    title('5  That was it');
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
async function post(base: string, request: unknown): Promise<Answer> {
  const shown = JSON.stringify(request, null, 2).replaceAll(pathToFileURL(DATA).href, 'file://…');
  return ask(base, { method: 'POST', path: PROCESS, body: JSON.stringify(request), type: 'application/json', shown });
}

async function expectFailure(base: string, request: unknown): Promise<void> {
  expectStatus(await post(base, request), 400);
}

const { namedNode } = DataFactory;
const SOSA = 'http://www.w3.org/ns/sosa/';

/** School → station, station ← measurement of NO2 → value: two joins, made when the graph was. */
function pollutedSchools(quads: string): readonly string[] {
  const graph = new Store(new Parser({ format: 'N-Quads' }).parse(quads));
  const valueOf = (subject: Parameters<Store['getObjects']>[0], predicate: string): string =>
    graph.getObjects(subject, namedNode(predicate), null)[0]?.value ?? '';
  const lines: string[] = [];
  for (const near of graph.getQuads(null, namedNode('https://air.example/ns#breathesAirOf'), null, null)) {
    const ofNo2 = graph
      .getSubjects(namedNode(`${SOSA}madeBySensor`), near.object, null)
      .filter((measurement) => valueOf(measurement, `${SOSA}observedProperty`).endsWith('/NO2'));
    for (const measurement of ofNo2) {
      const value = Number(valueOf(measurement, `${SOSA}hasSimpleResult`));
      if (value <= LIMIT_NO2) continue;
      const [school, station] = [near.subject, near.object].map((place) => valueOf(place, 'https://schema.org/name'));
      const pupils = valueOf(near.subject, 'https://air.example/ns#pupils');
      lines.push(`${school} (${pupils} pupils): ${value} µg/m³ at ${station}`);
    }
  }
  return lines;
}

try {
  if (process.argv[2] === 'sql') await (await import('./sql.ts')).demoSql();
  else await demo();
} catch (error) {
  console.error(`\nThe demo went wrong: ${(error as Error).message}`);
  process.exitCode = 1;
}
