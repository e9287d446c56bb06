/**
 * Lines of a run in RDF 1.2: a triple that is an object is a triple term, one that is a subject is a reifier with a statement of its own.
 *
 * Up to here all statements have the text of RDF-star, in which a quoted triple says everything about itself: joins, tables and spill files
 * need not know of reifiers. The text of RDF 1.2 determines that of RDF-star, so what is distinct stays so. Only the statements of reifiers
 * come with each statement that needs them, and are made distinct here.
 */
import { reifiedLines } from '../../nquads/reified.ts';
import type { RunState } from '../compile/program.ts';
import { HashSet, KNOWN, NEW } from '../distinct/distinct.ts';
import { LineSpill, type SpillSpace } from '../distinct/spill.ts';

export class ReifiedLines {
  /** Statements of reifiers that were given out. */
  count = 0;
  readonly #state: Pick<RunState, 'distinct' | 'seed' | 'budget' | 'subject'>;
  readonly #known: HashSet;
  readonly #undecided: LineSpill;

  constructor(state: Pick<RunState, 'distinct' | 'seed' | 'budget' | 'subject'>, space: SpillSpace) {
    this.#state = state;
    this.#known = new HashSet(state.budget, state.seed);
    this.#undecided = new LineSpill(space, state.seed ^ 0x165667b1);
  }

  /** @param lines whole lines of a run; each has the graph and the mark of its output, which the statements of its reifiers get, too */
  rewrite(lines: string): string {
    let text = '';
    let done = 0;
    for (let at = lines.indexOf(QUOTED); at >= 0; at = lines.indexOf(QUOTED, done)) {
      const from = lines.lastIndexOf('\n', at) + 1;
      const end = lines.indexOf('\n', at) + 1;
      text += lines.slice(done, from) + this.#rewriteLine(lines.slice(from, end));
      done = end;
    }
    return done === 0 ? lines : text + lines.slice(done);
  }

  /** The statements of reifiers that `rewrite` could not decide on, each once. */
  async *drain(): AsyncIterable<readonly string[]> {
    this.#known.drop();
    for await (const batch of this.#undecided.drain(this.#state.budget)) {
      this.count += batch.length;
      yield batch;
    }
  }

  #rewriteLine(line: string): string {
    const made = reifiedLines(line);
    const own = made.at(-1) as string;
    return made.length === 1
      ? own
      : made
          .slice(0, -1)
          .filter((one) => this.#isNew(one))
          .join('') + own;
  }

  /** @param line the statement of a reifier */
  #isNew(line: string): boolean {
    const { distinct, subject } = this.#state;
    const verdict = distinct ? this.#known.add(line) : NEW;
    if (verdict === KNOWN) return false;
    subject?.(line.slice(0, line.indexOf(' ')));
    if (verdict === NEW) this.count++;
    else this.#undecided.add(line);
    return verdict === NEW;
  }
}

const QUOTED = '<< ';
