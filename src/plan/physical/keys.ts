/** Keys of documents: the questions of lowering, and the answers. */
import type { Term } from '../algebra.ts';
import { type MapPlan, mapsOf, type Plan } from '../plan.ts';
import type { EncodeNode, Node, PhysicalPlan } from './nodes.ts';

/** Whether no two rows have the same text for a term is asked where a `distinct` node would then not be needed, or keep less. */
export interface KeyQuestion {
  /** Position among `Plan.scans`. */
  readonly scan: number;
  /** `termKey` of the term. */
  readonly key: string;
  readonly term: Term;
  /** Columns: if one has another text in each row, the term has. */
  readonly references: readonly string[];
  /** What tables keep of a row without an answer. */
  readonly rowBytes: number;
}

const KEY_BYTES = 24;
const OBJECT_BYTES = 8;

/** The triples map of which a node compares the subjects. */
export const comparedMap = (node: Node, nodes: readonly Node[]): MapPlan | undefined =>
  node.kind === 'distinct' && node.by === 'subject' ? (nodes[node.inputs[0] as number] as EncodeNode).map : undefined;

/** @param physical the same plan, lowered @returns one for each term of a scan */
export function keyQuestions({ scans }: Plan, { nodes }: PhysicalPlan): readonly KeyQuestion[] {
  const compared = new Set(nodes.map((node) => comparedMap(node, nodes)));
  return scans.flatMap(({ iterations }, scan) => {
    const questions = new Map<string, KeyQuestion>();
    const ask = (key: string | undefined, term: Term, references: readonly string[], bytes: number): void => {
      if (key === undefined) return;
      const known = questions.get(key);
      const rowBytes = (known?.rowBytes ?? 0) + bytes;
      questions.set(key, { scan, key, term, references: [...new Set([...(known?.references ?? []), ...references])], rowBytes });
    };
    for (const map of iterations.flatMap(mapsOf)) {
      if (!compared.has(map)) continue;
      const kept = map.rules.filter((rule) => rule.distinct === 'subject' && !rule.functionallyDependent);
      ask(map.keyTerm, map.subject, map.keyReferences, KEY_BYTES + kept.length * OBJECT_BYTES);
      for (const { keyTerm, object } of kept) if (object.kind === 'term') ask(keyTerm, object.term, [], KEY_BYTES);
    }
    return [...questions.values()];
  });
}

/** By `MapPlan.index`: the positions of the rules that need no comparison by subject. */
export function uniqueRules({ nodes }: PhysicalPlan): ReadonlyMap<number, ReadonlySet<number>> {
  const found = new Map<number, Set<number>>();
  for (const node of nodes) {
    if (node.kind !== 'encode' || node.proof === undefined) continue;
    const { map, rules } = node;
    const unique = found.get(map.index) ?? new Set();
    for (const rule of rules) unique.add(map.rules.indexOf(rule));
    found.set(map.index, unique);
  }
  return found;
}
