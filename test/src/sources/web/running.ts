/** Runs over sources on the web, and a server that answers as a test wants. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { Fault } from '../../../../src/core/fault.ts';
import type { RunReport, RunRequest } from '../../../../src/run/request.ts';
import { executeRun } from '../../../../src/run/run.ts';

export interface Runs {
  readonly directory: string;
  /** The path of a file with this text. */
  write(name: string, text: string): string;
  /** Lines of N-Quads, sorted. */
  run(
    mapping: string,
    more?: Partial<RunRequest>,
    signal?: AbortSignal,
  ): Promise<{ readonly lines: readonly string[]; readonly report: RunReport }>;
  /** The fault that ends the run. */
  faultOf(mapping: string, more?: Partial<RunRequest>, signal?: AbortSignal): Promise<Fault>;
  remove(): void;
}

export function makeRuns(): Runs {
  const directory = mkdtempSync(join(tmpdir(), 'quadmill-web-'));
  const write = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
  const run: Runs['run'] = async (mapping, more = {}, signal) => {
    const parts: string[] = [];
    const sink = { write: (lines: string) => void parts.push(lines), commit: async () => [], abort: async () => {} };
    const request = { ...RUN_DEFAULTS, runId: 'web', mappings: [write('mapping.ttl', mapping)], inputs: [], workingDirectory: directory };
    const report = await executeRun(
      { ...request, spillDirectory: join(directory, 'spill'), ...more },
      sink,
      signal === undefined ? {} : { signal },
    );
    const text = Buffer.from(parts.join(''), 'latin1').toString();
    return { lines: text.split('\n').filter(Boolean).sort(), report };
  };
  return {
    directory,
    write,
    run,
    async faultOf(mapping, more, signal) {
      const error = await run(mapping, more, signal).then(
        ({ lines }) => new Error(`${lines.length} statements came`),
        (thrown) => thrown,
      );
      if (!(error instanceof Fault)) throw error;
      return error;
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

export interface Answering {
  readonly origin: string;
  /** How the next requests are answered. */
  answer: (request: IncomingMessage, response: ServerResponse) => void;
  readonly seen: { readonly method: string; readonly path: string; readonly headers: IncomingMessage['headers']; readonly body: string }[];
  stop(): Promise<void>;
}

export async function startAnswering(): Promise<Answering> {
  const seen: Answering['seen'][number][] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      seen.push({ method, path: url, headers, body: Buffer.concat(parts).toString() });
      answering.answer(request, response);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const answering: Answering = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: (_, response) => response.writeHead(404).end(),
    seen,
    async stop() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  return answering;
}
