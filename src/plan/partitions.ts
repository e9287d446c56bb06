/**
 * Where two rules could make the same statement.
 *
 * Two rules are apart when their graphs, predicates, subjects or objects can never be equal. A rule that is apart from all
 * others, with a constant predicate and graph, can repeat a statement only for records with the same subject: cheap to watch.
 */
import type { Expression, TermMap, TriplesMap } from '../mapping/model.ts';
import { schemeOf } from '../mapping/template.ts';
import { hasScheme } from '../text.ts';
import type { JoinPlan, MapDraft, RuleDraft } from './rules.ts';

export interface Partitions {
  /** The rules (of all drafts) that are not apart from every other one, or whose predicate or graph is not constant. */
  readonly shared: ReadonlySet<RuleDraft>;
  /** Pairs of triples maps that could make the same statement. */
  readonly meetings: readonly (readonly [TriplesMap, TriplesMap])[];
}

export function findPartitions(drafts: readonly MapDraft[], joins: readonly JoinPlan[], runBase: string): Partitions {
  const shared = new Set<RuleDraft>();
  const meetings: [TriplesMap, TriplesMap][] = [];
  const rules = drafts.flatMap(({ triplesMap, rules }) => rules.map((rule) => patternsOf(rule, triplesMap, joins, runBase)));
  for (const { rule } of rules) if (!isConstant(rule.predicate) || (rule.graph !== undefined && !isConstant(rule.graph))) shared.add(rule);
  // Subjects repeat from rule to rule: remember what was found for a pair of patterns.
  const met = new Map<string, boolean>();
  const meets = (a: Pattern, b: Pattern): boolean => {
    const key = `${a.id}|${b.id}`;
    let answer = met.get(key);
    if (answer === undefined) {
      answer = patternsMeet(a, b);
      met.set(key, answer);
    }
    return answer;
  };
  for (let i = 0; i < rules.length; i++) {
    const a = rules[i] as RulePatterns;
    for (let j = i + 1; j < rules.length; j++) {
      const b = rules[j] as RulePatterns;
      if (shared.has(a.rule) && shared.has(b.rule) && a.map === b.map) continue;
      if (meets(a.predicate, b.predicate) && meets(a.graph, b.graph) && meets(a.subject, b.subject) && meets(a.object, b.object)) {
        shared.add(a.rule);
        shared.add(b.rule);
        if (a.map !== b.map) meetings.push([a.map, b.map]);
      }
    }
  }
  return { shared, meetings };
}

const isConstant = (term: TermMap): boolean => term.expression.kind === 'constant';

interface RulePatterns {
  readonly rule: RuleDraft;
  readonly map: TriplesMap;
  readonly subject: Pattern;
  readonly predicate: Pattern;
  readonly object: Pattern;
  readonly graph: Pattern;
}

function patternsOf(rule: RuleDraft, map: TriplesMap, joins: readonly JoinPlan[], runBase: string): RulePatterns {
  const base = map.baseIri ?? runBase;
  const object = rule.object;
  const subjectOf = (parent: TriplesMap): Pattern => patternOf(parent.subject, parent.baseIri ?? runBase);
  return {
    rule,
    map,
    subject: subjectOf(map),
    predicate: patternOf(rule.predicate, base),
    graph: rule.graph === undefined ? pattern('default-graph', []) : patternOf(rule.graph, base),
    object:
      object.kind === 'term'
        ? patternOf(object.term, base)
        : object.kind === 'parent-subject'
          ? subjectOf(object.parent)
          : subjectOf((joins[object.join] as JoinPlan).parent),
  };
}

// ---------------------------------------------------------------- patterns

/** Any run of characters that percent-encoding lets through. */
const SAFE_HOLE = 'safe';
/** Any run of characters. */
const HOLE = 'any';

/** The texts that a term map can give: characters and holes, within one kind of term. */
interface Pattern {
  readonly id: string;
  /** iri, blank, literal with what is known of its datatype and language; kinds that differ never meet. */
  readonly kind: string;
  readonly items: readonly string[];
}

