/** A worker dies while it makes a preview: another one makes it, and the person sees nothing of it but the wait. */
import { afterAll, expect } from '@jest/globals';
import { STUDIO_API_TOKENS } from '../../../servers/studio/studio.ts';
import { startRedis, temporaryDirectory, uniquePrefix } from '../../../support/queues/backends.ts';
import { slowInput } from '../../../support/service/inputs.ts';
import { type ServiceProcess, startService } from '../../../support/service/process.ts';
import { useStudio } from '../support/browser.ts';

let startWorker: () => Promise<ServiceProcess>;

const studio = await useStudio(async () => {
  const directory = await temporaryDirectory();
  const redis = await startRedis();
  const env = { QUEUE_URL: redis.url, QUEUE_PREFIX: uniquePrefix(), API_TOKENS: STUDIO_API_TOKENS };
  const all: ServiceProcess[] = [];
  const start = async (role: string): Promise<ServiceProcess> => {
    const started = await startService({ cwd: directory.path, args: ['--role', role], env });
    all.push(started);
    return started;
  };
  startWorker = () => start('worker');
  const { url } = await start('api');
  return {
    url,
    directory: directory.path,
    async stop() {
      for (const one of all) one.kill('SIGKILL');
      await Promise.all(all.map(({ exited }) => exited));
      await redis.stop();
      await directory.remove();
    },
  };
});

const input = await slowInput(20);
afterAll(() => input.close());

studio.soakTest('a worker dies during a preview, and another one answers', async ({ page, prefix, ask, expectError }) => {
  // Where the other one takes long to start, the service says so, and is asked again.
  expectError(/status of 503.*studio\/(samples|previews)/);
  const first = await startWorker();
  const name = `${prefix}people.ttl`;
  const text = `@prefix rml: <http://w3id.org/rml/> .
<#Person> rml:logicalSource [ rml:source <${input.url}> ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "https://example.org/person/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate <https://example.org/name> ; rml:objectMap [ rml:reference "name" ] ] .
`;
  const saved = await ask(`/studio/mappings/${name}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', 'if-none-match': '*' },
    body: JSON.stringify({ text }),
  });
  expect(saved.status).toBe(201);
  await page.goto(`/studio/#/files/${name}`);
  const preview = page.getByRole('region', { name: 'Preview' });
  await input.asked;
  await preview.getByRole('button', { name: 'Stop' }).waitFor();
  first.kill('SIGKILL');
  await first.exited;
  const askedBefore = input.count();
  await startWorker();
  input.release();
  await preview.getByText('20 statements of 20 records').waitFor();
  expect(input.count()).toBeGreaterThan(askedBefore);
  expect(await preview.getByRole('alert').count()).toBe(0);
});
