/**
 * Plan → program: a triples map as closures over the accessors of its scan. All decisions are made while compiling.
 *
 * For each record all terms are made first, and only then statements: a record with an invalid term leaves nothing behind.
 */
import type { CustomFunctions } from '../../functions/definition.ts';
import { type DatatypeCheck, type ErrorPolicy, formatOrigin, leavesObjectsOut } from '../../mapping/model/model.ts';
import { reifiedLines } from '../../nquads/reified.ts';
import { QUOTE_START, subjectAt } from '../../nquads/terms.ts';
import type { Join, MapInfo, Scan } from '../../plan/algebra.ts';
import { leavesOfMap, type MapPlan, mayQuote, type RulePlan } from '../../plan/plan.ts';
import type { MemoryBudget } from '../../spill/budget.ts';
import { KNOWN, NEW, UNDECIDED, type Verdict } from '../../spill/key-table.ts';
import type { Multimap } from '../../spill/multimap.ts';
import { type CompiledTerm, compileTerm } from '../../terms/encode.ts';
import type { Accessors, Text, TextOf } from '../../terms/evaluate.ts';

import type { StatementSet, Subjects } from '../distinct/distinct.ts';
import type { Occurrences } from '../distinct/occurrences.ts';
import { valueText } from '../distinct/spill.ts';
import { JoinCount } from '../join/counts.ts';
import type { RowTrace } from '../request.ts';
import { affixPairs, VaryingAffixes } from './affixes.ts';
import { DeferredObjects, type Ending } from './deferred-objects.ts';
import { checked, Flaws, isReportedElsewhere } from './flaws.ts';
import { keptOf, type OutputPattern, type OutputText, type StatementOwner, textOf, textsOf } from './output.ts';
import { type JoinState, ProbeSide } from './probe-side.ts';
import { type CompiledRule, compileAffixes, compileRule, type ParentLists } from './rule.ts';
import { countOf, distinct, listOf, PIECE_STATEMENTS } from './texts.ts';

/** State shared by the programs of a run. */
export interface RunState extends JoinState {
  readonly functions: CustomFunctions | undefined;
  /** Tells equal rows of a scan apart, for blank nodes that are named by the content of rows. undefined: they are named by positions. */
  readonly occurrencesOf: ((scan: Scan) => Occurrences) | undefined;
  /** undefined: the default of each triples map's language. */
  readonly datatypeCheck: DatatypeCheck | undefined;
  /** undefined, too. */
  readonly onError: ErrorPolicy | undefined;
  readonly distinct: boolean;
  readonly seed: number;
  readonly budget: MemoryBudget;
  /** Statements of overlapping rules. */
  readonly overlapping: StatementSet;
  /** Whether no two records make the same statement by a rule of a triples map that is distinct by `subject`. @param rule its position */
  readonly isUnique: (plan: MapPlan, rule: number) => boolean;
  /** The subjects of a triples map. @param width values that are remembered for each of them */
  readonly openSubjects: (plan: MapPlan, width: number) => Subjects;
  /** The statements of a triples map that its subjects alone do not decide on. */
  readonly openStatements: (plan: MapPlan) => StatementSet;
  /** Compiles what a triples map gathers. */
  readonly openCollects: (plan: MapPlan, rows: Accessors, owner: StatementOwner) => RowCollects;
  /** What is made after all scans: objects and members that joins find then, and what else collections keep until then. */
  readonly endings: Ending[];
  /** By number: that of the run, and those of the targets. */
  readonly outputs: readonly OutputText[];
  /** Receives lines that no table could decide, with the marks of their outputs. */
  readonly undecided: (line: string) => void;
  /** Receives the subjects of a triples map, some of them more than once; undefined: not needed. */
  readonly subject: ((token: string) => void) | undefined;
  /** Receives what is written of the values of a rule, once for each scan that it reads. @param rule its number @param output that of the rule */
  readonly undecidedRule: (rule: number, pattern: OutputPattern, output: number) => void;
  /** Receives the statements of a record whose subject no table could decide. @param values of `valueText` */
  readonly undecidedSubject: (subject: string, values: string) => void;
}

