/**
 * Where bytes come from and go to: `file:` URLs, bare paths, `http(s):` URLs, behind read, list and write.
 *
 * Nothing else in the project opens a user's file by its URL.
 */
import { isUtf8 } from 'node:buffer';
import { pathToFileURL } from 'node:url';
import { Fault } from '../core/fault.ts';
import { boundOf, INFLATION_FLOOR_BYTES, inflationFault, inputBytesFault, type RunLimits } from '../core/limits.ts';
import { redact } from '../core/redact.ts';
import { gunzipWhenGzip } from './gzip.ts';
import { fileState, listFiles, openFile, openStandardInput, replaceFile } from './local/file.ts';
import type { ByteRange, InputState } from './range.ts';
import { fileNameOf, locate } from './url.ts';

export { formatByExtension, type InputFormat, inputFormat } from './input-format.ts';
export { resolveInside } from './local/safe-path.ts';
export type { ByteRange, InputState } from './range.ts';

export interface OpenedInput {
  /** Chunks in order, as fast as they are asked for; ending the iteration closes the input. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Bytes of the input where known (for progress). */
  readonly sizeBytes: number | undefined;
  /** Media type of an HTTP response, without parameters. */
  readonly mediaType: string | undefined;
  /** For a caller that may never begin to iterate, or wants out in the middle. Does no harm when repeated. */
  close(): Promise<void>;
}

/** What a scheme yields, before compression is undone. Ended by the iteration, or by `close` when that never began. */
export interface RawInput {
  readonly chunks: AsyncGenerator<Uint8Array, void, undefined>;
  readonly close: () => Promise<void>;
  readonly sizeBytes: number | undefined;
  /** How many bytes were sent of those that `chunks` has, where the protocol itself undoes a compression and they are known. */
  readonly packedBytes?: number;
  readonly mediaType: string | undefined;
}

export interface OpenOptions {
  /** What a relative path is relative to. */
  readonly workingDirectory: string;
  readonly signal?: AbortSignal;
  /** As the mapping declares it; a name that ends in `.gz` means gzip by itself. */
  readonly compression?: 'none' | 'gzip';
  /** undefined: none. */
  readonly limits?: Pick<RunLimits, 'inputBytes' | 'inflationRatio'>;
  /** Only these bytes of an input that `probeInput` has found. */
  readonly range?: ByteRange;
  /** Read standard input, which can be done once; the URL is for messages. */
  readonly standardInput?: boolean;
}

/**
 * Opens an input and undoes gzip. Stops with `run/cancelled` within one chunk of `signal`.
 *
 * @throws Fault source/missing, source/refused, source/unreadable, limit/exceeded; while reading also source/malformed (gzip); run/lost — a range of an
 * input that is not of its version, or no longer
 */
export async function openInput(url: string, options: OpenOptions): Promise<OpenedInput> {
  const { signal } = options;
  const name = redact(url);
  if (signal?.aborted) throw cancelled(name);
  const raw = await openRaw(url, name, options).catch((error) => {
    throw signal?.aborted ? cancelled(name, error) : error;
  });
  // Standard input has no name that could tell.
  const gzip = isGzip(url, options) || options.standardInput === true;
  const { inputBytes = 0, inflationRatio = 0 } = options.limits ?? {};
  if (!gzip && (raw.sizeBytes ?? 0) > boundOf(inputBytes)) {
    await raw.close();
    throw inputBytesFault(inputBytes, { input: name });
  }
  const unpacked = gzip ? gunzipWhenGzip(raw.chunks, name, options.compression === 'gzip', inflationRatio) : raw.chunks;
  const guarded = inputBytes === 0 && raw.packedBytes === undefined ? unpacked : guard(unpacked, inputBytes, inflationRatio, raw, name);
  return {
    bytes: untilAborted(guarded, raw.close, signal, name),
    sizeBytes: gzip ? undefined : raw.sizeBytes,
    mediaType: raw.mediaType,
    close: raw.close,
  };
}

async function openRaw(url: string, name: string, { workingDirectory, signal, range, standardInput }: OpenOptions): Promise<RawInput> {
  if (standardInput) return openStandardInput(name, signal);
  const location = locate(url, workingDirectory);
  return location.kind === 'file' ? openFile(location.path, name, range) : openWeb(location.url, name, signal, range);
}

/** Loaded when first needed: most runs read files only. */
const openWeb = async (url: URL, name: string, signal: AbortSignal | undefined, range: ByteRange | undefined): Promise<RawInput> =>
  (await import('./http.ts')).openHttp(url, name, signal, range);

