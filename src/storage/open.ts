/**
 * Opens the input that a URL or a bare path names, whatever its scheme, undoes its compression, and checks the limits of inputs.
 *
 * Nothing else in the project opens a user's file by its URL.
 */
import { isUtf8 } from 'node:buffer';
import { LinkedAbort } from '../core/abort.ts';
import { excerpt, Fault } from '../core/fault.ts';
import { boundOf, INFLATION_FLOOR_BYTES, inflationFault, inputBytesFault } from '../core/limits.ts';
import { lookupWithin, portOf } from '../core/reach/reach.ts';
import { resolveWithin } from '../core/reach/safe-path.ts';
import { redact } from '../core/redact.ts';
import { type Compression, compressionByName, compressionByType } from './compression.ts';
import { fileState, openFile, openStandardInput } from './local/file.ts';
import { severalFault } from './packed/archive.ts';
import { unpack } from './packed/unpack.ts';
import { USUAL_S3_ACCESS } from './s3-access.ts';
import type { InputState, OpenedInput, OpenOptions, RawInput } from './storage.ts';
import { locate } from './url.ts';

/**
 * Opens an input and undoes its compression. Stops with `run/cancelled` within one chunk of `signal`.
 *
 * @throws Fault source/missing, source/refused, source/unreadable, limit/exceeded; while reading also those of `unpack`;
 * run/lost — a range of an input whose version is not the given one
 */
export async function openInput(url: string, options: OpenOptions): Promise<OpenedInput> {
  const { signal } = options;
  const name = redact(url);
  if (signal?.aborted) throw cancelled(name);
  const raw = await openRaw(url, name, options).catch((error) => {
    throw signal?.aborted ? cancelled(name, error) : error;
  });
  const declared = options.compression ?? 'none';
  // Standard input has no name that implies a compression.
  const named = declared === 'none' && options.standardInput === true ? 'gzip' : compressionOf(url, options);
  const isTold = named === 'none' && raw.web !== undefined && options.isArchive !== true;
  const compression = isTold ? compressionByType(raw.mediaType) : named === 'none' ? (raw.compression ?? 'none') : named;
  const packed = compression !== 'none';
  const { inputBytes = 0, inflationRatio = 0 } = options.limits ?? {};
  if (!packed && (raw.sizeBytes ?? 0) > boundOf(inputBytes)) {
    await raw.close();
    throw inputBytesFault(inputBytes, { input: name });
  }
  let member: string | undefined;
  if (compression === 'zip') {
    member = await onlyFileOf(url, name, options).catch(async (error) => {
      await raw.close();
      throw error;
    });
  }
  const unpacked = packed ? unpack(raw.chunks, compression, name, declared !== 'none', inflationRatio) : raw.chunks;
  const guarded = inputBytes === 0 && raw.packedBytes === undefined ? unpacked : guard(unpacked, inputBytes, inflationRatio, raw, name);
  return {
    bytes: untilAborted(guarded, raw.close, signal, name),
    sizeBytes: packed ? undefined : raw.sizeBytes,
    mediaType: raw.mediaType,
    charset: raw.charset,
    web: raw.web,
    ...(member === undefined ? {} : { member }),
    close: raw.close,
  };
}

async function openRaw(url: string, name: string, options: OpenOptions): Promise<RawInput> {
  if (options.standardInput) return openStandardInput(name, options.signal);
  const location = locate(url, options.workingDirectory);
  if (location.kind === 'file') return openFile(location.path, name, options.range, options.reach);
  if (location.kind === 'http') return openWeb(location.url, name, options);
  return (await import('./s3/read.ts')).openS3(location, name, options.s3 ?? USUAL_S3_ACCESS, options);
}

/**
 * The name of the only file of a zip archive. Of one on this machine, its directory names it; undefined for others, which are
 * checked for several files while they are read.
 *
 * @throws Fault source/refused — it has several
 */
async function onlyFileOf(url: string, name: string, options: OpenOptions): Promise<string | undefined> {
  if (options.standardInput) return undefined;
  const location = locate(url, options.workingDirectory);
  if (location.kind !== 'file') return undefined;
  const state = await fileState(location.path, options.reach);
  if (state === undefined) return undefined;
  const { filesOfZip } = await import('./packed/directory.ts');
  const files = await filesOfZip(state.sizeBytes, async (from, to) => {
    const { chunks } = await openFile(location.path, name, { from, to, version: state.version }, options.reach);
    const read: Uint8Array[] = [];
    for await (const chunk of chunks) read.push(chunk);
    return Buffer.concat(read);
  });
  if (files !== undefined && files.length > 1) {
    const names = files.map((one) => excerpt(one));
    throw severalFault({ kind: 'zip', input: name }, names);
  }
  return files?.[0];
}

/** Loaded on first use: most runs read only files. */
const openWeb = async (url: URL, name: string, options: OpenOptions): Promise<RawInput> =>
  (await import('./web/http.ts')).openHttp(url, name, options);

const compressionOf = (url: string, { compression = 'none' }: OpenOptions): Compression =>
  compression === 'none' ? compressionByName(url) : compression;

/**
 * Size and version of an input, almost without reading it. undefined: it cannot be read in ranges (compressed, not a regular file, a server
 * without ranges or versions), or does not exist: opening it reports why.
 */
