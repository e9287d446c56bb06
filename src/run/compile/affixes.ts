/** The text around the objects of a rule, when it differs between records or the join is made at the end. */
import type { Text, TextOf } from '../../terms/evaluate.ts';
import { distinct, listOf } from './texts.ts';

/** Constant text, or the text of each record if a predicate or graph is not constant. */
export type Affix = string | TextOf;

/** For the current record; null means no statement. */
export class VaryingAffixes {
  lead: Text;
  tail: Text;
  readonly #lead: TextOf | undefined;
  readonly #tail: TextOf | undefined;

  constructor(lead: Affix, tail: Affix) {
    this.lead = typeof lead === 'string' ? lead : null;
    this.tail = typeof tail === 'string' ? tail : null;
    this.#lead = typeof lead === 'string' ? undefined : lead;
    this.#tail = typeof tail === 'string' ? undefined : tail;
  }

  get constant(): boolean {
    return this.#lead === undefined && this.#tail === undefined;
  }

  read(record: unknown, position: number): void {
    if (this.#lead !== undefined) this.lead = distinct(this.#lead(record, position));
    if (this.#tail !== undefined) this.tail = distinct(this.#tail(record, position));
  }
}

/** Each pair of texts around an object: before and after it. */
export function* affixPairs(
  { lead, tail }: Pick<VaryingAffixes, 'lead' | 'tail'>,
  token: string,
): Iterable<readonly [before: string, tail: string]> {
  if (lead === null || tail === null) return;
  for (const one of listOf(lead)) for (const end of listOf(tail)) yield [token + one, end];
}
