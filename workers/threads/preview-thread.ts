/** The script of the thread that answers the questions of the studio, one at a time. */
import { isAbsolute, join } from 'node:path';
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

/** A question that is not waited for any more ends with the thread. */
const NEVER = new AbortController().signal;

async function answer({ question, access }: PreviewCommand): Promise<unknown> {
  const { run, mappings } = access;
  if (question.kind === 'sample') {
    const { location } = question;
    const isWhole = mappings === undefined || isAbsolute(location) || URL_START.test(location);
    return sampleFields({ ...question, location: isWhole ? location : placeIn(mappings, location) }, access.sample);
  }
  if (run === undefined || mappings === undefined) throw new Fault('internal/error', 'A question about a mapping needs what a run needs');
  const mapping = { ...question, name: placeIn(mappings, question.name) };
  // Loaded at the first question about a mapping: samples are asked for first.
  if (question.kind === 'statement') {
    const { findStatement } = await import('../../src/preview/statement.ts');
    return findStatement({ ...mapping, statement: question.statement }, run, NEVER);
  }
  const { previewMapping } = await import('../../src/preview/preview.ts');
  return previewMapping(mapping, run, NEVER);
}

/** More letters than the drives of Windows have. */
const URL_START = /^[a-z][a-z0-9+.-]+:/i;

/** A file of a directory, both URLs or paths. */
const placeIn = (directory: string, name: string): string =>
  URL_START.test(directory) ? new URL(name, directory.replace(/\/?$/, '/')).href : join(directory, name);
