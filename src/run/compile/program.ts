/**
 * Plan → program: a triples map as closures over the readers of its scan. The record only flows.
 *
 * For each record all terms are made first, and only then statements: a record that gives no valid term leaves nothing behind.
 */
import type { TriplesMap } from '../../mapping/model/model.ts';
import type { MapPlan } from '../../plan/plan.ts';
import { type Accessors, type CompiledTerm, compileTerm, type Text, type TextOf } from '../../terms/generate.ts';
import { HashSet, KNOWN, type MemoryBudget, NEW, SubjectTable, UNDECIDED, type Verdict } from '../distinct/distinct.ts';
import type { Multimap } from '../join/join.ts';
import { aroundOf, childrenOf, type DeferredJoin, Ends } from './ends.ts';
import { type CompiledRule, compileEnds, compileKeys, compileRule, type ParentLists, termContext } from './rule.ts';
import { countOf, distinct, listOf, PIECE_STATEMENTS } from './texts.ts';

/** What the programs of a run share. */
export interface RunState {
  readonly base: string;
  readonly distinct: boolean;
  readonly seed: number;
  readonly budget: MemoryBudget;
  /** Statements of rules that others can meet. */
  readonly overlapping: HashSet;
  /** By join: the parent's subjects. */
  readonly joinIndexes: readonly Multimap[];
  readonly openMultimap: () => Multimap;
  /** Joins that wait for the end of both sides. */
  readonly deferred: DeferredJoin[];
  /** Takes a line that no table could decide. */
  readonly undecided: (line: string) => void;
  /** Takes each subject of a triples map, some of them more than once; undefined: nobody asks. */
  readonly subject: ((token: string) => void) | undefined;
  /** Takes the lines of a record whose subject no table could decide. */
  readonly undecidedSubject: (subject: string, lines: string) => void;
}

/** Of a subject's statements that wait for the spill. */
const WAITING_CHARACTERS = 1 << 16;

/** What the subject table says of a subject; without a table, nobody watches. */
type Seen = Verdict | typeof UNWATCHED;
const UNWATCHED = -1;

/** A rule whose statements are made at the end of both sides of its join. */
interface DeferredRule {
  readonly join: DeferredJoin;
  readonly keys: TextOf;
  /** Position of the key among what the subject table remembers; -1 where predicate or graph come from data. */
  readonly slot: number;
  readonly ends: Ends;
}

/** A rule with constant text around its objects, or with `ends` of its own for each record. */
interface Rule extends Omit<CompiledRule, 'lead' | 'tail'> {
  readonly lead: string;
  readonly tail: string;
  readonly ends: Ends | undefined;
}

export class MapProgram {
  readonly triplesMap: TriplesMap;
  /** Its records are the pairs of rows that a database has joined. */
  readonly ofPairs: boolean;
  records = 0;
  quads = 0;
  rejected = 0;
  /** Records for which the subject had no value. */
  withoutSubject = 0;
  /** Statements that wait in the spill: some may turn out to be new. */
  undecided = 0;
  /** What may help when there was no record. */
  hint: string | undefined;
  /** Whether a statement was left out because it had been made before. */
  repeated = false;

  readonly #state: RunState;
  readonly #subject: CompiledTerm;
  readonly #guards: readonly TextOf[];
  readonly #rules: readonly Rule[];
  readonly #deferred: readonly DeferredRule[];
  readonly #texts: Text[];
  readonly #keys: Text[];
  readonly #table: SubjectTable | undefined;
  readonly #statements: HashSet;
  /** Whether some predicate or graph is not constant. */
  readonly #varies: boolean;
  #listSet: { readonly index: Multimap; readonly number: number; readonly texts: ReadonlySet<string> } | undefined;
  /** Statements of the subject at hand that the full subject table leaves undecided. */
  #waiting = '';

