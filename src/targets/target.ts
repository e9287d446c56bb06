/** The contract between the graph writer and stores. */

import { Fault } from '../core/fault.ts';
import type { Secret } from '../core/secret.ts';
import type { Statement } from '../nquads/statement.ts';
import type { PropertyGraphOptions } from '../property-graph/names.ts';

/**
 * What `update` replaces: the objects of each subject and predicate in their graph, everything of each subject in that graph, or each graph
 * as a whole.
 */
export const UPDATE_SCOPES = ['property', 'subject', 'graph'] as const;
export type UpdateScope = (typeof UPDATE_SCOPES)[number];

export const WRITE_MODES = ['insert', 'update'] as const;
export type WriteMode = (typeof WRITE_MODES)[number];

export const TARGET_TYPES = [
  'embedded',
  'sparql',
  'fuseki',
  'graphdb',
  'rdf4j',
  'stardog',
  'blazegraph',
  'neptune',
  'virtuoso',
  'neo4j',
] as const;
export type TargetType = (typeof TARGET_TYPES)[number];

/** Address and settings of a target. Contains a password: never part of a job, a log or a message. */
export interface TargetAddress {
  readonly type: TargetType;
  /** `http(s)://…` of a store, `bolt://…`, `neo4j://…` (each also `+s`) of a property graph. */
  readonly endpoint: string;
  readonly username: string | undefined;
  readonly password: Secret | undefined;
  /** PEM, or a PEM file; undefined: the authorities that Node trusts. */
  readonly ca: string | undefined;
  /** Time limit of one request; 0: none. */
  readonly requestSeconds: number;
  readonly connectSeconds: number;
  /** Named database, if the server has several (Neo4j); undefined: its default. */
  readonly database: string | undefined;
  /** Time limits of an embedded store that is opened for the target, in seconds; absent, 0: none. */
  readonly storeLimits?: { readonly querySeconds: number; readonly updateSeconds: number };
  /** Whether a damaged embedded store is opened with what can be read. */
  readonly salvage?: boolean;
  readonly propertyGraph: PropertyGraphOptions;
}

export interface TargetProbe {
  /** Name and version, if the server tells them: `Apache Jena Fuseki 5.6.0`. */
  readonly product: string;
  /** Milliseconds of the round trip. */
  readonly milliseconds: number;
}

/** Number of statements per batch; the writer learns the best number within these bounds. */
export interface BatchSizes {
  readonly first: number;
  readonly least: number;
  readonly most: number;
  /** Maximum number of concurrent requests. */
  readonly inFlight: number;
}

/**
 * A store. Each call is one transaction, atomic unless `replace` and `insert` say otherwise, and idempotent.
 *
 * Every method throws Fault target/credentials, target/read-only, target/unreachable, `TargetBusy`, or target/refused: the store refuses
 * these particular statements, so that a subset may be accepted. `signal` aborts the request; its reason is thrown.
 */
export interface GraphTarget {
  /** Description for messages, without passwords. */
  describe(): string;
  readonly sizes: BatchSizes;
  /** Whether `_:label` may be sent; a label identifies a node only within one call. */
  readonly takesBlankNodes: boolean;
  /** Whether objects may be triple terms of RDF 1.2, `<<( s p o )>>`; absent: no. */
  readonly takesTripleTerms?: boolean;
  /** Also checks the login and the permission to write, as far as the store reveals them without a write. */
  probe(signal: AbortSignal): Promise<TargetProbe>;
  /** Creates what must exist before the first statement: constraints. */
  prepare(signal: AbortSignal): Promise<void>;
  insert(statements: readonly Statement[], signal: AbortSignal): Promise<void>;
  /** `statements` contain all statements of the input about their subjects. */
  replace(statements: readonly Statement[], scope: Exclude<UpdateScope, 'graph'>, signal: AbortSignal): Promise<void>;
  /** `key` identifies the replacement across interruptions: what an earlier attempt left is cleared. */
  replaceGraph(graph: string, key: string, signal: AbortSignal): Promise<GraphReplacement>;
  /** Writing the versions of datasets; absent: not possible. */
  readonly versions?: VersionTarget;
  /** Warnings for the report; absent: none are possible. */
  warnings?(): readonly string[];
  close(): Promise<void>;
}

export interface DatasetKey {
  /** Unique: a UUID. */
  readonly id: string;
  readonly name: string;
}

