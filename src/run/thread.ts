/** A thread of `threads.ts`: carries out the groups of scans that it is sent, one after the other. */
import { parentPort, workerData } from 'node:worker_threads';
import { Fault } from '../fault.ts';
import type { RunRequest } from './request.ts';
import { prepareRun } from './run.ts';
import { executeScans } from './scans.ts';
import type { FromThread, ToThread } from './threads.ts';

const port = parentPort;
if (port === null) throw new Error('src/run/thread is started as a worker thread');
const say = (message: FromThread, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer);

const request = workerData as RunRequest;
let written: () => void = () => {};

const sink = {
  /** At most one piece is on its way: the writer sets the pace. */
  write(lines: string): Promise<void> {
    const bytes = new Uint8Array(lines.length);
    Buffer.from(bytes.buffer).write(lines, 'latin1');
    return new Promise((resolve) => {
      written = resolve;
      say({ kind: 'lines', bytes }, [bytes.buffer]);
    });
  },
};

try {
  const { plan, urls } = await prepareRun(request);
  port.on('message', (message: ToThread) => {
    if (message.kind === 'written') written();
    else if (message.kind === 'end') port.close();
    else {
      executeScans(request, plan, urls, message.positions, sink, {
        progress: (progress) => say({ kind: 'progress', progress }),
        reject: (rejection) => say({ kind: 'rejection', rejection }),
      }).then(
        (result) => say({ kind: 'done', result }),
        (error) => say({ kind: 'failed', fault: Fault.of(error).toJSON() }),
      );
    }
  });
  say({ kind: 'ready' });
} catch (error) {
  say({ kind: 'failed', fault: Fault.of(error).toJSON() });
}
