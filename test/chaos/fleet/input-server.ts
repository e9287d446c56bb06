/** Serves inputs over HTTP: the first half at once, the rest after a pause; cut off by a fault. */
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { contentOf, type PlannedRun } from '../load/load.ts';

export interface InputServer {
  readonly url: string;
  /** Breaks all existing and new connections until switched off. */
  cut(on: boolean): void;
  close(): Promise<void>;
}

export async function serveInputs(runs: readonly PlannedRun[]): Promise<InputServer> {
  const byFile = new Map(runs.map((run) => [run.file, run]));
  const sockets = new Set<Socket>();
  let broken = false;
  const server = createServer((request, response) => {
    const run = byFile.get((request.url ?? '').slice(1));
    const content = run === undefined ? undefined : contentOf(run);
    if (run === undefined || content === undefined) {
      response.writeHead(404).end();
      return;
    }
    const half = content.length >> 1;
    response.writeHead(200, { 'content-type': 'text/csv' });
    response.write(content.subarray(0, half));
    const timer = setTimeout(() => response.end(content.subarray(half)), run.pauseMs);
    response.once('close', () => clearTimeout(timer));
  });
  server.on('connection', (socket) => {
    if (broken) {
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut(on) {
      broken = on;
      if (on) for (const socket of sockets) socket.destroy();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
