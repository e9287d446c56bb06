/**
 * Of chunks that are gone and chunks that came, the records that stay.
 *
 * Records are equal where their texts are: then they make the same statements. A chunk r that is gone is compared with the chunk a that came in its place and
 * has most of its records. **Claim.** Let the units be: of r, its records that are not in a (*gone*); of a, those that are in some r that is compared with it
 * (*rest*), and those that are in none (*added*). Then the gone units and the rests are the records before, the added ones and the rests are the new
 * ones, and the rests are in both versions. **Proof.** A record of r is gone, or it is in a, and so in the rest of a. A record of a is in its rest or added. A
 * record of a rest is in a and in some r.
 */

export interface PartTexts {
  /** Of an old chunk, and of a new one. */
  old(chunk: number): Buffer;
  fresh(chunk: number): Buffer;
  recordsOf(scan: number, text: Buffer): readonly Buffer[];
}

/** Chunks of a scan that are gone, and those that are where they were. */
export interface Replaced {
  readonly scan: number;
  readonly gone: readonly number[];
  readonly came: readonly number[];
}

/** Of what is kept of a chunk, beside its text. */
const PART_BYTES = 96;
const BLOCK_BYTES = 1 << 16;

export class Parts {
  // Numbers in few arrays: an object for each chunk takes several times the memory, and more of it until it is collected.
  /** By old chunk that is compared: where `#held` has the chunk with which it is compared, and the block, place and bytes of what is gone. */
  readonly #gone = new Map<number, number>();
  readonly #held: number[] = [];
  /** By chunk with which some are compared: where `#ranges` has their number and the begin and end of each range of its text that is added. */
  readonly #came = new Map<number, number>();
  readonly #ranges: number[] = [];
  readonly #texts: PartTexts;
  readonly #blocks: Buffer[] = [];
  /** Bytes of the last block. */
  #used = 0;
  #bytes = 0;

  /**
   * Compares chunks. Holds in memory what is gone, and while a place is compared, its records.
   *
   * @param memoryBytes further chunks are not compared when so much is held
   */
  constructor(places: Iterable<Replaced>, texts: PartTexts, memoryBytes: number) {
    this.#texts = texts;
    for (const place of places) {
      if (this.#bytes >= memoryBytes) return;
      this.#compare(place);
    }
  }

  #compare({ scan, gone, came }: Replaced): void {
    const recordsOf = (text: Buffer): readonly string[] => this.#texts.recordsOf(scan, text).map((record) => record.toString('latin1'));
    const fresh = new Map(came.map((chunk) => [chunk, recordsOf(this.#texts.fresh(chunk))]));
    const home = new Map<string, number>();
    for (const [chunk, records] of fresh) for (const record of records) home.set(record, chunk);
    const rests = new Map<number, Set<string>>();
    for (const old of gone) {
      const before = recordsOf(this.#texts.old(old));
      const found = mostFrequent(before.map((record) => home.get(record)));
      if (found === undefined) continue;
      const records = new Set(fresh.get(found));
      const rest = rests.get(found) ?? new Set();
      rests.set(found, rest);
      for (const record of before) if (records.has(record)) rest.add(record);
      this.#hold(old, found, before.filter((record) => !records.has(record)).join(''));
    }
    for (const [chunk, rest] of rests) {
      const added = rangesOf(fresh.get(chunk) as readonly string[], (record) => !rest.has(record));
      this.#came.set(chunk, this.#ranges.push(added.length / 2) - 1);
      for (const place of added) this.#ranges.push(place);
      this.#bytes += added.length * 8 + PART_BYTES;
    }
  }

  #hold(old: number, fresh: number, gone: string): void {
    const bytes = gone.length;
    if (this.#blocks.length === 0 || this.#used + bytes > (this.#blocks.at(-1) as Buffer).length) {
      this.#blocks.push(Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, bytes)));
      this.#used = 0;
    }
    this.#gone.set(old, this.#held.push(fresh, this.#blocks.length - 1, this.#used, bytes) - 4);
    this.#used += (this.#blocks.at(-1) as Buffer).write(gone, this.#used, 'latin1');
    this.#bytes += bytes + PART_BYTES;
  }

  /** undefined: it is compared with none. */
  freshOf(old: number): number | undefined {
    return this.#ofGone(old)?.[0];
  }

  /** Bytes of what is gone. undefined: all of it. */
  goneBytes(old: number): number | undefined {
    return this.#ofGone(old)?.[3];
  }

  /** undefined: all of it. */
  gone(old: number): Buffer | undefined {
    const found = this.#ofGone(old);
    if (found === undefined) return undefined;
    const [, block, from, bytes] = found;
    return (this.#blocks[block] as Buffer).subarray(from, from + bytes);
  }

  #ofGone(old: number): readonly [fresh: number, block: number, from: number, bytes: number] | undefined {
    const at = this.#gone.get(old);
    return at === undefined ? undefined : (this.#held.slice(at, at + 4) as [number, number, number, number]);
  }

  /** Bytes of what is added. undefined: all of it. */
  addedBytes(fresh: number): number | undefined {
    return this.#rangesOf(fresh)?.reduce((sum, place, i) => (i % 2 === 0 ? sum - place : sum + place), 0);
  }

  /** undefined: all of it. */
  added(fresh: number): Buffer | undefined {
    const ranges = this.#rangesOf(fresh);
    return ranges && within(this.#texts.fresh(fresh), ranges);
  }

  rest(fresh: number): Buffer {
    const text = this.#texts.fresh(fresh);
    return within(text, [0, ...(this.#rangesOf(fresh) ?? []), text.length]);
  }

  #rangesOf(fresh: number): readonly number[] | undefined {
    const at = this.#came.get(fresh);
    return at === undefined ? undefined : this.#ranges.slice(at + 1, at + 1 + 2 * (this.#ranges[at] as number));
  }
}

/** The ranges of a text whose records are of a kind. Neighbours are one range. */
function rangesOf(records: readonly string[], is: (record: string) => boolean): readonly number[] {
  const ranges: number[] = [];
  let at = 0;
  for (const record of records) {
    if (is(record)) {
      if (ranges.at(-1) === at) ranges.pop();
      else ranges.push(at);
      ranges.push(at + record.length);
    }
    at += record.length;
  }
  return ranges;
}

function within(text: Buffer, ranges: readonly number[]): Buffer {
  if (ranges.length === 2) return text.subarray(ranges[0], ranges[1]);
  const parts: Buffer[] = [];
  for (let i = 0; i < ranges.length; i += 2) parts.push(text.subarray(ranges[i], ranges[i + 1]));
  return Buffer.concat(parts);
}

/** undefined: there is none. */
function mostFrequent(numbers: readonly (number | undefined)[]): number | undefined {
  const counts = new Map<number, number>();
  let [found, most]: [number | undefined, number] = [undefined, 0];
  for (const number of numbers) {
    if (number === undefined) continue;
    const count = (counts.get(number) ?? 0) + 1;
    counts.set(number, count);
    if (count > most) [found, most] = [number, count];
  }
  return found;
}
