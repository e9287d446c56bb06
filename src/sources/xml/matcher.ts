/**
 * Follows many paths through a document at once: which iterators match an element, and what of it their records need.
 *
 * Each path is a bit set of the steps that it waits for; all paths together form a state; a state caches its transition for each name. So
 * an element costs one lookup, however many paths there are. Predicates are evaluated only where a name could satisfy one.
 */
import { Fault } from '../../core/fault.ts';
import type { Path } from '../../paths/xml/path.ts';
import type { Name } from './names.ts';
import type { NameTest } from './path/name-test.ts';
import { type Bind, type BoundPredicate, bindPredicates, passes } from './path/walk.ts';
import type { Attributes } from './tree.ts';

/** What is kept of an element: only its presence (and attributes), its own text, or its whole content. */
export const STRUCTURE = 1;
export const TEXT = 2;
export const WHOLE = 3;
export type Keep = typeof STRUCTURE | typeof TEXT | typeof WHOLE;

/**
 * Elements that keep content until they end: the records of an iteration, or ancestors of its records that a reference leads to. The records
 * wait for these.
 */
export interface Holder {
  /** 0, 1, … within a matcher. */
  readonly index: number;
  readonly iteration: number;
  /** Number of steps from the root of the document to these elements. */
  readonly depth: number;
  /** Number of steps from these elements to the records; 0: the records themselves. */
  readonly rise: number;
  /** What leads to these ancestors, for messages. */
  readonly reason: string;
}

/** A path from the root, and the purpose of the elements that it selects. */
export interface TrackedPath {
  readonly steps: Path['steps'];
  readonly keep: Keep;
  /** These elements are holders. */
  readonly opens?: Holder;
  /** The holders whose content these elements are. */
  readonly keptIn?: Holder;
}

/** Maximum number of steps of a path, so that they fit in the bits of a number. */
export const MAX_STEPS = 30;
/** Number of cached states. Only unusual documents need more; those are recomputed each time. */
const MAX_STATES = 4096;

interface TrackedStep {
  readonly descendant: boolean;
  readonly test: NameTest;
  readonly predicates: readonly BoundPredicate[];
}

interface BoundPath {
  readonly steps: readonly TrackedStep[];
  readonly keep: Keep;
  readonly opens: Holder | undefined;
  readonly keptIn: Holder | undefined;
}

export interface State {
  readonly masks: readonly number[];
  /** Some path continues or ends here, so the element matters. */
  readonly alive: boolean;
  /** What this element holds. */
  readonly opens: readonly Holder[];
  /** Holders that need this element, or something within it, if they are open around it. */
  readonly keptIn: readonly Holder[];
  readonly keep: 0 | Keep;
  /** By `Name.serial`; `null`: depends on attributes and position. */
  readonly next: (State | null | undefined)[];
}

/** Position counters for the children of one element: by path and step, one per predicate. */
export type Counts = Map<number, number[]>;

export class Matcher {
  readonly root: State;
  /** Number of holders. */
  readonly holders: number;
  readonly #paths: readonly BoundPath[];
  readonly #states = new Map<string, State>();

  constructor(paths: readonly TrackedPath[], bind: Bind) {
    this.#paths = paths.map((path) => {
      if (path.steps.length > MAX_STEPS) throw new Fault('internal/error', `A path has more than ${MAX_STEPS} steps`);
      const steps = path.steps.map((step) => ({
        descendant: step.descendant,
        test: bind(step.name),
        predicates: bindPredicates(step, bind),
      }));
      return { steps, keep: path.keep, opens: path.opens, keptIn: path.keptIn };
    });
    this.holders = this.#paths.filter(({ opens }) => opens !== undefined).length;
    this.root = this.#state(this.#paths.map(() => 1));
  }

  /** The state of a child element of `state`. `counts` belongs to the parent element, and is requested only if positions matter. */
  next(state: State, name: Name, attributes: Attributes, counts: () => Counts): State {
    const known = state.next[name.serial];
    if (known !== undefined && known !== null) return known;
    if (known === undefined) {
      const fixed = this.#follow(state, name, undefined, undefined);
      if (fixed !== null) {
        const next = this.#state(fixed);
        if (this.#states.size < MAX_STATES) state.next[name.serial] = next;
        return next;
      }
      state.next[name.serial] = null;
    }
    return this.#state(this.#follow(state, name, attributes, counts) as number[]);
  }

  /** Bit sets of a child; null if no attributes are given and a predicate must be evaluated. */
  #follow(state: State, name: Name, attributes: Attributes | undefined, counts: (() => Counts) | undefined): number[] | null {
    const masks: number[] = [];
    for (let p = 0; p < this.#paths.length; p++) {
      const { steps } = this.#paths[p] as BoundPath;
      let waiting = state.masks[p] as number;
      let mask = 0;
      for (let s = 0; waiting !== 0 && s < steps.length; s++, waiting >>>= 1) {
        if ((waiting & 1) === 0) continue;
        const step = steps[s] as TrackedStep;
        if (step.descendant) mask |= 1 << s;
        if (!step.test(name)) continue;
        if (step.predicates.length > 0) {
          if (attributes === undefined || counts === undefined) return null;
          if (!passes(attributes, step.predicates, countsOf(counts(), p * (MAX_STEPS + 1) + s, step.predicates.length))) continue;
        }
        mask |= 1 << (s + 1);
      }
      masks.push(mask);
    }
    return masks;
  }

  #state(masks: readonly number[]): State {
    const key = masks.join();
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const opens: Holder[] = [];
    const keptIn = new Set<Holder>();
    let keep: 0 | Keep = 0;
    this.#paths.forEach((path, p) => {
      const mask = masks[p] as number;
      if (path.keptIn !== undefined && mask >>> path.keptIn.depth !== 0) keptIn.add(path.keptIn);
      if ((mask & (1 << path.steps.length)) === 0) return;
      if (path.opens !== undefined) opens.push(path.opens);
      if (path.keep > keep) keep = path.keep;
    });
    const state: State = { masks, alive: masks.some((mask) => mask !== 0), opens, keptIn: [...keptIn], keep, next: [] };
    if (this.#states.size < MAX_STATES) this.#states.set(key, state);
    return state;
  }
}

function countsOf(counts: Counts, key: number, length: number): number[] {
  let known = counts.get(key);
  if (known === undefined) {
    known = new Array<number>(length).fill(0);
    counts.set(key, known);
  }
  return known;
}
