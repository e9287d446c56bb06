/** What the inputs of two versions are made of, as far as the comparison of `changes.ts` asks. */
import type { PreparedRun } from '../../run/prepare/open.ts';
import type { RunHooks } from '../../run/request.ts';

/** Some records cannot be compared: the message is a clause that says why. */
export class NotByRecord extends Error {}

/**
 * Names some records of one scan that are compared, read and mapped together: a whole number. Those of the version before and of the new one are named
 * together, so a unit that is in both has one name.
 */
export type Unit = number;

/** Hashes are those of `bitsOf` (`unit-index.ts`), 32 bits. */
export interface Units {
  /** Those of the version before that are gone, and those that came. */
  readonly removed: readonly Unit[];
  readonly added: readonly Unit[];
  /** Of both versions together: what is mapped is measured by it. */
  readonly bytes: number;
  bytesOf(unit: Unit): number;
  /** Position among `Plan.scans`. */
  scanOf(unit: Unit): number;
  /** Whether a unit of the version before is in the new one as well. */
  stays(unit: Unit): boolean;
  /** Calls `take` for each of these subjects with all units of the version before that may make statements of it; some of them may not. */
  makers(subjects: Iterable<number>, take: (units: readonly Unit[]) => void): void;
  /** The same for join keys. */
  holders(keys: Iterable<number>, take: (units: readonly Unit[]) => void): void;
  /** Notes that a unit of the new version may make statements of a subject, or has a join key. May be called again, and for units that stay. */
  addMaker(subject: number, unit: Unit): void;
  addHolder(key: number, unit: Unit): void;
  /**
   * Lets a run read these units in place of the inputs.
   *
   * @param units ascending, each once
   * @param took called with the units of the records that are mapped next; there may be more
   */
  reading(units: readonly Unit[], took: (units: readonly Unit[]) => void): Pick<RunHooks, 'document' | 'scan'>;
}

/** What keeps units from version to version. The dataset has no other state then: the graph of a version is made of its files where it is needed. */
export interface UnitKeeper {
  /**
   * The units of a version, and those that are there now.
   *
   * @param runId of the run that made the version
   * @param madeBy what its statements depend on beside the units: they are compared where it is equal
   * @throws NotByRecord
   */
  changed(prepared: PreparedRun, version: number, runId: string, madeBy: string): KeptUnits;
  /** Forgets all units, and keeps those that a run maps. @throws NotByRecord */
  record(prepared: PreparedRun, madeBy: string): Pick<RunHooks, 'scan' | 'subject' | 'trace'>;
  /** Some record that was mapped is not kept as it should be. */
  forget(reason: string): void;
}

export interface KeptUnits {
  readonly units: Units;
  /** Of their hashes. */
  readonly seed: number;
}
