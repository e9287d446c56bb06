/**
 * What a triples map gathers: the statements of its collections.
 *
 * A row's collections are read with its other terms, before its first statement. What cannot be stated yet is stored as text by the place of
 * its row, sorted at the end, and stated then: collections with members from a join whose other side is not complete, with the statements that
 * hold their heads; and, where a join hands on rows in another order than that of their source, collections to which several rows append.
 */

import { QUOTE_START } from '../../../nquads/terms.ts';
import type { Collection, Join } from '../../../plan/algebra.ts';
import { collectionsIn, spansRows } from '../../../plan/expressions.ts';
import type { CollectPlan, MapPlan, RulePlan } from '../../../plan/plan.ts';
import { LineSorter } from '../../../spill/line-sorter.ts';
import type { Multimap } from '../../../spill/multimap.ts';
import type { SpillSpace } from '../../../spill/space.ts';
import {
  compileCollection,
  type Gathered,
  type GatheredOf,
  type Made,
  type MadeCollection,
  make,
  type TokensOf,
  textOf,
  tokensOf,
} from '../../../terms/collections.ts';
import type { Accessors, Text, TextOf } from '../../../terms/evaluate.ts';
import { VaryingAffixes } from '../../compile/affixes.ts';
import type { Ending } from '../../compile/deferred-objects.ts';
import type { OutputText, StatementOwner } from '../../compile/output.ts';
import { mustWait, type PlannedJoin, ProbeSide } from '../../compile/probe-side.ts';
import type { Made as MadeStatements, RowCollects, RunState } from '../../compile/program.ts';
import { compileAffixes } from '../../compile/rule.ts';
import { listOf, PIECE_STATEMENTS } from '../../compile/texts.ts';
import { JoinCount } from '../../join/counts.ts';
import type { PairingMemory } from '../../join/join.ts';
import { unpackRow } from '../../join/packed-row.ts';
import type { Numbering } from './numbering.ts';
import { statementsOf } from './statements.ts';

/** What collections share with the rest of a run. */
export interface CollectState extends Pick<RunState, 'budget' | 'joinIndexes' | 'openMultimap' | 'trace' | 'outputs' | 'endings'> {
  readonly space: SpillSpace;
  /** By output. */
  readonly numberings: readonly Numbering[];
}

/** One collection of the triples map. */
interface Part {
  readonly plan: CollectPlan;
  readonly gathered: GatheredOf;
  /** The text behind the objects of its statements, by graph, for each output that has them. */
  readonly ends: readonly { readonly output: number; readonly texts: TokensOf }[];
  /** Its members are not known before the end. */
  readonly waits: boolean;
  readonly stored: boolean;
  /** For the current row. */
  row: Gathered;
  made: Made;
  rowEnds: readonly End[];
}

/** An output, and the text behind the objects of the statements that it gets: graph, point and line feed. */
type End = readonly [output: number, text: string];

/** A statement pattern whose object is the head of a collection that waits. */
interface WaitingRule {
  readonly part: Part;
  readonly output: OutputText;
  readonly ends: VaryingAffixes;
}

/** A join that finds members at the end. */
interface WaitingJoin {
  readonly probe: ProbeSide;
  keys: Text;
}

/** What is stored of a row: its subjects, the text around the head in each waiting statement, and its collections. */
type StoredRow = readonly [
  subjects: readonly string[],
  ends: readonly (readonly [leads: readonly string[], tails: readonly string[]])[],
  parts: readonly (readonly [gathered: Gathered, ends: readonly End[]])[],
];

const NOTHING: Made = { heads: [], collections: [] };

/** Tags of stored lines, in this order behind the place of a row: the row itself, and its members from joins. */
const ROW = '0';
const MEMBER = '1';

export class CollectProgram implements RowCollects, Ending {
  readonly rows: Accessors;
  readonly #state: CollectState;
  readonly #owner: StatementOwner;
  readonly #order: Accessors['order'];
  readonly #parts: readonly Part[];
  readonly #joins: WaitingJoin[] = [];
  readonly joins: JoinCount[] = [];
  /** Those of `joins` that look up each row. */
  readonly #probed: JoinCount[] = [];
  readonly #name: string;
  readonly #rules: WaitingRule[] = [];
  readonly #sorter: LineSorter;
  /** The collection of the subject, which is read with it. */
  readonly #subject: Part | undefined;
  /** A collection belongs to several of the parts: it is stated once. */
  readonly #shared: boolean;