  constructor(plan: MapPlan, accessors: Accessors, state: RunState) {
    const { triplesMap } = plan;
    const context = termContext(triplesMap, accessors, state.base);
    const { source, guards = [] } = triplesMap;
    this.triplesMap = triplesMap;
    this.ofPairs = source.kind === 'sql' && source.content.kind === 'join';
    this.#guards = guards.map((guard) => compileTerm(guard, context).text);
    this.#state = state;
    this.#subject = compileTerm(triplesMap.subject, context);
    const rules: Rule[] = [];
    const deferred: DeferredRule[] = [];
    let slots = 0;
    for (const rule of plan.rules) {
      const { object } = rule;
      const parents = object.kind === 'join' ? state.joinIndexes[object.join] : undefined;
      if (object.kind === 'join' && (object.deferred || parents?.spilled === true)) {
        const { lead, tail } = compileEnds(rule, context);
        const ends = new Ends(lead, tail);
        const own = ends.constant ? (tail as string) : undefined;
        const join: DeferredJoin = { join: object.join, children: state.openMultimap(), tail: own, program: this };
        state.deferred.push(join);
        deferred.push({ join, keys: compileKeys(object.keys, context), slot: ends.constant ? slots++ : -1, ends });
        continue;
      }
      const { lead, tail, text } = compileRule(rule, context, parents);
      const overlapping = rule.distinct === 'overlapping';
      const slot = overlapping || rule.functionallyDependent ? -1 : slots++;
      const lists = overlapping || parents === undefined ? undefined : { index: parents, slot: slots++ };
      const common = { text, slot, overlapping, lists, joined: parents !== undefined };
      if (typeof lead === 'string' && typeof tail === 'string') rules.push({ ...common, lead, tail, ends: undefined });
      else rules.push({ ...common, lead: '', tail: '', ends: new Ends(lead, tail) });
    }
    this.#rules = rules;
    this.#deferred = deferred;
    this.#varies = rules.some(({ ends }) => ends !== undefined) || deferred.some(({ ends }) => !ends.constant);
    this.#texts = new Array(rules.length).fill(null);
    this.#keys = new Array(deferred.length).fill(null);
    this.#statements = new HashSet(state.budget, state.seed);
    const watched = !plan.unique && (deferred.some(({ slot }) => slot >= 0) || rules.some((rule) => !rule.overlapping));
    this.#table = state.distinct && watched ? new SubjectTable(state.budget, state.seed, slots) : undefined;
  }

