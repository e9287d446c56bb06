/**
 * What a triples map makes of values that are wrong where its record goes on: literals that are written although their text is not in the
 * lexical space of their datatype, and objects that are left out with their statements. They are counted, and the first one of each statement
 * of the mapping is kept.
 */
import type { Fault } from '../../core/fault.ts';
import { type DatatypeCheck, datatypeCheckOf } from '../../mapping/model/model.ts';
import type { MapInfo } from '../../plan/algebra.ts';
import { isOfPairs } from '../../plan/plan.ts';
import type { Accessors } from '../../terms/evaluate.ts';
import { keyOfFlaw } from '../report.ts';
import type { Flaw } from '../request.ts';

class Count {
  readonly kind: Flaw['kind'];
  count = 0;
  /** Of the current record. */
  open = 0;
  /** Makes the fault of the first value of the current record. */
  fault: (() => Fault) | undefined;
  first: Fault | undefined;

  constructor(kind: Flaw['kind']) {
    this.kind = kind;
  }
}

export class Flaws {
  /** In the order of the mapping. */
  readonly #all: Pick<ReadonlyMap<unknown, Count>, 'values'>[] = [];
  /** Those of the current record. */
  #open: Count[] = [];

  /** Counts literals of one term map. Faults are made for the first one alone. */
  illTyped(faultOf: (value: string) => Fault): (value: string) => void {
    const count = this.#add('ill-typed');
    return (value) => this.#note(count, () => faultOf(value));
  }

  /** Counts what the predicate and the object of one rule lose, for each statement of the mapping that a fault names. */
  leftOut(): (fault: Fault) => void {
    const counts = new Map<string | undefined, Count>();
    this.#all.push(counts);
    return (fault) => {
      const { mapping } = fault.place;
      const count = counts.get(mapping) ?? new Count('left-out');
      counts.set(mapping, count);
      this.#note(count, () => fault);
    };
  }

  /** Counts texts of one template of which all references are empty texts. */
  empty(fault: () => Fault): () => void {
    const count = this.#add('empty');
    return () => this.#note(count, fault);
  }

  get areOpen(): boolean {
    return this.#open.length > 0;
  }

  /**
   * The record is complete.
   *
   * @param place adds to a fault where it is
   * @returns the fault of an object that was left out of the record; undefined: of none
   */
  settle(place: (fault: Fault) => Fault): Fault | undefined {
    let leftOut: Fault | undefined;
    for (const count of this.#open) {
      if (count.count === 0) count.first = place((count.fault as () => Fault)());
      count.count += count.open;
      count.open = 0;
      if (count.kind === 'left-out') leftOut = count.first;
    }
    this.#open = [];
    return leftOut;
  }

  /** The record is rejected. */
  discard(): void {
    for (const count of this.#open) count.open = 0;
    this.#open = [];
  }

  /** An object map that stands in several statement patterns counts once. */
  found(): readonly Flaw[] {
    const found = new Map<string, Flaw>();
    for (const { kind, count, first } of this.#all.flatMap((counts) => [...counts.values()])) {
      if (first === undefined) continue;
      const flaw: Flaw = { kind, count, first: first.toJSON() };
      const key = keyOfFlaw(flaw);
      if ((found.get(key)?.count ?? 0) < count) found.set(key, flaw);
    }
    return [...found.values()];
  }

  #add(kind: Flaw['kind']): Count {
    const count = new Count(kind);
    this.#all.push([count]);
    return count;
  }

  #note(count: Count, fault: () => Fault): void {
    if (count.open++ > 0) return;
    count.fault = fault;
    this.#open.push(count);
  }
}

/**
 * How the literals of a triples map are checked. Where an invalid term is reported elsewhere, no warning is counted.
 *
 * @param flaws undefined: nothing is counted
 */
export function checked(map: MapInfo, datatypeCheck: DatatypeCheck | undefined, flaws?: Flaws): Pick<Accessors, 'illTyped' | 'empty'> {
  const empty = flaws === undefined || isReportedElsewhere(map) ? {} : { empty: (fault: () => Fault) => flaws.empty(fault) };
  const check = datatypeCheckOf(map, datatypeCheck);
  if (check === 'error') return { illTyped: REJECTING, ...empty };
  if (check === 'off' || flaws === undefined || isReportedElsewhere(map)) return { illTyped: undefined, ...empty };
  return { illTyped: (faultOf) => flaws.illTyped(faultOf), ...empty };
}

const REJECTING: NonNullable<Accessors['illTyped']> = (faultOf) => (value) => {
  throw faultOf(value);
};

/** Whether the records of a triples map are reported by another one: pairs that a database has joined, and rows that are joined for quoted triples. */
export const isReportedElsewhere = (map: MapInfo): boolean => isOfPairs(map) || map.isPart;
