/**
 * Finds what a version changes by the records that came and went, without mapping the others.
 *
 * Let O be the units of the version before, N those of the new one, R = O − N, A = N − O and U = O ∩ N. f(S) is the graph of the units S, and for a version
 * V a *derivation* is a tree of its records (`joins.ts`), in which the joins have found what they find in V. The plan has nothing else by which a record
 * matters to another one (`reasons.ts`), but for equal records, below: so f(V) has what the derivations of V make. The *root* of a derivation is its topmost
 * record. Of the units of a part S, some are there as roots and the others for their partners alone: f(S) has what the derivations with these roots make of S.
 *
 * A statement is one of an output: where it goes to several logical targets, it counts as several. A statement of RDF-star counts as one of its subject and of
 * each triple that it has as a term, and the statement of a reifier as one of that: the makers of all of these are known, in any output.
 *
 * **Claim.** The changes are exact. **Proof.**
 *
 * *Affected units.* Let E be those of R and A, and what is found upwards from them, in both versions. A derivation of O that is none of N has a record of
 * R; or a row that met no partner in O meets one in N, which is made with a record of A. In both cases its root is in E: each edge
 * from there on upwards is a key that both of its rows have, and that was followed. In the same way for N and O.
 *
 * *The candidates.* Let S be E ∩ O as roots, with units of O that are found downwards from there, such that f(S) has all that derivations with roots in E make that
 * are in one version alone, and f(S) ⊆ f(O); T the same for N. A removed statement has a derivation of O, and none of N. So its derivations are of O
 * alone, it is in f(S), and as f(T) ⊆ f(N) it is in f(S) − f(T). Let a statement of that be in f(N) all the same. Its derivation there is one of O,
 * too, else it was in f(T). In the same way for f(T) − f(S). So a candidate is no change if and only if a derivation of both versions makes it.
 *
 * *Other makers.* Let M be units of U as roots, with those that are found downwards from them, such that f(M) ⊆ f(O) ∩ f(N). So a candidate in f(M) is no change. Statements
 * of other subjects than those of candidates need not be in f(M). When all
 * units that may make statements of its subject are roots of M, and f(M) has what the derivations of both versions make from these roots, the candidate is a
 * change if it is not in f(M). At the end the changes are those between f(S) ∪ f(M) and f(T) ∪ f(M). Statements that stay, of the subject of a removed one
 * or of a triple of it, are in f(T) ∪ f(M) for the same reason.
 *
 * *What is to be found downwards, where every join is inner.* All operators are monotone: S ⊆ O gives f(S) ⊆ f(O). The derivations of O alone have a record of R. S has
 * all of their records: the root is found upwards from that of R, and from each record on this way, all partners by the other joins of derivations
 * with the join that has led there (`JoinSides.ofFound`), and all partners of these. A key that depends on a partner is known when that is read: so
 * S grows until a run over it follows no key that is new. M has units of U alone, so f(M) ⊆ f(U) ⊆ f(O) ∩ f(N). A derivation of both versions has
 * records of U alone, and those below its root are found downwards from that.
 *
 * *Where some join is outer*, the graph of a part may have rows that only the whole would join. S has all partners of all of its units, and so on: its
 * derivations are those of O. The roots of M are not in E, and units of E are not read for M. A unit m outside of E has no partner in E, in either version:
 * upwards from such a partner, by the key that both have, m was in E. So all partners of M are in U, outside of E, and it has all of them. Makers of a
 * candidate in E are in S and T, with all of their derivations.
 *
 * *Equal records.* What names a blank node of a record, and the collection that is made of it, is its content and how many records of its scan had that before
 * (`distinct/occurrences.ts`). **Claim.** It is the content alone, in O, N and each part. **Proof.** The run that mapped all records of a version has met no content
 * twice, else no units were kept. Let two records of N have one content, and O none such. Then one of them is of A, and all of A are in T. Its content has been followed to the
 * units that had it in O: those that stay are in T as roots, with what they need. Equal units of a version would be one, and equal records of a unit that is divided:
 * where scans name blank nodes, neither is done (`countsEqual`). So the run over T meets the content twice, and the changes are found by output. A record of U whose node
 * is made in N alone has another derivation there: it is in E. So a statement of a node of such a collection has one root: no other makers are looked up.
 *
 * *Promises of views.* **Claim.** N keeps them if the run over T has found none to be broken. **Proof.** O keeps them, else it was no version. Joins are inner where promises are made, so
 * a row that breaks `not-null` or `iri-safe` in N, and not in O, has a derivation with a root in E: T has it. Of two rows with one unique key in N one has
 * such a derivation, and its key has been followed to the units that had it in O. In the other direction, T ⊆ N and S, M ⊆ O: they break no promise that the whole keeps.
 */
