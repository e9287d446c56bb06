/**
 * The journal of the embedded store: the writes since the last snapshot, in order.
 *
 * A record is `QMJ1`, the lengths of head and body (4 bytes each, big-endian), 4 zero bytes, 16 bytes of a SHA-256 of the lengths, the head and
 * the body, then the head (JSON of `Write`) and the body. Records that are appended at the same time share one fsync.
 */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { JournalEnd, Write } from '../messages.ts';
import { syncDirectory } from './files.ts';

const MAGIC = Buffer.from('QMJ1');
const FIXED_BYTES = 32;
const DIGEST_BYTES = 16;
const DIGEST_AT = 16;

interface Pending {
  readonly parts: readonly Uint8Array[];
  readonly bytes: number;
  resolve(): void;
  reject(error: unknown): void;
}

export interface Journal {
  /** Including records that are not on disk yet. */
  readonly bytes: number;
  /** Resolves when the record is on disk. @throws the error of the disk; after that every append fails */
  append(write: Write, body: Uint8Array): Promise<void>;
  /** Resolves when every record appended so far is on disk. @throws as `append` */
  flushed(): Promise<void>;
  /** Cuts off what is not durable, where the disk allows it. */
  close(): Promise<void>;
}

/** Opens the journal at `path`, of which the first `bytes` bytes are valid; the rest is cut off. */
export async function openJournal(path: string, bytes: number): Promise<Journal> {
  const file = await open(path, 'a+', 0o600);
  try {
    await file.truncate(bytes);
    await file.sync();
    await syncDirectory(dirname(path));
  } catch (error) {
    await file.close();
    throw error;
  }
  return new JournalFile(file, bytes);
}

class JournalFile implements Journal {
  bytes: number;
  private durableBytes: number;
  private readonly file: FileHandle;
  private pending: Pending[] = [];
  private flushing: Promise<void> | undefined;
  private failure: { readonly error: unknown } | undefined;

  constructor(file: FileHandle, bytes: number) {
    this.file = file;
    this.bytes = bytes;
    this.durableBytes = bytes;
  }

  append(write: Write, body: Uint8Array): Promise<void> {
    if (this.failure !== undefined) return Promise.reject(this.failure.error);
    const parts = recordOf(write, body);
    const bytes = parts.reduce((sum, part) => sum + part.length, 0);
    this.bytes += bytes;
    return new Promise((resolve, reject) => {
      this.pending.push({ parts, bytes, resolve, reject });
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
      if (this.failure !== undefined) await this.file.truncate(this.durableBytes);
    } finally {
      await this.file.close();
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
        for (const { parts } of batch) await writeAll(this.file, parts);
        await this.file.datasync();
        this.durableBytes += batch.reduce((sum, { bytes }) => sum + bytes, 0);
        for (const { resolve } of batch) resolve();
      } catch (error) {
        this.failure ??= { error };
        for (const { reject } of batch) reject(error);
      }
    }
    this.flushing = undefined;
  }
}

/** A write may be short when the disk is nearly full. */
async function writeAll(file: FileHandle, parts: readonly Uint8Array[]): Promise<void> {
  for (const part of parts) {
    let from = 0;
    while (from < part.length) from += (await file.write(part, from)).bytesWritten;
  }
}

function recordOf(write: Write, body: Uint8Array): readonly Uint8Array[] {
  const head = Buffer.from(JSON.stringify(write));
  const fixed = Buffer.alloc(FIXED_BYTES);
  MAGIC.copy(fixed);
  fixed.writeUInt32BE(head.length, 4);
  fixed.writeUInt32BE(body.length, 8);
  digestOf(fixed, head, body).copy(fixed, DIGEST_AT);
  return [Buffer.concat([fixed, head]), body];
}

function digestOf(fixed: Buffer, head: Uint8Array, body: Uint8Array): Buffer {
  const hash = createHash('sha256').update(fixed.subarray(4, 12)).update(head).update(body);
  return hash.digest().subarray(0, DIGEST_BYTES);
}

export interface JournalRecord {
  readonly write: Write;
  readonly body: Uint8Array;
}

/** Reads the records of a journal one at a time, up to its end or the first incomplete one. Blocks: for the engine's thread. */
export function* readJournal(path: string): Generator<JournalRecord, JournalEnd, undefined> {
  const file = openSync(path, 'r');
  try {
    const fixed = Buffer.alloc(FIXED_BYTES);
    for (let at = 0; ; ) {
      const got = fill(file, fixed, at);
      if (got === 0) return { bytes: at, torn: false };
      if (got < FIXED_BYTES || !fixed.subarray(0, 4).equals(MAGIC)) return { bytes: at, torn: true };
      const [headBytes, bodyBytes] = [fixed.readUInt32BE(4), fixed.readUInt32BE(8)];
      // The lengths in a torn record may be anything; memory stays within the size of the file.
      const rest = readRest(file, at + FIXED_BYTES, headBytes + bodyBytes);
      if (rest === undefined) return { bytes: at, torn: true };
      const [head, body] = [rest.subarray(0, headBytes), rest.subarray(headBytes)];
      if (!digestOf(fixed, head, body).equals(fixed.subarray(DIGEST_AT, DIGEST_AT + DIGEST_BYTES))) return { bytes: at, torn: true };
      yield { write: JSON.parse(head.toString()) as Write, body };
      at += FIXED_BYTES + headBytes + bodyBytes;
    }
  } finally {
    closeSync(file);
  }
}

const STEP_BYTES = 16 * 1024 * 1024;

/** `bytes` bytes from `at` on; undefined: the file is shorter. */
function readRest(file: number, at: number, bytes: number): Buffer | undefined {
  const parts: Buffer[] = [];
  for (let done = 0; done < bytes; ) {
    const part = Buffer.allocUnsafe(Math.min(STEP_BYTES, bytes - done));
    if (fill(file, part, at + done) < part.length) return undefined;
    parts.push(part);
    done += part.length;
  }
  return parts.length === 1 ? parts[0] : Buffer.concat(parts);
}

/** Bytes read into `buffer`; fewer than its length only at the end of the file. */
function fill(file: number, buffer: Buffer, at: number): number {
  let got = 0;
  while (got < buffer.length) {
    const read = readSync(file, buffer, got, buffer.length - got, at + got);
    if (read === 0) break;
    got += read;
  }
  return got;
}
