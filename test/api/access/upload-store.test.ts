/** Uploads at the same time reserve their room in the order in which they ask. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { storeUpload } from '../../../api/routes/studio/upload-store.ts';
import { Fault } from '../../../src/core/fault.ts';

const LIMITS = { fileBytes: 1000, quotaBytes: 100 };

let directory: string;
let server: Server;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-uploads-'));
  server = createServer((asked, response) => {
    storeUpload(directory, (asked.url as string).slice(1), asked, LIMITS).then(
      ({ bytes }) => response.end(String(bytes)),
      (error: unknown) => response.end(Fault.of(error).code),
    );
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await rm(directory, { recursive: true });
});

interface Upload {
  readonly answer: Promise<string>;
  send(bytes: number): void;
  end(): void;
}

/** @param announced undefined: it comes in chunks, and their sum is unknown */
function upload(name: string, announced?: number): Upload {
  const { port } = server.address() as AddressInfo;
  const length = announced === undefined ? {} : { 'content-length': announced };
  const sent = request({ port, method: 'POST', path: `/${name}`, headers: length });
  const answer = new Promise<string>((resolve) => {
    sent.on('response', async (response) => {
      let text = '';
      for await (const part of response) text += String(part);
      resolve(text);
    });
    sent.on('error', (error) => resolve(error.message));
  });
  sent.flushHeaders();
  return { answer, send: (bytes) => void sent.write('x'.repeat(bytes)), end: () => void sent.end() };
}

const under = async (count: number): Promise<void> => {
  while ((await readdir(directory)).filter((name) => name.endsWith('.part')).length < count) await sleep(5);
};

test('one that has announced its size has its room, and a later one is refused at once', async () => {
  const first = upload('first', 60);
  await under(1);
  const second = upload('second', 60);
  expect(await second.answer).toBe('request/no-room');
  const third = upload('third', 40);
  await under(2);
  third.send(40);
  third.end();
  expect(await third.answer).toBe('40');
  first.send(60);
  first.end();
  expect(await first.answer).toBe('60');
  expect((await readdir(directory)).sort()).toEqual(['first', 'third']);
});

test('one that comes in chunks takes what those before it leave', async () => {
  const first = upload('first', 60);
  await under(1);
  const fits = upload('fits');
  fits.send(20);
  fits.send(20);
  fits.end();
  expect(await fits.answer).toBe('40');
  const more = upload('more');
  more.send(1);
  more.end();
  expect(await more.answer).toBe('request/no-room');
  first.send(60);
  first.end();
  expect(await first.answer).toBe('60');
});

test('what was reserved for a broken upload is free again', async () => {
  const { port } = server.address() as AddressInfo;
  const broken = request({ port, method: 'POST', path: '/broken', headers: { 'content-length': 90 } });
  broken.on('error', () => undefined);
  broken.write('x');
  await under(1);
  broken.destroy();
  while ((await readdir(directory)).length > 0) await sleep(5);
  for (let i = 0; ; i++) {
    const next = upload(`next-${i}`, 90);
    next.send(90);
    next.end();
    if ((await next.answer) === '90') break;
    expect(i).toBeLessThan(100);
  }
});

test('of many at the same time, as many as fit are stored', async () => {
  const all = Array.from({ length: 8 }, (_, i) => upload(`f${i}`, 30));
  for (const one of all) {
    one.send(30);
    one.end();
  }
  const answers = await Promise.all(all.map(({ answer }) => answer));
  expect(answers.filter((answer) => answer === '30')).toHaveLength(3);
});
