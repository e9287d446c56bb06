/**
 * Collection → closure over rows: its members, its heads, and the nodes that hold the members.
 *
 * Labels of blank nodes derive from triples map, input, gather map and row, so that each run writes the same ones: that of the row (`nquads/labels.ts`)
 * and `g<n>` behind it, and `c<m>` behind that for the collections of a product. Labels of fresh blank nodes end with the number of their row, those
 * of values have another letter behind the digest: no other term has a label of these.
 */
import type { Collection, Join, Term } from '../plan/algebra.ts';
import { compileTerm } from './encode.ts';
import { type Accessors, compileExpression, identity, type Text, type TextOf } from './evaluate.ts';

export const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';
export const NIL = `<${RDF}nil>`;

/** What a row gives to a collection: plain data, which can be stored. */
export interface Gathered {
  /** The distinct heads, each as a whole term; none: the row makes no collection. */
  readonly heads: readonly string[];
  /** Of each member: its terms, as often as they come, or what a collection within the collection is made of. */
  readonly members: readonly (readonly string[] | Gathered)[];
}

export type GatheredOf = (row: unknown, position: number) => Gathered;

/** The terms of a row, each as a whole; none, one, or several. */
export type TokensOf = (row: unknown, position: number) => readonly string[];

const NOTHING: readonly string[] = [];

/** @param joined the terms that a join finds for a row */
export function compileCollection(collection: Collection, rows: Accessors, joined: (join: Join) => TokensOf): GatheredOf {
  const { head, number, row, members } = collection;
  const label = compileExpression(row, rows, identity).text;
  const heads: TokensOf =
    head === undefined
      ? (record, position) => {
          const text = label(record, position);
          return text === null ? NOTHING : [`_:${text as string}g${number}`];
        }
      : distinctTokens(tokensOf(head, rows));
  const repeating: Accessors = { ...rows, repeats: true };
  const parts = members.map((member): ((record: unknown, position: number) => readonly string[] | Gathered) => {
    if (member.kind === 'term') return tokensOf(member.term, repeating);
    return member.kind === 'gather' ? compileCollection(member.collection, rows, joined) : joined(member.join);
  });
  return (record, position) => ({ heads: heads(record, position), members: parts.map((part) => part(record, position)) });
}

export function tokensOf(term: Term, rows: Accessors): TokensOf {
  const { before, after, text } = compileTerm(term, rows);
  return (record, position) => {
    const texts = text(record, position);
    if (texts === null) return NOTHING;
    return typeof texts === 'string' ? [before + texts + after] : texts.map((one) => before + one + after);
  };
}

const distinctTokens =
  (tokens: TokensOf): TokensOf =>
  (record, position) => {
    const found = tokens(record, position);
    return found.length < 2 ? found : [...new Set(found)];
  };

/** The heads of a collection whose statements are made elsewhere. @throws Error for a collection with joined members, which has no such use */
export function compileHeads(collection: Collection, rows: Accessors): TextOf {
  const gathered = compileCollection(collection, rows, () => {
    throw new Error('what a join finds is gathered where it is stated only');
  });
  return (record, position) => textOf(make(collection, gathered(record, position)).heads);
}

export function textOf(tokens: readonly string[]): Text {
  return tokens.length === 0 ? null : tokens.length === 1 ? (tokens[0] as string) : tokens;
}

/** A node with members: a head, or one of the heads that a product has. */
export interface MadeCollection {
  readonly collection: Collection;
  readonly head: string;
  readonly items: Iterable<string>;
  /** Number of items. */
  readonly count: number;
}

/** What stands for a collection in statements, and what is to be stated of it and of the collections within it. */
export interface Made {
  readonly heads: readonly string[];
  readonly collections: readonly MadeCollection[];
}

const NONE: Made = { heads: [], collections: [] };

export function make(collection: Collection, gathered: Gathered): Made {
  const { as, head: named, allowEmpty, strategy } = collection;
  const { heads } = gathered;
  if (heads.length === 0) return NONE;
  const inner: MadeCollection[] = [];
  const members = gathered.members.map((member, i) => {
    if (!('heads' in member)) return member;
    const part = collection.members[i];
    if (part?.kind !== 'gather') throw new Error('a stored row does not fit its gather map');
    const made = make(part.collection, member);
    inner.push(...made.collections);
    return made.heads;
  });
  const isProduct = strategy === 'product';
  const count = members.reduce((sum, tokens) => (isProduct ? sum * tokens.length : sum + tokens.length), isProduct ? 1 : 0);
  if (count === 0) {
    if (!allowEmpty) return NONE;
    if (as === 'list') return { heads: [NIL], collections: [] };
    return { heads, collections: heads.map((head) => ({ collection, head, items: [], count: 0 })) };
  }
  if (!isProduct) {
    const items = members.length === 1 ? (members[0] as readonly string[]) : members.flat();
    return { heads, collections: [...inner, ...heads.map((head) => ({ collection, head, items, count }))] };
  }
  const size = members.length;
  if (named !== undefined) {
    const items: Iterable<string> = { [Symbol.iterator]: () => combined(members, count) };
    return { heads, collections: [...inner, ...heads.map((head) => ({ collection, head, items, count: count * size }))] };
  }
  const [label] = heads as [string];
  const own = Array.from({ length: count }, (_, m): MadeCollection => {
    const items: Iterable<string> = { [Symbol.iterator]: () => combination(members, m) };
    return { collection, head: `${label}c${m}`, items, count: size };
  });
  return { heads: own.map(({ head }) => head), collections: [...inner, ...own] };
}

/** One of each member: of all combinations that with this number, where the last member varies fastest. */
function* combination(members: readonly (readonly string[])[], number: number): Generator<string> {
  let block = members.reduce((product, tokens) => product * tokens.length, 1);
  let rest = number;
  for (const tokens of members) {
    block /= tokens.length;
    yield tokens[Math.floor(rest / block)] as string;
    rest %= block;
  }
}

function* combined(members: readonly (readonly string[])[], count: number): Generator<string> {
  for (let number = 0; number < count; number++) yield* combination(members, number);
}
