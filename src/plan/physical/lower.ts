/** Plan → physical plan. */
import type { Collection, Join, Operator, Project, Term } from '../algebra.ts';
import { isTerm, joinsOf, termsOf } from '../expressions.ts';
import { type CollectPlan, type MapPlan, mapsOf, type Plan, type RulePlan, type ScanPlan } from '../plan.ts';
import type { Node, NodeId, PhysicalPlan, Provided } from './nodes.ts';
import { provides } from './properties.ts';

export interface LoweringOptions {
  /** Whether the run writes each statement once. */
  readonly distinct: boolean;
  /** Whether it writes RDF 1.2, where quoted triples as subjects have reifiers. */
  readonly reifiers: boolean;
}

/**
 * Lowers a plan. Pure: the same arguments give the same nodes. Throws nothing.
 *
 * The output requires each statement once. A proof (`MapPlan.unique`) meets that, or a `distinct` node.
 */
export function lower(plan: Plan, options: LoweringOptions): PhysicalPlan {
  const lowering = new Lowering(plan, options);
  const groups = plan.groups.map((group) => lowering.group(group.map((position) => plan.scans[position] as ScanPlan)));
  lowering.outputs();
  return Object.freeze({ nodes: lowering.nodes, provided: lowering.provided, groups });
}

/** A node whose statements no other node has taken yet. */
interface End {
  readonly node: NodeId;
  readonly map: MapPlan | undefined;
  /** Numbers of outputs; some may stand twice. */
  readonly outputs: readonly number[];
  /** Whether triples are terms of its statements. */
  readonly quotes: boolean;
  readonly distinct: 'unique' | 'subject' | 'overlapping';
}

class Lowering {
  readonly nodes: Node[] = [];
  readonly provided: Provided[] = [];
  readonly #plan: Plan;
  readonly #options: LoweringOptions;
  readonly #deferred: ReadonlySet<Join>;
  readonly #byOperator = new Map<Operator | Project, NodeId>();
  #ends: End[] = [];

  constructor(plan: Plan, options: LoweringOptions) {
    this.#plan = plan;
    this.#options = options;
    this.#deferred = deferredIn(plan);
  }

  /** @returns its nodes */
  group(scans: readonly ScanPlan[]): readonly NodeId[] {
    const first = this.nodes.length;
    const others = this.#ends;
    this.#ends = [];
    for (const { iterations } of scans)
      for (const { scan, pipelines } of iterations) {
        for (const { steps, checks, maps } of pipelines) {
          const rows = this.#rows(steps.at(-1)?.operator ?? scan);
          for (const check of checks)
            this.#add({ kind: 'check', check: this.#plan.checks[check] as Plan['checks'][number], inputs: [rows] });
          for (const map of maps) this.#map(map, rows);
        }
      }
    const { distinct, reifiers } = this.#options;
    const overlapping = this.#take((end) => end.distinct === 'overlapping');
    if (distinct && overlapping.length > 0) this.#end('unique', overlapping, (inputs) => ({ kind: 'distinct', by: 'statement', inputs }));
    else this.#ends.push(...overlapping);
    const quoting = this.#take(({ quotes }) => reifiers && quotes);
    const shared = scans.some(({ iterations }) => iterations.flatMap(mapsOf).some(({ sharesReifiers }) => sharesReifiers));
    if (quoting.length > 0) this.#end('unique', quoting, (inputs) => ({ kind: 'reify', shared, inputs }));
    this.#ends.push(...others);
    return Array.from({ length: this.nodes.length - first }, (_, i) => first + i);
  }

  outputs(): void {
    for (let output = 0; output <= this.#plan.targets.length; output++) {
      const inputs = this.#ends.flatMap(({ node, outputs }) => (outputs.includes(output) ? [node] : []));
      if (inputs.length > 0) this.#add({ kind: 'output', output, inputs: inputs.toSorted((a, b) => a - b) });
    }
  }

