/**
 * Transfer between the directory of temporary files and object storage. A file is complete before it is sent. Files of slices are objects
 * under their temporary names. The job that waits for the slices fetches those that it reads; the storage copies the others to their final names.
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

/** The uploads of files and objects. All of them, or none if one fails. */
export async function sendFiles(directory: string, objects: ObjectDirectory, moves: readonly Move[]): Promise<readonly Upload[]> {
  const { copyObject, uploadFile } = await import('../../src/storage/s3/write.ts');
  const uploads: Upload[] = [];
  try {
    // One after another: the parts of a large file are sent together already.
    for (const { from, to, objectBytes } of moves)
      uploads.push(
        objectBytes === undefined
          ? await uploadFile(objectAt(objects, to), objects.access, join(directory, from))
          : await copyObject(objectAt(objects, from), objectAt(objects, to), objects.access, objectBytes),
      );
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

/** The files that the slices of a run have left. In object storage they are objects, of which `fetch` makes files. */
export class SliceFiles {
  readonly #place: OutputPlace;
  readonly #signal: AbortSignal;
  readonly #objects: Set<string>;

  constructor(place: OutputPlace, results: readonly SliceResult[], signal: AbortSignal) {
    this.#place = place;
    this.#signal = signal;
    this.#objects = new Set(place.objects === undefined ? [] : results.flatMap(filesOf));
  }

  /** Whether it is an object and no file. */
  isObject(file: string): boolean {
    return this.#objects.has(file);
  }

  /**
   * Makes files of those that are objects.
   *
   * @throws Fault sink/failed — an object is missing or cannot be read; the reason of the signal
   */
  async fetch(files: readonly string[]): Promise<void> {
    const { directory, objects } = this.#place;
    if (objects === undefined) return;
    makeDirectory(directory);
    const wanted = files.filter((file) => this.#objects.has(file));
    let next = 0;
    const fetchFiles = async (): Promise<void> => {
      for (let file = wanted[next++]; file !== undefined; file = wanted[next++]) {
        await fetchFile(directory, objects, file, this.#signal);
        this.#objects.delete(file);
      }
    };
    await Promise.all(Array.from({ length: FETCHED }, fetchFiles));
  }
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