/** The collections of a triples map: `nodes/gather/gather.ts`. */
export interface RowCollects {
  /** The same rows, on which heads of these collections have been read. */
  readonly rows: Accessors;
  /** Number of collections, and of rules that were taken. */
  readonly count: number;
  /** Of the joins that find members. */
  readonly joins: readonly JoinCount[];
  /** Takes a rule whose statements must wait for the end. Returns false for any other rule. */
  takes(rule: RulePlan): boolean;
  /** Reads a row whose subject has been read. @throws Fault record/term */
  read(record: unknown, position: number): void;
  /**
   * Writes the statements of the row that was read.
   *
   * @param made the statements of its other rules: undefined, or very many that are written while this is consumed
   * @returns the same for all of its statements
   */
  with(made: Made, subjects: readonly string[], position: number): Made;
}

/** A row with very many statements writes them while this is consumed: before the next row. undefined: they are written. */
export type Made = Iterable<''> | undefined;

/** Characters of undecided statements of one subject that are held before they go to the spill. */
const WAITING_CHARACTERS = 1 << 16;

/** The answer of the subject table; without a table, subjects are not checked. */
type Seen = Verdict | typeof UNWATCHED;
const UNWATCHED = -1;

/** A rule with a pattern, or with `ends` that are evaluated per record. */
interface Rule extends Omit<CompiledRule, 'affixes'>, OutputPattern {
  readonly ends: VaryingAffixes | undefined;
  readonly count: JoinCount | undefined;
  /** No two records make the same statement. */
  readonly unique: boolean;
  /** Of `RulePlan`. */
  readonly number: number;
}

/** Of a rule with `ends`. */
const NO_PATTERN = { lead: '', tail: '', write: undefined, of: { predicate: '', before: '', after: '', graph: '' } };

export class MapProgram {
  readonly triplesMap: MapInfo;
  readonly #plan: MapPlan;
  /** Number of the scan that it reads, set by the execution. */
  scan = 0;
  records = 0;
  quads = 0;
  rejected = 0;
  /** Records without a subject value. */
  withoutSubject = 0;
  /** Statements in the spill: some may turn out to be new. */
  undecided = 0;
  /** Of the joins that give it its rows, set by what reads them. */
  before: readonly JoinCount[] = [];
  /** A hint for the case that there was no record. */
  hint: string | undefined;
  /** Whether a statement was left out as a duplicate. */
  repeated = false;
  readonly flaws = new Flaws();

  readonly #state: RunState;
  readonly #subject: CompiledTerm;
  readonly #checks: readonly TextOf[];
  readonly #rules: readonly Rule[];
  readonly #deferred: readonly DeferredObjects[];
  /** By identity: joins of rules, whose rows without a partner are counted. */
  readonly #joins = new Map<string, JoinCount>();
  /** Those that look up each row. */
  readonly #probed: readonly JoinCount[];
  readonly #texts: Text[];
  readonly #table: Subjects | undefined;
  readonly #statements: StatementSet;
  /** Whether some predicate or graph is not constant. */
  readonly #varies: boolean;
  /** Whether what it makes is found by more than its own subjects: by reifiers, or by triples that it quotes. */
  readonly #makesOthers: boolean;
  /** Takes the lines that may quote triples. */
  readonly #quoted: RowTrace['quotes'] | undefined;
  /** undefined: the triples map gathers nothing. */
  readonly #collects: RowCollects | undefined;
  #listSet: { readonly index: Multimap; readonly number: number; readonly texts: ReadonlySet<string> } | undefined;
  /** Undecided statements of the current subject, when the subject table is full. */
  #waiting = '';
  /** The rule of the last one. */
  #waitingRule = -1;

