/**
 * The thread that holds the triples: oxigraph, in memory. It executes one request at a time and blocks meanwhile.
 *
 * What can break here (memory, recursion, an endless query) breaks this thread alone; `embedded/supervisor.ts` then restarts it from disk.
 */
import { parentPort } from 'node:worker_threads';
import { writeSnapshot } from '../disk/snapshot.ts';
import type { FromEngine, ToEngine } from '../messages.ts';
import { loadFiles } from './load.ts';
import { memoryBytes } from './memory.ts';
import { isRepeatable } from './query.ts';
import { Refusal, Triples, textOf } from './triples.ts';

if (parentPort === null) throw new Error('The engine of the embedded store runs in a thread of the store');
const port = parentPort;
const post = (message: FromEngine): void => port.postMessage(message);

const triples = new Triples();

port.on('message', (message: ToEngine) => {
  try {
    post(carryOut(message));
  } catch (error) {
    post(failureOf(error));
  }
});

function carryOut(message: ToEngine): FromEngine {
  switch (message.kind) {
    case 'open':
      return { kind: 'opened', ...loadFiles(triples, message.files), quads: triples.store.size, memoryBytes: memoryBytes() };
    case 'read':
      return { kind: 'read', body: Buffer.from(triples.read(message.read)) };
    case 'write': {
      const created = triples.write(message.write, message.body);
      const repeatable = message.write.kind !== 'update' || isRepeatable(textOf(message.body));
      return { kind: 'written', created, repeatable, memoryBytes: memoryBytes() };
    }
    case 'snapshot':
      return { kind: 'saved', ...writeSnapshot(triples.store, message.path) };
  }
}

/** The character classes that the parser lists where it expects a name. */
const CHARACTERS = /(?:\['[^\]]*\]|\[_\])(?:, (?:\['[^\]]*\]|\[_\]))*/g;

/** oxigraph throws plain errors about the request; after any other error the state of this thread is undefined. */
function failureOf(error: unknown): FromEngine {
  const { message } = error as Error;
  if (error instanceof Refusal) return { kind: 'failed', reason: error.reason, message, broken: false };
  if (error instanceof WebAssembly.RuntimeError) {
    return {
      kind: 'failed',
      reason: 'memory',
      message: `it needs more memory, or deeper nesting, than the store has (${message})`,
      broken: true,
    };
  }
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof RangeError || code === 'ERR_STRING_TOO_LONG' || code === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
    return { kind: 'failed', reason: 'memory', message: `the answer is larger than a text can be (${message})`, broken: true };
  }
  if (code !== undefined) return { kind: 'failed', reason: code === 'ENOSPC' ? 'disk' : 'failed', message, broken: false };
  return { kind: 'failed', reason: 'invalid', message: message.replace(CHARACTERS, 'a name'), broken: false };
}
