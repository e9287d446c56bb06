/** Statements that no table of a group could decide, from all of its threads. */
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import type { MemoryBudget } from '../../spill/budget.ts';
import { LINES, PAIRS } from '../../spill/partitions.ts';
import { SpillSpace } from '../../spill/space.ts';
import { addKept, type OutputText, writerOf } from '../compile/output.ts';
import type { RunState } from '../compile/program.ts';
import { LineSpill, type RuleWriter, SubjectSpill } from '../distinct/spill.ts';
import type { UndecidedRule, UndecidedStatements } from './messages.ts';

/** Characters that a thread collects before it sends them. */
const SENT_CHARACTERS = 1 << 16;

/** In a thread: collects them, and sends them when the scans that it executes may wait. */
export class UndecidedSender {
  readonly #send: (statements: UndecidedStatements) => Promise<void>;
  #lines = '';
  #subjects = '';
  readonly #rules = new Rules();
  #sentRules = 0;

  constructor(send: (statements: UndecidedStatements) => Promise<void>) {
    this.#send = send;
  }

  /** @param space whose next flush may take time */
  collect(space: SpillSpace): Pick<RunState, 'undecided' | 'undecidedRule' | 'undecidedSubject'> {
    let isDue = false;
    const check = (): void => {
      if (isDue || this.#lines.length + this.#subjects.length < SENT_CHARACTERS) return;
      isDue = true;
      space.moveLater(async () => {
        isDue = false;
        await this.flush();
      });
    };
    return {
      undecided: (line) => {
        this.#lines += line;
        check();
      },
      undecidedRule: (number, { of }, output) => {
        this.#rules.add({ number, output, pattern: of });
      },
      undecidedSubject: (subject, values) => {
        this.#subjects += PAIRS.textOf([subject, values]);
        check();
      },
    };
  }

  async flush(): Promise<void> {
    const [lines, subjects] = [this.#lines, this.#subjects];
    if (lines === '' && subjects === '') return;
    this.#lines = '';
    this.#subjects = '';
    const rules = this.#rules.all.slice(this.#sentRules);
    this.#sentRules += rules.length;
    await this.#send({ lines, subjects, rules });
  }
}

/** Rules of which all slices and threads write the same around the values. */
class Rules {
  readonly all: UndecidedRule[] = [];
  readonly #patterns = new Map<number, string>();

  add(rule: UndecidedRule): void {
    const { number, output, pattern } = rule;
    const text = JSON.stringify([output, pattern.predicate, pattern.before, pattern.after, pattern.graph]);
    const known = this.#patterns.get(number);
    if (known !== undefined && known !== text) throw new Error(`rule ${number} of two slices has different statements: ${known}, ${text}`);
    if (known === undefined) this.all.push(rule);
    this.#patterns.set(number, text);
  }
}

/** In the thread that writes: keeps them in files, and gives each statement once when all threads have ended. */
export class Undecided {
  readonly space: SpillSpace;
  readonly #lines: LineSpill;
  readonly #subjects: SubjectSpill;
  readonly #rules = new Rules();

  constructor(directory: string, name: string) {
    const seed = randomInt(2 ** 31);
    this.space = new SpillSpace(join(directory, name));
    this.#lines = new LineSpill(this.space, seed ^ 0x3c6ef372);
    this.#subjects = new SubjectSpill(this.space, seed ^ 0x2545f491);
  }

  /** @throws Fault sink/failed */
  async add({ lines, subjects, rules }: UndecidedStatements): Promise<void> {
    for (const rule of rules) this.#rules.add(rule);
    for (const line of LINES.entriesIn(lines).entries) this.#lines.add(line);
    for (const [subject, text] of PAIRS.entriesIn(subjects).entries) this.#subjects.add(subject, text);
    await this.space.flush();
  }

  /** Adds every distinct statement to its output, while what it gives is consumed. */
  async *drain(budget: MemoryBudget, outputs: readonly OutputText[]): AsyncIterable<Iterable<''>> {
    const writers: RuleWriter[] = [];
    for (const { number, output, pattern } of this.#rules.all)
      writers[number] = writerOf((outputs[output] as OutputText).pattern(pattern, false));
    yield* this.#subjects.drain(budget, this.#lines, writers);
    for await (const batch of this.#lines.drain(budget)) {
      for (const line of batch) addKept(outputs, line);
      yield [''];
    }
  }

  async remove(): Promise<void> {
    await this.space.remove();
  }
}
