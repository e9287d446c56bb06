/** Loads the state on disk: the snapshot, then every record of the journal. */
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { Damage } from '../disk/damage.ts';
import { journalPath, snapshotPath } from '../disk/files.ts';
import { MANIFEST } from '../disk/manifest.ts';
import { type JournalEnd, type JournalRecord, readJournal } from '../disk/read-journal.ts';
import { type LoadedSnapshot, loadSnapshot } from '../disk/snapshot.ts';
import type { LoadedFiles, StoreFiles } from '../messages.ts';
import type { Triples } from './triples.ts';

/** @param triples empty */
export function loadFiles(triples: Triples, { directory, generation, manifest, hadManifest, list }: StoreFiles): LoadedFiles {
  const damage = new Damage(list);
  const missing = (file: string, lost: { readonly records?: number; readonly statements?: number } = {}): void =>
    damage.add({ file, from: 0, to: 0, reason: 'the file is missing' }, lost);

  const snapshot = snapshotPath(directory, generation);
  const hasSnapshot = manifest === undefined ? generation > 0 : manifest.snapshot !== undefined;
  let loaded: LoadedSnapshot | undefined;
  if (hasSnapshot && existsSync(snapshot)) loaded = loadSnapshot(triples.store, snapshot, manifest?.snapshot, damage);
  else if (hasSnapshot) missing(basename(snapshot), { statements: manifest?.snapshot?.statements ?? 0 });

  const path = journalPath(directory, generation);
  const name = basename(path);
  // Version 1 made the journal after the snapshot.
  const isOld = loaded?.version === 1;
  let end: JournalEnd = { extent: undefined, version: isOld ? 1 : 2, tornBytes: 0 };
  if (existsSync(path)) {
    const records = readJournal(path, manifest?.journal, damage);
    let next = records.next();
    const isWithoutRecords = next.done === true;
    for (; !next.done; next = records.next()) carryOut(triples, next.value, { name, damage });
    end = next.value;
    // Every journal of version 2 has a first record, which names it.
    if (manifest === undefined && (hadManifest || loaded?.version === 2) && isWithoutRecords && end.version === 1)
      damage.add({ file: name, from: 0, to: 0, reason: 'it has lost its records, and the manifest is missing or damaged' });
  } else if (!isOld) missing(name, manifest?.journal);
  if (manifest === undefined && end.version === 2 && end.tornBytes > 0) {
    const from = end.extent?.bytes ?? 0;
    const reason = `whether this write was acknowledged cannot be told, since ${MANIFEST} is missing or damaged`;
    damage.add({ file: name, from, to: from + end.tornBytes, reason }, { records: 1 });
  }
  // Also where only one of both is old: an interrupted conversion.
  const version = isOld ? 1 : end.version;
  return { version, snapshot: loaded?.extent, journal: end.extent, tornBytes: end.tornBytes, damage: damage.report() };
}

/** A write that follows one that is lost may not be possible without it. */
function carryOut(
  triples: Triples,
  { write, body, at }: JournalRecord,
  { name, damage }: { readonly name: string; readonly damage: Damage },
): void {
  try {
    triples.write(write, body);
  } catch (error) {
    if (!damage.found) throw error;
    damage.add(
      { file: name, from: at, to: at, reason: `a write cannot be carried out without those that are lost: ${(error as Error).message}` },
      { records: 1 },
    );
  }
}
