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

/** Where one slice ends and the next one begins. */
export interface Cut {
  /** The end of the slice before it, and the text that is put behind that. */
  readonly to: number;
  readonly behind?: string;
  /** The beginning of the slice behind it, and the text that is put before that. */
  readonly from: number;
  readonly before?: string;
}

/**
 * The slices of a document, each as soon as the cut at its end is found.
 *
 * @param head each slice has these bytes before its own
 * @param cuts ascending; those within the head or at the end of the document are none
 */
export async function* slicesBetween(
  { sizeBytes, version }: Document,
  head: number,
  cuts: AsyncIterable<Cut> | Iterable<Cut>,
): AsyncGenerator<ByteSlice> {
  let begin: Cut | undefined;
  const sliceTo = (end: Cut | undefined): ByteSlice => ({
    kind: 'bytes',
    head,
    from: begin?.from ?? head,
    to: end?.to ?? sizeBytes,
    version,
    ...(begin?.before === undefined ? {} : { before: begin.before }),
    ...(end?.behind === undefined ? {} : { behind: end.behind }),
  });
  for await (const cut of cuts) {
    if (cut.to <= (begin?.from ?? head) || cut.from >= sizeBytes) continue;
    yield sliceTo(cut);
    begin = cut;
  }
  yield sliceTo(undefined);
}

/** What finds cuts in a document that it is given in chunks. */
export interface CutFinder<C> {
  readonly cuts: readonly C[];
  /** Whether more of the document may give further cuts. */
  readonly wanted: boolean;
  feed(chunk: Uint8Array): void;
}

/** The cuts of a document from an offset on, as they are found. */
export async function* cutsIn<C>(document: Document, from: number, finder: CutFinder<C>, toCut: (found: C) => Cut): AsyncGenerator<Cut> {
  let given = 0;
  if (!finder.wanted) return;
  for await (const chunk of document.bytes(from)) {
    finder.feed(chunk);
    while (given < finder.cuts.length) yield toCut(finder.cuts[given++] as C);
    if (!finder.wanted) return;
  }
}

/** A cut between two bytes. */
export const cutAt = (offset: number): Cut => ({ to: offset, from: offset });
