/** Streamed answers: slow clients, clients that close the connection, answers that fail. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { type StreamEnd, sendStream } from '../../api/stream.ts';
import { Fault } from '../../src/core/fault.ts';

const CHUNK = Buffer.alloc(2 ** 20, 'x');
let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Sends chunks from a server to a client; returns both ends. */
async function ask(chunks: AsyncIterable<Uint8Array>, stallMs?: number): Promise<{ answer: IncomingMessage; end: Promise<StreamEnd> }> {
  let ended: (end: StreamEnd) => void = () => undefined;
  const end = new Promise<StreamEnd>((resolve) => {
    ended = resolve;
  });
  server = createServer((_, response) => {
    response.setHeader('Trailer', 'X-Count');
    void sendStream(response, chunks, () => ({ 'X-Count': '3' }), stallMs).then(ended);
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const asked = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false }).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return { answer, end };
}

/** Chunks, with the number requested and whether they were returned early or read to the end. */
function source(count: number, then?: Error) {
  const seen = { made: 0, closed: false };
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      for (; seen.made < count; seen.made++) yield CHUNK;
      if (then !== undefined) throw then;
    } finally {
      seen.closed = true;
    }
  }
  return { seen, chunks: chunks() };
}

async function bytesOf(answer: IncomingMessage): Promise<number> {
  let length = 0;
  for await (const chunk of answer) length += (chunk as Buffer).length;
  return length;
}

test('a client that reads gets everything, and the trailers', async () => {
  const { chunks, seen } = source(3);
  const { answer, end } = await ask(chunks);
  expect(await bytesOf(answer)).toBe(3 * CHUNK.length);
  expect(answer.trailers).toEqual({ 'x-count': '3' });
  expect(await end).toEqual({ kind: 'sent' });
  expect(seen.closed).toBe(true);
});

test('no more is produced than a slow client reads', async () => {
  const { chunks, seen } = source(100);
  const { answer, end } = await ask(chunks);
  await sleep(300);
  expect(seen.made).toBeLessThan(20);
  expect(await bytesOf(answer)).toBe(100 * CHUNK.length);
  expect(await end).toEqual({ kind: 'sent' });
});

test('a client that leaves ends the making', async () => {
  const { chunks, seen } = source(1000);
  const { answer, end } = await ask(chunks);
  answer.destroy();
  expect(await end).toEqual({ kind: 'closed' });
  expect(seen.closed).toBe(true);
});

test('a client that reads nothing for too long is disconnected', async () => {
  const { chunks, seen } = source(1000);
  const { answer, end } = await ask(chunks, 200);
  answer.on('error', () => undefined);
  expect(await end).toEqual({ kind: 'closed' });
  expect(seen.closed).toBe(true);
});

test('an answer that breaks is cut off, and the client can tell', async () => {
  const fault = new Fault('database/lost', 'The connection to the database broke');
  const { chunks } = source(2, fault);
  const { answer, end } = await ask(chunks);
  await expect(bytesOf(answer)).rejects.toThrow('aborted');
  expect(answer.complete).toBe(false);
  expect(await end).toEqual({ kind: 'failed', fault });
});
