/**
 * Statements grouped by subject or by graph, however far apart they came and however many they are.
 *
 * They go to partitions by the hash of what they are grouped by, and each partition is grouped in memory. One that is larger than the memory is
 * partitioned again: by other bits of the same hash while it holds several groups, then within its one group by subject, then by statement.
 * What is small never touches the disk.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { partitionOf } from '../core/hash.ts';
import { detach } from '../core/text.ts';
import { PartitionedFile } from '../storage/local/partitioned-file.ts';
import type { Statement } from './statement.ts';

export interface Groups {
  /** Nothing may be added once a partition was read. @throws Fault sink/failed — the disk takes no more */
  add(statements: readonly Statement[]): Promise<void>;
  /** Always the same number, so that "so many are done" means the same after a restart: the same statements give the same partitions. */
  readonly partitions: number;
  /**
   * The groups of a partition, as often as it is asked for. The order is the same for the same input and budget.
   *
   * An array holds one or more whole groups, each one's statements distinct and side by side. A group that is larger than the memory comes in
   * several arrays, one after the other and with no other group in them: it ends where the next array has another subject (or graph). Of
   * equal statements the first one's line is kept. Strings of a statement are cut from a larger text: `detach` what is kept.
   */
  partition(index: number): AsyncGenerator<readonly Statement[], void, undefined>;
  readonly bytesSpilled: number;
  /** Removes the directory. */
  remove(): Promise<void>;
}

export interface GroupOptions {
  /** Created when it is needed; nobody else's. */
  readonly directory: string;
  readonly by: 'subject' | 'graph';
  /** For a partition while it is read. */
  readonly memoryBudgetBytes: number;
}

const PARTITIONS = 64;
/** Of a partition that is too large. */
const PARTS = 16;
const LEAST_BUFFER_CHARACTERS = 1 << 11;
const MOST_BUFFER_CHARACTERS = 1 << 16;
const LEAST_BUDGET_BYTES = 1 << 14;
/** What a statement takes in memory besides its text: itself, strings that are cut from the text, its places in group and set. */
const STATEMENT_BYTES = 260;
const ARRAY_STATEMENTS = 1024;
/** The same in all processes and versions: positions of interrupted writes depend on it. */
const SEED = 0x51ab3c7d;

type Key = 'graph' | 'subject' | 'statement';

/** What a group is divided by when it is too large. */
const KEYS: Readonly<Record<GroupOptions['by'], readonly Key[]>> = {
  subject: ['subject', 'statement'],
  graph: ['graph', 'subject', 'statement'],
};

/** What is known of a part without reading it. */
interface Part {
  bytes: number;
  statements: number;
  /** Of its first statement. */
  key: string | undefined;
  /** Whether another statement has another key. */
  several: boolean;
}

const newParts = (count: number): Part[] =>
  Array.from({ length: count }, () => ({ bytes: 0, statements: 0, key: undefined, several: false }));

export function openGroups({ directory, by, memoryBudgetBytes }: GroupOptions): Groups {
  const budgetBytes = Math.max(memoryBudgetBytes, LEAST_BUDGET_BYTES);
  const bufferCharacters = Math.max(LEAST_BUFFER_CHARACTERS, Math.min(MOST_BUFFER_CHARACTERS, Math.floor(budgetBytes / (4 * PARTITIONS))));
  const keys = KEYS[by];
  const files = new Set<PartitionedFile>();
  let opened = 0;
  let bytesSpilled = 0;
  const openFile = (partitions: number): PartitionedFile => {
    const count = (bytes: number): void => void (bytesSpilled += bytes);
    const file = new PartitionedFile(join(directory, String(opened++)), partitions, count, bufferCharacters);
    files.add(file);
    return file;
  };
  const top = openFile(PARTITIONS);
  const parts = newParts(PARTITIONS);

  /** Yields what stands in a part, which has the `level`th key; `depth` tells the hashes of a part from those of the parts around it. */
  async function* drain(
    file: PartitionedFile,
    index: number,
    part: Part,
    level: number,
    depth: number,
  ): AsyncGenerator<readonly Statement[]> {
    if (part.statements === 0) return;
    if (part.bytes + part.statements * STATEMENT_BYTES <= budgetBytes) {
      const pieces: string[] = [];
      for await (const piece of file.read(index)) pieces.push(piece);
      yield* arraysOf(pieces.join(''), keys[level] as Key);
      return;
    }
    const next = part.several ? level : level + 1;
    const key = keys[next];
    if (key === undefined) {
      yield [await firstOf(file.read(index))];
      return;
    }
    const inner = openFile(PARTS);
    try {
      const innerParts = await divide(file.read(index), inner, key, depth + 1);
      for (const [i, innerPart] of innerParts.entries()) {
        yield* drain(inner, i, innerPart, next, depth + 1);
        await inner.drop(i);
      }
    } finally {
      files.delete(inner);
      await inner.remove();
    }
  }

  return {
    partitions: PARTITIONS,
    get bytesSpilled() {
      return bytesSpilled;
    },
    async add(statements) {
      const piece = openPiece(top, parts);
      let last: string | undefined;
      let index = 0;
      for (const { subject, predicate, object, graph, line } of statements) {
        const key = by === 'graph' ? graph : subject;
        if (key !== last) index = partitionOf(key, SEED, PARTITIONS);
        last = key;
        piece.put(index, key, `${subject}\t${predicate}\t${object}\t${graph}\t${line}\n`);
      }
      await piece.end();
    },
    partition: (index) => drain(top, index, parts[index] as Part, 0, 0),
    async remove() {
      for (const file of files) await file.close();
      files.clear();
      await rm(directory, { recursive: true, force: true }).catch((error: NodeJS.ErrnoException) => {
        // Where it could not be made there is nothing to remove, and what was said then is worth more.
        if (error.code !== 'ENOTDIR') throw error;
      });
    },
  };
}

