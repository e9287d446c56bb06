/** The contract between the graph writer and the stores that take its statements. */
import { Fault } from '../core/fault.ts';
import type { Statement } from '../nquads/statement.ts';
import type { PropertyGraphOptions } from '../property-graph/names.ts';

/** What `update` replaces: the objects of each pair of subject and predicate in its graph, all of each subject there, or each graph as a whole. */
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

/** Where the statements go, and how they are sent there. Holds a password: never part of a job, a log or a message. */
export interface TargetAddress {
  readonly type: TargetType;
  /** `http(s)://…` of a store, `bolt://…`, `neo4j://…` (each also `+s`) of a property graph. */
  readonly endpoint: string;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** PEM, or a file of it; undefined: the authorities that Node trusts. */
  readonly ca: string | undefined;
  /** Of one request to the store; 0: none. */
  readonly requestSeconds: number;
  readonly connectSeconds: number;
  /** Named database of the server where it has several (Neo4j); undefined: its default. */
  readonly database: string | undefined;
  readonly propertyGraph: PropertyGraphOptions;
}

export interface TargetProbe {
  /** `Apache Jena Fuseki 5.6.0`, as far as the server says it. */
  readonly product: string;
  /** Milliseconds of the round trip. */
  readonly milliseconds: number;
}

/** How many statements the writer sends at once; it learns the best number in between. */
export interface BatchSizes {
  readonly first: number;
  readonly least: number;
  readonly most: number;
  /** Requests under way at the same time. */
  readonly inFlight: number;
}

/**
 * A store. Each call is one transaction of it, atomic where `replace` and `insert` say nothing else, and doing it twice is doing it once.
 *
 * Every method throws Fault target/credentials, target/read-only, target/unreachable, `TargetBusy`, or target/refused: the store refuses
 * these very statements, so that a part of them may still be taken. `signal` ends the request; its reason is the fault that is thrown.
 */
export interface GraphTarget {
  /** For a person, without passwords. */
  describe(): string;
  readonly sizes: BatchSizes;
  /** Whether `_:label` may be sent, each label meaning one node within a call only. */
  readonly takesBlankNodes: boolean;
  /** Also finds out whether the login is right and writing allowed, as far as the store says so without being written to. */
  probe(signal: AbortSignal): Promise<TargetProbe>;
  /** What must be there before the first statement: constraints. */
  prepare(signal: AbortSignal): Promise<void>;
  insert(statements: readonly Statement[], signal: AbortSignal): Promise<void>;
  /** `statements` are all of the input that their subjects have. */
  replace(statements: readonly Statement[], scope: Exclude<UpdateScope, 'graph'>, signal: AbortSignal): Promise<void>;
  /** `key` names the replacement, the same one when it is begun again after an interruption: what the earlier try left is cleared. */
  replaceGraph(graph: string, key: string, signal: AbortSignal): Promise<GraphReplacement>;
  /** What a person should know of the statements so far, for the report; absent: never anything. */
  warnings?(): readonly string[];
  close(): Promise<void>;
}

/** A graph that is filled out of sight, and then takes the place of the present one, in one step where the store can. */
export interface GraphReplacement {
  /** Statements of the graph. */
  insert(statements: readonly Statement[], signal: AbortSignal): Promise<void>;
  commit(signal: AbortSignal): Promise<void>;
  /** Leaves nothing behind, as far as the store can be reached. */
  abort(): Promise<void>;
}

/** The store has no time just now: it says so (429, 503), did not answer in time, or a transaction met another one. */
export class TargetBusy extends Fault {
  /** What the store asks to be left alone for; undefined: it does not say. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfterMs?: number, cause?: unknown) {
    super('target/busy', message, { cause });
    this.retryAfterMs = retryAfterMs;
  }
}
