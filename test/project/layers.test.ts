/** Imports point one way: a room may use only what stands below it. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const ROOT = resolve(import.meta.dirname, '../..');

/** Room → rooms that it may import from, besides itself. `src/core` is what every room may use. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  'src/core': [],
  'src/mapping': ['src/core'],
  'src/plan': ['src/core', 'src/mapping'],
  'src/terms': ['src/core', 'src/mapping'],
  'src/sql': ['src/core'],
  'src/sources': ['src/core', 'src/sql'],
  'src/storage': ['src/core'],
  'src/nquads': ['src/core', 'src/storage'],
  'src/sinks': ['src/core', 'src/nquads', 'src/storage'],
  'src/property-graph': ['src/core', 'src/nquads', 'src/sinks', 'src/sources', 'src/storage'],
  'src/targets': ['src/core', 'src/nquads', 'src/property-graph', 'src/storage'],
  'src/write': ['src/core', 'src/nquads', 'src/property-graph', 'src/storage', 'src/targets'],
  'src/config': ['src/core', 'src/storage', 'src/sinks/sink.ts', 'src/targets/target.ts'],
  'src/run': ['src/core', 'src/mapping', 'src/plan', 'src/terms', 'src/sources', 'src/sql', 'src/nquads', 'src/sinks', 'src/storage'],
  queues: [
    'src/core',
    'src/config',
    'src/mapping',
    'src/nquads/statement.ts',
    'src/property-graph/names.ts',
    'src/run/request.ts',
    'src/sinks/sink.ts',
    'src/storage',
    'src/targets/target.ts',
    'src/write/request.ts',
  ],
  workers: [
    'queues',
    'src/core',
    'src/config',
    'src/nquads',
    'src/property-graph',
    'src/run',
    'src/sinks',
    'src/storage',
    'src/targets',
    'src/write',
  ],
  api: [
    'queues',
    'src/core',
    'src/config',
    'src/mapping',
    'src/sql',
    'src/storage',
    'src/run/request.ts',
    'src/sinks/sink.ts',
    'src/targets',
  ],
  bin: [
    'api',
    'workers',
    'queues',
    'src/core',
    'src/config',
    'src/mapping',
    'src/nquads',
    'src/plan',
    'src/property-graph',
    'src/run',
    'src/sinks',
    'src/sql',
    'src/storage',
    'src/targets',
    'src/write',
  ],
};

/** Rooms that also run where there is no Node: in the studio's browser. */
const WITHOUT_NODE = ['src/mapping', 'src/plan', 'src/terms'];

/** Outside libraries that may be replaced one day, and the one place that knows each. */
const BEHIND: Readonly<Record<string, readonly string[]>> = {
  bullmq: ['queues/', 'workers/'],
  ioredis: ['queues/'],
  kafkajs: ['queues/messaging/kafka/kafka.ts'],
  pg: ['queues/', 'src/sql/'],
  mysql2: ['src/sql/'],
  croner: ['queues/', 'api/'],
  '@electric-sql/pglite': ['queues/'],
  koa: ['api/'],
  '@bull-board/api': ['api/dashboard.ts'],
  '@bull-board/koa': ['api/dashboard.ts'],
  '@opentelemetry/api': ['src/core/telemetry/trace.ts'],
  'bullmq-otel': ['queues/'],
  '@koa/router': ['api/'],
  saxes: ['src/sources/'],
  n3: ['src/mapping/'],
  'neo4j-driver': ['src/targets/'],
  oxigraph: ['src/targets/'],
};

const room = (path: string): string => (path.startsWith('src/') ? path.split('/').slice(0, 2).join('/') : (path.split('/')[0] as string));

function* sources(directory: string): Generator<string> {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) yield* sources(path);
    else if (entry.name.endsWith('.ts')) yield path;
  }
}

const imports = ['src', 'queues', 'workers', 'api', 'bin'].flatMap((top) =>
  [...sources(join(ROOT, top))].flatMap((path) => {
    const text = readFileSync(path, 'utf8');
    const from = relative(ROOT, path);
    return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, specifier]) => {
      const name = specifier as string;
      return { from, to: name.startsWith('.') ? relative(ROOT, resolve(dirname(path), name)) : name, inside: name.startsWith('.') };
    });
  }),
);

describe('imports point one way', () => {
  test('there are imports to check', () => expect(imports.length).toBeGreaterThan(50));

  test.each(Object.keys(ALLOWED))('%s uses only what stands below it', (name) => {
    const allowed = [name, ...(ALLOWED[name] as readonly string[])];
    const wrong = imports.filter(
      ({ from, to, inside }) =>
        inside && room(from) === name && !to.endsWith('package.json') && !allowed.some((place) => room(to) === place || to === place),
    );
    expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });

  test('every room is in the table', () => {
    expect([...new Set(imports.map(({ from }) => room(from)))].filter((name) => !(name in ALLOWED))).toEqual([]);
  });

  test.each(WITHOUT_NODE)('%s runs without Node', (name) => {
    expect(
      imports.filter(({ from, to }) => room(from) === name && to.startsWith('node:')).map(({ from, to }) => `${from} → ${to}`),
    ).toEqual([]);
  });

  test.each(Object.keys(BEHIND))('%s stays behind its room', (library) => {
    const places = BEHIND[library] as readonly string[];
    expect(
      imports
        .filter(({ from, to }) => (to === library || to.startsWith(`${library}/`)) && !places.some((place) => from.startsWith(place)))
        .map(({ from }) => from),
    ).toEqual([]);
  });
});

describe('signals', () => {
  test('end by a controller and a timer of `src/core/abort.ts`: a time-out that only a combined signal refers to may be collected, and never fires', () => {
    const wrong = ['src', 'queues', 'workers', 'api', 'bin', 'test/chaos', 'test/conformance'].flatMap((top) =>
      [...sources(join(ROOT, top))].filter((path) => /AbortSignal\.(any|timeout)\(/.test(readFileSync(path, 'utf8'))),
    );
    expect(wrong.map((path) => relative(ROOT, path))).toEqual([]);
  });
});
