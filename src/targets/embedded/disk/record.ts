/**
 * One record of the journal: its bytes, and whether they are those that were written.
 *
 * A record is `QMJ2`, the lengths of head and body (4 bytes each, big-endian), 4 zero bytes, the SHA-256 of these 16 bytes, the head and the body,
 * then the head (JSON of `Head`) and the body. The first record of a journal has another layout, that of version 1: `QMJ1`, lengths and zeros as above,
 * 16 bytes of the SHA-256 of the lengths, the head and the body, then both. Its head names a format of RDF that version 1 refuses to load.
 */
import { createHash } from 'node:crypto';
import { readSync } from 'node:fs';
import type { Write } from '../messages.ts';

export const MAGIC = Buffer.from('QMJ2');
const FIXED_BYTES = 48;
const DIGEST_AT = 16;
/** No head is longer: a graph's IRI is the only text in it without a bound, and comes in the line of an HTTP request. */
const MOST_HEAD_BYTES = 1024 * 1024;

const OLD_MAGIC = Buffer.from('QMJ1');
const OLD_FIXED_BYTES = 32;
const JOURNAL_FORMAT = 'quadmill-journal-2';

export interface Head {
  /** Of the journal. */
  readonly journal: string;
  /** From 0. */
  readonly record: number;
  /** Where the record begins, in bytes. */
  readonly at: number;
  /** Bytes of the journal that were on disk, and acknowledged, when the record was written. */
  readonly durable: number;
  /** In the documents of all records before this one, as far as documents with a statement a line tell. */
  readonly statements: number;
  /** SHA-256 of the record before. */
  readonly previous: string;
  readonly write: Write;
}

export interface EncodedRecord {
  readonly parts: readonly Uint8Array[];
  readonly bytes: number;
  readonly sha256: string;
}

export function encodeRecord(head: Head, body: Uint8Array): EncodedRecord {
  const text = Buffer.from(JSON.stringify(head));
  const fixed = fixedPart(MAGIC, FIXED_BYTES, text.length, body.length);
  const digest = digestOf(fixed, text, body);
  digest.copy(fixed, DIGEST_AT);
  return {
    parts: [Buffer.concat([fixed, text]), body],
    bytes: FIXED_BYTES + text.length + body.length,
    sha256: digest.toString('hex'),
  };
}

/** The first record of the journal with this id. */
export function encodeBeginning(journal: string): EncodedRecord {
  const text = Buffer.from(JSON.stringify({ kind: 'load', format: JOURNAL_FORMAT, journal }));
  const fixed = fixedPart(OLD_MAGIC, OLD_FIXED_BYTES, text.length, 0);
  const digest = oldDigestOf(fixed, text, new Uint8Array(0));
  digest.copy(fixed, DIGEST_AT);
  return { parts: [fixed, text], bytes: fixed.length + text.length, sha256: digest.toString('hex') };
}

function fixedPart(magic: Buffer, bytes: number, headBytes: number, bodyBytes: number): Buffer {
  const fixed = Buffer.alloc(bytes);
  magic.copy(fixed);
  fixed.writeUInt32BE(headBytes, 4);
  fixed.writeUInt32BE(bodyBytes, 8);
  return fixed;
}

const digestOf = (fixed: Buffer, head: Uint8Array, body: Uint8Array): Buffer =>
  createHash('sha256').update(fixed.subarray(0, DIGEST_AT)).update(head).update(body).digest();

const oldDigestOf = (fixed: Buffer, head: Uint8Array, body: Uint8Array): Buffer =>
  createHash('sha256').update(fixed.subarray(4, 12)).update(head).update(body).digest().subarray(0, 16);

export interface ReadRecord<H> {
  readonly head: H;
  readonly body: Uint8Array;
  readonly bytes: number;
  readonly sha256: string;
}

/** A file that is read. */
export interface OpenFile {
  readonly descriptor: number;
  readonly bytes: number;
}

