/**
 * A tar archive with one file, in the format pax.
 *
 * The header has the size of the file, so everything is written to a spool file first, and copied behind the header at the end. The time of
 * the file is always the same, so that the same statements give the same bytes.
 *
 * @see https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html#tag_20_92_01
 */
import { type FileHandle, open, rm } from 'node:fs/promises';
import { BLOCK_BYTES, CHECKSUM_AT, checksumOf, paddingOf } from '../../storage/packed/tar.ts';
import { DescriptorWriter, writeFault } from '../descriptor.ts';
import type { QuadSink } from '../sink.ts';

/** 1980-01-01T00:00:00Z. Archivers warn of 1970. */
const TIME_SECONDS = 315_532_800;
const MOST_OCTAL_BYTES = 8 ** 11 - 1;
const MOST_NAME_BYTES = 100;
const NOT_ASCII = /[^\x20-\x7e]/;
const COPY_BYTES = 256 * 1024;

/**
 * @param inner takes the bytes as one-byte text; it is owned
 * @param entry name of the file in the archive
 * @param spoolPath of a file that nothing else uses; it is removed by commit and abort
 * @throws Fault sink/failed
 */
export async function tarred(inner: QuadSink, entry: string, spoolPath: string): Promise<QuadSink> {
  const spool = await open(spoolPath, 'w+', 0o600).catch((error) => {
    throw writeFault(spoolPath, error);
  });
  const writer = new DescriptorWriter(spool.fd, spoolPath, { digest: false });
  let isOpen = true;
  const remove = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    await spool.close();
    await rm(spoolPath, { force: true });
  };
  return {
    write: (bytes) => writer.write(bytes),
    async commit() {
      const { bytes } = await writer.finish();
      await inner.write(headersOf(entry, bytes).toString('latin1'));
      await copy(spool, spoolPath, bytes, inner);
      await remove();
      await inner.write('\0'.repeat(paddingOf(bytes) + 2 * BLOCK_BYTES));
      return inner.commit();
    },
    async abort() {
      await writer.drop();
      await remove();
      await inner.abort();
    },
  };
}

async function copy(spool: FileHandle, path: string, bytes: number, to: QuadSink): Promise<void> {
  const buffer = Buffer.allocUnsafe(COPY_BYTES);
  for (let at = 0; at < bytes; ) {
    const { bytesRead } = await spool.read(buffer, 0, COPY_BYTES, at).catch((error) => {
      throw writeFault(path, error);
    });
    if (bytesRead === 0) throw writeFault(path, new Error('it became shorter while it was read'));
    await to.write(buffer.toString('latin1', 0, bytesRead));
    at += bytesRead;
  }
}

/** What the fields of a header cannot hold stands in an entry of pax before it. */
export function headersOf(entry: string, bytes: number): Buffer {
  const name = Buffer.from(entry);
  const records = [
    name.length > MOST_NAME_BYTES || NOT_ASCII.test(entry) ? record('path', entry) : '',
    bytes > MOST_OCTAL_BYTES ? record('size', String(bytes)) : '',
  ].join('');
  const file = header(name.subarray(0, MOST_NAME_BYTES), '0', Math.min(bytes, MOST_OCTAL_BYTES));
  if (records === '') return file;
  const content = Buffer.from(records);
  return Buffer.concat([header(Buffer.from('PaxHeader'), 'x', content.length), content, Buffer.alloc(paddingOf(content.length)), file]);
}

/** `length key=value\n`; the length counts itself. */
function record(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  if (rest + String(length).length > length) length++;
  return `${length} ${key}=${value}\n`;
}

function header(name: Buffer, type: '0' | 'x', bytes: number): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  name.copy(block);
  const octal = (value: number, at: number, length: number): number =>
    block.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1');
  octal(0o644, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(bytes, 124, 12);
  octal(TIME_SECONDS, 136, 12);
  block.write(type, 156, 'latin1');
  block.write('ustar\x0000', 257, 'latin1');
  octal(0, 329, 8);
  octal(0, 337, 8);
  block.write(`${checksumOf(block).toString(8).padStart(6, '0')}\0 `, CHECKSUM_AT, 'latin1');
  return block;
}
