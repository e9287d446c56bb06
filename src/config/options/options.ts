/**
 * THE table of options: environment variables, `configEntry` names, paths of the `/config` document and their documents
 * are read from here, and nowhere else does a default stand.
 */
import { GRAPH_HEADERS, OUTPUT_FORMATS } from '../../sinks/sink.ts';
import { TARGET_TYPES, UPDATE_SCOPES, WRITE_MODES } from '../../targets/target.ts';

export type OptionType = 'string' | 'boolean' | 'integer' | 'enum' | 'url' | 'list';
/** Which service's document shows the option; undefined: all of them. */
export type OptionScope = 'transformer' | 'writer';

export interface OptionRow {
  /** Place in the `/config` JSON below `serviceTransformerConfig` or `serviceWriterConfig`; see `ROOT_PATHS` for the exceptions. */
  readonly path: string;
  readonly type: OptionType;
  /** undefined: the option may be absent, and `summary` says what that means. */
  readonly default: string | boolean | number | readonly string[] | undefined;
  readonly summary: string;
  /** Reads back as `******`. */
  readonly secret?: true;
  /** May be changed on a running instance. The others are read once, at start. */
  readonly live?: true;
  /** How one that is not `live` is changed without a restart. */
  readonly instead?: string;
  readonly scope?: OptionScope;
  /** Nothing reads it yet: it cannot be set while running, and is warned of where the environment sets it. */
  readonly effect?: 'none yet';
  /** Other names and paths of the same option. */
  readonly aliases?: readonly string[];
  /** What one service has in place of an option that all of them have. Shown at the path of that option, and set by it. */
  readonly own?: { readonly service: string; readonly of: string };
  readonly values?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  /** What the text must look like, and how to say it. */
  readonly pattern?: { readonly test: Pick<RegExp, 'test'>; readonly says: string };
}

const none = undefined as string | undefined;
const noNumber = undefined as number | undefined;
const noList: readonly string[] = [];

function isTimeZone(text: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }) !== undefined;
  } catch {
    return false;
  }
}

/** @see https://kafka.apache.org/documentation/#topicconfigs */
const TOPIC = { test: /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}$/, says: 'at most 249 letters, digits, dots, underscores and hyphens' } as const;
const BROKER = { test: /^(\[[0-9A-Fa-f:.]+\]|[^\s:/,@]+):\d{1,5}$/, says: '`host:port`' } as const;

