/** Answers that are text in one of several media types, made while it is sent, and that caches keep. */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Fault } from '../../../src/core/fault.ts';
import type { Api, Call, Reply } from '../../route.ts';

/** Pages that never change; everything else is asked for again, which costs nothing while its tag is the same. */
const CACHING = { immutable: 'max-age=31536000, immutable', changing: 'no-cache' } as const;

export interface Answer {
  readonly type: string;
  /** What the text depends on, beside its address. */
  readonly madeOf: readonly unknown[];
  readonly caching: keyof typeof CACHING;
  /** Called unless the caller has the text. One-byte text. */
  readonly text: (signal: AbortSignal) => AsyncIterable<string>;
}

/** Sends the text, or says that the caller has it. What makes the text is cancelled with the request. @throws what the first piece throws */
export async function answered(api: Pick<Api, 'ending'>, { request }: Call, { type, madeOf, caching, text }: Answer): Promise<Reply> {
  const tag = `"${createHash('sha256')
    .update(JSON.stringify([type, ...madeOf]))
    .digest('hex')
    .slice(0, 24)}"`;
  const headers = { ETag: tag, Vary: 'Accept', 'Cache-Control': CACHING[caching] };
  if (hasTag(request.headers['if-none-match'], tag)) return { status: 304, headers };
  if (request.method === 'HEAD') return { status: 200, type, headers, stream: none() };
  const over = new AbortController();
  const end = (): void => over.abort();
  const release = (): void => {
    request.socket.off('close', end);
    api.ending.removeEventListener('abort', end);
  };
  request.socket.on('close', end);
  api.ending.addEventListener('abort', end);
  const pieces = text(over.signal)[Symbol.asyncIterator]();
  try {
    // What is wrong from the start is a problem, not a text that is cut off.
    const first = await pieces.next();
    return { status: 200, type, headers, stream: bytesOf(first, pieces, over.signal, release) };
  } catch (error) {
    release();
    throw error;
  }
}

async function* bytesOf(
  first: IteratorResult<string>,
  rest: AsyncIterator<string>,
  signal: AbortSignal,
  release: () => void,
): AsyncGenerator<Uint8Array> {
  try {
    for (let next = first; next.done !== true; next = await rest.next()) {
      signal.throwIfAborted();
      if (next.value !== '') yield Buffer.from(next.value, 'latin1');
    }
  } finally {
    release();
    await rest.return?.();
  }
}

async function* none(): AsyncGenerator<Uint8Array> {}

/** @see https://www.rfc-editor.org/rfc/rfc9110#section-13.1.2 */
const hasTag = (given: string | undefined, tag: string): boolean =>
  given !== undefined && (given.trim() === '*' || given.split(',').some((one) => one.trim().replace(/^W\//, '') === tag));

/**
 * The media type that the caller prefers; the first one of those that are liked alike, or where Accept is missing.
 *
 * @throws Fault request/not-acceptable
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-12.5.1
 */
export function preferred<T extends string>({ headers }: Pick<IncomingMessage, 'headers'>, types: readonly [T, ...T[]]): T {
  const { accept } = headers;
  if (accept === undefined || accept.trim() === '') return types[0];
  const ranges = accept.split(',').map((entry) => {
    const [range = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((one) => one.startsWith('q='));
    return { range, quality: quality === undefined ? 1 : Number(quality.slice(2)) || 0 };
  });
  const qualityOf = (type: string): number => {
    const names = [type, type.replace(/\/.*/, '/*'), '*/*'];
    const found = names.map((name) => ranges.find(({ range }) => range === name)).find((one) => one !== undefined);
    return found?.quality ?? 0;
  };
  const [best] = types.map((type) => ({ type, quality: qualityOf(type) })).sort((a, b) => b.quality - a.quality);
  if (best !== undefined && best.quality > 0) return best.type;
  throw new Fault('request/not-acceptable', `The answer cannot be given as ${accept}`, { hint: `It can be given as ${types.join(', ')}` });
}
