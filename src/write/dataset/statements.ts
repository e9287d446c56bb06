/** Versions as statements of the target. The `line` of each says what is done with it. */
import { join } from 'node:path';
import { Fault } from '../../core/fault.ts';
import { TextFilter } from '../../core/hash.ts';
import { detach } from '../../core/text.ts';
import { openGroups } from '../../nquads/group.ts';
import { readStatements } from '../../nquads/read.ts';
import { skolemiser } from '../../nquads/skolem.ts';
import type { RejectedStatement, Statement } from '../../nquads/statement.ts';
import { isTriple } from '../../nquads/terms.ts';
import type { VersionBatch } from '../../targets/target.ts';
import { bytesOf } from '../batch/batches.ts';
import { type TripleSupport, writtenAs } from '../inputs.ts';
import type { DatasetWriteRequest } from './request.ts';

export const REMOVED = 1;
export const ADDED = 2;
export const KEPT = 3;
/** An element of a property graph that is missing there. */
export const MISSING = 4;
type Tag = typeof REMOVED | typeof ADDED | typeof KEPT | typeof MISSING;

/** @param takesKept otherwise kept statements are added again */
export function batchOf(
  statements: readonly Statement[],
  takesKept: boolean,
  others: Required<Pick<VersionBatch, 'isShared' | 'from'>> & Pick<VersionBatch, 'within'>,
): VersionBatch {
  const of = (tag: Tag): Statement[] => statements.filter(({ line }) => line === tag);
  const kept = of(KEPT);
  return {
    removed: of(REMOVED),
    added: takesKept ? of(ADDED) : statements.filter(({ line }) => line !== REMOVED),
    kept: takesKept ? kept : [],
    ...others,
  };
}

export interface Conversion {
  readonly triples: TripleSupport;
  /** Term of the graph of statements that have none; '' is the default graph. */
  readonly graph: string;
  /** Called with statements of which the target can have none. */
  readonly reject: (rejected: RejectedStatement) => void;
}

/** Reads a dataset for a target. */
export class VersionStatements {
  readonly #request: Omit<DatasetWriteRequest, 'target'>;
  readonly #conversion: Conversion;
  readonly #written: (statement: Statement) => readonly Statement[];

  constructor(request: Omit<DatasetWriteRequest, 'target'>, conversion: Conversion) {
    this.#request = request;
    this.#conversion = conversion;
    this.#written = writtenAs(conversion.triples, { blankNodes: 'skolem', skolemBase: request.skolemBase });
  }