/** What a store has of a dataset. */
export interface DatasetPosition {
  readonly version: number;
  /** false: the graph of the version is being written to a store that had nothing of the dataset, and only a part of it may be there. */
  readonly complete: boolean;
  /** What the statements depend on beside the version: their graph, and the IRIs of blank nodes. Compared as a text. */
  readonly form: string;
}

/** Changes of the statements of a dataset. None of the statements has a blank node. */
export interface VersionBatch {
  readonly removed: readonly Statement[];
  readonly added: readonly Statement[];
  /**
   * All statements that stay and have the subject of a removed one. Empty unless `takesKept`. They may be more: also statements of other subjects, and
   * added ones.
   */
  readonly kept: readonly Statement[];
  /** Whether a removed statement stays while another dataset, whose changes are shared as well, has it. Absent: it does not. */
  readonly isShared?: boolean;
  /** What the store has before the change; where it has something else, the change is without effect. Absent: that is not looked at. */
  readonly from?: DatasetPosition | typeof NO_POSITION;
  /**
   * Terms of graphs. With them `removed` has elements of these graphs that `ElementReader` has read and the statements do not give, and `kept` has all
   * statements about the subjects of the batch.
   */
  readonly within?: ReadonlySet<string>;
}

/** The store has nothing of the dataset. */
export const NO_POSITION = 'none';

/** The versions of datasets in a store, and how far it has each. Throws like the methods of `GraphTarget`. */
export interface VersionTarget {
  /** Whether `change` needs `kept`. Then all changes of a subject in a version are in one batch, if any of its statements are removed. */
  readonly takesKept: boolean;
  /** Absent: `change` takes no shared batches. */
  readonly shared?: SharedStatements;
  /** Of all datasets of which the store has something. */
  positions(signal: AbortSignal): Promise<readonly (DatasetKey & DatasetPosition)[]>;
  /**
   * Removes, then adds, then stores the position if there is one: in one transaction if the store has transactions. Idempotent. The position takes the place
   * of that of the same id, and of those of other datasets with the same name.
   */
  change(batch: VersionBatch, position: DatasetPosition | undefined, dataset: DatasetKey, signal: AbortSignal): Promise<void>;
  /**
   * All statements of a graph, in pieces; '' is the default graph. Not those of positions. Absent: the store cannot give them. Blank nodes have labels of
   * the store.
   */
  read?(graph: string, signal: AbortSignal): AsyncIterable<readonly Statement[]>;
  /** In place of `read`, for a property graph. */
  readonly elements?: ElementReader;
}

/** What the target keeps of each dataset whose batches are shared. */
export interface SharedStatements {
  /** Creates what must exist before the first shared batch. */
  prepare(signal: AbortSignal): Promise<void>;
  /** The statements that the batches of a dataset have added and not removed, in pieces. */
  read(dataset: DatasetKey, signal: AbortSignal): AsyncIterable<readonly Statement[]>;
}

/**
 * Elements of a property graph as lines: a label, a property, a graph or a relationship of a node, behind the key of the node as an IRI. Two graphs are equal
 * if they have the same lines. A line of a batch is a `Statement` with the key as its subject and the element as its predicate.
 */
export interface ElementReader {
  /**
   * Those that the target has in the graphs, which are terms. A node that is in other graphs as well has all of its labels and properties among them. Nodes
   * with blank keys are left out.
   */
  read(graphs: ReadonlySet<string>, signal: AbortSignal): AsyncIterable<string>;
  /** Those that statements give. All statements about a subject are among them. */
  linesOf(statements: readonly Statement[]): string;
  /** Why the target takes no such statement; undefined: it takes it. */
  refusal(statement: Statement): Fault | undefined;
}

/** A graph that is staged and then replaces the present one, atomically if the store supports it. */
export interface GraphReplacement {
  /** Statements of the graph. */
  insert(statements: readonly Statement[], signal: AbortSignal): Promise<void>;
  commit(signal: AbortSignal): Promise<void>;
  /** Removes everything, as far as the store is reachable. */
  abort(): Promise<void>;
}

/** The store is temporarily unable to write: it says so (429, 503), did not answer in time, or a transaction conflicted with another one. */
export class TargetBusy extends Fault {
  /** The delay that the store requests; undefined: none. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfterMs?: number, cause?: unknown) {
    super('target/busy', message, { cause });
    this.retryAfterMs = retryAfterMs;
  }
}
