/** Inputs that several readers read in ranges: all of them must see the same content. */
import { Fault } from '../core/fault.ts';

/** Metadata of an input that may be read in ranges. */
export interface InputState {
  readonly sizeBytes: number;
  /** Changes when the content changes: size, time and inode of a file, size and ETag (or date) of a resource. */
  readonly version: string;
}

/** The bytes [from, to) of an input, as long as it has this version. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
  readonly version: string;
}

export const changedFault = (name: string): Fault =>
  new Fault('run/lost', `${name} has changed since the run was cut into slices`, {
    place: { input: name },
    hint: 'Give the run a file that nobody writes to; with SLICE_BYTES=0 no file is cut',
  });
