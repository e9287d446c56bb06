/**
 * The endpoint tables of the specification: each row is asked over HTTP, well and badly, of a built service that is alone in its process. Every
 * answer must be one that `/openapi.json` describes.
 */

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { differencesFrom, type OpenApi } from '../../support/service/documented.ts';
import { type Answer, type ServiceProcess, startService } from '../../support/service/process.ts';

/** By service, as the specification has them: method, path, and the form where a path has two. */
export const ROWS = {
  'sql-transformer': [
    'GET /process',
    'GET /config',
    'GET /config?paths',
    'PUT /updateConfig',
    'PUT /uploadConfigBackup',
    'GET /testDBConnection',
    'GET /queryDatabase',
    'GET /license',
    'GET /rml',
    'PUT /rml',
    'GET /updateCustomFunctions',
    'PUT /updateCron',
    'GET /restartKafka',
  ],
  'semi-structured-transformer': [
    'POST /process',
    'GET /config',
    'GET /config?paths',
    'PUT /updateConfig',
    'PUT /uploadConfigBackup',
    'GET /license',
    'GET /rml',
    'PUT /rml',
    'GET /updateCustomFunctions',
    'GET /restartKafka',
  ],
  'graph-writer': [
    'GET /process',
    'POST /process',
    'GET /config',
    'GET /config?paths',
    'GET /checkConnection',
    'PUT /updateConfig',
    'PUT /uploadConfigBackup',
    'GET /license',
    'GET /restartKafka',
  ],
} as const;

export type Service = keyof typeof ROWS;

export interface Request {
  /** A value may be repeated. */
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  /** Sent as JSON, unless it is text. */
  readonly body?: unknown;
  readonly type?: string;
}

export interface Endpoints {
  readonly at: (name: string) => string;
  ask(method: string, path: string, request?: Request): Promise<Answer & { readonly text: string }>;
  set(option: string, value: string): Promise<void>;
}

type Case = (service: Endpoints) => Promise<void>;

/** Tests of the rows of a service: each has one that is answered well, and one that is not. */
export function testEndpoints<S extends Service>(
  name: S,
  env: Readonly<Record<string, string>>,
  prepare: (at: (file: string) => string) => Promise<void>,
  cases: Readonly<Record<(typeof ROWS)[S][number], { readonly good: Case; readonly bad: Case }>>,
): void {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let process: ServiceProcess;
  let differences: ReturnType<typeof differencesFrom>;
  const at = (file: string): string => join(directory.path, file);

  beforeAll(async () => {
    directory = await temporaryDirectory();
    await prepare(at);
    process = await startService({ cwd: directory.path, env: { SERVICE: name, DATA_DIR: at('data'), ...env } });
    differences = differencesFrom((await (await fetch(`${process.url}/openapi.json`)).json()) as OpenApi);
  });
  afterAll(async () => {
    await process?.stop();
    await directory.remove();
  });

  const service: Endpoints = {
    at,
    async ask(method, path, { query = {}, body, type = 'application/json' } = {}) {
      const url = new URL(process.url + path);
      for (const [key, values] of Object.entries(query)) for (const value of [values].flat()) url.searchParams.append(key, value);
      const content =
        body === undefined ? {} : { headers: { 'content-type': type }, body: typeof body === 'string' ? body : JSON.stringify(body) };
      const response = await fetch(url, { method, ...content });
      // The document has no methods that do not exist.
      if (response.status !== 405) expect(await differences(method, url.href, response)).toEqual([]);
      const text = await response.text();
      const isJson = /json/.test(response.headers.get('content-type') ?? '');
      return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : undefined, text };
    },
    async set(option, value) {
      const answer = await service.ask('PUT', '/updateConfig', { query: { configEntry: option, configValue: value } });
      expect(answer).toMatchObject({ status: 200, body: { configEntry: option } });
    },
  };

  describe(name, () => {
    for (const row of ROWS[name]) {
      const { good, bad } = cases[row as (typeof ROWS)[S][number]];
      test(`${row}: good`, () => good(service));
      test(`${row}: bad`, () => bad(service));
    }
  });
}

export const problem = (code: string, status = 400) => ({
  status,
  body: expect.objectContaining({ code, status, type: expect.any(String) }),
});

/** A row without parameters can only be asked with another method. */
const refusesMethods =
  (path: string): Case =>
  async ({ ask }) => {
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const answer = await ask(method, path);
      expect(answer).toMatchObject(problem('request/method', 405));
      expect(answer.headers.get('allow')).toContain('GET');
    }
  };

