/** Finds the footer of a file, and says what a file is that has none. */
import { Fault } from '../../../core/fault.ts';
import { type Footer, readFooter } from './metadata.ts';
import type { RandomAccess } from './random-access.ts';
import { BrokenParquet } from './thrift.ts';

/** A footer describes each column of each row group; it is held as bytes while the file is read. */
const MAX_FOOTER_BYTES = 64 * 2 ** 20;
/** Enough for most footers, so that they are read at once. */
const TAIL_BYTES = 1 << 16;

export interface OpenedFooter extends Footer {
  /** In which offsets of row groups point. */
  readonly bytes: Buffer;
}

/** @throws Fault source/type — no Parquet; source/refused — encrypted; limit/exceeded; BrokenParquet */
export async function openFooter(file: RandomAccess, name: string): Promise<OpenedFooter> {
  const { sizeBytes } = file;
  const place = { input: name };
  if (sizeBytes === 0) throw new Fault('source/malformed', 'The input is empty', { place, hint: 'Check what writes the file' });
  const head = sizeBytes < 4 ? '' : (await file.read(0, 4)).toString('latin1');
  if (head === 'PARE') throw encryptedFault(name);
  if (head !== 'PAR1')
    throw new Fault('source/malformed', 'The input should be a Parquet file, and is none: it does not begin with PAR1', {
      place,
      hint: 'Compare the ending of the file name with the file; a CSV file must be named .csv',
    });
  if (sizeBytes < 12) throw new BrokenParquet('it ends behind its first bytes');
  const tail = await file.read(Math.max(0, sizeBytes - TAIL_BYTES), sizeBytes);
  const mark = tail.toString('latin1', tail.length - 4);
  if (mark === 'PARE') throw encryptedFault(name);
  if (mark !== 'PAR1') throw new BrokenParquet('it does not end with PAR1, so it is cut off, or was never completed');
  const footerBytes = tail.readUInt32LE(tail.length - 8);
  const from = sizeBytes - 8 - footerBytes;
  if (from < 4) throw new BrokenParquet(`its footer should have ${footerBytes} bytes, and the file has ${sizeBytes}`);
  if (footerBytes > MAX_FOOTER_BYTES)
    throw new Fault('limit/exceeded', `The footer of the file has ${footerBytes} bytes, and ${MAX_FOOTER_BYTES} are read`, {
      place,
      hint: 'Write the file with fewer and larger row groups, or without statistics',
    });
  const bytes =
    footerBytes + 8 <= tail.length ? tail.subarray(tail.length - 8 - footerBytes, tail.length - 8) : await file.read(from, sizeBytes - 8);
  file.dataBytes = from;
  return { bytes, ...readFooter(bytes) };
}

export const encryptedFault = (input: string): Fault =>
  new Fault('source/refused', 'The Parquet file is encrypted', {
    place: { input },
    hint: 'Write it without encryption; keys are not read from anywhere',
  });
