/** What a session says of a server that refuses it, of one that is too old, and of none at all; `test/bin/outputs/submit.soak.test.ts` has a real one. */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  type Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import { fromJSON, type ServiceDefinition } from '@grpc/proto-loader';
import { afterEach, expect, test } from '@jest/globals';
import { parseSparkAddress } from '../../../src/spark/address.ts';
import { descriptor } from '../../../src/spark/protocol.ts';
import { SparkSession } from '../../../src/spark/session.ts';
import { freePort } from '../../servers/process/port.ts';
import { PROJECT_ROOT } from '../../support/project-root.ts';

const TOKEN = 'Bearer of-a-test';
const never = new AbortController().signal;
const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.forceShutdown();
});

type Stream = ServerWritableStream<object, object>;

/** A server that answers the first request of a session, if its token is right. @param streams what it does for the next streams */
async function serve(
  version: string,
  seen: Metadata[] = [],
  security = ServerCredentials.createInsecure(),
  streams: Readonly<Record<'ExecutePlan' | 'ReattachExecute', ((stream: Stream) => void)[]>> = { ExecutePlan: [], ReattachExecute: [] },
): Promise<number> {
  const server = new Server();
  servers.push(server);
  const protocol = fromJSON(descriptor() as Parameters<typeof fromJSON>[0], { keepCase: true });
  server.addService(protocol['spark.connect.SparkConnectService'] as ServiceDefinition, {
    AnalyzePlan({ metadata }: ServerUnaryCall<object, object>, done: sendUnaryData<object>) {
      seen.push(metadata);
      if (metadata.get('authorization')[0] !== TOKEN) done({ code: status.UNAUTHENTICATED, details: 'no such token' });
      else done(null, { server_side_session_id: '1', spark_version: { version } });
    },
    ExecutePlan: (stream: Stream) => streams.ExecutePlan.shift()?.(stream),
    ReattachExecute: (stream: Stream) => streams.ReattachExecute.shift()?.(stream),
    ReleaseSession(_: object, done: sendUnaryData<object>) {
      done(null, {});
    },
  });
  return new Promise((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', security, (error, port) => (error === null ? resolve(port) : reject(error))),
  );
}

const open = (port: number, more = ''): Promise<SparkSession> =>
  SparkSession.open(parseSparkAddress(`sc://127.0.0.1:${port}/${more}`), never);

test('sends the token and other headers', async () => {
  const seen: Metadata[] = [];
  const session = await open(await serve('4.0.0', seen), ';token=of-a-test;use_ssl=false;x-cluster=7');
  await session.close();
  expect(seen[0]?.get('x-cluster')).toEqual(['7']);
});

test('says that the server refuses the token, and does not show it', async () => {
  const error = await open(await serve('4.0.0'), ';token=another;use_ssl=false').catch((thrown) => thrown);
  expect(error).toMatchObject({
    code: 'engine/credentials',
    message: expect.stringMatching(/^Spark at 127\.0\.0\.1:\d+ refuses the login: no such token$/),
  });
});

test.each(['3.5.6', ''])('refuses the version %j', async (version) => {
  const error = await open(await serve(version), ';token=of-a-test;use_ssl=false').catch((thrown) => thrown);
  expect(error).toMatchObject({
    code: 'engine/refused',
    message: expect.stringContaining(`the version ${version || 'unknown'}, and a job needs 4.0`),
  });
});

test('says that there is no server', async () => {
  const port = await freePort();
  const error = await open(port).catch((thrown) => thrown);
  expect(error).toMatchObject({ code: 'engine/unreachable', retriable: true });
  expect(error.message).toMatch(new RegExp(`^Spark at 127.0.0.1:${port} cannot be reached for a session: .*ECONNREFUSED`));
});

const fails =
  (code: status, details: string) =>
  (stream: Stream): void => {
    stream.emit('error', { code, details });
  };
const completes = (stream: Stream): void => {
  stream.write({ response_id: '1', result_complete: {} });
  stream.end();
};
const notFound = fails(status.INTERNAL, '[INVALID_HANDLE.OPERATION_NOT_FOUND] The handle is invalid.');
const openOn = async (streams: Parameters<typeof serve>[3]): Promise<SparkSession> =>
  open(await serve('4.0.0', [], ServerCredentials.createInsecure(), streams), ';token=of-a-test;use_ssl=false');

test('sends a statement again that has not come to the server', async () => {
  const broken = fails(status.UNAVAILABLE, 'the connection broke');
  const streams = { ExecutePlan: [broken, completes], ReattachExecute: [notFound] };
  const session = await openOn(streams);
  await session.run('SET a = b');
  expect(streams).toEqual({ ExecutePlan: [], ReattachExecute: [] });
  await session.close();
});

test('says that a server which was started again has lost the session', async () => {
  const answers = (stream: Stream): void => {
    stream.write({ response_id: '1' });
    fails(status.UNAVAILABLE, 'the connection broke')(stream);
  };
  const changed = fails(status.INTERNAL, '[INVALID_HANDLE.SESSION_CHANGED] The existing Spark server driver instance has restarted.');
  for (const second of [changed, notFound]) {
    const session = await openOn({ ExecutePlan: [answers], ReattachExecute: [second] });
    const error = await session.run('SET a = b', { mapping: 'people.ttl:1:2' }).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'engine/unreachable', place: { mapping: 'people.ttl:1:2' } });
    expect(error.message).toMatch(/has lost the session of the statement "SET a = b": \[INVALID_HANDLE\./);
    await session.close();
  }
});

const noTls = spawnSync('openssl', ['version']).status === 0 ? undefined : 'there is no openssl';

(noTls === undefined ? test : test.skip)('speaks TLS with a server whose certificate is trusted, and with no other', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'quadmill-spark-tls-'));
  const file = (name: string): string => join(directory, name);
  try {
    execFileSync(
      'openssl',
      [
        ...[
          'req',
          '-x509',
          '-newkey',
          'rsa:2048',
          '-nodes',
          '-days',
          '2',
          '-subj',
          '/CN=localhost',
          '-addext',
          'subjectAltName=DNS:localhost',
        ],
        ...['-keyout', file('key.pem'), '-out', file('cert.pem')],
      ],
      { stdio: 'pipe' },
    );
    const pair = { private_key: readFileSync(file('key.pem')), cert_chain: readFileSync(file('cert.pem')) };
    const port = await serve('4.0.0', [], ServerCredentials.createSsl(null, [pair]));
    const address = `sc://localhost:${port}/;token=of-a-test`;
    const error = await SparkSession.open(parseSparkAddress(address), never).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'engine/unreachable', message: expect.stringContaining('self-signed certificate') });
    // Certificates beside those of Node are read when a process starts.
    const script = `const { SparkSession } = await import('./dist/src/spark/session.js'); const { parseSparkAddress } = await import('./dist/src/spark/address.js');
      const session = await SparkSession.open(parseSparkAddress(${JSON.stringify(address)}), new AbortController().signal); await session.close(); console.log('done');`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      cwd: PROJECT_ROOT,
      env: { ...process.env, NODE_EXTRA_CA_CERTS: file('cert.pem'), GRPC_DEFAULT_SSL_ROOTS_FILE_PATH: '' },
    });
    expect(stdout).toBe('done\n');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
