/**
 * Reads a journal, and tells a write that a crash interrupted from acknowledged writes that are damaged.
 *
 * The record that does not have its bytes was acknowledged where the manifest says so, or where a later record says that it was on disk before.
 * Otherwise a crash interrupted it, and everything behind it. Blocks: for the engine's thread.
 */
import { closeSync, fstatSync, openSync } from 'node:fs';
import { basename } from 'node:path';
import type { JournalExtent, Write } from '../messages.ts';
import type { Damage } from './damage.ts';
import { type Head, journalId, nextCandidate, type OpenFile, type ReadRecord, readOldRecord, readRecord } from './record.ts';
import { statementsOf } from './statements.ts';

export interface JournalRecord {
  readonly write: Write;
  readonly body: Uint8Array;
  /** Where it begins, in bytes. */
  readonly at: number;
}

/** Up to where a journal can be read. */
export interface JournalEnd {
  /** undefined: of version 1, or without its beginning. */
  readonly extent: JournalExtent | undefined;
  readonly version: 1 | 2;
  /** Bytes of an interrupted write behind it. */
  readonly tornBytes: number;
}

type Records = Generator<JournalRecord, JournalEnd, undefined>;

/**
 * Yields every record that can be read, also behind damage.
 *
 * @param expected what was acknowledged; undefined: there is no manifest
 */
export function* readJournal(path: string, expected: JournalExtent | undefined, damage: Damage): Records {
  const descriptor = openSync(path, 'r');
  try {
    const file = { descriptor, bytes: fstatSync(descriptor).size };
    const name = basename(path);
    const first = readOldRecord(file, 0);
    const id = first && journalId(first.head);
    if (first !== undefined && id !== undefined) {
      return yield* readRecords(
        { file, name, expected, damage },
        { id, records: 0, statements: 0, bytes: first.bytes, sha256: first.sha256 },
      );
    }
    // Version 1 never had a manifest.
    if (first === undefined && (expected !== undefined || nextRecord(file, -1, undefined) !== undefined)) {
      const start = { id: expected?.id ?? '', records: 0, statements: 0, bytes: 0, sha256: '' };
      return yield* readRecords({ file, name, expected, damage }, start);
    }
    return yield* readOldRecords(file, name, damage);
  } finally {
    closeSync(descriptor);
  }
}

interface Reading {
  readonly file: OpenFile;
  readonly name: string;
  readonly expected: JournalExtent | undefined;
  readonly damage: Damage;
}

/** @param start the extent of the first record; with 0 bytes where that one is damaged */
function* readRecords({ file, name, expected, damage }: Reading, start: JournalExtent): Records {
  let extent = start;
  const isOther = expected !== undefined && start.bytes > 0 && start.id !== expected.id;
  if (isOther) {
    const lost = { records: expected.records, statements: expected.statements };
    damage.add({ file: name, from: 0, to: file.bytes, reason: 'it is not the journal that the manifest names' }, lost);
    return { extent: undefined, version: 2, tornBytes: 0 };
  }
  for (;;) {
    const record = extent.bytes === 0 ? undefined : readRecord(file, extent.bytes);
    if (record !== undefined && follows(record, extent)) {
      yield { write: record.head.write, body: record.body, at: extent.bytes };
      extent = extentWith(extent.id, record);
      if (expected?.records === extent.records && expected.sha256 !== extent.sha256) {
        damage.add({
          file: name,
          from: 0,
          to: extent.bytes,
          reason: `its first ${extent.records} records are not those that the manifest names`,
        });
      }
      continue;
    }
    const next = nextRecord(file, extent.bytes, extent.id === '' ? undefined : extent.id);
    const known = Math.max(expected?.bytes ?? 0, next?.head.durable ?? 0);
    if (known <= extent.bytes) return { extent, version: 2, tornBytes: file.bytes - extent.bytes };
    const [records, statements] = [next?.head.record ?? expected?.records ?? 0, next?.head.statements ?? expected?.statements ?? 0];
    const to = Math.min(next?.head.at ?? known, file.bytes);
    const lost = { records: records - extent.records, statements: statements - extent.statements };
    damage.add({ file: name, from: extent.bytes, to: Math.max(to, extent.bytes), reason: reasonOf(extent, lost.records, to) }, lost);
    if (next === undefined) return { extent: undefined, version: 2, tornBytes: 0 };
    yield { write: next.head.write, body: next.body, at: next.head.at };
    extent = extentWith(next.head.journal, next);
  }
}

function reasonOf({ records, bytes }: JournalExtent, lost: number, to: number): string {
  const which = lost === 1 ? `write ${records + 1}` : `writes ${records + 1} to ${records + lost}`;
  if (to <= bytes) return `${which} ${lost === 1 ? 'is' : 'are'} missing`;
  if (lost === 0) return 'its first record does not have the bytes that were written';
  return `${which} ${lost === 1 ? 'does' : 'do'} not have the bytes that were written`;
}

const follows = ({ head }: ReadRecord<Head>, extent: JournalExtent): boolean =>
  head.journal === extent.id && head.record === extent.records && head.previous === extent.sha256;

const extentWith = (id: string, { head, body, bytes, sha256 }: ReadRecord<Head>): JournalExtent => ({
  id,
  records: head.record + 1,
  statements: head.statements + statementsOf(head.write, body),
  bytes: head.at + bytes,
  sha256,
});

/** The next record behind `at` that has its bytes and its place. The id keeps out what a document only looks like. */
function nextRecord(file: OpenFile, at: number, id: string | undefined): ReadRecord<Head> | undefined {
  for (let found = nextCandidate(file, at, 2); found !== undefined; found = nextCandidate(file, found, 2)) {
    const record = readRecord(file, found);
    if (record !== undefined && (id === undefined || record.head.journal === id)) return record;
  }
  return undefined;
}

/** Version 1 says nothing of what was acknowledged: a record behind one that is damaged came later. */
function* readOldRecords(file: OpenFile, name: string, damage: Damage): Records {
  for (let at = 0; ; ) {
    const record = readOldRecord(file, at);
    if (record !== undefined) {
      yield { write: record.head as Write, body: record.body, at };
      at += record.bytes;
      continue;
    }
    const next = nextOldRecord(file, at);
    if (next === undefined) return { extent: undefined, version: 1, tornBytes: file.bytes - at };
    const reason = 'one or more writes do not have the bytes that were written';
    damage.add({ file: name, from: at, to: next, reason }, { records: 1 });
    at = next;
  }
}

function nextOldRecord(file: OpenFile, at: number): number | undefined {
  for (let found = nextCandidate(file, at, 1); found !== undefined; found = nextCandidate(file, found, 1)) {
    if (readOldRecord(file, found) !== undefined) return found;
  }
  return undefined;
}
