/** Files of a run in its output directory: names, the manifest, rejected records, and removal of files of dead attempts. */

import { createHash } from 'node:crypto';
import { closeSync, createReadStream, fsyncSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type GraphFiles, type RunPayload, SERVICES, type TargetFile } from '../../queues/jobs.ts';
import { VERSION } from '../../src/config/version.ts';
import { Fault } from '../../src/core/fault.ts';
import type { Rejection, RunReport } from '../../src/run/request.ts';
import { writeFault } from '../../src/sinks/descriptor.ts';
import { temporaryName } from '../../src/sinks/file.ts';
import type { PartFile } from '../../src/sinks/sink.ts';
import { makeDirectory } from '../../src/storage/local/directory.ts';
import { syncFile } from '../../src/storage/local/file.ts';
import type { S3Access } from '../../src/storage/s3-access.ts';
import { locate } from '../../src/storage/url.ts';
import type { ObjectDirectory, OutputPlace, Task } from '../task.ts';
import { objectAt } from './places.ts';

/** `<Service-Name>-<runId>`, the prefix of all file names of a run. */
export function outputName({ service, runId }: Pick<RunPayload, 'service' | 'runId'>): string {
  return `${SERVICES[service].name}-${runId}`;
}

/**
 * The place that the URL of an output directory names.
 *
 * @param temporary directory for files on their way to object storage
 * @throws Fault config/invalid — neither a directory of this machine nor one of objects
 */
export function outputPlace(url: string, temporary: string, access: S3Access): OutputPlace {
  if (/^file:/i.test(url)) return { directory: fileURLToPath(url) };
  if (isAbsolute(url)) return { directory: url };
  try {
    const at = locate(url, '/');
    if (at.kind === 's3') {
      const key = at.key === '' || at.key.endsWith('/') ? at.key : `${at.key}/`;
      return { directory: temporary, objects: { at: { ...at, key }, access } };
    }
  } catch (error) {
    throw Fault.of(error).with({ code: 'config/invalid' });
  }
  throw new Fault('config/invalid', 'Output is written to an absolute path, a file: URL or an s3: URL, and this is none of them', {
    place: { value: url },
    hint: 'Correct OUTPUT_DIR_URL',
  });
}

/**
 * Removes the temporary files of attempts before `attempt`; such an attempt, if still running, cannot publish after that. Files of later
 * attempts stay: the caller itself may be an old attempt whose worker was suspended.
 *
 * @param attempt see `Task`
 */
export async function removeEarlier(place: OutputPlace, name: string, attempt: string): Promise<void> {
  await removeTemporary(place, name, (file) => isEarlier(attemptOf(file, name), attempt));
  // An upload names no attempt. A newer one that loses its own is repeated.
  if (!attempt.includes('-')) await abortUploadsOf(place, name);
}

/** Removes the temporary files of one attempt of a run including its slices, or of one slice (`2-5`). */
export async function removeAttempt(place: OutputPlace, name: string, attempt: string): Promise<void> {
  await removeTemporary(place, name, (file) => isAttempt(attemptOf(file, name), attempt));
}

/** Removes all files of a run that ended without output, temporary or not. */
export async function removeAll(place: OutputPlace, name: string): Promise<void> {
  await abortUploadsOf(place, name);
  await removeTemporary(place, name, (file) => attemptOf(file, name) !== undefined);
  await removeReplaced(place, name, new Set());
}

/** Removes files published by an earlier attempt that died before it could report that, except those just replaced. */
export async function removeReplaced(place: OutputPlace, name: string, kept: ReadonlySet<string>): Promise<void> {
  const unwanted = (file: string): boolean => belongsTo(file, name) && !kept.has(file);
  if (place.objects === undefined) await removeFiles(place.directory, unwanted);
  else await removeObjects(place.objects, name, unwanted);
}

/** With object storage, a temporary file may also be an object: those of slices are. */
async function removeTemporary(place: OutputPlace, name: string, unwanted: (file: string) => boolean): Promise<void> {
  await removeFiles(place.directory, unwanted);
  if (place.objects !== undefined) await removeObjects(place.objects, `.${name}`, unwanted);
}

async function removeObjects(objects: ObjectDirectory, start: string, unwanted: (file: string) => boolean): Promise<void> {
  const { deleteObjects } = await import('../../src/storage/s3/write.ts');
  await deleteObjects(objectAt(objects, start), objects.access, (key) => unwanted(key.slice(objects.at.key.length)));
}

