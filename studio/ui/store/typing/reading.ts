/** Asks the worker to read a text. It starts with the first one. */
import type { Reading } from '../../../core/read/language.ts';
import type { ReadText } from '../../../core/read/read.ts';
import type { ReadAnswer, ReadRequest } from './read-worker.ts';

/** The text that was read last: the view of the text and the history ask for the same one. */
let latest: { readonly text: string; readonly how: string; readonly read: Promise<ReadText> } | undefined;
let worker: Worker | undefined;
let last = 0;
const waiting = new Map<number, { readonly resolve: (read: ReadText) => void; readonly reject: (error: Error) => void }>();

/**
 * What the reader of mappings makes of a text.
 *
 * @throws Error — the reader could not be loaded, or has failed
 */
export function readBeside(text: string, reading: Reading): Promise<ReadText> {
  const how = JSON.stringify(reading);
  if (latest?.text === text && latest.how === how) return latest.read;
  worker ??= started();
  const number = ++last;
  worker.postMessage({ number, text, reading } satisfies ReadRequest);
  const asked = new Promise<ReadText>((resolve, reject) => waiting.set(number, { resolve, reject }));
  latest = { text, how, read: asked };
  asked.catch(() => {
    if (latest?.read === asked) latest = undefined;
  });
  return asked;
}

function started(): Worker {
  const made = new Worker(new URL('./read-worker.ts', import.meta.url), { type: 'module' });
  made.onmessage = ({ data: { number, read } }: MessageEvent<ReadAnswer>) => {
    const asked = waiting.get(number);
    waiting.delete(number);
    if (typeof read === 'string') asked?.reject(new Error(read));
    else asked?.resolve(read);
  };
  // The next request starts another one.
  made.onerror = ({ message }) => {
    for (const { reject } of waiting.values()) reject(new Error(`reading the text has failed: ${message}`));
    waiting.clear();
    made.terminate();
    worker = undefined;
  };
  return made;
}
