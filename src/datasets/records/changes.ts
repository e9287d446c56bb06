/**
 * Finds what a version changes by the records that came and went, without mapping the others.
 *
 * Each record is mapped by itself, so the graph is the union of what the chunks of the inputs make: `f(chunk)`. **Claim.** The changes are exact. **Proof.**
 * Let R be the old chunks that no input has any more, A the new ones, and U those that are in both. The old graph is f(U) ∪ f(R), the new one
 * f(U) ∪ f(A). So the removed statements are f(R) − f(A) − f(U), the added ones f(A) − f(R) − f(U). The *candidates*, f(R) − f(A) and f(A) − f(R), are
 * found by mapping R and A. Let M be some chunks of U. A candidate that f(M) has is no change. The index of subjects has all chunks of U that may make
 * a candidate: when M has all chunks of its subject, f(U) has the candidate only if f(M) has it. So at the end, when M has all chunks of the subjects
 * of candidates that f(M) does not have, the changes are those between f(R) ∪ f(M) and f(A) ∪ f(M). Statements that stay, of the subject of a removed
 * one, are in f(A) ∪ f(M) for the same reason.
 */
import { join } from 'node:path';
import { Fault } from '../../core/fault.ts';
import { subjectAt } from '../../nquads/terms.ts';
import type { PreparedRun } from '../../run/prepare/open.ts';
import type { RunHooks, RunReport, RunRequest } from '../../run/request.ts';
import { executeRun } from '../../run/run.ts';
import { MemoryBudget } from '../../spill/budget.ts';
import { type ChangeSink, type CompareOptions, compareGraphs } from '../graphs/compare.ts';
import { GraphLogReader, GraphLogWriter, GraphUnion } from '../graphs/graph-log.ts';
import { documentOf, type NumberedChunk, type RecordInput } from './inputs.ts';
import { RecordDraft, RecordState, type RecordsInfo } from './state.ts';
import { subjectBits } from './subjects.ts';
import { ended, type TextReader } from './texts.ts';

export interface RecordsRun {
  readonly request: RunRequest;
  /** `close` leaves it open. */
  readonly prepared: PreparedRun;
  readonly hooks: Pick<RunHooks, 'signal' | 'progress'>;
  readonly inputs: readonly RecordInput[];
  /** For temporary files; removed by the caller. */
  readonly temporary: string;
  readonly seed: number;
  /** Where the new state goes. */
  readonly directory: string;
  readonly folding: CompareOptions;
}

/** Changes, which wait to be written. */
export interface RecordChanges {
  /** Of the records that were added. */
  readonly report: RunReport;
  readonly info: RecordsInfo;
  /** @throws those of `compareGraphs` */
  write(sink: ChangeSink): Promise<void>;
}

/** If more than this share of old and new records together is to be mapped, the changes are found by output. */
const MOST_MAPPED = 1 / 2;
/** Of a subject in a set, with its share in the chunks that are looked up. */
const SUBJECT_BYTES = 64;

/**
 * @param isForced whether all records may be mapped
 * @returns a text: why the changes are to be found by output
 * @throws Fault sink/failed, source/unreadable — the state is damaged; those of the run
 */
export async function changesByRecord(
  run: RecordsRun,
  directory: string,
  info: RecordsInfo,
  isForced: boolean,
): Promise<RecordChanges | string> {
  const { inputs } = run;
  if (info.heads.length !== inputs.length) return 'the inputs are others than in the version before';
  const other = inputs.find(({ head }, scan) => head.toString('base64') !== info.heads[scan]);
  if (other !== undefined) return `the header of ${other.name} has changed`;
  const old = new RecordState(directory, info, run.seed);
  let draft: RecordDraft | undefined;
  try {
    draft = new RecordDraft(run.directory, run.seed, old);
    return await new Comparison(run, old, draft, isForced).execute();
  } finally {
    old.close();
    await draft?.abort();
  }
}

class Comparison {
  readonly #run: RecordsRun;
  readonly #old: RecordState;
  readonly #draft: RecordDraft;
  readonly #budget: MemoryBudget;
  /** So many bytes of chunks may be mapped. */
  #left: number;
  /** So many subjects may have candidates. */
  readonly #mostSubjects: number;

  constructor(run: RecordsRun, old: RecordState, draft: RecordDraft, isForced: boolean) {
    this.#run = run;
    this.#old = old;
    this.#draft = draft;
    let bytes = run.inputs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    for (let chunk = 0; chunk < old.table.count; chunk++) bytes += old.table.length(chunk);
    this.#left = isForced ? Number.POSITIVE_INFINITY : bytes * MOST_MAPPED;
    this.#mostSubjects = isForced ? Number.POSITIVE_INFINITY : run.request.memoryBudgetBytes / SUBJECT_BYTES;
    this.#budget = new MemoryBudget(run.request.memoryBudgetBytes / 2);
  }

