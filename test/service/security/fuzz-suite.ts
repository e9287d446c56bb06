/**
 * Random requests to a built process, by its own description (`/openapi.json`): no answer is a 500, none shows a stack, none takes long, and
 * afterwards the process is well. A failure names the seed and the request.
 */

import { mkdir, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { Random } from '../../support/random.ts';
import { PEOPLE, peopleMapping } from '../../support/service/inputs.ts';
import { ask, poll, type ServiceProcess, startService } from '../../support/service/process.ts';

export interface Fuzzed {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: unknown }[];
  readonly bodyTypes: readonly string[];
  readonly bodyFields: readonly string[];
}

/** Texts on which programs stumble. */
export const NASTY: readonly string[] = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\n',
  '\t',
  '%',
  '%00',
  '%ff',
  '../../../etc/passwd',
  '..%2f..%2fetc%2fpasswd',
  'file:///etc/passwd',
  'file://host/x',
  'file:',
  'http://',
  'http://[::1',
  'http://127.0.0.1:1/x.csv',
  'http://user:pass@127.0.0.1:1/x.csv?token=a#b',
  'ftp://127.0.0.1/x',
  'data:text/csv,id%0A1',
  'jdbc:',
  'jdbc:postgresql://127.0.0.1:1/d',
  'jdbc:mysql://(host=127.0.0.1,port=1)/d?x=y',
  'jdbc:sqlite:',
  'jdbc:duckdb:/dev/null',
  'jdbc:oracle:thin:@(DESCRIPTION=((((',
  'jdbc:sqlserver://h;a={b',
  '/dev/zero',
  '/proc/self/environ',
  '.',
  '-',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '{"a":1}',
  '[]',
  'null',
  'undefined',
  'NaN',
  'true',
  '-1',
  '0',
  '1e309',
  '9007199254740993',
  '99999999999999999999',
  '0x10',
  "' OR 1=1 --",
  '"; DROP TABLE t; --',
  '<script>alert(1)</script>',
  '$(id){{7*7}}',
  '\u202eabc',
  '\ufeffabc',
  '\ud800',
  '😀',
  'ü',
  'SELECT 1',
  'SELECT * WHERE { ?s ?p ?o }',
  'INSERT DATA { <a> <b> <c> }',
  '0 0 * * * ?',
  '* * * * *',
  'UTC',
  'x'.repeat(5_000),
  '('.repeat(500),
  'a,'.repeat(500),
];

/** Options that may be set to anything without an end of the test: neither limits of callers nor addresses of servers. */
const OPTIONS = [
  'DISTINCT',
  'MAX_REJECTED',
  'FRIENDLY_NAME',
  'friendlyName',
  'DB_PASSWORD',
  'RECORD_PROVO',
  'SOURCE_LOGINS',
  'LICENSE',
  'WRITE_MODE',
];
const OPEN_END: ReadonlySet<string> = new Set(['configEntry']);

const HEADERS = [
  'accept',
  'accept-encoding',
  'accept-language',
  'content-type',
  'content-encoding',
  'prefer',
  'idempotency-key',
  'x-request-id',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'traceparent',
  'tracestate',
  'range',
  'if-none-match',
  'if-match',
  'if-modified-since',
  'cookie',
  'authorization',
  'origin',
  'referer',
  'sec-fetch-site',
  'user-agent',
  'host',
  'expect',
  'te',
  'upgrade-insecure-requests',
];

const TYPES = [
  'application/json',
  'text/turtle',
  'application/x-www-form-urlencoded',
  'application/n-quads',
  'application/sparql-query',
  'text/plain',
  'a/b;c="d',
  '',
];

/** Makes requests of the operations, the same ones for the same `random`. */
export class Fuzzer {
  readonly random: Random;
  readonly operations: readonly Operation[];
  /** Values that make sense: paths of a mapping and an input. */
  readonly sensible: readonly string[];

  constructor(random: Random, operations: readonly Operation[], sensible: readonly string[]) {
    this.random = random;
    this.operations = operations;
    this.sensible = sensible;
  }

