/** A user of Redis with the rights that docs/operations.md gives it: a service runs with them, and they reach nothing else. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { missingRedis } from '../servers/queues/redis.ts';
import { closeAfterEach } from '../support/closing.ts';
import { PROJECT_ROOT } from '../support/project-root.ts';
import { startRedis } from '../support/queues/backends.ts';
import { PEOPLE, peopleMapping } from '../support/service/inputs.ts';
import { ask, postJson, startService } from '../support/service/process.ts';

const why = missingRedis === undefined ? '' : ` (skipped: ${missingRedis})`;
const { closes, directory } = closeAfterEach();

/** The words after the name of the user. */
async function documentedRights(password: string): Promise<readonly string[]> {
  const page = await readFile(join(PROJECT_ROOT, 'docs/operations.md'), 'utf8');
  const [, rights] = /^user quadmill (.+)$/m.exec(page) ?? [];
  if (rights === undefined) throw new Error('docs/operations.md has no line of an ACL file');
  return rights.replace('>PASSWORD', `>${password}`).split(' ');
}

(missingRedis === undefined ? describe : describe.skip)(`a user of Redis with the documented rights${why}`, () => {
  test('runs a service, is refused no command, and reaches no other key and no command of administrators', async () => {
    const server = await startRedis();
    closes(() => server.stop());
    const admin = new Redis(server.url);
    closes(() => admin.disconnect());
    await admin.call('ACL', 'SETUSER', 'quadmill', ...(await documentedRights('s3cret')));
    const url = `redis://quadmill:s3cret@127.0.0.1:${server.port}`;

    const cwd = await directory();
    await writeFile(join(cwd, 'people.csv'), PEOPLE.csv);
    await writeFile(join(cwd, 'people.ttl'), peopleMapping('csv', 'people.csv'));
    const service = await startService({ cwd, env: { QUEUE_URL: url, SERVICE: 'semi-structured-transformer' } });
    closes(async () => {
      service.kill('SIGKILL');
      await service.exited;
    });
    const run = await postJson(`${service.url}/process`, { inputFileURL: join(cwd, 'people.csv'), mappingURL: join(cwd, 'people.ttl') });
    expect(run.status).toBe(200);
    expect((await ask(`${service.url}/runs`)).status).toBe(200);
    expect((await ask(`${service.url}/health/ready`)).status).toBe(200);
    expect(await admin.call('ACL', 'LOG')).toEqual([]);
    expect(await admin.keys('*')).toEqual(expect.arrayContaining([expect.stringMatching(/^quadmill:/)]));

    const user = new Redis(url);
    closes(() => user.disconnect());
    await expect(user.set('other:key', '1')).rejects.toThrow(/NOPERM/);
    for (const words of [['FLUSHALL'], ['KEYS', '*'], ['CONFIG', 'GET', '*'], ['SHUTDOWN'], ['ACL', 'LIST'], ['SCAN', '0']] as const) {
      const [command, ...rest] = words;
      await expect(user.call(command, ...rest)).rejects.toThrow(/NOPERM/);
    }
  }, 60_000);
});
