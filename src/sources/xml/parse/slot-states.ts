/**
 * Paths of records and references → states that a document is followed by, for records that are slots.
 *
 * All steps lead to children, without predicates: so the state of an element depends on that of its parent and on its name alone, and a record
 * is never within another one of its iteration.
 */
import type { Name } from '../names.ts';
import type { NameTest } from '../path/name-test.ts';

/** From the root of the document to elements: to the records of an iteration, or to what a reference reads of them. */
export interface SlotPath {
  readonly iteration: number;
  readonly steps: readonly NameTest[];
  readonly target: SlotTarget;
}

/** `element`: the string value of each element. `text`: each of its text nodes. */
export type SlotTarget =
  | { readonly kind: 'record' }
  | { readonly kind: 'element' | 'text'; readonly slot: number }
  | { readonly kind: 'attribute'; readonly slot: number; readonly test: NameTest };

/** A slot of the current record of an iteration. */
export interface SlotPlace {
  readonly iteration: number;
  readonly slot: number;
}

/** Number of cached states. Only unusual documents need more; those are recomputed each time. */
const MAX_STATES = 4096;

export class SlotState {
  readonly depth: number;
  /** Indexes of the paths that continue or end here. */
  readonly paths: readonly number[];
  /** Iterations of which the element is a record. */
  readonly begins: readonly number[];
  readonly attributes: readonly (SlotPlace & { readonly test: NameTest })[];
  /** What takes the string value of the element. */
  readonly values: readonly SlotPlace[];
  /** What takes its text nodes. */
  readonly texts: readonly SlotPlace[];
  /** Some path continues or ends here. */
  readonly alive: boolean;
  /** Of such an element something takes the string value, and nothing the text nodes; it is no record, but within one. */
  readonly isValue: boolean;
  /** By `Name.serial`. */
  readonly next: (SlotState | undefined)[] = [];

  constructor(depth: number, paths: readonly number[], all: readonly SlotPath[]) {
    this.depth = depth;
    this.paths = paths;
    const ended = paths.map((path) => all[path] as SlotPath).filter(({ steps }) => steps.length === depth);
    this.begins = ended.flatMap(({ iteration, target }) => (target.kind === 'record' ? [iteration] : []));
    this.attributes = ended.flatMap(({ iteration, target }) =>
      target.kind === 'attribute' ? [{ iteration, slot: target.slot, test: target.test }] : [],
    );
    const taking = (kind: 'element' | 'text'): SlotPlace[] =>
      ended.flatMap(({ iteration, target }) => (target.kind === kind ? [{ iteration, slot: target.slot }] : []));
    this.values = taking('element');
    this.texts = taking('text');
    this.alive = paths.length > 0;
    this.isValue = this.begins.length === 0 && this.values.length > 0 && this.texts.length === 0;
  }
}

export class SlotStates {
  /** Of the document, above the root element. */
  readonly root: SlotState;
  /** By iteration: number of slots. */
  readonly widths: readonly number[];
  readonly #paths: readonly SlotPath[];
  readonly #states = new Map<string, SlotState>();

  constructor(paths: readonly SlotPath[], widths: readonly number[]) {
    this.#paths = paths;
    this.widths = widths;
    this.root = new SlotState(0, [...paths.keys()], paths);
  }

  /** The state of a child of an element. */
  next({ depth, paths, next }: SlotState, name: Name): SlotState {
    const known = next[name.serial];
    if (known !== undefined) return known;
    const taken = paths.filter((path) => this.#paths[path]?.steps[depth]?.(name) === true);
    const key = `${depth} ${taken.join()}`;
    const state = this.#states.get(key) ?? new SlotState(depth + 1, taken, this.#paths);
    if (this.#states.size >= MAX_STATES) return state;
    this.#states.set(key, state);
    next[name.serial] = state;
    return state;
  }
}
