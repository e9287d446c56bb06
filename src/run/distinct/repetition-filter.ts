/**
 * Removes the statements of a slice that an earlier slice has made.
 *
 * Only lines of a repeated subject are looked up in a set; all others pass.
 */
import { subjectAt } from '../../nquads/terms.ts';
import { MemoryBudget } from '../../spill/budget.ts';
import { HashSet, KNOWN, NEW } from '../../spill/key-table.ts';
import type { RepeatedSubjects } from './repeated-subjects.ts';
import type { LineSpill } from './spill.ts';

/** Takes the text of all slices, one after the other, and passes each line on once. The order of the lines is kept. */
export class RepetitionFilter {
  readonly #repeated: RepeatedSubjects;
  readonly #seen: HashSet;
  readonly #undecided: LineSpill;
  /** Number of lines not passed on: repetitions, and lines that went to `undecided`. */
  withheld = 0;
  /** The subject of the line before, with the space after it. */
  #subject = '';
  #isRepeated = false;
  /** The beginning of a line whose end is in the next piece. */
  #rest = '';

  /**
   * @param budgetBytes for the set of lines
   * @param undecided receives the lines that the full set cannot decide. The caller drains it at the end: that gives each of them once.
   */
  constructor(repeated: RepeatedSubjects, budgetBytes: number, seed: number, undecided: LineSpill) {
    this.#repeated = repeated;
    this.#seen = new HashSet(new MemoryBudget(budgetBytes), seed);
    this.#undecided = undecided;
  }

  /** The lines of the next piece of text that pass. A partial line at its end is kept until the next piece completes it. */
  pass(piece: string): string {
    const end = piece.lastIndexOf('\n') + 1;
    if (end === 0) {
      this.#rest += piece;
      return '';
    }
    const lines = this.#rest + piece.slice(0, end);
    this.#rest = piece.slice(end);
    let kept = '';
    let from = 0;
    for (let at = 0; at < lines.length; ) {
      const next = lines.indexOf('\n', at) + 1;
      if (this.#hasRepeatedSubject(lines, at) && !this.#isNew(lines.slice(at, next))) {
        kept += lines.slice(from, at);
        from = next;
        this.withheld++;
      }
      at = next;
    }
    return from === 0 ? lines : kept + lines.slice(from);
  }

  /** Whether the subject of the line at `at` is repeated. Neighbouring lines often have the same subject, so the last answer is kept. */
  #hasRepeatedSubject(lines: string, at: number): boolean {
    if (this.#subject !== '' && lines.startsWith(this.#subject, at)) return this.#isRepeated;
    const subject = subjectAt(lines, at);
    this.#subject = `${subject} `;
    this.#isRepeated = this.#repeated.has(subject);
    return this.#isRepeated;
  }

  #isNew(line: string): boolean {
    const verdict = this.#seen.add(line);
    if (verdict !== NEW && verdict !== KNOWN) this.#undecided.add(line);
    return verdict === NEW;
  }
}
