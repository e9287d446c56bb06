/** The index of rows as records: a unit with the key of its row and the bits of its entries, and an entry with bits and unit. */
import type { Unit } from '../../../datasets/records/units.ts';

/** Name of the database of units. */
export const UNITS = 'units';
const UNIT_BYTES = 6;
const BITS_BYTES = 4;
export const ENTRY_BYTES = BITS_BYTES + UNIT_BYTES;

export function unitKey(unit: Unit): Buffer {
  const key = Buffer.allocUnsafe(UNIT_BYTES);
  key.writeUIntBE(unit, 0, UNIT_BYTES);
  return key;
}

export function entryKey(bits: number, unit: Unit): Buffer {
  const key = Buffer.allocUnsafe(BITS_BYTES + UNIT_BYTES);
  key.writeUInt32BE(bits);
  key.writeUIntBE(unit, BITS_BYTES, UNIT_BYTES);
  return key;
}

/** Behind those of all units. */
export function draftKey(unit: Unit): Buffer {
  const key = Buffer.allocUnsafe(1 + UNIT_BYTES);
  key[0] = 0xff;
  key.writeUIntBE(unit, 1, UNIT_BYTES);
  return key;
}

/** Of a record. */
export function unitIn(key: Buffer): { readonly unit: Unit; readonly isDraft: boolean } {
  const isDraft = key.length > UNIT_BYTES;
  return { unit: key.readUIntBE(isDraft ? 1 : 0, UNIT_BYTES), isDraft };
}

export const entryIn = (key: Buffer): readonly [bits: number, unit: Unit] => [key.readUInt32BE(), key.readUIntBE(BITS_BYTES, UNIT_BYTES)];

export function bitsKey(bits: number): Buffer {
  const key = Buffer.allocUnsafe(BITS_BYTES);
  key.writeUInt32BE(bits);
  return key;
}

/** Behind all entries of the bits. */
export function endKey(bits: number): Buffer {
  const key = Buffer.alloc(BITS_BYTES + UNIT_BYTES + 1, 0xff);
  key.writeUInt32BE(bits);
  return key;
}

/** The length of the key, the key, and the bits. */
export function packed(key: Buffer, bits: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(2 + key.length + bits.length * BITS_BYTES);
  bytes.writeUInt16BE(key.length);
  key.copy(bytes, 2);
  for (const [at, one] of bits.entries()) bytes.writeUInt32BE(one, 2 + key.length + at * BITS_BYTES);
  return bytes;
}

export const keyIn = (bytes: Buffer): Buffer => bytes.subarray(2, 2 + bytes.readUInt16BE());

export function bitsIn(bytes: Buffer): readonly number[] {
  const bits: number[] = [];
  for (let at = 2 + bytes.readUInt16BE(); at < bytes.length; at += BITS_BYTES) bits.push(bytes.readUInt32BE(at));
  return bits;
}
