/**
 * Overlaps: which rules could make the same statement.
 *
 * Two rules are disjoint when their graphs, predicates, subjects or objects can never be equal. A rule that is disjoint from all others,
 * with a constant predicate and graph, can repeat a statement only for records with the same subject, which is cheap to check.
 */

import { Links } from '../mapping/model/links.ts';
import type { LogicalTarget } from '../mapping/model/model.ts';
import type { Collect, Emit, MapRules, Term } from './algebra.ts';
import { collectionsIn } from './expressions.ts';
import {
  reifiedAsObject,
  reifiedAsSubject,
  SEPARATOR,
  type WrittenTerm,
  type WrittenValue,
  writtenSubject,
  writtenTerm,
} from './written.ts';

export interface Overlaps {
  /** The patterns that overlap with another one, or whose predicate or graph is not constant; collections that overlap with a pattern. */
  readonly overlappingEmits: ReadonlySet<Emit | Collect>;
  /** Pairs of triples maps that could make the same statement, directly or through other pairs. */
  readonly overlappingMaps: readonly (readonly [MapRules, MapRules])[];
}

export function findOverlaps(maps: readonly MapRules[]): Overlaps {
  const overlappingEmits = new Set<Emit | Collect>();
  const overlappingMaps: [MapRules, MapRules][] = [];
  const linked = new Links<MapRules>();
  const emits = maps.flatMap((map) => map.emits.map((emit) => patternsOf(emit, map)));
  const all: readonly EmitPatterns[] = [
    ...emits,
    ...maps.flatMap((map) => map.collects.flatMap((collect) => patternsOfCollect(collect, map))),
  ];
  for (const { emit } of emits)
    if (!isConstant(emit.predicate) || (emit.graph !== undefined && !isConstant(emit.graph))) overlappingEmits.add(emit);
  for (const [a, b] of pairsToCompare(all)) {
    if (overlappingEmits.has(a.emit) && overlappingEmits.has(b.emit) && linked.areLinked(a.map, b.map)) continue;
    if (!emitsOverlap(a, b)) continue;
    /*
     * Collections make no statement twice among themselves. Those without a named head have separate blank nodes. Those with an equal
     * head in an equal graph share a counter, from which each member takes another number, and so another predicate or another node of the
     * list; the counter also knows the types that were written.
     */
    if (!('collection' in a.emit && 'collection' in b.emit)) {
      overlappingEmits.add(a.emit);
      overlappingEmits.add(b.emit);
    }
    if (linked.link(a.map, b.map)) overlappingMaps.push([a.map, b.map]);
  }
  return { overlappingEmits, overlappingMaps };
}

const isConstant = (term: Term): boolean => term.kind === 'constant';

interface EmitPatterns extends Readonly<Record<'subject' | 'predicate' | 'object' | 'graph', Pattern>> {
  readonly emit: Emit | Collect;
  readonly map: MapRules;
}

/** Subjects last: they usually have references, and take longer. */
const emitsOverlap = (a: EmitPatterns, b: EmitPatterns): boolean =>
  patternsOverlap(a.predicate, b.predicate) &&
  patternsOverlap(a.graph, b.graph) &&
  patternsOverlap(a.object, b.object) &&
  patternsOverlap(a.subject, b.subject);

function patternsOf(emit: Emit, map: MapRules): EmitPatterns & { readonly emit: Emit } {
  const { input, predicate, object, graph } = emit;
  const pattern = (term: Term): Pattern => patternOf(writtenTerm(term, input));
  return {
    emit,
    map,
    subject: pattern(map.subject),
    predicate: pattern(predicate),
    graph: inTarget(graph === undefined ? DEFAULT_GRAPH : pattern(graph), emit.target),
    object: pattern(object),
  };
}