export const OPTIONS = {
  // The process
  SERVICE: {
    path: 'process.service',
    type: 'enum',
    values: ['all', 'semi-structured-transformer', 'sql-transformer', 'graph-writer'],
    default: 'all',
    summary: 'Which service this process is; `all` serves each under its own prefix.',
  },
  HOST: { path: 'process.host', type: 'string', default: '127.0.0.1', summary: 'Address to listen on.' },
  PORT: {
    path: 'process.port',
    type: 'integer',
    default: 8080,
    minimum: 0,
    maximum: 65535,
    summary: 'Port to listen on; 0 takes a free one.',
  },
  DATA_DIR: {
    path: 'process.dataDir',
    type: 'string',
    default: './data',
    summary:
      'Directory of queue files, embedded store and configuration, and of output and mappings unless their options name other directories.',
  },
  LOG_LEVEL: {
    path: 'process.logLevel',
    type: 'enum',
    values: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    default: 'info',
    live: true,
    summary: 'Least severe log line that is written.',
  },
  DRAIN_SECONDS: {
    path: 'process.drainSeconds',
    type: 'integer',
    default: 25,
    minimum: 0,
    summary: 'How long a stopping process lets its runs end before it requeues them.',
  },
  API_TOKENS: {
    path: 'process.apiTokens',
    type: 'list',
    default: noList,
    secret: true,
    pattern: {
      test: /^([^\s:]+:)?(viewer|operator|admin):\S+$/,
      says: '`NAME:ROLE:TOKEN` or `ROLE:TOKEN`, with a role of viewer, operator, admin',
    },
    summary:
      'Accepted bearer tokens, each as `name:role:token` (viewer, operator, admin). Empty: no authentication, on a loopback address only.',
  },
  ALLOW_ANONYMOUS: {
    path: 'process.allowAnonymous',
    type: 'boolean',
    default: false,
    summary: 'Listen on other than loopback addresses without tokens.',
  },
  MAX_BODY_BYTES: {
    path: 'process.maxBodyBytes',
    type: 'integer',
    default: 10 * 2 ** 20,
    minimum: 1024,
    live: true,
    summary: 'Largest request body that is accepted.',
  },
  REQUEST_TIMEOUT_SECONDS: {
    path: 'process.requestTimeoutSeconds',
    type: 'integer',
    default: 60,
    minimum: 1,
    summary: 'How long a client may take to send its request.',
  },
  PROCESS_WAIT_SECONDS: {
    path: 'process.waitSeconds',
    type: 'integer',
    default: 0,
    minimum: 0,
    live: true,
    summary: 'How long `/process` waits for the outcome before it answers 202; 0: as long as it takes.',
  },

  // The queue and its workers
  QUEUE_URL: {
    path: 'queue.url',
    type: 'url',
    default: none,
    pattern: { test: /^(rediss?|postgres|postgresql):\/\/|^embedded:$/, says: '`redis://…`, `rediss://…`, `postgres://…` or `embedded:`' },
    summary: 'The queue. Absent: a private redis-server when there is one on the PATH, else the embedded one.',
  },
  QUEUE_PREFIX: {
    path: 'queue.prefix',
    type: 'string',
    default: 'quadmill',
    pattern: { test: /^[a-z_][a-z0-9_]{0,39}$/, says: 'at most 40 lower-case letters, digits and underscores, not starting with a digit' },
    summary: 'Key prefix (Redis) or schema (PostgreSQL) of everything that Quadmill keeps in the queue.',
  },
  WORKER_CONCURRENCY: {
    path: 'worker.concurrency',
    type: 'integer',
    default: 2,
    minimum: 1,
    maximum: 256,
    summary: 'Runs that one worker process maps at the same time, each in a thread of its own.',
  },
  THREAD_MEMORY_MB: {
    path: 'worker.threadMemoryMb',
    type: 'integer',
    default: 1024,
    minimum: 64,
    summary: 'JavaScript memory of one thread; a run that needs more fails, other runs go on.',
  },
  PROCESS_MEMORY_MB: {
    path: 'worker.processMemoryMb',
    type: 'integer',
    default: noNumber,
    minimum: 128,
    summary:
      'Memory of a worker process, buffers included; beyond it, the run that holds most of it fails. Absent: nine tenths of what the machine or the container has.',
  },
  MEMORY_BUDGET_MB: {
    path: 'worker.memoryBudgetMb',
    type: 'integer',
    default: 160,
    minimum: 1,
    live: true,
    summary: 'Memory that joins and de-duplication of one run may hold before they spill to disk.',
  },
  RUN_ATTEMPTS: {
    path: 'worker.attempts',
    type: 'integer',
    default: 3,
    minimum: 1,
    maximum: 20,
    live: true,
    summary: 'Attempts of a run that meets transient errors, such as an unreachable input.',
  },
  RETRY_SECONDS: {
    path: 'worker.retrySeconds',
    type: 'integer',
    default: 1,
    minimum: 0,
    maximum: 3600,
    live: true,
    summary: 'Wait before the second attempt; each further one waits twice as long.',
  },
  MAX_STARTS: {
    path: 'worker.maxStarts',
    type: 'integer',
    default: 3,
    minimum: 1,
    maximum: 20,
    summary: 'How many workers a run may kill before it fails.',
  },
  LOCK_SECONDS: {
    path: 'worker.lockSeconds',
    type: 'integer',
    default: 8,
    minimum: 2,
    maximum: 600,
    summary: 'A worker that does not renew the lock of its run for this long has lost the run.',
  },
  STALLED_SECONDS: {
    path: 'worker.stalledSeconds',
    type: 'integer',
    default: 3,
    minimum: 1,
    maximum: 600,
    summary: 'How often workers look for runs whose worker was lost.',
  },
  KEEP_RUNS_SECONDS: {
    path: 'queue.keepRunsSeconds',
    type: 'integer',
    default: 7 * 24 * 3600,
    minimum: 60,
    live: true,
    summary: 'How long an ended run and its idempotency key are kept.',
  },
  KEEP_RUNS_COUNT: {
    path: 'queue.keepRunsCount',
    type: 'integer',
    default: 10_000,
    minimum: 1,
    live: true,
    summary: 'How many ended runs are kept at most.',
  },

  // Mapping
  ON_ERROR: {
    path: 'mapping.onError',
    type: 'enum',
    values: ['auto', 'strict', 'skip', 'quarantine'],
    default: 'auto',
    live: true,
    scope: 'transformer',
    summary:
      'What a record that gives no valid term does: ends the run, is skipped, or goes to a file. `auto`: as the vocabulary says. With `strict`, a reference that no record of JSON or XML has ends the run, too; else it is a warning.',
  },
  MAX_REJECTED: {
    path: 'mapping.maxRejected',
    type: 'integer',
    default: noNumber,
    minimum: 0,
    live: true,
    scope: 'transformer',
    summary: 'A run that skips more records than this fails. Absent: no limit.',
  },
  DISTINCT: {
    path: 'mapping.distinct',
    type: 'boolean',
    default: true,
    live: true,
    scope: 'transformer',
    summary:
      'Write each statement of a run once. Otherwise statements are not compared: some are written several times, and how often also depends on memory.',
  },
  SLICE_BYTES: {
    path: 'mapping.sliceBytes',
    type: 'integer',
    default: 256 * 2 ** 20,
    minimum: 0,
    live: true,
    scope: 'transformer',
    summary:
      'A larger file of CSV or TSV, or of JSON Lines (also behind HTTP), is cut into slices of about this size that all workers of the fleet share, if no join holds its records together and, with DISTINCT, the output is N-Quads or N-Triples; 0: never.',
  },
  XML_DEFAULT_NAMESPACE: {
    path: 'mapping.xmlDefaultNamespace',
    type: 'enum',
    values: ['none', 'document'],
    default: 'none',
    live: true,
    scope: 'transformer',
    summary:
      "What a name without prefix means in XPath: no namespace (`none`, as XPath has it), or the default namespace of the document's root (`document`).",
  },
  BASE_IRI: {
    path: 'mapping.baseIri',
    type: 'url',
    default: none,
    live: true,
    scope: 'transformer',
    summary: 'Base of relative IRIs of triples maps without `rml:baseIRI`. Absent: `http://example.com/base/`.',
  },
  MAX_RECORD_BYTES: {
    path: 'limits.maxRecordBytes',
    type: 'integer',
    default: 64 * 2 ** 20,
    minimum: 1024,
    live: true,
    scope: 'transformer',
    summary: 'Largest single record that is read.',
  },
  MAX_INPUT_BYTES: {
    path: 'limits.maxInputBytes',
    type: 'integer',
    default: 0,
    minimum: 0,
    live: true,
    summary: 'Bytes that one input may have, with its compression undone; 0: no limit.',
  },
  MAX_INFLATION_RATIO: {
    path: 'limits.maxInflationRatio',
    type: 'integer',
    default: 200,
    minimum: 0,
    live: true,
    summary: 'How many times its size a compressed input may unpack to, once that is more than 64 MiB; 0: no limit.',
  },
  MAX_DEPTH: {
    path: 'limits.maxDepth',
    type: 'integer',
    default: 0,
    minimum: 0,
    maximum: 10_000,
    live: true,
    scope: 'transformer',
    summary: 'How deeply an input may be nested; 0: 1000 levels of JSON and 10,000 of XML.',
  },
  MAX_RECORDS: {
    path: 'limits.maxRecords',
    type: 'integer',
    default: 0,
    minimum: 0,
    live: true,
    scope: 'transformer',
    summary: 'Records that a run may read; 0: no limit.',
  },
  MAX_STATEMENTS: {
    path: 'limits.maxStatements',
    type: 'integer',
    default: 0,
    minimum: 0,
    live: true,
    summary: 'Statements that a run may write; 0: no limit.',
  },
  MAX_RUN_SECONDS: {
    path: 'limits.maxRunSeconds',
    type: 'integer',
    default: 7 * 24 * 3600,
    minimum: 0,
    // What a timer can count.
    maximum: 2_000_000,
    live: true,
    summary: 'How long an attempt of a run may take; 0: no limit.',
  },
  MAPPINGS_DIR_URL: {
    path: 'mappingsDirUrl',
    type: 'url',
    default: none,
    live: true,
    scope: 'transformer',
    summary:
      'Directory of the mapping files; with SERVICE `all` each transformer has a directory of its own in it, named as its prefix. Absent: `mappings` under DATA_DIR.',
  },
  SEMI_STRUCTURED_TRANSFORMER_MAPPINGS_DIR_URL: {
    path: 'semi-structured-transformer.mappingsDirUrl',
    type: 'url',
    default: none,
    live: true,
    scope: 'transformer',
    own: { service: 'Semi-Structured-Transformer', of: 'MAPPINGS_DIR_URL' },
    summary: 'Directory of the mapping files of the semi-structured transformer. Absent: as MAPPINGS_DIR_URL says.',
  },
  SQL_TRANSFORMER_MAPPINGS_DIR_URL: {
    path: 'sql-transformer.mappingsDirUrl',
    type: 'url',
    default: none,
    live: true,
    scope: 'transformer',
    own: { service: 'SQL-Transformer', of: 'MAPPINGS_DIR_URL' },
    summary: 'Directory of the master mapping. Absent: as MAPPINGS_DIR_URL says.',
  },
  MASTER_MAPPING_FILE: {
    path: 'masterMappingFile',
    type: 'string',
    default: 'mapping.ttl',
    live: true,
    scope: 'transformer',
    summary: 'The mapping of the SQL transformer, in MAPPINGS_DIR_URL.',
  },
  OUTPUT_DIR_URL: {
    path: 'outputDirUrl',
    type: 'url',
    default: none,
    live: true,
    scope: 'transformer',
    summary: 'Directory of the output files. Absent: `output` under DATA_DIR.',
  },
  OUTPUT_FILE_FORMAT: {
    path: 'outputFileFormat',
    type: 'enum',
    values: OUTPUT_FORMATS,
    default: 'nquads',
    live: true,
    scope: 'transformer',
    summary: 'Format of the output files; the graph writer takes `nquads`.',
  },
  DELETE_SOURCE: {
    path: 'deleteSource',
    type: 'boolean',
    default: false,
    live: true,
    effect: 'none yet',
    summary: 'Delete an input file after its run completed.',
  },
  CUSTOM_FUNCTION_JAR_URL: {
    path: 'customFunctionJarUrl',
    type: 'url',
    default: none,
    live: true,
    effect: 'none yet',
    scope: 'transformer',
    summary: 'Where the code of custom functions is downloaded from.',
  },
  CUSTOM_FUNCTION_TTL_URL: {
    path: 'customFunctionTtlUrl',
    type: 'url',
    default: none,
    live: true,
    effect: 'none yet',
    scope: 'transformer',
    summary: 'Where the description of custom functions is downloaded from.',
  },

  // SQL
  JDBC_URL: {
    path: 'sql.jdbcUrl',
    type: 'url',
    default: none,
    live: true,
    scope: 'transformer',
    summary: 'The database, where the mapping names none.',
  },
  DB_USER: { path: 'sql.user', type: 'string', default: none, live: true, scope: 'transformer', summary: 'User of the database.' },
  DB_PASSWORD: {
    path: 'sql.password',
    type: 'string',
    default: none,
    secret: true,
    live: true,
    scope: 'transformer',
    summary: 'Password of the database user.',
  },
  SQL_ITERATION_ROWS: {
    path: 'sql.iterationRows',
    type: 'integer',
    default: noNumber,
    minimum: 1,
    live: true,
    scope: 'transformer',
    summary: 'Rows of a query that go into one output file. Absent: all into one.',
  },
  SQL_SLICE_ROWS: {
    path: 'sql.sliceRows',
    type: 'integer',
    default: 1_000_000,
    minimum: 0,
    live: true,
    scope: 'transformer',
    summary: 'A table of more rows than this, with a usable key, is cut into slices that all workers of the fleet share; 0: never.',
  },
  DB_CONNECT_SECONDS: {
    path: 'sql.connectSeconds',
    type: 'integer',
    default: 10,
    minimum: 1,
    maximum: 600,
    live: true,
    scope: 'transformer',
    summary: 'How long each host of a database may take to answer and log in.',
  },
  SQL_TIME_LIMIT_SECONDS: {
    path: 'sql.timeLimitSeconds',
    type: 'integer',
    default: 0,
    minimum: 0,
    live: true,
    scope: 'transformer',
    summary: 'A statement of a run that takes longer ends the run; 0: no limit.',
  },
  SQL_LOCK_SECONDS: {
    path: 'sql.lockSeconds',
    type: 'integer',
    default: 60,
    minimum: 0,
    live: true,
    scope: 'transformer',
    summary: 'How long a statement of a run waits for a lock before it ends with a transient error; 0: no limit.',
  },
  CRON: {
    path: 'sql.cron',
    type: 'string',
    default: none,
    instead: 'Send PUT /updateCron: a schedule that a request has set comes before the environment variable',
    scope: 'transformer',
    summary:
      'Schedule of the SQL transformer until `PUT /updateCron` sets another one, Quartz (6 or 7 fields) or Unix (5 fields). Absent: none.',
  },
  CRON_TIMEZONE: {
    path: 'sql.cronTimezone',
    type: 'string',
    default: none,
    pattern: { test: { test: isTimeZone }, says: 'an IANA time zone, such as `Europe/Zurich`' },
    live: true,
    scope: 'transformer',
    summary: 'IANA time zone of the schedule, such as `Europe/Zurich`. Absent: that of the process.',
  },
  QUERY_MAX_ROWS: {
    path: 'sql.queryMaxRows',
    type: 'integer',
    default: 10_000,
    minimum: 1,
    live: true,
    scope: 'transformer',
    summary: 'Rows that `/queryDatabase` answers at most.',
  },
  QUERY_TIMEOUT_SECONDS: {
    path: 'sql.queryTimeoutSeconds',
    type: 'integer',
    default: 30,
    minimum: 1,
    live: true,
    scope: 'transformer',
    summary: 'Time that a query of `/queryDatabase` may take.',
  },

  // Message queue
  KAFKA_BROKERS: {
    path: 'kafka.kafkaBrokers',
    type: 'list',
    default: noList,
    live: true,
    pattern: BROKER,
    summary: 'Brokers, `host:port` each. Empty: no message queue.',
  },
  KAFKA_TOPIC_NAME_SOURCE: {
    path: 'kafka.topicNameSource',
    type: 'string',
    default: 'source_urls',
    live: true,
    scope: 'transformer',
    pattern: TOPIC,
    summary: 'Topic that carries source URLs; with SERVICE `all`, those of the semi-structured transformer.',
  },
  SQL_TRANSFORMER_KAFKA_TOPIC_NAME_SOURCE: {
    path: 'sql-transformer.kafka.topicNameSource',
    type: 'string',
    default: none,
    live: true,
    scope: 'transformer',
    own: { service: 'SQL-Transformer', of: 'KAFKA_TOPIC_NAME_SOURCE' },
    pattern: TOPIC,
    summary: 'Topic whose messages start runs of the SQL transformer. Absent: none with SERVICE `all`, else KAFKA_TOPIC_NAME_SOURCE.',
  },
  KAFKA_TOPIC_NAME_SUCCESS: {
    path: 'provenance.kafka.topicNameSuccess',
    aliases: ['PROV_KAFKA_TOPIC_NAME_SUCCESS', 'kafka.topicNameSuccess'],
    type: 'string',
    default: 'success_queue',
    live: true,
    pattern: TOPIC,
    summary: 'Topic of success messages: transformers write them, the graph writer reads them.',
  },
  KAFKA_TOPIC_NAME_DLQ: {
    path: 'kafka.topicNameDLQ',
    type: 'string',
    default: 'dead_letter_queue',
    live: true,
    pattern: TOPIC,
    summary: 'Topic of failure messages.',
  },
  KAFKA_GROUP_ID: { path: 'kafka.groupId', type: 'string', default: none, summary: 'Consumer group. Absent: the name of the service.' },
  KAFKA_SSL: { path: 'kafka.ssl', type: 'boolean', default: false, summary: 'Speak TLS with the brokers.' },
  KAFKA_SSL_CA: {
    path: 'kafka.sslCa',
    type: 'string',
    default: none,
    summary: 'PEM file of the certificate authorities of the brokers. Absent: those that Node trusts.',
  },
  KAFKA_SSL_CERT: {
    path: 'kafka.sslCert',
    type: 'string',
    default: none,
    summary: 'PEM file of the client certificate for the brokers; intermediate certificates may follow. Absent: none.',
  },
  KAFKA_SSL_KEY: {
    path: 'kafka.sslKey',
    type: 'string',
    default: none,
    summary: 'PEM file of the private key of KAFKA_SSL_CERT, without a passphrase.',
  },
  KAFKA_SASL_MECHANISM: {
    path: 'kafka.saslMechanism',
    type: 'enum',
    values: ['none', 'plain', 'scram-sha-256', 'scram-sha-512'],
    default: 'none',
    summary: 'How to log in at the brokers.',
  },
  KAFKA_USERNAME: { path: 'kafka.username', type: 'string', default: none, summary: 'User at the brokers.' },
  KAFKA_PASSWORD: { path: 'kafka.password', type: 'string', default: none, secret: true, summary: 'Password of that user.' },
  KAFKA_MAX_WAITING_RUNS: {
    path: 'kafka.maxWaitingRuns',
    type: 'integer',
    default: 10_000,
    minimum: 1,
    live: true,
    scope: 'transformer',
    summary: 'While more runs than this wait in the queue, source messages are left in their topic.',
  },
  KAFKA_SUCCESS_FORMAT: {
    path: 'kafka.successFormat',
    type: 'enum',
    values: ['json', 'url'],
    default: 'json',
    live: true,
    summary: 'One JSON success message for a run, or one plain URL for each file.',
  },
  TRANSFORMER_RUN_STANDALONE: {
    path: 'runStandalone',
    type: 'boolean',
    default: undefined as boolean | undefined,
    scope: 'transformer',
    summary: 'Connect to no message queue. Absent: true if KAFKA_BROKERS is empty.',
  },
  LOCAL_MESSAGES: {
    path: 'localMessages',
    type: 'boolean',
    default: true,
    summary: 'Where there is no message queue and SERVICE is `all`: success messages reach the graph writer within the process.',
  },

  // Provenance
  RECORD_PROVO: {
    path: 'provenance.recordProvo',
    type: 'boolean',
    default: false,
    live: true,
    effect: 'none yet',
    summary: 'Record provenance (PROV-O).',
  },
  PROV_OUTPUT_DIR_URL: {
    path: 'provenance.outputDirUrl',
    type: 'url',
    default: none,
    live: true,
    effect: 'none yet',
    summary: 'Directory of provenance files. Absent: beside the output.',
  },
  SWITCHED_OFF_ACTIVITIES: {
    path: 'provenance.switchedOffActivities',
    type: 'list',
    default: noList,
    live: true,
    effect: 'none yet',
    pattern: { test: /^(main|execution|message)$/, says: '`main`, `execution` or `message`' },
    summary: 'Activities that are left out of the provenance: main, execution, message.',
  },
  PROV_KAFKA_BROKERS: {
    path: 'provenance.kafka.kafkaBrokers',
    type: 'list',
    default: noList,
    live: true,
    effect: 'none yet',
    pattern: BROKER,
    summary: 'Brokers of the provenance topics. Empty: KAFKA_BROKERS.',
  },
  PROV_KAFKA_TOPIC_NAME_DLQ: {
    path: 'provenance.kafka.topicNameDLQ',
    type: 'string',
    default: 'prov_dead_letter_queue',
    live: true,
    effect: 'none yet',
    pattern: TOPIC,
    summary: 'Topic of failures to record provenance.',
  },

  // Names, licence, backup
  FRIENDLY_NAME: {
    path: 'friendlyName',
    type: 'string',
    default: none,
    live: true,
    summary: 'Display name of services that have none of their own. Absent: the name of the service.',
  },
  SEMI_STRUCTURED_TRANSFORMER_FRIENDLY_NAME: {
    path: 'semi-structured-transformer.friendlyName',
    type: 'string',
    default: none,
    live: true,
    scope: 'transformer',
    own: { service: 'Semi-Structured-Transformer', of: 'FRIENDLY_NAME' },
    summary: 'Display name of the Semi-Structured-Transformer. Absent: FRIENDLY_NAME.',
  },
  SQL_TRANSFORMER_FRIENDLY_NAME: {
    path: 'sql-transformer.friendlyName',
    type: 'string',
    default: none,
    live: true,
    scope: 'transformer',
    own: { service: 'SQL-Transformer', of: 'FRIENDLY_NAME' },
    summary: 'Display name of the SQL-Transformer. Absent: FRIENDLY_NAME.',
  },
  GRAPH_WRITER_FRIENDLY_NAME: {
    path: 'graph-writer.friendlyName',
    type: 'string',
    default: none,
    live: true,
    scope: 'writer',
    own: { service: 'Graph-Writer', of: 'FRIENDLY_NAME' },
    summary: 'Display name of the Graph-Writer. Absent: FRIENDLY_NAME.',
  },
  LICENSE: {
    path: 'license',
    type: 'string',
    default: none,
    secret: true,
    live: true,
    effect: 'none yet',
    summary: 'Signed licence text. Absent: the community licence.',
  },
  CONFIG_BACKUP: {
    path: 'configBackup',
    type: 'url',
    default: none,
    live: true,
    effect: 'none yet',
    summary: 'Where a configuration backup is written to and restored from.',
  },

  // Object storage
  AWS_ACCESS_KEY: {
    path: 's3.accessKey',
    type: 'string',
    default: none,
    secret: true,
    live: true,
    effect: 'none yet',
    summary: 'Access key of the object storage.',
  },
  AWS_SECRET_KEY: {
    path: 's3.secretKey',
    type: 'string',
    default: none,
    secret: true,
    live: true,
    effect: 'none yet',
    summary: 'Secret key of the object storage.',
  },
  S3_REGION: { path: 's3.region', type: 'string', default: none, live: true, effect: 'none yet', summary: 'Region of the object storage.' },

  // Property graphs and the graph writer
  PROPERTY_GRAPH_MODE: {
    path: 'propertyGraphMode',
    type: 'boolean',
    default: false,
    live: true,
    scope: 'transformer',
    summary: 'Write nodes and edges as CSV beside the statements.',
  },
  PG_GRAPH: {
    path: 'pgGraph',
    type: 'enum',
    values: GRAPH_HEADERS,
    default: 'default',
    live: true,
    summary: 'Product whose header lines property graph files carry.',
  },
  TRIPLESTORE_ENDPOINT: {
    path: 'triplestore.endpoint',
    type: 'url',
    default: none,
    live: true,
    scope: 'writer',
    summary: 'The target graph database.',
  },
  TRIPLESTORE_TYPE: {
    path: 'triplestore.type',
    type: 'enum',
    values: TARGET_TYPES,
    default: 'embedded',
    live: true,
    scope: 'writer',
    summary: 'Product of the target graph database.',
  },
  TRIPLESTORE_USERNAME: {
    path: 'triplestore.username',
    type: 'string',
    default: none,
    live: true,
    scope: 'writer',
    summary: 'User of the target.',
  },
  TRIPLESTORE_PASSWORD: {
    path: 'triplestore.password',
    type: 'string',
    default: none,
    secret: true,
    live: true,
    scope: 'writer',
    summary: 'Password of that user.',
  },
  TRIPLESTORE_DATABASE: {
    path: 'triplestore.database',
    type: 'string',
    default: none,
    live: true,
    scope: 'writer',
    summary: 'Database of a Neo4j server. Absent: its default one.',
  },
  TRIPLESTORE_CA: {
    path: 'triplestore.ca',
    type: 'string',
    default: none,
    live: true,
    scope: 'writer',
    summary: 'Certificate authorities of the target: PEM, or the path of a PEM file. Absent: those that Node trusts.',
  },
  TRIPLESTORE_CONNECT_SECONDS: {
    path: 'triplestore.connectSeconds',
    type: 'integer',
    default: 10,
    minimum: 1,
    live: true,
    scope: 'writer',
    summary: 'How long connecting to the target may take.',
  },
  TRIPLESTORE_TIMEOUT_SECONDS: {
    path: 'triplestore.timeoutSeconds',
    type: 'integer',
    default: 120,
    minimum: 0,
    live: true,
    scope: 'writer',
    summary: 'How long the target may take to answer one request; 0: no limit.',
  },
  TRIPLESTORE_PATIENCE_SECONDS: {
    path: 'triplestore.patienceSeconds',
    type: 'integer',
    default: 120,
    minimum: 0,
    live: true,
    scope: 'writer',
    summary: 'How long requests to a target that is unreachable or busy are retried before the write fails.',
  },
  EMBEDDED_QUERY_SECONDS: {
    path: 'triplestore.embedded.querySeconds',
    type: 'integer',
    default: 60,
    minimum: 1,
    scope: 'writer',
    summary: 'How long a query of the embedded store may take; an update may take five times as long. Longer requests are ended.',
  },
  EMBEDDED_MEMORY_MB: {
    path: 'triplestore.embedded.memoryMb',
    type: 'integer',
    default: noNumber,
    minimum: 32,
    scope: 'writer',
    summary:
      'Memory of the embedded store; a million statements take about 700 MB. A write that would exceed it is undone, and ends its run. Absent: a quarter of what the machine or the container has, at most 3500.',
  },
  WRITE_MODE: {
    path: 'write.mode',
    type: 'enum',
    values: WRITE_MODES,
    default: 'insert',
    live: true,
    scope: 'writer',
    summary: '`insert` adds the statements of a file; with `update` the target holds exactly these afterwards, within UPDATE_SCOPE.',
  },
  UPDATE_SCOPE: {
    path: 'write.updateScope',
    type: 'enum',
    values: UPDATE_SCOPES,
    default: 'property',
    live: true,
    scope: 'writer',
    summary:
      'What an update replaces: the objects of each pair of subject and predicate in its graph, all of each subject there, or each graph as a whole.',
  },
  BLANK_NODES: {
    path: 'write.blankNodes',
    type: 'enum',
    values: ['skolem', 'keep'],
    default: 'skolem',
    live: true,
    scope: 'writer',
    summary: '`skolem` writes blank nodes as IRIs of SKOLEM_BASE_IRI; `keep` as blank nodes, where the target takes whole files.',
  },
  SKOLEM_BASE_IRI: {
    path: 'write.skolemBaseIri',
    type: 'url',
    default: 'http://quadmill.invalid/.well-known/genid/',
    live: true,
    scope: 'writer',
    summary: 'Prefix of the IRIs of blank nodes.',
  },
  MAX_REJECTED_STATEMENTS: {
    path: 'write.maxRejected',
    type: 'integer',
    default: noNumber,
    minimum: 0,
    live: true,
    scope: 'writer',
    summary: 'A write in which more statements than this are rejected fails. Absent: no limit.',
  },
  WRITE_CONCURRENCY: {
    path: 'write.concurrency',
    type: 'integer',
    default: 1,
    minimum: 1,
    maximum: 64,
    scope: 'writer',
    summary: 'Runs of the graph writer that a worker process carries out at the same time.',
  },
  KEEP_LANGUAGE: {
    path: 'propertyGraph.keepLanguage',
    type: 'boolean',
    default: false,
    live: true,
    summary: 'Property graphs: a text with a language is the property `name@lang`, not `name`.',
  },
  PROPERTY_GRAPH_PREFIXES: {
    path: 'propertyGraph.prefixes',
    type: 'list',
    default: noList,
    live: true,
    pattern: { test: /^[A-Za-z][\w-]*=[A-Za-z][A-Za-z0-9+.-]*:\S*$/, says: '`prefix=namespace IRI`' },
    summary: 'Property graphs: prefixes of labels, relationship types and property names, each as `prefix=namespace IRI`.',
  },
} as const satisfies Readonly<Record<string, OptionRow>>;

