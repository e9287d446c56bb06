/**
 * Plan → program: a triples map as closures over the readers of its scan. The record only flows.
 *
 * For each record all terms are made first, and only then statements: a record that gives no valid term leaves nothing behind.
 */
import { Fault } from '../fault.ts';
import type { TriplesMap } from '../mapping/model.ts';
import type { JoinPlan, MapPlan } from '../plan/plan.ts';
import { type CompiledTerm, compileTerm, type Readers, type Text, type TextOf } from '../terms/generate.ts';
import { type CompiledRule, compileKeys, compileRule, endOf, isPlain, type ParentLists, termContext } from './compile.ts';
import { HashSet, KNOWN, type MemoryBudget, NEW, SubjectTable, UNDECIDED, type Verdict } from './distinct.ts';
import type { KeyedTexts } from './join.ts';

/** What the programs of a run share. */
export interface RunState {
  readonly base: string;
  readonly distinct: boolean;
  readonly seed: number;
  readonly budget: MemoryBudget;
  /** Statements of rules that others can meet. */
  readonly shared: HashSet;
  /** By join: the parent's subjects. */
  readonly parents: readonly KeyedTexts[];
  readonly keyedTexts: () => KeyedTexts;
  /** Joins that wait for the end of both sides. */
  readonly deferred: DeferredJoin[];
  /** Takes a line that no table could decide. */
  readonly undecided: (line: string) => void;
  /** Takes each subject of a triples map, some of them more than once; undefined: nobody asks. */
  readonly subject: ((token: string) => void) | undefined;
  /** Takes the lines of a record whose subject no table could decide. */
  readonly undecidedSubject: (subject: string, lines: string) => void;
}

/** The child side of a join whose pairs are made at the end: what stands before the parent's subject, by key. */
export interface DeferredJoin {
  readonly join: number;
  readonly children: KeyedTexts;
  /** What follows the parent's subject. */
  readonly tail: string;
  /** Where statements are counted. */
  readonly program: MapProgram;
}

/** What the subject table says of a subject; without a table, nobody watches. */
type Seen = Verdict | typeof UNWATCHED;
const UNWATCHED = -1;

/** A rule whose statements are made at the end of both sides of its join. */
interface DeferredRule {
  readonly join: DeferredJoin;
  readonly lead: string;
  readonly keys: TextOf;
  /** Position of the key among what the subject table remembers. */
  readonly slot: number;
}

export class MapProgram {
  readonly triplesMap: TriplesMap;
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
  readonly #rules: readonly CompiledRule[];
  readonly #deferred: readonly DeferredRule[];
  readonly #texts: Text[];
  readonly #table: SubjectTable | undefined;
  readonly #statements: HashSet;
  #listSet: { readonly index: KeyedTexts; readonly number: number; readonly texts: ReadonlySet<string> } | undefined;
  /** Statements of the subject at hand that the full subject table leaves undecided. */
  #waiting = '';

  constructor(plan: MapPlan, joins: readonly JoinPlan[], readers: Readers, state: RunState) {
    const { triplesMap } = plan;
    const context = termContext(triplesMap, readers, state.base);
    this.triplesMap = triplesMap;
    this.#state = state;
    this.#subject = compileTerm(triplesMap.subject, context);
    const rules: CompiledRule[] = [];
    const deferred: DeferredRule[] = [];
    let slots = 0;
    for (const rule of plan.rules) {
      const { object } = rule;
      if (object.kind === 'join' && (object.deferred || state.parents[object.join]?.spilled === true) && isPlain(rule)) {
        const predicate = compileTerm(rule.predicate, context).constant as string;
        const waiting: DeferredJoin = { join: object.join, children: state.keyedTexts(), tail: endOf(rule, context), program: this };
        state.deferred.push(waiting);
        deferred.push({ join: waiting, lead: ` ${predicate} `, keys: compileKeys(object.keys, context), slot: slots++ });
        continue;
      }
      const parents = object.kind === 'join' ? state.parents[object.join] : undefined;
      const compiled = compileRule(rule, context, parents, joins);
      const shared = rule.distinct === 'shared';
      const slot = shared || rule.determined ? -1 : slots++;
      const lists = shared || parents === undefined ? undefined : { index: parents, slot: slots++ };
      rules.push({ ...compiled, slot, shared, lists });
    }
    this.#rules = rules;
    this.#deferred = deferred;
    this.#texts = new Array(rules.length).fill(null);
    this.#statements = new HashSet(state.budget, state.seed);
    const watched = !plan.unique && (deferred.length > 0 || rules.some((rule) => !rule.shared));
    this.#table = state.distinct && watched ? new SubjectTable(state.budget, state.seed, slots) : undefined;
  }

  /**
   * The statements of a record, as lines.
   *
   * @throws Fault record/term — and then nothing of the record is kept
   */
  map(record: unknown, position: number): string {
    this.records++;
    const rules = this.#rules;
    const texts = this.#texts;
    const subject = this.#subject.text(record, position);
    if (subject === null) {
      this.withoutSubject++;
      return '';
    }
    for (let i = 0; i < rules.length; i++) texts[i] = (rules[i] as CompiledRule).text(record, position);
    const keys = this.#deferred.map(({ keys }) => keys(record, position));
    let lines = '';
    if (typeof subject === 'string') lines = this.#emit(subject, keys);
    else for (const one of subject) lines += this.#emit(one, keys);
    return lines;
  }

