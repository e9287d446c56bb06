/** The text around the objects of a rule, when it differs between records or the join is made at the end. */
import type { Text, TextOf } from '../../terms/evaluate.ts';
import type { DeferredCount } from '../join/counts.ts';
import type { Multimap } from '../join/join.ts';
import type { OutputPattern, OutputText, StatementOwner } from './output.ts';
import { distinct, listOf } from './texts.ts';

/** Constant text, or the text of each record if a predicate or graph is not constant. */
export type End = string | TextOf;

/** For the current record; null means no statement. */
export class Ends {
  lead: Text;
  tail: Text;
  readonly #lead: TextOf | undefined;
  readonly #tail: TextOf | undefined;

  constructor(lead: End, tail: End) {
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
export function* aroundOf({ lead, tail }: Ends, token: string): Iterable<readonly [before: string, tail: string]> {
  if (lead === null || tail === null) return;
  for (const one of listOf(lead)) for (const end of listOf(tail)) yield [token + one, end];
}

/** What a child keeps of each of its statements. */
export function* childrenOf(ends: Ends, token: string): Iterable<string> {
  for (const [before, tail] of aroundOf(ends, token)) yield before + TAIL_MARK + tail;
}

/** The child side of a deferred join. */
export interface DeferredJoin {
  readonly join: number;
  /** By key: the child's subject; without a pattern, the texts around the parent's subject as `childrenOf` gives them. */
  readonly children: Multimap;
  readonly output: OutputText;
  /** undefined: predicate or graph are not constant. */
  readonly pattern: OutputPattern | undefined;
  /** No two pairs make the same statement, and nothing else makes it: see `keyedBy` of the plan. */
  readonly distinct: boolean;
  readonly program: StatementOwner;
  readonly count: DeferredCount | undefined;
}

/** No term contains an unescaped line feed. */
const TAIL_MARK = '\n';

/** States a pair. @param parent the parent's subject */
export function pair({ program, pattern, output, distinct }: DeferredJoin, child: string, parent: string): void {
  if (pattern !== undefined) {
    if (distinct) program.put(pattern, child, parent);
    else program.putOnce(pattern, child, parent);
    return;
  }
  const mark = child.indexOf(TAIL_MARK);
  program.once(output, child.slice(0, mark) + parent + child.slice(mark + 1));
}
