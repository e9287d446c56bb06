/** Plan → physical plan. */
import type { Join, Operator, Project } from '../algebra.ts';
import { readsDatabase } from '../expressions.ts';
import { type CollectPlan, type MapPlan, mapsOf, type NotPushed, type Plan, type RulePlan, type ScanPlan } from '../plan.ts';
import type { DocumentKey, JoinNode, KeyProof, Node, NodeId, PhysicalPlan, Provided } from './nodes.ts';
import { provides } from './properties.ts';

/**
 * Lowers a plan. Pure: the same arguments give the same nodes. Throws nothing.
 *
 * The output of a run that is distinct requires each statement once. A proof (`EncodeNode.proof`) meets that, or a `distinct` node.
 *
 * @param keys of documents, as far as they are known
 */
export function lower(plan: Plan, distinct: boolean, keys: readonly DocumentKey[] = []): PhysicalPlan {
  const lowering = new Lowering(plan, distinct, keys);
  const groups = plan.groups.map((group) => lowering.group(group));
  lowering.outputs();
  return Object.freeze({ nodes: lowering.nodes, provided: lowering.provided, groups });
}

/** A node whose statements no other node has taken yet. */
interface End {
  readonly node: NodeId;
  readonly map: MapPlan | undefined;
  /** Numbers of outputs; some may stand twice. */
  readonly outputs: readonly number[];
  /** Whether some statement has reifiers or triple terms. */
  readonly reified: boolean;
  readonly distinct: 'unique' | 'subject' | 'overlapping';
}

class Lowering {
  readonly nodes: Node[] = [];
  readonly provided: Provided[] = [];
  readonly #plan: Plan;
  readonly #distinct: boolean;
  readonly #keys: readonly DocumentKey[];
  readonly #deferred: ReadonlySet<Join>;
  readonly #byOperator = new Map<Operator | Project, NodeId>();
  #ends: End[] = [];

  constructor(plan: Plan, distinct: boolean, keys: readonly DocumentKey[]) {
    this.#plan = plan;
    this.#distinct = distinct;
    this.#keys = keys;
    this.#deferred = deferredIn(plan);
  }

  /** @param positions of its scans @returns its nodes */
  group(positions: readonly number[]): readonly NodeId[] {
    const scans = positions.map((position) => this.#plan.scans[position] as ScanPlan);
    const first = this.nodes.length;
    const others = this.#ends;
    this.#ends = [];
    for (const [i, { iterations }] of scans.entries()) {
      const keys = this.#keys.filter(({ scan }) => scan === positions[i]);
      for (const { scan, pipelines } of iterations) {
        for (const { steps, checks, maps } of pipelines) {
          const rows = this.#rows(steps.at(-1)?.operator ?? scan);
          for (const check of checks)
            this.#add({ kind: 'check', check: this.#plan.checks[check] as Plan['checks'][number], inputs: [rows] });
          for (const map of maps) this.#map(map, rows, keys);
        }
      }
    }
    const overlapping = this.#take((end) => end.distinct === 'overlapping');
    if (this.#distinct && overlapping.length > 0)
      this.#end('unique', overlapping, (inputs) => ({ kind: 'distinct', by: 'statement', inputs }));
    else this.#ends.push(...overlapping);
    const reified = this.#take((end) => end.reified);
    const shared = scans.some(({ iterations }) => iterations.flatMap(mapsOf).some(({ sharesReifiers }) => sharesReifiers));
    if (reified.length > 0) this.#end('unique', reified, (inputs) => ({ kind: 'reify', shared, inputs }));
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
    this.#ends.push({ node, map: undefined, outputs, reified: taken.some(({ reified }) => reified), distinct });
  }

  #rows(operator: Operator): NodeId {
    switch (operator.kind) {
      case 'scan':
        return this.#once(operator, () => ({ kind: 'scan', operator, inputs: [] }));
      case 'join': {
        const inputs = [this.#rows(operator.left), this.#project(operator.right)];
        return this.#once(operator, () => this.#join(operator, 'rows', notPushedOf(operator, 'view'), inputs));
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

  #join(operator: Join, gives: JoinNode['gives'], notPushed: JoinNode['notPushed'], inputs: readonly NodeId[]): JoinNode {
    return { kind: 'join', operator, gives, deferred: this.#deferred.has(operator), notPushed, inputs };
  }

  /** @param keys of the document */
  #map(map: MapPlan, rows: NodeId, keys: readonly DocumentKey[]): void {
    const { rules, collects } = map;
    const proof = map.unique ?? keys.find(({ term }) => map.keyTerm === term)?.by;
    const proofOf = (rule: RulePlan): KeyProof | undefined => proof ?? keys.find(({ term }) => rule.keyTerm === term)?.by;
    const ofRows = rules.filter(({ object }) => object.kind === 'term');
    const compared = ofRows.filter(({ distinct }) => distinct === 'subject');
    for (const one of new Set(compared.map(proofOf)))
      this.#encode(
        map,
        compared.filter((rule) => proofOf(rule) === one),
        rows,
        one,
      );
    const overlapping = ofRows.filter(({ distinct }) => distinct === 'overlapping');
    if (overlapping.length > 0) this.#encode(map, overlapping, rows, proof);
    for (const rule of rules) {
      const { object } = rule;
      if (object.kind !== 'join') continue;
      const inputs = [rows, this.#project(object.operator.right)];
      this.#encode(map, [rule], this.#add(this.#join(object.operator, 'objects', object.notPushed, inputs)), proof);
    }
    const ends = this.#take((end) => end.map === map && end.distinct === 'subject');
    if (this.#distinct && ends.length > 0) this.#end('unique', ends, (inputs) => ({ kind: 'distinct', by: 'subject', inputs }));
    else this.#ends.push(...ends);
    for (const collect of collects) this.#gather(map, collect, rows);
  }

  #encode(map: MapPlan, rules: readonly RulePlan[], input: NodeId, proof: KeyProof | undefined): void {
    const node = this.#add({ kind: 'encode', map, rules, proof, inputs: [input] });
    const isOverlapping = rules.some((rule) => rule.distinct === 'overlapping');
    const distinct = isOverlapping ? 'overlapping' : proof === undefined ? 'subject' : 'unique';
    const reified = rules.some((rule) => rule.reified);
    this.#ends.push({ node, map, outputs: rules.map(({ output }) => output), reified, distinct });
  }

  #gather(map: MapPlan, collect: CollectPlan, rows: NodeId): void {
    const { places, overlapping, reified, joins } = collect;
    const members = joins.map(({ operator }) => {
      const inputs = [rows, this.#project(operator.right)];
      return this.#add(this.#join(operator, 'members', notPushedOf(operator, 'members'), inputs));
    });
    const node = this.#add({ kind: 'gather', map, collect, inputs: [rows, ...members] });
    const outputs = places.map(({ output }) => output);
    this.#ends.push({ node, map, outputs, reified, distinct: overlapping ? 'overlapping' : 'unique' });
  }
}

const notPushedOf = (join: Join, reason: NotPushed): NotPushed | undefined => (readsDatabase(join) ? reason : undefined);

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