  /**
   * The statements of a record, as lines; of one with very many in pieces, to be taken before the next record.
   *
   * @throws Fault record/term — and then nothing of the record is kept
   */
  map(record: unknown, position: number): string | Iterable<string> {
    this.records++;
    const rules = this.#rules;
    const texts = this.#texts;
    const subject = this.#subject.text(record, position);
    if (subject === null) {
      this.withoutSubject++;
      return '';
    }
    const guards = this.#guards;
    for (let i = 0; i < guards.length; i++) (guards[i] as TextOf)(record, position);
    // A record of the common kind has one text for each term, between constant predicates and graphs.
    let several = typeof subject !== 'string' || this.#varies;
    for (let i = 0; i < rules.length; i++) {
      const rule = rules[i] as Rule;
      const text = rule.text(record, position);
      if (text === null || typeof text === 'string') texts[i] = text;
      else {
        several = true;
        texts[i] = rule.joined ? text : distinct(text);
      }
    }
    const deferred = this.#deferred;
    for (let i = 0; i < deferred.length; i++) {
      const text = (deferred[i] as DeferredRule).keys(record, position);
      if (text === null || typeof text === 'string') this.#keys[i] = text;
      else {
        several = true;
        this.#keys[i] = distinct(text);
      }
    }
    if (this.#varies) {
      for (let i = 0; i < rules.length; i++) (rules[i] as Rule).ends?.read(record, position);
      for (let i = 0; i < deferred.length; i++) (deferred[i] as DeferredRule).ends.read(record, position);
    }
    if (!several) return this.#emit(subject as string);
    const subjects = listOf(distinct(subject) as string | readonly string[]);
    if (this.#count() * subjects.length > PIECE_STATEMENTS) return this.#emitInPieces(subjects);
    let lines = '';
    if (this.#varies) for (const piece of this.#emitInPieces(subjects)) lines += piece;
    else for (const one of subjects) lines += this.#emit(one);
    return lines;
  }

  /** A line that the run may hold already; empty when it does. */
  once(line: string): string {
    if (!this.#state.distinct) {
      this.quads++;
      return line;
    }
    const verdict = this.#state.overlapping.add(line);
    return this.#decided(verdict, line);
  }

  get ruleCount(): number {
    return this.#rules.length + this.#deferred.length;
  }

  /** Gives back the memory of what only this triples map can repeat; after the last of its records. */
  finish(): void {
    this.#table?.drop();
    this.#statements.drop();
  }

  #decided(verdict: Verdict, line: string): string {
    if (verdict === NEW) {
      this.quads++;
      return line;
    }
    if (verdict === UNDECIDED) {
      this.undecided++;
      this.#state.undecided(line);
    } else this.repeated = true;
    return '';
  }

  /** Statements of each subject, and entries of sides of joins. */
  #count(): number {
    let count = 0;
    for (let i = 0; i < this.#rules.length; i++) {
      const { ends } = this.#rules[i] as Rule;
      const around = ends === undefined ? 1 : countOf(ends.lead) * countOf(ends.tail);
      count += countOf(this.#texts[i] as Text) * around;
    }
    for (let i = 0; i < this.#deferred.length; i++) {
      const { ends } = this.#deferred[i] as DeferredRule;
      count += countOf(this.#keys[i] as Text) * countOf(ends.lead) * countOf(ends.tail);
    }
    return count;
  }

  /** The lines of a subject; predicates and graphs are constant. */
  #emit(subject: string): string {
    const token = this.#subject.before + subject + this.#subject.after;
    const seen = this.#enter(subject, token);
    for (let i = 0; i < this.#deferred.length; i++) {
      const rule = this.#deferred[i] as DeferredRule;
      this.#deferKeys(rule, token + rule.ends.lead, this.#keys[i] as Text, seen);
    }
    const rules = this.#rules;
    let lines = '';
    for (let i = 0; i < rules.length; i++) {
      const rule = rules[i] as Rule;
      const text = this.#texts[i] as Text;
      if (text === null) continue;
      if (typeof text === 'string' && (rule.lists === undefined || seen === NEW)) lines += this.#statement(rule, token, text, seen, true);
      else {
        const list = listOf(text);
        lines += this.#several(rule, token, list, 0, list.length, seen);
      }
    }
    if (this.#waiting !== '') this.#leave(token);
    return lines;
  }

  /** As `#emit`, for any predicates and graphs, and for a record that has more statements than memory should hold. */
  *#emitInPieces(subjects: readonly string[]): Iterable<string> {
    for (const subject of subjects) {
      const token = this.#subject.before + subject + this.#subject.after;
      const seen = this.#enter(subject, token);
      for (let i = 0; i < this.#deferred.length; i++) {
        const rule = this.#deferred[i] as DeferredRule;
        for (const child of rule.ends.constant ? [token + rule.ends.lead] : childrenOf(rule.ends, token)) {
          this.#deferKeys(rule, child, this.#keys[i] as Text, seen);
          yield '';
        }
      }
      for (let i = 0; i < this.#rules.length; i++) {
        const rule = this.#rules[i] as Rule;
        const text = this.#texts[i] as Text;
        if (text === null) continue;
        const list = listOf(text);
        for (let from = 0; from < list.length; from += PIECE_STATEMENTS) {
          const to = Math.min(list.length, from + PIECE_STATEMENTS);
          if (rule.ends === undefined) yield this.#several(rule, token, list, from, to, seen);
          else for (const [before, tail] of aroundOf(rule.ends, token)) yield this.#between(before, list, from, to, tail);
        }
      }
      if (this.#waiting !== '') this.#leave(token);
    }
  }

  #enter(subject: string, token: string): Seen {
    const seen = this.#table === undefined ? UNWATCHED : this.#table.enter(subject);
    if (seen !== KNOWN) this.#state.subject?.(token);
    return seen;
  }

  /** Leaves what waits of a subject to the spill. */
  #leave(token: string): void {
    this.undecided++;
    this.#state.undecidedSubject(token, this.#waiting);
    this.#waiting = '';
  }

