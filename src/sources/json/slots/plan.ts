/**
 * Records as slots: what the references of an iteration read, and nothing else, in one array a record.
 *
 * A piece of the document is read along a tree of the paths that iterators and references name. So no object is made for a record, and what
 * no path leads to is only checked. The paths are names and `[*]`; a scan with any other expression reads records as values.
 *
 * A slot holds the node that its reference finds: a text, a `Numeral`, a boolean, null, or a value without text (object, array, `IllFormedText`);
 * undefined: there is none. With `[*]` in the reference, it is the array of the nodes.
 */
import { Fault } from '../../../core/fault.ts';
import { isSingular, type Query, type Segment } from '../../../paths/json/model.ts';
import type { CommonOptions, IterationRequest } from '../../source.ts';
import { parseExpression } from '../expression.ts';
import type { Subscriber, TrackedIterator } from '../path/automaton.ts';
import { compileSegments, type Find } from '../path/query.ts';
import { compileSingular, type FindOne } from '../path/singular.ts';

/** Where the nodes of a reference are in a record. */
export interface Slot {
  readonly index: number;
  /** The slot holds an array of nodes. */
  readonly several: boolean;
}

/** Of an iteration: the slots by reference. */
export type Slots = ReadonlyMap<string, Slot>;

/** What takes the value at the end of a path. */
export interface Leaf extends Slot {
  readonly iteration: number;
}

/** A member of objects at a place of the tree. */
export interface Member {
  /** With its quotes, as written without escapes. */
  readonly bytes: Uint8Array;
  /** undefined: no path leads into it. */
  readonly place: Place | undefined;
}

/** A place in the tree of paths. The reader keeps notes in it. */
export class Place {
  /** Iterations that have a record here. */
  readonly begins: number[] = [];
  readonly leaves: Leaf[] = [];
  readonly members = new Map<string, Place>();
  elements: Place | undefined;
  /** Members in the order in which the latest objects had them: what the next one probably has. */
  readonly order: Member[] = [];
  /** The object in which it was last found. */
  foundIn = 0;

  /** @param steps names and, as undefined, `[*]` */
  descend(steps: readonly (string | undefined)[]): Place {
    let place: Place = this;
    for (const name of steps) {
      let next = name === undefined ? place.elements : place.members.get(name);
      if (next === undefined) {
        next = new Place();
        if (name === undefined) place.elements = next;
        else place.members.set(name, next);
      }
      place = next;
    }
    return place;
  }
}

interface SlotReference extends Slot {
  readonly steps: readonly (string | undefined)[];
  readonly query: Query;
}

export class SlotPlan {
  /** By iteration and reference. */
  readonly slots: readonly Slots[];
  readonly #references: readonly (readonly SlotReference[])[];
  /** By iteration: for a value that was parsed, what fills the slots. */
  readonly #fill: readonly ((record: unknown) => unknown[])[];

  /** @param references by iteration */
  constructor(references: readonly ReadonlyMap<string, SlotReference>[]) {
    this.slots = references;
    this.#references = references.map((slots) => [...slots.values()]);
    this.#fill = this.#references.map((slots) => {
      const finds = slots.map(({ query }) => compileFind(query));
      return (record) => finds.map((find) => find(record));
    });
  }

  /** A record without any node. */
  empty(iteration: number): unknown[] {
    return new Array((this.#references[iteration] as readonly SlotReference[]).length).fill(undefined);
  }

  /** A record of an iteration that was read as a value. */
  fill(iteration: number, record: unknown): unknown[] {
    return (this.#fill[iteration] as (record: unknown) => unknown[])(record);
  }

  /** The tree of paths within a piece that is cut out for `subscribers`. */
  treeOf(subscribers: readonly Subscriber[]): Place {
    const root = new Place();
    for (const { iteration, segments } of subscribers) {
      const record = root.descend(stepsOf(segments ?? []) as (string | undefined)[]);
      record.begins.push(iteration);
      for (const { steps, index, several } of this.#references[iteration] as readonly SlotReference[])
        record.descend(steps).leaves.push({ iteration, index, several });
    }
    return root;
  }
}

/** The plan of a scan; undefined: some expression needs records as values. */
export function planSlots(
  iterators: readonly TrackedIterator[],
  requests: readonly IterationRequest[],
  options: CommonOptions,
): SlotPlan | undefined {
  if (requests.every(({ references }) => references.length === 0)) return undefined;
  if (iterators.some(({ query, ups }) => ups > 0 || stepsOf(query.segments) === undefined)) return undefined;
  if (requests.some(({ nested = [] }) => nested.length > 0)) return undefined;
  const slots: Map<string, SlotReference>[] = [];
  for (const { references } of requests) {
    const known = new Map<string, SlotReference>();
    for (const reference of references) {
      const query = queryOf(reference, options);
      const steps = query === undefined ? undefined : stepsOf(query.segments);
      if (query === undefined || steps === undefined) return undefined;
      known.set(reference, { index: known.size, several: steps.includes(undefined), steps, query });
    }
    slots.push(known);
  }
  return new SlotPlan(slots);
}

/** Names and, as undefined, `[*]`; undefined for a path that has anything else. */
function stepsOf(segments: readonly Segment[]): readonly (string | undefined)[] | undefined {
  const steps: (string | undefined)[] = [];
  for (const { descendant, selectors } of segments) {
    const [selector] = selectors;
    if (descendant || selectors.length !== 1) return undefined;
    if (selector?.kind !== 'name' && selector?.kind !== 'wildcard') return undefined;
    steps.push(selector.kind === 'name' ? selector.name : undefined);
  }
  return steps;
}

/** undefined: the reference is not valid, which is reported where its accessor is asked for. */
function queryOf(reference: string, options: CommonOptions): Query | undefined {
  try {
    return parseExpression(reference, options, {});
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

function compileFind(query: Query): (record: unknown) => unknown {
  const { segments } = query;
  if (isSingular(query)) {
    const find: FindOne = compileSingular({ absolute: false, segments });
    return (record) => find(record, record);
  }
  const find: Find = compileSegments(segments);
  return (record) => {
    const nodes: unknown[] = [];
    find(record, record, nodes);
    return nodes.length === 0 ? undefined : nodes;
  };
}
