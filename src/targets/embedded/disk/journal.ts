/**
 * The journal of the embedded store: the writes since the last snapshot, in order (`record.ts` has their bytes). Records that are appended at the
 * same time share one fsync; then the manifest has how much is acknowledged, and then they are.
 */
import { randomBytes } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { JournalExtent, Write } from '../messages.ts';
import type { ManifestFile } from './manifest.ts';
import { encodeBeginning, encodeRecord } from './record.ts';
import { statementsOf } from './statements.ts';
import { syncDirectory } from './sync.ts';

interface Pending {
  readonly write: Write;
  readonly body: Uint8Array;
  resolve(): void;
  reject(error: unknown): void;
}

export interface Journal {
  /** About as many as its file has, with the records that are not on disk yet. */
  readonly bytes: number;
  /** Resolves when the record is on disk. @throws the error of the disk; after that every append fails */
  append(write: Write, body: Uint8Array): Promise<void>;
  /** Resolves when every record appended so far is on disk. @throws as `append` */
  flushed(): Promise<void>;
  /** Cuts off what is not durable, where the disk allows it. */
  close(): Promise<void>;
}

/** Makes the journal at `path`, without records; replaces a file that is there. */
export async function createJournal(path: string): Promise<JournalExtent> {
  const id = randomBytes(8).toString('hex');
  const { parts, bytes, sha256 } = encodeBeginning(id);
  const file = await open(path, 'w', 0o600);
  try {
    await writeAll(file, parts);
    await file.sync();
    await syncDirectory(dirname(path));
  } finally {
    await file.close();
  }
  return { id, records: 0, statements: 0, bytes, sha256 };
}

/** Opens the journal at `path`, which is valid up to `extent`; the rest is cut off. It closes the manifest, also when it fails. */
export async function openJournal(path: string, extent: JournalExtent, manifest: ManifestFile): Promise<Journal> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'a', 0o600);
    await file.truncate(extent.bytes);
    await file.sync();
    return new JournalFile(file, extent, manifest);
  } catch (error) {
    await Promise.all([file?.close(), manifest.close()]);
    throw error;
  }
}

class JournalFile implements Journal {
  /** What is on disk. */
  private durable: JournalExtent;
  private pendingBytes = 0;
  private readonly file: FileHandle;
  private readonly manifest: ManifestFile;
  private pending: Pending[] = [];
  private flushing: Promise<void> | undefined;
  private failure: { readonly error: unknown } | undefined;

  constructor(file: FileHandle, extent: JournalExtent, manifest: ManifestFile) {
    this.file = file;
    this.durable = extent;
    this.manifest = manifest;
  }

  get bytes(): number {
    return this.durable.bytes + this.pendingBytes;
  }

  append(write: Write, body: Uint8Array): Promise<void> {
    if (this.failure !== undefined) return Promise.reject(this.failure.error);
    this.pendingBytes += body.length;
    return new Promise((resolve, reject) => {
      this.pending.push({ write, body, resolve, reject });
      this.flushing ??= this.flush();
    });
  }

  async flushed(): Promise<void> {
    await this.flushing;
    if (this.failure !== undefined) throw this.failure.error;
  }

  async close(): Promise<void> {
    await this.flushing;
    try {
      if (this.failure !== undefined) await this.file.truncate(this.durable.bytes);
      await this.manifest.sync();
    } finally {
      await Promise.all([this.file.close(), this.manifest.close()]);
    }
  }

  /** Never rejects: every pending append does, and `failure` is kept. */
  private async flush(): Promise<void> {
    // Records that are appended in the same tick join this flush.
    await Promise.resolve();
    while (this.pending.length > 0) {
      const batch = this.pending.splice(0);
      try {
        if (this.failure !== undefined) throw this.failure.error;
        let extent = this.durable;
        for (const { write, body } of batch) extent = await this.writeRecord(extent, write, body);
        await this.file.datasync();
        await this.manifest.mark(extent);
        this.durable = extent;
        for (const { resolve } of batch) resolve();
      } catch (error) {
        this.failure ??= { error };
        for (const { reject } of batch) reject(error);
      }
      this.pendingBytes -= batch.reduce((sum, { body }) => sum + body.length, 0);
    }
    this.flushing = undefined;
  }

  /** Writes a record behind `extent`; resolves to the extent with it. */
  private async writeRecord(
    { id, records, statements, bytes, sha256 }: JournalExtent,
    write: Write,
    body: Uint8Array,
  ): Promise<JournalExtent> {
    const head = { journal: id, record: records, at: bytes, durable: this.durable.bytes, statements, previous: sha256, write };
    const encoded = encodeRecord(head, body);
    await writeAll(this.file, encoded.parts);
    return {
      id,
      records: records + 1,
      statements: statements + statementsOf(write, body),
      bytes: bytes + encoded.bytes,
      sha256: encoded.sha256,
    };
  }
}

/** A write may be short when the disk is nearly full. */
async function writeAll(file: FileHandle, parts: readonly Uint8Array[]): Promise<void> {
  for (const part of parts) {
    let from = 0;
    while (from < part.length) from += (await file.write(part, from)).bytesWritten;
  }
}