  text(): string {
    if (this.random.chance(0.3)) return this.random.pick(this.sensible);
    const text = this.random.pick(NASTY);
    if (this.random.chance(0.6)) return text;
    const other = this.random.pick(this.random.chance(0.5) ? NASTY : this.sensible);
    const at = this.random.between(0, text.length);
    return text.slice(0, at) + other + text.slice(at);
  }

  value(depth = 0): unknown {
    switch (this.random.between(0, depth > 4 ? 5 : 8)) {
      case 0:
        return this.random.pick([0, -1, 1.5, 1e308, Number.MAX_SAFE_INTEGER]);
      case 1:
        return this.random.chance(0.5);
      case 2:
        return null;
      case 3:
      case 4:
      case 5:
        return this.text();
      case 6:
      case 7:
        return Array.from({ length: this.random.between(0, 4) }, () => this.value(depth + 1));
      default:
        return Object.fromEntries(
          Array.from({ length: this.random.between(0, 3) }, () => [this.text().slice(0, 40), this.value(depth + 1)]),
        );
    }
  }

  json(fields: readonly string[]): Buffer {
    const body: Record<string, unknown> = {};
    for (const field of fields)
      if (this.random.chance(0.5)) body[field] = this.random.chance(0.4) ? this.random.pick(this.sensible) : this.value();
    if (this.random.chance(0.1)) Object.defineProperty(body, '__proto__', { value: this.value(), enumerable: true });
    let text = JSON.stringify(this.random.chance(0.9) ? body : this.value()) ?? '';
    if (this.random.chance(0.05)) text = '['.repeat(100_000);
    if (this.random.chance(0.05)) text = '{"a":'.repeat(50_000);
    if (this.random.chance(0.1)) text = text.slice(0, this.random.between(0, text.length));
    if (this.random.chance(0.05)) text = `${text}${this.text()}`;
    const bytes = Buffer.from(text);
    if (this.random.chance(0.1) && bytes.length > 0) bytes[this.random.between(0, bytes.length - 1)] = this.random.between(0, 255);
    return bytes;
  }

  request(): Fuzzed {
    const operation = this.random.pick(this.operations);
    const { method, parameters, bodyTypes, bodyFields } = operation;
    const path = operation.path.replace(/\{\w+\}/g, () =>
      this.random.chance(0.3) ? this.raw(this.text()) : encodeURIComponent(this.wellFormed(this.text())),
    );
    const query: string[] = [];
    for (const { name } of parameters.filter((one) => one.in === 'query')) {
      for (let i = 0; this.random.chance(i === 0 ? 0.7 : 0.2) && i < 3; i++) {
        const value = OPEN_END.has(name) ? this.random.pick(this.random.chance(0.8) ? OPTIONS : NASTY) : this.text();
        query.push(`${name}=${this.random.chance(0.1) ? this.raw(value) : encodeURIComponent(this.wellFormed(value))}`);
      }
    }
    if (this.random.chance(0.1)) query.push(this.raw(this.text()));
    const headers: Record<string, string> = {};
    for (const { name } of parameters.filter((one) => one.in === 'header')) if (this.random.chance(0.4)) headers[name] = this.header();
    for (let i = this.random.between(0, 3); i > 0; i--) headers[this.random.pick(HEADERS)] = this.header();
    // Without one that is right, most is refused before it is read.
    if (this.random.chance(0.95))
      for (const name of ['authorization', 'origin', 'referer', 'sec-fetch-site', 'host', 'user-agent', 'expect']) delete headers[name];
    const hasBody = bodyTypes.length > 0 ? this.random.chance(0.95) : this.random.chance(0.05);
    const type = this.random.chance(0.9) ? (bodyTypes[0] ?? 'application/json') : this.random.pick(TYPES);
    if (hasBody && this.random.chance(0.97)) headers['content-type'] = type;
    const body = !hasBody
      ? undefined
      : type === 'application/json'
        ? this.json(bodyFields)
        : Buffer.from(this.random.chance(0.5) ? this.text() : this.random.pick(this.sensible));
    return {
      method: this.random.chance(0.97) ? method : this.random.pick(['GET', 'PUT', 'PATCH', 'OPTIONS', 'HEAD', 'DELETE', 'POST']),
      path: `${path}${query.length > 0 ? `?${query.join('&')}` : ''}`,
      headers,
      body,
    };
  }