  #add(node: Node): NodeId {
    const inputs = node.inputs.map((input) => this.provided[input] as Provided);
    this.provided.push(Object.freeze(provides(node, inputs)));
    return this.nodes.push(Object.freeze(node)) - 1;
  }

  #once(of: Operator | Project, make: () => Node): NodeId {
    const known = this.#byOperator.get(of) ?? this.#add(make());
    this.#byOperator.set(of, known);
    return known;
  }

  #take(wanted: (end: End) => boolean): readonly End[] {
    const taken = this.#ends.filter(wanted);
    this.#ends = this.#ends.filter((end) => !taken.includes(end));
    return taken;
  }

  /** A node that takes the statements of ends. */
  #end(distinct: End['distinct'], taken: readonly End[], make: (inputs: readonly NodeId[]) => Node): void {
    const node = this.#add(make(taken.map((end) => end.node)));
    const outputs = taken.flatMap((end) => end.outputs);
    this.#ends.push({ node, map: undefined, outputs, quotes: taken.some(({ quotes }) => quotes), distinct });
  }

  #rows(operator: Operator): NodeId {
    switch (operator.kind) {
      case 'scan':
        return this.#once(operator, () => ({ kind: 'scan', operator, inputs: [] }));
      case 'join': {
        const inputs = [this.#rows(operator.left), this.#project(operator.right)];
        return this.#once(operator, () => ({ kind: 'join', operator, gives: 'rows', deferred: this.#deferred.has(operator), inputs }));
      }
      default: {
        const inputs = [this.#rows(operator.input)];
        return this.#once(operator, () => ({ kind: operator.kind, operator, inputs }) as Node);
      }
    }
  }

  #project(operator: Project): NodeId {
    const inputs = [this.#rows(operator.input)];
    return this.#once(operator, () => ({ kind: 'project', operator, inputs }));
  }

  #join(operator: Join, rows: NodeId, gives: 'objects' | 'members'): NodeId {
    const inputs = [rows, this.#project(operator.right)];
    return this.#add({ kind: 'join', operator, gives, deferred: this.#deferred.has(operator), inputs });
  }

  #map(map: MapPlan, rows: NodeId): void {
    const { rules, collects } = map;
    for (const distinct of ['subject', 'overlapping'] as const) {
      const ofRows = rules.filter(({ object, ...rule }) => object.kind === 'term' && rule.distinct === distinct);
      if (ofRows.length > 0) this.#encode(map, ofRows, rows);
    }
    for (const rule of rules) {
      const { object } = rule;
      if (object.kind === 'join') this.#encode(map, [rule], this.#join(object.operator, rows, 'objects'));
    }
    const compared = this.#take((end) => end.map === map && end.distinct === 'subject');
    if (this.#options.distinct && compared.length > 0)
      this.#end('unique', compared, (inputs) => ({ kind: 'distinct', by: 'subject', inputs }));
    else this.#ends.push(...compared);
    for (const collect of collects) this.#gather(map, collect, rows);
  }

  #encode(map: MapPlan, rules: readonly RulePlan[], input: NodeId): void {
    const node = this.#add({ kind: 'encode', map, rules, inputs: [input] });
    const distinct = rules.some((rule) => rule.distinct === 'overlapping') ? 'overlapping' : map.unique ? 'unique' : 'subject';
    const quotes = [map.subject, ...rules.flatMap(termsOfRule)].some(quotesTriples);
    this.#ends.push({ node, map, outputs: rules.map(({ output }) => output), quotes, distinct });
  }

  #gather(map: MapPlan, collect: CollectPlan, rows: NodeId): void {
    const { collection, places, overlapping, joins } = collect;
    const members = joins.map(({ operator }) => this.#join(operator, rows, 'members'));
    const node = this.#add({ kind: 'gather', map, collect, inputs: [rows, ...members] });
    const outputs = places.map(({ output }) => output);
    this.#ends.push({ node, map, outputs, quotes: gathersTriples(collection), distinct: overlapping ? 'overlapping' : 'unique' });
  }
}

/** The joins whose pairs are made at the end. */
function deferredIn({ scans }: Plan): ReadonlySet<Join> {
  const iterations = scans.flatMap((scan) => scan.iterations);
  const ofRows = iterations.flatMap(({ pipelines }) => pipelines.flatMap(({ steps }) => steps.filter((step) => step.kind === 'join')));
  const ofMaps = iterations
    .flatMap(mapsOf)
    .flatMap(({ rules, collects }) => [
      ...rules.flatMap(({ object }) => (object.kind === 'join' ? [object] : [])),
      ...collects.flatMap(({ joins }) => joins),
    ]);
  return new Set([...ofRows, ...ofMaps].flatMap(({ operator, deferred }) => (deferred ? [operator] : [])));
}

/** The terms of a rule beside its subject. */
const termsOfRule = ({ predicate, object, graph }: RulePlan): readonly Term[] => [
  predicate,
  ...(graph === undefined ? [] : [graph]),
  ...(object.kind === 'term' ? [object.term] : termsBrought(object.operator)),
];

const termsBrought = ({ right }: Join): readonly Term[] => right.columns.flatMap(({ value }) => (isTerm(value) ? [value] : []));

/** Whether a term may be a triple; one that stands in a cell may be. */
const quotesTriples = (term: Term): boolean =>
  term.kind === 'quoted' || term.kind === 'encoded' || (term.kind === 'head' && gathersTriples(term.collection));

const gathersTriples = (collection: Collection): boolean =>
  [...termsOf(collection), ...joinsOf(collection).flatMap(termsBrought)].some(quotesTriples);