/** The uploads of an earlier attempt: it cannot complete them after that, if it is still running. */
async function abortUploadsOf({ objects }: OutputPlace, name: string): Promise<void> {
  if (objects === undefined) return;
  const { abortUploads } = await import('../../src/storage/s3/write.ts');
  const fileOf = (key: string): string => key.slice(objects.at.key.length);
  await abortUploads(objectAt(objects, name), objects.access, (key) => belongsTo(fileOf(key), name));
  await abortUploads(objectAt(objects, `.${name}`), objects.access, (key) => attemptOf(fileOf(key), name) !== undefined);
}

/**
 * Whether files of earlier attempts may exist, so that the output directory must be listed; with many files that takes longer than a small
 * run. The first attempt of a run has none, except if its run was removed and submitted again under the same idempotency key; then a
 * manifest exists.
 */
export async function hasEarlier(output: Task['output']): Promise<boolean> {
  return output.attempt !== '1' || (await hasManifest(output, output.name));
}

/** Whether the run is published. */
export async function hasManifest({ directory, objects }: OutputPlace, name: string): Promise<boolean> {
  if (objects === undefined) return statSync(manifestPath(directory, name), { throwIfNoEntry: false })?.isFile() === true;
  const { objectExists } = await import('../../src/storage/s3/write.ts');
  return objectExists(objectAt(objects, `${name}.manifest.json`), objects.access);
}

const manifestPath = (directory: string, name: string): string => join(directory, `${name}.manifest.json`);

/** The attempt to which a temporary file of the run belongs; undefined: none. */
const attemptOf = (file: string, name: string): string | undefined =>
  belongsTo(file, `.${name}`) ? /\.([\d-]+)\.part$/.exec(file)?.[1] : undefined;

/** `2-5-1` belongs to `2` and to `2-5`. */
const isAttempt = (found: string | undefined, attempt: string): boolean => found === attempt || !!found?.startsWith(`${attempt}-`);

/** `1` and `1-5-3` are earlier than `2`; among the attempts of the slice `2-5`, `2-5-1` is earlier than `2-5-2`. */
function isEarlier(found: string | undefined, attempt: string): boolean {
  const [, of, start] = /^(.*-|)(\d+)$/.exec(attempt) as unknown as [string, string, string];
  return found?.startsWith(of) === true && Number.parseInt(found.slice(of.length), 10) < Number(start);
}

async function removeFiles(directory: string, unwanted: (file: string) => boolean): Promise<void> {
  try {
    for (const entry of await readdir(directory, { withFileTypes: true })) {
      if (!entry.isDirectory() && unwanted(entry.name)) await rm(join(directory, entry.name), { force: true });
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw writeFault(directory, error);
  }
}

/** Removes the spill files of all attempts of a run, given the directory of one of them, `<name>.<attempt>`. */
export async function removeSpills(spillDirectory: string): Promise<void> {
  await removeSpillsOf(spillDirectory, () => true);
}

/**
 * Removes the spill files of attempts before the given one, whose workers were killed. An old attempt that is still running may fail then;
 * it could not have published anything.
 */
export async function removeEarlierSpills(spillDirectory: string): Promise<void> {
  await removeSpillsOf(spillDirectory, isEarlier);
}

async function removeSpillsOf(spillDirectory: string, unwanted: (found: string, attempt: string) => boolean): Promise<void> {
  const all = dirname(spillDirectory);
  const [, start, attempt] = /^(.*\.)([\d-]+)$/.exec(basename(spillDirectory)) as unknown as [string, string, string];
  const entries = await readdir(all).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw writeFault(all, error);
  });
  for (const entry of entries) {
    if (entry.startsWith(start) && unwanted(entry.slice(start.length), attempt))
      await rm(join(all, entry), { recursive: true, force: true });
  }
}

/** `Service-r1.nq` belongs to `Service-r1`, `Service-r12.nq` does not; further parts are `Service-r1-2.nq`. */
function belongsTo(file: string, name: string): boolean {
  return file.startsWith(`${name}.`) || (file.startsWith(`${name}-`) && /^-\d+\./.test(file.slice(name.length)));
}

/**
 * Writes the manifest and returns its temporary name. It is written before any file of the run gets its final name, and renamed last: if
 * the manifest exists, every part is complete, and an attempt whose files were removed by another one cannot finish.
 *
 * @throws Fault sink/failed
 */
