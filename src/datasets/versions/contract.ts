/** What a run that makes a version of a dataset is given, and what it says. */
import type { PreparedRun } from '../../run/prepare/open.ts';
import type { RunHooks, RunReport, RunRequest } from '../../run/request.ts';
import type { QuadSink } from '../../sinks/sink.ts';
import type { Folding } from '../changes.ts';
import type { Dataset } from '../dataset.ts';
import type { DatasetFiles } from '../files.ts';
import type { ChangesBy, Counts, FeedState, Manifest } from '../manifest.ts';
import type { ChunkSizes } from '../records/chunks/chunks.ts';
import type { UnitKeeper } from '../records/units.ts';
import type { Seen } from './state.ts';

export interface DatasetPlace {
  readonly files: DatasetFiles;
  /** Absolute path; created if missing. */
  readonly stateDirectory: string;
  /** For a new dataset; undefined: as its address says. */
  readonly name?: string | undefined;
  /** Whether the caller has locked the state directory. */
  readonly isLocked?: boolean;
}

export interface DatasetReport extends Counts {
  readonly name: string;
  /** The newest version. */
  readonly version: number;
  /** That before the run; equal to `version` if nothing has changed. */
  readonly previousVersion: number;
  /** Of the newest version. */
  readonly manifest: Manifest;
  /**
   * `quads` is the size of the graph. undefined: nothing was read, because no input has changed since the last version, or because the version of this
   * run is there already.
   */
  readonly report: RunReport | undefined;
  /** How the changes were found; undefined: nothing was read. */
  readonly changesBy?: ChangesBy | undefined;
  /** Why they were not found by record, as a clause. */
  readonly reason?: string | undefined;
}

export interface Finding {
  /** Has the records of the inputs in place of the state. */
  readonly keeper?: UnitKeeper;
  /** undefined: by record where that can be. */
  readonly by?: ChangesBy | undefined;
  /** Of a new state by record. undefined: by the size of each document. */
  readonly chunks?: ChunkSizes;
}

export interface DatasetHooks extends RunHooks {
  /** Called before files of a version appear, and again before its manifest does. @throws what keeps the version from being made */
  readonly confirm?: () => Promise<unknown>;
  /** The run maps the rows of a feed that a follower keeps: its manifest says how far they were read. */
  readonly feed?: FeedState;
  /** Called when all that a version consists of is there for good, but for its manifest. `publishPending` completes it. */
  readonly pending?: (manifest: Manifest) => Promise<void>;
  /** The run may have been started before under its id: a version that it has published is its result. Absent: an id says nothing. */
  readonly isAttempt?: true;
}

/** Files of the whole graph, beside the dataset. The caller commits or aborts them. */
export interface WholeOutputs {
  /** Called for each logical target of the mapping before records are read. */
  readonly openTarget?: NonNullable<RunHooks['openTarget']>;
  /** undefined: the graph is not written. @param target path of a logical target; undefined: the output of the run */
  of(target: string | undefined): Pick<QuadSink, 'write'> | undefined;
}

/** Takes statements. */
export type Statements = Pick<QuadSink, 'write'>;

/** A run whose mapping is read, and whose inputs are found. */
export interface VersionRun {
  readonly dataset: Dataset;
  readonly stateDirectory: string;
  readonly request: RunRequest;
  readonly hooks: DatasetHooks;
  readonly outputs: WholeOutputs;
  readonly finding: Finding;
  readonly folding: Folding;
  readonly startedAt: Date;
  /** `close` leaves it open: several runs may map with it. */
  readonly prepared: PreparedRun;
  readonly seen: Seen;
}
