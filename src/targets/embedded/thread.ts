/** The thread of the embedded store: its HTTP server and its files. The triples are in a thread of their own, so that this one always answers. */
import type { AddressInfo } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { Fault } from '../../core/fault.ts';
import { makeStoreServer } from './http/server.ts';
import type { FromStoreThread, StoreThreadData, ToStoreThread } from './messages.ts';
import { openKeeper } from './supervisor.ts';

if (parentPort === null) throw new Error('The embedded store runs in a thread');
const port = parentPort;
const data = workerData as StoreThreadData;
const say = (message: FromStoreThread): void => port.postMessage(message);

try {
  const keeper = await openKeeper(data.directory, data.limits, (message) => say({ kind: 'warning', message }));
  const server = makeStoreServer(keeper, data);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: data.port, host: '127.0.0.1' }, resolve);
  });
  port.on('message', (message: ToStoreThread) => {
    if (message.kind !== 'close') return;
    server.close();
    void keeper.close().then(() => {
      server.closeAllConnections();
      port.close();
    });
  });
  say({ kind: 'listening', port: (server.address() as AddressInfo).port, quads: keeper.quads });
} catch (error) {
  const hint = 'Give it another directory, or restore this one from a copy';
  const fault = new Fault('store/damaged', (error as Error).message, { hint, cause: error });
  say({ kind: 'failed', fault: fault.toJSON() });
}
