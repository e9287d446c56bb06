/**
 * Which rules of a mapping can make a statement: the terms of the statement are compared with what the rules write (`plan/written.ts`). No
 * input is read, so a rule that can make it need not have a record that does.
 */
import { didYouMean } from '../core/nearest.ts';
import { blankLabel, fromBytes, hasScheme, toBytes, unescapeTerm } from '../core/text.ts';
import { XSD } from '../core/value.ts';
import { formatOrigin } from '../mapping/model/model.ts';
import { blankReifier, isReifier, reifiedTriple } from '../nquads/reified.ts';
import type { Collection, Emit, MapInfo, MapRules, RowTerm, Term } from '../plan/algebra.ts';
import {
  collectionText,
  definitionOf,
  type Leaf,
  leafKey,
  leavesOfTerm,
  nameOf,
  termKey,
  termText,
  unconditional,
} from '../plan/expressions.ts';
import { injectiveReferences } from '../plan/injectivity.ts';
import { isObjectOf } from '../plan/scans.ts';
import {
  hasNaturalDatatype,
  reifiedAsObject,
  reifiedAsSubject,
  SEPARATOR,
  type WrittenTerm,
  type WrittenValue,
  writtenTerm,
} from '../plan/written.ts';
import { labelOfMap } from '../run/prepare/labels.ts';

/** The terms of a statement as canonical N-Quads in one-byte text. */
export interface StatementTerms {
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  /** Empty: the default graph. */
  readonly graph: string;
}

const PARTS = ['subject', 'predicate', 'object', 'graph'] as const;
type Part = (typeof PARTS)[number];

/** A term of the statement beside the term of a rule. */
export interface PartMatch {
  readonly part: Part;
  /** The rule's term for people; undefined: the default graph. */
  readonly term: string | undefined;
  /** `document:line:column`; undefined: the mapping says nothing. */
  readonly origin: string | undefined;
  /** Of references whose values the statement's term determines. */
  readonly values: readonly { readonly name: string; readonly value: string }[];
  /** Why the rule cannot make the term; undefined: it can. */
  readonly mismatch: string | undefined;
  /** The triples map whose subject the object is, by way of a join. */
  readonly parent: MapInfo | undefined;
}

/** A rule beside the statement. */
export interface Candidate {
  readonly rules: MapRules;
  readonly emit: Emit;
  readonly parts: readonly PartMatch[];
}

export const canMake = ({ parts }: Candidate): boolean => parts.every(({ mismatch }) => mismatch === undefined);

/** The subject, predicate and object of a quoted triple in N-Quads. */
export type SplitQuoted = (triple: string) => readonly string[];

/**
 * Every rule beside the statement, in the order of the mapping. A rule that writes to several targets comes once.
 *
 * The statement may be one of RDF 1.2. Of a reifier only the hash of its triple is known, so any quoted triple may be meant; the statement of
 * a reifier is made with each statement that names it.
 */
export function candidatesFor(statement: StatementTerms, maps: readonly MapRules[], split: SplitQuoted): readonly Candidate[] {
  return maps.flatMap((rules) => {
    const seen = new Set<string>();
    return rules.emits.flatMap((emit): Candidate[] => {
      const { predicate, object, graph } = emit;
      const key = JSON.stringify([termKey(predicate), termKey(object), graph === undefined ? null : termKey(graph)]);
      if (seen.has(key)) return [];
      seen.add(key);
      const triple = reifiedTriple(statement);
      const match = (part: Part): readonly PartMatch[] => matchPart(part, statement, rules, emit, split);
      const parts = triple === undefined ? PARTS.flatMap(match) : [matchReifier(statement, triple, rules, emit, split), ...match('graph')];
      return [{ rules, emit, parts }];
    });
  });
}

function matchPart(part: Part, statement: StatementTerms, rules: MapRules, emit: Emit, split: SplitQuoted): PartMatch[] {
  const token = statement[part];
  const { input, graph } = emit;
  if (part === 'graph' && graph === undefined) {
    if (token === '') return [];
    return [{ part, term: undefined, origin: undefined, values: [], mismatch: 'the rule writes to the default graph', parent: undefined }];
  }
  const term = part === 'subject' ? rules.subject : part === 'graph' ? (graph as Term) : emit[part];
  const origin = formatOrigin(term.origin);
  if (token === '') return [{ part, term: termText(term), origin, values: [], mismatch: 'the statement has no graph', parent: undefined }];
  const written = definitionOf(term, part === 'subject' ? rules.rows : input);
  const parent = isObjectOf(input, term) ? input.right.map : undefined;
  const matched = part === 'subject' ? matchNode(written, token, split) : matchTerm(written, token, split);
  return [{ part, term: termText(written), origin, parent, ...matched }];
}

