/** A thread of `threads.ts`: executes the units that it receives, one after the other. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { Fault } from '../../core/fault.ts';
import { unpackSecrets } from '../../core/secret.ts';
import { SharedBudget } from '../../spill/budget.ts';
import { openPrepared } from '../prepare/open.ts';
import { Mapper } from './mapper.ts';
import type { FromThread, ThreadData, ToThread } from './messages.ts';

if (parentPort === null) throw new Error('src/run/threads/thread is started as a worker thread');

/** How often a thread reports its memory: as often as the process looks at its own. */
const MEMORY_MS = 250;

void start(parentPort, workerData as ThreadData);

async function start(port: MessagePort, { run, snapshots, budget: buffer }: ThreadData): Promise<void> {
  const send = (message: FromThread, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer);
  const fail = (error: unknown): void => send({ kind: 'failed', fault: Fault.of(error).toJSON() });
  try {
    const { request, prepared: data } = unpackSecrets(run);
    const prepared = await openPrepared(data, request, snapshots);
    const mapper = new Mapper(request, prepared, new SharedBudget(request.memoryBudgetBytes, buffer), send);
    port.on('message', (message: ToThread) => {
      if (message.kind === 'end') prepared.close().then(() => port.close(), fail);
      else mapper.receive(message).catch(fail);
    });
    setInterval(() => {
      const { heapTotal, external } = process.memoryUsage();
      send({ kind: 'memory', bytes: heapTotal + external });
    }, MEMORY_MS).unref();
    send({ kind: 'ready' });
  } catch (error) {
    fail(error);
  }
}
