/**
 * Groups statements by subject or by graph, in any input order and of any number.
 *
 * Statements go to partitions by the hash of their group key, and each partition is grouped in memory. A partition that does not fit in
 * memory is partitioned again: by other bits of the same hash while it has several groups; within a single group by subject or
 * predicate, then by statement. Small inputs never touch the disk.
 */
import { LINES, Partitions, type Pass, passOver } from '../spill/partitions.ts';
import { SpillSpace } from '../spill/space.ts';
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
const MOST_BUFFER_CHARACTERS = 1 << 16;
const LEAST_BUDGET_BYTES = 1 << 14;
/** Memory overhead of a statement without its text: the object, its string slices, its entries in group and set. */
const STATEMENT_BYTES = 260;
const ARRAY_STATEMENTS = 1024;
/** A constant in all processes and versions: checkpoints of interrupted writes depend on it. */
const SEED = 0x51ab3c7d;

type Key = 'graph' | 'subject' | 'predicate' | 'statement';

/** The keys of a line, as `add` writes it. */
const KEY_OF: Readonly<Record<Key, (line: string) => string>> = {
  subject: (line) => line.slice(0, line.indexOf('\t')),
  predicate: (line) => line.split('\t', 2)[1] as string,
  statement: (line) => line.slice(0, line.lastIndexOf('\t')),
  graph: (line) => statementOf(line).graph,
};

/** How a group that is too large is divided. */
const KEYS: Readonly<Record<GroupOptions['by'], readonly [Key, ...Key[]]>> = {
  subject: ['subject', 'statement'],
  'subject and predicate': ['subject', 'predicate', 'statement'],
  graph: ['graph', 'subject', 'statement'],
};

export function openGroups({ directory, by, memoryBudgetBytes }: GroupOptions): Groups {
  const budgetBytes = Math.max(memoryBudgetBytes, LEAST_BUDGET_BYTES);
  const space = new SpillSpace(directory, Math.min(MOST_BUFFER_CHARACTERS, Math.floor(budgetBytes / (4 * PARTITIONS))));
  const keys = KEYS[by];
  const top = new Partitions(space, SEED, LINES, KEY_OF[keys[0]], PARTITIONS);

  /** The groups of a partition that fits into memory. Another one is partitioned by other bits, or by the next key if it has one key. */
  const pass: Pass<readonly [Partitions<string>], readonly Statement[]> = async function* (partition, [lines]) {
    const content = lines.contentOf(partition);
    if (content === undefined) return undefined;
    const level = keys.findIndex((key) => KEY_OF[key] === lines.keyOf);
    if (content.characters + content.entries * STATEMENT_BYTES <= budgetBytes) {
      yield* arraysOf(lines.read(partition), keys[level] as Key);
      return undefined;
    }
    const key = keys[content.several ? level : level + 1];
    if (key === undefined) {
      // One statement, many times.
      for await (const [line] of lines.read(partition)) {
        yield [statementOf(line as string)];
        break;
      }
      return undefined;
    }
    const parts = lines.next(KEY_OF[key], PARTS);
    for await (const batch of lines.read(partition)) {
      for (const line of batch) parts.add(line);
      await space.flush();
    }
    return [parts];
  };

  return {
    partitions: PARTITIONS,
    get bytesSpilled() {
      return space.bytes;
    },
    async add(statements) {
      for (const { subject, predicate, object, graph, line } of statements) {
        top.add(`${subject}\t${predicate}\t${object}\t${graph}\t${line}\n`, by === 'graph' ? graph : subject);
      }
      await space.flush();
    },
    partition: (index) => passOver([top], index, pass, true),
    remove: () => space.remove(),
  };
}

/** Groups lines, and collects complete groups into arrays of a reasonable size. */
async function* arraysOf(batches: AsyncIterable<readonly string[]>, key: Key): AsyncGenerator<readonly Statement[]> {
  const groups = new Map<string, Statement[]>();
  const seen = new Set<string>();
  let group: Statement[] = [];
  let last: string | undefined;
  for await (const batch of batches) {
    for (const line of batch) {
      const known = seen.size;
      seen.add(KEY_OF.statement(line));
      if (seen.size === known) continue;
      const statement = statementOf(line);
      // Statements that are partitioned by their text belong to one subject.
      const value = statement[key === 'statement' ? 'subject' : key];
      if (value !== last) {
        last = value;
        group = groups.get(value) ?? [];
        if (group.length === 0) groups.set(value, group);
      }
      group.push(statement);
    }
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

function statementOf(line: string): Statement {
  const a = line.indexOf('\t');
  const b = line.indexOf('\t', a + 1);
  const c = line.indexOf('\t', b + 1);
  const d = line.indexOf('\t', c + 1);
  return {
    subject: line.slice(0, a),
    predicate: line.slice(a + 1, b),
    object: line.slice(b + 1, c),
    graph: line.slice(c + 1, d),
    line: Number(line.slice(d + 1, -1)),
  };
}