export async function writeManifest(
  task: Task,
  report: RunReport,
  parts: readonly PartFile[],
  targets: readonly TargetFile[],
  rejections: string | undefined,
  propertyGraph: GraphFiles | undefined,
): Promise<string> {
  const { directory, name, attempt, service, format } = task.output;
  const manifest = {
    runId: task.request.runId,
    service,
    version: VERSION,
    createdAt: new Date().toISOString(),
    format,
    parts,
    bytes: parts.reduce((sum, part) => sum + part.bytes, 0),
    quads: report.quads,
    records: report.records,
    rejectedRecords: report.rejected,
    rejections: rejections ?? null,
    ...(targets.length === 0 ? {} : { targets }),
    ...(propertyGraph === undefined ? {} : { propertyGraph: { header: task.output.propertyGraph?.header, ...propertyGraph } }),
    inputs: task.request.inputs.map((input) => input.name ?? null),
    mappings: report.mappings,
    mappingDigest: mappingDigest(report),
  };
  const path = manifestPath(directory, name);
  const temporary = temporaryName(`${name}.manifest.json`, attempt);
  try {
    // Synchronous: for a small run the asynchronous calls cost more than the work. The disk keeps no other run waiting.
    makeDirectory(directory);
    const file = openSync(join(directory, temporary), 'w');
    try {
      writeFileSync(file, `${JSON.stringify(manifest, undefined, 2)}\n`);
      if (task.shared) await syncFile(file);
      else fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw writeFault(path, error);
  }
  return temporary;
}

/** One digest for all mapping documents of the run, independent of their order. */
function mappingDigest({ mappings }: RunReport): string {
  return createHash('sha256')
    .update(
      mappings
        .map((mapping) => mapping.sha256)
        .sort()
        .join('\n'),
    )
    .digest('hex');
}

const BUFFER_LENGTH = 64 * 1024;

/**
 * The rejected records of a run, one JSON object per line: `triplesMap` and the fault. Created at the first record; publishing gives it its
 * final name.
 */
export class RejectionFile {
  private readonly path: string;
  private readonly directory: string;
  /** File name without path. */
  private readonly temporary: string;
  private descriptor: number | undefined;
  private buffered = '';

  constructor({ directory, name, attempt }: Pick<Task['output'], 'directory' | 'name' | 'attempt'>) {
    this.path = join(directory, `${name}.rejected.ndjson`);
    this.directory = directory;
    this.temporary = temporaryName(`${name}.rejected.ndjson`, attempt);
  }

  /** @throws Fault sink/failed */
  add({ triplesMap, fault }: Rejection): void {
    this.addRow({ triplesMap, ...fault });
  }

  /** @throws Fault sink/failed */
  addRow(row: object): void {
    this.buffered += `${JSON.stringify(row)}\n`;
    if (this.buffered.length > BUFFER_LENGTH) this.flush();
  }

  /** Appends the finished file of a slice. @throws Fault sink/failed */
  async append(file: string): Promise<void> {
    const path = join(this.directory, file);
    try {
      for await (const bytes of createReadStream(path)) this.write(bytes as Buffer);
      await rm(path, { force: true });
    } catch (error) {
      throw writeFault(this.path, error);
    }
  }

  /** The temporary name of the complete file; undefined: nothing was rejected. @throws Fault sink/failed */
  finish(): string | undefined {
    this.flush();
    if (this.descriptor === undefined) return undefined;
    try {
      fsyncSync(this.descriptor);
      this.close();
    } catch (error) {
      throw writeFault(this.path, error);
    }
    return this.temporary;
  }

  async abort(): Promise<void> {
    this.buffered = '';
    this.close();
    await rm(join(this.directory, this.temporary), { force: true });
  }

  /** Writes buffered rows, which then survive the end of the process. @throws Fault sink/failed */
  flush(): void {
    if (this.buffered === '') return;
    try {
      this.write(Buffer.from(this.buffered));
      this.buffered = '';
    } catch (error) {
      throw writeFault(this.path, error);
    }
  }

  private write(bytes: Buffer): void {
    this.descriptor ??= openSync(join(this.directory, this.temporary), 'w');
    for (let from = 0; from < bytes.length; ) from += writeSync(this.descriptor, bytes, from);
  }

  private close(): void {
    if (this.descriptor !== undefined) closeSync(this.descriptor);
    this.descriptor = undefined;
  }
}
