/**
 * Transfer between the directory of temporary files and object storage. A file is complete before it is sent. Files of slices are objects
 * under their temporary names, until the job that waits for the slices has fetched them.
 */
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { SliceResult } from '../../queues/jobs.ts';
import { Fault } from '../../src/core/fault.ts';
import { makeDirectory } from '../../src/storage/local/directory.ts';
import type { Upload } from '../../src/storage/s3/write.ts';
import type { ObjectDirectory, OutputPlace } from '../task.ts';
import { type Move, objectAt, objectUrl } from './places.ts';

/** The uploads of files. All of them, or none if one fails. */
export async function sendFiles(directory: string, objects: ObjectDirectory, moves: readonly Move[]): Promise<readonly Upload[]> {
  const { uploadFile } = await import('../../src/storage/s3/write.ts');
  const uploads: Upload[] = [];
  try {
    // One after another: the parts of a large file are sent together already.
    for (const { from, to } of moves) uploads.push(await uploadFile(objectAt(objects, to), objects.access, join(directory, from)));
    return uploads;
  } catch (error) {
    await Promise.all(uploads.map((upload) => upload.abort()));
    throw error;
  }
}

/** Names of the files that a slice has left, all temporary. */
const filesOf = ({ parts, targets, rejections, subjects }: SliceResult): readonly string[] =>
  // JSON has no undefined: a value is absent or null.
  [...[...parts, ...(targets ?? []).flatMap((target) => target.parts)].map(({ file }) => file), rejections, subjects?.file].filter(
    (file) => typeof file === 'string',
  );

/** Makes objects of the files of a slice, under the same temporary names, and removes the files. */
export async function sendSlice({ directory, objects }: OutputPlace, result: SliceResult): Promise<void> {
  if (objects === undefined) return;
  const files = filesOf(result);
  const uploads = await sendFiles(
    directory,
    objects,
    files.map((file) => ({ from: file, to: file })),
  );
  for (const upload of uploads) await upload.complete();
  for (const file of files) await rm(join(directory, file), { force: true });
}

/** Files fetched at once. */
const FETCHED = 4;

/**
 * Makes files of the objects that the slices have left.
 *
 * @throws Fault sink/failed — an object is missing or cannot be read; the reason of `signal`
 */
export async function fetchSlices(
  { directory, objects }: OutputPlace,
  results: readonly SliceResult[],
  signal: AbortSignal,
): Promise<void> {
  if (objects === undefined) return;
  makeDirectory(directory);
  const files = results.flatMap(filesOf);
  let next = 0;
  const fetchFiles = async (): Promise<void> => {
    for (let file = files[next++]; file !== undefined; file = files[next++]) await fetchFile(directory, objects, file, signal);
  };
  await Promise.all(Array.from({ length: FETCHED }, fetchFiles));
}

async function fetchFile(directory: string, objects: ObjectDirectory, file: string, signal: AbortSignal): Promise<void> {
  try {
    const { openS3 } = await import('../../src/storage/s3/read.ts');
    const { chunks } = await openS3(objectAt(objects, file), objectUrl(objects, file), objects.access, { signal });
    await pipeline(chunks, createWriteStream(join(directory, file)), { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw new Fault('sink/failed', `The output of a slice cannot be fetched: ${Fault.of(error).message}`, { cause: error });
  }
}
