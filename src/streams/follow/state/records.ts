/**
 * A database of the environment whose values carry a checksum, CRC-32 of key and value: LMDB has none, and gives whatever the file has.
 *
 * **Claim.** A value that is read is one that was written under its key. **Proof.** Key and value are summed together, so a damaged key, a damaged value, and
 * a value that is found under another key have another sum, but for one in 2^32.
 */
import { crc32 } from 'node:zlib';
import type { Database, RootDatabase } from 'lmdb';
import { Fault } from '../../../core/fault.ts';

export const SUM_BYTES = 4;

export interface KeyRange {
  readonly start?: Buffer;
  readonly end?: Buffer;
  readonly limit?: number;
}

export class Records {
  readonly #database: Database<Buffer, Buffer>;
  readonly #directory: string;

  /** @param directory of the environment, for messages */
  constructor(root: RootDatabase, name: string, directory: string) {
    this.#database = root.openDB<Buffer, Buffer>({ name, encoding: 'binary', keyEncoding: 'binary' });
    this.#directory = directory;
  }

  /** How many there are. */
  get size(): number {
    return (this.#database.getStats() as { readonly entryCount: number }).entryCount;
  }

  /**
   * A copy of the value of a key, in the pool of `Buffer`, since `get` of LMDB allocates memory outside of the heap for each value.
   *
   * @returns undefined: there is none
   * @throws Fault source/refused — it is damaged
   */
  get(key: Buffer): Buffer | undefined {
    const shared = this.#database.getBinaryFast(key);
    return shared && this.#checked(key, shared, shared.length);
  }

  has(key: Buffer): boolean {
    return this.#database.doesExist(key);
  }

  /** In a transaction. */
  put(key: Buffer, value: Uint8Array): void {
    const bytes = Buffer.allocUnsafe(value.length + SUM_BYTES);
    bytes.set(value);
    bytes.writeUInt32LE(crc32(value, crc32(key)), value.length);
    this.#database.putSync(key, bytes);
  }

  /** In a transaction. */
  remove(key: Buffer): void {
    this.#database.removeSync(key);
  }

  /** In a transaction. */
  clear(): void {
    this.#database.clearSync();
  }

  keys(range: KeyRange = {}): Iterable<Buffer> {
    return this.#database.getKeys(range);
  }

  /** Copies, ascending by their keys. @throws Fault source/refused — one is damaged */
  *entries(range: KeyRange): Generator<{ readonly key: Buffer; readonly value: Buffer }> {
    for (const { key, value } of this.#database.getRange(range)) yield { key, value: this.#checked(key, value, value.length) };
  }

  #checked(key: Buffer, shared: Buffer, length: number): Buffer {
    const bytes = Buffer.from(shared.subarray(0, length));
    if (isWhole(key, bytes)) return bytes.subarray(0, length - SUM_BYTES);
    throw damaged(this.#directory, 'a record has another checksum than it was written with');
  }
}

/** Whether a value, with its checksum behind it, was written under the key. */
export function isWhole(key: Buffer, value: Buffer): boolean {
  const end = value.length - SUM_BYTES;
  return end >= 0 && crc32(value.subarray(0, end), crc32(key)) === value.readUInt32LE(end);
}

/** @param what is wrong, as a clause */
export const damaged = (directory: string, what: string): Fault =>
  new Fault('source/refused', `The rows in ${directory} are damaged: ${what}`, {
    hint: 'Remove that directory: the follower reads the feed from the beginning then, and the versions stay',
  });