export async function probeInput(url: string, options: OpenOptions): Promise<InputState | undefined> {
  if (compressionOf(url, options) !== 'none') return undefined;
  const location = locate(url, options.workingDirectory);
  if (location.kind === 'file') return fileState(location.path, options.reach);
  if (location.kind === 'http') return (await import('./web/http.ts')).httpState(location.url, options);
  return (await import('./s3/read.ts')).s3State(location, options.s3 ?? USUAL_S3_ACCESS, options.signal);
}

/**
 * Whether an address is within the reach as far as it says itself, without opening anything: names of hosts are looked up when they are read.
 *
 * @throws Fault request/forbidden; those of `locate`
 */
export async function assertWithin(
  url: string,
  { workingDirectory, reach }: Pick<OpenOptions, 'workingDirectory' | 'reach'>,
): Promise<void> {
  const location = locate(url, workingDirectory);
  if (reach === undefined) return;
  if (location.kind === 'file') await resolveWithin(reach, location.path, redact(url));
  if (location.kind === 'http') lookupWithin(reach, location.url.hostname, portOf(location.url));
}

/** The bytes of one version of an input. */
export interface Ranges extends InputState {
  readonly isRemote: boolean;
  /** @throws Fault run/lost — it has another version now */
  read(from: number, to: number): Promise<Buffer>;
}

/** The bytes of an input at any offset. undefined: it cannot be read in ranges. @param version that it must have; undefined: the present one */
export async function rangesOf(url: string, options: OpenOptions, version?: string): Promise<Ranges | undefined> {
  const state = await probeInput(url, options);
  if (state === undefined) return undefined;
  const wanted = version ?? state.version;
  return {
    sizeBytes: state.sizeBytes,
    version: wanted,
    isRemote: locate(url, options.workingDirectory).kind !== 'file',
    async read(from, to) {
      const range = { from, to, version: wanted };
      const chunks: Uint8Array[] = [];
      if (from < to) for await (const chunk of (await openInput(url, { ...options, range })).bytes) chunks.push(chunk);
      return Buffer.concat(chunks);
    },
  };
}

const cancelled = (name: string, cause?: unknown): Fault =>
  new Fault('run/cancelled', 'The run was cancelled while it read its input', { place: { input: name }, cause });

/** @throws Fault limit/exceeded — with the first chunk beyond the limit */
async function* guard(
  chunks: AsyncIterable<Uint8Array>,
  inputBytes: number,
  inflationRatio: number,
  { packedBytes = () => Number.POSITIVE_INFINITY }: RawInput,
  name: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > boundOf(inputBytes)) throw inputBytesFault(inputBytes, { input: name });
    if (bytes > INFLATION_FLOOR_BYTES && bytes > packedBytes() * boundOf(inflationRatio))
      throw inflationFault(inflationRatio, { input: name });
    yield chunk;
  }
}

/** Generators that were never started do not run their `finally`: hence `close`. */
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
 * @throws Fault those of `readBytes`; source/encoding — not UTF-8
 */
export async function readText(url: string, limitBytes: number, options: ReadOptions): Promise<string> {
  const whole = await readBytes(url, limitBytes, options);
  const name = redact(url);
  if (!isUtf8(whole)) throw notUtf8(name, whole, { input: name });
  return new TextDecoder().decode(whole);
}

export interface ReadOptions extends OpenOptions {
  /** Time-out without any data; undefined: none. */
  readonly silenceMs?: number;
}

/**
 * All bytes of a small document.
 *
 * @throws Fault those of `openInput`, source/unreadable after `silenceMs`; limit/exceeded — more than `limitBytes`
 */
export async function readBytes(url: string, limitBytes: number, options: ReadOptions): Promise<Buffer> {
  const { signal, silenceMs } = options;
  const name = redact(url);
  const place = { input: name };
  // Many documents may be read at once, and each follows the one signal of the run.
  const ending = new LinkedAbort([signal]);
  /** Made when it happens: its stack costs more than reading a small document. */
  let silence: Fault | undefined;
  const fallSilent = (): void => {
    silence = new Fault('source/unreadable', `${name} sent nothing for ${(silenceMs ?? 0) / 1_000} s`, { place });
    ending.abort(silence);
  };
  const timer = silenceMs === undefined ? undefined : setTimeout(fallSilent, silenceMs);
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
    throw silence !== undefined && ending.signal.reason === silence ? silence : error;
  } finally {
    clearTimeout(timer);
    ending.release();
  }
  return Buffer.concat(parts);
}

/** Names the first byte that is no text, with its line and its character of the line (1-based). */
function notUtf8(name: string, whole: Buffer, place: { readonly input: string }): Fault {
  let line = 1;
  let from = 0;
  const endOf = (start: number): number => (whole.indexOf(0x0a, start) < 0 ? whole.length : whole.indexOf(0x0a, start));
  while (isUtf8(whole.subarray(from, endOf(from)))) {
    from = endOf(from) + 1;
    line++;
  }
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(whole.subarray(from, endOf(from)));
  for (let at = text.indexOf('\ufffd'); ; at = text.indexOf('\ufffd', at + 1)) {
    const offset = from + Buffer.byteLength(text.slice(0, at));
    // The character itself may be in the text.
    if (whole.subarray(offset, offset + 3).equals(REPLACEMENT)) continue;
    const byte = whole[offset]?.toString(16).padStart(2, '0');
    const hint = 'Convert it to UTF-8';
    return new Fault('source/encoding', `${name} is not UTF-8: byte 0x${byte} at line ${line}, character ${at + 1}`, { place, hint });
  }
}

const REPLACEMENT = Buffer.from('\ufffd');