  /** The graph of a version, to be added. */
  async *graph(version: number): AsyncGenerator<readonly Statement[]> {
    for await (const statements of this.#read(this.#graphLines(version)))
      yield tagged(
        statements.flatMap((one) => this.#converted(one)),
        ADDED,
      );
  }

  /** The changes of a version for a store of statements: removed ones, then those that are added again because `#mayBeOne`, then added ones. */
  async *changes(version: number): AsyncGenerator<readonly Statement[]> {
    const { dataset } = this.#request;
    const removedFrom = new Set<string>();
    const pairs = new TextFilter();
    yield* this.#removed(version, ({ subject, predicate, graph }) => {
      removedFrom.add(graph);
      pairs.add(`${subject} ${predicate}`);
    });
    if (removedFrom.size > 0)
      for await (const statements of this.#read(dataset.lines(version, 'kept', undefined), IGNORE))
        yield tagged(
          statements
            .filter((one) => pairs.has(`${one.subject} ${one.predicate}`) && this.#mayBeOne(one, removedFrom))
            .flatMap((one) => this.#converted(one)),
          KEPT,
        );
    for await (const statements of this.#read(dataset.lines(version, 'added', undefined)))
      yield tagged(
        statements.flatMap((one) => this.#converted(one)),
        ADDED,
      );
  }

  /** The changes of a version for a property graph: by subject, with the statements that stay. */
  async *changesBySubject(version: number): AsyncGenerator<readonly Statement[]> {
    const { dataset } = this.#request;
    if ((await dataset.manifest(version)).removed === 0) {
      yield* this.changes(version);
      return;
    }
    const groups = this.#groups('subjects');
    try {
      const add = async (kind: 'added' | 'kept' | 'removed', tag: Tag): Promise<void> => {
        const reject = kind === 'added' ? this.#conversion.reject : IGNORE;
        for await (const statements of this.#read(dataset.lines(version, kind, undefined), reject))
          await groups.add(
            tagged(
              statements.flatMap((one) => this.#converted(one)),
              tag,
            ),
          );
      };
      // Of equal statements the first one counts: kept ones may be added ones as well, one that is removed from no graph may be there in the given one,
      // and what describes a triple stays while any statement has the triple.
      await add('added', ADDED);
      await add('kept', KEPT);
      await add('removed', REMOVED);
      for (let partition = 0; partition < groups.partitions; partition++) yield* groups.partition(partition);
    } finally {
      await groups.remove();
    }
  }

  /**
   * Arrays of whole subjects.
   *
   * @param name of a directory that nothing else uses meanwhile
   * @throws Fault limit/exceeded — a subject does not fit into memory
   */
  async *bySubject(name: string, statements: AsyncIterable<readonly Statement[]>): AsyncGenerator<readonly Statement[]> {
    const groups = this.#groups(name);
    try {
      for await (const some of statements) await groups.add(some);
      for (let partition = 0; partition < groups.partitions; partition++) {
        // A subject of several arrays has them for itself.
        let whole: Statement[] = [];
        for await (const some of groups.partition(partition)) {
          const isSame = whole[0]?.subject === some[0]?.subject;
          if (!isSame && whole.length > 0) yield whole;
          whole = isSame ? [...whole, ...some] : [...some];
          if (isSame && whole.reduce((sum, one) => sum + bytesOf(one), 0) > this.#request.memoryBudgetBytes) throw subjectTooLarge();
        }
        if (whole.length > 0) yield whole;
      }
    } finally {
      await groups.remove();
    }
  }

  /** Lines of the graph of a version as the target has them. */
  async *lines(version: number): AsyncGenerator<string> {
    for await (const statements of this.graph(version)) yield textOf(statements);
  }

  /**
   * The graphs in which any of the versions that are there has a statement, or had one before, as terms.
   *
   * @throws Fault limit/exceeded — their names do not fit into memory
   */
  async graphNames(): Promise<ReadonlySet<string>> {
    const { dataset, memoryBudgetBytes } = this.#request;
    const names = new Set<string>();
    let bytes = 0;
    const note = async (lines: AsyncIterable<string>): Promise<void> => {
      for await (const statements of this.#read(lines, () => undefined)) {
        for (const { graph } of statements) {
          const name = graph === '' ? this.#conversion.graph : graph;
          if (names.has(name)) continue;
          names.add(detach(name));
          bytes += name.length + NAME_BYTES;
        }
        if (bytes > memoryBudgetBytes / 4) throw tooManyGraphs(names.size);
      }
    };
    for (const [at, version] of dataset.versions.entries()) {
      if (at === 0) await note(this.#graphLines(version));
      await note(dataset.lines(version, at === 0 ? 'removed' : 'added', undefined));
    }
    return names;
  }

  /** Changes that were found by a comparison. They are converted already. */
  async *tagged(lines: AsyncIterable<string>, tag: Tag): AsyncGenerator<readonly Statement[]> {
    for await (const { statements } of readStatements(encoded(lines), { input: 'the target', skolem: undefined, takesTriples: true }))
      yield tagged(statements, tag);
  }

  /**
   * Statements that stay may be the same as a removed one in the store, and then went with it.
   *
   * - Stores keep the values of literals, and write `"01"^^xsd:integer` and `"1"^^xsd:integer` as one (Oxigraph, TDB2), and `"a"@en` and `"a"@EN` (Jena): also within triples.
   * - A statement in no graph and one in the graph that is given for those are one.
   *
   * Such a statement has the subject and the predicate of the removed one, and is among the kept ones. Adding it again changes nothing else: the store has it.
   */
  #mayBeOne({ object, graph }: Statement, removedFrom: ReadonlySet<string>): boolean {
    if ((object.startsWith('"') && !object.endsWith('"')) || isTriple(object)) return true;
    const given = this.#conversion.graph;
    return given !== '' && ((graph === given && removedFrom.has('')) || (graph === '' && removedFrom.has(given)));
  }

  /** @param note called with each before it is converted */
  async *#removed(version: number, note: (removed: Statement) => void): AsyncGenerator<readonly Statement[]> {
    const { dataset } = this.#request;
    const describes = await this.#removesTriples(version);
    const groups = describes ? this.#groups('triples') : undefined;
    try {
      // What describes a triple stays while any statement has the triple: all such statements are kept ones. Of equal statements the first one counts.
      if (groups !== undefined)
        for await (const statements of this.#read(dataset.lines(version, 'kept', undefined), IGNORE))
          await groups.add(
            tagged(
              statements.flatMap((one) => this.#converted(one).slice(0, -1)),
              KEPT,
            ),
          );
      for await (const statements of this.#read(dataset.lines(version, 'removed', undefined), IGNORE)) {
        statements.forEach(note);
        const written = statements.map((one) => this.#converted(one));
        await groups?.add(
          tagged(
            written.flatMap((all) => all.slice(0, -1)),
            REMOVED,
          ),
        );
        yield tagged(
          written.flatMap((all) => all.slice(-1)),
          REMOVED,
        );
      }
      for (let partition = 0; groups !== undefined && partition < groups.partitions; partition++) {
        for await (const statements of groups.partition(partition)) yield statements.filter(({ line }) => line === REMOVED);
      }
    } finally {
      await groups?.remove();
    }
  }

  /** Whether other statements describe triples of removed ones. */
  async #removesTriples(version: number): Promise<boolean> {
    if (this.#conversion.triples === 'none') return false;
    for await (const lines of this.#request.dataset.lines(version, 'removed', undefined)) if (lines.includes('<<')) return true;
    return false;
  }

  #groups(name: string) {
    const { spillDirectory, memoryBudgetBytes } = this.#request;
    return openGroups({ directory: join(spillDirectory, name), by: 'subject', memoryBudgetBytes: Math.floor(memoryBudgetBytes / 2) });
  }

  #graphLines(version: number): AsyncIterable<string> {
    const { dataset, spillDirectory, memoryBudgetBytes } = this.#request;
    return dataset.graph(version, undefined, {
      directory: join(spillDirectory, 'graph'),
      memoryBudgetBytes: Math.floor(memoryBudgetBytes / 2),
    });
  }

  async *#read(lines: AsyncIterable<string>, reject = this.#conversion.reject): AsyncGenerator<readonly Statement[]> {
    const { dataset, skolemBase } = this.#request;
    const { name } = dataset.description;
    const skolem = skolemiser(skolemBase, name);
    const options = { input: `dataset ${name}`, skolem, takesTriples: this.#conversion.triples !== 'none' };
    for await (const { statements, rejected } of readStatements(encoded(lines), options)) {
      for (const one of rejected) reject(one);
      yield statements;
    }
  }

  /** The statement itself is the last one. */
  #converted(statement: Statement): readonly Statement[] {
    const { graph } = this.#conversion;
    return this.#written(statement.graph === '' && graph !== '' ? { ...statement, graph } : statement);
  }
}

/** A statement that is not in the store was rejected when it was added. */
const IGNORE = (): void => undefined;
/** Of a name in a set, beside its text. */
const NAME_BYTES = 64;

const tooManyGraphs = (count: number): Fault =>
  new Fault('limit/exceeded', `The dataset has more than ${count} graphs, whose names do not fit into the memory of a write`, {
    limit: 'THREAD_MEMORY_MB',
    hint: 'Give the write more memory',
  });

export const subjectTooLarge = (): Fault =>
  new Fault('limit/exceeded', 'A subject has more changes than the memory of a write holds, and the target takes them in one step', {
    limit: 'THREAD_MEMORY_MB',
    hint: 'Give the write more memory',
  });

export const tagged = (statements: readonly Statement[], tag: Tag): readonly Statement[] =>
  statements.map((one) => ({ ...one, line: tag }));

export function textOf(statements: readonly Statement[]): string {
  let text = '';
  for (const { subject, predicate, object, graph } of statements)
    text += `${subject} ${predicate} ${object} ${graph === '' ? '' : `${graph} `}.\n`;
  return text;
}

async function* encoded(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const piece of lines) yield Buffer.from(piece, 'latin1');
}