/** Lines that are cut from one text. They are copied before they are kept, so that a few of them do not keep all of it. */
function openPiece(file: PartitionedFile, parts: readonly Part[]) {
  const texts: string[] = new Array(parts.length).fill('');
  return {
    put(index: number, key: string, line: string): void {
      texts[index] += line;
      const part = parts[index] as Part;
      part.bytes += line.length;
      part.statements++;
      if (part.key === undefined) part.key = detach(key);
      else if (!part.several) part.several = part.key !== key;
    },
    async end(): Promise<void> {
      for (const [index, text] of texts.entries()) if (text !== '') file.add(index, detach(text));
      if (file.full) await file.flush();
    },
  };
}

/** Distributes the lines of `text` over the parts of `to`. */
async function divide(text: AsyncIterable<string>, to: PartitionedFile, key: Key, depth: number): Promise<readonly Part[]> {
  const parts = newParts(PARTS);
  const seed = (SEED + Math.imul(depth, 0x9e3779b1)) | 0;
  let rest = '';
  for await (const piece of text) {
    const whole = piece.lastIndexOf('\n') + 1;
    const lines = rest + piece.slice(0, whole);
    rest = whole === 0 ? rest + piece : piece.slice(whole);
    const out = openPiece(to, parts);
    for (let from = 0; from < lines.length; ) {
      const end = lines.indexOf('\n', from) + 1;
      const line = lines.slice(from, end);
      const value = keyOf(line, key);
      out.put(partitionOf(value, seed, PARTS), value, line);
      from = end;
    }
    await out.end();
  }
  return parts;
}

/** Of a line as `add` writes it. */
function keyOf(line: string, key: Key): string {
  if (key === 'subject') return line.slice(0, line.indexOf('\t'));
  const end = line.lastIndexOf('\t');
  return key === 'statement' ? line.slice(0, end) : line.slice(line.lastIndexOf('\t', end - 1) + 1, end);
}

/** Groups the lines of `text`, and puts as many whole groups into an array as make it worth its while. */
function* arraysOf(text: string, key: Key): Generator<readonly Statement[]> {
  const groups = new Map<string, Statement[]>();
  const seen = new Set<string>();
  let group: Statement[] = [];
  let last: string | undefined;
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from);
    const known = seen.size;
    seen.add(text.slice(from, text.lastIndexOf('\t', end)));
    if (seen.size > known) {
      const statement = statementOf(text, from, end);
      const value = key === 'graph' ? statement.graph : statement.subject;
      if (value !== last) {
        last = value;
        group = groups.get(value) ?? [];
        if (group.length === 0) groups.set(value, group);
      }
      group.push(statement);
    }
    from = end + 1;
  }
  seen.clear();
  let array: Statement[] = [];
  for (const one of groups.values()) {
    if (array.length === 0) array = one;
    else for (const statement of one) array.push(statement);
    if (array.length < ARRAY_STATEMENTS) continue;
    yield array;
    array = [];
  }
  if (array.length > 0) yield array;
}

function statementOf(text: string, from: number, end: number): Statement {
  const a = text.indexOf('\t', from);
  const b = text.indexOf('\t', a + 1);
  const c = text.indexOf('\t', b + 1);
  const d = text.indexOf('\t', c + 1);
  return {
    subject: text.slice(from, a),
    predicate: text.slice(a + 1, b),
    object: text.slice(b + 1, c),
    graph: text.slice(c + 1, d),
    line: Number(text.slice(d + 1, end)),
  };
}

/** The first line of a part that has one statement only, many times. */
async function firstOf(text: AsyncIterable<string>): Promise<Statement> {
  let line = '';
  for await (const piece of text) {
    line += piece;
    if (line.includes('\n')) break;
  }
  return statementOf(line, 0, line.indexOf('\n'));
}
