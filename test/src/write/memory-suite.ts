/** Many statements in the memory that a few need. The store is a sink that counts lines: what is measured is the writer. */

import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { WriteReport, WriteRequest } from '../../../src/write/request.ts';
import { smallHeap } from '../../support/node/small-heap.ts';
import { built } from '../../support/project-root.ts';
import { workspace } from './writing.ts';

const SCRIPT = fileURLToPath(built('test/src/write/writer.js'));
const TIMEOUT_MS = 300_000;
const HEAP_MB = 128;

const space = workspace();
let server: Server;
let taken = 0;

const DATA = 'INSERT DATA';
const VALUE = '"value ';

/** Counts the values, of which every statement has one, in N-Quads as well as behind an update's INSERT DATA. */
beforeAll(async () => {
  server = createServer(async (request, response) => {
    let before = '';
    let isData = request.headers['content-type'] === 'application/n-quads';
    for await (const chunk of request) {
      let text: string = before + (chunk as Buffer).toString('latin1');
      const start = isData ? 0 : text.indexOf(DATA);
      if (start >= 0) {
        isData = true;
        text = text.slice(start);
        taken += text.split(VALUE).length - 1;
      }
      // Less than what is looked for: it may go on in the next chunk.
      before = text.slice(1 - (isData ? VALUE : DATA).length);
    }
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterAll(() => {
  server.close();
  server.closeAllConnections();
  space.remove();
});

async function write(count: number, mode: Partial<WriteRequest>): Promise<{ report: WriteReport; peakMemoryBytes: number }> {
  const file = join(space.directory, 'in', `${count}.nq`);
  const lines = function* (): Generator<string> {
    for (let i = 0; i < count; i++) {
      // Subjects come back: the second half says more about those of the first.
      yield `<http://example.com/resource/${(i * 7919) % (count / 4)}> <http://example.com/property/${i % 8}> "value ${i} with some text" .\n`;
    }
  };
  await mkdir(join(space.directory, 'in'), { recursive: true });
  await pipeline(Readable.from(lines()), createWriteStream(file));
  const request: WriteRequest = {
    ...space.request([file], { memoryBudgetBytes: 32 * 2 ** 20, ...mode }),
    target: {
      type: 'fuseki',
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/ds`,
      username: undefined,
      password: undefined,
      ca: undefined,
      requestSeconds: 60,
      connectSeconds: 10,
      database: undefined,
      propertyGraph: { prefixes: {}, keepLanguage: false },
    },
  };
  const path = join(space.directory, `${request.runId}.json`);
  await writeFile(path, JSON.stringify(request));
  const child = spawn(process.execPath, [...smallHeap(HEAP_MB), SCRIPT, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  await new Promise((resolve) => child.once('close', resolve));
  return JSON.parse(out.trim().split('\n').at(-1) as string);
}

type Mode = readonly [name: string, mode: Partial<WriteRequest>];

/** Both numbers of statements are written; what the larger one needs more is bounded. */
export function boundedMemory(modes: readonly Mode[], few: number, many: number): void {
  test.each(modes)(
    `${many} statements with a heap of ${HEAP_MB} MB: %s`,
    async (_, mode) => {
      const small = await write(few, mode);
      taken = 0;
      const large = await write(many, mode);
      expect(large.report).toMatchObject({ statements: many, quadsWritten: many, rejected: 0 });
      expect(taken).toBe(many);
      expect(large.peakMemoryBytes - small.peakMemoryBytes).toBeLessThan(60 * 2 ** 20);
      expect(large.peakMemoryBytes).toBeLessThan(250 * 2 ** 20);
    },
    TIMEOUT_MS,
  );
}