/** The rows that all services have. */
export const common = (service: Service, key: 'serviceTransformerConfig' | 'serviceWriterConfig', title: string) => ({
  'GET /config': {
    good: async ({ ask }: Endpoints) => {
      const { status, body } = await ask('GET', '/config');
      expect([status, Object.keys(body).sort()]).toEqual([200, ['applicationName', 'friendlyName', key, 'version'].sort()]);
      expect(body.applicationName).toBe(title);
    },
    bad: refusesMethods('/config'),
  },
  'GET /config?paths': {
    good: async ({ ask }: Endpoints) => {
      const { status, body } = await ask('GET', '/config', { query: { paths: 'kafka.topicNameDLQ,friendlyName' } });
      expect([status, JSON.stringify(body)]).toEqual([200, expect.stringContaining('dead_letter_queue')]);
      expect(body).not.toHaveProperty('version');
      expect(body).toHaveProperty('friendlyName');
      expect(JSON.stringify(body)).not.toContain('success_queue');
    },
    bad: async ({ ask }: Endpoints) => {
      const { status, body } = await ask('GET', '/config', { query: { paths: 'friendlyNam' } });
      expect([status, body.code, JSON.stringify(body)]).toEqual([400, 'config/unknown', expect.stringContaining('friendlyName')]);
    },
  },
  'PUT /updateConfig': {
    good: async ({ ask, set }: Endpoints) => {
      await set('friendlyName', `${service} of the tests`);
      expect((await ask('GET', '/config', { query: { paths: 'friendlyName' } })).body).toEqual({ friendlyName: `${service} of the tests` });
    },
    bad: async ({ ask }: Endpoints) => {
      const update = (query: Readonly<Record<string, string>>) => ask('PUT', '/updateConfig', { query });
      expect(await update({ configEntry: 'friendlyNam', configValue: 'x' })).toMatchObject(problem('config/unknown'));
      expect(await update({ configEntry: 'DRAIN_SECONDS', configValue: 'soon' })).toMatchObject(problem('config/invalid'));
      expect(await update({ configValue: 'x' })).toMatchObject(problem('request/invalid'));
      expect(await update({ configEntry: 'PORT', configValue: '1' })).toMatchObject({ status: 400 });
    },
  },
  'PUT /uploadConfigBackup': {
    good: async ({ ask, set, at }: Endpoints) => {
      await set('CONFIG_BACKUP', at('backup/config.json'));
      expect(await ask('PUT', '/uploadConfigBackup')).toMatchObject({
        status: 200,
        body: { location: expect.stringContaining('backup/config.json') },
      });
    },
    bad: async ({ ask, set, at }: Endpoints) => {
      const below = at('backup/config.json/is-no-directory.json');
      await set('CONFIG_BACKUP', below);
      const { status, body } = await ask('PUT', '/uploadConfigBackup');
      expect([status >= 400, body.detail]).toEqual([true, expect.stringContaining(below)]);
    },
  },
  'GET /license': {
    good: async ({ ask }: Endpoints) => {
      expect(await ask('GET', '/license')).toMatchObject({
        status: 200,
        body: {
          license: expect.any(String),
          licenseInformation: {
            registeredTo: expect.stringMatching(/^.+ - .+ - .+$/),
            expires: expect.stringMatching(/^\d{4}-\d{2}-\d{2} .*\d+ days remaining/),
            productName: expect.any(String),
          },
          validationStatus: 'LICENSE_VALID',
        },
      });
    },
    bad: refusesMethods('/license'),
  },
  'GET /restartKafka': {
    good: async ({ ask, set }: Endpoints) => {
      await set('KAFKA_BROKERS', '127.0.0.1:1');
      expect(await ask('GET', '/restartKafka')).toMatchObject({ status: 200, body: { kafka: 'off' } });
      expect(await ask('GET', '/restartKafka')).toMatchObject({ status: 200, body: { kafka: 'on' } });
    },
    bad: async ({ ask, set }: Endpoints) => {
      await set('KAFKA_BROKERS', '');
      const answer = await ask('GET', '/restartKafka');
      expect(answer).toMatchObject(problem('request/conflict', 409));
      expect(answer.body.hint).toContain('KAFKA_BROKERS');
    },
  },
});

/** The row of custom functions, for both transformers. */
export const customFunctions = {
  good: async ({ ask, set, at }: Endpoints): Promise<void> => {
    await set('CUSTOM_FUNCTION_TTL_URL', at('functions.ttl'));
    expect(await ask('GET', '/updateCustomFunctions')).toMatchObject({
      status: 200,
      body: { functions: ['http://example.org/functions#twice'], version: expect.any(String) },
    });
  },
  bad: async ({ ask, set, at }: Endpoints): Promise<void> => {
    await set('CUSTOM_FUNCTION_TTL_URL', at('nothing.ttl'));
    const answer = await ask('GET', '/updateCustomFunctions');
    expect(answer).toMatchObject(problem('functions/invalid'));
    expect(answer.body.detail).toContain('nothing.ttl');
  },
};

export const FUNCTIONS = {
  'functions.mjs': 'export function twice(text) { return text + text; }\n',
  'functions.ttl': `@prefix fno: <https://w3id.org/function/ontology#> . @prefix fnoi: <https://w3id.org/function/vocabulary/implementation#> .
@prefix fnom: <https://w3id.org/function/vocabulary/mapping#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix doap: <http://usefulinc.com/ns/doap#> . @prefix ex: <http://example.org/functions#> .
ex:twice a fno:Function ; fno:name "twice" ; fno:expects ( ex:text ) ; fno:returns ( ex:output ) .
ex:text a fno:Parameter ; fno:predicate ex:textOf ; fno:type xsd:string ; fno:required true .
ex:output a fno:Output ; fno:predicate ex:result ; fno:type xsd:string .
ex:mapping a fno:Mapping ; fno:function ex:twice ; fno:implementation ex:code ;
  fno:methodMapping [ a fnom:StringMethodMapping ; fnom:method-name "twice" ] .
ex:code a fnoi:JavaScriptImplementation ; doap:download-url <functions.mjs> .
`,
} as const;
