/**
 * A plan: the scans and their order, the rules that each record feeds, the joins, and which rules could make the same statement. Plain data; nothing
 * here reads a source.
 */
import type { LogicalTarget } from '../mapping/model/model.ts';
import type {
  Check,
  Collect,
  Expression,
  Extend,
  Join,
  MapInfo,
  MapRules,
  NumberRows,
  Project,
  Scan,
  StatementPlace,
  Term,
  Unnest,
} from './algebra.ts';
import type { KeyedBy } from './dependencies.ts';
import { type Leaf, leavesOf, leavesOfCollect, leavesOfTerm } from './expressions.ts';

export interface Plan {
  /** In execution order: where possible, the parent of a join before its child. */
  readonly scans: readonly ScanPlan[];
  /** The build sides of joins: terms of the parent by key. Children with the same parent and parent keys share one. */
  readonly joins: readonly Project[];
  /** What views promise of their rows. */
  readonly checks: readonly Check[];
  /** Groups of scan positions. Scans of different groups have no join, no possible statement and no reifier in common. */
  readonly groups: readonly (readonly number[])[];
  /** Where statements go that do not go to the output of the run; each writes another file. */
  readonly targets: readonly LogicalTarget[];
}

/** One pass over one document. */
export interface ScanPlan {
  readonly source: Scan['source'];
  readonly dialect: 'rml' | 'legacy';
  readonly iterations: readonly IterationPlan[];
  /** Index of the document, if the source has several. */
  readonly document?: number;
}

/** One iterator of a scan, and everything that its records feed. */
export interface IterationPlan {
  readonly scan: Scan;
  readonly iterator: string | undefined;
  /** `document:line:column`. */
  readonly origin: string;
  readonly references: readonly string[];
  /** By reference: where the mapping has it, each `document:line:column`. */
  readonly places: ReadonlyMap<string, readonly string[]>;
  /** Iterators within the records. */
  readonly nested: readonly NestedPlan[];
  /** Whether blank nodes are labelled by the identities of its records. */
  readonly namesRows: boolean;
  /** The records themselves first, if something reads them as they are. */
  readonly pipelines: readonly PipelinePlan[];
}

/** An iterator within records, or within the items of another one. */
export interface NestedPlan {
  readonly iterator: string;
  /** `document:line:column`. */
  readonly origin: string;
  readonly references: readonly string[];
  readonly nested: readonly NestedPlan[];
}

/** From the records to rows, and what these feed. */
export interface PipelinePlan {
  /** None: the rows are the records. */
  readonly steps: readonly StepPlan[];
  readonly maps: readonly MapPlan[];
  /** Joins (by index) whose build side these rows fill. */
  readonly buildSides: readonly number[];
  /** Checks (by index) of these rows. */
  readonly checks: readonly number[];
}

export type StepPlan =
  | { readonly kind: 'unnest'; readonly operator: Unnest }
  | { readonly kind: 'extend'; readonly operator: Extend }
  | { readonly kind: 'number'; readonly operator: NumberRows }
  /** `deferred`: the right side is complete only at the end. */
  | { readonly kind: 'join'; readonly operator: Join; readonly join: number; readonly deferred: boolean };

/** A triples map as rules with a common subject. */
export interface MapPlan extends Pick<MapRules, 'map' | 'subject' | 'checks'> {
  readonly index: number;
  /** By whose key no two records make the same statement by a rule that is distinct by `subject`; undefined: two may. */
  readonly unique: 'catalogue' | 'annotation' | undefined;
  /** References of a document's rows: if one of them has another text in each row, the subject has. */
  readonly keyReferences: readonly string[];
  /** `termKey` of the subject, if no two records do so where it has another text in each row of a document. */
  readonly keyTerm: string | undefined;
  /** The subject identifies its row of a table (for a join, of the child's table): rows can be distributed, and no subject comes twice. */
  readonly identifiesRow: boolean;
  /** Other rows, or other triples maps, may write statements of its reifiers. False in RDF-star, which has none. */
  readonly sharesReifiers: boolean;
  readonly rules: readonly RulePlan[];
  readonly collects: readonly CollectPlan[];
}

/** A collection that each row adds to. */
export interface CollectPlan extends Pick<Collect, 'collection'> {
  /** By graph and output: 0 is the output of the run, n `Plan.targets[n - 1]`. */
  readonly places: readonly { readonly graph: StatementPlace['graph']; readonly output: number }[];
  /** Other rules may make one of its statements. */
  readonly overlapping: boolean;
  /** As in `RulePlan`: some member is a quoted triple. */
  readonly reified: boolean;
  /** The joins that find members of it, or of collections within it. */
  readonly joins: readonly { readonly operator: Join; readonly join: number; readonly deferred: boolean }[];
}

