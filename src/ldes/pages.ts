/**
 * The pages of an event stream: the members that a version of a dataset adds, cut into pages of limited size and kept in files.
 *
 * A member is what a version says of an *entity*: of a subject in one graph. Pages are made in one pass: changed entities and all statements of the
 * graph are sorted by entity, so a page needs neither the graph nor the version in memory, and the same version gives the same pages everywhere.
 */
import { createReadStream } from 'node:fs';
import { type FileHandle, open, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createGunzip, gzip } from 'node:zlib';
import { Fault } from '../core/fault.ts';
import { h1, h2, hash } from '../core/hash.ts';
import { wholeLines } from '../datasets/changes.ts';
import type { Dataset } from '../datasets/dataset.ts';
import { splitLine } from '../nquads/terms.ts';
import { MemoryBudget } from '../spill/budget.ts';
import { LineSorter } from '../spill/line-sorter.ts';
import { SpillSpace } from '../spill/space.ts';
import { makeDirectory } from '../storage/local/directory.ts';

/**
 * `changes`: the entities that a version changes, with tombstones for those that went. `base`: those that it does not change, for a version before
 * which all versions were removed. Together they are the graph of the version.
 */
export const PART_KINDS = ['changes', 'base'] as const;
export type PartKind = (typeof PART_KINDS)[number];

export interface Part {
  readonly kind: PartKind;
  readonly version: number;
}

/** A line of a page: a member, or a statement of the member before it. */
export type PageLine =
  | { readonly kind: 'member' | 'tombstone'; readonly subject: string; readonly graph: string }
  | { readonly kind: 'statement'; readonly line: string };

/** A page ends where it has so many members or statements; a member is never divided. */
const MOST_MEMBERS = 250;
const MOST_STATEMENTS = 2_000;

const MEMORY_BYTES = 16 * 2 ** 20;
/** So much text is packed at once. */
const PACKED_CHARACTERS = 1 << 18;
/** Pages of other versions are removed from the oldest use on, beyond so many bytes. */
const MOST_KEPT_BYTES = 2 * 2 ** 30;

const PAGES = 'pages.gz';
const INDEX = 'index.json';

/** Where each page ends in the file of pages; the first one begins at 0. */
type Ends = readonly number[];

const gzipped = promisify(gzip);

/** The pages of a part, on disk. */
export class Pages {
  readonly #directory: string;
  readonly #ends: Ends;

  constructor(directory: string, ends: Ends) {
    this.#directory = directory;
    this.#ends = ends;
  }

  get count(): number {
    return this.#ends.length;
  }

