/** Columns for what is read of objects of JSON. */
import { fromBytes } from '../core/text.ts';
import type { Origin } from '../mapping/model/model.ts';
import type { Query } from '../paths/json/model.ts';
import { parseReference } from '../paths/json/parse.ts';
import type { Read } from '../plan/algebra.ts';
import { arrayColumn, type Form, type JsonReference, literalColumn, textColumn, valueColumn } from './dialects/dialect.ts';
import type { Refusals } from './refusals.ts';
import type { Reading } from './row.ts';
import { column, type Sql } from './sql.ts';

/** The forms are noted when they are asked for. */
type PathOfReference = JsonReference & { readonly forms: Set<Form> };

/** The references to the members of an object, in the order in which they are asked for. */
export class JsonColumns {
  readonly #prefix: string;
  readonly #refusals: Refusals;
  readonly #paths = new Map<string, PathOfReference>();

  /** @param prefix what the names of the columns begin with */
  constructor(prefix: string, refusals: Refusals) {
    this.#prefix = prefix;
    this.#refusals = refusals;
  }

  get references(): readonly JsonReference[] {
    return [...this.#paths.values()];
  }

  /** @param part of the name of an element */
  read(read: Read, part: string): Reading {
    const name = read.reference;
    const path = this.#paths.get(name) ?? jsonReference(name, read.origin, this.#refusals);
    this.#paths.set(name, path);
    const at = [...this.#paths.keys()].indexOf(name);
    const prefix = this.#prefix;
    if (path.each !== undefined) {
      const element = `${prefix}e${at + 1}${part}`;
      const of = (apply: string): Sql => ({ kind: 'apply', name: apply, to: [column(element)] });
      const value = { written: of('json_text'), canonical: of('json_value'), literal: of('json_literal'), isSeveral: true };
      return { value, several: { element, array: `${prefix}${arrayColumn(at)}` } };
    }
    const of = (form: Form, unprefixed: string): Sql => {
      path.forms.add(form);
      return column(prefix + unprefixed);
    };
    const value = {
      get written() {
        return of('text', textColumn(at));
      },
      get canonical() {
        return of('value', valueColumn(at));
      },
      get literal() {
        return of('literal', literalColumn(at));
      },
      isSeveral: false,
    };
    return { value };
  }
}

function jsonReference(reference: string, origin: Origin, refusals: Refusals): PathOfReference {
  const forms = new Set<Form>();
  const nothing = { names: ['?'], each: undefined, forms };
  const { ups, query } = parseReference(reference, 'short');
  if (ups > 0) {
    refusals.add(origin, `the reference ${JSON.stringify(reference)}: it leads to what is around its record`);
    return nothing;
  }
  const steps = stepsOf(query);
  const stars = steps?.filter((step) => step === undefined).length ?? 0;
  if (steps === undefined || steps.length === 0 || stars > 1 || steps[0] === undefined) {
    refusals.add(origin, `the reference ${JSON.stringify(reference)}: of JSONPath, names and one [*] behind a name are written as SQL`);
    return nothing;
  }
  checkNames(steps, origin, refusals);
  const star = steps.indexOf(undefined);
  const names = (from: number, to?: number): string[] => steps.slice(from, to).map((step) => step ?? '');
  return star < 0 ? { names: names(0), each: undefined, forms } : { names: names(0, star), each: names(star + 1), forms };
}

/** Quotes within names end the paths of DuckDB. */
export function checkNames(steps: readonly (string | undefined)[], origin: Origin, refusals: Refusals): void {
  for (const name of steps)
    if (name !== undefined && /["\\]/.test(name))
      refusals.add(origin, `the name ${JSON.stringify(name)} of a member: it has a quote or a backslash`);
}

/** Names, and undefined for `[*]`; undefined: the path has other steps. */
export function stepsOf({ segments }: Query): readonly (string | undefined)[] | undefined {
  const steps: (string | undefined)[] = [];
  for (const { descendant, selectors } of segments) {
    const [selector] = selectors;
    if (descendant || selectors.length !== 1) return undefined;
    if (selector?.kind === 'name') steps.push(fromBytes(selector.name));
    else if (selector?.kind === 'wildcard') steps.push(undefined);
    else return undefined;
  }
  return steps;
}