/** One statement pattern. */
export interface RulePlan {
  /** Among all rules of the plan, from 0. */
  readonly number: number;
  readonly predicate: Term;
  readonly object: ObjectPlan;
  /** undefined: the default graph. */
  readonly graph: Term | undefined;
  /** 0: the output of the run; n: `Plan.targets[n - 1]`. */
  readonly output: number;
  /**
   * How duplicates are found. `subject`: only records with the same subject in this triples map can repeat a statement of this rule.
   * `overlapping`: other rules may make the same statement, or the predicate or graph is not constant.
   */
  readonly distinct: 'subject' | 'overlapping';
  /** `termKey` of the object, if no two records make the same statement where it has another text in each row of a document. */
  readonly keyTerm: string | undefined;
  /** The object depends functionally on the subject: for a known subject it need not be checked. */
  readonly functionallyDependent: boolean;
  /** In RDF 1.2: subject or object is a quoted triple, for which a reifier or a triple term is written. */
  readonly reified: boolean;
}

/**
 * Why the engine makes a join over a database: it gives rows or members, a side is a file or of a view, there is no condition, a text means null, a term
 * belongs to its record, a key is no column, or columns are not comparable.
 */
export type NotPushed = 'view' | 'members' | 'file' | 'no condition' | 'nulls' | 'record' | 'key' | 'columns';

export type ObjectPlan =
  | { readonly kind: 'term'; readonly term: Term }
  /** The terms of a join's build side with the keys of the record; `deferred`: found when both sides are complete. */
  | {
      readonly kind: 'join';
      readonly operator: Join;
      readonly join: number;
      readonly keys: readonly Expression[];
      readonly deferred: boolean;
      readonly keyedBy: KeyedBy;
      /** undefined: it reads no database. */
      readonly notPushed: NotPushed | undefined;
    };

/** The triples maps that the records of an iteration feed. */
export const mapsOf = ({ pipelines }: IterationPlan): readonly MapPlan[] => pipelines.flatMap(({ maps }) => maps);

/** Whether some statement is written with reifiers or triple terms. */
export const isReified = ({ scans }: Plan): boolean =>
  scans.some(({ iterations }) =>
    iterations.flatMap(mapsOf).some(({ rules, collects }) => [...rules, ...collects].some(({ reified }) => reified)),
  );

/** Everything that a triples map reads of its rows. */
export const leavesOfMap = ({ subject, checks, rules, collects }: MapPlan): readonly Leaf[] => [
  ...[subject, ...checks].flatMap(leavesOfTerm),
  ...rules.flatMap(({ predicate, object, graph }) => [
    ...leavesOfTerm(predicate),
    ...(graph === undefined ? [] : leavesOfTerm(graph)),
    ...(object.kind === 'term' ? leavesOfTerm(object.term) : object.keys.flatMap(leavesOf)),
  ]),
  ...collects.flatMap(leavesOfCollect),
];

/** Whether triples may be terms of its statements, beside those that joins bring as objects. */
export const mayQuote = ({ subject, rules }: Pick<MapPlan, 'subject' | 'rules'>): boolean =>
  [subject, ...rules.flatMap(({ object }) => (object.kind === 'term' ? [object.term] : []))].some(
    ({ kind }) => kind === 'quoted' || kind === 'encoded',
  );

/** Whether the rows of a triples map are pairs that a database has joined. */
export const isOfPairs = ({ source }: MapInfo): boolean => source.kind === 'sql-pairs';

// ---------------------------------------------------------------- several documents of one source

/**
 * The plan with each scan repeated once per document, and the original position of each scan. Rules of repeated scans overlap with
 * themselves, because two documents of one source may make the same statement.
 *
 * @param counts number of documents by scan
 */
export function forDocuments(plan: Plan, counts: readonly number[]): { readonly plan: Plan; readonly positions: readonly number[] } {
  if (counts.every((count) => count === 1)) return { plan, positions: [...plan.scans.keys()] };
  const positions = plan.scans.flatMap((_, position) => Array<number>(counts[position] as number).fill(position));
  const scans = positions.map((position, at) => {
    const scan = plan.scans[position] as ScanPlan;
    return counts[position] === 1 ? scan : documentOf(scan, at - positions.indexOf(position));
  });
  const groups = plan.groups.map((group) => positions.flatMap((position, at) => (group.includes(position) ? [at] : [])));
  return { plan: { ...plan, scans, groups }, positions };
}

function documentOf(scan: ScanPlan, document: number): ScanPlan {
  const overlapping = (rule: RulePlan): RulePlan => ({ ...rule, distinct: 'overlapping', keyTerm: undefined });
  const iterations = scan.iterations.map(
    (iteration): IterationPlan => ({
      ...iteration,
      pipelines: iteration.pipelines.map((pipeline) => ({
        ...pipeline,
        maps: pipeline.maps.map((map) => ({
          ...map,
          unique: undefined,
          keyReferences: [],
          keyTerm: undefined,
          identifiesRow: false,
          rules: map.rules.map(overlapping),
        })),
      })),
    }),
  );
  return { ...scan, iterations, document };
}