/** The quoted triple of a rule that has the reifier of the statement. */
function matchReifier(statement: StatementTerms, triple: string, rules: MapRules, emit: Emit, split: SplitQuoted): PartMatch {
  const { input, object } = emit;
  const ofSubject = reifiedAsSubject(definitionOf(rules.subject, rules.rows) as Term);
  const ofObject = reifiedAsObject(definitionOf(object, input) as Term);
  const isOwn = blankReifier(triple) === statement.subject;
  let mismatch = isOwn ? 'the rule has no triple as a subject' : 'the reifier is that of another triple';
  for (const [part, term] of [...ofSubject.map((one) => ['subject', one] as const), ...ofObject.map((one) => ['object', one] as const)]) {
    if (!isOwn || term.kind !== 'quoted') continue;
    const matched = matchTriples(term, triple, split);
    mismatch = matched.mismatch ?? mismatch;
    if (matched.mismatch !== undefined) continue;
    const parent = part === 'object' && isObjectOf(input, object) ? input.right.map : undefined;
    return { part, term: termText(term), origin: formatOrigin(term.origin), parent, ...matched };
  }
  const { origin } = rules.subject;
  return { part: 'subject', term: termText(rules.subject), origin: formatOrigin(origin), values: [], mismatch, parent: undefined };
}

// ---------------------------------------------------------------- terms

interface TermMatch {
  readonly values: PartMatch['values'];
  readonly mismatch: string | undefined;
}

/** A term of the statement: its kind as in `WrittenTerm.kind`, and its text without escapes. */
interface Token {
  readonly family: keyof typeof NAMES;
  readonly kind: string;
  readonly text: string;
}

function tokenOf(token: string): Token {
  if (token.startsWith('<<')) return { family: 'quoted', kind: 'quoted', text: token };
  if (token.startsWith('<')) return { family: 'iri', kind: 'iri', text: token.slice(1, -1) };
  if (token.startsWith('_:')) return { family: 'blank', kind: 'blank', text: token.slice(2) };
  const end = token.lastIndexOf('"');
  const after = token.slice(end + 1);
  const kind = after.startsWith('@') ? `literal@${after.slice(1)}` : `literal^^${after === '' ? `${XSD}string` : after.slice(3, -1)}`;
  return { family: 'literal', kind, text: unescapeTerm(token.slice(1, end)) };
}

const NAMES = { iri: 'an IRI', blank: 'a blank node', literal: 'a literal', quoted: 'a quoted triple' } as const;

/** A subject: in RDF 1.2 a quoted triple is a reifier there. */
const matchNode = (term: RowTerm, token: string, split: SplitQuoted): TermMatch =>
  term.kind === 'quoted' && isReifier(token) ? { values: [], mismatch: undefined } : matchTerm(term, token, split);

function matchTerm(term: RowTerm, token: string, split: SplitQuoted): TermMatch {
  if (term.kind === 'head') return matchHead(term.collection, token, split);
  const found = tokenOf(token);
  const written = writtenTerm(term);
  const family = familyOf(written);
  const none = (mismatch: string): TermMatch => ({ values: [], mismatch });
  if (family !== found.family) return none(`the rule makes ${NAMES[family]}, the statement has ${NAMES[found.family]}`);
  if ('triples' in written) return term.kind === 'quoted' ? matchTriples(term, token, split) : none('the triple is another one');
  // A literal of unknown kind takes its language or datatype from the data.
  if (family === 'literal' && written.kind !== 'literal' && written.kind !== found.kind)
    return none(`the rule makes a literal ${kindText(written.kind)}, that of the statement is ${kindText(found.kind)}`);
  if (term.kind === 'literal' && hasNaturalDatatype(term) && found.kind.startsWith('literal@'))
    return none(`the rule makes a literal without language, that of the statement is ${kindText(found.kind)}`);
  if (family === 'blank') return matchLabel(term, written, found.text);
  if (isPlainValue(term, written, found)) {
    const [leaf] = leavesOfTerm(term) as [Leaf];
    return { values: [{ name: nameOfLeaf(leaf), value: fromBytes(found.text) }], mismatch: undefined };
  }
  return matchText(term, written, found.text);
}

const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';

/** An empty list is `rdf:nil`; each collection without a name is a new blank node. */
function matchHead({ as, head }: Collection, token: string, split: SplitQuoted): TermMatch {
  if (as === 'list' && token === `<${RDF}nil>`) return { values: [], mismatch: undefined };
  if (head !== undefined) return matchTerm(head, token, split);
  return { values: [], mismatch: token.startsWith('_:') ? undefined : 'the rule makes a blank node for the collection' };
}