/** The record that begins at `at`; undefined: none, or not as it was written. */
export function readRecord(file: OpenFile, at: number): ReadRecord<Head> | undefined {
  const fixed = readBytes(file, at, FIXED_BYTES);
  if (fixed === undefined || !fixed.subarray(0, 4).equals(MAGIC) || fixed.readUInt32BE(12) !== 0) return undefined;
  const [headBytes, bodyBytes] = [fixed.readUInt32BE(4), fixed.readUInt32BE(8)];
  // The lengths may be anything: nothing is read that the file does not have, and no body of a head that is none.
  if (headBytes > MOST_HEAD_BYTES || at + FIXED_BYTES + headBytes + bodyBytes > file.bytes) return undefined;
  const text = readBytes(file, at + FIXED_BYTES, headBytes);
  const head = text && parseHead(text);
  if (text === undefined || head === undefined || head.at !== at) return undefined;
  const body = readBytes(file, at + FIXED_BYTES + headBytes, bodyBytes);
  if (body === undefined) return undefined;
  const digest = digestOf(fixed, text, body);
  if (!digest.equals(fixed.subarray(DIGEST_AT))) return undefined;
  return { head, body, bytes: FIXED_BYTES + headBytes + bodyBytes, sha256: digest.toString('hex') };
}

function parseHead(text: Buffer): Head | undefined {
  try {
    return JSON.parse(text.toString()) as Head;
  } catch {
    return undefined;
  }
}

export type OldHead = Write | { readonly kind: 'load'; readonly format: typeof JOURNAL_FORMAT; readonly journal: string };

/** A record of version 1, or the first one of version 2. */
export function readOldRecord(file: OpenFile, at: number): ReadRecord<OldHead> | undefined {
  const fixed = readBytes(file, at, OLD_FIXED_BYTES);
  if (fixed === undefined || !fixed.subarray(0, 4).equals(OLD_MAGIC) || fixed.readUInt32BE(12) !== 0) return undefined;
  const [headBytes, bodyBytes] = [fixed.readUInt32BE(4), fixed.readUInt32BE(8)];
  const bytes = OLD_FIXED_BYTES + headBytes + bodyBytes;
  if (at + bytes > file.bytes) return undefined;
  const rest = readBytes(file, at + OLD_FIXED_BYTES, headBytes + bodyBytes);
  if (rest === undefined) return undefined;
  const [head, body] = [rest.subarray(0, headBytes), rest.subarray(headBytes)];
  const digest = oldDigestOf(fixed, head, body);
  if (!digest.equals(fixed.subarray(DIGEST_AT))) return undefined;
  return { head: JSON.parse(head.toString()) as OldHead, body, bytes, sha256: digest.toString('hex') };
}

/** The id of the journal that the first record begins; undefined: a record of version 1. */
export const journalId = (head: OldHead): string | undefined => ('journal' in head ? head.journal : undefined);

const STEP_BYTES = 1024 * 1024;

/** The next place after `at` where a record of either version may begin; undefined: there is none. */
export function nextCandidate(file: OpenFile, at: number, version: 1 | 2): number | undefined {
  const magic = version === 1 ? OLD_MAGIC : MAGIC;
  for (let from = at + 1; from < file.bytes; from += STEP_BYTES) {
    const found = readBytes(file, from, Math.min(STEP_BYTES + magic.length - 1, file.bytes - from))?.indexOf(magic) ?? -1;
    if (found >= 0) return from + found;
  }
  return undefined;
}

/** `bytes` bytes from `at` on; undefined: the file is shorter. */
function readBytes({ descriptor }: OpenFile, at: number, bytes: number): Buffer | undefined {
  const buffer = Buffer.allocUnsafe(bytes);
  for (let got = 0; got < bytes; ) {
    const read = readSync(descriptor, buffer, got, bytes - got, at + got);
    if (read === 0) return undefined;
    got += read;
  }
  return buffer;
}
