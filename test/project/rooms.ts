/** The rooms of the source tree: what each is for, and what it may import. `layers.test.ts` checks it; `docs/rooms.md` is made of it. */

export interface Room {
  /** One line: what stands in it. */
  readonly purpose: string;
  /** Its folders at any depth, each with what stands in it. */
  readonly folders?: Readonly<Record<string, string>>;
  /** Rooms, or single files of rooms, that it may import from besides itself. */
  readonly uses: readonly string[];
  /** It also runs where there is no Node: in the studio's browser. */
  readonly withoutNode?: true;
}

/** From the bottom to the top: a room uses only what stands above it in this table. */
export const ROOMS: Readonly<Record<string, Room>> = {
  'src/core': {
    purpose: 'What every room may use: faults, texts, hashes, limits, logs, metrics and traces.',
    folders: {
      input: 'how a document is written: its encoding, and its dialect of CSV',
      telemetry: 'logs, metrics and traces',
    },
    uses: [],
  },
  'src/regexp': {
    purpose: 'Regular expressions whose time is bounded.',
    uses: [],
    withoutNode: true,
  },
  'src/functions': {
    purpose: 'The functions that mappings call, as one table, and calls as closures.',
    folders: {
      dates: 'dates and times: patterns, zones, names of months',
      families: 'the functions, by what they work on',
    },
    uses: ['src/core', 'src/regexp'],
    withoutNode: true,
  },
  'src/paths': {
    purpose: 'JSONPath and XPath as text → their parts, and what is wrong with them.',
    folders: {
      json: 'JSONPath',
      xml: 'XPath: plain paths, and the syntax of the rest',
    },
    uses: ['src/core', 'src/regexp'],
    withoutNode: true,
  },
  'src/mapping': {
    purpose: 'Turtle and YARRRML → the normal form of a mapping, with an origin on every statement.',
    folders: {
      convert: 'a mapping → the text of another language',
      model: 'the normal form of a mapping, its templates, and diagnostics',
      parse: 'documents → the normal form',
      'parse/expressions': 'the syntax of paths',
      'parse/objects': 'object maps: with parents, quoted triples and collections',
      'parse/source': 'logical sources and views',
      turtle: 'the parser of n3, and the prefixes that a document declares',
      vocabulary: 'every term of the vocabularies, and whether it is supported',
      yarrrml: 'YARRRML → statements of RML',
    },
    uses: ['src/core', 'src/functions', 'src/paths', 'src/regexp'],
    withoutNode: true,
  },
  'src/infer': {
    purpose: 'Inference of a mapping: samples of documents → entities with fields, keys and links → a mapping with comments.',
    uses: ['src/core', 'src/mapping'],
    withoutNode: true,
  },
  'src/plan': {
    purpose: 'Mapping → algebra → plan: operators, terms, scans, joins and partitions, as frozen data.',
    folders: {
      build: 'mapping → algebra',
      rewrite: 'algebra → algebra that is made in less time, with the same statements',
    },
    uses: ['src/core', 'src/mapping'],
    withoutNode: true,
  },
  'src/terms': {
    purpose: 'Expressions and terms of a plan → closures over rows that write N-Quads text.',
    uses: ['src/core', 'src/functions', 'src/mapping', 'src/plan'],
    withoutNode: true,
  },
  'src/sql': {
    purpose: 'Databases: JDBC URLs, sessions, catalogues, types, and the SQL of scans.',
    folders: {
      catalogue: 'what a database says of its tables, keys and names',
      files: 'database files, each read by a process of its own',
      'files/duckdb': 'DuckDB',
      'files/sqlite': 'SQLite',
      dialects: 'how each product writes names and SQL',
      'direct-mapping': 'a mapping made of the tables',
      drivers: 'the driver of each product, and those whose client libraries are installed beside Quadmill',
      'drivers/oracle': 'Oracle Database',
      'drivers/sqlserver': 'SQL Server',
      jdbc: 'JDBC URLs, their parameters, and the servers that they name',
      mysql: 'MySQL and MariaDB',
      postgresql: 'PostgreSQL',
      result: 'the rows of one query as JSON or CSV',
    },
    uses: ['src/core'],
  },
  'src/sources': {
    purpose: 'Records from documents and databases.',
    folders: {
      csv: 'delimited text',
      json: 'JSON and JSON Lines',
      'json/path': 'JSONPath: what streams, and the engine for the rest',
      sparql: 'solutions of a SPARQL query, in the formats of their results',
      sql: 'rows of a SELECT',
      parquet: 'Parquet',
      'parquet/columns': 'the schema, references, and columns: flat ones, and nested values that are put together',
      'parquet/file': 'the bytes at any offset, the footer, and the protocol of its metadata',
      'parquet/pages': 'pages: their compression, levels and encodings',
      'parquet/values': 'logical types → texts and datatypes',
      sheet: 'sheets of workbooks',
      'sheet/binary': 'workbooks of records: XLS and XLSB',
      'sheet/ods': 'OpenDocument spreadsheets',
      'sheet/package': 'the zip archive of a workbook, and the XML of its parts',
      'sheet/table': 'which sheet and cells are read, and records of them',
      'sheet/values': 'what cells hold: numbers, dates, times',
      'sheet/xlsx': 'Office Open XML workbooks',
      xml: 'XML',
      'xml/parse': 'the tokenizer',
      'xml/path': 'XPath: what streams, and the engine for the rest',
    },
    uses: ['src/core', 'src/paths', 'src/regexp', 'src/sql'],
  },
  'src/storage': {
    purpose: 'Files, HTTP and standard input behind read, list and write; directories and their locks.',
    folders: {
      local: 'files, directories and their locks on this machine',
      packed: 'compressed inputs and archives, unpacked on the way',
      web: 'HTTP: tokens, repeated requests, answers that are kept',
    },
    uses: ['src/core'],
  },
  'src/sampling': {
    purpose: 'The first records of inputs as trees, for the inference of a mapping.',
    uses: ['src/core', 'src/infer', 'src/sources', 'src/storage'],
  },
  'src/nquads': {
    purpose: 'The text of statements: read, checked, escaped, cut into lines and grouped.',
    uses: ['src/core', 'src/storage'],
  },
  'src/sinks': {
    purpose: 'Statements to files and streams, in eight formats, compressed and in archives.',
    folders: {
      formats: 'Turtle, TriG, N3, JSON-LD, RDF/XML and RDF/JSON made of terms; the table of formats',
      packing: 'gzip, zip and archives of tar, written on the way',
    },
    uses: ['src/core', 'src/nquads', 'src/storage'],
  },
  'src/property-graph': {
    purpose: 'Statements → nodes and relationships, and their CSV files.',
    folders: {
      csv: 'files of nodes and edges, by product',
    },
    uses: ['src/core', 'src/nquads', 'src/sinks', 'src/sources', 'src/storage'],
  },
  'src/targets': {
    purpose: 'Graph databases behind one contract.',
    folders: {
      sparql: 'stores with SPARQL 1.1 endpoints',
      bolt: 'Neo4j and what speaks Bolt',
      embedded: 'the store in the process: supervisor, thread, messages',
      'embedded/disk': 'its journal and snapshots',
      'embedded/engine': 'queries and updates in its thread',
      'embedded/http': 'its SPARQL protocol',
    },
    uses: ['src/core', 'src/nquads', 'src/property-graph', 'src/storage'],
  },
  'src/write': {
    purpose: 'Writing statements to a target: insert, update, retry, checkpoints.',
    folders: {
      batch: 'batches: their size, sending, and halving of refused ones',
      update: 'subjects and graphs that take the place of those of the store',
    },
    uses: ['src/core', 'src/nquads', 'src/property-graph', 'src/storage', 'src/targets'],
  },
  'src/config': {
    purpose: 'The table of options, and the store of those that are set while running.',
    folders: {
      options: 'the table',
    },
    uses: ['src/core', 'src/storage', 'src/sinks/sink.ts', 'src/targets/target.ts'],
  },
  'src/run': {
    purpose: 'Carries out a plan: inputs, compiled rules, joins, distinctness, threads and slices.',
    folders: {
      prepare: 'request and mapping → inputs that are bound',
      checks: 'what views promise of their rows',
      compile: 'plan → closures over records',
      databases: 'sessions, what the planner asks of them, and their scans',
      execute: 'the pass over each source',
      distinct: 'each statement once, in memory and spilled',
      join: 'indexes of parents, and joins that wait',
      collect: 'lists and containers: of a row, and of many rows',
      'execute/pages': 'Web APIs that give their records page by page',
      slices: 'cutting one run for several workers',
    },
    uses: [
      'src/core',
      'src/mapping',
      'src/plan',
      'src/terms',
      'src/sources',
      'src/sql',
      'src/nquads',
      'src/sinks',
      'src/storage',
      // For `exports.ts` alone.
      'src/config/run-defaults.ts',
    ],
  },
  'src/explain': {
    purpose: 'Which rules of a mapping can make a statement, and which records do.',
    uses: ['src/core', 'src/mapping', 'src/nquads', 'src/plan', 'src/run'],
  },
  queues: {
    purpose: 'Kinds of jobs, runs, the backends of the queue, requests, messages and the schedule.',
    folders: {
      backend: 'Redis, PostgreSQL and the embedded queue behind one interface',
      messaging: 'the message bus and the outbox',
      'messaging/kafka': 'Kafka',
      requests: 'what `/process` takes',
      runs: 'a run, its state and its outcome',
      schedule: 'runs by the clock',
    },
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
    folders: {
      jobs: 'what is done for each kind of job',
      messaging: 'source messages and the outbox',
      output: 'files of a run, and their manifest',
      threads: 'the threads that map and write',
    },
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
    folders: {
      routes: 'one file for each group of routes',
    },
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
    folders: {
      commands: 'one file for each command',
      options: 'options that several commands share',
      report: 'what is told after a run: rejected records, empty triples maps, memory',
      watch: 'running again when files change',
    },
    uses: [
      'api',
      'workers',
      'queues',
      'src/core',
      'src/config',
      'src/explain',
      'src/functions',
      'src/infer',
      'src/mapping',
      'src/nquads',
      'src/plan',
      'src/property-graph',
      'src/run',
      'src/sampling',
      'src/sinks',
      'src/sql',
      'src/storage',
      'src/targets',
      'src/write',
    ],
  },
};

