/**
 * `store.json`: which snapshot and which journal hold the state of the embedded store, and what of them was acknowledged.
 *
 * A line of JSON, padded to one sector of a disk, so that it is replaced as a whole or not at all. It is written after each flush of the journal
 * and before the writes of that flush are acknowledged. It is not synced then: a killed process leaves the last one, a power cut an earlier one.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { JournalExtent, Manifest, SnapshotExtent } from '../messages.ts';
import { moveIntoPlace } from './sync.ts';

export const MANIFEST = 'store.json';
/** Of manifest, snapshot and journal; 1 had no manifest. */
export const VERSION = 2;
const FORMAT = 'quadmill-store';
const BYTES = 512;

/**
 * `damaged`: there is one, and its bytes are not those that were written.
 *
 * @throws Error — a later version has written it
 */
export function readManifest(directory: string): Manifest | 'missing' | 'damaged' {
  let text: string;
  try {
    text = readFileSync(join(directory, MANIFEST), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'missing';
    throw error;
  }
  const parsed = parse(text);
  if (parsed === undefined) return 'damaged';
  if (parsed.version > VERSION) {
    throw new Error(`${MANIFEST} has the version ${parsed.version} of the format; this Quadmill reads up to ${VERSION}: use the newer one`);
  }
  return { generation: parsed.generation, snapshot: parsed.snapshot ?? undefined, journal: parsed.journal };
}

interface Written {
  readonly version: number;
  readonly generation: number;
  readonly snapshot: SnapshotExtent | null;
  readonly journal: JournalExtent;
}

/** undefined: not what was written. Also the spaces behind the JSON count: whatever changed, it shows. */
function parse(text: string): Written | undefined {
  try {
    const { format, check, ...rest } = JSON.parse(text) as Written & { readonly format: string; readonly check: string };
    return format === FORMAT && check === checkOf(rest) && text === padded(rest) ? rest : undefined;
  } catch {
    return undefined;
  }
}

const checkOf = (written: Written): string => createHash('sha256').update(JSON.stringify(written)).digest('hex').slice(0, 16);

const padded = (written: Written): string =>
  `${JSON.stringify({ format: FORMAT, ...written, check: checkOf(written) }).padEnd(BYTES - 1)}\n`;

const textOf = ({ generation, snapshot, journal }: Manifest): string =>
  padded({ version: VERSION, generation, snapshot: snapshot ?? null, journal });

export interface ManifestFile {
  /** Replaces what it says of the journal; not synced. */
  mark(journal: JournalExtent): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Replaces the manifest, synced, and keeps it open. */
export async function writeManifest(directory: string, manifest: Manifest): Promise<ManifestFile> {
  const path = join(directory, MANIFEST);
  const file = await open(`${path}.tmp`, 'w', 0o600);
  try {
    await writeAt(file, textOf(manifest));
    await file.sync();
    await moveIntoPlace(`${path}.tmp`, path);
  } catch (error) {
    await file.close();
    throw error;
  }
  return {
    mark: (journal) => writeAt(file, textOf({ ...manifest, journal })),
    sync: () => file.datasync(),
    close: () => file.close(),
  };
}

async function writeAt(file: FileHandle, text: string): Promise<void> {
  const { bytesWritten } = await file.write(Buffer.from(text), 0, BYTES, 0);
  if (bytesWritten !== BYTES) throw new Error(`only ${bytesWritten} of ${BYTES} bytes of ${MANIFEST} could be written`);
}