  constructor({ map, collects, subject }: MapPlan, rows: Accessors, state: CollectState, owner: StatementOwner) {
    this.#state = state;
    this.#name = map.name;
    this.#owner = owner;
    this.#order = rows.order;
    const parts = collects.map((plan) => this.#partOf(plan, rows));
    const all = collects.flatMap(({ collection }) => collectionsIn(collection));
    this.#shared = new Set(all).size < all.length;
    // What is shared is stated once: all of it at the end, if some of it is.
    this.#parts = this.#shared && parts.some(({ stored }) => stored) ? parts.map((part) => ({ ...part, stored: true })) : parts;
    this.#subject = this.#parts.find(({ plan }) => subject.kind === 'head' && subject.collection === plan.collection);
    this.#sorter = new LineSorter(state.budget, state.space);
    this.rows = { ...rows, heads: (collection) => this.#headsOf(collection) ?? rows.heads(collection) };
    if (this.#parts.some(({ stored }) => stored)) state.endings.push(this);
  }

  #partOf(plan: CollectPlan, rows: Accessors): Part {
    const { collection, places, joins } = plan;
    const waits = joins.some((join) => mustWait(join, this.#state));
    const joined = (operator: Join): TokensOf => {
      const planned = joins.find((one) => one.operator === operator) as PlannedJoin;
      const count = new JoinCount(operator, this.#name, this.#state.joinIndexes[planned.join] as Multimap);
      const probe = new ProbeSide(planned, rows, this.#state, count, waits);
      if (operator.on.length > 0) this.joins.push(count);
      if (waits) this.#joins.push({ probe, keys: null });
      else this.#probed.push(count);
      return waits
        ? () => []
        : (record, position) => textsIn(probe.find(probe.keys(record, position))).flatMap((row) => parentOf(row).tokens);
    };
    return {
      plan,
      gathered: compileCollection(collection, rows, joined),
      ends: places.map(({ graph, output }) => ({ output, texts: endsOf(graph, rows) })),
      waits,
      stored: waits || (rows.unordered === true && spansRows(collection)),
      row: { heads: [], members: [] },
      made: NOTHING,
      rowEnds: [],
    };
  }

  #headsOf(collection: Collection): TextOf | undefined {
    const part = this.#parts.find(({ plan }) => plan.collection === collection);
    if (part === undefined) return undefined;
    if (part !== this.#subject) return () => textOf(part.made.heads);
    return (record, position) => {
      readPart(part, record, position);
      return textOf(part.made.heads);
    };
  }

  takes(rule: RulePlan): boolean {
    const { object } = rule;
    if (object.kind !== 'term' || object.term.kind !== 'head') return false;
    const { collection } = object.term;
    const part = this.#parts.find(({ plan, waits }) => waits && plan.collection === collection);
    if (part === undefined) return false;
    const output = this.#state.outputs[rule.output] as OutputText;
    const { lead, tail } = compileAffixes(rule, this.rows, output);
    this.#rules.push({ part, output, ends: new VaryingAffixes(lead, tail) });
    return true;
  }

  get count(): number {
    return this.#parts.length + this.#rules.length;
  }

  read(record: unknown, position: number): void {
    for (const part of this.#parts) {
      if (part !== this.#subject) readPart(part, record, position);
      part.rowEnds = part.ends.flatMap(({ output, texts }) => texts(record, position).map((text): End => [output, text]));
      if (part.rowEnds.length > 1) part.rowEnds = [...new Map(part.rowEnds.map((end) => [end.join(), end])).values()];
    }
    for (const { ends } of this.#rules) ends.read(record, position);
    for (const count of this.#probed) count.settle();
    for (const join of this.#joins) join.keys = join.probe.keys(record, position);
  }

  with(made: MadeStatements, subjects: readonly string[], position: number): MadeStatements {
    if (this.#parts.some(({ stored }) => stored)) this.#store(subjects, position);
    let count = 0;
    for (const { stored, made: own, rowEnds } of this.#parts)
      if (!stored) for (const one of own.collections) count += (one.count + 1) * rowEnds.length;
    if (count === 0) return made;
    const own = this.#stated(this.#parts.filter(({ stored }) => !stored));
    if (made !== undefined || count > PIECE_STATEMENTS) return chain(made, own);
    for (const _ of own);
    return undefined;
  }

  /** Writes what is stated of collections, in pieces. */
  *#stated(parts: readonly Pick<Part, 'plan' | 'made' | 'rowEnds'>[]): Generator<''> {
    const stated = this.#shared ? new Set<string>() : undefined;
    const { trace } = this.#state;
    let count = 0;
    for (const { plan, made, rowEnds } of parts) {
      for (const [number, end] of rowEnds) {
        const output = this.#state.outputs[number] as OutputText;
        for (const one of made.collections) {
          if (stated !== undefined) {
            const key = `${one.collection.number} ${number} ${one.head}${end}`;
            if (stated.has(key)) continue;
            stated.add(key);
          }
          for (const line of this.#linesOf(one, number, end)) {
            if (trace !== undefined && line.includes(QUOTE_START)) trace.quotes(line);
            if (plan.overlapping) this.#owner.once(output, line);
            else {
              output.addLine(line);
              this.#owner.quads++;
            }
            if (++count % PIECE_STATEMENTS === 0) yield '';
          }
        }
      }
    }
  }

  #linesOf(one: MadeCollection, output: number, end: string): Iterable<string> {
    return one.collection.head === undefined ? statementsOf(one, end) : (this.#state.numberings[output] as Numbering).add(one, end);
  }

  // -------------------------------------------------------------- the end

  #store(subjects: readonly string[], position: number): void {
    const place = this.#order(position);
    for (const { probe, keys } of this.#joins) if (keys !== null) probe.store(keys, place);
    const row: StoredRow = [
      this.#rules.length === 0 ? [] : subjects,
      this.#rules.map(({ ends }) => [textsIn(ends.lead), textsIn(ends.tail)]),
      this.#parts.filter(({ stored }) => stored).map((part) => [part.row, part.rowEnds]),
    ];
    this.#sorter.add(`${place} ${ROW} ${JSON.stringify(row)}\n`);
  }

  /** Writes the statements of all stored rows, in the order of the rows and in pieces. */
  async *end(memory: PairingMemory): AsyncIterable<''> {
    for (const [number, { probe }] of this.#joins.entries()) {
      for await (const [place, found] of probe.pairs(memory)) {
        for (const parent of found) {
          const { order, tokens } = parentOf(parent);
          this.#sorter.add(`${place} ${MEMBER} ${String(number).padStart(4, '0')} ${order} ${JSON.stringify(tokens)}\n`);
        }
        yield '';
      }
    }
    let row: StoredRow | undefined;
    let members: string[][] = [];
    for await (const batch of this.#sorter.sorted()) {
      for (const line of batch) {
        const [place, tag] = [line.slice(0, line.indexOf(' ')), line[line.indexOf(' ') + 1]];
        const text = line.slice(place.length + 3);
        if (tag === ROW) {
          if (row !== undefined) yield* this.#stored(row);
          row = JSON.parse(text) as StoredRow;
          members = this.#membersIn(row);
        } else (members[Number(text.slice(0, 4))] as string[]).push(...(JSON.parse(text.slice(text.indexOf(' ', 5) + 1)) as string[]));
      }
    }
    if (row !== undefined) yield* this.#stored(row);
  }

  /** Writes what a stored row states, in pieces. */
  *#stored([subjects, ends, parts]: StoredRow): Generator<''> {
    const stored = this.#parts.filter((part) => part.stored);
    const made = stored.map((part, i) => {
      const [row, rowEnds] = parts[i] as StoredRow[2][number];
      return { part, plan: part.plan, made: make(part.plan.collection, row), rowEnds };
    });
    for (const [i, { part, output }] of this.#rules.entries()) {
      const [leads, tails] = ends[i] as StoredRow[1][number];
      const heads = made.find((one) => one.part === part)?.made.heads ?? [];
      for (const subject of subjects)
        for (const lead of leads)
          for (const head of heads)
            for (const tail of tails) {
              this.#owner.once(output, subject + lead + head + tail);
              yield '';
            }
    }
    yield* this.#stated(made);
  }

  /** The lists of a stored row that its joins fill, in the order of the joins. */
  #membersIn([, , parts]: StoredRow): string[][] {
    return this.#parts
      .filter(({ stored }) => stored)
      .flatMap(({ plan, waits }, i) => (waits ? joinedIn(plan.collection, (parts[i] as StoredRow[2][number])[0]) : []));
  }
}

/** The text behind the objects of statements in a graph. */
function endsOf(graph: CollectPlan['places'][number]['graph'], rows: Accessors): TokensOf {
  if (graph === undefined) return () => [' .\n'];
  const tokens = tokensOf(graph, rows);
  return (record, position) => tokens(record, position).map((token) => ` ${token} .\n`);
}

function readPart(part: Part, record: unknown, position: number): void {
  part.row = part.gathered(record, position);
  part.made = part.waits ? NOTHING : make(part.plan.collection, part.row);
}

const textsIn = (text: Text): readonly string[] => (text === null ? [] : listOf(text));

const joinedIn = ({ members }: Collection, row: Gathered): string[][] =>
  members.flatMap((member, i) => {
    const found = row.members[i] as Gathered['members'][number];
    if (member.kind === 'gather') return joinedIn(member.collection, found as Gathered);
    return member.kind === 'joined' ? [found as string[]] : [];
  });

function* chain(made: MadeStatements, more: Iterable<''>): Generator<''> {
  yield* made ?? [];
  yield* more;
}

/** A row of the parent: its place among the others, and its subjects. */
function parentOf(text: string): { readonly order: string; readonly tokens: readonly string[] } {
  const [tokens, order] = unpackRow(text);
  return { order: order as string, tokens: listOf(tokens as string | string[]) };
}
