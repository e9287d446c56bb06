/** A document that can be read at any offset, and the slices between cuts. */
import type { Cut, CutDocument, Cuts } from '../../sources/cuts.ts';
import { openInput } from '../../storage/open.ts';
import type { InputState, OpenOptions } from '../../storage/storage.ts';
import type { ByteSlice } from '../request.ts';

export class Document implements CutDocument {
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

/** The slices of a document, each as soon as the cut at its end is found. */
export async function* slicesBetween({ sizeBytes, version }: Document, { head, found }: Cuts): AsyncGenerator<ByteSlice> {
  let begin: Cut | undefined;
  const sliceTo = (end: Cut | undefined): ByteSlice => ({
    kind: 'bytes',
    head,
    from: begin?.from ?? head,
    to: end?.to ?? sizeBytes,
    version,
    ...(begin?.before === undefined ? {} : { before: begin.before }),
    ...(end?.behind === undefined ? {} : { behind: end.behind }),
    ...(begin?.counts === undefined ? {} : { counts: begin.counts }),
  });
  for await (const cut of found) {
    if (cut.to <= (begin?.from ?? head) || cut.from >= sizeBytes) continue;
    yield sliceTo(cut);
    begin = cut;
  }
  yield sliceTo(undefined);
}
