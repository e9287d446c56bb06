/**
 * Lines of a run in RDF 1.2: a triple that is an object is a triple term, one that is a subject is a reifier with a separate statement.
 *
 * Up to here all statements have the text of RDF-star, in which a quoted triple says everything about itself: joins, tables and spill files
 * need not know of reifiers. The text of RDF 1.2 determines that of RDF-star, so what is distinct stays so. Only the statements of reifiers
 * come with each statement that needs them, and are made distinct here.
 */
import { reifiedLines } from '../../nquads/reified.ts';
import { HashSet, KNOWN, NEW } from '../../spill/key-table.ts';
import type { SpillSpace } from '../../spill/space.ts';
import type { Reifier } from '../compile/output.ts';
import type { RunState } from '../compile/program.ts';
import { LineSpill } from '../distinct/spill.ts';

export class ReifiedLines implements Reifier {
  readonly #state: Pick<RunState, 'distinct' | 'seed' | 'budget' | 'subject'>;
  readonly #known: HashSet;
  readonly #undecided: LineSpill;

  constructor(state: Pick<RunState, 'distinct' | 'seed' | 'budget' | 'subject'>, space: SpillSpace) {
    this.#state = state;
    this.#known = new HashSet(state.budget, state.seed);
    this.#undecided = new LineSpill(space, state.seed ^ 0x165667b1);
  }

  /** The statements of its reifiers get the graph of the line, too. */
  rewrite(line: string, mark: string): readonly string[] {
    const made = reifiedLines(line);
    return made.length === 1 ? made : made.filter((one, i) => i === made.length - 1 || this.#isNew(one, mark));
  }

  /** The statements of reifiers that `rewrite` could not decide on, each once, with the marks of their outputs. */
  async *drain(): AsyncIterable<readonly string[]> {
    this.#known.drop();
    yield* this.#undecided.drain(this.#state.budget);
  }

  /** @param line the statement of a reifier */
  #isNew(line: string, mark: string): boolean {
    const { distinct, subject } = this.#state;
    const verdict = distinct ? this.#known.add(mark + line) : NEW;
    if (verdict === KNOWN) return false;
    subject?.(line.slice(0, line.indexOf(' ')));
    if (verdict !== NEW) this.#undecided.add(mark + line);
    return verdict === NEW;
  }
}