/** The triples maps whose collections may make a statement: with their members, their order or their type. */
export function gathering({ predicate, object }: StatementTerms, maps: readonly MapRules[]): readonly MapRules[] {
  const local = predicate.startsWith(`<${RDF}`) ? predicate.slice(RDF.length + 1, -1) : '';
  const isType = local === 'type' && ['List', 'Bag', 'Seq', 'Alt'].some((name) => object === `<${RDF}${name}>`);
  return isType || /^(first|rest|_\d+)$/.test(local) ? maps.filter(({ collects }) => collects.length > 0) : [];
}

function familyOf({ kind }: WrittenTerm): Token['family'] {
  if (kind === 'quoted') return 'quoted';
  return kind.startsWith('literal') ? 'literal' : kind.startsWith('blank') ? 'blank' : 'iri';
}

/** @param term without cells */
function matchTriples({ triples }: Extract<Term, { kind: 'quoted' }>, token: string, split: SplitQuoted): TermMatch {
  const tokens = split(token);
  for (const { subject, predicate, object } of triples) {
    const matches = [
      matchNode(subject as RowTerm, tokens[0] ?? '', split),
      ...[predicate, object].map((term, i) => matchTerm(term as RowTerm, tokens[i + 1] ?? '', split)),
    ];
    if (matches.every(({ mismatch }) => mismatch === undefined)) {
      const values = new Map(matches.flatMap((match) => match.values.map((value) => [value.name, value])));
      return { values: [...values.values()], mismatch: undefined };
    }
  }
  return { values: [], mismatch: 'the triple is another one' };
}

/** A literal of one reference without a datatype: its text is the value, whatever the natural datatypes of other values. */
const isPlainValue = (term: RowTerm, { kind }: WrittenTerm, found: Token): boolean =>
  kind === 'literal' &&
  found.kind === `literal^^${XSD}string` &&
  term.kind === 'literal' &&
  hasNaturalDatatype(term) &&
  ['read', 'cell'].includes(unconditional(term.value).kind) &&
  leavesOfTerm(term).length === 1;

const kindText = (kind: string): string => {
  if (kind.startsWith('literal@')) return `with the language ${kind.slice('literal@'.length)}`;
  const datatype = kind.slice('literal^^'.length);
  return datatype === `${XSD}string` ? 'without language and datatype' : `of the datatype <${datatype}>`;
};