/** What collections state of their heads. The further nodes of lists are theirs alone. */
const patternsOfCollect = (emit: Collect, map: MapRules): readonly EmitPatterns[] =>
  emit.places.flatMap(({ graph, target }) =>
    collectionsIn(emit.collection).flatMap((collection) => {
      const common = {
        emit,
        map,
        subject: patternOf(writtenSubject(collection)),
        graph: inTarget(graph === undefined ? DEFAULT_GRAPH : patternOf(writtenTerm(graph)), target),
        object: ANYTHING,
      };
      const names = collection.as === 'list' ? ['first', 'rest'] : ['type', '_'];
      return names.map((name) => ({
        ...common,
        predicate: iriPattern(name === '_' ? [`${RDF}_`, { reference: undefined }] : [RDF + name]),
      }));
    }),
  );

const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';

const iriPattern = (form: WrittenValue['forms'][number]): Pattern => patternOf({ kind: 'iri', forms: [form], encoded: true });

// ---------------------------------------------------------------- reifiers

export interface ReifierOverlaps {
  /** Pairs of triples maps whose statements may have an equal reifier in an equal graph, directly or through other pairs. */
  readonly maps: readonly (readonly [MapRules, MapRules])[];
  /** Triples maps with a reifier that other rows or other triples maps may have: any but their own subject's. */
  readonly shared: ReadonlySet<MapRules>;
}

/**
 * In RDF 1.2 a statement brings those of its reifiers. These have a subject and a predicate that no rule writes, so they can only be equal
 * among themselves: if the triples are, and the graphs.
 */
export function findReifierOverlaps(maps: readonly MapRules[]): ReifierOverlaps {
  const shared = new Set<MapRules>();
  const all = maps.flatMap((map) => {
    const subject = writtenTerm(map.subject, map.rows);
    const ofSubject = reifiedAsSubject(subject);
    return map.emits.flatMap((emit) => {
      const ofObject = reifiedAsObject(writtenTerm(emit.object, emit.input));
      if (ofSubject.length > 1 || ofObject.length > 0) shared.add(map);
      const { graph } = patternsOf(emit, map);
      const common = { emit, map, graph, predicate: REIFIES, object: ANYTHING };
      return [...ofSubject, ...ofObject].map((triple) => ({ ...common, subject: patternOf(triple) }));
    });
  });
  const linked = new Links<MapRules>();
  const found: [MapRules, MapRules][] = [];
  for (const [a, b] of pairsToCompare(all)) {
    const known = linked.areLinked(a.map, b.map) && shared.has(a.map) && shared.has(b.map);
    if (a.map === b.map || known || !emitsOverlap(a, b)) continue;
    shared.add(a.map).add(b.map);
    if (linked.link(a.map, b.map)) found.push([a.map, b.map]);
  }
  return { maps: found, shared };
}

// ---------------------------------------------------------------- candidate pairs

/**
 * All pairs of rules except most disjoint ones: thousands of rules have millions of pairs. Rules overlap only if one's constant beginning
 * is a prefix of the other's; beginnings of constant terms end with a mark, so they are equal or disjoint.
 */
function* pairsToCompare(rules: readonly EmitPatterns[]): Generator<readonly [EmitPatterns, EmitPatterns]> {
  const byStatement = (first: 'subject' | 'object', second: 'subject' | 'object') => (rule: EmitPatterns) =>
    beginningOf([rule.predicate, rule.graph, rule[first], rule[second]]);
  const orders = [byStatement('subject', 'object'), byStatement('object', 'subject')].map((beginning) =>
    rules.map((rule) => ({ rule, beginning: beginning(rule) })).sort((a, b) => (a.beginning < b.beginning ? -1 : 1)),
  );
  const pairs = orders.map((sorted) => countPairs(sorted));
  const best = (pairs[1] as number) < (pairs[0] as number) ? orders[1] : orders[0];
  for (const { rule, open } of nestBeginnings(best as readonly Sorted[])) for (const other of open) yield [other.rule, rule];
}

interface Sorted {
  readonly rule: EmitPatterns;
  readonly beginning: string;
}

