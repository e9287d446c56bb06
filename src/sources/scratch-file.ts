/**
 * Copies of inputs that must be read from their end, or in no order: workbooks, and Parquet that comes as a stream.
 *
 * The file has no name any more while it is read, where the system allows it: nothing remains of a killed process.
 */
import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Fault } from '../core/fault.ts';
import type { ColumnOptions, FileOptions } from './source.ts';

const DEFAULT_FILES: FileOptions = { directory: tmpdir(), memoryBytes: 32 * 2 ** 20, inflationRatio: 0, inputBytes: 0 };

export const filesOf = ({ files }: Pick<ColumnOptions, 'files'>): FileOptions => files ?? DEFAULT_FILES;

/** A file without a name, or with one that `close` removes. */
export class ScratchFile {
  readonly handle: FileHandle;
  readonly #path: string;
  #closed = false;

  private constructor(handle: FileHandle, path: string) {
    this.handle = handle;
    this.#path = path;
  }

  /** @throws Fault sink/failed */
  static async open({ directory }: FileOptions): Promise<ScratchFile> {
    const path = join(directory, `.quadmill-input-${process.pid}-${randomBytes(6).toString('hex')}`);
    try {
      await mkdir(directory, { recursive: true });
      const handle = await open(path, 'wx+');
      if (process.platform !== 'win32') await rm(path, { force: true });
      return new ScratchFile(handle, path);
    } catch (cause) {
      throw scratchFault(cause);
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.handle.close();
    await rm(this.#path, { force: true });
  }
}

export const scratchFault = (cause: unknown): Fault =>
  new Fault('sink/failed', `A copy of the input cannot be written to disk: ${(cause as Error).message}`, { cause });

/** A copy of the whole input. The caller closes it. @throws Fault sink/failed; those of the input */
export async function copyToScratch(
  bytes: AsyncIterable<Uint8Array>,
  files: FileOptions,
): Promise<{ file: ScratchFile; sizeBytes: number }> {
  const file = await ScratchFile.open(files);
  let sizeBytes = 0;
  try {
    for await (const chunk of bytes) {
      await file.handle.write(chunk, 0, chunk.length, sizeBytes).catch((cause: unknown) => {
        throw scratchFault(cause);
      });
      sizeBytes += chunk.length;
    }
    return { file, sizeBytes };
  } catch (error) {
    await file.close();
    throw error;
  }
}