/** Labels (`nquads/labels.ts`) have a letter behind their digest that says how they are made, and other characters than letters and digits as `_` and two digits. */
function matchLabel(term: RowTerm, written: WrittenValue, label: string): TermMatch {
  const other: TermMatch = { values: [], mismatch: 'the label is another one' };
  const own = label.replace(/^q[0-9a-f]{32}/, '');
  if (term.kind === 'constant') return own === `c${blankLabel(toBytes(term.term.value))}` ? { values: [], mismatch: undefined } : other;
  if (term.kind !== 'blank') return other;
  const value = unconditional(term.value);
  if (value.kind === 'row') return label.startsWith(labelOfMap(value.map)) ? { values: [], mismatch: undefined } : other;
  if (!own.startsWith('b')) return other;
  const text = own.slice(1).replace(/_([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const matched = matchText(term, written, text);
  return matched.mismatch === undefined ? matched : other;
}

function matchText(term: RowTerm, written: WrittenValue, text: string): TermMatch {
  for (const form of written.forms) {
    const { pattern, references } = patternOf(form, written.encoded);
    const groups = pattern.exec(text);
    if (groups === null) continue;
    const told = injectiveReferences(written);
    const names = new Map(leavesOfTerm(term).map((leaf) => [leafKey(leaf), nameOfLeaf(leaf)]));
    const values = references.flatMap((reference, i) => {
      const name = names.get(reference);
      if (name === undefined || !told.has(reference)) return [];
      const value = groups[i + 1] as string;
      return [{ name, value: fromBytes(written.encoded ? decoded(value) : value) }];
    });
    return { values, mismatch: undefined };
  }
  return { values: [], mismatch: 'the text is another one' };
}

const nameOfLeaf = (leaf: Leaf): string => (leaf.kind === 'cell' ? leaf.column.name : nameOf(leaf));

/** @param encoded whether values are percent-encoded, so that they hold no separator */
function patternOf(form: WrittenValue['forms'][number], encoded: boolean): { readonly pattern: RegExp; readonly references: string[] } {
  const hole = encoded ? `((?:(?!${SEPARATOR.source})[^])*)` : '([^]*)';
  const references: string[] = [];
  const source = form.map((piece) => {
    if (typeof piece === 'string') return piece.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
    const known = piece.reference === undefined ? -1 : references.indexOf(piece.reference);
    if (known >= 0) return `\\${known + 1}(?:)`;
    references.push(piece.reference ?? '');
    return hole;
  });
  return { pattern: new RegExp(`^${source.join('')}$`, 'u'), references };
}

/** Of percent-encoded bytes. */
const decoded = (text: string): string =>
  text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

// ---------------------------------------------------------------- text

const MAX_NEAREST = 3;

/**
 * The rules that can make the statement, or else those that come nearest and why they cannot.
 *
 * @param gatherers see `gathering`
 */
export function describeCandidates(
  statement: StatementTerms,
  candidates: readonly Candidate[],
  gatherers: readonly MapRules[],
): readonly string[] {
  const able = candidates.filter(canMake);
  if (able.length + gatherers.length > 0) return [...able.flatMap(describeAble), ...gatherers.flatMap(describeGatherer)];
  const near = nearestOf(candidates);
  const lines = ['  no rule of the mapping makes it'];
  const triple = reifiedTriple(statement);
  if (triple !== undefined && blankReifier(triple) !== statement.subject)
    lines.push(`  the reifier of this triple is ${blankReifier(triple)}`);
  const hint = predicateHint(statement, candidates);
  if (hint !== undefined) lines.push(`  the mapping has no such predicate${hint}`);
  if (near.length > 0) lines.push('  nearest:', ...near.flatMap((candidate) => describeNear(candidate)));
  return lines;
}

const headOf = ({ rules: { map } }: Candidate): string => `${map.name} (${formatOrigin(map.origin)})`;

function describeAble(candidate: Candidate): readonly string[] {
  const rows = candidate.parts.map(({ part, term, origin, values, parent }) => [
    part,
    term ?? '',
    origin ?? '',
    [...values.map(({ name, value }) => `${name} = ${JSON.stringify(value)}`), ...(parent === undefined ? [] : [`of ${parent.name}`])].join(
      ', ',
    ),
  ]);
  return [`  ${headOf(candidate)} can make it`, ...aligned(rows)];
}

const describeGatherer = ({ map, collects }: MapRules): readonly string[] => [
  `  ${map.name} (${formatOrigin(map.origin)}) can make it, as a part of what it gathers`,
  ...aligned(collects.map(({ collection }) => [collectionText(collection), formatOrigin(collection.origin)])),
];

const describeNear = (candidate: Candidate): readonly string[] => [
  `  ${headOf(candidate)}`,
  ...aligned(candidate.parts.map(({ part, term, origin, mismatch }) => [part, term ?? '', origin ?? '', mismatch ?? 'matches'])),
];

function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows.reduce<number[]>((found, row) => row.map((cell, i) => Math.max(found[i] ?? 0, cell.length)), []);
  return rows.map((row) => `    ${row.map((cell, i) => cell.padEnd(widths[i] as number)).join('  ')}`.trimEnd());
}

/** Those with most terms in common; of these, those with the predicate first. A rule with nothing in common is none. */
function nearestOf(candidates: readonly Candidate[]): readonly Candidate[] {
  const WEIGHTS: Readonly<Record<Part, number>> = { predicate: 4, subject: 3, object: 2, graph: 0 };
  const score = ({ parts }: Candidate): number =>
    parts.reduce((sum, { part, mismatch }) => sum + (mismatch === undefined ? WEIGHTS[part] : 0), 0);
  const best = candidates.map((candidate) => ({ candidate, score: score(candidate) })).filter((one) => one.score > 0);
  best.sort((a, b) => b.score - a.score);
  return best
    .filter((one) => one.score >= (best[0]?.score ?? 0) - 2)
    .slice(0, MAX_NEAREST)
    .map(({ candidate }) => candidate);
}

function predicateHint(statement: StatementTerms, candidates: readonly Candidate[]): string | undefined {
  // The mapping names it nowhere.
  if (reifiedTriple(statement) !== undefined) return undefined;
  if (candidates.some(({ parts }) => parts.some(({ part, mismatch }) => part === 'predicate' && mismatch === undefined))) return undefined;
  const known = candidates.flatMap(({ emit }) => (emit.predicate.kind === 'constant' ? [emit.predicate.term.value] : [])).filter(hasScheme);
  const near = didYouMean(fromBytes(statement.predicate.slice(1, -1)), known, (iri) => /[^/#]*$/.exec(iri)?.[0] ?? iri);
  return near === undefined ? '' : `: ${near}`;
}
