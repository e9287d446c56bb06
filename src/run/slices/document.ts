/** A document that can be read at any offset, and the slices between offsets. */
import { openInput } from '../../storage/open.ts';
import type { InputState, OpenOptions } from '../../storage/storage.ts';
import type { ByteSlice } from '../request.ts';

export class Document {
  readonly sizeBytes: number;
  readonly version: string;
  readonly #url: string;
  readonly #options: OpenOptions;

  constructor(url: string, { sizeBytes, version }: InputState, options: OpenOptions) {
    this.sizeBytes = sizeBytes;
    this.version = version;
    this.#url = url;
    this.#options = options;
  }

  /** The bytes from an offset to the end, in chunks. */
  async *bytes(from: number, to = this.sizeBytes): AsyncGenerator<Uint8Array> {
    const range = { from, to: Math.min(to, this.sizeBytes), version: this.version };
    if (range.from < range.to) yield* (await openInput(this.#url, { ...this.#options, range })).bytes;
  }

  async read(from: number, to: number): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.bytes(from, to)) chunks.push(chunk);
    return Buffer.concat(chunks);
  }
}

/** Slices of a document that begin at the cuts, each behind the same head. */
export function slicesAt({ sizeBytes, version }: Document, head: number, cuts: readonly number[]): readonly ByteSlice[] {
  const starts = [head, ...cuts.filter((cut) => cut > head && cut < sizeBytes)];
  return starts.map((from, i) => ({ kind: 'bytes', head, from, to: starts[i + 1] ?? sizeBytes, version }));
}