const pattern = (kind: string, items: readonly string[]): Pattern => ({ id: `${kind} ${JSON.stringify(items)}`, kind, items });

function patternOf(term: TermMap, base: string): Pattern {
  const { expression, termType } = term;
  if (termType === 'literal') return pattern(literalKind(term), itemsOf(expression, HOLE));
  // Labels of blank nodes from values, from constants and of fresh ones differ by their first letters.
  if (termType === 'blank')
    return pattern(
      `blank-${expression.kind === 'constant' || expression.kind === 'fresh' ? expression.kind : 'value'}`,
      itemsOf(expression, HOLE),
    );
  const safe = expression.kind === 'template' && (termType === 'iri' || termType === 'uri');
  const items = itemsOf(expression, safe ? SAFE_HOLE : HOLE);
  if (hasScheme(leadingText(items))) return pattern('iri', items);
  if (expression.kind === 'constant' || (safe && schemeOf(expression.parts) === 'none')) return pattern('iri', [...base, ...items]);
  // The value decides whether the base stands in front; one that is not encoded may bring a scheme of its own.
  return pattern('iri', safe ? [HOLE, ...items] : [HOLE]);
}

function literalKind(term: TermMap): string {
  const fixed = (expression: Expression | undefined): string | undefined =>
    expression?.kind === 'constant' ? expression.term.value : undefined;
  if (term.language !== undefined) return fixed(term.language) === undefined ? 'literal' : `literal@${fixed(term.language)}`;
  const datatype = fixed(term.datatype?.expression);
  // A relative one gets a base in front that another one may have already.
  return datatype !== undefined && hasScheme(datatype) ? `literal^^${datatype}` : 'literal';
}

function itemsOf(expression: Expression, hole: string): readonly string[] {
  switch (expression.kind) {
    case 'constant':
      return [...expression.term.value];
    case 'reference':
      return [hole];
    case 'template':
      return expression.parts.flatMap((part) => (part.kind === 'text' ? [...part.text] : [hole]));
    case 'fresh':
      return [hole];
  }
}

const isHole = (item: string): boolean => item.length > 2;

function leadingText(items: readonly string[]): string {
  const hole = items.findIndex(isHole);
  return (hole < 0 ? items : items.slice(0, hole)).join('');
}

/** Literals of unknown type meet every literal; otherwise kinds must be the same. */
function kindsMeet(a: string, b: string): boolean {
  if (a === b) return true;
  return a.startsWith('literal') && b.startsWith('literal') && (a === 'literal' || b === 'literal');
}

/** Whether some text fits both patterns. */
function patternsMeet(a: Pattern, b: Pattern): boolean {
  if (!kindsMeet(a.kind, b.kind)) return false;
  const p = a.items;
  const q = b.items;
  const width = q.length + 1;
  const seen = new Uint8Array((p.length + 1) * width);
  const stack: number[] = [0];
  while (stack.length > 0) {
    const state = stack.pop() as number;
    if (seen[state] === 1) continue;
    seen[state] = 1;
    const i = Math.floor(state / width);
    const j = state % width;
    if (i === p.length && j === q.length) return true;
    const x = p[i];
    const y = q[j];
    if (x !== undefined && isHole(x)) {
      stack.push(state + width);
      if (y !== undefined && !isHole(y) && fits(y, x)) stack.push(state + 1);
    }
    if (y !== undefined && isHole(y)) {
      stack.push(state + 1);
      if (x !== undefined && !isHole(x) && fits(x, y)) stack.push(state + width);
    }
    if (x !== undefined && x === y && !isHole(x)) stack.push(state + width + 1);
  }
  return false;
}

/** Whether a hole can give the character. What percent-encoding writes counts as let through. */
function fits(character: string, hole: string): boolean {
  return hole === HOLE || /[A-Za-z0-9\-._~%]/.test(character) || character > '\u007f';
}