  /** Leaves a child's text with its keys, unless the subject's first record has done so. */
  #deferKeys({ join, slot }: DeferredRule, child: string, keys: Text, seen: Seen): void {
    if (keys === null) return;
    if (typeof keys !== 'string') {
      for (const key of keys) join.children.add(key, child);
      return;
    }
    if (slot >= 0 && seen === KNOWN && (this.#table as SubjectTable).firstHad(slot, keys)) return;
    if (slot >= 0 && seen === NEW) (this.#table as SubjectTable).remember(slot, keys);
    join.children.add(keys, child);
  }

  /** The lines of a subject with some of a rule's objects, those of a list from `from` on and before `to`. */
  #several(rule: Rule, token: string, list: readonly string[], from: number, to: number, seen: Seen): string {
    let lines = '';
    if (rule.lists !== undefined && (seen === NEW || seen === KNOWN)) return this.#joined(rule, rule.lists, token, list, from, to, seen);
    for (let k = from; k < to; k++) {
      lines += this.#statement(rule, token, list[k] as string, seen, k === 0);
      if (this.#waiting.length >= WAITING_CHARACTERS) this.#leave(token);
    }
    return lines;
  }

  /** The lines of some objects between two texts. */
  #between(before: string, list: readonly string[], from: number, to: number, tail: string): string {
    let lines = '';
    for (let k = from; k < to; k++) lines += this.once(before + list[k] + tail);
    return lines;
  }

  /**
   * The lines of a join for a subject. The parents of a key are one list, distinct in itself: the first record's list is written
   * without a look and remembered by its number, and the same list again is a repetition as a whole.
   */
  #joined(
    rule: Rule,
    { index, slot }: ParentLists,
    token: string,
    list: readonly string[],
    from: number,
    to: number,
    seen: typeof NEW | typeof KNOWN,
  ): string {
    const table = this.#table as SubjectTable;
    // A single parent is no list of the index.
    const number = list.length === 1 ? -1 : index.numberOf(list);
    let lines = '';
    if (seen === NEW && number >= 0) {
      table.rememberNumber(slot, number + 1);
      for (let k = from; k < to; k++) lines += token + rule.lead + list[k] + rule.tail;
      this.quads += to - from;
      return lines;
    }
    const remembered = seen === KNOWN ? table.rememberedNumber(slot) - 1 : -1;
    if (remembered >= 0 && remembered === number) return '';
    const had = remembered >= 0 ? this.#listAsSet(index, remembered) : undefined;
    for (let k = from; k < to; k++) {
      const one = list[k] as string;
      if (had === undefined || !had.has(one)) lines += this.#statement(rule, token, one, seen, k === 0);
    }
    return lines;
  }

  /** The set of a list; the last one is kept, since records of a subject often stand together. */
  #listAsSet(index: Multimap, number: number): ReadonlySet<string> {
    if (this.#listSet?.index !== index || this.#listSet.number !== number)
      this.#listSet = { index, number, texts: new Set(index.list(number)) };
    return this.#listSet.texts;
  }

  /** The line of a statement, or nothing where the run has it already or cannot decide yet. */
  #statement(rule: Rule, token: string, text: string, seen: Seen, first: boolean): string {
    if (rule.overlapping) return this.once(token + rule.lead + text + rule.tail);
    const table = this.#table as SubjectTable;
    if (seen === KNOWN || (seen === NEW && !first)) {
      if (rule.slot < 0 || table.firstHad(rule.slot, text)) return '';
      const verdict = table.addStatement(rule.slot, this.#statements);
      return verdict === KNOWN ? '' : this.#decided(verdict, token + rule.lead + text + rule.tail);
    }
    const line = token + rule.lead + text + rule.tail;
    if (seen === UNDECIDED) {
      this.#waiting += line;
      return '';
    }
    if (seen === NEW && rule.slot >= 0) table.remember(rule.slot, text);
    this.quads++;
    return line;
  }
}
