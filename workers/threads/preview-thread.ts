/** The script of the thread that answers the questions of the studio, one at a time. */
import { parentPort } from 'node:worker_threads';
import { Fault } from '../../src/core/fault.ts';
import { unpackSecrets } from '../../src/core/secret.ts';
import { sampleFields } from '../../src/sampling/fields.ts';
import type { FromPreviewThread, PreviewCommand, ToPreviewThread } from './preview.ts';

const port = parentPort;
if (port === null) throw new Error('workers/threads/preview-thread is started as a worker thread');

port.on('message', (message: ToPreviewThread) => {
  answer(unpackSecrets(message)).then(
    (given) => port.postMessage({ answer: given } satisfies FromPreviewThread),
    (error: unknown) => port.postMessage({ fault: Fault.of(error).toJSON() } satisfies FromPreviewThread),
  );
});

function answer({ question, access }: PreviewCommand): Promise<unknown> {
  return sampleFields(question, access);
}
