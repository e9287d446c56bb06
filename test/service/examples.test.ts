/** The examples of docs/api.md that use curl, as they stand there: with curl, on the built service. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PROJECT_ROOT } from '../support/project-root.ts';
import { temporaryDirectory } from '../support/queues/backends.ts';
import { PEOPLE, peopleMapping } from '../support/service/inputs.ts';
import { type ServiceProcess, startService } from '../support/service/process.ts';

const execute = promisify(execFile);

/** Why curl cannot be used; undefined: it can. */
const missingCurl = ((): string | undefined => {
  try {
    execFileSync('curl', ['--version']);
    return undefined;
  } catch (error) {
    return `curl does not start: ${(error as Error).message}`;
  }
})();

describe(`examples of docs/api.md${missingCurl === undefined ? '' : ` (not tested: ${missingCurl})`}`, () => {
  const maybe = missingCurl === undefined ? test : test.skip;
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let service: ServiceProcess | undefined;

  beforeAll(async () => {
    directory = await temporaryDirectory();
    if (missingCurl !== undefined) return;
    const data = join(directory.path, 'data');
    await mkdir(data);
    await writeFile(join(data, 'people.csv'), PEOPLE.csv);
    await writeFile(join(data, 'people.ttl'), peopleMapping('csv', 'people.csv'));
    await writeFile(join(data, 'shop-terms.ttl'), '<http://example.com/Order> a <http://www.w3.org/2000/01/rdf-schema#Class> .\n');
    await writeFile(join(data, 'orders.json'), '[{"id": "C-16", "total": 3}, {"id": "C-17", "total": 5}]');
    await writeFile(join(data, 'graph.nq'), '<http://example.com/1> <http://example.com/name> "Ann" .\n');
    service = await startService({ cwd: directory.path, env: { DATA_DIR: join(directory.path, 'state') } });
  });
  afterAll(async () => {
    await service?.stop();
    await directory.remove();
  });

  /** The examples, with the address of this service and the files of this test. */
  async function examples(): Promise<readonly string[]> {
    const text = await readFile(join(PROJECT_ROOT, 'docs/api.md'), 'utf8');
    return [...text.matchAll(/^```sh\n(.*?)^```/gms)]
      .map(([, block]) => block as string)
      .filter((block) => block.includes('curl '))
      .map((block) =>
        block.replaceAll('http://127.0.0.1:8080', service?.url ?? '').replaceAll('file:///data/', `file://${directory.path}/data/`),
      );
  }

  maybe('each is answered well: runs with their report, an upload, a sample, single items, an ontology', async () => {
    const reports: unknown[] = [];
    for (const example of await examples()) {
      const { stdout } = await execute('sh', ['-c', example.replaceAll('curl ', "curl -sS -w '\\n%{http_code}' ")]);
      const [body = '', status] = stdout.split(/\n(?=\d{3}$)/);
      const { input, records, quads, rejectedRecords, items } = JSON.parse(body) as Readonly<Record<string, unknown>>;
      reports.push({ status, input, records, quads, rejectedRecords, items });
    }
    const of = (name: string): readonly string[] => [`file://${directory.path}/data/${name}`];
    expect(reports).toEqual([
      { status: '200', input: of('people.csv'), records: 2, quads: 2, rejectedRecords: 0 },
      { status: '200', input: of('people.csv'), records: 2, quads: 2, rejectedRecords: 0 },
      { status: '201' },
      { status: '200', records: 2 },
      { status: '200', items: [{ position: 1, values: ['C-17', '5'] }] },
      { status: '200' },
      { status: '200', input: of('graph.nq'), records: 1, quads: 1, rejectedRecords: 0 },
      // What the message of the run has written is not written again.
      {
        status: '200',
        input: [expect.stringMatching(/datasets\/people$/)],
        records: expect.any(Number),
        quads: expect.any(Number),
        rejectedRecords: 0,
      },
    ]);
  });

  maybe('curl shows a wrong one as a problem', async () => {
    const [first = ''] = await examples();
    const { stdout } = await execute('sh', ['-c', first.replace('curl ', 'curl -sS ').replace('"inputFileURL"', '"inputFileUrls"')]);
    expect(JSON.parse(stdout)).toMatchObject({ status: 400, code: 'request/invalid', hint: expect.any(String) });
  });
});
