/** The private redis-server ends with its process, however that ends, and the next one has its data. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { processExists } from '../../../src/storage/local/lock-owner.ts';
import { missingRedis } from '../../servers/queues/redis.ts';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { ask, startService } from '../../support/service/process.ts';

(missingRedis === undefined ? test : test.skip).each(['SIGKILL', 'SIGTERM'] as const)('ends with its process, by %s', async (signal) => {
  const directory = await temporaryDirectory();
  const start = () => startService({ cwd: directory.path, env: { DATA_DIR: join(directory.path, 'data') } });
  const config = (url: string, rest: string) => `${url}/semi-structured-transformer/${rest}`;
  let service = await start();
  try {
    const put = await ask(config(service.url, 'updateConfig?configEntry=FRIENDLY_NAME&configValue=Mill'), { method: 'PUT' });
    expect(put.status).toBe(200);
    const pid = Number(await readFile(join(directory.path, 'data/queue/redis/redis.pid'), 'utf8'));
    expect(processExists(pid)).toBe(true);
    // What is written is on the disk within a second.
    await sleep(1_500);
    service.kill(signal);
    await service.exited;
    for (let i = 0; i < 400 && processExists(pid); i++) await sleep(25);
    expect(processExists(pid)).toBe(false);
    service = await start();
    expect((await ask(config(service.url, 'config?paths=FRIENDLY_NAME'))).body.friendlyName).toBe('Mill');
  } finally {
    await service.stop();
    await directory.remove();
  }
});
