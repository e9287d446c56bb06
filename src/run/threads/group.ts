/** In a thread: the tables of a group of scans, which it shares with the other threads, and the group's join indexes, which are its own. */
import { type MapPlan, mapsOf, type Plan, type ScanPlan } from '../../plan/plan.ts';
import type { MemoryBudget } from '../../spill/budget.ts';
import { SharedHashSet, SharedMemory, SharedSubjectTable } from '../distinct/shared.ts';
import type { Shared, SharedTables } from '../execute/scans.ts';
import { type FilledSides, fillSides } from '../execute/sides.ts';
import type { PreparedRun } from '../prepare/open.ts';
import type { RunRequest } from '../request.ts';
import type { BuiltSides, SharedGroup, UndecidedStatements } from './messages.ts';
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
  #sides: FilledSides | undefined;

  /**
   * @param plan its triples maps have the same numbers in all threads
   * @param send sends what the tables could not decide; see `UndecidedSender`
   */
  constructor(
    { index, seed, memory }: SharedGroup,
    plan: Plan,
    budget: MemoryBudget,
    send: (statements: UndecidedStatements) => Promise<void>,
  ) {
    this.#budget = budget;
    this.sender = new UndecidedSender(send);
    const maps = mapsOfScans(plan, plan.groups[index] as readonly number[]);
    const numbers = new Map(maps.map((map, i) => [map, 1 + i * TABLES_OF_MAP]));
    this.#tables = openTables(new SharedMemory(memory, budget), seed, numbers, this.sender);
  }

  get shared(): Shared {
    return { budget: this.#budget, tables: this.#tables, joins: this.#sides?.joins };
  }

  /**
   * Fills the join indexes of the group from all records of their sides. `spilled`: they do not fit in memory, and nothing is kept.
   *
   * Every thread reads the same versions of the same documents in the same order, so all have the same lists with the same numbers: what one
   * remembers of a subject's list means the same to the others.
   */
  async build(prepared: PreparedRun, request: RunRequest, { index, seed, builds }: SharedGroup): Promise<BuiltSides> {
    const sides = await fillSides(request, prepared, builds, String(index), this.#budget, seed);
    this.#sides = sides;
    if (sides.spilled) await this.drop();
    return { spilled: sides.spilled, sides: sides.result };
  }

  async drop(): Promise<void> {
    await this.#sides?.remove();
    this.#sides = undefined;
  }
}

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
