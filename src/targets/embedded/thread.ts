/** The thread of the embedded store: HTTP server and files. The engine runs in another thread, so this one always answers. */
import type { AddressInfo } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { Fault } from '../../core/fault.ts';
import { makeStoreServer } from './http/server.ts';
import type { FromStoreThread, StoreThreadData, ToStoreThread } from './messages.ts';
import { StoreFailure } from './store.ts';
import { openSupervisor } from './supervisor.ts';

if (parentPort === null) throw new Error('The embedded store runs in a thread');
const port = parentPort;
const data = workerData as StoreThreadData;
const post = (message: FromStoreThread): void => port.postMessage(message);

void start();

async function start(): Promise<void> {
  try {
    const { directory, limits, salvage } = data;
    const supervisor = await openSupervisor(directory, limits, { salvage, warn: (message) => post({ kind: 'warning', message }) });
    const server = makeStoreServer(supervisor, data);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ port: 0, host: '127.0.0.1' }, resolve);
    });
    port.on('message', (message: ToStoreThread) => {
      if (message.kind !== 'close') return;
      server.close();
      void supervisor.close().then(() => {
        server.closeAllConnections();
        port.close();
      });
    });
    post({ kind: 'listening', port: (server.address() as AddressInfo).port, quads: supervisor.quads });
  } catch (error) {
    const own = error instanceof StoreFailure ? error.hint : undefined;
    const hint = own ?? 'Give it another directory, or restore this one from a copy';
    const fault = new Fault('store/damaged', (error as Error).message, { hint, cause: error });
    post({ kind: 'failed', fault: fault.toJSON() });
  }
}