import { join } from 'node:path';
import { Fault } from '../../core/fault.ts';
import { subjectAt } from '../../nquads/terms.ts';
import type { PreparedRun } from '../../run/prepare/open.ts';
import type { RunHooks, RunReport, RunRequest } from '../../run/request.ts';
import { executeRun } from '../../run/run.ts';
import { MemoryBudget } from '../../spill/budget.ts';
import { type ChangeSink, type CompareOptions, compareGraphs, differingSubjects, triplesIn } from '../graphs/compare.ts';
import { GraphLogReader, GraphLogWriter, GraphUnion } from '../graphs/graph-log.ts';
import { isRight, JoinSides, type Side } from './joins.ts';
import { Part } from './part.ts';
import { quotes } from './reasons.ts';
import { bitsOfKey, Tracing } from './tracing.ts';
import { bitsOf } from './unit-index.ts';
import type { Unit, Units } from './units.ts';

export interface UnitsRun {
  readonly request: RunRequest;
  /** `close` leaves it open. */
  readonly prepared: PreparedRun;
  readonly hooks: Pick<RunHooks, 'signal' | 'progress' | 'openTopic'>;
  /** For temporary files; removed by the caller. */
  readonly temporary: string;
  /** Of all hashes. */
  readonly seed: number;
  readonly folding: CompareOptions;
}

/** Changes, which wait to be written. */
export interface UnitChanges {
  /** Of the records of the new version that were mapped. */
  readonly report: RunReport;
  /** Paths of the logical targets of the mapping. */
  readonly targets: readonly string[];
  /** @param target undefined: the output of the run @throws those of `compareGraphs` */
  write(target: string | undefined, sink: ChangeSink): Promise<void>;
  /** In any case. */
  close(): void;
}

/** If more than this share of old and new records together is to be mapped, the changes are found by output. */
export const MOST_MAPPED = 1 / 2;
/** Of a subject in a set, with its share in the units that are looked up. */
const SUBJECT_BYTES = 64;

/**
 * @param isForced whether all records may be mapped
 * @returns a text: why the changes are to be found by output
 * @throws Fault sink/failed, source/unreadable; those of the run
 */
export async function changesOfUnits(run: UnitsRun, units: Units, isForced: boolean): Promise<UnitChanges | string> {
  return new Comparison(run, units, isForced).execute();
}

/** A key that was followed, as it is looked up: bits by the side on which its holders are. */
type Keys = Map<Side, Set<number>>;

class Comparison {
  readonly #run: UnitsRun;
  readonly #units: Units;
  readonly #sides: JoinSides;
  readonly #budget: MemoryBudget;
  /** What is affected. Without outer joins, where it is of no interest, this is empty. */
  readonly #affected: Set<Unit>;
  /** So many bytes of records may be mapped. */
  #left: number;
  /** So many subjects, and keys, may be looked up. */
  readonly #most: number;
  /** Paths of the logical targets; undefined: the output of the run. */
  readonly #outputs: readonly (string | undefined)[];
  readonly #quotes: boolean;

  constructor(run: UnitsRun, units: Units, isForced: boolean) {
    this.#run = run;
    this.#units = units;
    this.#sides = new JoinSides(run.prepared.plan);
    this.#affected = new Set(this.#sides.isOuter ? [...units.removed, ...units.added] : []);
    this.#left = isForced ? Number.POSITIVE_INFINITY : units.bytes * MOST_MAPPED;
    this.#most = isForced ? Number.POSITIVE_INFINITY : run.request.memoryBudgetBytes / SUBJECT_BYTES;
    this.#budget = new MemoryBudget(run.request.memoryBudgetBytes / 2);
    this.#outputs = [undefined, ...new Set(run.prepared.plan.targets.map(({ path }) => path))];
    this.#quotes = quotes(run.prepared.plan);
  }