function countPairs(sorted: readonly Sorted[]): number {
  let count = 0;
  for (const { open } of nestBeginnings(sorted)) count += open.length;
  return count;
}

/** Each rule with those before it whose beginnings are prefixes of its beginning. In sorted order, texts with a common prefix are adjacent. */
function* nestBeginnings(sorted: readonly Sorted[]): Generator<{ readonly rule: EmitPatterns; readonly open: readonly Sorted[] }> {
  const open: Sorted[] = [];
  for (const one of sorted) {
    while (open.length > 0 && !one.beginning.startsWith((open.at(-1) as Sorted).beginning)) open.pop();
    yield { rule: one.rule, open };
    open.push(one);
  }
}

/** The constant prefix of the rule's statements. */
function beginningOf(terms: readonly Pattern[]): string {
  let beginning = '';
  for (const { family, forms } of terms) {
    const [form] = forms;
    if (family === ANYTHING.family) return beginning;
    if (forms.length > 1 || form === undefined) return `${beginning}${family}${MARK}`;
    const hole = form.text.search(HOLES);
    beginning += `${family}${MARK}${hole < 0 ? form.text : form.text.slice(0, hole)}`;
    if (hole >= 0) return beginning;
    beginning += MARK;
  }
  return beginning;
}

// ---------------------------------------------------------------- patterns

/** Placeholders for any bytes that percent-encoding can write, and for any bytes. Constant text is bytes, up to `\u00ff`. */
const ENCODED_HOLE = '\u0100';
const ANY_HOLE = '\u0101';
const HOLES = /[\u0100\u0101]/;
/** Neither a byte nor a hole. */
const MARK = '\u0102';

/** The texts that a term map can make, within one kind of term. */
interface Pattern {
  readonly kind: string;
  /** Kinds of different families never overlap. */
  readonly family: string;
  /** None for quoted triples. */
  readonly forms: readonly Form[];
  /** Quoted triples; none for any other term. */
  readonly triples: readonly Readonly<Record<'subject' | 'predicate' | 'object', Pattern>>[];
}

interface Form {
  /** Bytes and holes. */
  readonly text: string;
  /** The separators, and the pieces between them; undefined if values may contain separators. */
  readonly pieces: { readonly separators: string; readonly pieces: readonly string[] } | undefined;
}

function formOf(text: string): Form {
  if (text.includes(ANY_HOLE)) return { text, pieces: undefined };
  const separators = [...text].filter((character) => SEPARATOR.test(character)).join('');
  return { text, pieces: { separators, pieces: text.split(SEPARATOR) } };
}

const DEFAULT_GRAPH: Pattern = { kind: 'default graph', family: 'default graph', forms: [formOf('')], triples: [] };

/** Statements of different outputs are different statements: the output counts as a part of the graph. */
const inTarget = (graph: Pattern, target: LogicalTarget | undefined): Pattern =>
  target === undefined ? graph : { ...graph, kind: `${graph.kind} of ${target.id}`, family: `${graph.family} of ${target.id}` };

/** What may be any term. */
const ANYTHING: Pattern = { kind: 'anything', family: 'anything', forms: [formOf(ANY_HOLE)], triples: [] };

const REIFIES: Pattern = { kind: 'reifies', family: 'reifies', forms: [formOf('')], triples: [] };

function patternOf(written: WrittenTerm): Pattern {
  if ('triples' in written) {
    const triples = written.triples.map(({ subject, predicate, object }) => ({
      subject: patternOf(subject),
      predicate: patternOf(predicate),
      object: patternOf(object),
    }));
    return { kind: 'quoted', family: 'quoted', forms: [], triples };
  }
  const { kind, forms, encoded } = written;
  const hole = encoded ? ENCODED_HOLE : ANY_HOLE;
  return {
    kind,
    family: kind.startsWith('literal') ? 'literal' : kind,
    forms: forms.map((form) => formOf(form.map((piece) => (typeof piece === 'string' ? piece : hole)).join(''))),
    triples: [],
  };
}

