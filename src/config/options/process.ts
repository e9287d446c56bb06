/** Options of every process: where it listens, keeps its files, and who may call it. */
import { noList, type OptionRow } from './row.ts';

export const PROCESS_OPTIONS = {
  SERVICE: {
    path: 'process.service',
    type: 'enum',
    values: ['all', 'semi-structured-transformer', 'sql-transformer', 'graph-writer'],
    default: 'all',
    summary: 'Which service this process is; `all` serves each under its own prefix.',
    start: 'it decides which routes and consumers the process has',
  },
  HOST: { path: 'process.host', type: 'string', default: '127.0.0.1', summary: 'Address to listen on.', start: 'the port is already open' },
  PORT: {
    path: 'process.port',
    type: 'integer',
    default: 8080,
    minimum: 0,
    maximum: 65535,
    summary: 'Port to listen on; 0 takes a free one.',
    start: 'the port is already open',
  },
  DATA_DIR: {
    path: 'process.dataDir',
    type: 'string',
    default: './data',
    summary:
      'Directory of queue files, embedded store and configuration, and of output and mappings unless their options name other directories.',
    start: 'the process holds files in it open',
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
    live: true,
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
    start: 'whoever may change options could give themselves any role',
  },
  SECRETS_KEY: {
    path: 'process.secretsKey',
    type: 'list',
    default: noList,
    secret: true,
    pattern: { test: /^[A-Za-z0-9+/]{43}=$/, says: '32 bytes in base64, as `openssl rand -base64 32` writes them' },
    summary:
      'Keys, each 32 bytes in base64, under which secrets that were set while running are kept: the first one seals, all of them open. The same for all processes. Absent: the key in the file `secrets.key` of DATA_DIR, which the first process makes.',
    start: 'it opens the options that are kept in the queue',
  },
  ALLOW_ANONYMOUS: {
    path: 'process.allowAnonymous',
    type: 'boolean',
    default: false,
    summary: 'Without tokens, listen on addresses other than loopback, too.',
    start: 'whoever may change options could give themselves any role',
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
    start: 'it belongs to the server, which is made once',
  },
  PROCESS_WAIT_SECONDS: {
    path: 'process.waitSeconds',
    type: 'integer',
    default: 0,
    minimum: 0,
    live: true,
    summary: 'How long `/process` waits for the outcome before it answers 202; 0: as long as it takes.',
  },
} as const satisfies Readonly<Record<string, OptionRow>>;