export type OptionName = keyof typeof OPTIONS;
export const OPTION_NAMES = Object.keys(OPTIONS) as readonly OptionName[];

/** Paths that stand at the root of the document instead of below the service's key. */
export const ROOT_PATHS: ReadonlySet<string> = new Set(['friendlyName']);

type ValueOf<R> = R extends { type: 'enum'; values: readonly (infer V)[] }
  ? V
  : R extends { type: 'boolean'; default: infer D }
    ? boolean | Extract<D, undefined>
    : R extends { type: 'integer'; default: infer D }
      ? number | Extract<D, undefined>
      : R extends { type: 'list' }
        ? readonly string[]
        : R extends { default: infer D }
          ? string | Extract<D, undefined>
          : never;

/** Every option with its value, as one frozen object; a run keeps the one that it started with. */
export type Snapshot = { readonly [N in OptionName]: ValueOf<(typeof OPTIONS)[N]> };
/** Some options, with values that fit. */
export type OptionValues = { [N in OptionName]?: Snapshot[N] };

export function optionRow(name: OptionName): OptionRow {
  return OPTIONS[name];
}

export const DEFAULTS: Snapshot = Object.freeze(Object.fromEntries(OPTION_NAMES.map((name) => [name, OPTIONS[name].default]))) as Snapshot;
