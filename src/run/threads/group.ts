/** In a thread: the tables of a group of scans, which it shares with the other threads, and the group's join indexes, which are its own. */
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { type CollectPlan, type MapPlan, mapsOf, type Plan, type RulePlan, type ScanPlan } from '../../plan/plan.ts';
import type { MemoryBudget } from '../distinct/distinct.ts';
import { SharedHashSet, SharedMemory, SharedSubjectTable } from '../distinct/shared.ts';
import { SpillSpace, spillName } from '../distinct/spill.ts';
import { executeScans, type Shared, type SharedTables } from '../execute/scans.ts';
import { Multimap } from '../join/join.ts';
import type { PreparedRun } from '../prepare/prepare.ts';
import type { RunRequest } from '../request.ts';
import type { BuiltSides, SharedGroup } from './messages.ts';
import { UndecidedSender } from './undecided.ts';

/** Tables of a triples map: its subjects, and the statements that these do not decide on. */
const TABLES_OF_MAP = 2;

const mapsOfScans = ({ scans }: Plan, positions: readonly number[]): readonly MapPlan[] =>
  positions.flatMap((position) => (scans[position] as ScanPlan).iterations.flatMap(mapsOf));

/** Shared memory for the tables of a group: one of overlapping rules, and those of its triples maps. */
export const reserveTables = (plan: Plan, positions: readonly number[], budgetBytes: number): SharedArrayBuffer =>
  SharedMemory.reserve(budgetBytes, 1 + mapsOfScans(plan, positions).length * TABLES_OF_MAP);

export class GroupTables {
  readonly sender: UndecidedSender;
  readonly #budget: MemoryBudget;
  readonly #tables: SharedTables;
  #joins: Shared['joins'];
  #space: SpillSpace | undefined;

  /**
   * @param plan its triples maps have the same numbers in all threads
   * @param send sends what the tables could not decide; see `UndecidedSender`
   */
  constructor(
    { index, seed, memory }: SharedGroup,
    plan: Plan,
    budget: MemoryBudget,
    send: (lines: string, subjects: string) => Promise<void>,
  ) {
    this.#budget = budget;
    this.sender = new UndecidedSender(send);
    const maps = mapsOfScans(plan, plan.groups[index] as readonly number[]);
    const numbers = new Map(maps.map((map, i) => [map, 1 + i * TABLES_OF_MAP]));
    this.#tables = openTables(new SharedMemory(memory, budget), seed, numbers, this.sender);
  }

  get shared(): Shared {
    return { budget: this.#budget, tables: this.#tables, joins: this.#joins };
  }

  /**
   * Fills the join indexes of the group from all records of their sides. `spilled`: they do not fit in memory, and nothing is kept.
   *
   * Every thread reads the same versions of the same documents in the same order, so all have the same lists with the same numbers: what one
   * remembers of a subject's list means the same to the others.
   */
  async build(prepared: PreparedRun, request: RunRequest, { index, seed, builds }: SharedGroup): Promise<BuiltSides> {
    const plan = sidesAlone(prepared.plan);
    const space = new SpillSpace(join(request.spillDirectory, spillName(request.runId, `sides-${index}-${threadId}`)));
    this.#space = space;
    const joinIndexes = plan.joins.map(() => new Multimap(this.#budget, space, seed ^ 0x1b873593));
    const joins = { joinIndexes };
    const shared = { budget: this.#budget, joins };
    const result = await executeScans(request, { ...prepared, plan }, builds, NO_STATEMENTS, {}, shared);
    await space.flush();
    this.#joins = joins;
    // Rows that have waited in files fill an index in another order.
    const spilled = (result.bytesSpilled ?? 0) > 0 || joinIndexes.some((one) => one.spilled);
    if (spilled) await this.drop();
    return { spilled, sides: result };
  }

  async drop(): Promise<void> {
    for (const index of this.#joins?.joinIndexes ?? []) index.clear();
    this.#joins = undefined;
    await this.#space?.remove();
  }
}

const NO_STATEMENTS = {
  write: () => {
    throw new Error('the sides of joins make no statements');
  },
};

/** Slices of a scan open the tables of a triples map one after the other: they are opened once. */
function openTables(memory: SharedMemory, seed: number, numbers: ReadonlyMap<MapPlan, number>, sender: UndecidedSender): SharedTables {
  const subjects = new Map<number, SharedSubjectTable>();
  const statements = new Map<number, SharedHashSet>();
  const numberOf = (map: MapPlan): number => {
    const number = numbers.get(map);
    if (number === undefined) throw new Error(`no table of ${map.map.name}`);
    return number;
  };
  return {
    seed,
    overlapping: new SharedHashSet(memory, 0, seed),
    openSubjects(map, width) {
      const number = numberOf(map);
      const table = subjects.get(number) ?? new SharedSubjectTable(memory, number, seed, width);
      subjects.set(number, table);
      return table;
    },
    openStatements(map) {
      const number = numberOf(map) + 1;
      const table = statements.get(number) ?? new SharedHashSet(memory, number, seed);
      statements.set(number, table);
      return table;
    },
    undecided: (space) => sender.collect(space),
  };
}

/** The plan without its triples maps: its scans fill the sides of joins alone. */
const sidesAlone = (plan: Plan): Plan => ({
  ...plan,
  scans: plan.scans.map((scan) => ({
    ...scan,
    iterations: scan.iterations.flatMap((iteration) => {
      const pipelines = iteration.pipelines
        .filter(({ buildSides }) => buildSides.length > 0)
        .map((pipeline) => ({ ...pipeline, maps: [], checks: [] }));
      return pipelines.length === 0 ? [] : [{ ...iteration, pipelines }];
    }),
  })),
});

/** The plan without the sides of its joins, whose indexes are complete: no join waits. */
export const mapsAlone = (plan: Plan): Plan => ({
  ...plan,
  scans: plan.scans.map((scan) => ({
    ...scan,
    iterations: scan.iterations.map((iteration) => ({
      ...iteration,
      pipelines: iteration.pipelines
        .filter(({ steps, maps, checks }) => steps.length === 0 || maps.length + checks.length > 0)
        .map(({ steps, maps, ...pipeline }) => ({
          ...pipeline,
          steps: steps.map(atOnce),
          maps: maps.map((map) => ({ ...map, rules: map.rules.map(probing), collects: map.collects.map(probingMembers) })),
          buildSides: [],
        })),
    })),
  })),
});

const atOnce = <T extends object>(one: T): T => ('deferred' in one ? { ...one, deferred: false } : one);
const probing = (rule: RulePlan): RulePlan => ({ ...rule, object: atOnce(rule.object) });
const probingMembers = (collect: CollectPlan): CollectPlan => ({ ...collect, joins: collect.joins.map(atOnce) });
