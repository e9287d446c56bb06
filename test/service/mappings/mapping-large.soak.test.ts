/** A service that checks a large mapping goes on answering. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fastest } from '../../support/fastest.ts';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { largestMapping, peopleMapping } from '../../support/service/inputs.ts';
import { type ServiceProcess, startService } from '../../support/service/process.ts';
import './mapping-large.test.ts';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: ServiceProcess | undefined;
beforeAll(async () => {
  directory = await temporaryDirectory();
});
afterAll(async () => {
  await service?.stop();
  await directory.remove();
});

test('the service answers others while it checks an upload of 10 MB', async () => {
  service = await startService({ cwd: directory.path, env: { QUEUE_URL: 'embedded:', SERVICE: 'semi-structured-transformer' } });
  const { url } = service;
  await fetch(`${url}/rml?fileName=warm.ttl`, {
    method: 'PUT',
    headers: { 'content-type': 'text/turtle' },
    body: peopleMapping('csv', 'people.csv'),
  });
  let uploads = 0;
  const measure = async (): Promise<number> => {
    let done = false;
    const upload = fetch(`${url}/rml?fileName=large-${++uploads}.ttl`, {
      method: 'PUT',
      headers: { 'content-type': 'text/turtle' },
      body: largestMapping(),
    }).finally(() => {
      done = true;
    });
    let longest = 0;
    while (!done) {
      const asked = performance.now();
      expect((await fetch(`${url}/health/live`)).status).toBe(200);
      longest = Math.max(longest, performance.now() - asked);
      await sleep(10);
    }
    expect((await upload).status).toBe(200);
    return longest;
  };
  expect(await fastest(1_500, measure)).toBeLessThan(1_500);
});
