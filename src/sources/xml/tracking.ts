/** Collects the paths that a `Matcher` follows: where records begin, and what of the document their expressions read. */
import type { Path, Step } from '../../paths/xml/path.ts';
import { type Holder, type Keep, MAX_STEPS, STRUCTURE, TEXT, type TrackedPath, WHOLE } from './matcher.ts';

export class Tracking {
  readonly paths: TrackedPath[] = [];
  #holders = 0;

  /** The records of an iteration. @param steps from the root of the document */
  records(iteration: number, steps: readonly Step[]): RecordTracking {
    return new RecordTracking(this.paths, iteration, steps, () => this.#holders++);
  }

  /** The document as a whole. */
  document(steps: readonly Step[]): void {
    this.paths.push({ steps, keep: WHOLE });
  }
}

/**
 * What the records of one iteration need. A path with `..` beyond the record is read in an *anchor*: the ancestor of the record to which the
 * `..` lead. Its content is kept, and records wait, until it ends.
 */
export class RecordTracking {
  readonly #paths: TrackedPath[];
  readonly #iteration: number;
  readonly #steps: readonly Step[];
  readonly #number: () => number;
  /** By levels above the record; 0: the record. */
  readonly #holders = new Map<number, Holder>();

  constructor(paths: TrackedPath[], iteration: number, steps: readonly Step[], number: () => number) {
    this.#paths = paths;
    this.#iteration = iteration;
    this.#steps = steps;
    this.#number = number;
    this.#holder(0, '');
  }

  /** What leads to the outermost anchor; undefined: there is none. */
  get outermost(): string | undefined {
    const [outermost] = [...this.#holders.values()].sort((a, b) => b.rise - a.rise);
    return outermost?.rise === 0 ? undefined : outermost?.reason;
  }

  /** The record with all of its content. */
  whole(): void {
    this.#paths.push({ steps: this.#steps, keep: WHOLE, keptIn: this.#holder(0, '') });
  }

  /**
   * What a path reads, ignoring its predicates.
   *
   * @param from steps from the root of the document to where the path begins: the record, or an item within it
   * @param reason what reads it, for messages
   */
  path(path: Path, from: readonly Step[], reason: string): void {
    const { target, ups } = path;
    // Attributes of ancestors are known before the record.
    if (ups > 0 && path.steps.length === 0 && target.kind === 'attribute') return;
    const top = from.slice(0, from.length - ups);
    const rise = Math.max(0, this.#steps.length - top.length);
    const keptIn = this.#holder(rise, reason);
    const keep: Keep = target.kind === 'element' ? WHOLE : target.kind === 'text' ? TEXT : STRUCTURE;
    // `..` leads to any level between `top` and the record if a step left out follows `//`.
    const deep = from.slice(from.length - ups).some((step) => step.descendant);
    const [first = ANY, ...rest] = path.steps;
    const below = deep ? [{ ...first, descendant: true }, ...rest] : path.steps;
    if (deep && path.steps.length === 0) this.#paths.push({ steps: plain(top), keep, keptIn });
    const steps = [...top, ...below];
    if (steps.length <= MAX_STEPS) this.#paths.push({ steps: plain(steps), keep, keptIn });
    else this.#paths.push({ steps: plain(rise > 0 ? top : this.#steps), keep: WHOLE, keptIn });
  }

  #holder(rise: number, reason: string): Holder {
    let holder = this.#holders.get(rise);
    if (holder === undefined) {
      const steps = this.#steps.slice(0, this.#steps.length - rise);
      holder = { index: this.#number(), iteration: this.#iteration, depth: steps.length, rise, reason };
      this.#holders.set(rise, holder);
      this.#paths.push({ steps, keep: STRUCTURE, opens: holder });
    }
    return holder;
  }
}

const ANY: Step = { descendant: true, name: { prefix: undefined, local: undefined }, predicates: [] };

const plain = (steps: readonly Step[]): readonly Step[] => steps.map((step) => ({ ...step, predicates: [] }));
