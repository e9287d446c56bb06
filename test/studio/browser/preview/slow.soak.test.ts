/** Inputs that come slowly: the preview shows what has come, says which of them is slow, and has fewer records at once. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from '@jest/globals';
import { STUDIO_API_TOKENS } from '../../../servers/studio/studio.ts';
import { temporaryDirectory } from '../../../support/queues/backends.ts';
import { startService } from '../../../support/service/process.ts';
import { expectAccessible, useStudio } from '../support/browser.ts';
import { row } from '../support/shop.ts';

// Questions are answered one after the other: others would wait for these.
const studio = await useStudio(async () => {
  const directory = await temporaryDirectory();
  const service = await startService({ cwd: directory.path, env: { API_TOKENS: STUDIO_API_TOKENS } });
  return {
    url: service.url,
    directory: directory.path,
    async stop() {
      await service.stop();
      await directory.remove();
    },
  };
});

/** Gives thirty records, and never ends. */
let slow: Server;
beforeAll(async () => {
  const name = `Ann${' Lee'.repeat(500)}`;
  const people = Array.from({ length: 30 }, (_, i) => JSON.stringify({ id: i + 1, name })).join(',');
  slow = createServer((_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).write(`[${people},`));
  await new Promise<void>((done) => slow.listen(0, '127.0.0.1', done));
});
afterAll(() => {
  slow.closeAllConnections();
  slow.close();
});

studio.soakTest('an input that never ends is shown as far as it has come, and fewer records are mapped at once', async (visit) => {
  const { page, prefix, saveMapping } = visit;
  const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/people.json`;
  const text = `@prefix rml: <http://w3id.org/rml/> .
<#Person> rml:logicalSource [ rml:source [ a rml:FilePath ; rml:path "${url}" ] ; rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]" ] ;
  rml:subjectMap [ rml:template "https://example.org/{$.id}" ; rml:class <https://example.org/Person> ] .
`;
  await saveMapping(`${prefix}slow.ttl`, text);
  await page.goto(`/studio/#/files/${prefix}slow.ttl`);
  await page.getByText('30 statements of the first 30 records; there was no time for more').waitFor();
  await row(page, /^id, int, 1/).waitFor();
  await page.getByRole('button', { name: 'Problems (1)' }).click();
  await page.getByText('people.json is slow: only what came in time was mapped.').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Slow: map 10 records' }).click();
  await page.getByText('10 statements of the first 10 records', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Slow: map' }).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Map 100 records again' }).click();
  await page.getByText('30 statements of the first 30 records; there was no time for more').waitFor();
});
