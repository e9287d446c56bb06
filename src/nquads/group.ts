/**
 * Groups statements by subject or by graph, in any input order and of any number.
 *
 * Statements go to partitions by the hash of their group key, and each partition is grouped in memory. A partition that does not fit in
 * memory is partitioned again: by other bits of the same hash while it has several groups; within a single group by subject or
 * predicate, then by statement. Small inputs never touch the disk.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { partitionOf } from '../core/hash.ts';
import { detach } from '../core/text.ts';
import { PartitionedFile } from '../storage/local/partitioned-file.ts';
import type { Statement } from './statement.ts';

export interface Groups {
  /** Adds statements; not allowed after a partition was read. @throws Fault sink/failed — the disk is full or fails */
  add(statements: readonly Statement[]): Promise<void>;
  /** A constant, so that "so many partitions are done" has the same meaning after a restart: the same statements give the same partitions. */
  readonly partitions: number;
  /**
   * The groups of a partition; may be called several times. The order is the same for the same input and budget.
   *
   * An array contains one or more complete groups; the statements of a group are distinct and adjacent. A group that does not fit in memory
   * comes in several consecutive arrays without other groups; it ends where the next array has another subject (or graph). Of equal
   * statements, the line of the first one is kept. Strings of a statement are slices of a larger text: `detach` what is kept.
   */
  partition(index: number): AsyncGenerator<readonly Statement[], void, undefined>;
  readonly bytesSpilled: number;
  /** Removes the directory. */
  remove(): Promise<void>;
}

export interface GroupOptions {
  /** Created when needed; used by nothing else. */
  readonly directory: string;
  /** By subject and predicate: groups of subjects; in one that does not fit into memory, the statements of a predicate are adjacent. */
  readonly by: 'subject' | 'subject and predicate' | 'graph';
  /** Memory in bytes for a partition while it is read. */
  readonly memoryBudgetBytes: number;
}

const PARTITIONS = 64;
/** For a partition that is too large. */
const PARTS = 16;
const LEAST_BUFFER_CHARACTERS = 1 << 11;
const MOST_BUFFER_CHARACTERS = 1 << 16;
const LEAST_BUDGET_BYTES = 1 << 14;
/** Memory overhead of a statement without its text: the object, its string slices, its entries in group and set. */
const STATEMENT_BYTES = 260;
const ARRAY_STATEMENTS = 1024;
/** A constant in all processes and versions: checkpoints of interrupted writes depend on it. */
const SEED = 0x51ab3c7d;

type Key = 'graph' | 'subject' | 'predicate' | 'statement';

/** How a group that is too large is divided. */
const KEYS: Readonly<Record<GroupOptions['by'], readonly Key[]>> = {
  subject: ['subject', 'statement'],
  'subject and predicate': ['subject', 'predicate', 'statement'],
  graph: ['graph', 'subject', 'statement'],
};

/** What is known about a part without reading it. */
interface Part {
  bytes: number;
  statements: number;
  /** The key of its first statement. */
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

  /** Yields the groups of a part with the `level`th key; `depth` selects hash bits that differ from those of the enclosing parts. */
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
        // If the directory could not be made, there is nothing to remove, and the first error is the important one.
        if (error.code !== 'ENOTDIR') throw error;
      });
    },
  };
}

/** Lines that are slices of one text. They are copied before they are kept, so that a few of them do not keep all of it alive. */
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

/** Parses a line in the form in which `add` writes it. */
function keyOf(line: string, key: Key): string {
  if (key === 'subject') return line.slice(0, line.indexOf('\t'));
  if (key === 'predicate') return line.split('\t', 2)[1] as string;
  const end = line.lastIndexOf('\t');
  return key === 'statement' ? line.slice(0, end) : line.slice(line.lastIndexOf('\t', end - 1) + 1, end);
}

/** Groups the lines of `text`, and collects complete groups into arrays of a reasonable size. */
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
      const value = key === 'graph' || key === 'predicate' ? statement[key] : statement.subject;
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

/** The first line of a part that contains one statement many times. */
async function firstOf(text: AsyncIterable<string>): Promise<Statement> {
  let line = '';
  for await (const piece of text) {
    line += piece;
    if (line.includes('\n')) break;
  }
  return statementOf(line, 0, line.indexOf('\n'));
}
