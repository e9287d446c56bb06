/** Finds keys of documents, before a run is lowered: terms of which no two rows have the same text. */
import { redact } from '../../core/redact.ts';
import type { FileSource } from '../../mapping/model/model.ts';
import { type KeyQuestion, keyQuestions } from '../../plan/physical/keys.ts';
import { lower } from '../../plan/physical/lower.ts';
import type { DocumentKey } from '../../plan/physical/nodes.ts';
import type { ScanPlan } from '../../plan/plan.ts';
import { readerOf } from '../../sources/formats.ts';
import { rangesOf } from '../../storage/open.ts';
import { isLocal } from '../../storage/url.ts';
import { type DocumentPlace, formatBefore } from '../prepare/documents/inputs.ts';
import { readOptionsOf } from '../prepare/documents/open-scan.ts';
import type { PreparedRun } from '../prepare/open.ts';
import { type ByteSlice, type RunRequest, type SliceScan, STANDARD_INPUT } from '../request.ts';
import { leaveToReader, textReader } from './text-keys.ts';

/** A key, with the version of the file that was looked at: of another one, nothing is known. */
export interface FoundKey extends DocumentKey {
  readonly version: string;
}

/**
 * Looks for keys of files on this machine, as far as some `distinct` node asks for them. Of Parquet, a column of the term alone is read for that; CSV is
 * read as a whole, as long as the texts of the column ascend, or else those of the term differ. For a slice of CSV, the key is one of the rows of the slice: what
 * another slice has is compared elsewhere (`distinct/repeated-subjects.ts`).
 *
 * What is wrong with a file is left to its reader.
 *
 * @param scans of which keys are looked for
 * @returns none for a run of the first records, which compares little
 */
export async function findKeys(
  { plan, physical, places }: Pick<PreparedRun, 'plan' | 'physical' | 'places'>,
  scans: readonly SliceScan[],
  request: RunRequest,
  signal: AbortSignal,
): Promise<readonly FoundKey[]> {
  if (request.firstRecords !== undefined) return [];
  const questions = keyQuestions(plan, physical);
  const found: FoundKey[] = [];
  for (const { position, range } of scans) {
    const asked = questions.filter(({ scan }) => scan === position);
    const scan = plan.scans[position] as ScanPlan;
    const place = places[position];
    if (scan.source.kind !== 'file' || place === undefined || asked.length === 0) continue;
    const file = await keyReader(scan, scan.source, place, range?.kind === 'bytes' ? range : undefined, request, signal);
    if (file === undefined) continue;
    const { version, by } = file;
    // Terms of one document often have the same key.
    const isKey = new Map<string, boolean>();
    for (const question of asked) {
      let key: FoundKey['by'] | undefined;
      for (const reference of question.references) {
        const known = isKey.get(reference) ?? (await file.isKey(reference).catch(leaveToReader)) ?? false;
        isKey.set(reference, known);
        if (known) key = by;
        if (known) break;
      }
      if (key === undefined && (await file.differ?.(question).catch(leaveToReader)) === true) key = 'found';
      if (key !== undefined) found.push({ scan: position, term: question.key, by: key, version });
    }
  }
  return found;
}

/** The run, lowered with the keys that were found. It reads the versions of the files that were looked at. */
export function withKeys<T extends Pick<PreparedRun, 'plan' | 'physical' | 'places'>>(prepared: T, keys: readonly FoundKey[]): T {
  if (keys.length === 0) return prepared;
  const versions = new Map(keys.map(({ scan, version }) => [scan, version]));
  const places = prepared.places.map((place, position) => {
    const version = versions.get(position);
    return place === undefined || version === undefined ? place : { ...place, version };
  });
  return { ...prepared, physical: lower(prepared.plan, true, keys), places };
}

interface KeyReader {
  /** Of the file. */
  readonly version: string;
  readonly by: FoundKey['by'];
  /** Whether no two rows have the same value of a reference; false where that is not found out. @throws Fault those of the reader */
  isKey(reference: string): Promise<boolean>;
  /** The same for the texts of a term. undefined: only columns are looked at. */
  readonly differ?: (question: KeyQuestion) => Promise<boolean>;
}

/** undefined: the document is not read as it is on this machine, or no key can be found with little work. */
async function keyReader(
  scan: ScanPlan,
  source: FileSource,
  place: DocumentPlace,
  slice: ByteSlice | undefined,
  request: RunRequest,
  signal: AbortSignal,
): Promise<KeyReader | undefined> {
  const { url, given } = place;
  if ((given && url === STANDARD_INPUT) || source.request !== undefined) return undefined;
  const { workingDirectory, reach, web, limits } = request;
  const options = { workingDirectory, reach, signal, web, s3: web.s3, limits, compression: source.compression };
  // A server is not asked for what is read from this machine alone.
  const ranges = isLocal(url) ? await rangesOf(url, options, slice?.version).catch(leaveToReader) : undefined;
  if (ranges === undefined) return undefined;
  const { version } = ranges;
  const format = formatBefore(url, source, request.inputOptions);
  const { isKey: look } = readerOf(format);
  if (look === undefined) {
    const texts = await textReader(scan, source, place, ranges, slice, request, signal).catch(leaveToReader);
    return texts && { version, by: 'ascending', isKey: texts.ascend, differ: texts.differ };
  }
  const read = readOptionsOf(scan, source, format, redact(url), request, { ranges });
  // The column would be read as a whole for each slice. Columns that are described have other texts than those in the file.
  if (slice !== undefined || source.csv?.columns !== undefined) return undefined;
  // Freed before the run fills its own tables.
  const memoryBytes = (3 * request.memoryBudgetBytes) / 4;
  const isKey = await look();
  return { version, by: 'found', isKey: (reference) => isKey(reference, read, memoryBytes, signal) };
}
