/**
 * The physical plan: the nodes that a run carries out, as a directed acyclic graph. Plain, frozen data that `structuredClone` copies: a node names
 * its inputs by their positions among the nodes, and inputs come before the nodes that read them.
 *
 * Nodes carry rows from the records of a scan to `encode` and `gather`, and statements from there to `output`. What a node provides, requires and
 * keeps is in `properties.ts`.
 */
import type { Check, Column, Extend, Join, NumberRows, Project, Scan, Unnest } from '../algebra.ts';
import type { CollectPlan, MapPlan, NotPushed, RulePlan } from '../plan.ts';

/** Position among `PhysicalPlan.nodes`. */
export type NodeId = number;

export interface PhysicalPlan {
  readonly nodes: readonly Node[];
  /** What each node provides. */
  readonly provided: readonly Provided[];
  /** By the number of a group of `Plan.groups`: its nodes, without the outputs, which groups share. */
  readonly groups: readonly (readonly NodeId[])[];
}

export type Node = ScanNode | StepNode | JoinNode | ProjectNode | CheckNode | StatementNode | OutputNode;

interface NodeOf<Kind extends string> {
  readonly kind: Kind;
  readonly inputs: readonly NodeId[];
}

/** The records of an iteration. */
export interface ScanNode extends NodeOf<'scan'> {
  readonly operator: Scan;
}

export type StepNode =
  | (NodeOf<'unnest'> & { readonly operator: Unnest })
  | (NodeOf<'extend'> & { readonly operator: Extend })
  | (NodeOf<'number'> & { readonly operator: NumberRows });

/** Inputs: the probe side, and the build side (a `project`). */
export interface JoinNode extends NodeOf<'join'> {
  readonly operator: Join;
  /** What the pairs are: rows of a view or of a triples map, objects of statements, or members of a collection. */
  readonly gives: 'rows' | 'objects' | 'members';
  /** The build side is complete only behind the probe side, so the pairs are made at the end. */
  readonly deferred: boolean;
  /** undefined: it reads no database. */
  readonly notPushed: NotPushed | undefined;
}

/** The build side of joins. */
export interface ProjectNode extends NodeOf<'project'> {
  readonly operator: Project;
}

export interface CheckNode extends NodeOf<'check'> {
  readonly check: Check;
}

export type StatementNode = EncodeNode | GatherNode | DistinctNode | ReifyNode;

/** Statements of a triples map, by rules whose duplicates are found in the same way. Input: the rows, or a join that brings the objects. */
export interface EncodeNode extends NodeOf<'encode'> {
  readonly map: MapPlan;
  /** At least one. */
  readonly rules: readonly RulePlan[];
  /** Why no two records make the same statement by a rule that is distinct by `subject`; undefined: two may. */
  readonly proof: KeyProof | undefined;
}

/** A term of which no two rows of a document have the same text. Some may have none. */
export interface DocumentKey {
  /** Position among `Plan.scans`. */
  readonly scan: number;
  /** `termKey`. */
  readonly term: string;
  /** `found`: all texts were compared. `ascending`: each text of a column in it is greater than the one before it. */
  readonly by: 'found' | 'ascending';
}

/** What says that a term is a key: the catalogue of a database, a view that promises it, or a look at the document. */
export type KeyProof = NonNullable<MapPlan['unique']> | DocumentKey['by'];

/** The statements of a collection. Inputs: the rows, and the joins that find members. */
export interface GatherNode extends NodeOf<'gather'> {
  readonly map: MapPlan;
  readonly collect: CollectPlan;
}

/**
 * Each statement once. `subject`: of one triples map, whose statements can be equal only where their subjects are. `statement`: of all rules of a
 * group that may make statements of one another.
 */
export interface DistinctNode extends NodeOf<'distinct'> {
  readonly by: 'subject' | 'statement';
}

/** Triple terms and reifiers of RDF 1.2 in the place of quoted triples; each statement of a reifier once. */
export interface ReifyNode extends NodeOf<'reify'> {
  /** Triples maps of different rows may make one reifier. */
  readonly shared: boolean;
}

export interface OutputNode extends NodeOf<'output'> {
  /** 0: the output of the run; n: `Plan.targets[n - 1]`. */
  readonly output: number;
}

/** What holds of the rows or statements of a node, where its requirements are met. */
export interface Provided {
  /**
   * `records`: each row comes of one record of the scan. Divide these in any way, with all build sides complete: as sets, the rows of the parts are
   * together those of the whole. `whole`: a row depends on other records.
   */
  readonly partitioning: 'records' | 'whole';
  /** `input`: in the order of the records. */
  readonly order: 'input' | 'none';
  /**
   * What the first records of each scan give: the first rows, some of the rows, or also rows that all records would not give, as a left join does whose
   * partner is not read.
   */
  readonly ofFirst: 'first' | 'some' | 'others';
  /** Whether a row depends on the position of its record in the document, which a part does not know. */
  readonly readsPosition: boolean;
  /** Whether the same records give the same rows whenever they are read. */
  readonly deterministic: boolean;
  /** Why no two rows, or statements, are equal; undefined: two may be. */
  readonly unique: 'position' | KeyProof | 'distinct' | undefined;
  /** Whether rows of a table have no subject in common. */
  readonly subjectTellsRow: boolean;
  /** Whether some of the records are rows of a database. */
  readonly ofDatabase: boolean;
  /** The cell with the position of the record; undefined: of statements. */
  readonly position: Column | undefined;
}

/** What a node needs of an input. */
export interface Required {
  /** Rows that are equal in this must meet in one state. undefined: each is taken by itself. */
  readonly together: 'all' | 'pair' | 'statement' | 'subject' | 'head' | 'reifier' | 'values' | undefined;
  /** Whether rows must come in the order of the records. */
  readonly ordered: boolean;
  /** Whether all rows must be there before the first one of the first input. */
  readonly complete: boolean;
}

/** What a node keeps. */
export interface NodeState {
  /** How an entry is found. */
  readonly key: 'hash' | 'text' | undefined;
  /** What an entry has. */
  readonly value: 'nothing' | 'count' | 'texts' | 'row';
}
