/** The loaders of real stores: what they have afterwards is what the files say. BULK_STATEMENTS makes it more. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { executeBulkWrite } from '../../../src/bulk/bulk.ts';
import { jenaProgram, missingFuseki } from '../../servers/stores/fuseki.ts';
import { missingVirtuoso, startVirtuoso, VIRTUOSO_USER } from '../../servers/stores/virtuoso.ts';
import { bulkRequest, statements } from './requests.ts';

const COUNT = Number(process.env.BULK_STATEMENTS ?? 20_000);
const LIMIT_MS = 600_000;

let directory: string;
let input: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-bulk-'));
  input = join(directory, 'graph.nq');
  await writeFile(input, `${statements(COUNT).join('\n')}\n`);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const hooks = { signal: new AbortController().signal };
const noFuseki = await missingFuseki();
const noVirtuoso = missingVirtuoso();
const testIf = (missing: string | undefined) => (missing === undefined ? test : test.skip);
const named = (name: string, missing: string | undefined): string => (missing === undefined ? name : `${name} (not tested: ${missing})`);

testIf(noFuseki)(
  named('TDB2 of Fuseki, twice', noFuseki),
  async () => {
    const request = bulkRequest(directory, 'fuseki', 'tdb2', [input], { loader: await jenaProgram('tdb2.tdbloader') });
    for (let times = 0; times < 2; times++) {
      expect(await executeBulkWrite(request, hooks)).toMatchObject({ quadsWritten: COUNT, rejected: 0 });
      const [java = '', ...args] = await jenaProgram('tdb2.tdbdump');
      const { stdout } = await promisify(execFile)(java, [...args, '--loc', join(directory, 'tdb2')], { maxBuffer: 2 ** 30 });
      expect(stdout.trim().split('\n').sort()).toEqual([...statements(COUNT)].sort());
    }
  },
  LIMIT_MS,
);

testIf(noVirtuoso)(
  named('Virtuoso', noVirtuoso),
  async () => {
    const server = await startVirtuoso();
    if ('skip' in server) throw new Error(server.skip);
    try {
      const more = { place: server.directory, loader: ['isql-vt'] };
      const request = bulkRequest(directory, 'virtuoso', server.sql, [input], more, VIRTUOSO_USER);
      expect(await executeBulkWrite(request, hooks)).toMatchObject({ quadsWritten: COUNT, rejected: 0 });
      for (const [graph, rest] of [
        ['virt:DEFAULT', 0],
        ['http://example.com/g1', 1],
        ['http://example.com/g2', 2],
      ] as const) {
        const query = `SELECT (COUNT(*) AS ?n) WHERE { GRAPH <${graph}> { ?s ?p ?o } }`;
        const answer = await fetch(`${server.origin}/sparql?query=${encodeURIComponent(query)}&format=text/csv`);
        expect((await answer.text()).trim().split('\n').at(-1)).toBe(String(statements(COUNT).filter((_, i) => i % 3 === rest).length));
      }
      const wrong = bulkRequest(directory, 'virtuoso', server.sql, [input], more, { ...VIRTUOSO_USER, password: 'wrong' });
      await expect(executeBulkWrite(wrong, hooks)).rejects.toMatchObject({
        code: 'target/refused',
        message: expect.stringContaining('login'),
      });
    } finally {
      await server.stop();
    }
  },
  LIMIT_MS,
);
