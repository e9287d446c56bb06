/** The rooms of the source tree: what each is for, and what it may import. `layers.test.ts` checks it; `docs/rooms.md` is made of it. */

export interface Room {
  /** One line: what stands in it. */
  readonly purpose: string;
  /** Rooms, or single files of rooms, that it may import from besides itself. */
  readonly uses: readonly string[];
  /** It also runs where there is no Node: in the studio's browser. */
  readonly withoutNode?: true;
}

/** From the bottom to the top: a room uses only what stands above it in this table. */
export const ROOMS: Readonly<Record<string, Room>> = {
  'src/core': {
    purpose: 'What every room may use: faults, texts, hashes, limits, logs, metrics and traces.',
    uses: [],
  },
  'src/mapping': {
    purpose: 'Turtle → the normal form of a mapping, with an origin on every statement.',
    uses: ['src/core'],
    withoutNode: true,
  },
  'src/plan': {
    purpose: 'Mapping → plan: scans, rules, joins and partitions, as frozen data.',
    uses: ['src/core', 'src/mapping'],
    withoutNode: true,
  },
  'src/terms': {
    purpose: 'Term map → a closure that writes terms as N-Quads text.',
    uses: ['src/core', 'src/mapping'],
    withoutNode: true,
  },
  'src/sql': {
    purpose: 'Databases: JDBC URLs, sessions, catalogues, types, and the SQL of scans.',
    uses: ['src/core'],
  },
  'src/sources': {
    purpose: 'Records from documents and databases.',
    uses: ['src/core', 'src/sql'],
  },
  'src/storage': {
    purpose: 'Files, HTTP and standard input behind read, list and write; directories and their locks.',
    uses: ['src/core'],
  },
  'src/nquads': {
    purpose: 'The text of statements: read, checked, escaped, cut into lines and grouped.',
    uses: ['src/core', 'src/storage'],
  },
  'src/sinks': {
    purpose: 'Statements to files and streams, in five formats.',
    uses: ['src/core', 'src/nquads', 'src/storage'],
  },
  'src/property-graph': {
    purpose: 'Statements → nodes and relationships, and their CSV files.',
    uses: ['src/core', 'src/nquads', 'src/sinks', 'src/sources', 'src/storage'],
  },
  'src/targets': {
    purpose: 'Graph databases behind one contract.',
    uses: ['src/core', 'src/nquads', 'src/property-graph', 'src/storage'],
  },
  'src/write': {
    purpose: 'Writing statements to a target: insert, update, retry, checkpoints.',
    uses: ['src/core', 'src/nquads', 'src/property-graph', 'src/storage', 'src/targets'],
  },
  'src/config': {
    purpose: 'The table of options, and the store of those that are set while running.',
    uses: ['src/core', 'src/storage', 'src/sinks/sink.ts', 'src/targets/target.ts'],
  },
  'src/run': {
    purpose: 'Carries out a plan: inputs, compiled rules, joins, distinctness, threads and slices.',
    uses: ['src/core', 'src/mapping', 'src/plan', 'src/terms', 'src/sources', 'src/sql', 'src/nquads', 'src/sinks', 'src/storage'],
  },
  queues: {
    purpose: 'Kinds of jobs, runs, the backends of the queue, requests, messages and the schedule.',
    uses: [
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
  },
  workers: {
    purpose: 'Takes jobs from the queue: transform, write, announce; mapping threads; source messages.',
    uses: [
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
  },
  api: {
    purpose: 'The HTTP service: routes, problems, configuration, the dashboard of the queues.',
    uses: [
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
  },
  bin: {
    purpose: 'The command line.',
    uses: [
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
  },
};

/** Outside libraries that may be replaced one day, and the one place that knows each. */
export const BEHIND: Readonly<Record<string, readonly string[]>> = {
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
