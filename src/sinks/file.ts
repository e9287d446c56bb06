/** Output to files that appear under their names only when they are complete. */

import { closeSync, openSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Compression } from '../storage/compression.ts';
import { makeDirectory } from '../storage/local/directory.ts';
import { syncDirectory, syncFile } from '../storage/local/file.ts';
import { DescriptorWriter, writeFault } from './descriptor.ts';
import { type FinishedPart, FORMAT_EXTENSION, type PartFile, type QuadSink, type Serialization, type TextEncoding } from './sink.ts';

export interface FileSinkOptions {
  /** Absolute; created if missing. */
  readonly directory: string;
  /** Final file name, with extension. */
  readonly name: string;
  /** Distinguishes overlapping attempts of one run: each writes its own files. */
  readonly attempt: string | number;
  readonly format: Serialization;
  /** Default `utf-8`. */
  readonly encoding?: TextEncoding;
  /** Default `none`. The bytes and the digest of a part are those of the compressed file. */
  readonly compression?: Compression;
  /** Of gzip, from 1 (fast) to 9. Default 6. */
  readonly level?: number;
  /** Prefix → namespace IRI, for the formats that have prefixes. */
  readonly prefixes?: Readonly<Record<string, string>>;
  /** Compute SHA-256 while writing (default true); without it the part's `sha256` is empty. */
  readonly digest?: boolean;
  /** Sync to disk before the name appears (default true): a power failure cannot leave an incomplete file under a final name. */
  readonly durable?: boolean;
}

export interface FileSink extends QuadSink {
  rollOver(): Promise<void>;
  /**
   * Replaces `commit`: completes the parts, at least one, under their temporary names; the caller renames or removes them. `abort` still
   * removes them.
   */
  finish(): Promise<readonly FinishedPart[]>;
}

/** The name of the n-th part, from 1: `out.nq`, `out-2.nq`, … */
export function partName(name: string, n: number): string {
  if (n === 1) return name;
  const dot = name.lastIndexOf('.');
  return dot <= 0 ? `${name}-${n}` : `${name.slice(0, dot)}-${n}${name.slice(dot)}`;
}

export const temporaryName = (name: string, attempt: string | number): string => `.${name}.${attempt}.part`;

/**
 * Writes `.<name>.<attempt>.part`, and after each `rollOver` a further part, `.<name>-2.<attempt>.part`, …, as soon as there is something
 * to write. `commit` renames them to `name`, `<name>-2`, …, replacing existing files; `abort` removes them. Each part is a complete
 * document. A run without statements makes one part.
 *
 * @throws Fault sink/failed — with the path and the reason; from `open`, `write`, `rollOver` and `commit`
 */
export async function openFileSink(options: FileSinkOptions): Promise<FileSink> {
  const { directory, name } = options;
  const durable = options.durable ?? true;
  const finished: FinishedPart[] = [];
  /** Undefined after rolling over, until something is written. */
  let current: OpenPart | undefined = await openPart(options, 1);

  const finishCurrent = async (): Promise<void> => {
    if (current === undefined) return;
    finished.push(await current.finish());
    current = undefined;
  };
  type Takes = Pick<QuadSink, 'write' | 'writeBytes'>;
  /** What writes to the part that is current at the time: to it as a whole, or to its text. */
  const writing = (first: Takes, to: (part: OpenPart) => Takes | undefined): Takes => {
    const further = async (): Promise<OpenPart> => {
      current ??= await openPart(options, finished.length + 1);
      return current;
    };
    return {
      write: (text) =>
        current !== undefined ? to(current)?.write(text) : text === '' ? undefined : further().then((part) => to(part)?.write(text)),
      ...(first.writeBytes === undefined
        ? {}
        : {
            async writeBytes(buffers) {
              await to(await further())?.writeBytes?.(buffers);
            },
          }),
    };
  };
  const { text } = current;
  return {
    ...writing(current, (part) => part),
    ...(text === undefined ? {} : { text: { form: text.form, ...writing(text, (part) => part.text) } }),

    async rollOver() {
      if (current?.empty === false) await finishCurrent();
    },

    async finish() {
      await finishCurrent();
      return finished;
    },

    async commit() {
      await finishCurrent();
      return publishParts(directory, name, finished, durable);
    },

    async abort() {
      await current?.abort();
      current = undefined;
      for (const { file } of finished) await rm(join(directory, file), { force: true });
    },
  };
}

