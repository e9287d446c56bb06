/**
 * The one file of a tar archive, in the formats ustar, pax and GNU. Directories, links and devices are skipped.
 *
 * @see https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html#tag_20_92_13
 */
import { excerpt } from '../../core/fault.ts';
import {
  type ArchiveName,
  assertNotPacked,
  CUT_OFF,
  damagedFault,
  emptyFault,
  isAttributes,
  noArchiveFault,
  refusedEntryFault,
  severalFault,
} from './archive.ts';
import { ByteReader, type Chunks } from './byte-reader.ts';

export const BLOCK_BYTES = 512;
export const CHECKSUM_AT = 148;
const TYPE_AT = 156;

/** For names and attributes of an entry, which stand in separate entries. */
const MOST_ATTRIBUTE_BYTES = 1 << 20;

/** @throws Fault source/malformed — no archive, damaged or cut off; source/refused — more than one file, or a sparse one */
export async function* untar(chunks: Chunks, input: string): Chunks {
  const archive: ArchiveName = { kind: 'tar', input };
  const reader = new ByteReader(chunks);
  try {
    let found: string | undefined;
    /** Of the entry that follows, from its own pax header or GNU name. */
    let attributes: Attributes = {};
    for (;;) {
      const header = await reader.read(BLOCK_BYTES);
      if (header.length === 0 && reader.position > 0) break;
      if (header.every((byte) => byte === 0) && header.length === BLOCK_BYTES) break;
      if (header.length < BLOCK_BYTES || !isHeader(header)) {
        if (reader.position <= BLOCK_BYTES) throw noArchiveFault(archive);
        throw damagedFault(archive, reader.position - header.length, header.length < BLOCK_BYTES ? CUT_OFF : 'an entry has no header');
      }
      const type = String.fromCharCode(header[TYPE_AT] as number);
      const own = sizeOf(header);
      if (type === 'x' || type === 'L') {
        const text = (await attributeOf(reader, own, archive)).toString('utf8');
        attributes = { ...attributes, ...(type === 'L' ? { name: untilZero(text) } : parsePax(text)) };
        continue;
      }
      const name = attributes.name ?? nameOf(header);
      const bytes = attributes.bytes ?? own;
      if (type !== 'g' && type !== 'K') attributes = {};
      const isFile = (type === '0' || type === '\0' || type === '7' || type === 'S') && !name.endsWith('/') && !isAttributes(name);
      if (isFile && type === 'S') throw refusedEntryFault(archive, excerpt(name), 'it is sparse');
      if (isFile && found !== undefined) throw severalFault(archive, [excerpt(found), excerpt(name)]);
      if (isFile) {
        assertNotPacked(archive, name, excerpt(name));
        found = name;
      }
      for await (const chunk of contentOf(reader, bytes, archive)) if (isFile) yield chunk;
    }
    if (found === undefined) throw emptyFault(archive);
    await reader.drain();
  } finally {
    reader.close();
  }
}

interface Attributes {
  readonly name?: string;
  readonly bytes?: number;
}

async function* contentOf(reader: ByteReader, bytes: number, archive: ArchiveName): Chunks {
  for (let left = bytes; left > 0; ) {
    const chunk = await reader.chunk(left);
    if (chunk === undefined) throw damagedFault(archive, reader.position, CUT_OFF);
    left -= chunk.length;
    yield chunk;
  }
  await reader.read(paddingOf(bytes));
}

/** What is missing to a whole number of blocks. */
export const paddingOf = (bytes: number): number => (BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES;

async function attributeOf(reader: ByteReader, bytes: number, archive: ArchiveName): Promise<Buffer> {
  if (bytes > MOST_ATTRIBUTE_BYTES) throw damagedFault(archive, reader.position, 'the attributes of an entry are too long');
  const content = await reader.read(bytes);
  await reader.read(paddingOf(bytes));
  return content;
}

/** Records `length key=value\n`, of which path and size matter here. */
function parsePax(text: string): Attributes {
  const path = /(?:^|\n)\d+ path=([^\n]*)\n/.exec(text)?.[1];
  const size = /(?:^|\n)\d+ size=(\d+)\n/.exec(text)?.[1];
  return { ...(path === undefined ? {} : { name: path }), ...(size === undefined ? {} : { bytes: Number(size) }) };
}

/** The sum of all bytes of a header; the field of the sum counts as spaces. */
export function checksumOf(header: Buffer): number {
  let sum = 0;
  for (let i = 0; i < BLOCK_BYTES; i++) sum += i >= CHECKSUM_AT && i < CHECKSUM_AT + 8 ? 32 : (header[i] as number);
  return sum;
}

const isHeader = (header: Buffer): boolean => checksumOf(header) === octal(header, CHECKSUM_AT, 8);

/** Octal digits; GNU tar writes a size of 8 GiB and more in binary. */
function sizeOf(header: Buffer): number {
  return (header[124] as number) >= 0x80 ? Number(header.readBigUInt64BE(128)) : octal(header, 124, 12);
}

const octal = (header: Buffer, from: number, length: number): number =>
  Number.parseInt(untilZero(header.toString('latin1', from, from + length)).trim() || '0', 8);

function nameOf(header: Buffer): string {
  const name = untilZero(header.toString('utf8', 0, 100));
  const prefix = header.toString('latin1', 257, 263) === 'ustar\0' ? untilZero(header.toString('utf8', 345, 500)) : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

const untilZero = (text: string): string => text.split('\0', 1)[0] as string;
