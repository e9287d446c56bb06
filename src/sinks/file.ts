/** Output into a file that appears under its name when it is complete, and not before. */
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { syncDirectory } from '../storage/file.ts';
import { DescriptorWriter, writeFault } from './descriptor.ts';
import type { OutputFormat, QuadSink } from './sink.ts';

export interface FileSinkOptions {
  /** Absolute; made when it is not there. */
  readonly directory: string;
  /** Final file name, with extension. */
  readonly name: string;
  /** Distinguishes attempts of one run that may overlap: each writes a file of its own. */
  readonly attempt: string | number;
  readonly format: OutputFormat;
  /** Prefix → namespace IRI, for Turtle and TriG. */
  readonly prefixes?: Readonly<Record<string, string>>;
  /** Compute SHA-256 on the way (default true); without it the part's `sha256` is empty. */
  readonly digest?: boolean;
  /** Flush to the disk before the name appears (default true): a power cut cannot leave a complete name on an incomplete file. */
  readonly durable?: boolean;
}

/**
 * Opens `.<name>.<attempt>.part`; commit renames it to `name`, replacing a file of that name; abort removes it.
 *
 * @throws Fault sink/failed — with the path and the reason; from `open`, `write` and `commit`
 */
export async function openFileSink(options: FileSinkOptions): Promise<QuadSink> {
  const { directory, name } = options;
  const path = join(directory, name);
  const temporary = join(directory, `.${name}.${options.attempt}.part`);
  const handle = await mkdir(directory, { recursive: true })
    .then(() => open(temporary, 'w'))
    .catch((error) => {
      throw writeFault(path, error);
    });
  const writer = new DescriptorWriter(handle.fd, path, options.digest ?? true);
  const sink: QuadSink = {
    write: (lines) => writer.write(lines),
    async commit() {
      const { bytes, sha256 } = await writer.finish();
      try {
        if (options.durable ?? true) await handle.sync();
        await handle.close();
        await rename(temporary, path);
        if (options.durable ?? true) await syncDirectory(directory);
      } catch (error) {
        throw writeFault(path, error);
      }
      return [{ url: pathToFileURL(path).href, bytes, sha256 }];
    },
    async abort() {
      await writer.drop();
      await handle.close().catch(() => undefined);
      await rm(temporary, { force: true });
    },
  };
  if (options.format === 'nquads') return sink;
  const { formatted } = await import('./format.ts');
  return formatted(sink, { format: options.format, prefixes: options.prefixes });
}