  /** Half a surrogate pair has no encoding in a URL. */
  wellFormed(text: string): string {
    return Buffer.from(text).toString();
  }

  /** As it is, as far as a request line can have it. */
  raw(text: string): string {
    return text
      .replace(/[^\x21-\x7e]/g, (c) =>
        c.charCodeAt(0) < 256 ? `%${c.charCodeAt(0).toString(16).padStart(2, '0')}` : encodeURIComponent(this.wellFormed(c)),
      )
      .replace(/[#\s]/g, '');
  }

  header(): string {
    const text = this.random.chance(0.3)
      ? this.random.pick([
          ...TYPES,
          'respond-async',
          'wait=1',
          '*/*',
          'gzip',
          'bytes=0-1',
          'bytes=-',
          '100-continue',
          'null',
          '00-ffffffffffffffffffffffffffffffff-ffffffffffffffff-01',
        ])
      : this.text();
    // What a client can send: other characters are refused on this side.
    return text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '?').slice(0, 2_000);
  }
}

interface Answered {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly ms: number;
}

const ANSWER_MS = 30_000;

function send(origin: string, { method, path, headers, body }: Fuzzed): Promise<Answered> {
  const started = performance.now();
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      { hostname, port, method, path, headers: { ...headers, ...(body === undefined ? {} : { 'content-length': body.length }) } },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () => {
          clearTimeout(late);
          const text = Buffer.concat(parts).toString('utf8');
          resolve({
            status: response.statusCode ?? 0,
            type: response.headers['content-type'] ?? '',
            body: text,
            ms: performance.now() - started,
          });
        });
      },
    );
    const late = setTimeout(() => sent.destroy(new Error(`no answer within ${ANSWER_MS} ms`)), ANSWER_MS);
    sent.on('error', (error) => {
      clearTimeout(late);
      reject(error);
    });
    sent.end(body);
  });
}

/** Also within a text of JSON. */
const STACK = /(?:^|\\n)\s*at [^\n]+:\d+:\d+|node_modules\/\S+:\d+|dist\/bin\/bundle|node:internal/m;
const KNOWN_5XX: ReadonlySet<number> = new Set([501]);

/** What is wrong with an answer; undefined: nothing. */
function complaint({ method }: Fuzzed, { status, type, body }: Answered): string | undefined {
  if (status >= 500 && !KNOWN_5XX.has(status)) return `status ${status}`;
  const stack = STACK.exec(body);
  if (stack !== null) return `a stack: ${body.slice(Math.max(0, stack.index - 300), stack.index + 300)}`;
  if (body.includes('"code":"internal/error"')) return 'an unexpected error';
  if (status >= 400 && method !== 'HEAD' && !/json/.test(type)) return `a refusal that is ${type}`;
  return undefined;
}

function operationsOf(document: {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, { readonly properties?: object }>> };
}): readonly Operation[] {
  const fieldsOf = (schema: { readonly $ref?: string; readonly properties?: object } | undefined): readonly string[] =>
    Object.keys((schema?.$ref === undefined ? schema : document.components.schemas[schema.$ref.split('/').at(-1) ?? ''])?.properties ?? {});
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const content =
        ((operation.requestBody ?? {}) as { readonly content?: Readonly<Record<string, { readonly schema?: object }>> }).content ?? {};
      return {
        method: method.toUpperCase(),
        path,
        parameters: (operation.parameters ?? []) as Operation['parameters'],
        bodyTypes: Object.keys(content),
        bodyFields: Object.values(content).flatMap(({ schema }) => fieldsOf(schema)),
      };
    }),
  );
}

