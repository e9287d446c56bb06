/** The endpoints of the SQL transformer, over a database file. */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect } from '@jest/globals';
import { writeSqlite } from '../../servers/databases/sqlite.ts';
import { common, customFunctions, FUNCTIONS, problem, testEndpoints } from './endpoints.ts';

const SERVICE = 'sql-transformer';
const MAPPING = `@prefix rr: <http://www.w3.org/ns/r2rml#> .
<#People> rr:logicalTable [ rr:tableName "person" ] ; rr:subjectMap [ rr:template "http://example.com/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate <http://example.com/name> ; rr:objectMap [ rr:column "name" ] ] .
`;
const MASTER = { body: MAPPING, type: 'text/turtle' };
const base64 = (text: string): string => Buffer.from(text).toString('base64');

testEndpoints(
  SERVICE,
  { RUN_ATTEMPTS: '1' },
  async (at) => {
    await writeSqlite(
      at('shop.db'),
      "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO person VALUES (1, 'Ann'), (2, 'Bob, \"the second\"')",
    );
    for (const [name, text] of Object.entries(FUNCTIONS)) await writeFile(at(name), text);
  },
  {
    ...common(SERVICE, 'serviceTransformerConfig', 'SQL-Transformer'),
    'GET /process': {
      good: async ({ ask, set, at }) => {
        await set('JDBC_URL', `jdbc:sqlite:${at('shop.db')}`);
        expect((await ask('PUT', '/rml', MASTER)).status).toBe(200);
        const { status, body } = await ask('GET', '/process');
        expect([status, body]).toEqual([
          200,
          expect.objectContaining({
            successfulIterations: expect.any(Number),
            failedIterations: 0,
            outputFileLocations: [expect.stringMatching(/^file:.*SQL-Transformer-.+\.nq$/)],
            mappingFiles: [expect.any(String)],
            processingTime: expect.any(Number),
            records: 2,
            quads: 2,
          }),
        ]);
        expect(body).not.toHaveProperty('input');
        expect(await readFile(fileURLToPath(body.outputFileLocations[0]), 'utf8')).toContain('<http://example.com/name> "Ann" .\n');
      },
      bad: async ({ ask, set, at }) => {
        await set('JDBC_URL', `jdbc:sqlite:${at('nothing.db')}`);
        const { status, body } = await ask('GET', '/process');
        expect([status, body]).toEqual([
          400,
          expect.objectContaining({
            error: expect.stringMatching(/^Record could not be processed due to: .+\.$/s),
            type: 'SQL-Transformer',
            version: expect.any(String),
          }),
        ]);
      },
    },
    'GET /testDBConnection': {
      good: async ({ ask, at }) => {
        for (const jdbc of [undefined, 'sqlite', 'org.sqlite.JDBC']) {
          const query = { url: `jdbc:sqlite:${at('shop.db')}`, ...(jdbc === undefined ? {} : { jdbc }) };
          expect(await ask('GET', '/testDBConnection', { query })).toMatchObject({
            status: 200,
            body: { success: true, product: 'sqlite', version: expect.any(String), milliseconds: expect.any(Number) },
          });
        }
      },
      bad: async ({ ask, at }) => {
        const connect = (query: Readonly<Record<string, string | readonly string[]>>) => ask('GET', '/testDBConnection', { query });
        const missing = await connect({ url: `jdbc:sqlite:${at('nothing.db')}` });
        expect([missing.status, missing.body.error]).toEqual([400, expect.stringMatching(/^Record could not be processed due to: .+\.$/s)]);
        const away = await connect({ url: 'jdbc:postgresql://127.0.0.1:1/shop', user: 'ann', password: base64('p') });
        expect([away.status, away.body.error]).toEqual([400, expect.stringContaining('127.0.0.1:1')]);
        const url = 'jdbc:postgresql://127.0.0.1:1/shop';
        expect(await connect({})).toMatchObject(problem('request/invalid'));
        expect(await connect({ url, jdbc: 'mysql' })).toMatchObject({ status: 400 });
        expect(await connect({ url, password: 'no base64!' })).toMatchObject(problem('request/invalid'));
        expect(await connect({ url, jdbcParamKey: ['a', 'b'], jdbcParamValue: '1' })).toMatchObject(problem('request/invalid'));
        const unknown = await connect({ url: 'jdbc:db2://host/db' });
        expect([unknown.status, JSON.stringify(unknown.body)]).toEqual([400, expect.stringContaining('postgresql')]);
      },
    },
    'GET /queryDatabase': {
      good: async ({ ask, at }) => {
        const query = { url: `jdbc:sqlite:${at('shop.db')}`, query: 'SELECT id, name FROM person ORDER BY id' };
        expect(await ask('GET', '/queryDatabase', { query })).toMatchObject({
          status: 200,
          body: {
            columns: [
              { name: 'id', type: expect.any(String) },
              { name: 'name', type: expect.any(String) },
            ],
            rows: [expect.objectContaining({ name: 'Ann' }), expect.objectContaining({ name: 'Bob, "the second"' })],
            rowCount: 2,
            truncated: false,
          },
        });
        const csv = await ask('GET', '/queryDatabase', { query: { ...query, returnCSV: 'true' } });
        expect([csv.status, csv.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/csv/)]);
        expect(csv.text).toBe('id,name\r\n1,Ann\r\n2,"Bob, ""the second"""\r\n');
      },
      bad: async ({ ask, at }) => {
        const url = `jdbc:sqlite:${at('shop.db')}`;
        const query = (sql: string) => ask('GET', '/queryDatabase', { query: { url, query: sql } });
        for (const sql of ['SELECT nothing FROM person', 'DELETE FROM person', 'SELECT 1; SELECT 2']) {
          const { status, body } = await query(sql);
          expect([sql, status, body.error]).toEqual([sql, 400, expect.stringMatching(/^Record could not be processed due to: .+\.$/s)]);
        }
        expect((await query('SELECT count(*) AS n FROM person')).body.rows).toEqual([{ n: expect.anything() }]);
        expect(await ask('GET', '/queryDatabase', { query: { url } })).toMatchObject(problem('request/invalid'));
        expect(await ask('GET', '/queryDatabase', { query: { url, query: 'SELECT 1', returnCSV: 'perhaps' } })).toMatchObject(
          problem('request/invalid'),
        );
      },
    },
    'GET /rml': {
      good: async ({ ask }) => {
        await ask('PUT', '/rml', MASTER);
        const got = await ask('GET', '/rml');
        expect([got.status, got.headers.get('content-type'), got.text]).toEqual([200, expect.stringMatching(/^text\/turtle/), MAPPING]);
      },
      bad: async ({ ask, set }) => {
        await set('MASTER_MAPPING_FILE', 'nothing.ttl');
        expect(await ask('GET', '/rml')).toMatchObject(problem('request/not-found', 404));
        await set('MASTER_MAPPING_FILE', 'master.ttl');
      },
    },
    'PUT /rml': {
      good: async ({ ask, set, at }) => {
        await set('JDBC_URL', `jdbc:sqlite:${at('shop.db')}`);
        for (const name of ['name', 'label']) {
          const put = await ask('PUT', '/rml', { ...MASTER, body: MAPPING.replace('/name>', `/${name}>`) });
          expect([put.status, put.text]).toEqual([200, '']);
          const { body } = await ask('GET', '/process');
          expect(await readFile(fileURLToPath(body.outputFileLocations[0]), 'utf8')).toContain(`<http://example.com/${name}> "Ann"`);
        }
      },
      bad: async ({ ask }) => {
        await ask('PUT', '/rml', MASTER);
        const broken = await ask('PUT', '/rml', { ...MASTER, body: '<#People> rr:logicalTable' });
        expect([broken.status, JSON.stringify(broken.body)]).toEqual([400, expect.stringMatching(/"line":1/)]);
        expect(await ask('PUT', '/rml', { body: MAPPING, type: 'application/json' })).toMatchObject(problem('request/media-type', 415));
        expect((await ask('GET', '/rml')).text).toBe(MAPPING);
      },
    },
    'GET /updateCustomFunctions': customFunctions,
    'PUT /updateCron': {
      good: async ({ ask }) => {
        for (const cronValue of ['0 0 2 * * ?', '0 2 * * *']) {
          expect(await ask('PUT', '/updateCron', { query: { cronValue } })).toMatchObject({
            status: 200,
            body: { cron: cronValue, timezone: expect.any(String), next: [expect.any(String), expect.any(String), expect.any(String)] },
          });
        }
        expect(await ask('PUT', '/updateCron')).toMatchObject({ status: 200, body: { cron: null } });
      },
      bad: async ({ ask }) => {
        await ask('PUT', '/updateCron', { query: { cronValue: '0 0 2 * * ?' } });
        expect(await ask('PUT', '/updateCron', { query: { cronValue: 'every day' } })).toMatchObject({ status: 400 });
        // The old schedule stays.
        expect(JSON.stringify((await ask('GET', '/config')).body)).toContain('0 0 2 * * ?');
        await ask('PUT', '/updateCron');
      },
    },
  },
);