/** Literals of unknown type overlap with every literal; otherwise kinds must be equal. */
const kindsOverlap = (a: Pattern, b: Pattern): boolean =>
  a.kind === b.kind ||
  a.kind === ANYTHING.kind ||
  b.kind === ANYTHING.kind ||
  (a.family === b.family && (a.kind === 'literal' || b.kind === 'literal'));

/** Whether some term matches both patterns. Quoted triples are equal if their subjects, predicates and objects are. */
const patternsOverlap = (a: Pattern, b: Pattern): boolean =>
  kindsOverlap(a, b) && (a.kind === ANYTHING.kind || b.kind === ANYTHING.kind || isMatch(a, b));

const isMatch = (a: Pattern, b: Pattern): boolean =>
  a.forms.length * b.forms.length === 1
    ? formsOverlap(a.forms[0] as Form, b.forms[0] as Form)
    : anyFormsOverlap(a, b) || anyTriplesOverlap(a, b);

const anyFormsOverlap = (a: Pattern, b: Pattern): boolean => a.forms.some((form) => b.forms.some((other) => formsOverlap(form, other)));

const anyTriplesOverlap = (a: Pattern, b: Pattern): boolean =>
  a.triples.some((triple) =>
    b.triples.some(
      (other) =>
        patternsOverlap(triple.predicate, other.predicate) &&
        patternsOverlap(triple.object, other.object) &&
        patternsOverlap(triple.subject, other.subject),
    ),
  );

/** Whether some text matches both forms. */
function formsOverlap(a: Form, b: Form): boolean {
  if (a.text === b.text) return true;
  if (a.pieces === undefined || b.pieces === undefined) return piecesOverlap(a.text, b.text);
  if (a.pieces.separators !== b.pieces.separators) return false;
  // The first pieces already overlap: only such pairs are compared.
  for (let i = a.pieces.pieces.length - 1; i >= 0; i--)
    if (!piecesOverlap(a.pieces.pieces[i] as string, b.pieces.pieces[i] as string)) return false;
  return true;
}

/** Whether some text matches both pieces. */
function piecesOverlap(p: string, q: string): boolean {
  if (p === q) return true;
  // Constant bytes at both ends must be equal; removing them leaves a short middle.
  let from = 0;
  while (from < p.length && from < q.length && isByte(p, from) && isByte(q, from)) {
    if (p[from] !== q[from]) return false;
    from++;
  }
  let i = p.length;
  let j = q.length;
  while (i > from && j > from && isByte(p, i - 1) && isByte(q, j - 1)) {
    if (p[i - 1] !== q[j - 1]) return false;
    i--;
    j--;
  }
  return middlesOverlap(p.slice(from, i), q.slice(from, j));
}

/** The same by searching all pairs of positions. Where both positions are in holes, one hole may as well end: that gives a shorter text. */
function middlesOverlap(p: string, q: string): boolean {
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
    // NaN past the end: neither byte nor hole.
    const x = p.charCodeAt(i);
    const y = q.charCodeAt(j);
    if (x > LAST_BYTE) stack.push(state + width);
    if (y > LAST_BYTE) stack.push(state + 1);
    if (x > LAST_BYTE && gives(x, y)) stack.push(state + 1);
    if (y > LAST_BYTE && gives(y, x)) stack.push(state + width);
    if (x === y && x <= LAST_BYTE) stack.push(state + width + 1);
  }
  return false;
}

const LAST_BYTE = 0xff;

const isByte = (form: string, at: number): boolean => form.charCodeAt(at) <= LAST_BYTE;

/** By byte: whether percent-encoding keeps or produces it. */
const ENCODED = Array.from({ length: LAST_BYTE + 1 }, (_, byte) => !SEPARATOR.test(String.fromCharCode(byte)));

/** Whether a hole can produce the byte. */
const gives = (hole: number, byte: number): boolean => byte <= LAST_BYTE && (hole === ANY_HOLE.charCodeAt(0) || ENCODED[byte] === true);