/** Outside libraries that may be replaced one day, and the one place that knows each. */
export const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  ajv: ['src/core/schema.ts'],
  '@noble/hashes': ['src/functions/digest.ts'],
  'jsonc-parser': ['api/json-error.ts'],
  bullmq: ['queues/', 'workers/'],
  ioredis: ['queues/'],
  kafkajs: ['queues/messaging/kafka/'],
  pg: ['queues/', 'src/sql/'],
  mysql2: ['src/sql/'],
  '@duckdb/node-api': ['src/sql/files/duckdb/'],
  tedious: ['src/sql/drivers/sqlserver/'],
  oracledb: ['src/sql/drivers/oracle/'],
  '@photostructure/sqlite': ['src/sql/files/sqlite/'],
  croner: ['queues/', 'api/'],
  '@electric-sql/pglite': ['queues/'],
  koa: ['api/'],
  '@bull-board/api': ['api/dashboard.ts'],
  '@bull-board/koa': ['api/dashboard.ts'],
  '@opentelemetry/api': ['src/core/telemetry/trace.ts'],
  'bullmq-otel': ['queues/'],
  '@koa/router': ['api/'],
  saxes: ['src/sources/'],
  yauzl: ['src/sources/sheet/'],
  'hyparquet-compressors': ['src/sources/parquet/pages/'],
  '@bokuweb/zstd-wasm': ['src/sources/parquet/pages/'],
  fontoxpath: ['src/paths/xml/', 'src/sources/xml/path/'],
  n3: ['src/mapping/'],
  yaml: ['src/mapping/yarrrml/', 'src/mapping/convert/yarrrml.ts'],
  'neo4j-driver': ['src/targets/'],
  re2js: ['src/regexp/linear.ts'],
  oxigraph: ['src/targets/'],
  undici: ['src/core/http.ts'],
};

/** What the folders of `test` hold. The others mirror the rooms. */
export const TEST_FOLDERS: Readonly<Record<string, string>> = {
  support: 'what several tests use, such as a service that is started for them',
  servers: 'Redis, PostgreSQL, MariaDB, Kafka and graph databases, started for tests',
  service: 'the service from the outside, by HTTP',
  fleet: 'several processes and one queue',
  project: 'the project itself: imports, documents, images, dashboards',
  conformance: 'third-party suites of cases',
  chaos: 'faults under load',
  bench: 'workloads and their times',
  demo: 'the demo',
};
