/** Statements that no table of a group could decide, from all of its threads. */
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import type { MemoryBudget } from '../../spill/budget.ts';
import { LINES, PAIRS } from '../../spill/partitions.ts';
import { SpillSpace } from '../../spill/space.ts';
import { LineSpill, SubjectSpill } from '../distinct/spill.ts';

/** Characters that a thread collects before it sends them. */
const SENT_CHARACTERS = 1 << 16;

/** In a thread: collects them, and sends them when the scans that it executes may wait. */
export class UndecidedSender {
  readonly #send: (lines: string, subjects: string) => Promise<void>;
  #lines = '';
  #subjects = '';

  constructor(send: (lines: string, subjects: string) => Promise<void>) {
    this.#send = send;
  }

  /** @param space whose next flush may take time */
  collect(space: SpillSpace): { undecided(line: string): void; undecidedSubject(subject: string, lines: string): void } {
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
      undecidedSubject: (subject, lines) => {
        this.#subjects += PAIRS.textOf([subject, lines]);
        check();
      },
    };
  }

  async flush(): Promise<void> {
    const [lines, subjects] = [this.#lines, this.#subjects];
    if (lines === '' && subjects === '') return;
    this.#lines = '';
    this.#subjects = '';
    await this.#send(lines, subjects);
  }
}

/** In the thread that writes: keeps them in files, and gives each statement once when all threads have ended. */
export class Undecided {
  readonly #space: SpillSpace;
  readonly #lines: LineSpill;
  readonly #subjects: SubjectSpill;

  constructor(directory: string, name: string) {
    const seed = randomInt(2 ** 31);
    this.#space = new SpillSpace(join(directory, name));
    this.#lines = new LineSpill(this.#space, seed ^ 0x3c6ef372);
    this.#subjects = new SubjectSpill(this.#space, seed ^ 0x2545f491);
  }

  get bytes(): number {
    return this.#space.bytes;
  }

  /** @throws Fault sink/failed */
  async add(lines: string, subjects: string): Promise<void> {
    for (const line of LINES.entriesIn(lines).entries) this.#lines.add(line);
    for (const [subject, text] of PAIRS.entriesIn(subjects).entries) this.#subjects.add(subject, text);
    await this.#space.flush();
  }

  /** Every distinct statement, in batches of lines. */
  async *drain(budget: MemoryBudget): AsyncIterable<readonly string[]> {
    yield* this.#subjects.drain(budget, this.#lines);
    yield* this.#lines.drain(budget);
  }

  async remove(): Promise<void> {
    await this.#space.remove();
  }
}