  async execute(): Promise<RecordChanges | string> {
    const { inputs, hooks } = this.#run;
    const [old, draft] = [this.#old, this.#draft];
    const added: number[] = [];
    for (const [scan, input] of inputs.entries()) {
      for await (const text of input.chunks(old.info.sizes[scan] as NonNullable<(typeof old.info.sizes)[0]>)) {
        const { chunk, isNew } = draft.add(scan, text);
        if (!isNew) continue;
        added.push(chunk);
        if (!this.#take(text.length)) return TOO_MANY;
        hooks.signal?.throwIfAborted();
      }
    }
    const removed: number[] = [];
    for (let chunk = 0; chunk < old.table.count; chunk++) if (draft.isGone(chunk)) removed.push(chunk);
    if (!this.#takeOld(removed)) return TOO_MANY;
    const texts = await draft.finishTexts();
    const opened: GraphLogReader[] = [];
    const close = (): void => {
      for (const graph of opened.splice(0)) graph.close();
    };
    let found: RecordChanges | undefined;
    try {
      const before = await this.#map('old', removed, old.texts, (chunk) => old.table.scan(chunk));
      if (typeof before === 'string') return before;
      opened.push(before.graph);
      const after = await this.#map('new', added, texts, (chunk) => draft.table.scan(chunk), true);
      if (typeof after === 'string') return after;
      opened.push(after.graph);
      const others: GraphLogReader[] = [];
      const mapped = new Set<number>();
      // One chunk decides most statements that many records make; what it leaves open takes all of them.
      for (const most of [1, Number.POSITIVE_INFINITY]) {
        const subjects = await this.#candidates(before.graph, after.graph, others);
        if (subjects.size > this.#mostSubjects) return TOO_MANY;
        const wanted = new Set<number>();
        old.subjects.chunksOf(subjects, (chunks) => {
          const open = chunks.filter((chunk) => !draft.isGone(chunk) && !mapped.has(chunk));
          for (const chunk of open.slice(0, most)) wanted.add(chunk);
        });
        if (wanted.size === 0) break;
        const chunks = [...wanted].sort((a, b) => a - b);
        if (!this.#takeOld(chunks)) return TOO_MANY;
        for (const chunk of chunks) mapped.add(chunk);
        const made = await this.#map(`others-${most}`, chunks, old.texts, (chunk) => old.table.scan(chunk));
        if (typeof made === 'string') return made;
        opened.push(made.graph);
        others.push(made.graph);
      }
      const info = await draft.finish(
        inputs.map(({ head }) => head),
        old.info.sizes,
      );
      const [left, right] = [new GraphUnion([before.graph, ...others]), new GraphUnion([after.graph, ...others])];
      const { folding } = this.#run;
      found = {
        // What some records lack, others may have.
        report: {
          ...after.report,
          triplesMaps: after.report.triplesMaps.map((map) => ({ ...map, empty: undefined })),
          warnings: this.#run.prepared.warnings,
        },
        info,
        async write(sink) {
          try {
            await compareGraphs(left, right, sink, folding);
          } finally {
            close();
          }
        },
      };
      return found;
    } finally {
      texts.close();
      if (found === undefined) close();
    }
  }

  #take(bytes: number): boolean {
    this.#left -= bytes;
    return this.#left >= 0;
  }

  #takeOld(chunks: readonly number[]): boolean {
    return this.#take(chunks.reduce((sum, chunk) => sum + this.#old.table.length(chunk), 0));
  }

  /** @returns a text: why the changes are to be found by output */
  async #map(
    name: string,
    chunks: readonly number[],
    texts: TextReader,
    scanOf: (chunk: number) => number,
    isIndexed = false,
  ): Promise<{ readonly graph: GraphLogReader; readonly report: RunReport } | string> {
    const { inputs, request, prepared, hooks, temporary, seed } = this.#run;
    const byScan: number[][] = inputs.map(() => []);
    for (const chunk of chunks) byScan[scanOf(chunk)]?.push(chunk);
    let current: readonly number[] = [];
    const take = (taken: readonly number[]): void => {
      current = taken;
    };
    const { subjects } = this.#draft;
    const subject = (token: string): void => {
      for (const chunk of current) subjects.add(token, chunk);
    };
    const writer = new GraphLogWriter(join(temporary, name), seed, this.#budget);
    try {
      const report = await executeRun(
        { ...request, threads: 1 },
        {
          write: (lines) => writer.write(lines),
          writeBytes: (buffers) => writer.writeBytes(buffers),
          commit: async () => [],
          abort: async () => undefined,
        },
        {
          ...hooks,
          document: (scan) => documentOf(inputs[scan] as RecordInput, textsOf(byScan[scan] ?? [], texts), isIndexed ? take : undefined),
          ...(isIndexed ? { subject } : {}),
        },
        prepared,
      );
      hooks.signal?.throwIfAborted();
      if (hasLosses(report)) {
        await writer.abort();
        return 'records are rejected, or lose statements';
      }
      await writer.finish();
      return { graph: new GraphLogReader(join(temporary, name)), report };
    } catch (error) {
      await writer.abort();
      // A fault names a place in what was read here: by output it names the place in the input.
      if (hooks.signal?.aborted || !(error instanceof Fault) || error.code === 'sink/failed') throw error;
      return `of the records that changed, some cannot be mapped: ${error.message}`;
    }
  }

  /** The subjects of statements that one side has, and neither the other one nor the chunks that were mapped besides. */
  async #candidates(before: GraphLogReader, after: GraphLogReader, others: readonly GraphLogReader[]): Promise<ReadonlySet<number>> {
    const { seed, folding } = this.#run;
    const subjects = new Set<number>();
    const add = (lines: readonly string[]): void => {
      for (const line of lines) if (subjects.size <= this.#mostSubjects) subjects.add(subjectBits(subjectAt(line, 0), seed));
    };
    await compareGraphs(new GraphUnion([before, ...others]), new GraphUnion([after, ...others]), { added: add, removed: add }, folding);
    return subjects;
  }
}

const TOO_MANY = 'most records have changed, or are needed to know what stays';

/** Whether some record is rejected, or loses statements. */
export const hasLosses = ({ rejected, flaws = [] }: RunReport): boolean => rejected > 0 || flaws.some(({ kind }) => kind === 'left-out');

function* textsOf(chunks: readonly number[], texts: TextReader): Generator<NumberedChunk> {
  for (const chunk of chunks) yield [chunk, ended(texts.read(chunk))];
}
