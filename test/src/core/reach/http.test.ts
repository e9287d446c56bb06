/** Requests to servers that close the connection before they have read the body. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { describeConnectionError, HttpClient } from '../../../../src/core/reach/http.ts';

/**
 * In a separate process: in this one, the server could not close while the client writes. Says on standard output where it listens;
 * reads the head of a request, writes the text that the path names, and closes with most of the body unread.
 */
const SERVER = `
const server = require('node:net').createServer((socket) => {
  socket.on('error', () => {});
  socket.once('data', (bytes) => {
    const [, answer] = /^POST \\/(\\S*)/.exec(String(bytes));
    socket.pause();
    socket.write(decodeURIComponent(answer), () => setTimeout(() => socket.resetAndDestroy(), 1));
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

const never = new AbortController().signal;
/** More than the buffers of a connection hold. */
const BODY = Buffer.alloc(16 * 2 ** 20, 'x');
const TIMES = 60;

let server: ChildProcess;
let origin: string;
const client = new HttpClient({ connectMs: 5_000, answerMs: 30_000 });

beforeAll(async () => {
  server = spawn(process.execPath, ['-e', SERVER], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = (await once(server.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  origin = `http://127.0.0.1:${String(port).trim()}`;
});
afterAll(async () => {
  await client.close();
  server.kill();
  await once(server, 'close');
});

describe('a server that closes in the middle of a large body', () => {
  const send = (answer: string): Promise<unknown> =>
    client.send({ method: 'POST', url: `${origin}/${encodeURIComponent(answer)}`, headers: {}, body: BODY, alone: true }, never).then(
      async ({ status, drop }) => {
        await drop();
        return status;
      },
      (error) => describeConnectionError(error).reason,
    );
  const all = async (answer: string): Promise<readonly unknown[]> => {
    const outcomes = new Set<unknown>();
    for (let i = 0; i < TIMES; i++) outcomes.add(await send(answer));
    return [...outcomes];
  };

  test.each([401, 413])(
    'is heard each time when it has answered %s',
    async (status) => {
      expect(await all(`HTTP/1.1 ${status} No\r\ncontent-length: 3\r\n\r\nno\n`)).toEqual([status]);
    },
    60_000,
  );

  test.each([
    ['nothing', ''],
    ['half a head', 'HTTP/1.1 401 No\r\ncontent-le'],
  ])(
    'has broken the connection when it has answered %s',
    async (_, answer) => {
      const outcomes = await all(answer);
      expect(outcomes.length).toBeGreaterThan(0);
      for (const outcome of outcomes) expect(['the connection broke', 'the server closed the connection']).toContain(outcome);
    },
    60_000,
  );
});

describe('a server that closes behind an answer that is not read yet', () => {
  // It arrives in one piece, and is more than is read ahead.
  const TEXT = 'a line of the answer\n'.repeat(1_500);
  const CHUNKED = `${TEXT.length.toString(16)}\r\n${TEXT}\r\n0\r\n\r\n`;
  let closing: Server;
  let address: URL;
  let answer = '';

  beforeAll(async () => {
    closing = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(answer));
    });
    closing.listen(0, '127.0.0.1');
    await once(closing, 'listening');
    address = new URL(`http://127.0.0.1:${(closing.address() as AddressInfo).port}/`);
  });
  afterAll(() => void closing.close());

  const readLate = async (lines: string, body: string): Promise<string> => {
    answer = `HTTP/1.1 200 OK\r\nconnection: close\r\n${lines}\r\n${body}`;
    const { body: stream } = await client.fetch(address, {}, undefined, never);
    await new Promise((resolve) => setTimeout(resolve, 200));
    let text = '';
    for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) text += Buffer.from(chunk).toString('latin1');
    return text;
  };

  test.each([
    ['of a told length', `content-length: ${TEXT.length}\r\n`, TEXT],
    ['in chunks', 'transfer-encoding: chunked\r\n', CHUNKED],
    ['up to the end of the connection', '', TEXT],
  ])('is read to the end, %s', async (_, lines, body) => {
    for (let i = 0; i < 5; i++) expect((await readLate(lines, body)).length).toBe(TEXT.length);
  });

  test.each([
    ['of a told length', `content-length: ${TEXT.length + 1}\r\n`, TEXT],
    ['in chunks', 'transfer-encoding: chunked\r\n', CHUNKED.slice(0, -7)],
  ])('has broken the connection when something is missing, %s', async (_, lines, body) => {
    for (let i = 0; i < 5; i++) await expect(readLate(lines, body)).rejects.toThrow(/terminated|mismatch|closed/i);
  });

  test('is there when the answer is not, after a garbage collection', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    answer = `HTTP/1.1 200 OK\r\ncontent-length: ${TEXT.length}\r\n\r\n${TEXT}`;
    const { body } = await client.fetch(address, {}, undefined, never);
    for (let i = 0; i < 5; i++) {
      collect();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    let length = 0;
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) length += chunk.length;
    expect(length).toBe(TEXT.length);
  });

  test('may be left unread', async () => {
    answer = `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${TEXT.length}\r\n\r\n${TEXT}`;
    const ending = new AbortController();
    const { status } = await client.fetch(address, {}, undefined, ending.signal);
    await new Promise((resolve) => setTimeout(resolve, 200));
    ending.abort();
    expect([status, await readLate(`content-length: ${TEXT.length}\r\n`, TEXT)]).toEqual([200, TEXT]);
  });
});
