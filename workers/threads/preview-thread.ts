/** The script of the thread that answers the questions of the studio, one at a time. */
import { isAbsolute, join } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { Fault } from '../../src/core/fault.ts';
import { redact } from '../../src/core/redact.ts';
import { unpackSecrets } from '../../src/core/secret.ts';
import { sampleFields } from '../../src/sampling/fields.ts';
import type { FromPreviewThread, TimedCommand, ToPreviewThread } from './preview.ts';

const port = parentPort;
if (port === null) throw new Error('workers/threads/preview-thread is started as a worker thread');

port.on('message', (message: ToPreviewThread) => {
  answer(unpackSecrets(message)).then(
    (given) => port.postMessage({ answer: given } satisfies FromPreviewThread),
    (error: unknown) => {
      // The state of this thread is undefined: it ends, and another one answers.
      if (error instanceof WebAssembly.RuntimeError) throw error;
      port.postMessage({ fault: Fault.of(error).toJSON() } satisfies FromPreviewThread);
    },
  );
});

/** What the answer takes its time for, if it does not come. */
const step = (doing: string): void => port.postMessage({ step: doing } satisfies FromPreviewThread);

/** A question that is not waited for any more ends with the thread. */
const NEVER = new AbortController().signal;

async function answer({ question, access, until }: TimedCommand): Promise<unknown> {
  const { run, mappings } = access;
  const limit = { until, step };
  if (question.kind === 'sample' || question.kind === 'items' || question.kind === 'ontology') {
    const { location: written } = question;
    const isWhole = mappings === undefined || isAbsolute(written) || URL_START.test(written);
    const location = isWhole ? written : placeIn(mappings, written);
    step(`reading ${redact(location)}`);
    if (question.kind === 'sample') return sampleFields({ ...question, location }, access.sample, until);
    if (question.kind === 'items')
      return (await import('../../src/sampling/items.ts')).sampleItems({ ...question, location }, access.sample, until);
    // As the code of previews, it is loaded when it is asked for: samples are asked for first.
    const { readOntology } = await import('../../src/ontology/read.ts');
    return readOntology({ ...question, location }, access.sample, until);
  }
  if (question.kind === 'rows' || question.kind === 'tables') {
    const { database } = access;
    if (database === undefined)
      throw new Fault('config/invalid', 'The SQL transformer has no database', { hint: 'Set JDBC_URL, DB_USER and DB_PASSWORD' });
    const { listTables, sampleRows } = await import('../../src/preview/database.ts');
    return question.kind === 'tables' ? listTables(database, limit) : sampleRows(question, database, limit);
  }
  if (run === undefined || mappings === undefined) throw new Fault('internal/error', 'A question about a mapping needs what a run needs');
  if (question.kind === 'made') return (await import('../../src/preview/statement.ts')).findMade(question, run, limit, NEVER);
  const name = placeIn(mappings, question.name);
  switch (question.kind) {
    case 'statement':
      return (await import('../../src/preview/statement.ts')).findStatement({ ...question, name }, run, limit, NEVER);
    case 'records':
      return (await import('../../src/preview/records.ts')).recordsOfMap({ ...question, name }, run, limit, NEVER);
    case 'joins':
      return (await import('../../src/preview/joins.ts')).sharesOfJoins({ ...question, name }, run, limit, NEVER);
    case 'preview':
      return (await import('../../src/preview/preview.ts')).previewMapping({ ...question, name }, run, limit, NEVER);
  }
}

/** More letters than the drives of Windows have. */
const URL_START = /^[a-z][a-z0-9+.-]+:/i;

/** A file of a directory, both URLs or paths. */
const placeIn = (directory: string, name: string): string =>
  URL_START.test(directory) ? new URL(name, directory.replace(/\/?$/, '/')).href : join(directory, name);
