/** A thread of `threads.ts`: executes the groups of scans that it receives, one after the other. */
import { parentPort, workerData } from 'node:worker_threads';
import { Fault } from '../../core/fault.ts';
import { unpackSecrets } from '../../core/secret.ts';
import { prepareRun } from '../prepare/prepare.ts';
import { executeScans } from './scans.ts';
import type { FromThread, ThreadData, ToThread } from './threads.ts';

const port = parentPort;
if (port === null) throw new Error('src/run/thread is started as a worker thread');
const say = (message: FromThread, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer);

const { request: packed, snapshots } = workerData as ThreadData;
const request = unpackSecrets(packed);
let written: () => void = () => {};

const sink = {
  /** At most one piece is in transit: the writer sets the pace. */
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
  const prepared = await prepareRun(request, undefined, snapshots);
  port.on('message', (message: ToThread) => {
    if (message.kind === 'written') written();
    else if (message.kind === 'end') prepared.close().then(() => port.close());
    else {
      executeScans(
        request,
        prepared,
        message.positions.map((position) => ({ position, range: undefined })),
        sink,
        {
          progress: (progress) => say({ kind: 'progress', progress }),
          reject: (rejection) => say({ kind: 'rejection', rejection }),
        },
      ).then(
        (result) => say({ kind: 'done', result }),
        (error) => say({ kind: 'failed', fault: Fault.of(error).toJSON() }),
      );
    }
  });
  say({ kind: 'ready' });
} catch (error) {
  say({ kind: 'failed', fault: Fault.of(error).toJSON() });
}
