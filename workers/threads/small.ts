/**
 * Which runs are small, so that several of them share a thread. It costs less than a thread for each: one thread has one heap and compiles the
 * engine once.
 *
 * They are runs over text files of this machine. A packed file or a spreadsheet of a few bytes may be large, and a server may be slow.
 */
import { statSync } from 'node:fs';
import { locate } from '../../src/storage/url.ts';
import type { Task } from '../task.ts';

/** Of all inputs together. */
const SMALL_BYTES = 64 * 1024;
const TEXT_FILE = /\.(?:csv|tsv|json|jsonl|ndjson|xml)$/i;

/** Whether the run may be small: its inputs are looked at where its mapping is read. Custom functions, further outputs and datasets take additional time. */
export const mayBeSmall = ({ request, output, dataset }: Task): boolean =>
  dataset === undefined &&
  request.slice === undefined &&
  request.functions === undefined &&
  request.database === undefined &&
  output.objects === undefined &&
  output.propertyGraph === undefined &&
  [...request.mappings, ...request.inputs.map(({ url }) => url)].every((url) => !/^(?:https?|s3):/i.test(url)) &&
  request.inputs.every(({ url }) => TEXT_FILE.test(url));

/** The thread of the run gives it back. */
export class TooLarge extends Error {}

/** @param urls of all documents that the run reads @throws TooLarge */
export function assertSmall(urls: readonly string[], { request: { workingDirectory }, slices }: Task): void {
  // A file that would be cut is not small, whatever its size.
  const most = slices.bytes > 0 ? Math.min(SMALL_BYTES, slices.bytes - 1) : SMALL_BYTES;
  let bytes = 0;
  for (const url of urls) {
    const at = TEXT_FILE.test(url) ? locate(url, workingDirectory) : undefined;
    // The reader that opens a missing file says so.
    const found = at?.kind === 'file' ? statSync(at.path, { throwIfNoEntry: false }) : undefined;
    bytes += at?.kind !== 'file' || found?.isFile() === false ? Number.POSITIVE_INFINITY : (found?.size ?? 0);
  }
  if (bytes > most) throw new TooLarge();
}