  async execute(): Promise<UnitChanges | string> {
    const units = this.#units;
    const before = new Part('old');
    const after = new Part('new');
    for (const unit of units.removed) before.add(unit, this.#sides.ofChanged(units.scanOf(unit)), true);
    for (const unit of units.added) after.add(unit, this.#sides.ofChanged(units.scanOf(unit)), true);
    const parts = [before, after];
    let found: UnitChanges | undefined;
    try {
      const reason = await this.#mapAffected(before, after);
      if (reason !== undefined) return reason;
      const others: Part[] = [];
      // One unit decides most statements that many records make; what it leaves open takes all of them.
      for (const most of [1, Number.POSITIVE_INFINITY]) {
        const subjects = await this.#candidates(before, after, others);
        if (subjects.size > this.#most) return TOO_MANY;
        const part = new Part(`others-${most}`);
        units.makers(subjects, (makers) => {
          const open = makers.filter((unit) => this.#isOther(unit) && !others.some((other) => other.units.get(unit)?.isRoot === true));
          for (const unit of open.slice(0, most)) part.add(unit, this.#sides.ofRoot(units.scanOf(unit)), true);
        });
        if (part.units.size === 0) break;
        parts.push(part);
        const refused = await this.#mapOthers(part, subjects);
        if (refused !== undefined) return refused;
        others.push(part);
      }
      const { folding, prepared } = this.#run;
      const report = after.report as RunReport;
      found = {
        close() {
          for (const part of parts) part.close();
        },
        targets: this.#outputs.flatMap((target) => target ?? []),
        // What some records lack, others may have.
        report: {
          ...report,
          triplesMaps: report.triplesMaps.map((map) => ({ ...map, empty: undefined })),
          joins: [],
          warnings: prepared.warnings,
        },
        write: (target, sink) => compareGraphs(unionOf([before, ...others], target), unionOf([after, ...others], target), sink, folding),
      };
      return found;
    } finally {
      if (found === undefined) for (const part of parts) part.close();
    }
  }

  /** Maps what is affected in both versions, with what that needs. @returns why the changes are to be found by output */
  async #mapAffected(before: Part, after: Part): Promise<string | undefined> {
    const units = this.#units;
    const known: readonly [Keys, Keys] = [new Map(), new Map()];
    before.hasGrown = true;
    after.hasGrown = true;
    while (before.hasGrown || after.hasGrown) {
      const told: [Keys, Keys] = [new Map(), new Map()];
      for (const [i, part] of [before, after].entries()) {
        if (!part.hasGrown) continue;
        const reason = await this.#map(part, part === after, told[i] as Keys);
        if (reason !== undefined) return reason;
      }
      for (const [i, part] of [before, after].entries()) {
        const reason = this.#follow(told[i] as Keys, known[i] as Keys, (unit, side) => {
          const follow = this.#sides.ofFound(units.scanOf(unit), side);
          if (isRight(side)) {
            if (part === before || units.stays(unit)) part.add(unit, follow, false);
            return;
          }
          if (this.#sides.isOuter) this.#affected.add(unit);
          before.add(unit, follow, true);
          if (units.stays(unit)) after.add(unit, follow, true);
        });
        if (reason !== undefined) return reason;
      }
    }
    return undefined;
  }

  /** Maps units that stay, as far as they make statements of the subjects, with what that needs. @returns why the changes are to be found by output */
  async #mapOthers(part: Part, subjects: ReadonlySet<number>): Promise<string | undefined> {
    const known: Keys = new Map();
    while (part.hasGrown) {
      const told: Keys = new Map();
      const reason =
        (await this.#map(part, false, told, subjects)) ??
        this.#follow(told, known, (unit, side) => {
          if (this.#isOther(unit)) part.add(unit, this.#sides.ofFound(this.#units.scanOf(unit), side), false);
        });
      if (reason !== undefined) return reason;
    }
    return undefined;
  }

  /** Whether a unit of the version before is read for other makers. */
  #isOther(unit: Unit): boolean {
    return this.#units.stays(unit) && !(this.#sides.isOuter && this.#affected.has(unit));
  }

  /**
   * Looks up keys that were followed, and are not known yet.
   *
   * @param take called with each unit and the side on which it has a key
   */
  #follow(told: Keys, known: Keys, take: (unit: Unit, side: Side) => void): string | undefined {
    for (const [side, keys] of told) {
      const before = known.get(side) ?? new Set();
      known.set(side, before);
      const fresh = [...keys].filter((key) => !before.has(key));
      for (const key of fresh) before.add(key);
      if (before.size > this.#most) return TOO_MANY;
      this.#units.holders(fresh, (found) => {
        for (const unit of found) take(unit, side);
      });
    }
    return undefined;
  }

  /**
   * @param told gets the keys that are followed
   * @param subjects undefined: all are wanted
   * @returns why the changes are to be found by output
   */
  async #map(part: Part, isIndexed: boolean, told: Keys, subjects?: ReadonlySet<number>): Promise<string | undefined> {
    const { request, prepared, hooks, temporary, seed } = this.#run;
    const units = this.#units;
    part.close();
    part.hasGrown = false;
    for (const unit of part.units.keys()) this.#left -= units.bytesOf(unit);
    if (this.#left < 0) return TOO_MANY;
    let isRepeated = false;
    const tracing = new Tracing(this.#sides, seed, {
      repeated: () => {
        isRepeated = true;
      },
      subject: (bits, unit) => {
        if (isIndexed) units.addMaker(bits, unit);
      },
      isRoot: (unit) => part.units.get(unit)?.isRoot === true,
      wants: subjects && ((bits) => subjects.has(bits)),
      key: (key, side, unit) => {
        if (isIndexed) units.addHolder(bitsOfKey(key, side, seed), unit);
        if (part.units.get(unit)?.follow.has(side) !== true) return;
        const opposite = this.#sides.oppositeOf(side);
        const keys = told.get(opposite) ?? new Set();
        told.set(opposite, keys);
        if (keys.size <= this.#most) keys.add(bitsOfKey(key, opposite, seed));
      },
    });
    const directory = join(temporary, part.nextName());
    /** Those that are not finished. */
    const writers = new Map(
      this.#outputs.map((target, number) => [target, new GraphLogWriter(join(directory, String(number)), seed, this.#budget, false)]),
    );
    const abort = async (): Promise<void> => {
      for (const one of writers.values()) await one.abort();
    };
    const writer = writers.get(undefined) as GraphLogWriter;
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
          ...tracing.hooks,
          openTarget: async ({ path }) => writers.get(path) as GraphLogWriter,
          ...units.reading(
            [...part.units.keys()].sort((a, b) => a - b),
            tracing.took,
          ),
        },
        prepared,
      );
      hooks.signal?.throwIfAborted();
      if (isRepeated || hasLosses(report)) {
        await abort();
        return isRepeated ? EQUAL_NAMED : 'records are rejected, or lose statements';
      }
      for (const [number, target] of this.#outputs.entries()) {
        await writers.get(target)?.finish();
        writers.delete(target);
        part.graphs.set(target, new GraphLogReader(join(directory, String(number))));
      }
      part.report = report;
      return undefined;
    } catch (error) {
      await abort();
      // A fault names a place in what was read here: by output it names the place in the input.
      if (hooks.signal?.aborted || !(error instanceof Fault) || error.code === 'sink/failed') throw error;
      return `of the records that changed, some cannot be mapped: ${error.message}`;
    }
  }

  /**
   * The subjects of statements that one side has, and neither the other one nor the units that were mapped besides. More subjects make more work, and the
   * same changes: where nothing is mapped besides, blocks of statements are compared in place of their text.
   */
  async #candidates(before: Part, after: Part, others: readonly Part[]): Promise<ReadonlySet<number>> {
    const { seed, folding } = this.#run;
    const subjects = new Set<number>();
    const add = (bits: number): void => {
      if (subjects.size <= this.#most) subjects.add(bits);
    };
    if (others.length === 0 && !this.#quotes) {
      for (const target of this.#outputs) {
        const [left, right] = [before, after].map(({ graphs }) => graphs.get(target) as GraphLogReader);
        for (const bits of differingSubjects(left as GraphLogReader, right as GraphLogReader, folding.memoryBudgetBytes)) add(bits);
      }
      return subjects;
    }
    const addLines = (lines: readonly string[]): void => {
      for (const line of lines) add(bitsOf(subjectAt(line, 0), seed));
    };
    const addWithTriples = (lines: readonly string[]): void => {
      addLines(lines);
      for (const line of lines) for (const triple of triplesIn(line)) add(bitsOf(triple, seed));
    };
    for (const target of this.#outputs) {
      const [left, right] = [unionOf([before, ...others], target), unionOf([after, ...others], target)];
      await compareGraphs(left, right, { added: addLines, removed: addWithTriples }, folding);
    }
    return subjects;
  }
}

export const EQUAL_NAMED = 'some records are equal, and each has blank nodes';
export const TOO_MANY = 'most records have changed, or are needed to know what stays';

const unionOf = (parts: readonly Part[], target: string | undefined): GraphUnion =>
  new GraphUnion(parts.map(({ graphs }) => graphs.get(target) as GraphLogReader));

/** Whether some record is rejected, or loses statements. */
export const hasLosses = ({ rejected, flaws = [] }: RunReport): boolean => rejected > 0 || flaws.some(({ kind }) => kind === 'left-out');
