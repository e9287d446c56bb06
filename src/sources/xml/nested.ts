/** Plans of references and iterators → accessors and nested records. */
import { Fault } from '../../core/fault.ts';
import type { Accessor } from '../../core/value.ts';
import type { NestedRecords } from '../source.ts';
import type { ItemsPlan, ReadReference, RecordsPlan } from './plan.ts';

const NONE: readonly unknown[] = [];

/** The accessors over the records of one iteration or iterator. They omit nulls, and remember which references had a node. */
export class XmlAccessors {
  readonly #nulls: ReadonlySet<string>;
  /** References that were read, and whether some record had a node. */
  readonly #found = new Map<string, boolean>();
  readonly #references = new Set<string>();

  /** @param nulls texts that mean null, as bytes */
  constructor(nulls: ReadonlySet<string>) {
    this.#nulls = nulls;
  }

  of(reference: string, read: ReadReference): Accessor {
    this.#references.add(reference);
    const value = this.#accessor(reference, read);
    if (read.paths === undefined) return value;
    const missing = new Map(read.paths);
    return (record) => {
      for (const [path, find] of missing) {
        const isFound = this.#found.get(path) === true || find(record) !== null;
        this.#found.set(path, isFound);
        if (isFound) missing.delete(path);
      }
      return value(record);
    };
  }

  #accessor(reference: string, read: ReadReference): Accessor {
    const found = this.#found;
    const nulls = this.#nulls;
    let seen = false;
    return (record) => {
      const value = read(record);
      if (!seen) {
        seen = value !== null;
        found.set(reference, seen);
      }
      if (nulls.size === 0 || value === null) return value;
      if (typeof value === 'string') return nulls.has(value) ? null : value;
      return value.filter((text) => !nulls.has(text));
    };
  }

  /** Only references that were read, so none if there was no record; and paths that their functions are given. */
  unmatched(): readonly string[] {
    return [...this.#found].filter(([, found]) => !found).map(([reference]) => reference);
  }

  /** References that no record was asked for. */
  unasked(): readonly string[] {
    return [...this.#references].filter((reference) => !this.#found.has(reference));
  }
}

/** Iterators within the records of a scan. */
export class XmlItems implements NestedRecords {
  readonly items: (node: unknown) => readonly unknown[];
  readonly #plan: ItemsPlan;
  readonly #nulls: ReadonlySet<string>;
  readonly #accessors: XmlAccessors;

  constructor(plan: ItemsPlan, nulls: ReadonlySet<string>) {
    this.#plan = plan;
    this.#nulls = nulls;
    this.#accessors = new XmlAccessors(nulls);
    this.items = (node) => (node === null || node === undefined ? NONE : plan.find(node));
  }

  accessor(reference: string): Accessor {
    return this.#accessors.of(reference, announced(this.#plan.references, 'reference', reference));
  }

  nested(iterator: string): NestedRecords {
    return nestedIn(this.#plan, iterator, this.#nulls);
  }

  unmatched(): readonly string[] {
    return this.#accessors.unmatched();
  }
}

export const nestedIn = ({ nested }: RecordsPlan, iterator: string, nulls: ReadonlySet<string>): NestedRecords =>
  new XmlItems(announced(nested, 'iterator', iterator), nulls);

/** @throws Fault mapping/reference — the expression is not valid; internal/error — it was not part of the request */
export function announced<Plan>(plans: ReadonlyMap<string, Plan | Fault>, what: string, expression: string): Plan {
  const plan = plans.get(expression);
  if (plan === undefined) throw new Fault('internal/error', `The ${what} ${JSON.stringify(expression)} was not announced`);
  if (plan instanceof Fault) throw plan;
  return plan;
}
