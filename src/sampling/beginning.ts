/** The first bytes of a document. */
import { Fault } from '../core/fault.ts';
import type { SampleOptions } from './options.ts';

/** Thrown by chunks that come too slowly: what came before is the beginning. */
export class TimeOver extends Error {}

/** Whether a time limit has aborted it, and not the caller. */
export const isTimeOver = (signal: AbortSignal | undefined): boolean =>
  signal?.aborted === true && signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError';

export type Ending = Pick<SampleOptions, 'signal' | 'untilFault'>;

/** @returns the fault, if what stands before it is a sample. @throws any other error */
export function faultBehind(error: unknown, { signal, untilFault }: Ending, hasSample: boolean): Fault {
  if (untilFault && hasSample && signal?.aborted !== true && error instanceof Fault) return error;
  throw error;
}

/** What ended the reading of rows. @returns undefined: the time limit, when there were rows. @throws as `faultBehind` */
export const endOfRows = (error: unknown, options: Ending, rows: number, hasSample = rows > 0): Fault | undefined =>
  isTimeOver(options.signal) && rows > 0 ? undefined : faultBehind(error, options, hasSample);

/** Chunks up to `limitBytes`, and whether they are the whole document. Ends the iteration. */
export async function beginningOf(
  chunks: AsyncIterable<Uint8Array>,
  limitBytes: number,
): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of chunks) {
      parts.push(chunk);
      size += chunk.length;
      if (size > limitBytes) return { bytes: Buffer.concat(parts), isWhole: false };
    }
  } catch (error) {
    if (!(error instanceof TimeOver) || size === 0) throw error;
    return { bytes: Buffer.concat(parts), isWhole: false };
  }
  return { bytes: Buffer.concat(parts), isWhole: true };
}