/** A process that is fuzzed; `env` adds options. */
export interface Victim {
  readonly service: ServiceProcess;
  readonly directory: string;
  /** Texts that make sense to it. */
  readonly sensible: readonly string[];
  stop(): Promise<void>;
}

export async function startVictim(env: Readonly<Record<string, string>> = {}): Promise<Victim> {
  const directory = await temporaryDirectory();
  const at = (name: string): string => join(directory.path, name);
  await mkdir(at('mappings'));
  await writeFile(at('people.csv'), PEOPLE.csv);
  await writeFile(at('mappings/people.ttl'), peopleMapping('csv', 'people.csv'));
  await writeFile(at('some.nq'), '<http://e.org/s> <http://e.org/p> "o" .\n');
  const service = await startService({
    cwd: directory.path,
    env: {
      SEMI_STRUCTURED_TRANSFORMER_MAPPINGS_DIR_URL: at('mappings'),
      PROCESS_WAIT_SECONDS: '2',
      DB_CONNECT_SECONDS: '1',
      SOURCE_RETRIES: '0',
      RUN_ATTEMPTS: '1',
      WORKER_CONCURRENCY: '2',
      REQUEST_TIMEOUT_SECONDS: '5',
      ...env,
    },
  });
  return {
    service,
    directory: directory.path,
    sensible: [
      at('people.csv'),
      at('mappings/people.ttl'),
      at('some.nq'),
      'people.csv',
      'people.ttl',
      '1',
      '10',
      PEOPLE.json,
      peopleMapping('csv', 'people.csv'),
    ],
    async stop() {
      await service.stop();
      await directory.remove();
    },
  };
}

/** The process answers as before, and has met no error that it did not expect. */
export async function expectWell({ service, directory }: Victim): Promise<void> {
  await poll(`${service.url}/health/ready`, ({ status }) => status === 200, 60_000);
  const body = JSON.stringify({ inputFileURL: join(directory, 'people.csv'), mappingURL: join(directory, 'mappings/people.ttl') });
  await ask(`${service.url}/semi-structured-transformer/updateConfig?configEntry=LICENSE&configValue=`, { method: 'PUT' });
  const init = { method: 'POST', headers: { 'content-type': 'application/json', prefer: 'wait=60' }, body };
  expect([200, 202]).toContain((await ask(`${service.url}/semi-structured-transformer/process`, init)).status);
  const unexpected = service.log.filter(
    (line) => line.level === 'fatal' || line.code === 'internal/error' || JSON.stringify(line).includes('TypeError'),
  );
  expect(unexpected).toEqual([]);
  expect(service.stderr()).not.toMatch(STACK);
}

/** @param count of requests @param atOnce how many of them at a time */
export function fuzz(seed: number, count: number, atOnce: number): void {
  let victim: Victim;
  beforeAll(async () => {
    victim = await startVictim();
  });
  afterAll(() => victim?.stop());

  test(`${count} random requests, seed ${seed}`, async () => {
    const { body } = await ask(`${victim.service.url}/openapi.json`);
    const fuzzer = new Fuzzer(new Random(seed), operationsOf(body), victim.sensible);
    const requests = Array.from({ length: count }, () => fuzzer.request());
    const wrong: unknown[] = [];
    const one = async (): Promise<void> => {
      for (let request = requests.pop(); request !== undefined && wrong.length < 10; request = requests.pop()) {
        try {
          const answer = await send(victim.service.url, request);
          const found = complaint(request, answer);
          if (found !== undefined) wrong.push([found, answer.body.slice(0, 600), described(request)]);
        } catch (error) {
          wrong.push([String(error), described(request)]);
        }
      }
    };
    await Promise.all(Array.from({ length: atOnce }, one));
    expect(wrong).toEqual([]);
    await expectWell(victim);
  }, 600_000);
}

const described = ({ method, path, headers, body }: Fuzzed): unknown => [
  `${method} ${path.slice(0, 800)}`,
  headers,
  body?.toString('latin1').slice(0, 400),
];