  /** @param page from 1 */
  async *read(page: number): AsyncGenerator<readonly PageLine[]> {
    const start = this.#ends[page - 2] ?? 0;
    const end = (this.#ends[page - 1] as number) - 1;
    const bytes = createReadStream(join(this.#directory, PAGES), { start, end });
    const unpacked = createGunzip();
    bytes.on('error', (error) => unpacked.destroy(error));
    try {
      for await (const piece of wholeLines(bytes.pipe(unpacked))) yield piece.slice(0, -1).split('\n').map(parsed);
    } finally {
      bytes.destroy();
      unpacked.destroy();
    }
  }
}

const KINDS = { M: 'member', D: 'tombstone' } as const;

function parsed(text: string): PageLine {
  const kind = text[0] as 'M' | 'D' | 'S';
  if (kind === 'S') return { kind: 'statement', line: `${text.slice(1)}\n` };
  const at = text.indexOf('\r');
  return { kind: KINDS[kind], subject: text.slice(1, at), graph: text.slice(at + 1) };
}

export interface PageOptions {
  /** Of all parts; created when needed, and used by nothing else. */
  readonly directory: string;
  /** Names the part: dataset, version and what else its text depends on. */
  readonly key: string;
  /** Pieces of lines → the same without blank nodes. */
  readonly convert: (lines: string) => string;
  readonly signal: AbortSignal;
}

/** Makes the pages of a part. @throws Fault those of `Dataset.graph`; sink/failed; the reason of `signal` */
export async function pagesOf(dataset: Dataset, part: Part, { directory, key, convert, signal }: PageOptions): Promise<Pages> {
  const place = join(directory, key);
  const draft = `${place}.${process.pid}-${Date.now()}`;
  makeDirectory(draft, 0o700);
  try {
    await makePages(dataset, part, draft, convert, signal);
    // Another process may have made the same pages meanwhile.
    await rename(draft, place).catch(() => undefined);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  await removeOld(directory, key);
  const made = await knownPages({ directory, key });
  if (made === undefined) throw new Fault('sink/failed', `The pages in ${place} were removed while they were made`);
  return made;
}

/** The pages that were made before; undefined: there are none, or they were removed. */
export async function knownPages({ directory, key }: Pick<PageOptions, 'directory' | 'key'>): Promise<Pages | undefined> {
  const place = join(directory, key);
  const path = join(place, INDEX);
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const now = new Date();
  await utimes(path, now, now).catch(() => undefined);
  return new Pages(place, JSON.parse(text) as Ends);
}

async function removeOld(directory: string, key: string): Promise<void> {
  const parts = await Promise.all(
    (await readdir(directory)).map(async (name) => {
      const [index, pages] = await Promise.all([INDEX, PAGES].map((file) => stat(join(directory, name, file)).catch(() => undefined)));
      return { name, usedMs: index?.mtimeMs ?? 0, bytes: (index?.size ?? 0) + (pages?.size ?? 0), isMade: index !== undefined };
    }),
  );
  let bytes = 0;
  for (const { name, bytes: own, isMade } of parts.sort((a, b) => b.usedMs - a.usedMs)) {
    bytes += own;
    if (isMade && name !== key && bytes > MOST_KEPT_BYTES) await rm(join(directory, name), { recursive: true, force: true });
  }
}

async function makePages(
  dataset: Dataset,
  part: Part,
  directory: string,
  convert: (lines: string) => string,
  signal: AbortSignal,
): Promise<void> {
  const space = new SpillSpace(join(directory, 'sort'));
  const sorter = new LineSorter(new MemoryBudget(MEMORY_BYTES), space);
  const writer = new PageWriter(await open(join(directory, PAGES), 'wx', 0o600));
  try {
    await sortEntries(dataset, part, join(directory, 'lines'), convert, sorter, space, signal);
    await writeMembers(sorter.sorted(), part.kind, writer, signal);
    await writeFile(join(directory, INDEX), JSON.stringify(await writer.finish()));
  } finally {
    await writer.close();
    await space.remove();
    await rm(join(directory, 'lines'), { recursive: true, force: true });
  }
}

const CHANGED = '0';
const STATEMENT = '1';

/**
 * Entries are an entity, a carriage return and either `CHANGED` or a statement: sorted, the mark of an entity comes before its statements.
 *
 * **Claim.** The statements that come behind a mark are all that the graph has of the entity. **Proof.** The filter has every entity that has a mark,
 * so none of its statements is left out, and sorting brings what begins alike together: no entity is the beginning of another one's entry, since a
 * carriage return, which no term has as it is, ends its subject and its graph.
 */
async function sortEntries(
  dataset: Dataset,
  { kind, version }: Part,
  directory: string,
  convert: (lines: string) => string,
  sorter: LineSorter,
  space: SpillSpace,
  signal: AbortSignal,
): Promise<void> {
  const changed = new Filter();
  let last = '';
  for (const file of ['removed', 'added'] as const) {
    for await (const lines of dataset.lines(version, file, undefined)) {
      for (const [entity] of entriesIn(convert(lines))) {
        if (entity === last) continue;
        last = entity;
        changed.add(entity);
        sorter.add(`${entity}\r${CHANGED}\n`);
      }
      if (space.due) await space.flush();
      signal.throwIfAborted();
    }
  }
  const folding = { directory, memoryBudgetBytes: MEMORY_BYTES };
  for await (const lines of dataset.graph(version, undefined, folding)) {
    for (const [entity, line] of entriesIn(convert(lines))) {
      // The filter has every changed entity, and a few others, whose statements have no mark before them.
      if (kind === 'base' || changed.has(entity)) sorter.add(`${entity}\r${STATEMENT}${line}`);
    }
    if (space.due) await space.flush();
    signal.throwIfAborted();
  }
}

/** Each line with its entity: subject, carriage return, graph. */
function* entriesIn(lines: string): Generator<readonly [entity: string, line: string]> {
  for (let at = 0; at < lines.length; ) {
    const end = lines.indexOf('\n', at) + 1;
    const line = lines.slice(at, end);
    const [subject, , , rest] = splitLine(line);
    yield [`${subject}\r${rest.startsWith('.') ? '' : rest.slice(0, rest.lastIndexOf(' .'))}`, line];
    at = end;
  }
}

async function writeMembers(
  sorted: AsyncIterable<readonly string[]>,
  kind: PartKind,
  writer: PageWriter,
  signal: AbortSignal,
): Promise<void> {
  let entity: string | undefined;
  let isChanged = false;
  let hasStatements = false;
  const end = (): void => {
    if (entity !== undefined && kind === 'changes' && isChanged && !hasStatements) writer.member('D', entity);
  };
  for await (const batch of sorted) {
    signal.throwIfAborted();
    for (const entry of batch) {
      const at = entry.indexOf('\r', entry.indexOf('\r') + 1);
      const own = entry.slice(0, at);
      const isMark = entry[at + 1] === CHANGED;
      if (own !== entity) {
        end();
        entity = own;
        isChanged = isMark;
        hasStatements = false;
      }
      if (isMark || isChanged !== (kind === 'changes')) continue;
      if (!hasStatements) writer.member('M', own);
      hasStatements = true;
      writer.statement(entry.slice(at + 2));
      if (writer.full) await writer.flush();
    }
    if (writer.full) await writer.flush();
  }
  end();
}

/** Pages as members of gzip, one after the other. */
class PageWriter {
  readonly #file: FileHandle;
  readonly #ends: number[] = [];
  /** Complete pages that are not written, and what there is of the next one. */
  #texts: string[] = [];
  #text = '';
  #characters = 0;
  #members = 0;
  #statements = 0;
  #bytes = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  get full(): boolean {
    return this.#characters >= PACKED_CHARACTERS;
  }

  member(kind: 'M' | 'D', entity: string): void {
    if (this.#members >= MOST_MEMBERS || this.#statements >= MOST_STATEMENTS) this.#endPage();
    this.#members++;
    this.#add(`${kind}${entity}\n`);
  }

  statement(line: string): void {
    this.#statements++;
    this.#add(`S${line}`);
  }

  /** @throws Fault sink/failed */
  async flush(): Promise<void> {
    for (const text of this.#texts) {
      await this.#write(text);
      this.#ends.push(this.#bytes);
    }
    this.#texts = [];
    if (this.#text !== '') await this.#write(this.#text);
    this.#text = '';
    this.#characters = 0;
  }

  async finish(): Promise<Ends> {
    if (this.#members > 0) this.#endPage();
    await this.flush();
    return this.#ends;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  #add(text: string): void {
    this.#text += text;
    this.#characters += text.length;
  }

  #endPage(): void {
    this.#texts.push(this.#text);
    this.#text = '';
    this.#members = 0;
    this.#statements = 0;
  }

  async #write(text: string): Promise<void> {
    if (text === '') return;
    const packed = await gzipped(Buffer.from(text, 'latin1'));
    await this.#file.appendFile(packed).catch((error: Error) => {
      throw new Fault('sink/failed', `The pages of a version cannot be written: ${error.message}`, { cause: error });
    });
    this.#bytes += packed.length;
  }
}

const FILTER_BITS = 26;
const SEED = 0x1de5;

/** A Bloom filter: says of a text that was added that it has it, and of few others. */
class Filter {
  readonly #words = new Uint32Array(2 ** (FILTER_BITS - 5));

  add(text: string): void {
    hash(text, SEED);
    this.#set(h1);
    this.#set(h2);
  }

  has(text: string): boolean {
    hash(text, SEED);
    return this.#get(h1) && this.#get(h2);
  }

  #set(bits: number): void {
    const bit = bits >>> (32 - FILTER_BITS);
    (this.#words[bit >>> 5] as number) |= 1 << (bit & 31);
  }

  #get(bits: number): boolean {
    const bit = bits >>> (32 - FILTER_BITS);
    return ((this.#words[bit >>> 5] as number) & (1 << (bit & 31))) !== 0;
  }
}