  constructor(plan: MapPlan, records: Accessors, state: RunState) {
    this.triplesMap = plan.map;
    this.#plan = plan;
    const given = { ...records, ...checked(plan.map, state.datatypeCheck, this.flaws) };
    this.#collects = plan.collects.length === 0 ? undefined : state.openCollects(plan, given, this);
    const { rows } = this.#collects ?? { rows: given };
    this.#checks = plan.checks.map((check) => compileTerm(check, rows).text);
    this.#state = state;
    this.#subject = compileTerm(plan.subject, rows);
    const leavesOut = leavesObjectsOut(plan.map.dialect, state.onError) && !isReportedElsewhere(plan.map);
    const rules: Rule[] = [];
    const deferred: DeferredObjects[] = [];
    let slots = 0;
    let watched = false;
    for (const [i, rule] of plan.rules.entries()) {
      if (this.#collects?.takes(rule) === true) continue;
      const { object } = rule;
      const unique = state.isUnique(plan, i);
      const output = state.outputs[rule.output] as OutputText;
      const build = object.kind === 'join' ? state.joinIndexes[object.join] : undefined;
      const count = object.kind === 'join' ? this.#countOf(object.operator, build as Multimap) : undefined;
      const probe = object.kind === 'join' ? new ProbeSide(object, rows, state, count) : undefined;
      if (object.kind === 'join' && probe?.waits === true) {
        const affixes = compileAffixes(rule, rows, output);
        const pattern = 'output' in affixes ? affixes : undefined;
        const keyed = pattern !== undefined && object.keyedBy === 'child';
        const slot = pattern !== undefined && !keyed ? slots++ : -1;
        const once = rule.distinct === 'subject' && object.keyedBy !== undefined;
        const ends = new VaryingAffixes(affixes.lead, affixes.tail);
        watched ||= ends.constant && !unique;
        deferred.push(new DeferredObjects(probe, ends, output, pattern, { slot, keyed, distinct: once }, this));
        continue;
      }
      const ofStatement = leavesOut ? { ...rows, leaveOut: this.flaws.leftOut() } : rows;
      const { affixes, text } = compileRule(rule, rows, probe, output, ofStatement);
      const overlapping = rule.distinct === 'overlapping';
      watched ||= !overlapping && !unique;
      const slot = overlapping || unique || rule.functionallyDependent ? -1 : slots++;
      const lists = overlapping || build === undefined ? undefined : { index: build, slot: slots++ };
      const [pattern, ends] =
        'output' in affixes ? [affixes, undefined] : [{ ...NO_PATTERN, output }, new VaryingAffixes(affixes.lead, affixes.tail)];
      const { number } = rule;
      if (!overlapping && !unique) state.undecidedRule(number, pattern, rule.output);
      rules.push({ ...pattern, text, slot, overlapping, lists, joined: build !== undefined, ends, count, unique, number });
    }
    this.#makesOthers = plan.collects.length > 0 || mayQuote(plan);
    const { trace } = state;
    this.#quoted = trace && mayQuote(plan) ? (line) => line.includes(QUOTE_START) && trace.quotes(line) : undefined;
    this.#rules = rules;
    this.#deferred = deferred;
    state.endings.push(...deferred);
    this.#probed = rules.flatMap(({ count }) => count ?? []);
    this.#varies = rules.some(({ ends }) => ends !== undefined) || deferred.some(({ ends }) => !ends.constant);
    this.#texts = new Array(rules.length).fill(null);
    this.#statements = state.openStatements(plan);
    this.#table = state.distinct && watched ? state.openSubjects(plan, slots) : undefined;
  }

  /**
   * Writes the statements of a record.
   *
   * @throws Fault record/term — then nothing of the record is kept
   */
  map(record: unknown, position: number): Made {
    this.records++;
    const rules = this.#rules;
    const texts = this.#texts;
    const subject = this.#subject.text(record, position);
    if (subject === null) {
      this.withoutSubject++;
      return undefined;
    }
    if (this.#state.trace !== undefined && !this.#makesOthers && !this.#isWanted(subject, this.#state.trace)) return undefined;
    const checks = this.#checks;
    for (let i = 0; i < checks.length; i++) (checks[i] as TextOf)(record, position);
    // Its statements are made elsewhere.
    if (rules.length + this.#deferred.length === 0 && this.#collects === undefined) return undefined;
    this.#collects?.read(record, position);
    // The common case: one text per term, constant predicates and graphs.
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
      const objects = deferred[i] as DeferredObjects;
      objects.read(record, position);
      several ||= typeof objects.keys === 'object' && objects.keys !== null;
    }
    if (this.#varies) for (let i = 0; i < rules.length; i++) (rules[i] as Rule).ends?.read(record, position);
    for (let i = 0; i < this.#probed.length; i++) (this.#probed[i] as JoinCount).settle();
    const made = several ? this.#emitAll(subject) : this.#emit(subject as string);
    if (this.#collects === undefined) return made;
    const { before, after } = this.#subject;
    const tokens = listOf(distinct(subject) as string | readonly string[]).map((one) => before + one + after);
    return this.#collects.with(made, tokens, position);
  }

  #isWanted(subject: string | readonly string[], trace: RowTrace): boolean {
    const { before, after } = this.#subject;
    return listOf(subject).some((one) => trace.wants(before + one + after));
  }

  /** The joins of its rules and collections. */
  get joins(): readonly JoinCount[] {
    const joins = [...this.#joins.values(), ...(this.#collects?.joins ?? [])];
    for (const join of joins) join.rows = this.records - this.rejected;
    return joins;
  }

  /** undefined: it has no condition, or another rule counts it. */
  #countOf(join: Join, parents: Multimap): JoinCount | undefined {
    if (join.on.length === 0) return undefined;
    const count = new JoinCount(join, this.triplesMap.name, parents);
    if (this.#joins.has(count.id)) return undefined;
    this.#joins.set(count.id, count);
    return count;
  }

  #emitAll(subject: string | readonly string[]): Made {
    const subjects = listOf(distinct(subject) as string | readonly string[]);
    if (this.#count() * subjects.length > PIECE_STATEMENTS) return this.#emitInPieces(subjects);
    if (this.#varies) for (const _ of this.#emitInPieces(subjects));
    else {
      if (this.#deferred.length > 0) for (const _ of this.#storePacked(subjects));
      for (const one of subjects) this.#emit(one, subjects);
    }
    return undefined;
  }

  put(pattern: OutputPattern, subject: string, value: string): void {
    pattern.output.text += this.#textOf(pattern, subject, value);
  }

  putOnce(pattern: OutputPattern, subject: string, value: string): void {
    if (this.#isNew(pattern, subject, value)) this.put(pattern, subject, value);
  }

  once(output: OutputText, line: string): void {
    if (!this.#isKeptNew(output.mark + line)) return;
    this.quads++;
    this.#quoted?.(line);
    output.addLine(line);
  }

  /** The text of a statement, which is written. */
  #textOf(pattern: OutputPattern, subject: string, value: string): string {
    this.quads++;
    const text = textOf(pattern, subject, value);
    this.#quoted?.(text);
    return text;
  }

  /** Whether a statement is new to the run. */
  #isNew(pattern: OutputPattern, subject: string, value: string): boolean {
    return !this.#state.distinct || this.#isKeptNew(keptOf(pattern, subject, value));
  }

  /** @param kept a line with the mark of its output */
  #isKeptNew(kept: string): boolean {
    return !this.#state.distinct || this.#isDecidedNew(this.#state.overlapping.add(kept), kept);
  }

  /** Where the mapping has a reference that the triples map reads, `document:line:column`. */
  originOf(reference: string): string | undefined {
    const leaf = leavesOfMap(this.#plan).find((one) => one.kind === 'read' && one.reference === reference);
    return leaf === undefined ? undefined : formatOrigin(leaf.origin);
  }

  get ruleCount(): number {
    return this.#rules.length + this.#deferred.length + (this.#collects?.count ?? 0);
  }

  /** Frees the tables that only this triples map uses; called after its last record. */
  finish(): void {
    this.#table?.drop();
    this.#statements.drop();
  }

  #isDecidedNew(verdict: Verdict, kept: string): boolean {
    if (verdict === NEW) return true;
    if (verdict === UNDECIDED) {
      this.undecided++;
      this.#state.undecided(kept);
    } else this.repeated = true;
    return false;
  }

  /** The statements of each subject, and the entries of build sides and deferred joins. */
  #count(): number {
    let count = 0;
    for (let i = 0; i < this.#rules.length; i++) {
      const { ends } = this.#rules[i] as Rule;
      const around = ends === undefined ? 1 : countOf(ends.lead) * countOf(ends.tail);
      count += countOf(this.#texts[i] as Text) * around;
    }
    for (let i = 0; i < this.#deferred.length; i++) count += countOf((this.#deferred[i] as DeferredObjects).keys);
    return count;
  }

  /** The statements of a subject, when predicates and graphs are constant. @param subjects of the record; undefined: this one and plain keys alone */
  #emit(subject: string, subjects?: readonly string[]): undefined {
    const token = this.#subject.before + subject + this.#subject.after;
    const seen = this.#enter(subject, token);
    for (let i = 0; i < this.#deferred.length; i++) {
      const objects = this.#deferred[i] as DeferredObjects;
      if (objects.keys !== null && (subjects === undefined || objects.isPlain(subjects)))
        this.#defer(objects, token, objects.keys as string, seen);
    }
    const rules = this.#rules;
    // Neighbouring rules have the same output: its text is touched once for all of them.
    let output: OutputText | undefined;
    let made = '';
    for (let i = 0; i < rules.length; i++) {
      const rule = rules[i] as Rule;
      const text = this.#texts[i] as Text;
      if (text === null) continue;
      if (rule.output !== output) {
        if (output !== undefined) output.text += made;
        output = rule.output;
        made = '';
      }
      if (typeof text === 'string' && (rule.lists === undefined || seen === NEW)) {
        if (this.#isWritten(rule, token, text, seen, true)) made += this.#textOf(rule, token, text);
      } else {
        const list = listOf(text);
        made += this.#several(rule, token, list, 0, list.length, seen);
      }
    }
    if (output !== undefined) output.text += made;
    this.#leave(token);
  }

  /** Like `#emit`, for any predicates and graphs, and for a record with more statements than memory should hold. */
  *#emitInPieces(subjects: readonly string[]): Iterable<''> {
    yield* this.#storePacked(subjects);
    for (const subject of subjects) {
      const token = this.#subject.before + subject + this.#subject.after;
      const seen = this.#enter(subject, token);
      for (let i = 0; i < this.#deferred.length; i++) {
        const objects = this.#deferred[i] as DeferredObjects;
        if (objects.isPlain(subjects)) this.#defer(objects, token, objects.keys as string, seen);
      }
      for (let i = 0; i < this.#rules.length; i++) {
        const rule = this.#rules[i] as Rule;
        const text = this.#texts[i] as Text;
        if (text === null) continue;
        const list = listOf(text);
        for (let from = 0; from < list.length; from += PIECE_STATEMENTS) {
          const to = Math.min(list.length, from + PIECE_STATEMENTS);
          if (rule.ends === undefined) {
            rule.output.text += this.#several(rule, token, list, from, to, seen);
            yield '';
          } else {
            for (const [before, tail] of affixPairs(rule.ends, token)) {
              for (let k = from; k < to; k++) this.once(rule.output, before + list[k] + tail);
              yield '';
            }
          }
        }
      }
      this.#leave(token);
    }
  }

  /** Stores the record for the joins of which it has several keys, subjects, predicates or graphs. */
  *#storePacked(subjects: readonly string[]): Iterable<''> {
    const tokens = subjects.map((one) => this.#subject.before + one + this.#subject.after);
    for (const objects of this.#deferred) if (!objects.isPlain(subjects)) yield* objects.storePacked(tokens);
  }

  #enter(subject: string, token: string): Seen {
    const seen = this.#table === undefined ? UNWATCHED : this.#table.enter(subject);
    if (seen !== KNOWN) this.#state.subject?.(token);
    if (this.#quoted !== undefined && this.#deferred.length > 0) this.#tellQuoted(token);
    return seen;
  }

  /** Joins make statements with a subject at the end, when its record is not known: a trace gets its triples and reifiers now. */
  #tellQuoted(subject: string): void {
    const line = `${subject} <> <> .\n`;
    this.#quoted?.(line);
    for (const one of reifiedLines(line)) this.#state.subject?.(subjectAt(one, 0));
  }

  /** The statements of the current subject have been made. */
  #leave(token: string): void {
    this.#table?.leave();
    if (this.#waiting !== '') this.#spill(token);
  }

  /** Moves the undecided statements of the current subject to the spill. */
  #spill(token: string): void {
    this.undecided++;
    this.#state.undecidedSubject(token, this.#waiting);
    this.#waiting = '';
  }

  /** Stores the subject for a join, unless the first record of the subject has done so. */
  #defer({ probe, slot, keyed }: DeferredObjects, token: string, key: string, seen: Seen): void {
    const has = seen === KNOWN && (keyed || (slot >= 0 && (this.#table as Subjects).firstHad(slot, key)));
    if (slot >= 0 && seen === NEW) (this.#table as Subjects).remember(slot, key);
    if (has) probe.repeat(key);
    else probe.store(key, token);
  }

  /** The text of the statements of a subject with objects of a rule; of a list, those in [`from`, `to`). */
  #several(rule: Rule, token: string, list: readonly string[], from: number, to: number, seen: Seen): string {
    let made = '';
    if (rule.lists !== undefined && (seen === NEW || seen === KNOWN)) return this.#joined(rule, rule.lists, token, list, from, to, seen);
    for (let k = from; k < to; k++) {
      const one = list[k] as string;
      if (this.#isWritten(rule, token, one, seen, k === 0)) made += this.#textOf(rule, token, one);
      if (this.#waiting.length >= WAITING_CHARACTERS) this.#spill(token);
    }
    return made;
  }

  /**
   * The text of the statements of a join for a subject. The parents of a key form one list without duplicates. The list of the first record is written
   * without checks and remembered by its number; the same list again is a repetition as a whole.
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
    const table = this.#table as Subjects;
    // A single parent is not a list of the index.
    const number = list.length === 1 ? -1 : index.numberOf(list);
    if (seen === NEW && number >= 0) {
      table.rememberNumber(slot, number + 1);
      this.quads += to - from;
      return textsOf(rule, token, list, from, to);
    }
    const remembered = seen === KNOWN ? table.rememberedNumber(slot) - 1 : -1;
    if (remembered >= 0 && remembered === number) return '';
    const had = remembered >= 0 ? this.#listAsSet(index, remembered) : undefined;
    let made = '';
    for (let k = from; k < to; k++) {
      const one = list[k] as string;
      if (had?.has(one) !== true && this.#isWritten(rule, token, one, seen, k === 0)) made += this.#textOf(rule, token, one);
    }
    return made;
  }

  /** The set of a list; the last one is cached, since records of a subject are often adjacent. */
  #listAsSet(index: Multimap, number: number): ReadonlySet<string> {
    if (this.#listSet?.index !== index || this.#listSet.number !== number)
      this.#listSet = { index, number, texts: new Set(index.list(number)) };
    return this.#listSet.texts;
  }

  /** Whether a statement is written now: a duplicate is not, nor one that no table decides. */
  #isWritten(rule: Rule, token: string, text: string, seen: Seen, first: boolean): boolean {
    if (rule.overlapping) return this.#isNew(rule, token, text);
    if (seen === UNWATCHED || rule.unique) return true;
    if (seen === UNDECIDED) {
      this.#waiting += valueText(rule.number, text, this.#waiting === '' ? -1 : this.#waitingRule);
      this.#waitingRule = rule.number;
      return false;
    }
    const table = this.#table as Subjects;
    const { slot } = rule;
    if (seen === NEW && first) {
      if (slot >= 0) table.remember(slot, text);
      return true;
    }
    if (slot < 0 || (seen === KNOWN && table.firstHad(slot, text))) return false;
    // The texts of a record have no duplicates.
    const verdict = seen === KNOWN ? table.addStatement(slot, this.#statements) : table.appendStatement(slot, text, this.#statements);
    return verdict !== KNOWN && this.#isDecidedNew(verdict, keptOf(rule, token, text));
  }
}
