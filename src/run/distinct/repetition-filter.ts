/** Removes the repeated statements of slices. */
import { subjectAt } from '../../nquads/terms.ts';
import { HashSet, KNOWN, MemoryBudget, NEW } from './distinct.ts';
import type { RepeatedSubjects } from './repeated-subjects.ts';
import type { LineSpill } from './spill.ts';

/** Lets lines of slices through, in their order, but for those that an earlier one had. */
export class RepetitionFilter {
  readonly #repeated: RepeatedSubjects;
  readonly #seen: HashSet;
  readonly #undecided: LineSpill;
  /** Lines left out, or left to the spill. */
  left = 0;
  #subject = '';
  #isRepeated = false;
  #rest = '';

  /** @param undecided takes lines that memory cannot decide: whoever drains it at the end has each of them once */
  constructor(repeated: RepeatedSubjects, budgetBytes: number, seed: number, undecided: LineSpill) {
    this.#repeated = repeated;
    this.#seen = new HashSet(new MemoryBudget(budgetBytes), seed);
    this.#undecided = undecided;
  }

  /** The lines of the next piece of text that are to stay. A line that is not complete waits for the next piece. */
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
      if (this.#concerns(lines, at) && !this.#isNew(lines.slice(at, next))) {
        kept += lines.slice(from, at);
        from = next;
        this.left++;
      }
      at = next;
    }
    return from === 0 ? lines : kept + lines.slice(from);
  }

  /** Lines of a subject stand together. */
  #concerns(lines: string, at: number): boolean {
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