/**
 * Gives finished parts their final names, in order; all of them or none.
 *
 * @throws Fault sink/failed
 */
export async function publishParts(
  directory: string,
  name: string,
  parts: readonly FinishedPart[],
  durable = true,
): Promise<readonly PartFile[]> {
  const published: PartFile[] = [];
  for (const [i, { file, bytes, sha256 }] of parts.entries()) {
    const path = join(directory, partName(name, i + 1));
    try {
      await rename(join(directory, file), path);
    } catch (error) {
      await Promise.allSettled(published.map((part) => rm(new URL(part.url), { force: true })));
      throw writeFault(path, error);
    }
    published.push({ url: pathToFileURL(path).href, bytes, sha256 });
  }
  if (durable) await syncDirectory(directory);
  return published;
}

/** A descriptor that is closed once. Opening and closing take microseconds, so they are synchronous. @throws Fault sink/failed, for `path` */
function openNew(directory: string, temporary: string, path: string): { readonly descriptor: number; close(): void } {
  try {
    makeDirectory(directory);
    const descriptor = openSync(temporary, 'w');
    let isOpen = true;
    return {
      descriptor,
      close() {
        if (!isOpen) return;
        isOpen = false;
        closeSync(descriptor);
      },
    };
  } catch (error) {
    throw writeFault(path, error);
  }
}

interface OpenPart extends Pick<QuadSink, 'write' | 'writeBytes' | 'text' | 'abort'> {
  readonly empty: boolean;
  finish(): Promise<FinishedPart>;
}

async function openPart(options: FileSinkOptions, n: number): Promise<OpenPart> {
  const { directory, attempt, format, prefixes, encoding = 'utf-8', compression = 'none', level, ...rest } = options;
  const name = partName(options.name, n);
  const path = join(directory, name);
  const temporary = join(directory, temporaryName(name, attempt));
  const durable = rest.durable ?? true;
  const { descriptor, close } = openNew(directory, temporary, path);
  const writer = new DescriptorWriter(descriptor, path, { digest: rest.digest ?? true, durable });
  const file: QuadSink = {
    write: (lines) => writer.write(lines),
    writeBytes: (buffers) => writer.writeBytes(buffers),
    async commit() {
      const { bytes, sha256 } = await writer.finish();
      try {
        if (durable) await syncFile(descriptor);
        close();
      } catch (error) {
        throw writeFault(path, error);
      }
      return [{ url: pathToFileURL(temporary).href, bytes, sha256 }];
    },
    async abort() {
      await writer.drop();
      try {
        close();
      } catch {
        // The file is removed anyway.
      }
      await rm(temporary, { force: true });
    },
  };
  const sink = await layers(file).catch(async (error) => {
    await file.abort();
    throw error;
  });

  /** Statements → text → bytes → compressed bytes → file. What is not asked for is not loaded. */
  async function layers(inner: QuadSink): Promise<QuadSink> {
    let outer = inner;
    if (compression !== 'none') {
      const spoolPath = join(directory, temporaryName(`${name}.spool`, attempt));
      const extension = FORMAT_EXTENSION[format];
      outer = await (await import('./packing/packed.ts')).packed(outer, { compression, level, name, extension, spoolPath });
    }
    if (encoding === 'utf-16') outer = (await import('./utf-16.ts')).inUtf16(outer);
    if (format === 'nquads') return outer;
    const spillDirectory = join(directory, temporaryName(`${name}.groups`, attempt));
    return (await import('./formats/format.ts')).formatted(outer, { format, prefixes, encoding, spillDirectory });
  }

  let empty = true;
  const noting = ({ write, writeBytes }: Pick<QuadSink, 'write' | 'writeBytes'>): Pick<QuadSink, 'write' | 'writeBytes'> => ({
    write(lines) {
      if (lines !== '') empty = false;
      return write(lines);
    },
    ...(writeBytes === undefined
      ? {}
      : {
          writeBytes(buffers) {
            if (buffers.some(({ length }) => length > 0)) empty = false;
            return writeBytes(buffers);
          },
        }),
  });
  return {
    get empty() {
      return empty;
    },
    ...noting(sink),
    ...(sink.text === undefined ? {} : { text: { form: sink.text.form, ...noting(sink.text) } }),
    async finish() {
      const [part] = (await sink.commit()) as [PartFile];
      return { file: basename(temporary), bytes: part.bytes, sha256: part.sha256, empty };
    },
    abort: () => sink.abort(),
  };
}