  /** A line that the run may hold already; empty when it does. */
  once(line: string): string {
    if (!this.#state.distinct) {
      this.quads++;
      return line;
    }
    const verdict = this.#state.shared.add(line);
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

  #emit(subject: string, keys: readonly Text[]): string {
    const token = this.#subject.before + subject + this.#subject.after;
    const seen = this.#table === undefined ? UNWATCHED : this.#table.enter(subject);
    if (seen !== KNOWN) this.#state.subject?.(token);
    for (let i = 0; i < keys.length; i++) this.#defer(this.#deferred[i] as DeferredRule, token, keys[i] as Text, seen);
    const rules = this.#rules;
    let lines = '';
    for (let i = 0; i < rules.length; i++) {
      const rule = rules[i] as CompiledRule;
      const text = this.#texts[i] as Text;
      if (text === null) continue;
      if (rule.lists !== undefined && (seen === NEW || seen === KNOWN)) lines += this.#joined(rule, rule.lists, token, text, seen);
      else if (typeof text === 'string') lines += this.#statement(rule, token, text, seen, true);
      else {
        const texts = seen === UNDECIDED ? [...new Set(text)] : text;
        for (let k = 0; k < texts.length; k++) lines += this.#statement(rule, token, texts[k] as string, seen, k === 0);
      }
    }
    if (this.#waiting !== '') {
      this.undecided++;
      this.#state.undecidedSubject(token, this.#waiting);
      this.#waiting = '';
    }
    return lines;
  }

  /** Leaves the subject with its key, unless the subject's first record has done so. */
  #defer({ join, lead, slot }: DeferredRule, token: string, key: Text, seen: Seen): void {
    if (key === null) return;
    if (typeof key !== 'string') {
      for (const one of key) join.children.add(one, token + lead);
      return;
    }
    if (seen === KNOWN && (this.#table as SubjectTable).firstHad(slot, key)) return;
    if (seen === NEW) (this.#table as SubjectTable).remember(slot, key);
    join.children.add(key, token + lead);
  }

  /**
   * The lines of a join for a subject. The parents of a key are one list, distinct in itself: the first record's list is written
   * without a look and remembered by its number, and the same list again is a repetition as a whole.
   */
  #joined(rule: CompiledRule, { index, slot }: ParentLists, token: string, text: string | readonly string[], seen: Seen): string {
    const table = this.#table as SubjectTable;
    const number = typeof text === 'string' ? -1 : index.numberOf(text);
    let lines = '';
    if (seen === NEW && number >= 0) {
      table.rememberNumber(slot, number + 1);
      for (const one of text) lines += token + rule.lead + one + rule.tail;
      this.quads += text.length;
      return lines;
    }
    const remembered = seen === KNOWN ? table.rememberedNumber(slot) - 1 : -1;
    if (remembered >= 0 && remembered === number) return '';
    const texts = typeof text === 'string' ? [text] : text;
    const had = remembered >= 0 ? this.#listAsSet(index, remembered) : undefined;
    for (let k = 0; k < texts.length; k++) {
      const one = texts[k] as string;
      if (had === undefined || !had.has(one)) lines += this.#statement(rule, token, one, seen, k === 0);
    }
    return lines;
  }

  /** The set of a list; the last one is kept, since records of a subject often stand together. */
  #listAsSet(index: KeyedTexts, number: number): ReadonlySet<string> {
    if (this.#listSet?.index !== index || this.#listSet.number !== number)
      this.#listSet = { index, number, texts: new Set(index.list(number)) };
    return this.#listSet.texts;
  }

  /** The line of a statement, or nothing where the run has it already or cannot decide yet. */
  #statement(rule: CompiledRule, token: string, text: string, seen: Seen, first: boolean): string {
    if (rule.shared) return this.once(token + rule.lead + text + rule.tail);
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

/** Fills the parent side of a join from the parent's records. */
export class JoinFill {
  readonly parent: TriplesMap;
  readonly #index: KeyedTexts;
  readonly #subject: CompiledTerm;
  readonly #keys: TextOf;

  constructor(join: JoinPlan, readers: Readers, state: RunState) {
    const context = termContext(join.parent, readers, state.base);
    this.parent = join.parent;
    this.#index = state.parents[join.index] as KeyedTexts;
    this.#subject = compileTerm(join.parent.subject, context);
    this.#keys = compileKeys(join.keys, context);
  }

  /** @throws Fault record/term — of the key; a record without a valid subject is passed over: the triples map itself reports it */
  add(record: unknown, position: number): void {
    const keys = this.#keys(record, position);
    if (keys === null) return;
    const subjects = this.#subjectsOf(record, position);
    if (subjects === null) return;
    const { before, after } = this.#subject;
    for (const subject of typeof subjects === 'string' ? [subjects] : subjects) {
      for (const key of typeof keys === 'string' ? [keys] : keys) this.#index.add(key, before + subject + after);
    }
  }

  #subjectsOf(record: unknown, position: number): Text {
    try {
      return this.#subject.text(record, position);
    } catch (error) {
      if (error instanceof Fault && error.code === 'record/term') return null;
      throw error;
    }
  }
}
