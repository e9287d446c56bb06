/** The bytes of a Parquet file at any offset: of the input itself, or of a copy if it can only be read from its beginning. */
import { boundOf, INFLATION_FLOOR_BYTES, inflationFault } from '../../../core/limits.ts';
import { copyToScratch, filesOf, type ScratchFile } from '../../scratch-file.ts';
import type { ParquetOptions } from '../../source.ts';
import { BrokenParquet } from './thrift.ts';

/** Bytes that a column reads at once where that costs a request, and where it does not: each column holds so many. */
const REMOTE_BYTES = 1 << 20;
const NEAR_BYTES = 1 << 18;

/** Of a document that is read by `ranges` alone. */
export const NO_BYTES: AsyncIterable<Uint8Array> = (async function* () {})();

export class RandomAccess {
  readonly sizeBytes: number;
  /** Bytes that a reader of consecutive bytes should ask for at once. */
  readonly windowBytes: number;
  /** Offset of the footer. */
  dataBytes: number;
  /** Bytes that were read so far. */
  bytesRead = 0;
  readonly #options: ParquetOptions;
  readonly #read: (from: number, to: number) => Promise<Buffer>;
  readonly #copy: ScratchFile | undefined;
  #unpackedBytes = 0;

  private constructor(
    sizeBytes: number,
    options: ParquetOptions,
    read: (from: number, to: number) => Promise<Buffer>,
    copy: ScratchFile | undefined,
  ) {
    this.sizeBytes = sizeBytes;
    this.windowBytes = options.ranges?.isRemote === true ? REMOTE_BYTES : NEAR_BYTES;
    this.dataBytes = sizeBytes;
    this.#options = options;
    this.#read = read;
    this.#copy = copy;
  }

  /** @throws those of the input; sink/failed — it cannot be copied */
  static async open(bytes: AsyncIterable<Uint8Array>, options: ParquetOptions): Promise<RandomAccess> {
    const { ranges } = options;
    if (ranges !== undefined) return new RandomAccess(ranges.sizeBytes, options, (from, to) => ranges.read(from, to), undefined);
    const { file, sizeBytes } = await copyToScratch(bytes, filesOf(options));
    const read = async (from: number, to: number): Promise<Buffer> => {
      const { buffer, bytesRead } = await file.handle.read(Buffer.allocUnsafeSlow(to - from), 0, to - from, from);
      return buffer.subarray(0, bytesRead);
    };
    return new RandomAccess(sizeBytes, options, read, file);
  }

  /** The bytes [from, to). @throws BrokenParquet — there are fewer */
  async read(from: number, to: number): Promise<Buffer> {
    const bytes = await this.#read(from, to);
    if (bytes.length !== to - from) throw new BrokenParquet('it ends too early');
    this.bytesRead += bytes.length;
    return bytes;
  }

  /** Counts bytes that pages unpack to. @throws Fault limit/exceeded — many times the size of the file */
  charge(bytes: number): void {
    const { inflationRatio } = filesOf(this.#options);
    this.#unpackedBytes += bytes;
    if (this.#unpackedBytes > INFLATION_FLOOR_BYTES && this.#unpackedBytes > this.sizeBytes * boundOf(inflationRatio))
      throw inflationFault(inflationRatio, { input: this.#options.name });
  }

  async close(): Promise<void> {
    await this.#copy?.close();
  }
}