const isGzip = (url: string, { compression }: OpenOptions): boolean => compression === 'gzip' || /\.gz$/i.test(fileNameOf(url));

/**
 * Size and version of an input, hardly read. undefined: it cannot be read in ranges (compressed, no regular file, a server that does not
 * offer them or gives no version), or is not there: who opens it learns why.
 */
export async function probeInput(url: string, options: OpenOptions): Promise<InputState | undefined> {
  if (isGzip(url, options)) return undefined;
  const location = locate(url, options.workingDirectory);
  if (location.kind === 'file') return fileState(location.path);
  return (await import('./http.ts')).httpState(location.url, options.signal);
}

const cancelled = (name: string, cause?: unknown): Fault =>
  new Fault('run/cancelled', 'The run was cancelled while it read its input', { place: { input: name }, cause });

/** @throws Fault limit/exceeded — with the first chunk that is too much */
async function* guard(
  chunks: AsyncIterable<Uint8Array>,
  inputBytes: number,
  inflationRatio: number,
  { packedBytes = Number.POSITIVE_INFINITY }: RawInput,
  name: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const most = Math.max(INFLATION_FLOOR_BYTES, packedBytes * boundOf(inflationRatio));
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > boundOf(inputBytes)) throw inputBytesFault(inputBytes, { input: name });
    if (bytes > most) throw inflationFault(inflationRatio, { input: name });
    yield chunk;
  }
}

/** Generators that never began do not run their `finally`: hence `close`. */
async function* untilAborted(
  chunks: AsyncGenerator<Uint8Array, void, undefined>,
  close: () => Promise<void>,
  signal: AbortSignal | undefined,
  name: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of chunks) {
      if (signal?.aborted) throw cancelled(name);
      yield chunk;
    }
  } catch (error) {
    throw signal?.aborted ? cancelled(name, error) : error;
  } finally {
    await close();
  }
}

/**
 * The whole text of a small document, UTF-8, without byte order mark.
 *
 * @param options.silenceMs how long nothing may come; undefined: as long as the connection lives
 * @throws Fault as `openInput`, source/unreadable after `silenceMs`; limit/exceeded — more than `limitBytes`; source/encoding — not UTF-8
 */
export async function readText(url: string, limitBytes: number, options: OpenOptions & { readonly silenceMs?: number }): Promise<string> {
  const { signal, silenceMs } = options;
  const name = redact(url);
  const place = { input: name };
  const ending = new AbortController();
  const stop = (): void => ending.abort(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  const silence = new Fault('source/unreadable', `${name} sent nothing for ${(silenceMs ?? 0) / 1_000} s`, { place });
  const timer = silenceMs === undefined ? undefined : setTimeout(() => ending.abort(silence), silenceMs);
  const parts: Uint8Array[] = [];
  let bytes = 0;
  try {
    const input = await openInput(url, { ...options, signal: ending.signal });
    for await (const chunk of input.bytes) {
      timer?.refresh();
      bytes += chunk.length;
      if (bytes > limitBytes) {
        throw new Fault('limit/exceeded', `${name} is larger than the ${limitBytes} bytes that are allowed for it`, { place });
      }
      parts.push(chunk);
    }
  } catch (error) {
    throw ending.signal.reason === silence ? silence : error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
  const whole = Buffer.concat(parts);
  if (!isUtf8(whole)) throw new Fault('source/encoding', `${name} is not UTF-8`, { place });
  return new TextDecoder().decode(whole);
}

/**
 * The files directly in a directory that have one of `extensions` (without dot), by name; `file:` URLs where `url` is one, else absolute paths.
 *
 * @throws Fault source/missing, source/refused — no directory, or a scheme that cannot list
 */
export async function listDirectory(url: string, extensions: readonly string[], workingDirectory: string): Promise<readonly string[]> {
  const location = locate(url, workingDirectory);
  const name = redact(url);
  if (location.kind !== 'file') {
    throw new Fault('source/refused', `${name} cannot be listed as a directory`, {
      hint: 'Name the single files, or a directory of this machine',
    });
  }
  const paths = await listFiles(location.path, name, extensions);
  return /^file:/i.test(url) ? paths.map((path) => pathToFileURL(path).href) : paths;
}

/**
 * Writes `text` as UTF-8 to a path: readers see the old content or the new, never a part. Makes missing directories.
 *
 * @throws Fault sink/failed
 */
export const writeAtomically = (path: string, text: string): Promise<void> => replaceFile(path, text);
